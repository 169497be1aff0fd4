"""claude-mem: `~/.claude-mem/claude-mem.db`, of every schema since version 4.

Prompts are left out: `ltm capture` reads the transcripts they come from.
"""

from __future__ import annotations

from collections.abc import Iterator

from ltm.kinds import Kinds
from ltm.model import Impact, Scope
from ltm.transfer.item import Item
from ltm.transfer.parse import Row, listed, rows, tables, text_of, when
from ltm.transfer.source import Origin

_FILES = ("claude-mem.db", ".claude-mem/claude-mem.db")
_KINDS = {
    "decision": "decision",
    "bugfix": "gotcha",
    "security_alert": "gotcha",
    "feature": "achievement",
    "refactor": "achievement",
    "discovery": "fact",
}
_PARTS = ("investigated", "learned", "completed", "next_steps", "notes")


def finds(origin: Origin) -> str | None:
    path = origin.find(*_FILES) if origin.is_folder else origin.path
    found = tables(origin, path) if path else {}
    return path if {"observations", "sdk_sessions"} <= found.keys() else None


def read(origin: Origin, kinds: Kinds) -> Iterator[Item]:
    path = finds(origin)
    if path is None:
        return
    readers = {
        "directives": _directive,
        "observations": _observation,
        "session_summaries": _summary,
    }
    for table, row in rows(origin, path, *readers):
        item = readers[table](row, path)
        if item is not None:
            yield item


def _observation(row: Row, path: str) -> Item | None:
    facts = "\n".join(f"- {fact}" for fact in listed(row.get("facts")))
    said = text_of(row.get("narrative")) or text_of(row.get("text"))
    subtitle = text_of(row.get("subtitle"))
    parts = [part for part in (said or subtitle, facts, _files(row)) if part.strip()]
    title = text_of(row.get("title"))
    if not parts and not title:
        return None
    word = text_of(row.get("type"))
    return Item(
        text="\n\n".join(parts) or title,
        path=path,
        kind=_KINDS.get(word, "episode"),
        word=word,
        title=title,
        summary=subtitle,
        legacy_id=f"observation-{text_of(row.get('id'))}",
        created=when(row.get("created_at_epoch")) or when(row.get("created_at")),
        tags=listed(row.get("concepts")),
        session=_session(row),
        project_name=_project(row),
    )


def _summary(row: Row, path: str) -> Item | None:
    parts = [
        f"## {part.replace('_', ' ').capitalize()}\n\n{said}"
        for part in _PARTS
        if (said := text_of(row.get(part)).strip())
    ]
    request = text_of(row.get("request")).strip()
    if not parts and not request:
        return None
    return Item(
        text="\n\n".join(part for part in (request, *parts, _files(row)) if part),
        path=path,
        kind="episode",
        word="a session summary",
        title=request,
        legacy_id=f"summary-{text_of(row.get('id'))}",
        created=when(row.get("created_at_epoch")) or when(row.get("created_at")),
        session=_session(row),
        project_name=_project(row),
    )


def _directive(row: Row, path: str) -> Item | None:
    said = text_of(row.get("content")).strip()
    if not said or text_of(row.get("status")) not in ("", "active"):
        return None
    project = text_of(row.get("project"))
    everywhere = text_of(row.get("scope")) == "global" or not project
    return Item(
        text=said,
        path=path,
        kind="preference",
        word="a directive",
        legacy_id=f"directive-{text_of(row.get('id'))}",
        created=when(row.get("created_at_epoch")) or when(row.get("created_at")),
        updated=when(row.get("updated_at_epoch")),
        scope=Scope.AGENT if everywhere else Scope.PROJECT,
        impact=Impact.HIGH,
        project_name="" if everywhere else project,
    )


def _files(row: Row) -> str:
    changed = listed(row.get("files_modified")) or listed(row.get("files_edited"))
    files = tuple(dict.fromkeys((*changed, *listed(row.get("files_read")))))
    return f"Files: {', '.join(files)}" if files else ""


def _session(row: Row) -> str:
    return text_of(row.get("memory_session_id")) or text_of(row.get("sdk_session_id"))


def _project(row: Row) -> str:
    return text_of(row.get("merged_into_project")) or text_of(row.get("project"))
