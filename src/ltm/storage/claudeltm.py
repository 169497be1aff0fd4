"""Telling claude-ltm's `.claude/ltm` from a vault: both are a folder with `memories/` in it.

Owns how that tool's files are recognised, so that they are never read as memories of LTM: a topic
and no kind. Imports the standard library and `plainfile` only, because hooks use it too.
"""

from __future__ import annotations

import os

from ltm.storage.plainfile import read_plain

MOST = 200
"""Files that are looked at to tell what a folder is; that tool keeps a hundred."""

_OURS = (b"kind:", b"legacy_id:")


def is_store(folder: str) -> bool:
    """Whether a folder holds what claude-ltm keeps, and nothing that `ltm` made there."""
    if os.path.lexists(os.path.join(folder, "config.toml")):
        return False  # `ltm init` was run here
    files = _files(folder)
    theirs = False
    for path in files:
        front = _front(_read(path))
        if _has_key(front, *_OURS):
            return False
        theirs = theirs or _has_key(front, b"topic:")
    if files:
        return theirs
    index = _read(os.path.join(folder, "index.json"))
    return index.lstrip().startswith(b"{") and b'"memories"' in index


def is_theirs(head: bytes) -> bool:
    """Whether a file that begins like this is a memory of claude-ltm."""
    front = _front(head)
    return _has_key(front, b"topic:") and not _has_key(front, *_OURS)


def _front(data: bytes) -> list[bytes]:
    """The lines of the front matter."""
    return data.replace(b"\r\n", b"\n").split(b"\n---", 1)[0].split(b"\n")


def _has_key(front: list[bytes], *keys: bytes) -> bool:
    return any(line.startswith(keys) for line in front)


def _files(folder: str) -> list[str]:
    found: list[str] = []
    for part in ("memories", "archives"):
        inner = os.path.join(folder, part)
        try:
            names = sorted(name for name in os.listdir(inner) if name.endswith(".md"))
        except OSError:
            continue
        found += [os.path.join(inner, name) for name in names]
    return found[:MOST]


def _read(path: str) -> bytes:
    try:
        return read_plain(path, follow=False)
    except OSError:
        return b""
