"""Events from clients, kept in small files until they are processed.

They wait in the folder `<home>/spool`, or in a second place when that cannot be written. An event's
key is unique, sorts by time, and stays the same at every attempt; a file is named after the first
event in it. Files, because a hundred hooks at once can each write one without waiting for any
other. Every hook loads this module: `typing`, `dataclasses` and `heapq` are not loaded for it.
"""

from __future__ import annotations

import errno
import os
import time

from ltm.errors import LtmError, StorageFailed
from ltm.files.atomic import (
    failed,
    is_temporary,
    make_folder,
    names_in,
    open_dead,
    read_plain,
    sync_folder,
    write_file,
)
from ltm.files.fastjson import is_whole, read_object, write
from ltm.project.home import temporary_folders

TYPE_CHECKING = False  # without `typing`, which alone costs a hook half its time
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


FOLDER = "spool"
MOST = 5_000
"""Files that may wait. A spool this full is not being drained; what more events would say is in
the transcripts anyway."""

DAYS = 60
"""Days that events wait outside of a home that does not come back; a client has deleted their
transcripts by then."""

_LIMIT = 256 * 1024  # bytes of a file: an event has three paths at the most, of 4 kB
_TOGETHER = 32 * 1024  # bytes after which events that are kept together begin another file
_SEVERAL = "events"  # what a file with more than one event says first
_SUFFIX = ".json"
_NOT_OURS = (errno.ENOENT, errno.ELOOP, errno.EINVAL, errno.EFBIG, errno.EISDIR, errno.ENXIO)
# Gone, or a link, a device, a giant, a folder, a pipe: never a file that LTM wrote.

_room: dict[str, int] = {}
# How many files this process may add to a folder before it counts again what waits there: to count
# thousands for each of them takes a server longer than to write it. Half of what is left, because
# others add some too.

_STALE = 3600.0  # seconds after which an unfinished write is not going to be finished
_UNLOCKED = 10.0  # the same for a hook in sh, which cannot lock what it writes

_homes: dict[str, dict[str, str]] = {}
# By folder, which home each file in a second place is for. A file never changes, and to read all
# those of a home that is gone every few seconds would keep a server busy that has nothing to do.


def put(
    home: str,
    record: Mapping[str, object],
    environ: Mapping[str, str] | None = None,
    *,
    key: str = "",
) -> str:
    """Keep an event for later and return its key; on return it survives a power cut.

    `key` is the event's key if it has one already: kept twice under one key, it is one event.

    `home` is '' when unknown. If its spool cannot be written (read-only, full, a file in
    its place), the event waits in a folder of this user outside it, from where a later drain
    fetches it. `StorageFailed` when there is no space anywhere.
    """
    key = key or new_key()
    try:
        if home:
            folder = os.path.join(home, FOLDER)
            make_folder(folder)
            _write(folder, {key: record})
            return key
    except LtmError:
        pass
    put_outside(home, record, environ, key=key)
    return key


def put_outside(
    home: str, record: Mapping[str, object], environ: Mapping[str, str] | None = None, *, key: str
) -> None:
    """Keep an event in a folder of this user outside its home; `StorageFailed` without any."""
    for folder in second_places(environ):
        try:
            if _is_ours(folder, make=True):
                _write(folder, {key: {**record, "home": home}})
                return
        except (OSError, LtmError):
            continue
    raise StorageFailed("an event could not be kept anywhere", path=home or None)


def put_all(home: str, events: Iterable[tuple[str, Mapping[str, object]]]) -> None:
    """Keep several events, each under its key, in hardly more time than one takes.

    They share a file: a disk that gives out and takes back a thousand files a second has little
    time left for what is in them. An error when not all of them could be kept; then `put` each
    under its key, and a drain does none of them twice.
    """
    folder = os.path.join(home, FOLDER)
    make_folder(folder)
    together: dict[str, Mapping[str, object]] = {}
    size = 0
    for key, record in sorted(events, key=lambda event: event[0]):
        more = len(write(dict(record)))
        if together and size + more > _TOGETHER:
            _write(folder, together)
            together, size = {}, 0
        together[key] = record
        size += more
    if together:
        _write(folder, together)


def waiting(home: str, environ: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
    """The (first key, path) of every file that waits for this home, oldest first."""
    second, further = _places(environ)
    found = list(_files(os.path.join(home, FOLDER)))
    # Without a home it was one of this user's sessions, and any home of theirs may have it.
    found += [path for path, whose in _outside(second) if whose in ("", home)]
    found += [path for path, whose in _outside(further) if whose == home]
    return sorted((_key(path), path) for path in found)


def for_others(home: str, environ: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
    """The (path, home) of every file that waits in a second place for another home than this."""
    return [
        (path, whose) for path, whose in _outside(second_places(environ)) if whose not in ("", home)
    ]


class Spooled:
    """An event that waits in the file at `path`, which holds `of` events."""

    __slots__ = ("key", "of", "path", "record", "trouble")

    def __init__(
        self,
        key: str,
        path: str,
        of: int,
        record: Mapping[str, object],
        trouble: StorageFailed | None = None,
    ) -> None:
        self.key = key
        self.path = path
        self.of = of
        self.record = record
        self.trouble = trouble
        """Why the file cannot be read now."""


class Finished:
    """The keys of the events that are done, and the paths of files whose events all are."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.paths: list[str] = []
        self._left: dict[str, int] = {}

    def add(self, event: Spooled) -> None:
        """Note that all that follows from an event is done."""
        self.keys.add(event.key)
        self._left[event.path] = self._left.get(event.path, event.of) - 1
        if not self._left[event.path]:
            self.paths.append(event.path)


def in_order(home: str, environ: Mapping[str, str]) -> Iterator[Spooled]:
    """Every event that waits for a home, oldest first.

    A file is read when its first event is due, so that thousands of files take little memory.
    """
    from heapq import heappop, heappush

    ahead: list[tuple[str, str, Spooled]] = []
    for first, path in waiting(home, environ):
        while ahead and ahead[0][0] < first:
            yield heappop(ahead)[-1]
        try:
            found = events(first, path)
            due = [Spooled(key, path, len(found), record) for key, record in found]
        except StorageFailed as error:
            due = [Spooled(first, path, 1, {}, error)]
        for event in due:
            heappush(ahead, (event.key, path, event))
    while ahead:
        yield heappop(ahead)[-1]


def is_waiting(home: str, environ: Mapping[str, str] | None = None) -> bool:
    """Whether there is anything to drain, what hooks that died had written whole included."""
    adopt(home, environ)
    return bool(waiting(home, environ))


def adopt(home: str, environ: Mapping[str, str] | None = None) -> int:
    """Let events wait that are whole, though their hook died before they had their names; how many.

    An event that is there under its name as well is one event.
    """
    found = 0
    for folder in (os.path.join(home, FOLDER), *_ours(environ)):
        for name in names_in(folder):
            if is_temporary(name):
                try:
                    found += _adopt(folder, name)
                except OSError:
                    continue  # gone, or not to be had now
    return found


def events(key: str, path: str) -> list[tuple[str, dict[str, object]]]:
    """The events in a file by their keys, as `load` reads them; at least an empty one."""
    record = load(path)
    several = record.get(_SEVERAL)
    if not isinstance(several, dict):
        return [(key, record)]
    return [each for each in several.items() if isinstance(each[1], dict)] or [(key, {})]


def load(path: str) -> dict[str, object]:
    """What a file says; nothing when it is gone or not a file that LTM could have written.

    `StorageFailed` when the disk does not give it out now: then it is still to be read.
    """
    try:
        # We write ASCII; a hook in sh passes a path's bytes on as they came.
        data = read_plain(path, limit=_LIMIT, follow=False)
        return read_object(data.decode("utf-8", "surrogateescape"))
    except ValueError:
        return {}
    except OSError as error:
        if error.errno in _NOT_OURS:
            return {}
        raise failed(error, "read the file", path) from error


def remove(paths: Iterable[str]) -> None:
    """Forget events, once all that follows from them is done."""
    folders: dict[str, None] = {}
    for path in paths:
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise failed(error, "delete the file", path) from error
        folders[os.path.dirname(path)] = None
    for folder in folders:
        sync_folder(folder)


def count(home: str, event: str) -> int:
    """How many events of one name wait, counted by the names of their files.

    Those that a server kept together are not among them: it does not leave them to others.
    """
    ending = f".{event}{_SUFFIX}"
    return sum(path.endswith(ending) for path in _files(os.path.join(home, FOLDER)))


def sweep(home: str, environ: Mapping[str, str] | None = None) -> None:
    """Remove what hooks that were killed while writing left behind in pieces, and what has waited
    too long for a home that is gone."""
    adopt(home, environ)
    old = [(path, DAYS * 86_400.0) for path, _ in for_others(home, environ)]
    for folder in (os.path.join(home, FOLDER), *_ours(environ)):
        old += [(os.path.join(folder, n), _STALE) for n in names_in(folder) if is_temporary(n)]
    for path, age in old:
        try:
            if time.time() - os.stat(path).st_mtime > age:
                os.unlink(path)
        except OSError:
            continue


def second_places(environ: Mapping[str, str] | None = None) -> list[str]:
    """Folders to try when home cannot be written: of this user, and outside of home."""
    return _places(environ)[0]


def _places(environ: Mapping[str, str] | None) -> tuple[list[str], list[str]]:
    """The second places, and further folders in which events may wait since one of those could not
    be written. The further ones are shared with users that have other second places."""
    environ = os.environ if environ is None else environ
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    usable = sorted(temporary_folders(environ), key=_is_unusable)
    tops = dict.fromkeys([*([runtime] if os.path.isabs(runtime) else []), *usable[:1]])
    name = f"ltm-spool-{_uid()}"
    return (
        [os.path.join(top, name) for top in tops],
        [os.path.join(top, name) for top in usable[1:]],
    )


def _is_unusable(folder: str) -> bool:
    try:
        full = hasattr(os, "statvfs") and not os.statvfs(folder).f_bavail
    except OSError:
        return True
    return full or not os.access(folder, os.W_OK | os.X_OK)


def new_key() -> str:
    """A key for an event that has none: unique, and sorted by time."""
    return f"{time.time_ns():020d}-{os.getpid():07d}-{os.urandom(4).hex()}"


def is_event(path: str) -> bool:
    """Whether an unfinished write holds a whole event and lacks only its name."""
    try:
        return bool(_whole(read_plain(path, limit=_LIMIT, follow=False)))
    except (OSError, ValueError):
        return False


def _adopt(folder: str, name: str) -> bool:
    """Give a whole event its name, if the process that wrote it is dead."""
    path = os.path.join(folder, name)
    key = _key(name[1:])
    if name == f".{key}.tmp" and time.time() - os.stat(path).st_mtime < _UNLOCKED:
        return False
    handle = open_dead(path)
    if handle is None:
        return False
    try:
        record = _whole(os.read(handle, _LIMIT))
        event = str(record.get("event", _SEVERAL))
        if not record or not event.isalpha() or not key[:1].isdigit():
            return False
        os.fsync(handle)
        os.replace(path, os.path.join(folder, f"{key}.{event}{_SUFFIX}"))
    finally:
        os.close(handle)
    sync_folder(folder)
    return True


def _whole(data: bytes) -> dict[str, object]:
    """The event or events in what was written; nothing if that was cut short."""
    text = data.decode("utf-8", "surrogateescape")
    record = read_object(text) if is_whole(text) else {}
    named = isinstance(record.get("event"), str) and isinstance(record.get("session"), str)
    return record if named or isinstance(record.get(_SEVERAL), dict) else {}


def _write(folder: str, events: Mapping[str, Mapping[str, object]]) -> None:
    if not _room.get(folder, 0):
        left = MOST - len(names_in(folder))
        if left < 1:
            raise StorageFailed("too many events wait already", path=folder)
        _room[folder] = left // 2
    else:
        _room[folder] -= 1
    key, record = next(iter(events.items()))
    if len(events) > 1:
        record = {_SEVERAL: dict(events)}
    name = f"{key}.{record.get('event', _SEVERAL)}{_SUFFIX}"
    # ASCII, so that a path that is not valid UTF-8 comes back as it was.
    write_file(os.path.join(folder, name), write(dict(record)).encode("ascii"))


def _key(path: str) -> str:
    return os.path.basename(path).partition(".")[0]


def _files(folder: str) -> Iterator[str]:
    for name in names_in(folder):
        if name.endswith(_SUFFIX) and not name.startswith("."):
            yield os.path.join(folder, name)


def _outside(places: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Every file in these places, and which home it is for, '' for any; none that the disk does not
    give out now."""
    for folder in filter(_is_ours, places):
        known = _homes.get(folder, {})
        now: dict[str, str] = {}
        for path in _files(folder):
            try:
                now[path] = known.get(path) or str(load(path).get("home", ""))
            except StorageFailed:
                continue  # it waits until it can be read
        _homes[folder] = now
        yield from now.items()


def _ours(environ: Mapping[str, str] | None) -> list[str]:
    return [folder for folder in second_places(environ) if _is_ours(folder)]


def _is_ours(folder: str, *, make: bool = False) -> bool:
    """Whether a folder in a place that everyone can write to is really this user's alone."""
    if make:
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            pass
    try:
        info = os.lstat(folder)
    except OSError:
        return False
    if os.name == "nt":
        return os.path.isdir(folder)
    return info.st_mode & 0o170077 == 0o040000 and info.st_uid == _uid()


def _uid() -> int:
    return 0 if os.name == "nt" else os.getuid()
