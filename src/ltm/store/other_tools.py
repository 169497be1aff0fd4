"""What other memory tools left in the places that LTM uses too, and what a person said about it.

A block between the marks in CLAUDE.md, or a MEMORY.md in a vault, that LTM did not write;
claude-ltm's folder where a shared vault would be; LTM/Anima's database in the home folder. None of
it is read as LTM's own or changed; it is shown, with the command that imports it. What was
imported, as it was then, and what is to be left alone is in `<home>/foreign.json`.
"""

import os
import shlex
import sqlite3
from binascii import crc32
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple

from ltm.files import sqlite
from ltm.files.atomic import is_inside, read_plain
from ltm.files.block import MEMORY_MD, TARGETS, find_block, is_import_of, is_ours
from ltm.files.fastjson import read_object, write
from ltm.model import Problem
from ltm.project.layout import STATE

if TYPE_CHECKING:
    from ltm.project.layout import Places

FILE = "foreign.json"

_ANIMA = {"agent_id", "region", "kind", "content"}
_TABLE = "memories"
_IGNORED = "ignored"
_TAKE_OVER = "let ltm write it from now on, a copy is kept: ltm sync --take-over"


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

    @property
    def is_new(self) -> bool:
        """Whether it is still to be decided what to do with it."""
        return not self.answer

    @property
    def message(self) -> str:
        """What it is, and what to type next."""
        if self.answer == _IGNORED:
            return self.what
        command = f"ltm import {shlex.quote(self.source)}"
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


def foreign(places: "Places") -> list[Foreign]:
    """Everything of other tools in the places of a project."""
    found = [each for each in _in_files(places) if each is not None]
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


def _in_files(places: "Places") -> Iterator[Foreign | None]:
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
