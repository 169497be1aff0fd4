"""Read foreign files and archives safely: within limits, inside their folder, and never written.

Links, devices and giants are reported as problems, and a file that cannot be read never hides the
rest. Of an archive every name, type and size is checked before the first byte is written; archives
inside it are left as they are.
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
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import IO, Any

from ltm.errors import NotFound, Refused
from ltm.files.atomic import failed, read_plain
from ltm.model import Problem, now
from ltm.project.home import scratch_folder
from ltm.record import NamedTuple
from ltm.vault.vault import modified

_MIB = 1024 * 1024
_SKIPPED = {".git", "node_modules", "__pycache__", ".venv", "venv", ".obsidian", ".trash"}
_LONGEST_LINE = 16 * _MIB
_CHUNK = 256 * 1024
_PART = "import a part of it, or say --large if you trust it"


@dataclass(frozen=True, slots=True)
class SourceLimits:
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

    def check_bytes(self, count: int, path: str) -> None:
        """Refuse a source of more bytes than may be read."""
        if count > self.total:
            raise Refused(f"holds more than {self.total // _MIB:,} MiB", path=path, hint=_PART)

    def check_entries(self, count: int, path: str) -> None:
        """Refuse a source of more files, rows or memories than may be read."""
        if count > self.entries:
            raise Refused(f"holds more than {self.entries:,} entries", path=path, hint=_PART)


USUAL = SourceLimits()
LARGE = SourceLimits(total=100 * USUAL.total, note=100 * USUAL.note, entries=100 * USUAL.entries)
"""For a source a person vouches for, with `--large`; the ratio stays."""


class Origin(ExitStack):
    """A file or folder to import from, unpacked if it was packed. Use it with `with`."""

    def __init__(self, given: str, limits: SourceLimits) -> None:
        """`given` is the path as a person named it; `-` is standard input."""
        super().__init__()
        self.given = given
        self.limits = limits
        self.tables: dict[str, dict[str, frozenset[str]]] = {}
        """What was seen of databases, by path: several importers ask."""
        self._problems: dict[Problem, None] = {}
        self._listings: dict[tuple[str, str, bool], list[str]] = {}
        self._bytes = self._rows = 0
        try:
            self.path = self._prepare(given)
        except BaseException:
            self.close()
            raise
        self.is_folder = os.path.isdir(self.path)

    @property
    def problems(self) -> list[Problem]:
        """What could not be read, each once, however many importers met it."""
        return list(self._problems)

    def _prepare(self, given: str) -> str:
        path = os.path.realpath(os.path.expanduser(given))
        if given == "-":
            path = os.path.join(self._scratch(), "stdin")
            with open(path, "xb") as file:
                while chunk := sys.stdin.buffer.read(_MIB):
                    self.limits.check_bytes(file.tell() + len(chunk), "-")
                    file.write(chunk)
        if os.path.isdir(path):
            return path
        if not os.path.lexists(path):
            raise NotFound("there is no such file or folder", path=given)
        if not os.path.isfile(path):
            raise Refused("is neither a file nor a folder", path=given)
        try:
            return unpack(path, self._scratch(), self.limits) if is_packed(path) else path
        except OSError as error:
            raise failed(error, "read the file", path) from error

    def _scratch(self) -> str:
        """A folder for what has to lie on the disk while it is read; gone afterwards."""
        return self.enter_context(tempfile.TemporaryDirectory(prefix="ltm-", dir=scratch_folder()))

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
            if os.path.isfile(path) and not os.path.islink(path):
                # `MEMORY.md` and `memory.md` are one file on some disks.
                with suppress(OSError):
                    if os.path.basename(path) in os.listdir(os.path.dirname(path)):
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
            self._listings[asked] = sorted(self._walk(folder, suffix, deep))
        return self._listings[asked]

    def _walk(self, folder: str, suffix: str, deep: bool) -> Iterator[str]:
        def unlisted(error: OSError) -> None:
            self.problem(str(error.filename), f"cannot be listed: {error.strerror}")

        entries = 0
        for place, folders, names in os.walk(folder, onerror=unlisted):
            entries += len(folders) + len(names)
            self.limits.check_entries(entries, self.given)
            if not deep:
                folders.clear()
            folders[:] = [each for each in folders if each[0] != "." and each not in _SKIPPED]
            if place.count(os.sep) - folder.count(os.sep) >= self.limits.depth:
                for each in folders:
                    message = f"nests deeper than {self.limits.depth} folders"
                    self.problem(os.path.join(place, each), message)
                folders.clear()
            for name in names:
                path = os.path.join(place, name)
                if name.startswith(".") or not name.lower().endswith(suffix):
                    continue
                if os.path.isfile(path) and not os.path.islink(path):
                    yield path
                else:
                    self.problem(path, "is a link or no plain file, and was left out")

    def modified(self, path: str) -> datetime:
        """When a file was last written: the age of what does not say it itself."""
        return modified(path) or now()

    def relative(self, path: str) -> str:
        """A path below the source, with `/`, as an id that does not change with the machine."""
        base = self.path if self.is_folder else os.path.dirname(self.path)
        return os.path.relpath(path, base).replace(os.sep, "/")

    # -- reading ---------------------------------------------------------------------------------

    def problem(self, path: str, message: str, line: int = 0) -> None:
        self._problems[Problem(self.shown(path), message, line)] = None

    def shown(self, path: str) -> str:
        """A path as the person knows it, even if it lies in an unpacked copy."""
        real = os.path.realpath(os.path.expanduser(self.given))
        if path == self.path:
            return "standard input" if self.given == "-" else real
        return path if self.path == real else f"{real}: {self.relative(path)}"

    def count_bytes(self, count: int, path: str) -> None:
        """Count bytes that were read; refused beyond the limit."""
        self._bytes += count
        self.limits.check_bytes(self._bytes, self.shown(path))

    def count_row(self, path: str) -> None:
        """Count a row of a database; refused beyond the limit."""
        self._rows += 1
        self.limits.check_entries(self._rows, self.shown(path))

    def data(self, path: str, *, counted: bool = True, most: int = 0) -> bytes | None:
        """The bytes of a plain file; None, and a problem, when it cannot be read.

        One of more than `most` bytes is left out, and nothing else for its sake.
        """
        limit = max(0, self.limits.total - self._bytes) if counted else self.limits.total
        try:
            data = read_plain(path, limit=min(limit, most or limit), follow=False)
        except OSError as error:
            message = "is a link" if error.errno == errno.ELOOP else str(error.strerror)
            if error.errno == errno.EFBIG:
                if not most or os.path.getsize(path) <= most:
                    self.limits.check_bytes(self.limits.total + 1, self.shown(path))
                hint = "split it, or say --large if you trust it"
                message = f"is larger than {most // _MIB:,} MiB, and left out ({hint})"
            self.problem(path, message)
            return None
        if counted:
            self.count_bytes(len(data), path)
        return data

    def text(self, path: str) -> str | None:
        """The text of a Markdown file; None, and a problem, when it cannot be read."""
        return self._decoded(path, self.data(path, most=self.limits.note))

    def _decoded(self, path: str, data: bytes | None) -> str | None:
        if data is None:
            return None
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self.problem(path, "is not UTF-8", 1 + data.count(b"\n", 0, error.start))
            return data.decode("utf-8", "replace")
        return text.replace("\r\n", "\n")

    def json(self, path: str) -> Any:
        """The JSON value in a file; None, and a problem with its line, when there is none.

        A file that is cut off gives nothing at all rather than a part of it.
        """
        text = self._decoded(path, self.data(path))
        try:
            return None if text is None else json.loads(text)
        except json.JSONDecodeError as error:
            # Half a word or escape at the very end, or a text without its closing quote.
            at_end = error.pos >= len(error.doc.rstrip()) - 6
            is_cut = at_end or error.msg.startswith("Unterminated string")
            cut = "; the file is cut off, so nothing of it was read" if is_cut else ""
            self.problem(path, f"is not valid JSON: {error.msg}{cut}", error.lineno)
        except (RecursionError, ValueError) as error:
            deep = isinstance(error, RecursionError)
            self.problem(path, "nests too deep" if deep else f"is not valid JSON: {error}")
        return None

    def lines(self, path: str, *, counted: bool = True) -> Generator[tuple[int, bytes], None, None]:
        """The lines of a file with their numbers, one held at a time; a huge one is left out.

        The bytes are counted, so that a file that never ends does; a second reading is not.
        """
        number, begun = 0, False
        try:
            with open(path, "rb") as file:
                while line := file.readline(_LONGEST_LINE):
                    if counted:
                        self.count_bytes(len(line), path)
                    number += not begun
                    whole = len(line) < _LONGEST_LINE or line.endswith(b"\n")
                    if whole and not begun:
                        yield number, line
                    elif counted and not begun:
                        most = _LONGEST_LINE // _MIB
                        self.problem(path, f"the line is longer than {most} MiB", number)
                    begun = not whole
        except OSError as error:
            raise failed(error, "read the file", path) from error

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
            self.limits.check_bytes(self._bytes + os.path.getsize(path), self.shown(path))
            shutil.copyfile(path, os.path.join(folder, os.path.basename(path)))
        return os.path.join(folder, os.path.basename(paths[0]))


# -- archives ------------------------------------------------------------------------------------

_SMALL = _MIB  # below this, a high ratio is just a dull text
_LONGEST_NAME = 1024
_LISTING = 16 * _MIB  # bytes of a zip's list of entries, read before anything can be counted
_DRIVE = re.compile(r"[A-Za-z]:")
_BROKEN = (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError,
           RuntimeError)  # fmt: skip


class _Member(NamedTuple):
    name: str
    size: int
    modified: float
    is_folder: bool
    is_file: bool
    open: Callable[[], IO[bytes] | None]


def is_packed(path: str) -> bool:
    """Whether a file is one that `unpack` understands, by its first bytes."""
    head = _head(path)
    return head[:2] == b"\x1f\x8b" or head[:4] in (b"PK\3\4", b"PK\5\6") or _is_tar(head)


def unpack(path: str, folder: str, limits: SourceLimits) -> str:
    """Unpack a file into an empty folder; the path of what came out, a folder or one file."""
    try:
        if _head(path)[:2] == b"PK":
            _refuse_long_listing(path)
            with zipfile.ZipFile(path) as archive:
                _extract(_zip_members(archive, path), path, path, folder, limits)
            return folder
        plain = path
        if _head(path)[:2] == b"\x1f\x8b":
            plain = _gunzip(path, folder, limits)
            if not _is_tar(_head(plain)):
                return plain
            folder = tempfile.mkdtemp(dir=folder)
        try:
            with tarfile.open(plain, "r:") as tar:
                _extract(_tar_members(tar), path, plain, folder, limits)
        finally:
            if plain != path:
                os.unlink(plain)
        return folder
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
    target, size = os.path.join(folder, name), 0
    with gzip.open(path, "rb") as source:
        while chunk := source.read(_CHUNK):  # measured first: its full size stands nowhere
            size += len(chunk)
            _refuse_bomb(size, path, path, limits)
        source.seek(0)
        with open(target, "xb") as out:
            shutil.copyfileobj(source, out, _CHUNK)
    os.utime(target, (os.path.getmtime(path),) * 2)
    return target


def _tar_members(archive: tarfile.TarFile) -> Iterator[_Member]:
    for each in archive:
        is_file = each.isreg() and not each.issparse()
        reader = partial(archive.extractfile, each)
        yield _Member(each.name, each.size, each.mtime, each.isdir(), is_file, reader)


def _zip_members(archive: zipfile.ZipFile, path: str) -> Iterator[_Member]:
    for each in archive.infolist():
        # Of the other methods one read may become any size.
        if each.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Refused("is packed in an unusual way", path=path, hint="pack it as a plain zip")
        if each.flag_bits & 1:
            raise Refused("is encrypted", path=path, hint="unpack it first, then import the folder")
        try:
            modified = time.mktime((*each.date_time, 0, 0, -1))
        except (ValueError, OverflowError):
            modified = time.time()
        is_file = stat.S_IFMT(each.external_attr >> 16) in (0, stat.S_IFREG, stat.S_IFDIR)
        reader = partial(archive.open, each)
        yield _Member(each.filename, each.file_size, modified, each.is_dir(), is_file, reader)


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
    members: Iterable[_Member], path: str, archive: str, folder: str, limits: SourceLimits
) -> None:
    """Write the files of an archive, unless it is refused as a whole: for one bad name, one name
    twice, or what it would become. Both libraries read no more of a file than its size says."""
    files: dict[str, tuple[str, _Member]] = {}
    total = 0
    for number, member in enumerate(members, start=1):
        limits.check_entries(number, path)
        name = _inside(member.name, path, limits)
        if member.is_folder:
            continue
        if not member.is_file:
            raise Refused(
                f"holds '{name[:80]}', which is a link or a device",
                path=path,
                hint="pack plain files and folders only",
            )
        # On many disks names that differ in case or accents only are one file.
        alike = unicodedata.normalize("NFC", name).casefold()
        if not name or alike in files:
            wrong = f"'{name}' twice" if name else "a file without a name"
            raise Refused(f"holds {wrong}", path=path)
        files[alike] = name, member
        total += member.size
        _refuse_bomb(total, path, archive, limits)
    for name, member in files.values():
        target = os.path.join(folder, name)
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        source = member.open()
        if source is not None:
            with source, open(target, "xb") as out:
                shutil.copyfileobj(source, out, _CHUNK)
        with suppress(OSError, OverflowError, ValueError):  # a date no disk can keep
            os.utime(target, (member.modified, member.modified))


def _inside(name: str, path: str, limits: SourceLimits) -> str:
    """The path of a name that stays inside; any other name is refused."""
    plain = name.replace("\\", "/")
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    outside = plain.startswith("/") or ".." in parts or bool(_DRIVE.match(plain))
    if outside or "\0" in name or len(name) > _LONGEST_NAME:
        raise Refused(f"holds a name that leads out of it: '{name[:80]}'", path=path)
    if len(parts) > limits.depth:
        raise Refused(f"nests deeper than {limits.depth} folders", path=path)
    return os.path.join("", *parts)


def _refuse_bomb(size: int, path: str, archive: str, limits: SourceLimits) -> None:
    limits.check_bytes(size, path)
    if size > _SMALL and size > os.path.getsize(archive) * limits.ratio:
        raise Refused(
            f"becomes more than {limits.ratio} times larger when unpacked",
            path=path,
            hint="unpack it yourself if you trust it, then import the folder",
        )
