"""Unpacking a zip, tar or gzip file that may be a trap.

Owns the order: every name, type and size is checked before the first byte is written, and what is
written is counted again, since sizes in an archive are only claims. Archives inside are left as
they are. Imports core, `storage.durable` and this package's limits.
"""

from __future__ import annotations

import gzip
import os
import re
import stat
import struct
import tarfile
import time
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any

from ltm.core.errors import Refused
from ltm.storage.durable import failed
from ltm.transfer.limits import Budget, SourceLimits, too_large

_CHUNK = 256 * 1024
_SMALL = 1024 * 1024  # below this, a high ratio is just a dull text
_LONGEST_NAME = 1024
_DRIVE = re.compile(r"[A-Za-z]:")
_LISTING = 16 * 1024 * 1024  # bytes of a zip's list of entries, read before anything can be counted
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file in an archive."""

    name: str
    size: int
    modified: float
    handle: Any


def is_packed(path: str) -> bool:
    """Whether a file is one that `unpack` understands, by its first bytes."""
    head = _head(path)
    return head[:2] == b"\x1f\x8b" or head[:4] in (b"PK\3\4", b"PK\5\6") or _is_tar(head)


def unpack(path: str, folder: str, budget: Budget) -> str:
    """Unpack a file into an empty folder; the path of what came out, a folder or one file."""
    try:
        return _unpack(path, folder, budget)
    except OSError as error:
        raise failed(error, "unpack the file", path) from error


def _unpack(path: str, folder: str, budget: Budget) -> str:
    head = _head(path)
    if head[:2] == b"\x1f\x8b":
        plain = _gunzip(path, folder, budget.limits)
        if not _is_tar(_head(plain)):
            return plain
        inner = os.path.join(folder, "files")
        os.mkdir(inner, 0o700)
        try:
            return _untar(plain, path, inner, budget)
        finally:
            os.unlink(plain)
    if head[:2] == b"PK":
        return _unzip(path, folder, budget)
    return _untar(path, path, folder, budget)


def _head(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(512)


def _is_tar(head: bytes) -> bool:
    return head[257:262] == b"ustar"


def _gunzip(path: str, folder: str, limits: SourceLimits) -> str:
    name = os.path.basename(path).removesuffix(".gz").removesuffix(".tgz") or "unpacked"
    target = os.path.join(folder, name)
    packed, size = max(1, os.path.getsize(path)), 0
    try:
        for chunk in _gunzipped(path):  # once to measure it: what it would become stands nowhere
            size += len(chunk)
            _refuse_bomb(size, packed, path, limits)
        with _new(target) as out:
            out.writelines(_gunzipped(path))
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise Refused(f"cannot be unpacked ({error})", path=path) from error
    _set_time(target, os.path.getmtime(path))
    return target


def _gunzipped(path: str) -> Iterator[bytes]:
    with gzip.open(path, "rb") as source:
        while chunk := source.read(_CHUNK):
            yield chunk


def _unzip(path: str, folder: str, budget: Budget) -> str:
    _refuse_long_listing(path)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = list(_zip_entries(archive, path, budget))
            _check(entries, os.path.getsize(path), path, budget.limits)
            for entry in entries:
                with archive.open(entry.handle) as source:
                    _write(source, entry, folder, path, budget.limits)
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError) as error:
        raise Refused(f"cannot be unpacked ({error})", path=path) from error
    return folder


def _zip_entries(archive: zipfile.ZipFile, path: str, budget: Budget) -> Iterator[_Entry]:
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
        yield _Entry(info.filename, info.file_size, _zip_time(info), info)


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


def _untar(path: str, said: str, folder: str, budget: Budget) -> str:
    try:
        with tarfile.open(path, "r:") as archive:
            entries = list(_tar_entries(archive, said, budget))
            _check(entries, os.path.getsize(path), said, budget.limits)
            for entry in entries:
                source = archive.extractfile(entry.handle)
                if source is not None:
                    with source:
                        _write(source, entry, folder, said, budget.limits)
    except (tarfile.TarError, EOFError, ValueError, RecursionError) as error:
        raise Refused(f"cannot be unpacked ({error})", path=said) from error
    return folder


def _tar_entries(archive: tarfile.TarFile, path: str, budget: Budget) -> Iterator[_Entry]:
    for member in archive:
        budget.enter(path)
        if member.isdir():
            _parts(member.name, path, budget.limits)
        elif not member.isreg() or member.issparse():
            raise _not_plain(member.name, path)
        else:
            yield _Entry(member.name, member.size, member.mtime, member)


def _check(entries: Iterable[_Entry], packed: int, path: str, limits: SourceLimits) -> None:
    """Refuse an archive as a whole for one bad name, one name twice, or what it would become."""
    seen: set[str] = set()
    total = 0
    for entry in entries:
        name = "/".join(_parts(entry.name, path, limits))
        if not name:
            raise Refused("holds a file without a name", path=path)
        # On many disks names that differ in case or accents only are one file.
        alike = unicodedata.normalize("NFC", name).casefold()
        if alike in seen:
            raise Refused(f"holds '{name}' twice", path=path)
        seen.add(alike)
        total += entry.size
        _refuse_bomb(total, packed, path, limits)


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


def _write(source: IO[bytes], entry: _Entry, folder: str, path: str, limits: SourceLimits) -> None:
    *folders, name = _parts(entry.name, path, limits)
    place = os.path.join(folder, *folders)
    os.makedirs(place, mode=0o700, exist_ok=True)
    target = os.path.join(place, name)
    written = 0
    with _new(target) as out:
        while chunk := source.read(_CHUNK):
            written += len(chunk)
            if written > entry.size:
                raise Refused(f"'{entry.name}' is larger than the archive says", path=path)
            out.write(chunk)
    _set_time(target, entry.modified)


def _new(target: str) -> IO[bytes]:
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, 0o600)
    return os.fdopen(handle, "wb")


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
