"""Memories and texts for property tests: everything a person, a tool or an enemy might type."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from hypothesis import strategies as st

from ltm.kinds import Kinds
from ltm.model import Impact, Memory, Phase, Scope, Source, Status, Trust
from ltm.text.sentences import summary_of, title_of
from ltm.vault.codec import to_bytes

KINDS = Kinds()

_NASTY = (
    *("no", "on", "Off", "yes", "y", "true", "null", "~", "1.10", "1e3", "0x1F", "0o7", ".inf"),
    *(
        "2026-02-30",
        "2026-01-01T00:00:00Z",
        "12:30:45",
        "1_000",
        "-",
        "- a",
        "?",
        "? a",
        "!t",
        "&a",
    ),
    *("*a", "|", ">", "%YAML", "@", "`x`", "---", "...", "<<", "<<:", "=", "\\", "\\n", "$&", "$'"),
    *('"quoted"', "'single'", 'He said "hi": 42', "a:b", "a: b", "a:", ":a", "a #b", "#b", "a#b"),
    *(" lead", "trail ", "\ttab", "a\tb", "[x]", "{y}", "a, b", "A?", "a\u2028b", "\ufeffx"),
    *("Ελλάδα", "日本語", "🎇 🎇", "שלום", "مرحبا", "e\u0301", "\x85", "\x7f", "\ufffe", "\xa0"),
)
_LINES = (
    "## Summary",
    "## Content",
    "## content  ",
    "\\## Content",
    "# Title",
    "---",
    "<<<<<<< HEAD",
    "=======",
    ">>>>>>> branch",
    "\\<<<<<<< HEAD",
    "```",
    "",
    " ",
    "\r",
    "- item: with # signs",
    "One sentence. Another sentence!",
    "日本語の文。次の文。",
)

letters = st.characters(codec="utf-8", exclude_characters="\0")
lines = st.one_of(st.sampled_from(_LINES), st.sampled_from(_NASTY), st.text(letters, max_size=20))
texts = st.one_of(
    st.lists(lines, max_size=8).map("\n".join),
    st.lists(lines, max_size=5).map("\r\n".join),
    st.text(letters, max_size=60),
)
words = st.one_of(st.sampled_from(_NASTY), st.text(letters, max_size=30))
titles = words.map(lambda text: text.replace("\n", "").replace("\r", "")).filter(str.strip)
ids = st.from_regex(r"mem_[0-9a-z]{17}", fullmatch=True)
moments = st.datetimes(
    min_value=datetime(1970, 1, 1), max_value=datetime(2199, 1, 1), timezones=st.just(UTC)
).map(lambda moment: moment.replace(microsecond=0))
shares = st.floats(0, 1)
counts = st.integers(1, 10**9)
word_lists = st.lists(words, max_size=4).map(tuple)
id_lists = st.lists(ids, max_size=3).map(tuple)


def untitled(made: Memory) -> Memory:
    """A memory whose title and summary follow from its text, as those of most memories do."""
    title = title_of(made.content or made.summary) or made.title
    return made._replace(title=title, summary=summary_of(made.content))


titled = st.builds(
    Memory,
    id=ids,
    kind=st.sampled_from([kind.name for kind in KINDS]),
    title=titles,
    summary=texts,
    content=texts,
    created=moments,
    updated=moments,
    confirmed=moments,
    scope=st.sampled_from(Scope),
    tags=word_lists,
    impact=st.sampled_from(Impact),
    pinned=st.booleans(),
    difficulty=shares,
    confidence=shares,
    observations=counts,
    phase=st.sampled_from(Phase),
    status=st.sampled_from(Status),
    version=counts,
    supersedes=id_lists,
    superseded_by=st.one_of(st.just(""), ids),
    merged_from=id_lists,
    previous=st.one_of(st.just(""), ids),
    links=id_lists,
    conflicts=id_lists,
    distinct=id_lists,
    source=st.builds(Source, trust=st.sampled_from(Trust), session=words, lines=words, tool=words),
    reason=texts,
    state=st.sampled_from(("", "open", "resolved")),
    legacy_id=words,
    signature=st.one_of(st.just(""), st.from_regex(r"[0-9a-f]{64}", fullmatch=True)),
    shown_signature=st.one_of(st.just(""), st.from_regex(r"[0-9a-f]{64}", fullmatch=True)),
)
memories = st.one_of(titled, titled.map(untitled))


def older_file(made: Memory) -> bytes:
    """The file of a memory as it was written while every title and summary stood in its file."""
    front = to_bytes(made._replace(title="-", summary="", content="")).decode()
    titled = front.replace('title: "-"', f"title: {json.dumps(made.title)}")
    body = f"\n## Summary\n\n{made.summary}\n\n## Content\n\n{made.content}\n"
    return f"{titled}{body}".encode()


def memory(**changes: object) -> Memory:
    """A plain memory, changed where the test says so."""
    made = datetime(2026, 11, 15, 16, 22, tzinfo=UTC)
    values: dict[str, object] = {
        "id": "mem_01hxyzabc12345678",
        "kind": "decision",
        "title": "Use WAL for the index",
        "summary": "WAL keeps readers going.",
        "content": "The rollback journal blocked every reader.",
        "created": made,
        "updated": made,
        "confirmed": made,
    }
    return Memory(**(values | changes))  # type: ignore[arg-type]
