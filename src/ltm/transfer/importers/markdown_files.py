"""Plain Markdown: a file, or a folder of files with those in its folders.

| there                                   | here                                                 |
|-----------------------------------------|------------------------------------------------------|
| a file                                  | one memory                                           |
| title, else the first heading, else the | title                                                |
| file's name                             |                                                      |
| kind, type or category, if it is the    | kind; else inferred from the text                    |
| word for a kind                         |                                                      |
| impact or importance                    | impact; else medium                                  |
| tags                                    | tags; else found in the text                         |
| created or date, else the file's time   | created                                              |
| modified or updated, else the file's    | updated                                              |
| time                                    |                                                      |
| the path below the folder               | legacy_id                                            |
| (none)                                  | confidence 1, scope project                          |

Folders that begin with a dot, `node_modules` and the like are left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ltm.kinds import Kinds
from ltm.model import Impact
from ltm.transfer.item import Item
from ltm.transfer.parse import day, heading_of, kind_by_words, read_note
from ltm.transfer.source import Origin

_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*)$", re.MULTILINE)


def finds(origin: Origin) -> bool:
    """Whether there is any Markdown; the last importer to be asked."""
    return bool(_paths(origin))


def read(origin: Origin, kinds: Kinds) -> Iterator[Item]:
    """Every file that says something."""
    for path in _paths(origin):
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
            title=note.text("title") or (heading_of(heading[1]) if heading else _name(path)),
            legacy_id=origin.relative(path),
            created=day(note.text("created", "created_at", "date")) or at,
            updated=day(note.text("modified", "updated", "updated_at")) or at,
            tags=note.many("tags"),
            impact=_impact(note.text("impact", "importance")),
        )


def _impact(word: str) -> Impact:
    return Impact(word.lower()) if word.lower() in set(Impact) else Impact.MEDIUM


def _name(path: str) -> str:
    return os.path.basename(path).removesuffix(".md").replace("-", " ").replace("_", " ")


def _paths(origin: Origin) -> list[str]:
    if origin.is_folder:
        return origin.files(origin.path, ".md", deep=True)
    return [origin.path] if origin.path.lower().endswith((".md", ".markdown")) else []
