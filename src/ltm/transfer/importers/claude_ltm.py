"""claude-ltm: `.claude/ltm/` with `index.json`, `stats.json`, `memories/` and `archives/`.

`index.json` goes before the front matter, which that tool writes without quoting.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ltm.kinds import Kinds
from ltm.model import Phase
from ltm.project.identity import is_claude_ltm_memory
from ltm.transfer.item import Item
from ltm.transfer.parse import Front, count, front, listed, mapping, text_of
from ltm.transfer.source import Origin
from ltm.vault.codec import read_body
from ltm.vault.fields import moment, number

_ID = re.compile(r"[A-Za-z0-9_-]+\Z")  # our own files next to theirs have dots in their names
# What it writes in the place of a text it shortened.
_MARKS = re.compile(
    r"^\*\[(?:Content reduced|Full content archived)[^\n]*\]\*[ \t]*$", re.MULTILINE
)
_ABSTRACT = re.compile(r"\A\*Abstract: (.*)\*\s*\Z", re.DOTALL)


def finds(origin: Origin) -> str | None:
    for name in (".", ".claude/ltm", "ltm"):
        folder = origin.folder(name)
        for inner in ("memories", "archives") if folder else ():
            there = _by_id(origin, os.path.join(str(folder), inner))
            if any(_is_theirs(origin, path) for path in there.values()):
                return folder
    return None


def read(origin: Origin, kinds: Kinds) -> Iterator[Item]:
    """Every memory, then what only the archive has."""
    root = finds(origin)
    if root is None:
        return
    index = _entries(origin, root, "index.json")
    stats = _entries(origin, root, "stats.json")
    archives = _by_id(origin, os.path.join(root, "archives"))
    memories = _by_id(origin, os.path.join(root, "memories"))
    for memory_id, path in memories.items():
        if not _is_theirs(origin, path):
            continue  # written by ltm: both tools use this folder
        yield from _item(origin, memory_id, path, archives.get(memory_id), index, stats)
    for memory_id, path in archives.items():
        if memory_id not in memories and _is_theirs(origin, path):
            yield from _item(origin, memory_id, path, path, index, stats, gone=True)
    for memory_id in index.keys() - memories.keys() - archives.keys():
        origin.problem(
            os.path.join(root, "index.json"), f"lists {memory_id}, but its file is missing"
        )


def _item(
    origin: Origin,
    memory_id: str,
    path: str,
    archive: str | None,
    index: Mapping[str, Any],
    stats: Mapping[str, Any],
    *,
    gone: bool = False,
) -> Iterator[Item]:
    note = _note(origin, path)
    if note is None:
        return
    known = mapping(index.get(memory_id))
    step = number(text_of(known.get("phase")) or note.text("phase")) or 0
    phase = Phase.ARCHIVED if gone else Phase(int(min(3, max(0, step))))
    whole = note
    if phase is not Phase.FULL and not gone:
        whole = (_note(origin, archive) if archive else None) or note
        phase = phase if whole is not note else Phase.FULL
    said = read_body(whole.body)
    text = _without_marks(said.content or said.summary)
    yield Item(
        text=text,
        path=path,
        word="memory",
        title=text_of(known.get("topic")) or note.text("topic"),
        summary=_without_marks(said.summary) if said.explicit else "",
        legacy_id=memory_id,
        created=moment(text_of(known.get("created_at")) or note.text("created_at"))
        or origin.modified(path),
        tags=listed(known.get("tags")) or note.many("tags"),
        difficulty=number(text_of(known.get("difficulty")) or note.text("difficulty")) or 0.0,
        phase=phase,
        uses=count(mapping(stats.get(memory_id)).get("access_count"), 0),
    )


def _is_theirs(origin: Origin, path: str) -> bool:
    return is_claude_ltm_memory(origin.head(path))


def _by_id(origin: Origin, folder: str) -> dict[str, str]:
    if not os.path.isdir(folder):
        return {}
    paths = {os.path.basename(path)[:-3]: path for path in origin.files(folder, ".md")}
    return {name: path for name, path in paths.items() if _ID.match(name)}


def _entries(origin: Origin, root: str, name: str) -> Mapping[str, Any]:
    path = os.path.join(root, name)
    return mapping(mapping(origin.json(path)).get("memories")) if os.path.isfile(path) else {}


def _note(origin: Origin, path: str) -> Front | None:
    text = origin.text(path)
    return None if text is None else front(text)


def _without_marks(text: str) -> str:
    plain = _MARKS.sub("", text).strip("\n")
    abstract = _ABSTRACT.match(plain)
    return abstract[1] if abstract else plain
