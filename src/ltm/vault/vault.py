"""A vault: a folder of memory files, read safely (no links, devices or giants) and written durably.

It knows names and bytes, where older versions are kept, and the write lock. It does not know what a
memory means; `codec` does.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from ltm.errors import BadFile, Conflict, LtmError
from ltm.files.atomic import (
    failed,
    is_temporary,
    make_folder,
    names_in,
    read_plain,
    remove_file,
    sweep,
    write_file,
)
from ltm.files.lock import Lock
from ltm.record import NamedTuple

MAX_FILE = 1024 * 1024
"""A memory file larger than this is a problem to report, not a text to read."""

_ARCHIVED = r"(?P<id>.+)\.v(?P<version>\d+)\.[0-9a-f]{12}\.md\Z"


class FileStat(NamedTuple):
    """A file as a scan sees it: enough to tell whether it changed. Made by the thousand."""

    name: str
    mtime: int
    size: int


def modified(path: str) -> datetime | None:
    """When a file was last written: the age of a memory that does not say it itself."""
    try:
        return datetime.fromtimestamp(int(os.stat(path).st_mtime), UTC)
    except (OSError, OverflowError, ValueError):
        return None


def _stamp(info: os.stat_result) -> str:
    return f"{info.st_ctime_ns}-{info.st_mtime_ns}"


def etag(data: bytes) -> str:
    import hashlib  # loads a cryptography library, which a question never needs

    return hashlib.sha256(data).hexdigest()[:32]


class Vault:
    """One folder with `memories/` and `archives/` in it."""

    def __init__(self, name: str, folder: str, *, shared: bool = False, aside: str = "") -> None:
        """With `aside` it is not trusted yet: nothing is written into it, and an index in it is
        not read; index and lock are in the folder `aside`."""
        self.name = name
        self.folder = folder
        self.shared = shared
        self.trusted = not aside
        self.local = aside or folder
        self.memories = os.path.join(folder, "memories")
        self.archives = os.path.join(folder, "archives")
        # A shared vault is part of a work tree, readable like the rest of it; others are private.
        self.file_mode = 0o644 if shared else 0o600
        self.folder_mode = 0o755 if shared else 0o700
        self.lock = Lock(os.path.join(self.local, ".lock"))
        self._listed: dict[str, list[str]] | None = None

    def exists(self) -> bool:
        """Whether anything was ever kept here."""
        return os.path.isdir(self.memories)

    def prepare(self) -> None:
        make_folder(self.memories, self.folder_mode)
        make_folder(self.archives, self.folder_mode)

    def path(self, name: str) -> str:
        return f"{self.memories}{os.sep}{name}"  # `os.path.join` is slow, and a listing needs many

    def stamp(self) -> str:
        """Changes whenever a name appears in or leaves `memories/`; '' when there is no folder.

        It has the time of the change itself, which no copying tool sets back, and the time that
        `seal` sets.
        """
        try:
            return _stamp(os.stat(self.memories))
        except OSError:
            return ""

    def seal(self) -> str:
        """Give `memories/` a time that no other change gives it, and say its stamp.

        Disks stamp a folder with a clock that ticks every few milliseconds, so two changes within
        a tick look like one. Whatever comes after this shows. '' where no such time can be set.
        """
        moment = time.time_ns()
        try:
            os.utime(self.memories, ns=(moment, moment))
            info = os.stat(self.memories)
        except OSError:
            return ""  # the folder of another user
        return _stamp(info) if info.st_mtime_ns == moment else ""

    def names(self) -> list[str]:
        try:
            names = os.listdir(self.memories)
            return [name for name in names if name.endswith(".md") and not name.startswith(".")]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise failed(error, "list the folder", self.memories) from error

    def scan(self) -> list[FileStat]:
        seen: list[FileStat] = []
        try:
            with self._looking() as folder:
                for name in self.names():
                    try:
                        info = os.stat(name, dir_fd=folder, follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    seen.append(FileStat(name, info.st_mtime_ns, info.st_size))
        except FileNotFoundError:
            pass  # no folder yet
        return seen

    def is_as(self, known: Iterable[tuple[str, int, int]]) -> bool:
        """Whether files are there with the time and size they were seen with.

        Asked of a thousand at each question, so it makes nothing of what it sees.
        """
        stat = os.stat
        try:
            with self._looking() as folder:
                for name, mtime, size in known:
                    info = stat(name, dir_fd=folder, follow_symlinks=False)
                    if info.st_mtime_ns != mtime or info.st_size != size:
                        return False
        except FileNotFoundError:
            return False
        return True

    @contextmanager
    def _looking(self) -> Iterator[int]:
        """The open folder of the files, which spares the system their path."""
        try:
            folder = os.open(self.memories, os.O_RDONLY)
            try:
                yield folder
            finally:
                os.close(folder)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise failed(error, "list the folder", self.memories) from error

    def read(self, name: str) -> bytes:
        """The bytes of a memory file; links, devices and giants are refused as bad files."""
        return _read_regular(self.path(name))

    def write(self, name: str, data: bytes, *, over: bytes | None = None) -> FileStat:
        """Put a memory file in place, durably, and say what a scan would now see.

        With `over`, only in the place of a file that still has these bytes: an editor asks for no
        lock, and what a person saved a moment ago must not be lost.
        """
        path = self.path(name)

        def check() -> None:
            try:
                same = over is None or self.read(name) == over
            except LtmError:
                if os.path.isfile(path):
                    raise
                same = False
            if not same:
                raise Conflict(
                    "the file was changed elsewhere at this moment",
                    path=path,
                    hint="look at it, then run the same command again",
                )

        write_file(path, data, mode=self.file_mode, staging=self.folder, check=check)
        try:
            info = os.stat(path, follow_symlinks=False)
        except OSError as error:
            raise failed(error, "look at the file", path) from error
        return FileStat(name, info.st_mtime_ns, info.st_size)

    def archive(self, memory_id: str, version: int, data: bytes) -> str:
        """Keep an older version. Its name holds its hash, so two branches can never clash on it."""
        name = f"{memory_id}.v{version}.{etag(data)[:12]}.md"
        path = os.path.join(self.archives, name)
        if not os.path.exists(path):
            make_folder(self.archives, self.folder_mode)
            write_file(path, data, mode=self.file_mode, staging=self.folder)
            if self._listed is not None:
                self._listed.setdefault(memory_id, []).append(name)
        return path

    def archived(self, memory_id: str) -> list[tuple[int, str]]:
        """The kept versions of a memory as (version, path), oldest first."""
        return self.archived_of({memory_id}).get(memory_id, [])

    def archived_of(self, ids: Collection[str] | None = None) -> dict[str, list[tuple[int, str]]]:
        """The same for many memories, or for all, of which those that have none are left out."""
        names = self._archives()
        found: dict[str, list[tuple[int, float, str]]] = {}
        for memory_id in names if ids is None else ids:
            for name in names.get(memory_id, ()):
                match = re.match(_ARCHIVED, name)
                if match is None:
                    continue
                path = os.path.join(self.archives, name)
                try:
                    kept = int(match["version"]), os.lstat(path).st_mtime, path
                except FileNotFoundError:
                    continue  # it was purged at this moment
                except OSError as error:
                    raise failed(error, "look at the file", path) from error
                found.setdefault(memory_id, []).append(kept)
        return {
            memory_id: [(version, path) for version, _, path in sorted(kept)]
            for memory_id, kept in found.items()
        }

    def list_once(self) -> None:
        """From now on, take the archive to hold what it holds now and what is added through here.

        It only ever grows, so that listing it for each of many changes would cost ever more.
        """
        self._listed = self._archives()

    def list_again(self) -> None:
        """Look at the archive itself again."""
        self._listed = None

    def _archives(self) -> dict[str, list[str]]:
        """The names in the archive, by what they begin with: the id of a memory."""
        if self._listed is not None:
            return self._listed
        found: dict[str, list[str]] = {}
        try:
            for name in os.listdir(self.archives):
                found.setdefault(name.partition(".")[0], []).append(name)
        except FileNotFoundError:
            pass  # no folder yet
        except OSError as error:
            raise failed(error, "list the folder", self.archives) from error
        return found

    def read_archive(self, path: str) -> bytes:
        return _read_regular(path)

    def purge(self, name: str, memory_id: str) -> None:
        """Delete every kept version of a memory, then its file: if the file is left after a
        crash, purging can be repeated, and nothing is left that cannot be found."""
        self.list_again()  # others may have kept a version since the archive was listed
        for _, path in self.archived(memory_id):
            remove_file(path)
        remove_file(self.path(name))

    def leftovers(self) -> Iterator[str]:
        """Paths of unfinished writes: with the write lock held, none is still in progress."""
        for folder in (self.folder, self.memories, self.archives):
            for name in names_in(folder):
                if is_temporary(name):
                    yield os.path.join(folder, name)

    def sweep(self) -> None:
        """Remove what dead writers left. Unfinished files are kept in the vault's own folder, which
        stays small, so that this costs next to nothing however many memories there are."""
        sweep(self.folder)


def _read_regular(path: str) -> bytes:
    """The bytes of a memory file; anything but a small plain file is a `BadFile`."""
    try:
        return read_plain(path, limit=MAX_FILE, follow=False)
    except OSError as error:
        what = {
            errno.ELOOP: "is a link; memory files are plain files",
            errno.EINVAL: "is not a plain file",
            errno.EFBIG: f"is larger than {MAX_FILE // 1024} KiB; split it into several memories",
        }.get(error.errno or 0)
        if what is None:
            raise failed(error, "read the file", path) from error
        raise BadFile(what, path=path) from error
