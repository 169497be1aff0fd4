"""Shell commands of a session: what they are for, when two are the same, and their results.

A command line is read just well enough for that: the one command in it that matters, and what
stands before it (folder changes, variables, other commands). `Calls` joins calls of tools to their
results.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from ltm.capture.message import opening
from ltm.redact.redact import redacted
from ltm.sessions.turns import ToolResult, ToolUse, Turn

_LONGEST = 2_000
_PIECE = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|&&|\|\||;|\n|\||[^'\"&|;\n]+|.", re.DOTALL)
_VARIABLE = re.compile(r"\A\s*(?P<set>\w+=(?:\"[^\"]*\"|'[^']*'|[^\s'\"]*))\s+(?=\S)")
_WRAPPER = re.compile(r"\A\s*(?:sudo|time|env|nice|nohup|timeout \S+|command|exec)\s+(?=\S)")
_REDIRECTION = re.compile(r"\s*(?:\d?>>?(?:&\d|\s*\S+)|<\s*\S+|&)\s*\Z")
_PATH = re.compile(r"\A(?!-)\S*(?:[/:]|\.\w{1,4}\Z)\S*\Z")
_HOME = re.compile(r"\A(?:cd|pushd) +(?:[/~$]|\w:)")  # where the agent stands is its own affair
_TOKEN = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\S+")

# Programs that only look, format or talk to git: their failures teach nothing about the work.
_WORDS_OF_LOOKING = (
    "ls cat head tail grep rg ag find fd sed awk which where type test [ diff cmp stat "
    "file du df ps pgrep kill pkill echo printf pwd sleep wc sort uniq tree less more man "
    "history true false jq curl wget git gh hub ruff eslint prettier black isort flake8 "
    "pylint stylelint rubocop gofmt goimports clang-format biome shellcheck markdownlint "
    "yamllint tsc mypy pyright rustfmt ktlint cd pushd export source . set mkdir rm cp mv touch"
)
_LOOKING = frozenset(_WORDS_OF_LOOKING.split())
_LINTING = re.compile(
    r"\b(?:lint|format|fmt|prettier|eslint|ruff|clippy|credo|dialyzer|typecheck|type-check|tsc"
    r"|mypy|biome)\b"
)
_TESTING = re.compile(
    r"(?:\A|[\s/])(?:py\.?test|jest|vitest|mocha|rspec|phpunit|ctest|tox|nox|playwright|cypress"
    r"|ava)\b"
    r"|\b(?:mix|cargo|go|npm|pnpm|yarn|bun|deno|dotnet|swift|gradle\w*|mvn|make|just|rake"
    r"|bundle exec|npm run|pnpm run|yarn run|uv run|poetry run|python3? -m|manage\.py|rails)\s+"
    r"(?:\S+\s+)?(?:test|tests|check|spec|unittest|pytest)\b"
)
_BUILDING = re.compile(
    r"\b(?:npm|pnpm|yarn|bun|cargo|go|mix|make|dotnet|gradle\w*|mvn|docker|vite|webpack|idf\.py"
    r"|west|flutter|buf|sam|dbt)\s+(?:run )?(?:build|compile|package|assemble|install|generate)\b"
    r"|\A(?:make|cmake|ninja|bitbake|xcodebuild)\b"
)
# Getting what a project says it needs: everybody knows to do that.
_INSTALLING = re.compile(
    r"\A(?:npm (?:i|ci|install)|pnpm (?:i|install)|yarn(?: install)?|bun install"
    r"|pip3? install -(?:r|e) \S+|pip3? install \.\S*|uv (?:sync|pip install -r \S+)|poetry install"
    r"|pipenv (?:install|sync)|bundle(?: install)?|composer install|mix deps\.get|cargo fetch"
    r"|go mod (?:tidy|download)|dotnet restore|flutter pub get|pod install)\Z"
)
_FETCHING = re.compile(
    r"(?:pip3?|python3? -m pip|uv pip|npm|pnpm|yarn|bun|gem|poetry|uv|cargo|composer|luarocks|cpan)"
    r" (?:install|add|i|require)\b"
)
# What runs a command somewhere else, or in a way of its own.
_OUTER = re.compile(
    r"(?:docker|podman|docker-compose|kubectl|vagrant|nix|nix-shell)\b.{0,80}?\b(?:run|exec|ssh"
    r"|develop"
    r"|--run|-c)\b|(?:tox|nox|bazel|earthly|dagger|task|invoke|doppler|op|ssh)\b"
)
_MOVING = frozenset({"cd", "pushd", "mkdir", "rm", "echo", "export", "sleep", "touch", "cp", "mv"})
_HIDING = re.compile(r"(?<!\|)\|(?!\|)|\|\| *(?:true|:|echo)|; *(?:echo|true|exit 0)\b")
# Options that tell more, or take whatever comes for what was expected: no way around anything.
_NO_WAY = re.compile(
    r"-+(?:[vqxsufy]+|verbose|quiet|debug|trace|info|stacktrace|watch|help|update\S*|accept|bless"
    r"|force|fix|write|overwrite|yes)\Z"
)
_FAILED = re.compile(
    r"\b[1-9]\d{0,8} (?:failed|failures?|errors?)\b|^\s{0,8}(?:FAILED|FAIL|--- FAIL|BUILD FAILED"
    r"|error(?:\[\w+\])?:|npm ERR!|npm error|E  )|\*\* \(\w|Traceback \(most recent|panicked at",
    re.MULTILINE,
)
# One of these is in all that it finds: looking for them takes a quarter of the time.
_IN_FAILED = (" fail", "error", "FAIL", "npm ERR!", "E  ", "** (", "Traceback (", "panicked at")
_ROUNDS, _FEW = 4, 4


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command line taken apart."""

    core: str
    """The command that matters, without what stands around it."""
    setup: tuple[str, ...] = ()
    """What is run before it on the same line."""
    variables: tuple[str, ...] = ()
    """What is set for it, as `NAME=value`."""

    @property
    def program(self) -> str:
        """The name of the program it runs."""
        return self.core.split(" ", 1)[0].rsplit("/", 1)[-1] if self.core else ""

    def whole(self) -> str:
        """All of it that can make a difference, as one would type it."""
        return " && ".join((*self.setup, " ".join((*self.variables, self.core))))


@lru_cache(maxsize=512)
def parse(command: str) -> CommandLine:
    """Take a command line apart; of several commands the last that does something matters."""
    text = command[:_LONGEST]
    if "<<" in text:
        text = text.split("\n", 1)[0]  # the lines of a here-document are no commands
    parts = [part for part in map(str.strip, _split(text)) if part]
    lines = [_line(part) for part in parts]
    for place in range(len(lines) - 1, -1, -1):
        if lines[place].program not in _LOOKING:
            before = tuple(_plain(part) for part in parts[:place] if not _HOME.match(part))
            return CommandLine(lines[place].core, before, lines[place].variables)
    return lines[-1] if lines else CommandLine("")


def core_of(command: str) -> str:
    """A command without what stands around it: folder changes, variables, redirections, filters."""
    return parse(command).core


def teaches(command: str) -> bool:
    """Whether it is worth knowing how a failure of this command was overcome."""
    line = parse(command)
    return bool(line.program) and line.program not in _LOOKING and not _LINTING.search(line.core)


def purpose(command: str) -> str:
    """`test`, `build`, or nothing we know."""
    text = core_of(command)
    if _TESTING.search(text):
        return "test"
    return "build" if _BUILDING.search(text) else ""


def hides_failure(command: str) -> bool:
    """Whether it ends well whatever happens, as when its output goes through a filter."""
    return bool(_HIDING.search(command[:_LONGEST]))


def looks_failed(output: str) -> bool:
    """Whether an output tells of a failure that its command may have hidden."""
    return any(mark in output for mark in _IN_FAILED) and _FAILED.search(output) is not None


def is_installing(command: str, error: str) -> bool:
    """Whether it only fetches what the project says it needs, or what an error names as missing."""
    core = core_of(command)
    named = _FETCHING.match(core)
    wanted = core[named.end() :].split() if named else ()
    missing = (re.search(rf"['\"`]{re.escape(each)}['\"`]", error) for each in wanted)
    return bool(_INSTALLING.match(core)) or any(missing)


def is_particular(command: str) -> bool:
    """Whether one would not guess it: run inside something else, or after something else."""
    line = parse(command)
    before = [part for part in line.setup if part.split(" ", 1)[0] not in _MOVING]
    return bool(_OUTER.match(line.core) or before or line.variables)


def stem_of(command: str) -> str:
    """A test or build command up to the word that says so, with what has to stand before it."""
    line = parse(command)
    found = _TESTING.search(line.core) or _BUILDING.search(line.core)
    core = line.core[: found.end()] if found and _OUTER.match(line.core) else line.core
    if line.program in ("tox", "nox"):
        core = line.core
    return CommandLine(core, line.setup, line.variables).whole()


def covers(later: str, earlier: str) -> bool:
    """Whether a later command does at least what an earlier one did: the same, or on more files."""
    first, second = parse(later), parse(earlier)
    if first.program != second.program:
        return False
    one, two = first.core.split(), second.core.split()
    if one == two:
        return True
    if _words(one) != _words(two):
        return False
    paths, wanted = _paths(one), _paths(two)
    return not paths or (bool(wanted) and paths >= wanted)


def replaced(later: str, earlier: str) -> tuple[str, str] | None:
    """The one argument in which two commands differ, as it was and as it became; no paths."""
    one, two = _TOKEN.findall(core_of(later)), _TOKEN.findall(core_of(earlier))
    if len(one) != len(two) or len(one) < 2 or one[0] != two[0]:
        return None
    differing = [(was, became) for became, was in zip(one, two, strict=True) if was != became]
    if len(differing) != 1 or any(_PATH.match(each) for each in differing[0]):
        return None
    return differing[0]


def works_around(later: str, earlier: str) -> bool:
    """Whether a command is an earlier one run inside something else, or with more options."""
    inner, outer = _TOKEN.findall(core_of(earlier)), _TOKEN.findall(core_of(later))
    more = len(outer) - len(inner)
    if more < 1 or len(inner) < 2:
        return False
    if outer[more:] == inner:
        return True
    start = next(n for n in range(len(outer)) if n == len(inner) or outer[n] != inner[n])
    added = outer[start : start + more]
    return (
        outer[start + more :] == inner[start:]
        and len(added) <= _FEW
        and added[0].startswith("-")
        and not any(map(_NO_WAY.match, added))
    )


def _split(command: str) -> list[str]:
    """The commands of a line; what is piped into a filter belongs to the filter's source."""
    parts = [""]
    piped = False
    for piece in _PIECE.findall(command):
        if piece in ("&&", "||", ";", "\n"):
            parts.append("")
            piped = False
        elif piece == "|":
            piped = True
        elif not piped:
            parts[-1] += piece
    return parts


def _line(part: str) -> CommandLine:
    variables: list[str] = []
    former = ""
    while former != part:
        former = part
        part = _WRAPPER.sub("", part)
        found = _VARIABLE.match(part)
        if found:
            variables.append(found["set"])
            part = part[found.end() :]
    return CommandLine(_plain(part), (), tuple(variables))


def _plain(part: str) -> str:
    for _ in range(_ROUNDS):
        part = _REDIRECTION.sub("", part)
    return " ".join(part.split())


def _words(parts: list[str]) -> list[str]:
    return [part for part in parts if not part.startswith("-") and not _PATH.match(part)]


def _paths(parts: list[str]) -> set[str]:
    return {part.split("::")[0] for part in parts if _PATH.match(part)}


SHELLS = frozenset({"Bash", "PowerShell", "Shell"})
EDITORS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
MEMORY = ("mcp__ltm__", "mcp__plugin_ltm_ltm__")
"""How the names of this memory's own tools begin; other servers may have `ltm` in theirs."""

_OPEN = 200
_COMMAND, _OUTPUT, _TEXT = 2_000, 20_000, 500
_CARRIED = 8


@dataclass(frozen=True, slots=True)
class Run:
    """A command that was run."""

    command: str
    output: str = ""
    """What it printed, up to a length; only this may hold secrets."""
    failed: bool = False
    line: int = 0
    at: str = ""


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A file that was changed."""

    path: str = ""
    old: str = ""
    new: str = ""
    """What stood there and what took its place, as far as the tool was told. These may hold
    secrets: of few changes they are ever looked at, and to clean all took a tenth of listening."""


class Calls:
    """Joins calls to their results."""

    def __init__(self, state: Any = None) -> None:
        """`state` is what `state()` gave when an earlier stretch of the session ended."""
        self._open: dict[str, Run | FileEdit] = {}
        for name, given in state.items() if isinstance(state, dict) else ():
            with suppress(TypeError):
                self._open[name] = Run(**given) if "command" in given else FileEdit(**given)

    def see(self, turn: Turn) -> Run | FileEdit | None:
        """What came to its end with a turn, if anything did that was not refused."""
        if isinstance(turn, ToolUse):
            if turn.tool in SHELLS or turn.tool in EDITORS:
                if len(self._open) >= _OPEN:
                    self._open.clear()  # calls that never got a result
                self._open[turn.id] = _begun(turn)
            return None
        if not isinstance(turn, ToolResult):
            return None
        begun = self._open.pop(turn.id, None)
        if begun is None or turn.refused:
            return None
        if isinstance(begun, FileEdit):
            return None if turn.failed else begun
        output = opening(turn.text, _OUTPUT)
        failed = turn.failed or (hides_failure(begun.command) and looks_failed(output))
        return Run(begun.command, output, failed, turn.line, turn.at)

    def state(self) -> dict[str, dict[str, Any]]:
        """The calls that wait for their results, for the next stretch, without secrets."""
        waiting = list(self._open.items())[-_CARRIED:]
        return {
            name: {key: redacted(str(value)) for key, value in asdict(begun).items() if value}
            for name, begun in waiting
        }


def _begun(call: ToolUse) -> Run | FileEdit:
    def given(name: str, most: int = _COMMAND) -> str:
        value = call.input.get(name)
        return opening(value, most) if isinstance(value, str) else ""

    if call.tool in SHELLS:
        return Run(redacted(given("command")))
    path = given("file_path") or given("path")
    return FileEdit(path, given("old_string", _TEXT), given("new_string", _TEXT))
