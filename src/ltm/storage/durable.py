"""Writes that are either whole and on the disk, or did not happen.

Owns the one way a file of ours comes to be: a temporary file in the same folder, fsync, `os.replace`,
fsync of the folder. Without both fsyncs an acknowledged write can vanish in a power cut. Imports the
standard library and `core.errors` only, because hooks use it too.
"""

from __future__ import annotations

import errno
import os

from ltm.core.errors import StorageFailed

TEMP_SUFFIX = ".tmp"

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


def failed(error: OSError, doing: str, path: str) -> StorageFailed:
    """An operating system's refusal as our error: what we were doing, to which path, what next."""
    cause, hint = _CAUSES.get(error.errno or 0, (error.strerror or str(error), ""))
    return StorageFailed(f"could not {doing}: {cause}", path=path, hint=hint)


def write_file(path: str, data: bytes, *, mode: int = 0o600) -> None:
    """Put `data` at `path`, atomically and durably, with this mode whatever the umask.

    On return the bytes survive a power cut. On an error the old file, if any, is untouched.
    """
    temporary = _temporary_name(path)
    try:
        try:
            _write_new(temporary, data, mode)
            os.replace(temporary, path)
        except BaseException:
            _remove_quietly(temporary)
            raise
        sync_folder(os.path.dirname(path))
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
        os.unlink(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise failed(error, "delete the file", path) from error
    sync_folder(os.path.dirname(path))
    return True


def sync_folder(path: str) -> None:
    """Make the names in a folder durable. Windows has no such call and does it by itself."""
    if os.name == "nt":
        return
    handle = os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_temporary(name: str) -> bool:
    """Whether a file name is that of an unfinished write."""
    return name.startswith(".") and name.endswith(TEMP_SUFFIX)


def _temporary_name(path: str) -> str:
    # The random part keeps two writers apart; the name stays short enough for every file system.
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name[:80]}.{os.urandom(6).hex()}{TEMP_SUFFIX}")


def _write_new(path: str, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(path, flags | getattr(os, "O_BINARY", 0), mode)
    try:
        if os.name != "nt":
            os.fchmod(handle, mode)
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove_quietly(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
