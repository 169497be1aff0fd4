"""What is imported, read safely: bounded, never followed out of its folder, never written to.

Owns how importers touch the disk. A source may come from anybody, so links, devices and giants are
told as problems, and whatever cannot be read never hides the rest. Imports core, storage's small
readers and this package's limits and unpacking.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from datetime import datetime
from types import TracebackType
from typing import IO, Any

from ltm.core.errors import NotFound, Refused
from ltm.core.model import Problem, now
from ltm.storage.durable import failed
from ltm.storage.home import scratch_folder
from ltm.storage.plainfile import read_plain
from ltm.storage.vault import modified
from ltm.transfer.limits import Budget, SourceLimits, too_large
from ltm.transfer.unpack import is_packed, unpack

_SKIPPED = frozenset(
    {".git", "node_modules", "__pycache__", ".venv", "venv", ".obsidian", ".trash"}
)
_LONGEST_LINE = 16 * 1024 * 1024


class Origin:
    """A file or folder to import from, unpacked if it was packed. Use it with `with`."""

    def __init__(self, said: str, limits: SourceLimits) -> None:
        """`said` is the path as a person named it; `-` is standard input."""
        self.said = said
        self.budget = Budget(limits)
        self.problems: list[Problem] = []
        self._told: set[Problem] = set()
        self.tables: dict[str, dict[str, frozenset[str]]] = {}
        """What was seen of databases, by path: several importers ask."""
        self._listings: dict[tuple[str, str, bool], list[str]] = {}
        self._stack = ExitStack()
        try:
            self.path = self._prepare(said)
        except BaseException:
            self._stack.close()
            raise
        self.is_folder = os.path.isdir(self.path)

    def __enter__(self) -> Origin:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def _prepare(self, said: str) -> str:
        path = self._from_stdin() if said == "-" else os.path.realpath(os.path.expanduser(said))
        if os.path.isdir(path):
            return path
        if not os.path.lexists(path):
            raise NotFound("there is no such file or folder", path=said)
        if not os.path.isfile(path):
            raise Refused("is neither a file nor a folder", path=said)
        try:
            limits = self.budget.limits
            return unpack(path, self._scratch(), Budget(limits)) if is_packed(path) else path
        except OSError as error:
            raise failed(error, "read the file", path) from error

    def _from_stdin(self) -> str:
        path = os.path.join(self._scratch(), "stdin")
        with open(path, "xb") as file:
            while chunk := sys.stdin.buffer.read(1024 * 1024):
                if file.tell() + len(chunk) > self.budget.limits.total:
                    raise too_large("-", self.budget.limits)
                file.write(chunk)
        return path

    def _scratch(self) -> str:
        """A folder for what has to lie on the disk while it is read; gone afterwards."""
        return self._stack.enter_context(
            tempfile.TemporaryDirectory(prefix="ltm-", dir=scratch_folder())
        )

    # -- what is there ---------------------------------------------------------------------------

    def find(self, *names: str) -> str | None:
        """The first of these files, given relative to the folder, that is there.

        For a source that is one file: that file, if it has the name of one of them.
        """
        if not self.is_folder:
            mine = os.path.basename(self.path)
            return self.path if any(os.path.basename(name) == mine for name in names) else None
        for name in names:
            path = os.path.join(self.path, *name.split("/"))
            if os.path.isfile(path) and not os.path.islink(path) and _has_exact_name(path):
                return path
        return None

    def folder(self, *names: str) -> str | None:
        """The first of these folders that is there; '.' is the folder itself."""
        for name in names if self.is_folder else ():
            path = os.path.normpath(os.path.join(self.path, *name.split("/")))
            if os.path.isdir(path) and not os.path.islink(path):
                return path
        return None

    def files(self, folder: str, suffix: str, *, deep: bool = False) -> list[str]:
        """The files of a folder with a suffix, in the order of their names, links left out."""
        asked = (folder, suffix, deep)
        if asked not in self._listings:  # several importers ask
            counted = Budget(self.budget.limits)
            self._listings[asked] = sorted(self._walk(folder, suffix, deep, 0, counted))
        return self._listings[asked]

    def _walk(
        self, folder: str, suffix: str, deep: bool, depth: int, counted: Budget
    ) -> Iterator[str]:
        if depth > self.budget.limits.depth:
            self.problem(folder, f"nests deeper than {self.budget.limits.depth} folders")
            return
        try:
            entries = list(os.scandir(folder))
        except OSError as error:
            self.problem(folder, f"cannot be listed: {error.strerror}")
            return
        for entry in entries:
            counted.enter(self.said)
            if entry.is_dir(follow_symlinks=False):
                if deep and entry.name not in _SKIPPED and not entry.name.startswith("."):
                    yield from self._walk(entry.path, suffix, deep, depth + 1, counted)
            elif entry.name.lower().endswith(suffix) and not entry.name.startswith("."):
                if entry.is_file(follow_symlinks=False):
                    yield entry.path
                else:
                    self.problem(entry.path, "is a link or no plain file, and was left out")

    def modified(self, path: str) -> datetime:
        """When a file was last written: the age of what does not say it itself."""
        return modified(path) or now()

    def relative(self, path: str) -> str:
        """A path below the source, with `/`, as an id that does not change with the machine."""
        base = self.path if self.is_folder else os.path.dirname(self.path)
        return os.path.relpath(path, base).replace(os.sep, "/")

    # -- reading ---------------------------------------------------------------------------------

    def problem(self, path: str, message: str, line: int = 0) -> None:
        """Note something that could not be read, once, however many importers meet it."""
        problem = Problem(self.shown(path), message, line)
        if problem not in self._told:
            self._told.add(problem)
            self.problems.append(problem)

    def shown(self, path: str) -> str:
        """A path as the person knows it, even if it lies in an unpacked copy."""
        real = os.path.realpath(os.path.expanduser(self.said))
        if path == self.path:
            return "standard input" if self.said == "-" else real
        if self.path != real:
            return f"{real}: {self.relative(path)}"
        return path

    def data(self, path: str, *, counted: bool = True, most: int = 0) -> bytes | None:
        """The bytes of a plain file; None, and a problem, when it cannot be read.

        One of more than `most` bytes is left out, and nothing else for its sake.
        """
        limits = self.budget.limits
        try:
            limit = self.budget.left if counted else limits.total
            data = read_plain(path, limit=min(limit, most or limit), follow=False)
        except OSError as error:
            if error.errno == errno.EFBIG and most and os.path.getsize(path) > most:
                hint = "split it, or say --large if you trust it"
                self.problem(path, f"is larger than {most // 1024**2:,} MiB, and left out ({hint})")
                return None
            if error.errno == errno.EFBIG:
                raise too_large(self.shown(path), limits) from error
            self.problem(path, "is a link" if error.errno == errno.ELOOP else str(error.strerror))
            return None
        if counted:
            self.budget.spend(len(data), self.shown(path))
        return data

    def text(self, path: str) -> str | None:
        """The text of a Markdown file; None, and a problem, when it cannot be read."""
        return self._decoded(path, self.data(path, most=self.budget.limits.note))

    def _decoded(self, path: str, data: bytes | None) -> str | None:
        if data is None:
            return None
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = 1 + data.count(b"\n", 0, error.start)
            self.problem(path, "is not UTF-8", line)
            return data.decode("utf-8", "replace")
        return text.replace("\r\n", "\n")

    def json(self, path: str) -> Any:
        """The JSON value in a file; None, and a problem with its line, when there is none.

        A file that is cut off gives nothing at all rather than a part of it.
        """
        text = self._decoded(path, self.data(path))
        if text is None:
            return None
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            cut = " (the file may be cut off)" if error.pos >= len(text.rstrip()) - 1 else ""
            self.problem(path, f"is not valid JSON: {error.msg}{cut}", error.lineno)
        except (RecursionError, ValueError) as error:
            deep = isinstance(error, RecursionError)
            self.problem(path, "nests too deep" if deep else f"is not valid JSON: {error}")
        return None

    def lines(self, path: str, *, counted: bool = True) -> Generator[tuple[int, bytes], None, None]:
        """The lines of a file with their numbers, one held at a time; a huge one is left out.

        The bytes are counted, so that a file that never ends does; a second reading is not.
        """
        try:
            with open(path, "rb") as file:
                yield from self._lines(file, path, counted)
        except OSError as error:
            raise failed(error, "read the file", path) from error

    def _lines(
        self, file: IO[bytes], path: str, counted: bool
    ) -> Generator[tuple[int, bytes], None, None]:
        number = 0
        while line := file.readline(_LONGEST_LINE):
            number += 1
            if counted:
                self.budget.spend(len(line), self.shown(path))
            if len(line) < _LONGEST_LINE or line.endswith(b"\n"):
                yield number, line
                continue
            if counted:
                most = _LONGEST_LINE // 1024**2
                self.problem(path, f"the line is longer than {most} MiB", number)
            while (line := file.readline(_LONGEST_LINE)) and not line.endswith(b"\n"):
                if counted:
                    self.budget.spend(len(line), self.shown(path))

    def head(self, path: str, count: int = 4096) -> bytes:
        """The first bytes of a file, to tell what it is; nothing when it cannot be read."""
        try:
            with open(path, "rb") as file:
                return file.read(count)
        except OSError:
            return b""

    def copy(self, *paths: str) -> str:
        """Copies of files, side by side in a temporary folder; the path of the first."""
        folder = self._scratch()
        for path in paths:
            if os.path.getsize(path) > self.budget.left:
                raise too_large(self.shown(path), self.budget.limits)
            shutil.copyfile(path, os.path.join(folder, os.path.basename(path)))
        return os.path.join(folder, os.path.basename(paths[0]))


def _has_exact_name(path: str) -> bool:
    """Whether a file has this very name: `MEMORY.md` and `memory.md` are one on some disks."""
    try:
        return os.path.basename(path) in os.listdir(os.path.dirname(path))
    except OSError:
        return False
