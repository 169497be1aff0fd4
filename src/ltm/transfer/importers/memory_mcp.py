"""memory-mcp: `.memory/state.json`.

`cursor.json` is not needed: transcripts are read again with `ltm capture`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ltm.kinds import Kinds
from ltm.model import Phase, Status
from ltm.transfer.item import Item
from ltm.transfer.parse import count, items, listed, mapping, share, text_of, when
from ltm.transfer.source import Origin

_FILES = (".memory/state.json", "state.json")
_SUPERSEDED, _ARCHIVED = "superseded", "archived"


def finds(origin: Origin) -> str | None:
    path = origin.find(*_FILES)
    head = origin.head(path, 65_536) if path else b""
    if not origin.is_folder and not head.lstrip().startswith(b"{"):
        return None
    return path if b'"memories"' in head and b'"tag_index"' not in head else None


def read(origin: Origin, kinds: Kinds) -> Iterator[Item]:
    path = finds(origin)
    if path is None:
        return
    state = mapping(origin.json(path))
    memories = []
    for number, each in enumerate(items(state.get("memories")), start=1):
        if isinstance(each, dict) and text_of(each.get("content")).strip():
            memories.append(each)
        else:
            origin.problem(path, f"memory {number} has no content")
    newer = {
        old: text_of(each.get("id"))
        for each in memories
        for old in (text_of(each.get("supersedes")), *listed(each.get("mergedFrom")))
        if old
    }
    for each in memories:
        own = text_of(each.get("id"))
        tags = listed(each.get("tags"))
        old = text_of(each.get("supersedes"))
        yield Item(
            text=text_of(each["content"]),
            path=path,
            kind=text_of(each.get("type")),
            word=text_of(each.get("type")),
            legacy_id=own,
            created=when(each.get("created")),
            updated=when(each.get("updated")),
            tags=tuple(tag for tag in tags if tag not in (_SUPERSEDED, _ARCHIVED)),
            confidence=share(each.get("confidence"), 1.0),
            phase=Phase.ARCHIVED if _ARCHIVED in tags else Phase.FULL,
            status=Status.SUPERSEDED if _SUPERSEDED in tags else Status.ACTIVE,
            superseded_by=newer.get(own, "") if _SUPERSEDED in tags else "",
            supersedes=(old,) if old else (),
            merged_from=listed(each.get("mergedFrom")),
            uses=count(each.get("accessCount"), 0),
        )
    description = text_of(state.get("description")).strip()
    if description:
        yield Item(
            text=description,
            path=path,
            kind="fact",
            word="description",
            title=f"About {text_of(state.get('project')).strip() or 'the project'}",
            legacy_id="description",
            created=origin.modified(path),
        )
