"""basic-memory: a folder of Markdown notes with a `permalink`, observations and relations."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator

from ltm.kinds import Kinds
from ltm.transfer.item import Item
from ltm.transfer.parse import Front, day, kind_by_words, read_note
from ltm.transfer.source import Origin

_OBSERVATION = re.compile(r"^[ \t]*[-*+][ \t]+\[([^\[\]\n]{1,60})\][ \t]+(\S.*)$", re.MULTILINE)
_TAG = re.compile(r"(?<![\w/#&])#([\w][\w/-]*)")
_LINK = re.compile(r"\[\[([^\[\]|#]{1,300})(?:[|#][^\[\]]*)?\]\]")
_PERMALINK = re.compile(rb"^permalink:", re.MULTILINE)
_LOOKED_AT = 200
_TASKS = frozenset({"x", "X", "-", " "})


def finds(origin: Origin) -> bool:
    heads = (origin.head(path) for path in _paths(origin)[:_LOOKED_AT])
    fronts = (head.split(b"\n---", 1)[0] for head in heads if head.startswith(b"---"))
    return any(map(_PERMALINK.search, fronts))


def read(origin: Origin, kinds: Kinds) -> Iterator[Item]:
    """Links of a note may name a title, a permalink or a file."""
    notes = [
        (path, note) for path in _paths(origin) if (note := read_note(origin, path)) is not None
    ]
    permalinks = {_permalink(origin, path, note) for path, note in notes}
    by_title = {_title(path, note).lower(): _permalink(origin, path, note) for path, note in notes}
    for path, note in notes:
        text = note.body.strip()
        if not text:
            origin.problem(path, "is empty")
            continue
        observations = [each for each in _OBSERVATION.findall(text) if each[0] not in _TASKS]
        named = (link.strip() for link in _LINK.findall(text))
        links = (link if link in permalinks else by_title.get(link.lower(), "") for link in named)
        tags = (tag for _, line in observations for tag in _TAG.findall(line))
        at = origin.modified(path)
        word = note.text("type")
        most = [name for name, _ in Counter(name for name, _ in observations).most_common(1)]
        yield Item(
            text=text,
            path=path,
            line=note.body_line,
            kind=kind_by_words((word, *most), kinds),
            word=word or "note",
            title=_title(path, note),
            legacy_id=_permalink(origin, path, note),
            created=day(note.text("created", "created_at", "date")) or at,
            updated=day(note.text("modified", "updated", "updated_at")) or at,
            tags=tuple(dict.fromkeys((*note.many("tags"), *tags))),
            links=tuple(dict.fromkeys(link for link in links if link)),
        )


def _permalink(origin: Origin, path: str, note: Front) -> str:
    return note.text("permalink") or origin.relative(path).removesuffix(".md")


def _title(path: str, note: Front) -> str:
    return note.text("title") or os.path.basename(path).removesuffix(".md")


def _paths(origin: Origin) -> list[str]:
    if origin.is_folder:
        return origin.files(origin.path, ".md", deep=True)
    return [origin.path] if origin.path.endswith(".md") else []
