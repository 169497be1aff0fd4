"""Which file or folder a text names, however much of its path it gives.

Owns comparing paths by their ends. Pure; standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(r"[\w.@+~/\\-]+")
_LEAST = 4  # letters of a stem that is a tag of its own and no accident


def parts_of(path: str) -> list[str]:
    """The names a path consists of."""
    return [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]


def same_end(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether the shorter of two paths is the end of the longer."""
    shared = min(len(one), len(other))
    return shared > 0 and list(one[-shared:]) == list(other[-shared:])


def names_file(text: str, path: str) -> bool:
    """Whether a text names a file: by its whole path, by an end of it, or by its name alone."""
    wanted = parts_of(path)
    if not wanted or wanted[-1] not in text:
        return False
    plain = "." not in wanted[-1] and wanted[-1].islower()  # `main` is a word before it is a file
    for word in _WORD.findall(text):
        parts = parts_of(word.rstrip("."))
        if same_end(parts, wanted) and not (plain and len(parts) == 1):
            return True
    return False


def names_folder(text: str, path: str) -> bool:
    """Whether a text names a folder, or anything in it, with a path."""
    wanted = parts_of(path)
    if not wanted or wanted[-1] not in text:
        return False
    for word in _WORD.findall(text):
        if "/" in word or "\\" in word:
            parts = parts_of(word.rstrip("."))
            if is_inside(parts, wanted) or same_end(parts, wanted):
                return True
    return False


def is_inside(parts: Sequence[str], folder: Sequence[str]) -> bool:
    """Whether a path leads through a folder."""
    size = len(folder)
    return any(list(parts[at : at + size]) == list(folder) for at in range(len(parts) - size + 1))


def is_tag_of(tag: str, path: str) -> bool:
    """Whether a tag is the name of a file, with or without its ending."""
    name = (parts_of(path) or [""])[-1].lower()
    stem = name.partition(".")[0]
    return tag.lower() in {name, stem if len(stem) >= _LEAST else name}
