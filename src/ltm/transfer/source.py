"""Read foreign files and archives safely: within limits, inside their folder, and never written.

A source may come from anyone, so links, devices and giants are reported as problems, and a file
that cannot be read never hides the rest. Of an archive every name, type and size is checked before
the first byte is written; archives inside it are left as they are.
"""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import shutil
import stat
import struct
import sys
import tarfile
import tempfile
import time
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import IO, Any

from ltm.errors import NotFound, Refused
from ltm.files.atomic import failed, read_plain
from ltm.model import Problem, now
from ltm.project.home import scratch_folder
from ltm.vault.vault import modified

_MIB = 1024 * 1024
_SKIPPED = frozenset(
    {".git", "node_modules", "__pycache__", ".venv", "venv", ".obsidian", ".trash"}
)
_LONGEST_LINE = 16 * _MIB
_CHUNK = 256 * 1024
_SMALL = _MIB  # below this, a high ratio is just a dull text
_LONGEST_NAME = 1024
_DRIVE = re.compile(r"[A-Za-z]:")
_LISTING = 16 * _MIB  # bytes of a zip's list of entries, read before anything can be counted
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    ValueError,
    RecursionError,
)


@dataclass(frozen=True, slots=True)
class SourceLimits:
    """The most a source may be."""

    total: int = 100 * _MIB
    """Bytes read, or unpacked, in all."""
    note: int = 4 * _MIB
    """Bytes of one Markdown file: it is taken apart into lines, which need more room than it."""
    entries: int = 100_000
    """Files, rows or memories."""
    ratio: int = 100
    """How many times larger than itself a packed file may become."""
    depth: int = 32
    """Folders below each other."""


USUAL = SourceLimits()
LARGE = SourceLimits(total=100 * USUAL.total, note=100 * USUAL.note, entries=100 * USUAL.entries)
"""For a source a person vouches for, with `--large`; the ratio stays."""


@dataclass(slots=True)
class Budget:
    """What is left of the limits while a source is read."""

    limits: SourceLimits = USUAL
    bytes: int = field(default=0, init=False)
    entries: int = field(default=0, init=False)

    @property
    def left(self) -> int:
        """Bytes that may still be read."""
        return max(0, self.limits.total - self.bytes)

    def spend(self, count: int, path: str) -> None:
        """Count bytes; refused beyond the limit."""
        self.bytes += count
        if self.bytes > self.limits.total:
            raise too_large(path, self.limits)

    def enter(self, path: str) -> None:
        """Count a file or a row; refused beyond the limit."""
        self.entries += 1
        self.refuse_more(self.entries, path)

    def refuse_more(self, count: int, path: str) -> None:
        """Refuse what has more entries than may be."""
        if count > self.limits.entries:
            raise Refused(
                f"holds more than {self.limits.entries:,} entries",
                path=path,
                hint="import a part of it, or say --large if you trust it",
            )


def too_large(path: str, limits: SourceLimits) -> Refused:
    """The error for a source that is larger than may be read."""
    return Refused(
        f"holds more than {limits.total // _MIB:,} MiB",
        path=path,
        hint="import a part of it, or say --large if you trust it",
    )


class Origin:
    """A file or folder to import from, unpacked if it was packed. Use it with `with`."""

    def __init__(self, given: str, limits: SourceLimits) -> None:
        """`given` is the path as a person named it; `-` is standard input."""
        self.given = given
        self.budget = Budget(limits)
        self.problems: list[Problem] = []
        self._told: set[Problem] = set()
        self.tables: dict[str, dict[str, frozenset[str]]] = {}
        """What was seen of databases, by path: several importers ask."""
        self._listings: dict[tuple[str, str, bool], list[str]] = {}
        self._stack = ExitStack()
        try:
            self.path = self._prepare(given)
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

    def _prepare(self, given: str) -> str:
        path = self._from_stdin() if given == "-" else os.path.realpath(os.path.expanduser(given))
        if os.path.isdir(path):
            return path
        if not os.path.lexists(path):
            raise NotFound("there is no such file or folder", path=given)
        if not os.path.isfile(path):
            raise Refused("is neither a file nor a folder", path=given)
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
            counted.enter(self.given)
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
        real = os.path.realpath(os.path.expanduser(self.given))
        if path == self.path:
            return "standard input" if self.given == "-" else real
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


# -- archives ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _ArchiveFile:
    """A file in an archive."""

    name: str
    size: int
    modified: float
    open: Callable[[], IO[bytes] | None]


def is_packed(path: str) -> bool:
    """Whether a file is one that `unpack` understands, by its first bytes."""
    head = _head(path)
    return head[:2] == b"\x1f\x8b" or head[:4] in (b"PK\3\4", b"PK\5\6") or _is_tar(head)


def unpack(path: str, folder: str, budget: Budget) -> str:
    """Unpack a file into an empty folder; the path of what came out, a folder or one file."""
    try:
        if _head(path)[:2] == b"PK":
            _refuse_long_listing(path)
            with zipfile.ZipFile(path) as archive:
                _extract(list(_zip_files(archive, path, budget)), path, folder, path, budget.limits)
            return folder
        if _head(path)[:2] != b"\x1f\x8b":
            return _untar(path, path, folder, budget)
        plain = _gunzip(path, folder, budget.limits)
        if not _is_tar(_head(plain)):
            return plain
        inner = os.path.join(folder, "files")
        os.mkdir(inner, 0o700)
        try:
            return _untar(plain, path, inner, budget)
        finally:
            os.unlink(plain)
    except _BROKEN as error:
        raise Refused(f"cannot be unpacked ({error})", path=path) from error
    except OSError as error:
        raise failed(error, "unpack the file", path) from error


def _head(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(512)


def _is_tar(head: bytes) -> bool:
    return head[257:262] == b"ustar"


def _gunzip(path: str, folder: str, limits: SourceLimits) -> str:
    name = os.path.basename(path).removesuffix(".gz").removesuffix(".tgz") or "unpacked"
    target = os.path.join(folder, name)
    packed, size = max(1, os.path.getsize(path)), 0
    with gzip.open(path, "rb") as source:
        while chunk := source.read(_CHUNK):  # measured first: what it would become stands nowhere
            size += len(chunk)
            _refuse_bomb(size, packed, path, limits)
        source.seek(0)
        with open(target, "xb") as out:
            shutil.copyfileobj(source, out, _CHUNK)
    _set_time(target, os.path.getmtime(path))
    return target


def _untar(archive_path: str, path: str, folder: str, budget: Budget) -> str:
    with tarfile.open(archive_path, "r:") as archive:
        files = list(_tar_files(archive, path, budget))
        _extract(files, archive_path, folder, path, budget.limits)
    return folder


def _tar_files(archive: tarfile.TarFile, path: str, budget: Budget) -> Iterator[_ArchiveFile]:
    for member in archive:
        budget.enter(path)
        if member.isdir():
            _parts(member.name, path, budget.limits)
        elif not member.isreg() or member.issparse():
            raise _not_plain(member.name, path)
        else:
            opened = partial(archive.extractfile, member)
            yield _ArchiveFile(member.name, member.size, member.mtime, opened)


def _zip_files(archive: zipfile.ZipFile, path: str, budget: Budget) -> Iterator[_ArchiveFile]:
    for info in archive.infolist():
        budget.enter(path)
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise _not_plain(info.filename, path)
        if info.flag_bits & 1:
            raise Refused("is encrypted", path=path, hint="unpack it first, then import the folder")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Refused("is packed in an unusual way", path=path, hint="pack it as a plain zip")
        if info.is_dir():
            _parts(info.filename, path, budget.limits)
            continue
        opened = partial(archive.open, info)
        yield _ArchiveFile(info.filename, info.file_size, _zip_time(info), opened)


def _zip_time(info: zipfile.ZipInfo) -> float:
    try:
        return time.mktime((*info.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return time.time()


def _refuse_long_listing(path: str) -> None:
    """Python reads the whole list of entries at once, so its size is looked at first."""
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - 65_557 - 76))
        tail = file.read()
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) < at + 22:
        raise Refused("is not a whole zip file", path=path)
    size = struct.unpack_from("<L", tail, at + 12)[0]
    large = tail.rfind(b"PK\6\6", 0, at)
    if size == 0xFFFFFFFF and large >= 0 and len(tail) >= large + 48:
        size = struct.unpack_from("<Q", tail, large + 40)[0]
    if size > _LISTING:
        raise Refused("lists too many entries", path=path, hint="import a part of it")


def _extract(
    files: list[_ArchiveFile], archive_path: str, folder: str, path: str, limits: SourceLimits
) -> None:
    """Write the files of an archive, unless it is refused as a whole: for one bad name, one name
    twice, or what it would become. Both libraries read no more of a file than its size says."""
    seen: set[str] = set()
    total, packed = 0, os.path.getsize(archive_path)
    for file in files:
        name = "/".join(_parts(file.name, path, limits))
        if not name:
            raise Refused("holds a file without a name", path=path)
        # On many disks names that differ in case or accents only are one file.
        alike = unicodedata.normalize("NFC", name).casefold()
        if alike in seen:
            raise Refused(f"holds '{name}' twice", path=path)
        seen.add(alike)
        total += file.size
        _refuse_bomb(total, packed, path, limits)
    for file in files:
        target = os.path.join(folder, *_parts(file.name, path, limits))
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        source = file.open()
        if source is not None:
            with source, open(target, "xb") as out:
                shutil.copyfileobj(source, out, _CHUNK)
            _set_time(target, file.modified)


def _parts(name: str, path: str, limits: SourceLimits) -> list[str]:
    """The folders and the file of a name that stays inside; any other name is refused."""
    plain = name.replace("\\", "/")
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    outside = plain.startswith("/") or ".." in parts or bool(_DRIVE.match(plain))
    if outside or "\0" in name or len(name) > _LONGEST_NAME:
        raise Refused(f"holds a name that leads out of it: '{name[:80]}'", path=path)
    if len(parts) > limits.depth:
        raise Refused(f"nests deeper than {limits.depth} folders", path=path)
    return parts


def _refuse_bomb(size: int, packed: int, path: str, limits: SourceLimits) -> None:
    if size > limits.total:
        raise too_large(path, limits)
    if size > _SMALL and size > packed * limits.ratio:
        raise Refused(
            f"becomes more than {limits.ratio} times larger when unpacked",
            path=path,
            hint="unpack it yourself if you trust it, then import the folder",
        )


def _set_time(target: str, modified: float) -> None:
    """The age of a note that does not say it itself is that of its file."""
    try:
        os.utime(target, (modified, modified))
    except (OSError, OverflowError, ValueError):
        pass  # a date no disk can keep: then it is as old as this import


def _not_plain(name: str, path: str) -> Refused:
    return Refused(
        f"holds '{name[:80]}', which is a link or a device",
        path=path,
        hint="pack plain files and folders only",
    )
