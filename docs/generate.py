"""Writes the reference pages from the code: `python -m docs.generate`. A test compares them.

Pages: every module, every command's help, every option, the kinds table, the keys of a memory
file, what came of every promise the last time it was tried, and each client. Recordings of a
terminal.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import click

import ltm as ltm_package
import ltm_server
from benchmarks.soak.programme import README, ROWS
from benchmarks.soak.row import Outcome, Row, read
from docs import client_pages, recordings
from ltm.cli.app import COMMANDS, HELP, ltm
from ltm.config.options import OPTIONS
from ltm.kinds import Kind, Kinds
from ltm.model import Memory

FOLDER = Path(__file__).parent
_NOTE = "<!-- Made by `python -m docs.generate`; edit the code, not this page. -->\n"


def pages() -> dict[str, str]:
    """The text of every generated page by its path in this folder."""
    return {
        "reference/cli.md": _cli(),
        "reference/options.md": _options(),
        "reference/kinds.md": _kinds(),
        "reference/modules.md": _modules(),
        "reference/reliability.md": _reliability(),
        **{f"clients/{name}": text for name, text in client_pages.pages().items()},
    }


def _modules() -> str:
    """Every package and module, with the first line of its docstring."""
    parts = ["# Modules\n", _NOTE]
    for package in (ltm_package, ltm_server):
        top = Path(str(package.__file__)).parent
        for folder in sorted({path.parent for path in top.rglob("*.py")} - {top / "surfaces"}):
            name = ".".join(folder.relative_to(top.parent).parts)
            parts.append(f"## {name}\n\n{_purpose(folder / '__init__.py')}\n")
            parts += [
                f"- `{path.stem}`: {_purpose(path)}"
                for path in sorted(folder.glob("*.py"))
                if not path.stem.startswith("__")
            ]
            parts.append("")
    return "\n".join(parts)


def _purpose(path: Path) -> str:
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return doc.partition("\n\n")[0].replace("\n", " ")


def _cli() -> str:
    parts = [
        "# Commands\n",
        _NOTE,
        "Data goes to stdout, messages to stderr. Exit codes: 0 done, 1 refused or not found, 2"
        " wrong"
        " usage. `--json` prints exactly one JSON value. An id may be shortened to any beginning or"
        " end that fits one memory only.\n",
    ]
    group = click.Context(
        ltm,
        info_name="ltm",
        terminal_width=96,
        max_content_width=96,
        help_option_names=HELP,
    )
    parts.append(f"```text\n{ltm.get_help(group).rstrip()}\n```\n")
    for name in COMMANDS:
        command = ltm.get_command(group, name)
        if command is not None and not command.hidden:
            parts += _help(command, name, group, "##")
    return "\n".join(parts)


def _help(command: click.Command, name: str, parent: click.Context, level: str) -> list[str]:
    """The help of a command, and of those below it."""
    context = click.Context(
        command, info_name=name, parent=parent, terminal_width=96, max_content_width=96
    )
    text = command.get_help(context).rstrip()
    below = command.list_commands(context) if isinstance(command, click.Group) else []
    return [
        f"{level} {context.command_path}\n\n```text\n{text}\n```\n",
        *(
            part
            for each in below
            if isinstance(command, click.Group) and (sub := command.get_command(context, each))
            for part in _help(sub, each, context, f"{level}#")
        ),
    ]


def _reliability() -> str:
    known = read()
    lines = [
        "# Reliability and security\n",
        _NOTE,
        "What is promised, what was measured, and the command that measures it again. R rows are"
        " about losing nothing, S rows about letting no one in. `python -m benchmarks.soak` runs"
        " what CI runs too, `--full` all of it.\n",
        "| row | tried | goal | held | measured | on |",
        "|---|---|---|---|---|---|",
        *[_promise(row, known.get(row.id)) for row in ROWS],
        "\n## What the README promises\n",
        *[f"- **{promise}** {', '.join(rows)}" for promise, rows in README.items()],
        "\n## Commands\n",
    ]
    for row in ROWS:
        commands = [f"`{part}`" for part in row.parts(full=True)]
        if commands:
            lines.append(f"- {row.id}: {', '.join(commands)}")
    return "\n".join(lines) + "\n"


def _promise(row: Row, outcome: Outcome | None) -> str:
    if outcome is None:
        held, measured, when = "not tried", row.instead, ""
    else:
        whole = {str(part) for part in row.parts(full=True)} <= set(outcome.commands)
        held = ("yes" if whole else "yes, the part that CI runs") if outcome.met else "**no**"
        said = [
            f"{name.replace('_', ' ')} {value:,.10g}"
            for name, value in outcome.figures.items()
            if value or name not in ("failures", "errors", "skipped")
        ]
        said += [f"failed: `{each}`" for each in outcome.failed]
        measured = "; ".join([*said, *([row.instead] if row.instead else [])])
        when = f"{outcome.date}, {outcome.commit}"
    cells = (row.id, row.promise, row.goal, held, measured, when)
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _options() -> str:
    rows = [
        f"| `{option.name}` | `{option.default}` | {option.allowed} |"
        f" {'yes' if option.repo else 'no'} | {option.doc} |"
        for option in OPTIONS
    ]
    return "\n".join(
        [
            "# Options\n",
            _NOTE,
            "`ltm config NAME VALUE` sets one for you, in `config.toml` under `LTM_HOME`"
            " (`~/.ltm`)."
            " With `--repo` it goes into the repository's `.claude/ltm/config.toml` and holds"
            " for the"
            " team; only harmless options may stand there.\n",
            "| option | default | may be | in a repository | what it does |",
            "|---|---|---|---|---|",
            *rows,
            "\nAny cell of the [kinds table](kinds.md) is an option too, as"
            " `kinds.progress.fades_days`.\n",
        ]
    )


def _kinds() -> str:
    columns = [name for name in Kind._fields if name != "name"]
    rows = [
        f"| {kind.name} | " + " | ".join(_cell(getattr(kind, name)) for name in columns) + " |"
        for kind in Kinds()
    ]
    keys = ", ".join(f"`{name}`" for name in Memory._fields)
    return "\n".join(
        [
            "# Kinds of memory\n",
            _NOTE,
            "Everything that differs from kind to kind is a cell of this table.\n",
            f"| kind | {' | '.join(columns)} |",
            "|---" * (len(columns) + 1) + "|",
            *rows,
            "\n## Fields of a memory\n",
            keys + ".\n",
        ]
    )


def _cell(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "–"
    return str(value).replace("|", "\\|")


def main() -> None:
    """Write all pages."""
    for name, text in pages().items():
        (FOLDER / name).parent.mkdir(exist_ok=True)
        (FOLDER / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote docs/{name}\n")
    for name, text in recordings.pictures().items():
        (recordings.FOLDER / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote docs/images/{name}\n")


if __name__ == "__main__":
    main()
