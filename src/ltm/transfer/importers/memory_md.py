"""MEMORY.md with Facts, Episodes and Preferences, the stashes it is made from, and its block.

`.claude/memory/MEMORY.md` (later `.claude/remember`), `.claude/stash/*.md`, what stands in
CLAUDE.md between `<!-- MEMORY:START -->` and `<!-- MEMORY:END -->`, and what a person wrote into
`antigen_review.md`. The block is a cut-down copy, read only where MEMORY.md (or memory-mcp's
`state.json`) is gone. What LTM wrote there is never read. Nothing here has an id, so it is known by
its text; stashes by their names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from ltm.files.block import TARGETS, find_block, is_ours
from ltm.kinds import Kinds
from ltm.transfer.item import Item
from ltm.transfer.parse import Section, at_end, day, front, kind_by_heading, sections
from ltm.transfer.source import Origin

FILES = (
    ".claude/memory/MEMORY.md",
    ".claude/remember/MEMORY.md",
    "memory/MEMORY.md",
    "MEMORY.md",
)
SMALL = (".claude/memory/memory.md", "memory/memory.md", "memory.md")
"""On some disks this is the same file; it belongs to the tool whose headings it has."""

_REVIEWS = tuple(
    f"{folder}/antigen_review.md{former}"
    for folder in (".claude/friction", ".claude/remember/friction", ".aurora/friction", ".")
    for former in ("", ".former")
)
_INSTRUCTION = "inhibitory instruction"
_SECTIONS = {"facts", "episodes", "preferences", "recent episodes", "antigens"}
_TIERS = {"high": 5, "medium": 3, "low": 1}
_SURE = {"low": 0.5}
"""What is only a guess there is told as one."""
_TIMES = re.compile(
    r"\([^()]*?(?<!\d)(\d{1,5})\s*(?:(/)\s*\d{1,5}|observations?|sessions?|obs|times|x)\b[^()]*\)\s*\Z"
)
_FENCED = re.compile(r"\s*(?:#|`{3}|---)")
_MORE = re.compile(r"_?(?:\.{3}|…)\s*and \d+ more", re.IGNORECASE)
_TAGS = re.compile(r"\s+\[([^\[\]]{1,120})\]\s*\Z")


def finds(origin: Origin) -> bool:
    return bool(
        memory_file(origin) or _stash(origin) or any(_blocks(origin)) or any(_instructions(origin))
    )


def read(origin: Origin, kinds: Kinds) -> Iterator[Item]:
    memory = memory_file(origin)
    if memory:
        text = origin.text(memory) or ""
        yield from sectioned(text, memory, origin.modified(memory), kinds)
    for path in origin.files(folder, ".md") if (folder := _stash(origin)) else ():
        yield from _stashed(origin, path)
    for path, text, line in () if memory else _blocks(origin):
        for item in sectioned(text, path, origin.modified(path), kinds, line):
            if not _MORE.match(item.text):
                yield _tagged(item)
    yield from _instructions(origin)


def memory_file(origin: Origin) -> str | None:
    """The file with these headings, under either of its names."""
    for name in (*FILES, *SMALL):
        path = origin.find(name)
        if path and is_theirs(origin.head(path, 65_536).decode("utf-8", "replace")):
            return path
    return None


def is_theirs(text: str) -> bool:
    """Whether a text has the headings of this tool, and is not one of our views."""
    if is_ours(text.encode("utf-8", "replace")):
        return False
    found = {each.heading.lower() for each in sections(text)} & _SECTIONS
    return "by /remember" in text or len(found) > 1


def sectioned(
    text: str, path: str, at: datetime, kinds: Kinds, first_line: int = 1
) -> Iterator[Item]:
    """What the sections of a text hold whose headings name a kind."""
    kind = tier = ""
    depth = 0
    for section in sections(text, first_line):
        named = kind_by_heading(section.heading, kinds)
        if named:
            kind, depth, tier = named, section.level, ""
        elif section.level <= depth:
            kind = ""
        if not kind:
            continue
        tiered = bool(kinds[kind].tiers)
        if not named and kinds[kind].newest:  # what is told by the day has a heading for each
            yield _episode(section, kind, path, at)
            continue
        if not named:
            tier = section.heading.split()[0].lower()
        for line, said in section.bullets():
            times = _TIMES.search(said, at_end(said)) if tiered else None
            seen = int(times[1]) if times else 0
            if times is None or times[2]:  # 4 of 7 is not a number of conversations
                seen = max(seen, _TIERS.get(tier, 1))
            yield Item(
                text=said,
                path=path,
                line=line,
                kind=kind,
                word="a bullet",
                created=at,
                confidence=_SURE.get(tier, 1.0) if tiered else 1.0,
                observations=seen,
            )


def _tagged(item: Item) -> Item:
    """A line of memory-mcp's block ends with its tags."""
    tags = _TAGS.search(item.text, at_end(item.text))
    if tags is None:
        return item
    parts = tuple(tag.strip() for tag in tags[1].split(","))
    return replace(item, text=item.text[: tags.start()], tags=parts)


def _episode(section: Section, kind: str, path: str, at: datetime) -> Item:
    undated = re.sub(r"\d{4}-\d{2}-\d{2}(?:[T_ ]\d{2}:?\d{2})?", "", section.heading)
    return Item(
        text=section.text or section.heading,
        path=path,
        line=section.line,
        kind=kind,
        word="an episode",
        title=undated.strip(" \t:–—-()[]") or section.heading,
        created=day(section.heading) or at,
    )


def _stash(origin: Origin) -> str | None:
    names = {".claude": "stash", "stash": "."}
    folder = origin.folder(names.get(os.path.basename(origin.path), ".claude/stash"))
    return folder if folder and origin.files(folder, ".md") else None


def _stashed(origin: Origin, path: str) -> Iterator[Item]:
    text = origin.text(path)
    if not text or not text.strip():
        return
    note = front(text)
    yield Item(
        text=note.body.strip("\n") or text,
        path=path,
        kind="episode",
        word="a stash",
        title=os.path.basename(path).removesuffix(".md"),
        legacy_id=f"stash/{os.path.basename(path)}",
        created=day(note.text("timestamp", "date", "created"))
        or day(text[:2000])
        or day(os.path.basename(path))
        or origin.modified(path),
    )


def _instructions(origin: Origin) -> Iterator[Item]:
    """What a person wrote about the candidates of a friction analysis, each once.

    A candidate without one says only what surrounded a failure, and `ltm friction` finds
    that in the transcripts.
    """
    for path in filter(None, map(origin.find, _REVIEWS)):
        at, met = origin.modified(path), dict[str, Item]()
        for section in sections(origin.text(path) or ""):
            if section.heading.lower() != _INSTRUCTION:
                at = day(section.text[:500]) or at
                continue
            lines = (line.strip() for line in section.body if not _FENCED.match(line))
            text = " ".join(line for line in lines if line)
            if not text:
                continue
            known = met.get(text)
            met[text] = Item(
                text=text,
                path=path,
                line=section.line,
                kind="preference",
                word="an instruction",
                created=at,
                observations=known.observations + 1 if known else 1,
            )
        yield from met.values()


def _blocks(origin: Origin) -> Iterator[tuple[str, str, int]]:
    """The files with a block, what stands in it, and the line on which that begins."""
    if origin.find(".memory/state.json"):
        return
    for name in TARGETS:
        path = origin.find(name)
        found = find_block(origin.head(path, 1024 * 1024)) if path else None
        if path and found and not found.is_empty and not is_ours(found.data):
            yield path, b"\n".join(found.inner).decode("utf-8", "replace"), found.line + 1
