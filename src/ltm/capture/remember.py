"""A person or an agent says what to remember: infer what was not said, decide, keep.

Owns the flow behind `ltm remember` and `store_memory`. May import `core` and the store port.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from ltm.capture.decide import Choice, Outcome, decide, replacing
from ltm.capture.settle import settle
from ltm.core.decision import Applied
from ltm.core.errors import Refused, WrongUsage
from ltm.core.infer import infer
from ltm.core.model import (
    Filter,
    Impact,
    Memory,
    Scope,
    Source,
    Status,
    Stored,
    choice,
    new_id,
    now,
)
from ltm.core.redact import redact_fields, without_marks
from ltm.core.screen import one_line
from ltm.core.titles import summary_of, title_of
from ltm.storage.store import Store

MAX_TEXT = 200_000
_WANTED = Filter(statuses=(Status.ACTIVE, Status.QUARANTINED))
_PEERS = 30


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants remembered; what they left open is None and will be inferred."""

    text: str
    title: str | None = None
    kind: str | None = None
    impact: str | None = None
    scope: str | None = None
    tags: Sequence[str] = ()
    auto_tag: bool = True
    difficulty: float | None = None
    pinned: bool = False
    reason: str = ""
    state: str = ""
    replaces: str = ""
    """Id of the memory this one takes the place of, shortened or not."""
    apart: bool = False
    """Keep it as a memory of its own, whatever it resembles."""
    source: Source = field(default_factory=Source)


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a wish."""

    applied: Applied
    choice: Choice
    inferred: tuple[str, ...]
    redacted: tuple[str, ...] = ()
    """The kinds of secrets that were in the wish, and are in no file."""

    @property
    def outcome(self) -> Outcome:
        """Which of the outcomes of `decide` it was."""
        return self.choice.outcome

    @property
    def similar(self) -> tuple[Stored, ...]:
        """The memory it resembles, if it is kept with one it merely resembles."""
        return self.choice.others if self.outcome is Outcome.SIMILAR else ()


def remember(store: Store, wish: Wish, *, at: datetime | None = None) -> Remembered:
    """Keep a wish as a memory: new, in the place of an old one, or as its confirmation."""
    if wish.apart and wish.replaces.strip():
        raise WrongUsage(
            "a memory cannot replace another one and be kept apart from it", hint="choose one"
        )
    memory, inferred, secrets = draft(store, wish, at or now())
    given = _given(wish)

    def choose() -> Choice:
        if wish.replaces.strip():
            old = store.read(wish.replaces.strip())
            return replacing(memory, old._replace(etag=""), given)
        peers = store.search(memory.text[:2000], _WANTED, _PEERS)
        found = (each.stored for each in peers.items)
        return decide(memory, found, store.kinds, given=given, apart=wish.apart)

    if wish.replaces.strip():
        store.read(wish.replaces.strip())  # an id that is not there is an error, not a retry
    settled = settle(store, memory, choose)
    assert settled is not None  # a wish is always something to do
    applied, choice = settled
    return Remembered(applied, choice, inferred, secrets)


def _given(wish: Wish) -> tuple[str, ...]:
    """The fields of a memory that the wish says."""
    said = {
        "title": wish.title and wish.title.strip(),
        "kind": wish.kind,
        "impact": wish.impact,
        "tags": wish.tags,
        "difficulty": wish.difficulty is not None,
        "pinned": wish.pinned,
        "reason": wish.reason,
        "state": wish.state,
    }
    return tuple(name for name, value in said.items() if value)


def draft(
    store: Store, wish: Wish, at: datetime
) -> tuple[Memory, tuple[str, ...], tuple[str, ...]]:
    """The memory a wish describes, what had to be inferred for it, and which secrets it lost."""
    if not wish.text.strip():
        raise WrongUsage("there is nothing to remember", hint='try: ltm remember "some text"')
    check_length(wish.text)
    texts = {
        "text": wish.text,
        "title": wish.title,
        "reason": wish.reason,
        "tags": tuple(wish.tags),
    }
    fields, secrets = without_secrets(texts, "text")
    wish = replace(wish, **fields)
    text = wish.text.strip("\n").rstrip()
    guess = infer(without_marks(text), store.kinds, title=without_marks(wish.title or ""))
    kind = store.kinds.parse(wish.kind) if wish.kind else store.kinds[guess.kind]
    given = {
        "kind": wish.kind,
        "impact": wish.impact,
        "scope": wish.scope,
        "tags": wish.tags or (None if wish.auto_tag else "none"),
    }
    said = tuple(each for each in guess.said if not given.get(each.split("=")[0]))
    title = one_line(wish.title) if wish.title and wish.title.strip() else title_of(text)
    difficulty = 0.0 if wish.difficulty is None else wish.difficulty
    if not 0.0 <= difficulty <= 1.0:
        raise WrongUsage("difficulty is a number from 0 to 1", hint="try: --difficulty 0.7")
    state = kind.states[0] if kind.states else ""
    if wish.state:
        state = kind.parse_state(wish.state)
    memory = Memory(
        id=new_id(at),
        kind=kind.name,
        title=title,
        summary=summary_of(text),
        content=text,
        created=at,
        updated=at,
        confirmed=at,
        scope=choice(Scope, wish.scope) if wish.scope else guess.scope,
        tags=distinct_tags(wish.tags) or (guess.tags if wish.auto_tag else ()),
        impact=choice(Impact, wish.impact) if wish.impact else guess.impact,
        pinned=wish.pinned,
        difficulty=difficulty,
        reason=wish.reason,
        state=state,
        source=wish.source,
    )
    return memory, said, secrets


def check_length(text: str) -> None:
    """Refuse a text that is too long for a memory."""
    if len(text) > MAX_TEXT:
        raise Refused(
            f"the text has {len(text):,} characters; a memory holds at most {MAX_TEXT:,}",
            hint="keep the point, and say in which file the rest is",
        )


def without_secrets(given: Mapping[str, Any], text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Fields with every secret and private passage redacted, and the kinds of what was there.

    Refused when nothing else was in the field named `text`.
    """
    fields, kinds = redact_fields(given)
    if kinds and text in fields and not without_marks(fields[text]).strip():
        raise Refused(
            f"there is nothing in the text but what is not kept ({', '.join(kinds)})",
            hint="say what it is for and where it is kept, without the secret itself",
        )
    return fields, kinds


def distinct_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """The tags somebody typed, each once, on one line."""
    return tuple(dict.fromkeys(clean for tag in tags if (clean := one_line(tag).strip(" ,"))))
