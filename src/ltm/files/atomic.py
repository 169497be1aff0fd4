"""Durable atomic writes, and reads of small files that others may have planted.

A write is a temporary file, fsync, `os.replace`, fsync of the folder: it is whole and on the disk,
or did not happen. Without both fsyncs an acknowledged write can vanish in a power cut. A temporary
file is locked while it is being written, so that one a crash left behind can be told from it and
swept away.

A name in a repository can lead to a pipe, a device, a folder or a gigabyte. Reading one must
neither hang nor eat memory, so everything that is not a small plain file is an `OSError`.

Every hook loads this module: standard library only, and little of it.
"""

from __future__ import annotations

import errno
import os
import stat
import time

from ltm.errors import StorageFailed

TYPE_CHECKING = False  # without `typing`, which alone costs a hook half its time
if TYPE_CHECKING:
    from collections.abc import Callable


TEMP_SUFFIX = ".tmp"

LIMIT = 1024 * 1024
"""Settings and records are a few lines; a megabyte of them is a mistake or an attack."""

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_HANDLES = "/proc/self/fd"
_SHOWN = 40  # letters of a file's name that the name of its unfinished write shows
_RANDOM = 6  # bytes that make it unique
_PORTS = tuple(f"{port}{number}" for port in ("com", "lpt") for number in range(10))
_DEVICES = frozenset(("con", "prn", "aux", "nul", *_PORTS))
_CAUSES = {
    errno.ENOSPC: ("the disk is full", "free some space, then run the same command again"),
    errno.EDQUOT: ("the disk quota is used up", "free some space, then run the same command again"),
    errno.EFBIG: ("the file size limit is reached", "raise it with 'ulimit -f', then try again"),
    errno.EROFS: ("the disk is read-only", "remount it writable, or point LTM_HOME elsewhere"),
    errno.EACCES: ("permission denied", "check the owner and mode of the folder"),
    errno.EPERM: ("the system does not permit it", "check the owner and mode of the folder"),
    errno.EIO: ("the disk reports an input/output error", "check the disk, then try again"),
    errno.EMFILE: ("too many files are open", "raise the limit with 'ulimit -n', then try again"),
    errno.ENAMETOOLONG: ("the name is too long for this disk", "use a shorter path"),
}


def inode(path: str) -> int:
    """The number a disk gives the file or folder at a path; -1 when there is none."""
    try:
        return os.stat(path).st_ino
    except (OSError, ValueError):
        return -1


def write_file(
    path: str,
    data: bytes,
    *,
    mode: int = 0o600,
    staging: str = "",
    check: Callable[[], None] | None = None,
) -> None:
    """Put `data` at `path`, atomically and durably, with this mode whatever the umask.

    On return the bytes survive a power cut. On an error the old file, if any, is untouched; only
    if the very last step fails, the disk's promise, the new one may be there, and is whole.
    `staging` is the folder for the unfinished file: one that is swept, small, and on the same disk
    if possible. Without it, it is the folder of the file. `check` is called at the last moment
    before the old file is replaced; what it raises stops the write.
    """
    own = os.path.dirname(path)
    try:
        # Opened first: all that can fail is to fail while the old file is still in place.
        with _OpenFolder(own) as folder:
            try:
                _put(path, data, mode, staging or own, check)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                _put(path, data, mode, own, check)
            folder.sync()
    except OSError as error:
        raise failed(error, "write the file", path) from error


def make_folder(path: str, mode: int = 0o700) -> None:
    """Make a folder and its missing parents, durably; an existing one is left as it is."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent and parent != path:
        make_folder(parent, mode)
    try:
        os.mkdir(path, mode)
        sync_folder(parent or ".")
    except FileExistsError:
        if not os.path.isdir(path):
            raise StorageFailed("a file stands where a folder is needed", path=path) from None
    except OSError as error:
        raise failed(error, "make the folder", path) from error


def remove_file(path: str) -> bool:
    """Delete a file durably; False when it was not there."""
    try:
        with _OpenFolder(os.path.dirname(path)) as folder:
            os.unlink(path)
            folder.sync()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise failed(error, "delete the file", path) from error
    return True


def sync_folder(path: str) -> None:
    """Make the names in a folder durable. Windows has no such call and does it by itself."""
    with _OpenFolder(path) as folder:
        folder.sync()


def read_plain(path: str, *, limit: int = LIMIT, follow: bool = True) -> bytes:
    """The bytes of a plain file of at most `limit` bytes; anything else raises `OSError`.

    With `follow=False` a symbolic link is refused too.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if not follow:
        flags |= _NO_FOLLOW
    handle = os.open(path, flags)
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(errno.EINVAL, "is not a plain file", path)
        if info.st_size > limit:
            raise OSError(errno.EFBIG, f"is larger than {limit // 1024} KiB", path)
        data = b""
        # As much as is there and not as the limit: each read allocates its buffer first, and a
        # process that reads thousands of notes would keep most of it.
        buffer = max(info.st_size, 4_095) + 1
        # A file may grow between the check and the reading: never more than the limit either way.
        while len(data) <= limit and (chunk := os.read(handle, min(buffer, limit + 1 - len(data)))):
            data += chunk
        if len(data) > limit:
            raise OSError(errno.EFBIG, f"is larger than {limit // 1024} KiB", path)
        return data
    finally:
        os.close(handle)


def names_in(folder: str) -> list[str]:
    """The names in a folder; none when it cannot be listed."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def is_inside(path: str, folder: str) -> bool:
    """Whether a path, with every link in it followed, stays inside a folder (or is that folder)."""
    real, top = os.path.realpath(path), os.path.realpath(folder)
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)


def is_device(name: str) -> bool:
    """Whether Windows keeps a name for a device, whatever ending it is given."""
    return name.partition(".")[0].lower() in _DEVICES


def is_refusal(error: OSError) -> bool:
    """Whether it is the machine that refuses, for a cause a person can do something about."""
    return error.errno in _CAUSES


def failed(error: OSError, doing: str, path: str) -> StorageFailed:
    """An operating system's refusal as an error of LTM: what was done, to which path, what next."""
    cause, hint = _CAUSES.get(error.errno or 0, (error.strerror or str(error), ""))
    return StorageFailed(f"could not {doing}: {cause}", path=path, hint=hint)


# -- unfinished writes -----------------------------------------------------------------------------


def is_temporary(name: str) -> bool:
    """Whether a file name is that of an unfinished write."""
    return name.startswith(".") and name.endswith(TEMP_SUFFIX)


def unfinished_name(name: str) -> str:
    """A name for a file that is to have this name when it is whole."""
    # The random part keeps two writers apart. A name has at most 255 bytes, a letter up to 4.
    return f".{name[:_SHOWN]}.{os.urandom(_RANDOM).hex()}{TEMP_SUFFIX}"


def sweep(folder: str) -> None:
    """Remove from a folder what writers that are dead by now left unfinished. Never raises."""
    for name in names_in(folder):
        if is_temporary(name):
            remove_dead(os.path.join(folder, name))


def sweep_unfinished(folder: str, name: str) -> None:
    """The same for a folder of others: only what was to become the file of this name."""
    length = len(unfinished_name(name))
    for each in names_in(folder):
        if is_temporary(each) and each.startswith(f".{name[:_SHOWN]}.") and len(each) == length:
            remove_dead(os.path.join(folder, each))


def remove_dead(path: str) -> bool:
    """Remove an unfinished write unless it is still in progress; whether it was removed."""
    if os.name == "nt":
        return _remove_quietly(path)  # what is open cannot be deleted there
    handle = open_dead(path)
    if handle is None:
        return False
    try:
        return _remove_quietly(path)
    finally:
        os.close(handle)


def open_dead(path: str) -> int | None:
    """An unfinished write, opened and locked, if the one who was at work on it is dead."""
    try:
        handle = os.open(path, os.O_RDWR | _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    try:
        if try_lock(handle) and os.fstat(handle).st_nlink:
            return handle
    except OSError:
        pass  # a disk that knows no locks cannot tell who is at work
    os.close(handle)
    return None


def new_file(folder: str, name: str, mode: int) -> tuple[str, int]:
    """A new file to write to, and its path; locked, so that it is not taken for a leftover."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | getattr(os, "O_BINARY", 0)
    while True:
        path = os.path.join(folder, unfinished_name(name))
        handle = os.open(path, flags, mode)
        try:
            safe = try_lock(handle) and os.fstat(handle).st_nlink > 0
        except OSError:
            safe = True  # a disk without locks: it cannot be swept either
        if safe:
            return path, handle
        os.close(handle)  # a sweeper was quicker than the lock, and this name is lost


def unnamed_file(folder: str, mode: int) -> int:
    """A new file without a name, locked; -1 where the system or the disk has no such files.

    It goes with the process that writes it, unless `name_file` gives it a name.
    """
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir(_HANDLES):
        return -1
    try:
        handle = os.open(folder, os.O_WRONLY | os.O_TMPFILE, mode)
    except OSError:
        return -1  # if it is not for that, opening one with a name says why
    try:
        try_lock(handle)
    except OSError:
        pass  # a disk without locks: it cannot be swept either
    return handle


def name_file(handle: int, path: str) -> None:
    """Give a file without a name this one; `FileExistsError` if there is a file of that name."""
    handles = os.open(_HANDLES, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # Only with the folder's handle Python asks the system to follow the link to the file.
        os.link(str(handle), path, src_dir_fd=handles, follow_symlinks=True)
    finally:
        os.close(handles)


def _put(path: str, data: bytes, mode: int, staging: str, check: Callable[[], None] | None) -> None:
    temporary, handle = new_file(staging, os.path.basename(path), mode)
    try:
        try:
            if os.name != "nt":
                os.fchmod(handle, mode)
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
            if os.utime in os.supports_fd:
                # Many disks stamp files with a clock that ticks every few milliseconds. With a
                # precise time set here, an edit by others within that tick shows.
                moment = time.time_ns()
                os.utime(handle, ns=(moment, moment))
            os.fsync(handle)
            if os.name == "nt":  # an open file cannot be renamed there, nor deleted by a sweeper
                os.close(handle)
                handle = -1
            if check is not None:
                check()
            os.replace(temporary, path)
        finally:
            if handle >= 0:
                os.close(handle)
    except BaseException:
        _remove_quietly(temporary)
        raise


def try_lock(handle: int) -> bool:
    """Lock an open file; False when it is locked already. Windows needs no lock here."""
    if os.name == "nt":
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove_quietly(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


class _OpenFolder:
    """A folder that is open, so that its names can be made durable."""

    def __init__(self, path: str) -> None:
        nt = os.name == "nt"
        self._handle = -1 if nt else os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY)

    def __enter__(self) -> _OpenFolder:
        return self

    def __exit__(self, *error: object) -> None:
        if self._handle >= 0:
            os.close(self._handle)

    def sync(self) -> None:
        if self._handle < 0:
            return
        try:
            os.fsync(self._handle)
        except OSError as error:
            # Some network and user-space disks cannot sync a folder, and need not.
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
