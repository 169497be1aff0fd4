"""What others build on is on record by name, and no name is lost without a word about versions.

`docs/reference/interface.txt` has a line for every name: commands and their options, fields of
`--json`, exit codes, options, keys of a memory file, tools and resources of MCP, paths
of the server, groups of entry points, names of the Python API. After a change that is meant,
`LTM_GOLDEN=write pytest tests/test_interface.py` writes what there is now; a name that is gone must
be said in CHANGELOG.md under "Breaking" first.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from ltm import api
from ltm.cli import demo
from ltm.cli.app import COMMANDS, ltm
from ltm.config.options import OPTIONS
from ltm.errors import LtmError
from ltm.http.app import Hooks
from ltm.kinds import Kinds
from ltm.mcp.tools import TOOLS
from ltm.vault.fields import FIELDS
from tests.cli.runner import Ltm

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "docs" / "reference" / "interface.txt"
DEMO = str(Path(demo.__file__).with_name("demo.jsonl"))
GROUPS = ("ltm.stores", "ltm.tools")
PATHS = ("/health", "/proof", "/mcp")
VARIABLES = ("LTM_AGENT", "LTM_HOME", "LTM_SERVER_JSON")

DATA = (
    ("remember", "Retries use jitter in src/app.py", "--kind", "decision"),
    ("remember", "Retries use jitter in src/app.py, at most three"),
    ("recall", "retries"),
    ("list",),
    ("show", "ID"),
    ("edit", "ID", "--tags", "net"),
    ("related", "ID"),
    ("graph",),
    ("capture", DEMO),
    ("why", "src/app.py"),
    ("fix", "ECONNREFUSED"),
    ("timeline",),
    ("inject",),
    ("review",),
    ("sessions",),
    ("stash", "--list"),
    ("friction", DEMO),
    ("sync",),
    ("export",),
    ("import", "EXPORT", "--merge"),
    ("status",),
    ("stats",),
    ("upkeep", "-n"),
    ("consolidate", "-n"),
    ("doctor",),
    ("doctor", "--audit"),
    ("approve",),
    ("keygen",),
    ("sign",),
    ("verify",),
    ("setup", "-n"),
    ("uninstall", "-n"),
    ("forget", "ID"),
    ("restore", "ID"),
)
"""Commands that print data, as typed one after the other."""


def static() -> Iterator[str]:
    """The names that tables of the code hold."""
    yield from (f"exit code {code}" for code in (0, *{e.exit_code for e in errors(LtmError)}, 130))
    yield from (f"option {each.name}" for each in OPTIONS)
    yield from (f"kind {each.name}" for each in Kinds())
    yield from (f"key of a memory file: {field.key}" for field in FIELDS)
    for tool in TOOLS:
        yield f"tool {tool.name}"
        yield from (f"tool {tool.name}: {name}" for name in tool.properties)
    yield "resource ltm://memory/ID"
    yield from (f"path {path}" for path in (*PATHS, *(each.path for each in Hooks("").routes())))
    yield from (f"variable {name}" for name in VARIABLES)
    yield from (f"entry points {group}" for group in GROUPS)
    yield from (f"python ltm.api.{name}" for name in api.__all__)
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    yield from (f"program {name}" for name in about["project"]["scripts"])
    yield from (f"extra {name}" for name in about["project"]["optional-dependencies"])
    context = click.Context(ltm, info_name="ltm")
    for name in COMMANDS:
        command = ltm.get_command(context, name)
        assert command is not None
        if not command.hidden:
            yield from words_of(command, f"ltm {name}")


def errors(kind: type[LtmError]) -> Iterator[type[LtmError]]:
    """A class of errors and all below it."""
    yield kind
    for each in kind.__subclasses__():
        yield from errors(each)


def words_of(command: click.Command, name: str) -> Iterator[str]:
    """A command with its arguments and options, and the commands below it."""
    yield f"command {name}"
    for each in command.params:
        if isinstance(each, click.Argument):
            yield f"command {name} {each.make_metavar(click.Context(command))}"
        elif not getattr(each, "hidden", False):
            yield from (f"command {name} {word}" for word in (*each.opts, *each.secondary_opts))
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            sub = command.get_command(context, below)
            assert sub is not None
            yield from words_of(sub, f"{name} {below}")


def fields(value: Any, path: str = "") -> Iterator[str]:
    """The names and types of a JSON value; keys that are ids or paths have one name."""
    if isinstance(value, dict):
        for key, each in value.items():
            fixed = key if re.fullmatch(r"[a-z][a-z_]*", key) else "*"
            yield from fields(each, f"{path}.{fixed}")
    elif isinstance(value, list):
        yield f"{path}[]"
        for each in value:
            yield from fields(each, f"{path}[]")
    elif value is not None:
        name = "number" if isinstance(value, int | float) else "text"
        yield f"{path}: {'boolean' if isinstance(value, bool) else name}"


def printed(ltm: Ltm) -> Iterator[str]:
    """The fields that commands print with `--json`, in a project with a few memories."""
    made = ""
    export = ltm.home / "export.json"
    stand_ins = {"EXPORT": str(export)}
    for words in DATA:
        typed = ({**stand_ins, "ID": made}.get(word, word) for word in words)
        done = ltm.run(*typed, "--json")
        assert done.stdout, (words, done.stderr)
        said = json.loads(done.stdout)
        if words[0] == "remember":
            made = made or said["id"]
        elif words[0] == "export":
            ltm.ok("export", str(export))
        options = [word for word in words[1:] if word.startswith("--") and len(words) == 2]
        name = " ".join(["ltm", words[0], *options])
        yield from (f"json {name} {field.lstrip('.')}" for field in fields(said))


def unsaid(gone: set[str], changes: str) -> list[str]:
    """The names that are gone and not said under "Breaking" for the version to come."""
    coming = changes.partition("\n## ")[2].partition("\n## ")[0]
    breaking = coming.partition("\n### Breaking\n")[2].partition("\n### ")[0]
    return sorted(name for name in gone if f"`{name}`" not in breaking)


def test_no_name_that_others_build_on_is_lost(ltm: Ltm) -> None:
    now = {*static(), *printed(ltm)}
    known = set(RECORD.read_text(encoding="utf-8").splitlines()) if RECORD.exists() else set()
    lost = unsaid(known - now, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if lost:
        pytest.fail(
            "gone from what others build on:\n  "
            + "\n  ".join(lost)
            + '\n\nbring it back; or say it in CHANGELOG.md under "### Breaking" of the version to'
            " come, each name in backticks as it stands here, which makes that a new minor version"
            " (0.x) or major version (from 1.0 on)",
            pytrace=False,
        )
    if os.environ.get("LTM_GOLDEN") == "write":
        RECORD.write_text("".join(f"{name}\n" for name in sorted(now)), encoding="utf-8")
    elif now != known:
        more = "\n  ".join(sorted(now ^ known))
        pytest.fail(f"not on record as it is:\n  {more}\n\nif it is meant: LTM_GOLDEN=write")


CHANGES = """# Changes

## 0.2.0 (unreleased)

### Breaking
- `option a.b` is `option a.c` now.

### Memories
- `option c.d` is better.

## 0.1.0

### Breaking
- `option e.f` is gone.
"""


@pytest.mark.parametrize(
    ("gone", "lost"), [("option a.b", False), ("option c.d", True), ("option e.f", True)]
)
def test_a_name_may_go_if_the_version_to_come_says_so(gone: str, lost: bool) -> None:
    assert unsaid({gone}, CHANGES) == ([gone] if lost else [])
