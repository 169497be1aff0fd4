"""Plain Markdown: a file, or a folder of files with those in its folders.

Folders that begin with a dot, `node_modules` and the like are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ltm.kinds import Kinds
from ltm.transfer.item import Item
from ltm.transfer.parse import day, heading_of, impact_of, kind_by_words, name_of, read_note
from ltm.transfer.source import Origin

_ENDINGS = (".md", ".mdc", ".markdown", ".cursorrules")
_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*)$", re.MULTILINE)


def finds(origin: Origin) -> list[str]:
    """The Markdown files; the last importer to be asked."""
    if origin.is_folder:
        return [
            *origin.files(origin.path, ".md", deep=True),
            *origin.files(origin.path, ".mdc", deep=True),  # Cursor's rules
        ]
    return [origin.path] if origin.path.lower().endswith(_ENDINGS) else []


def read(origin: Origin, kinds: Kinds) -> Iterator[Item]:
    for path in finds(origin):
        note = read_note(origin, path)
        text = note.body.strip() if note else ""
        if not note or not text:
            continue
        at = origin.modified(path)
        heading = _HEADING.search(text)
        yield Item(
            text=text,
            path=path,
            line=note.body_line,
            kind=kind_by_words(map(note.text, ("kind", "type", "category")), kinds),
            word="a file",
            title=note.text("title", "description")
            or (heading_of(heading[1]) if heading else name_of(path)),
            legacy_id=origin.relative(path),
            created=day(note.text("created", "created_at", "date")) or at,
            updated=day(note.text("modified", "updated", "updated_at")) or at,
            tags=note.many("tags"),
            impact=impact_of(note.text("impact", "importance")),
        )
