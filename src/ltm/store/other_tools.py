"""What other memory tools left in the places that LTM uses too, and what a person said about it.

A block between the marks in CLAUDE.md, or a MEMORY.md in a vault, that LTM did not write;
claude-ltm's folder where a shared vault would be; LTM/Anima's database in the home folder; the
files in which other tools keep a project's memories. None of it is read as LTM's own or changed; it
is shown, with the command that imports it. What was imported, as it was then, and what is to be
left alone is in `<home>/foreign.json`.
"""

from __future__ import annotations

import os
import sqlite3
from binascii import crc32
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress

from ltm.clients.table import CLIENTS
from ltm.errors import WrongUsage
from ltm.files import sqlite
from ltm.files.atomic import is_inside, read_plain
from ltm.files.block import MEMORY_MD, TARGETS, find_block, is_import_of, is_ours
from ltm.files.fastjson import read_object, write
from ltm.model import Problem
from ltm.project.home import path_of
from ltm.project.layout import STATE
from ltm.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ltm.project.layout import Places

FILE = "foreign.json"

_ANIMA = {"agent_id", "region", "kind", "content"}
_TABLE = "memories"
_IGNORED = "ignored"
_HEAD = 64 * 1024
_NOTES_SIZE = 1024 * 1024
_TAKE_OVER = "let ltm write it from now on, a copy is kept: ltm sync --take-over"


class _Kept(NamedTuple):
    """A file in which a tool keeps the memories of a project, and a word that stands in it."""

    tool: str
    file: str
    """Below the project's folder."""
    word: bytes


_KEPT = (
    _Kept("memory-mcp", ".memory/state.json", b'"memories"'),
    _Kept("Memory Keeper", ".claude/memory/facts.json", b'"decisions"'),
    _Kept("liteagents", ".claude/memory/MEMORY.md", b"## Facts"),
    _Kept("liteagents", ".claude/remember/MEMORY.md", b"## Facts"),
)


class Foreign(NamedTuple):
    """One thing that another tool left."""

    path: str
    line: int
    what: str
    """What it is, to be put behind its path."""
    source: str
    """What to import."""
    further: str
    """What can be done once its memories are in."""
    stamp: str
    """Changes when it does."""
    answer: str = ""
    """What a person did about it: nothing yet, `ignored`, or the stamp it had when imported."""
    told: bool = False
    """Whether a session knows it anyway, so that it is offered only where there are no others."""
    of_all: bool = False
    """Whether it is about all projects, so that no project's session is offered it."""

    @property
    def is_new(self) -> bool:
        """Whether it is still to be decided what to do with it."""
        return not self.answer

    @property
    def remedy(self) -> str:
        """The command that takes its memories in."""
        from shlex import quote  # most find nothing

        return f"ltm import {quote(self.source)}"

    @property
    def message(self) -> str:
        """What it is, and what to type next."""
        if self.answer == _IGNORED:
            return self.what
        command = self.remedy
        if self.is_new:
            said = f"take its memories in: {command}"
        elif self.answer != self.stamp:
            said = f"it has changed since you imported it: {command}"
        else:
            said = "its memories are imported"
        return f"{self.what} ({said}{f'; {self.further}' if self.further else ''})"

    @property
    def problem(self) -> Problem:
        """The same as doctor shows it: worth knowing, and nothing that is broken."""
        return Problem(self.path, self.message, self.line, ill=False)


def foreign(places: Places) -> list[Foreign]:
    """Everything of other tools in the places of a project."""
    found = [*_of_projects(places), *filter(None, _in_files(places))]
    folder = places.claude_ltm
    if folder:
        what = "is the store of claude-ltm, so ltm neither uses nor changes it"
        stamps = [_stamp(os.path.join(folder, name)) for name in ("memories", "index.json")]
        found.append(Foreign(folder, 0, what, folder, "", ", ".join(stamps)))
    for path in databases(places.home):
        what = "is the database of LTM/Anima, so ltm neither uses nor changes it"
        found.append(Foreign(path, 0, what, path, "", _stamp(path)))
    answers = _answers(places.home)
    return [each._replace(answer=str(answers.get(each.path, ""))) for each in found]


def as_answered(places: Places, problems: Iterable[Problem]) -> list[Problem]:
    """Problems of files, those of other tools with what a person did about them already."""
    theirs = {each.path: each.problem for each in foreign(places)}
    return [each if each.ill else theirs.get(each.path, each) for each in problems]


def answer(home: str, found: Iterable[Foreign], *, ignored: bool = False) -> None:
    """Keep that these were imported as they are now, or that they are to be left alone."""
    from ltm.files.atomic import make_folder, write_file
    from ltm.files.lock import Lock

    said = {each.path: _IGNORED if ignored else each.stamp for each in found}
    if not said:
        return
    make_folder(home)
    with Lock(os.path.join(home, ".lock")):
        answers = {**_answers(home), **said}
        write_file(os.path.join(home, FILE), f"{write(answers)}\n".encode("ascii"))


def databases(home: str) -> list[str]:
    """The databases of LTM/Anima in a folder, known by their tables, whatever they are called."""
    try:
        names = sorted(name for name in os.listdir(home) if name.endswith(".db"))
        names = [name for name in names if name != STATE]  # LTM's own
    except OSError:
        return []
    paths = [os.path.join(home, name) for name in names]
    return [path for path in paths if os.path.isfile(path) and _columns(path) >= _ANIMA]


def foreign_block(
    existing: bytes, path: str, root: str, memory_mds: Iterable[str]
) -> Foreign | None:
    """The block of another tool in a file of the project `root`, with these bytes.

    One that does nothing but load one of our `memory_mds` is ours.
    """
    block = find_block(existing)
    if block is None or block.is_empty or is_ours(block.data):
        return None
    if any(is_import_of(block, memory_md, path) for memory_md in memory_mds):
        return None
    what = "this block is not from ltm, so it is left as it is"
    return Foreign(path, block.line, what, root, _TAKE_OVER, f"{crc32(block.data):08x}")


def foreign_memory_md(existing: bytes, path: str) -> Foreign | None:
    """A MEMORY.md with these bytes where LTM keeps its own, if LTM did not write it."""
    if not existing.strip() or is_ours(existing):
        return None
    what = "this file is not from ltm, so it is left as it is"
    return Foreign(path, 0, what, path, _TAKE_OVER, f"{crc32(existing):08x}")


def watched(places: Places) -> Iterator[str]:
    """Every file and folder that has a say in what `foreign` finds outside vaults, there or not."""
    root = places.project.root
    yield os.path.join(places.home, FILE)
    for name in ("memories.db", "ltm.db"):
        yield os.path.join(places.home, name)
    for name in (*TARGETS, *(each.file for each in _KEPT)):
        yield os.path.join(root, name)
    for path, *_ in _notes(root):
        yield path


def _notes(root: str) -> Iterator[tuple[str, str, bytes, bool]]:
    """Where clients keep notes of their own: the path, what it is, the word of a file, and whether
    it is about all projects."""
    name = "".join(char if char.isascii() and char.isalnum() else "-" for char in root)
    with suppress(WrongUsage):  # there is no home
        for client in CLIENTS:
            if client.notes:
                path = path_of(client.notes.replace("{project}", name))
                of_all = "{project}" not in client.notes
                yield path, f"{client.title}'s own memory", client.notes_mark.encode(), of_all


def _of_projects(places: Places) -> Iterator[Foreign]:
    """The files in which other tools keep this project's memories."""
    root = places.project.root
    for tool, name, word in _KEPT:
        path = os.path.join(root, name)
        if os.path.isfile(path) and is_inside(path, root):
            with suppress(OSError), open(path, "rb") as file:
                head = file.read(_HEAD)
                if word in head and not is_ours(head):
                    yield Foreign(path, 0, f"memories of {tool}", root, "", _stamp(path))
    for path, what, word, of_all in _notes(root):
        with suppress(OSError):
            if word:
                is_there = word in read_plain(path, limit=_NOTES_SIZE)
            else:
                is_there = any(name.endswith(".md") for name in os.listdir(path))
            if is_there:
                yield Foreign(path, 0, what, path, "", _stamp(path), told=True, of_all=of_all)


def _in_files(places: Places) -> Iterator[Foreign | None]:
    """Blocks in files of the project, and MEMORY.md in vaults."""
    root = places.project.root
    views = [os.path.join(folder, MEMORY_MD) for folder in (places.shared, places.private)]
    for path in dict.fromkeys(os.path.realpath(os.path.join(root, name)) for name in TARGETS):
        if is_inside(path, root):
            with suppress(OSError):
                yield foreign_block(read_plain(path), path, root, views)
    shared = (places.shared,) if places.shares else ()
    for folder in (*shared, places.private, places.agent_folder):
        path = os.path.join(folder, MEMORY_MD)
        with suppress(OSError):
            yield foreign_memory_md(read_plain(path, follow=False), path)


def _columns(path: str) -> frozenset[str]:
    """The columns of a database's table of memories, read without leaving a trace."""
    try:
        with closing(sqlite.foreign(path)) as db:
            known = _TABLE in sqlite.foreign_tables(db)
            return sqlite.foreign_columns(db, _TABLE) if known else frozenset()
    except (sqlite3.Error, UnicodeDecodeError):
        return frozenset()


def _stamp(path: str) -> str:
    try:
        info = os.stat(path)
    except OSError:
        return ""
    return f"{info.st_mtime_ns}:{info.st_size}"


def _answers(home: str) -> dict[str, object]:
    try:
        return read_object(read_plain(os.path.join(home, FILE)).decode("ascii"))
    except (OSError, ValueError):
        return {}
