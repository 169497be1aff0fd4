"""The instruction files a client loads by itself, read as it reads them, to see what they tell.

Owns which files those are and how `@path` imports are followed. Only plain files of moderate size
inside the project are read; whatever cannot be read tells nothing. Imports the standard library and
`storage.plainfile`, because hooks use it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ltm.storage.plainfile import is_inside, read_plain

FILES = ("CLAUDE.md", os.path.join(".claude", "CLAUDE.md"), "CLAUDE.local.md")
"""What is loaded from a folder and from every folder above it. AGENTS.md is not among them."""

_LIMIT = 256 * 1024
_DEPTH = 5
# Compiled where they are used: most files import nothing.
_CODE = r"(?ms)^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|\Z)|(`+)[^`].*?\2"
_IMPORT = r"(?:^|(?<=\s))@((?:\\ |\S)+)"


def loaded_text(folder: str, user_folder: str = "") -> str:
    """What the client loads for a session in `folder`, as one text.

    `user_folder` is the client's own configuration folder, with a CLAUDE.md for all projects.
    """
    seen: set[str] = set()
    parts: list[str] = []
    if user_folder:
        parts += _read(os.path.join(user_folder, FILES[0]), "", seen, 0)
    for place in _upwards(os.path.abspath(folder)):
        for name in FILES:
            parts += _read(os.path.join(place, name), place, seen, 0)
    return "\n\n".join(parts)


def _upwards(folder: str) -> Iterator[str]:
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above


def _read(path: str, top: str, seen: set[str], depth: int) -> Iterator[str]:
    """The text of a file, and of the files inside `top` that it imports."""
    if path in seen:
        return
    seen.add(path)
    try:
        text = read_plain(path, limit=_LIMIT).decode("utf-8-sig", errors="replace")
    except (OSError, ValueError):
        return
    yield text
    if not top or depth >= _DEPTH or "@" not in text:
        return
    for found in re.finditer(_IMPORT, re.sub(_CODE, "", text)):
        name = found[1].replace("\\ ", " ")
        imported = os.path.normpath(os.path.join(os.path.dirname(path), name))
        # A client asks before it loads anything from outside; nobody knows what was answered.
        if is_inside(imported, top):
            yield from _read(imported, top, seen, depth + 1)
