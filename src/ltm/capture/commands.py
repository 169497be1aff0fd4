"""Shell commands as a session runs them: what they are for, and when two are the same.

Owns reading a command line just well enough for that. Pure; the standard library only.
"""

from __future__ import annotations

import re

_PREFIX = re.compile(
    r"\A\s*(?:(?:cd|pushd|export|source|set|mkdir -p)\s[^&|;]*(?:&&|;)\s*|(?:\w+=(?:\"[^\"]*\""
    r"|'[^']*'|\S*)\s+)+"
    r"|(?:sudo|time|env|nice|nohup|timeout \S+|command)\s+)+"
)
_SUFFIX = re.compile(
    r"\s*(?:\d?>&?\s*\S+|\|&?\s*(?:head|tail|grep|rg|tee|less|cat|sort|wc)\b.*|&)\s*\Z"
)
_PATH = re.compile(r"\A(?!-)\S*(?:[/:]|\.\w{1,4}\Z)\S*\Z")

# Programs that only look, format or talk to git: their failures teach nothing about the work.
_WORDS_OF_LOOKING = (
    "ls cat head tail grep rg ag find fd sed awk which where type test [ diff cmp stat "
    "file du df ps pgrep kill pkill echo printf pwd sleep wc sort uniq tree less more man "
    "history true false jq curl wget git gh hub ruff eslint prettier black isort flake8 "
    "pylint stylelint rubocop gofmt goimports clang-format biome shellcheck markdownlint "
    "yamllint tsc mypy pyright rustfmt ktlint"
)
_LOOKING = frozenset(_WORDS_OF_LOOKING.split())
_LINTING = re.compile(
    r"\b(?:lint|format|fmt|prettier|eslint|ruff|clippy|credo|dialyzer|typecheck|type-check|tsc"
    r"|mypy)\b"
)
_TESTING = re.compile(
    r"(?:\A|[\s/])(?:py\.?test|jest|vitest|mocha|rspec|phpunit|ctest|tox|nox|playwright|cypress"
    r"|ava)\b"
    r"|\b(?:mix|cargo|go|npm|pnpm|yarn|bun|deno|dotnet|swift|gradle\w*|mvn|make|rake|bundle exec|"
    r"npm run|pnpm run|yarn run|uv run|poetry run|python3? -m|manage\.py)\s+(?:\S+\s+)?(?:test"
    r"|tests|"
    r"check|spec|unittest|pytest)\b"
)
_BUILDING = re.compile(
    r"\b(?:npm|pnpm|yarn|bun|cargo|go|mix|make|dotnet|gradle\w*|mvn|docker|vite"
    r"|webpack)\s+(?:run )?"
    r"(?:build|compile|package|assemble|install)\b|\A(?:make|cmake|ninja)\b"
)


def core_of(command: str) -> str:
    """A command without what stands around it: folder changes, variables, redirections, filters."""
    text = " ".join(command.split("\n", 1)[0].split())
    text = _PREFIX.sub("", text)
    former = ""
    while former != text:
        former = text
        text = _SUFFIX.sub("", text)
    return text.strip()


def teaches(command: str) -> bool:
    """Whether it is worth knowing how a failure of this command was overcome."""
    text = core_of(command)
    program = text.split(" ", 1)[0].rsplit("/", 1)[-1] if text else ""
    return bool(program) and program not in _LOOKING and not _LINTING.search(text)


def purpose(command: str) -> str:
    """`test`, `build`, or nothing we know."""
    text = core_of(command)
    if _TESTING.search(text):
        return "test"
    return "build" if _BUILDING.search(text) else ""


def covers(later: str, earlier: str) -> bool:
    """Whether a later command does at least what an earlier one did: the same, or on more files."""
    one, two = core_of(later).split(), core_of(earlier).split()
    if one == two:
        return True
    if _words(one) != _words(two):
        return False
    paths = _paths(one)
    return not paths or paths >= _paths(two)


def _words(parts: list[str]) -> list[str]:
    return [part for part in parts if not part.startswith("-") and not _PATH.match(part)]


def _paths(parts: list[str]) -> set[str]:
    return {part.split("::")[0] for part in parts if _PATH.match(part)}
