"""What LTM last wrote into each view, and the texts of others that it replaced there.

Owns two things in a project's private folder, outside the repository: `views.json`, a fingerprint
for each path, by which a view that is unchanged since is known; and `former/`, a copy of each
text that was in the way. A missing fingerprint costs a closer look; a copy goes only by purge.
Imports storage's small readers and the durable write.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ltm.core.errors import LtmError
from ltm.core.quickjson import read_object, write
from ltm.storage.durable import make_folder, write_file
from ltm.storage.plainfile import read_plain
from ltm.storage.vault import etag

FILE = "views.json"
FORMER = "former"


def is_as_written(private: str, path: str, data: bytes) -> bool:
    """Whether a view is what LTM last wrote there on this machine."""
    return _read(private).get(path) == etag(data)


def note(private: str, path: str, data: bytes) -> None:
    """Remember what was written. Never raises: without it the view is looked at more closely."""
    notes = {**_read(private), path: etag(data)}
    try:
        make_folder(private)
        write_file(os.path.join(private, FILE), f"{write(notes)}\n".encode("ascii"))
    except LtmError:
        pass


def keep(private: str, path: str, data: bytes) -> str:
    """Keep a text that is about to be replaced; the path of the copy."""
    folder = os.path.join(private, FORMER)
    make_folder(folder)
    copy = os.path.join(folder, f"{_prefix(path)}{etag(data)[:12]}.{os.path.basename(path)}")
    write_file(copy, data)
    return copy


def former(private: str, path: str) -> list[tuple[str, bytes]]:
    """The kept texts of a view with their paths, the newest first."""
    paths = [each for each in every(private) if os.path.basename(each).startswith(_prefix(path))]
    try:
        paths.sort(key=lambda each: os.lstat(each).st_mtime_ns, reverse=True)
        return [(each, read_plain(each, follow=False)) for each in paths]
    except OSError:
        return []


def every(private: str) -> list[str]:
    """The paths of all kept texts."""
    folder = os.path.join(private, FORMER)
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    except OSError:
        return []


def rewrite(private: str, keep: Callable[[str], bool]) -> None:
    """Drop lines from the kept texts that must not be kept."""
    for path in every(private):
        data = read_plain(path, follow=False)
        lines = data.decode("utf-8", "surrogateescape").splitlines(True)
        kept = "".join(line for line in lines if keep(line)).encode("utf-8", "surrogateescape")
        if kept != data:
            write_file(path, kept)


def _prefix(path: str) -> str:
    return f"{etag(os.fsencode(path))[:8]}."


def _read(private: str) -> dict[str, object]:
    try:
        return read_object(read_plain(os.path.join(private, FILE)).decode("ascii"))
    except (OSError, ValueError):
        return {}
