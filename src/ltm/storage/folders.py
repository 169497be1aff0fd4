"""How to recognise a folder that was renamed or moved.

A folder is known by its inode and the moment it was born. The inode alone proves nothing: ext4
hands the number of a deleted folder to the very next one that is made. The moment of birth tells
the two apart, does not change when the folder is renamed or filled, and is new in every copy. No
moment known means no proof, so that a stranger's folder is never taken for an old friend.
Standard library only; what is dear to import is imported when it is needed.
"""

import os
from itertools import islice
from typing import NamedTuple

_MAX_NEIGHBOURS = 2000
"""A look around must stay quick, also in a folder that holds everything."""


class Folder(NamedTuple):
    """A folder as it was when it was last recorded."""

    path: str
    dev: int
    ino: int
    born: int
    """Nanoseconds since 1970; 0 when unknown."""


def look_at(path: str) -> Folder | None:
    """The folder at a path as it is now, or None when there is none."""
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return None
    return Folder(path, info.st_dev, info.st_ino, _born(path, info))


def inode(path: str) -> int:
    """The number a disk gives the file or folder at a path; -1 when there is none."""
    try:
        return os.stat(path).st_ino
    except (OSError, ValueError):
        return -1


def is_still(known: Folder, path: str) -> bool:
    """Whether the folder at `path` is the recorded one, wherever that was then."""
    if not known.born:
        return False
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return False
    # A disk may come back under another device number after a restart, at the same path.
    if info.st_ino != known.ino or (info.st_dev != known.dev and path != known.path):
        return False
    return _born(path, info) == known.born


def is_in_place(known: Folder, path: str) -> bool:
    """Whether the recorded path and inode are those at `path`: no proof, but no sign of change."""
    if known.path != path:
        return False
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return False
    return (info.st_dev, info.st_ino) == (known.dev, known.ino)


def lives_beside(known: Folder) -> bool:
    """Whether the recorded folder is still there, under another name next to its old place."""
    top, tail = known.path, ""
    if os.path.basename(top) == ".git":
        top, tail = os.path.split(top)
    try:
        with os.scandir(os.path.dirname(top)) as neighbours:
            paths = [
                entry.path
                for entry in islice(neighbours, _MAX_NEIGHBOURS)
                if entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return False
    paths = [os.path.join(path, tail) if tail else path for path in paths if path != top]
    return any(is_still(known, path) for path in paths)


def _born(path: str, info: os.stat_result) -> int:
    """When a folder came to be, as well as it can be known."""
    if os.path.lexists(os.path.join(path, "HEAD")):
        # git writes `description` into a new repository and never again: every file system has it.
        try:
            return os.stat(os.path.join(path, "description")).st_mtime_ns
        except OSError:
            pass  # it was deleted: the disk may know
    birth = getattr(info, "st_birthtime", None)
    if birth is not None:
        return int(birth * 1_000_000_000)
    return info.st_ctime_ns if os.name == "nt" else _statx_birth(path)


_AT_FDCWD = -100
_STATX_BTIME = 0x800
_BTIME_OFFSET = 0x50


def _statx_birth(path: str) -> int:
    """Linux keeps the moment of birth, but `os.stat` does not show it; `statx` does."""
    try:
        import ctypes
        import struct

        buffer = ctypes.create_string_buffer(256)
        failed = ctypes.CDLL(None).statx(_AT_FDCWD, os.fsencode(path), 0, _STATX_BTIME, buffer)
    except (ImportError, OSError, AttributeError):
        return 0
    (mask,) = struct.unpack_from("=I", buffer, 0)
    if failed or not mask & _STATX_BTIME:
        return 0
    seconds, nanoseconds = struct.unpack_from("=qI", buffer, _BTIME_OFFSET)
    return int(seconds) * 1_000_000_000 + int(nanoseconds)
