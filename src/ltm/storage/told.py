"""What a session was told, so that nothing is told it twice: a small file a session in `told/`.

Holds ids of memories, and for whole lines that were told a checksum, never their words: what is
purged leaves no trace here. It outlives the session, which may be resumed, and goes after two
months. Lost, it costs a repetition. Imports the standard library and what `storage` keeps small:
hooks load this.
"""

from __future__ import annotations

import os
import time
from binascii import crc32

from ltm.storage.plainfile import read_plain

TYPE_CHECKING = False  # without `typing`, which alone costs a hook half its time
if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = "told"
_KEPT = 60 * 24 * 3600  # seconds; clients delete transcripts sooner


def mark_of(line: str) -> str:
    """What a line is known by without its words."""
    data = line.strip().encode("utf-8", "replace")
    return f"{crc32(data):08x}-{len(data):x}"


def told(home: str, session: str) -> set[str]:
    """The ids and marks of what a session was told."""
    try:
        return set(read_plain(_path(home, session)).decode("ascii", "replace").split())
    except (OSError, ValueError):
        return set()


def note_told(home: str, session: str, what: Iterable[str]) -> None:
    """Note ids and marks. Never raises: what cannot be noted may be told again."""
    path = _path(home, session)
    try:
        new = not os.path.exists(path)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
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


def _path(home: str, session: str) -> str:
    # Whatever a client calls a session, it must not lead out of the folder.
    name = session.encode("utf-8", "surrogateescape")
    return os.path.join(home, FOLDER, name[:90].hex() + f"-{crc32(name):08x}")


def _sweep(folder: str) -> None:
    """Remove sessions that will not be resumed."""
    before = time.time() - _KEPT
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.stat(follow_symlinks=False).st_mtime < before:
                os.unlink(entry.path)
