"""The session-start text kept ready, and what a session was told already.

Composing the text takes four times as long as everything else a hook does, and it rarely changes
from one session to the next. So it is kept in `<home>/briefs`, one file per folder in which
sessions start, with a stamp of every file and folder it depends on; it holds as long as all of
these are as they were, and half a day at most, because memories fade. Derived, deletable at any
time.

What a session was told is a small file a session in `<home>/told`, so that nothing is told it
twice: ids of memories, and for whole lines a checksum, never their words, so that what is purged
leaves no trace here. It outlives the session, which may be resumed, and goes after two months.
Lost, it costs a repetition.
"""

from __future__ import annotations

import os
import time
from binascii import crc32

from ltm import __version__
from ltm.files.atomic import names_in, read_plain
from ltm.files.fastjson import read_object, write

TYPE_CHECKING = False  # without `typing`, which alone costs a hook half its time
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


TEXTS_FOLDER = "briefs"
HOLDS = 12 * 3600
"""Seconds a text holds at most."""

_ENVIRONMENT = ("HOME", "LTM_AGENT", "CLAUDE_CONFIG_DIR")


def load(
    home: str, folder: str, environ: Mapping[str, str], client: str = ""
) -> tuple[str, str] | None:
    """The text for a session in `folder` and the message for the person, if they still hold; None
    when they must be made again.

    `client` is what a text may depend on that differs from client to client.
    """
    try:
        kept = read_object(read_plain(_text_path(home, folder)).decode("ascii"))
    except (OSError, ValueError):
        return None
    text, made, watched = kept.get("text"), kept.get("made"), kept.get("watched")
    if not isinstance(text, str) or not isinstance(made, int) or not isinstance(watched, dict):
        return None
    if not client.startswith(str(kept.get("client"))):
        return None
    if kept.get("for") != _situation(folder, environ) or not 0 <= time.time() - made < HOLDS:
        return None
    files = kept.get("files")
    if not isinstance(files, dict) or any(
        os.path.lexists(each) is not files[each] for each in files
    ):
        return None
    if any(stamp(path) != seen for path, seen in watched.items()):
        return None
    return text, str(kept.get("message", ""))


def shown(home: str, folder: str) -> list[str]:
    """The ids of the memories in the text that is kept for a folder, whether it still holds."""
    try:
        ids = read_object(read_plain(_text_path(home, folder)).decode("ascii")).get("shown")
    except (OSError, ValueError):
        return []
    return ids.split() if isinstance(ids, str) else []


def save(
    home: str,
    folder: str,
    environ: Mapping[str, str],
    text: str,
    watched: Mapping[str, str],
    client: str = "",
    *,
    files: Mapping[str, bool] | None = None,
    shown: Iterable[str] = (),
    message: str = "",
) -> None:
    """Keep a text, with the stamps that what it depends on had before it was made, and how the
    names of the clients begin that it was made for; '' if it is the same for all. It also holds as
    long as `files` are there or not as they were, and has the ids of the memories `shown` in it.
    The `message` is what the person is told.

    Never raises: without it the next session waits a little longer.
    """
    path = _text_path(home, folder)
    kept = {
        "for": _situation(folder, environ),
        "client": client,
        "made": int(time.time()),
        "watched": dict(watched),
        "files": dict(files or {}),
        "shown": " ".join(shown),
        "message": message,
        "text": text,
    }
    temporary = f"{path}.{os.urandom(6).hex()}.tmp"
    try:
        _make_folder(os.path.dirname(path))
        # No fsync: a torn file is not JSON, and is replaced.
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            data = write(kept).encode("ascii")
            while data:
                data = data[os.write(handle, data) :]
        finally:
            os.close(handle)
        os.replace(temporary, path)
        # A purge while the text was made would not find it: what it says may be gone by now.
        if stamps(watched) != dict(watched):
            os.unlink(path)
    except OSError:
        try:
            os.unlink(temporary)
        except OSError:
            pass


def stamps(paths: Iterable[str]) -> dict[str, str]:
    """How each of these files and folders looks now."""
    return {path: stamp(path) for path in paths}


def stamp(path: str) -> str:
    """How a file or folder looks now; '' when there is none."""
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return ""
    if os.path.basename(path) == ".git":
        return str(info.st_ino)  # git touches it all the time; that it is there is what counts
    return f"{info.st_ino}:{info.st_mtime_ns}:{info.st_size}"


def clear(home: str, *, days: float = 0.0) -> None:
    """Delete the kept texts and which doors sessions came through, or what has been there for
    longer than so many days."""
    for path in (
        os.path.join(home, folder, name)
        for folder in (TEXTS_FOLDER, DOORS_FOLDER)
        for name in names_in(os.path.join(home, folder))
    ):
        try:
            # All means all: a clock that was set back gives some of them a time that is to come.
            if not days or time.time() - os.stat(path).st_mtime >= days * 86_400:
                os.unlink(path)
        except OSError:
            continue


def _make_folder(folder: str) -> None:
    for each in (os.path.dirname(folder), folder):  # the mode of `makedirs` is for the last only
        os.makedirs(each, mode=0o700, exist_ok=True)


def _text_path(home: str, folder: str) -> str:
    data = os.fsencode(folder)
    return os.path.join(home, TEXTS_FOLDER, f"{crc32(data):08x}{crc32(data, 1):08x}.json")


def _situation(folder: str, environ: Mapping[str, str]) -> str:
    """What else a text depends on; the folder is in it because a hash is not a name."""
    return "\n".join([__version__, folder, *(environ.get(name, "") for name in _ENVIRONMENT)])


TOLD_FOLDER = "told"
_KEPT = 60 * 24 * 3600  # seconds; clients delete transcripts sooner


def mark_of(line: str) -> str:
    """What a line is known by without its words."""
    data = line.strip().encode("utf-8", "replace")
    return f"{crc32(data):08x}-{len(data):x}"


def told(home: str, session: str) -> set[str]:
    """The ids and marks of what a session was told."""
    try:
        return set(
            read_plain(_path_of(home, TOLD_FOLDER, session)).decode("ascii", "replace").split()
        )
    except (OSError, ValueError):
        return set()


def note_told(home: str, session: str, what: Iterable[str]) -> None:
    """Note ids and marks. Never raises: what cannot be noted may be told again."""
    path = _path_of(home, TOLD_FOLDER, session)
    try:
        new = not os.path.exists(path)
        _make_folder(os.path.dirname(path))
        # Appended in one write, so that two hooks at once lose nothing of each other.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, "".join(f"{each}\n" for each in what).encode("ascii", "replace"))
        finally:
            os.close(handle)
        if new:
            _sweep(os.path.dirname(path))
    except (OSError, ValueError):
        pass


DOORS_FOLDER = "doors"
_DOORS = 60  # seconds in which the same event comes through several doors


def is_first(home: str, session: str, door: str) -> bool:
    """Whether a session's start comes for the first time, or again through the same door.

    A client may run the hooks of several settings files, each a door of its own: for all of them
    together a session begins once. Never raises: what cannot be noted may be told twice.
    """
    path = _path_of(home, DOORS_FOLDER, session)
    try:
        _make_folder(os.path.dirname(path))
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            by = read_plain(path)
            if by != mark_of(door).encode() and time.time() - os.stat(path).st_mtime < _DOORS:
                return False
            handle = os.open(path, os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(handle, mark_of(door).encode())
        finally:
            os.close(handle)
    except (OSError, ValueError):
        pass
    return True


def _path_of(home: str, folder: str, session: str) -> str:
    # Whatever a client calls a session, it must not lead out of the folder.
    name = session.encode("utf-8", "surrogateescape")
    return os.path.join(home, folder, name[:90].hex() + f"-{crc32(name):08x}")


def _sweep(folder: str) -> None:
    """Remove sessions that will not be resumed."""
    before = time.time() - _KEPT
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.stat(follow_symlinks=False).st_mtime < before:
                os.unlink(entry.path)
