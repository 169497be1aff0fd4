"""`ltm bench`: recall, hooks, MCP and capture, measured on a copy of one's own memories."""

from __future__ import annotations

import json
import sys
import tempfile
from typing import Any

import click

from ltm import __version__
from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.errors import BadFile, Refused
from ltm.files.atomic import read_plain
from ltm.model import iso, now
from ltm.project.home import scratch_folder
from ltm.text.display import counted
from ltm.upkeep.bench import FEW, PARTS, Bench, Figure

_MOST = 1024 * 1024


@command("bench")
@click.argument("parts", nargs=-1, type=click.Choice(PARTS), metavar="[PART]...")
@click.option(
    "--compare",
    "file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="Also show the figures of an earlier run, kept with --json.",
)
def bench_command(work: Work, parts: tuple[str, ...], file: str | None) -> None:
    """Measure what memory does here: recall, hooks, mcp, capture, told; all of them by default.

    \b
    ltm bench
    ltm bench recall --json > before.json
    ltm bench --compare before.json

    It works on a copy of this project's memories in a temporary folder and changes nothing.
    Questions are made of the memories' own words and asked of recall, of BM25 (SQLite) and of a
    search for words as with grep. Hooks and the MCP server take turns with a Python that does
    nothing. It takes about half a minute.
    """
    before = _earlier(file) if file else {}
    with tempfile.TemporaryDirectory(
        prefix="ltm-bench-", dir=scratch_folder(), ignore_cleanup_errors=True
    ) as folder:
        bench = Bench(work.places, folder, _say)
        memories = bench.count()
        if not memories:
            raise Refused(
                "there are no memories here to measure with",
                hint='ltm capture --all learns from past sessions; or: ltm remember "some text"',
            )
        figures = bench.measure(parts or PARTS)
    _say("", 0, 0)
    if work.as_json:
        rows = [figure._asdict() | {"value": round(figure.value, 3)} for figure in figures]
        about = {"version": __version__, "date": iso(now()), "memories": memories}
        output.emit({**about, "figures": rows})
        return
    if memories < FEW:
        output.note(f"With {counted(memories, 'memory')}, shares of recall say little.")
    columns = ["part", "measure", "ltm", "compared with", "of"]
    if before:
        columns.insert(3, "before")
    rows_shown = []
    for each in figures:
        row = [each.part, each.measure, _shown(each.value, each.unit), _others(each), each.note]
        if before:
            then = before.get((each.part, each.measure))
            row.insert(3, "" if then is None else _shown(then, each.unit))
        rows_shown.append(row)
    output.table(columns, rows_shown)
    missing = [part for part in parts or PARTS if part not in {each.part for each in figures}]
    for part in missing:
        output.note(f"{part}: {_WITHOUT[part]}")


_WITHOUT = {
    "recall": "no memory has enough words to ask for it",
    "capture": "no session has taught anything yet",
    "told": "no session was told anything yet",
    "hooks": "not measured",
    "mcp": "not measured",
}


def _earlier(path: str) -> dict[tuple[str, str], float]:
    """The figures of an earlier run, by part and measure."""
    try:
        kept: Any = json.loads(read_plain(path, limit=_MOST))
        return {(each["part"], each["measure"]): float(each["value"]) for each in kept["figures"]}
    except (ValueError, TypeError, KeyError) as error:
        raise BadFile(
            "these are not figures of ltm bench",
            path=path,
            hint="make such a file with: ltm bench --json > FILE",
        ) from error


def _shown(value: float, unit: str) -> str:
    number = f"{value:,.0f}" if value >= 100 or unit == "tokens" else f"{value:.1f}"
    return f"{number} {unit}".rstrip()


def _others(figure: Figure) -> str:
    return ", ".join(
        f"{name} {_shown(value, figure.unit)}" for name, value in figure.others.items()
    )


def _say(part: str, number: int, total: int) -> None:
    """What is being measured, on one line of a terminal; the last call takes it away."""
    if sys.stderr.isatty():
        said = f"measuring {part}: {number + 1} of {total}" if total else ""
        sys.stderr.write(f"\r\x1b[K{said}")
        sys.stderr.flush()
