"""The instruction files a client loads by itself, read as it reads them, to see what they tell.

Owns which files those are and how `@path` imports are followed. Only plain files of moderate size
inside the project are read; whatever cannot be read tells nothing. Imports the standard library and
`storage.plainfile`, because hooks use it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from ltm.storage.plainfile import is_inside, read_plain

FILES = ("CLAUDE.md", os.path.join(".claude", "CLAUDE.md"), "CLAUDE.local.md")
"""What is loaded from a folder and from every folder above it."""

AGENTS = ("AGENTS.md", os.path.join(".claude", "AGENTS.md"))
"""What some clients load from there instead, where none of those has any text."""

_SETTINGS = ("settings.json", "settings.local.json")
_CHOICE = b"agents-md"  # in settings that say which of them are loaded

_LIMIT = 256 * 1024
_DEPTH = 5
# Compiled where they are used: most files import nothing.
_CODE = r"(?ms)^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|\Z)|(`+)[^`].*?\2"
_IMPORT = r"(?:^|(?<=\s))@((?:\\ |\S)+)"


def loaded_text(folder: str, user_folder: str = "", *, agents_md: bool = False) -> str:
    """What the client loads for a session in `folder`, as one text.

    `user_folder` is the client's own configuration folder, with a CLAUDE.md for all projects.
    `agents_md` says that this client loads AGENTS.md where there is no CLAUDE.md.
    """
    seen: set[str] = set()
    parts: list[str] = []
    if user_folder:
        parts += _read(os.path.join(user_folder, FILES[0]), "", seen, 0)
    places = list(_upwards(os.path.abspath(folder)))
    instead = (
        agents_md
        and all(map(_is_empty, _named(places, FILES)))
        and not any(map(_is_chosen, settings_files(folder, user_folder)))
    )
    for place in places:
        for name in AGENTS if instead else FILES:
            parts += _read(os.path.join(place, name), place, seen, 0)
    return "\n\n".join(parts)


def has_agents_md(folder: str) -> bool:
    """Whether it makes a difference in `folder` that a client loads AGENTS.md."""
    return any(map(os.path.exists, _named(_upwards(os.path.abspath(folder)), AGENTS)))


def settings_files(folder: str, user_folder: str) -> list[str]:
    """Where a person can choose which of these files the client loads."""
    folders = [os.path.join(folder, ".claude"), *([user_folder] if user_folder else [])]
    return list(_named(folders, _SETTINGS))


def _named(folders: Iterable[str], names: Iterable[str]) -> Iterator[str]:
    return (os.path.join(folder, name) for folder in folders for name in names)


def _is_empty(path: str) -> bool:
    """Whether a file says nothing, or is not there; one that cannot be read may say anything."""
    try:
        return not read_plain(path, limit=_LIMIT).strip()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False


def _is_chosen(path: str) -> bool:
    """Whether settings have a choice of files in them, or cannot be read."""
    try:
        return _CHOICE in read_plain(path, limit=_LIMIT)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True


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
        # A client asks before it loads anything from outside; the answer is unknown.
        if is_inside(imported, top):
            yield from _read(imported, top, seen, depth + 1)
