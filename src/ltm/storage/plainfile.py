"""Read a small file that others may have planted, and tell where a name leads.

A name in a repository can lead to a pipe, a device, a folder or a gigabyte. Reading one must
neither hang nor eat memory, so everything that is not a small plain file is an `OSError`.
Imports the standard library only, because hooks use it too.
"""

from __future__ import annotations

import errno
import os
import stat

LIMIT = 1024 * 1024
"""Settings and records are a few lines; a megabyte of them is a mistake or an attack."""

_PORTS = tuple(f"{port}{number}" for port in ("com", "lpt") for number in range(10))
_DEVICES = frozenset(("con", "prn", "aux", "nul", *_PORTS))


def read_plain(path: str, *, limit: int = LIMIT, follow: bool = True) -> bytes:
    """The bytes of a plain file of at most `limit` bytes; anything else raises `OSError`.

    With `follow=False` a symbolic link is refused too.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if not follow:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(path, flags)
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(errno.EINVAL, "is not a plain file", path)
        if info.st_size > limit:
            raise OSError(errno.EFBIG, f"is larger than {limit // 1024} KiB", path)
        data = b""
        # Room for what is there, not for the limit: each read takes its room from the heap first,
        # and a process that reads thousands of notes would keep most of it.
        room = max(info.st_size, 4_095) + 1
        # A file may grow between the check and the reading: never more than the limit either way.
        while len(data) <= limit and (chunk := os.read(handle, min(room, limit + 1 - len(data)))):
            data += chunk
        if len(data) > limit:
            raise OSError(errno.EFBIG, f"is larger than {limit // 1024} KiB", path)
        return data
    finally:
        os.close(handle)


def is_device(name: str) -> bool:
    """Whether Windows keeps a name for a device, whatever ending it is given."""
    return name.partition(".")[0].lower() in _DEVICES


def is_inside(path: str, folder: str) -> bool:
    """Whether a path, with every link in it followed, stays inside a folder (or is that folder)."""
    real, top = os.path.realpath(path), os.path.realpath(folder)
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)
