"""Memory Keeper: `.claude/memory/` with `facts.json`, `memory.md` and `sessions/`.

Its ids start again when its facts are cleared, so a fact is known by id and day. A `facts.json`
that is cut off is refused as a whole.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from ltm.capture.statements import is_placeholder, typed
from ltm.files.block import is_ours
from ltm.kinds import Kinds
from ltm.transfer.importers import memory_md
from ltm.transfer.item import Item
from ltm.transfer.parse import (
    at_end,
    day,
    items,
    kind_by_heading,
    listed,
    mapping,
    sections,
    text_of,
    when,
)
from ltm.transfer.source import Origin

_FACTS = (".claude/memory/facts.json", "memory/facts.json", "facts.json")
_LISTS = {"decisions", "patterns", "issues"}
_SESSION = re.compile(r"\d{4}-\d{2}-\d{2}_\d{4}")
_PAGES = {"architecture": "architecture", "conventions": "pattern", "project": "fact"}
_STATE = re.compile(r"\s*[:–—-]\s*\(?(open|resolved)\)?\s*\Z", re.IGNORECASE)
_BULLET, _NOTE, _ROLLED = "a bullet", "a session note", "memory.md"
"""Where an item that is in no list of facts comes from."""
_FILES = "\n\nFiles: "


def finds(origin: Origin) -> bool:
    """Whether there is any of it."""
    return bool(_facts(origin) or _sessions(origin) or _rolling(origin))


def read(origin: Origin, kinds: Kinds) -> Iterator[Item]:
    """What was noted, each thing once: facts come from the lists of session notes, are recorded
    again whenever a note is, and a session has a note and a part of the rolling file.

    An issue that a later note calls resolved is resolved.
    """
    found = list(_read(origin, kinds))
    said = sorted((each for each in found if each.state), key=lambda each: str(each.created))
    last = {_claim(each): each.state for each in said}
    facts = {(kinds.parse(each.kind), _claim(each)) for each in found if each.word in _LISTS}
    notes = {each.created for each in found if each.word == _NOTE}
    rolled: dict[datetime | None, list[str]] = {}
    for each in found:
        if each.word == _ROLLED and each.created in notes and _SESSION.match(each.title):
            rolled.setdefault(each.created, []).append(each.text)
    met = set[tuple[str, str, str]]()
    for each in found:
        kind, claim = kinds.parse(each.kind), _claim(each)
        known = (kind.name, claim, each.reason)
        if (
            (each.word == _BULLET and (kind, claim) in facts)
            or (each.word in _LISTS and known in met)
            or (each.word == _ROLLED and each.text in rolled.get(each.created, ()))
        ):
            continue
        met.add(known)
        if each.word == _NOTE:
            more = [text for text in rolled.get(each.created, ()) if text not in each.text]
            each = replace(each, text="\n\n".join((*more, each.text)))
        state = last.get(claim) if kind.states else None
        yield replace(each, state=state) if state else each


def _claim(item: Item) -> str:
    """What an item says, however it is set, without the files that a fact may name."""
    return " ".join(item.text.partition(_FILES)[0].split())


def _read(origin: Origin, kinds: Kinds) -> Iterator[Item]:
    facts, sessions, rolling = _facts(origin), _sessions(origin), _rolling(origin)
    if facts:
        yield from _recorded(origin, facts)
    if sessions:
        for path in origin.files(sessions, ".md"):
            yield from _session(origin, path, origin.text(path) or "", kinds)
        archive = os.path.join(sessions, "archive")
        for path in origin.files(archive, ".md") if os.path.isdir(archive) else ():
            for note in re.split(r"\n\n---\n\n", origin.text(path) or ""):
                yield from _session(origin, path, note, kinds)
    if rolling:
        yield from _rolled(origin, rolling)
    for name, kind in _PAGES.items():
        page = origin.find(f".claude/memory/{name}.md")
        text = (origin.text(page) or "").strip() if page else ""
        if page and text:
            yield Item(
                text=text,
                path=page,
                kind=kind,
                word=f"{name}.md",
                legacy_id=f"{name}.md",
                created=origin.modified(page),
            )


def _recorded(origin: Origin, path: str) -> Iterator[Item]:
    document = mapping(origin.json(path))
    for name in sorted(document.keys() & _LISTS):
        for number, entry in enumerate(items(document[name]), start=1):
            fact = mapping(entry)
            content = text_of(fact.get("content")).strip()
            reason = text_of(fact.get("reason"))
            if reason.startswith("//"):  # it was split within an address
                content, reason = _split(f"{content}:{reason}")
            if not content:
                origin.problem(path, f"{name} {number} has no content")
                continue
            if is_placeholder(content):
                continue
            files = listed(fact.get("files"))
            word = fact.get("type")
            tags = (*listed(fact.get("concepts")), *listed([word] if word != "other" else []))
            state = text_of(fact.get("status")).strip().lower()
            yield Item(
                text=content + (f"{_FILES}{', '.join(files)}" if files else ""),
                path=path,
                kind=name,
                word=name,
                legacy_id=text_of(fact.get("id")),
                created=when(fact.get("date")) or origin.modified(path),
                tags=tuple(dict.fromkeys(tags)),
                reason=reason,
                state=state if state in ("open", "resolved") else "",
            )


def _session(origin: Origin, path: str, text: str, kinds: Kinds) -> Iterator[Item]:
    """A session note: what its lists say, and the rest of it as an episode."""
    if not text.strip():
        return
    parts = sections(text)
    heading = next((part.heading for part in parts if part.level == 1), "")
    at = day(heading) or day(os.path.basename(path)) or origin.modified(path)
    summaries = (
        part.text.strip()
        for part in parts
        if part.heading.lower() == "summary" and not is_placeholder(part.text)
    )
    kind, depth = "", 0
    rest: list[str] = []
    for part in parts:
        named = kind_by_heading(part.heading, kinds) if part.heading.lower() in _LISTS else ""
        if named:
            kind, depth = named, part.level
        elif part.level <= depth:
            kind = ""  # a deeper heading only groups the list
        for line, said in part.bullets() if kind else ():
            if not is_placeholder(typed(said)[1]):
                yield _listed(said, kind, kinds, path, line, at)
        left = (part.without_bullets() if kind else part.text).strip()
        if left and not is_placeholder(left):
            titled = part.level > 1 and part.heading.lower() != "summary"
            rest.append(f"{'#' * part.level} {part.heading}\n\n{left}" if titled else left)
    if not rest:
        return
    yield Item(
        text="\n\n".join(rest),
        path=path,
        kind="episode",
        word=_NOTE,
        title=f"Session {heading.removeprefix('Session').strip() or at.date().isoformat()}",
        summary=next(iter(summaries), ""),
        legacy_id=f"session/{at:%Y-%m-%d_%H%M}",
        created=at,
    )


def _listed(said: str, kind: str, kinds: Kinds, path: str, line: int, at: datetime) -> Item:
    tags, said = typed(said)
    state = _STATE.search(said, at_end(said)) if kinds[kind].states else None
    text, reason = (said, "") if kinds[kind].states else _split(said)
    return Item(
        text=text[: state.start()] if state else text,
        path=path,
        line=line,
        kind=kind,
        word=_BULLET,
        created=at,
        tags=tags,
        reason=reason,
        state=state[1].lower() if state else "",
    )


def _split(said: str) -> tuple[str, str]:
    """What and why, at the last ": "; a reason is not required."""
    what, _, why = said.rpartition(": ")
    return (what.strip(), why.strip()) if what.strip() else (said, "")


def _rolled(origin: Origin, path: str) -> Iterator[Item]:
    """The rolling file, by its sections, less those that are another tool's."""
    text = origin.text(path) or ""
    theirs = memory_md.is_theirs(text)
    for part in sections(text, level=2):
        said = part.text.strip()
        if not said or (theirs and part.heading.lower() in ("facts", "episodes", "preferences")):
            continue
        if part.level < 2 and (theirs or len(said.split()) < 4):
            continue
        yield Item(
            text=said,
            path=path,
            line=part.line,
            kind="episode",
            word=_ROLLED,
            title=part.heading,
            created=day(part.heading) or origin.modified(path),
        )


def _facts(origin: Origin) -> str | None:
    path = origin.find(*_FACTS)
    if path is None:
        return None
    head = origin.head(path, 65_536)
    return path if any(f'"{name}"'.encode() in head for name in ("_meta", *_LISTS)) else None


def _sessions(origin: Origin) -> str | None:
    """The folder of session notes; many things are called sessions, but not named like these."""
    folder = origin.folder(".claude/memory/sessions", "memory/sessions", "sessions")
    names = [os.path.basename(path) for path in origin.files(folder, ".md")] if folder else []
    packed = folder is not None and os.path.isdir(os.path.join(folder, "archive"))
    return folder if packed or any(_SESSION.match(name) for name in names) else None


def _rolling(origin: Origin) -> str | None:
    path = origin.find(memory_md.SMALL[0])
    if path is None and (_facts(origin) or _sessions(origin)):
        path = origin.find(*memory_md.SMALL, *memory_md.FILES)
    return path if path and not is_ours(origin.head(path, 65_536)) else None
