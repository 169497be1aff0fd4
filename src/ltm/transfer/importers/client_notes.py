"""What Codex and Gemini CLI remember themselves; only read.

Codex keeps one handbook for all projects, in groups of tasks: a group names the folder it is about.
The summaries of sessions next to it are what it was made from. Gemini CLI adds facts to the
instructions of the person, under a heading of its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ltm.kinds import Kinds
from ltm.model import Scope
from ltm.transfer.item import Item
from ltm.transfer.parse import sections
from ltm.transfer.source import Origin

_HANDBOOK = ("MEMORY.md", "memories/MEMORY.md")
_GROUP = re.compile(rb"^# Task Group:", re.MULTILINE)
_FOLDER = re.compile(r"^applies_to:[^\n]*?\bcwd=`?([^;`\n]+)", re.MULTILINE)
_TASKS = re.compile(r"(?:[ \t]*\[Task \d{1,4}\])+[ \t]*\Z")
_KINDS = {
    "user preferences": "preference",
    "reusable knowledge": "fact",
    "failures and how to do differently": "gotcha",
}

_ADDED = "Gemini Added Memories"
_MARK = re.compile(rb"^## Gemini Added Memories", re.MULTILINE)
_INSTRUCTIONS = ("GEMINI.md", ".gemini/GEMINI.md")


class CodexMemories:
    """`~/.codex/memories`: what a group says is taken, and not what it was made from."""

    def finds(self, origin: Origin) -> bool:
        return bool(_file(origin, _HANDBOOK, _GROUP))

    def read(self, origin: Origin, kinds: Kinds) -> Iterator[Item]:
        path = _file(origin, _HANDBOOK, _GROUP)
        at, folder = origin.modified(path), ""
        for part in sections(origin.text(path) or "", level=2):
            if part.level < 2:
                found = _FOLDER.search(part.text)
                folder = found[1].strip() if found else ""
                continue
            kind = _KINDS.get(part.heading.lower())
            for line, said in part.bullets() if kind else ():
                yield Item(
                    text=_TASKS.sub("", said),
                    path=path,
                    line=line,
                    kind=kind or "",
                    word=part.heading,
                    created=at,
                    project=folder if os.path.isabs(folder) else "",
                )


class GeminiMemories:
    """`~/.gemini/GEMINI.md`: what a person wrote there themselves stays instructions."""

    def finds(self, origin: Origin) -> bool:
        return bool(_file(origin, _INSTRUCTIONS, _MARK))

    def read(self, origin: Origin, kinds: Kinds) -> Iterator[Item]:
        """Every fact that was added: of all projects, unless the file is a project's."""
        path = _file(origin, _INSTRUCTIONS, _MARK)
        persons = os.path.realpath(os.path.expanduser("~/.gemini/GEMINI.md"))
        scope = Scope.AGENT if os.path.realpath(path) == persons else Scope.PROJECT
        for part in sections(origin.text(path) or "", level=2):
            for line, said in part.bullets() if part.heading == _ADDED else ():
                yield Item(
                    text=said,
                    path=path,
                    line=line,
                    word="a fact",
                    created=origin.modified(path),
                    scope=scope,
                )


def _file(origin: Origin, names: tuple[str, ...], mark: re.Pattern[bytes]) -> str:
    """The file of one of these names that has the mark in it; '' if there is none."""
    path = origin.find(*names)
    return path if path and mark.search(origin.head(path, 256 * 1024)) else ""


CODEX, GEMINI = CodexMemories(), GeminiMemories()
