"""Keep what a person or an agent asks to remember or corrects, and candidates they confirm.

This is the flow behind `ltm remember` and `store_memory`, `ltm edit` and `update_memory`, and
`ltm review` and `review_candidates`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from typing import Any

from ltm.capture.decide import Candidate, Choice, Outcome, decide, moment_of, replacing, settle
from ltm.capture.provenance import Evidence
from ltm.decisions import TEXT, Add, Applied, Revise, Supersede
from ltm.errors import Refused, WrongUsage
from ltm.kinds import Kinds
from ltm.model import (
    Filter,
    Impact,
    Memory,
    Scope,
    Source,
    Status,
    Stored,
    Trust,
    choice,
    new_id,
    now,
)
from ltm.redact.redact import redact_fields, without_marks
from ltm.state.candidates import DROPPED, KEPT, CandidateRecord, Candidates
from ltm.store.store import Store
from ltm.text.display import one_line
from ltm.text.infer import infer
from ltm.text.sameness import holds, key, same
from ltm.text.sentences import shortened, summary_of, title_of

MAX_TEXT = 200_000
_WANTED = Filter(statuses=(Status.ACTIVE, Status.QUARANTINED))
_PEERS = 30
_REDACTED = (*TEXT, "reason", "tags")
_SHOWN = ("kind", "impact", "scope", "tags", "pinned", "reason", "state", "status", "phase")
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """What is to be remembered; what was left open is None and will be inferred."""

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
    by_person: bool = False
    """Whether a person gave it just now, so that it waits for no one."""
    evidence: Evidence | None = None
    """What the session was given in which this is to be remembered: what only repeats that is the
    word of a tool, no matter who says so."""
    apart: bool = False
    """Keep it as a memory of its own, whatever it resembles."""
    source: Source = field(default_factory=Source)


@dataclass(frozen=True, slots=True)
class RememberResult:
    """What became of a wish."""

    applied: Applied
    choice: Choice
    inferred: tuple[str, ...]
    redacted: tuple[str, ...] = ()
    """The kinds of secrets that were in the wish, and are in no file."""
    copied: bool = False
    """Whether it only repeats what the session was given."""

    @property
    def outcome(self) -> Outcome:
        """Which of the outcomes of `decide` it was."""
        return self.choice.outcome

    @property
    def similar(self) -> tuple[Stored, ...]:
        """The memory it resembles, if it is kept with one it merely resembles."""
        return self.choice.others if self.outcome is Outcome.SIMILAR else ()


def remember(store: Store, wish: RememberRequest, *, at: datetime | None = None) -> RememberResult:
    """Keep a wish as a memory: new, in the place of an old one, or as its confirmation."""
    if wish.apart and wish.replaces.strip():
        raise WrongUsage(
            "a memory cannot replace another one and be kept apart from it", hint="choose one"
        )
    copied = wish.evidence is not None and wish.evidence.is_copied(
        wish.text, wish.title or "", wish.reason
    )
    if copied:
        source = wish.source._replace(trust=Trust.TOOL)
        wish = replace(wish, source=source, by_person=False)
    memory, inferred, secrets = draft(store, wish, at or now())
    is_held = wish.source.trust in store.hold and not wish.by_person
    if is_held and not _is_in_force(store, memory):
        # Until a person approves it, it touches nothing that is in force.
        memory = memory._replace(status=Status.QUARANTINED)
    given = _given(wish)

    def choose() -> Choice:
        if memory.status is Status.QUARANTINED:
            return Choice(Add(memory), Outcome.ADDED)
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
    kept = applied.stored.memory
    # In the place of another memory it keeps what that one was, which then was not inferred.
    taken = {f"{name}={getattr(kept, name)}" for name in ("kind", "impact", "scope")}
    inferred = tuple(
        each for each in inferred if each.startswith("tags=") or each.split(" (")[0] in taken
    )
    return RememberResult(applied, choice, inferred, secrets, copied)


def _is_in_force(store: Store, memory: Memory) -> bool:
    found = store.search(memory.text[:2000], Filter(), _PEERS).items
    return any(same(memory.text, each.stored.memory.text) for each in found)


def _given(wish: RememberRequest) -> tuple[str, ...]:
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
    store: Store, wish: RememberRequest, at: datetime
) -> tuple[Memory, tuple[str, ...], tuple[str, ...]]:
    """The memory a wish describes, what had to be inferred for it, and which secrets it lost."""
    if not wish.text.strip():
        raise WrongUsage("there is nothing to remember", hint='try: ltm remember "some text"')
    _check_length(wish.text)
    texts = {
        "text": wish.text,
        "title": wish.title,
        "reason": wish.reason,
        "tags": tuple(wish.tags),
    }
    fields, secrets = _without_secrets(texts, "text")
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
    state = kind.parse_state(wish.state) if wish.state else kind.first_state
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
        tags=_distinct_tags(wish.tags) or (guess.tags if wish.auto_tag else ()),
        impact=choice(Impact, wish.impact) if wish.impact else guess.impact,
        pinned=wish.pinned,
        difficulty=difficulty,
        reason=wish.reason,
        state=state,
        source=wish.source,
    )
    return memory, said, secrets


@dataclass(frozen=True, slots=True)
class Revision:
    """A memory before and after it was corrected."""

    before: Stored
    after: Stored
    redacted: tuple[str, ...] = ()
    """The kinds of secrets that were in what was given, and are in no file."""

    @property
    def is_empty(self) -> bool:
        """Whether the file is as it was."""
        return self.after.etag == self.before.etag

    @property
    def former_version(self) -> int:
        """The version under which the former text is kept; 0 when the text is as it was."""
        before, after = self.before.memory, self.after.memory
        same = all(getattr(before, name) == getattr(after, name) for name in TEXT)
        return 0 if same else before.version

    @property
    def differences(self) -> tuple[str, ...]:
        """A line for each thing that changed, as `title: old → new`."""
        before, after = self.before.memory, self.after.memory
        lines = [_difference("title", before.title, after.title)]
        if after.content != before.content:
            lines.append("text: changed")
        elif after.summary != before.summary:
            lines.append(_difference("summary", before.summary, after.summary))
        for name in _SHOWN:
            lines.append(_difference(name, getattr(before, name), getattr(after, name)))
        lines.append(_difference("said by", before.source.trust, after.source.trust))
        return tuple(filter(None, lines))


def revise(
    store: Store, stored: Stored, changes: Mapping[str, Any], *, edited: bytes = b""
) -> Revision:
    """Change fields of a memory; `edited` is its file as a person left it in an editor."""
    check_status(stored.memory)
    clean, kinds = _clean(changes)
    # What was typed around the fields may hold the secret too, so the file is written again.
    decision = Revise(stored.memory.id, clean, stored.etag, b"" if kinds else edited)
    return Revision(stored, store.apply(decision).stored, kinds)


def in_scope(store: Store, stored: Stored, scope: Scope) -> Stored:
    """A memory's successor in another scope; it is kept in the vault it leaves, and marked.

    A file that others may have edited is never taken out of a repository.
    """
    at, former = now(), stored.memory
    newer = former._replace(
        id=new_id(at),
        scope=scope,
        updated=at,
        previous="",
        conflicts=(),
        signature="",
        shown_signature="",
    )
    return store.apply(Supersede((former.id,), newer, expected=stored.etag)).stored


def approve(store: Store, stored: Stored) -> Stored:
    """Put a memory in force that waits for approval."""
    change = {"status": Status.ACTIVE}
    return store.apply(Revise(stored.memory.id, change, expected=stored.etag)).stored


def check_waits(stored: Stored) -> None:
    """Refuse a memory that does not wait for approval, or is not the user's to approve yet."""
    if not stored.trusted:
        raise Refused(
            f"{stored.memory.id} came with this repository, which is not trusted yet",
            path=stored.path,
            hint="look at them with 'ltm list', then type: ltm trust",
        )
    if stored.memory.status is not Status.QUARANTINED:
        raise Refused(
            f"{stored.memory.id} does not wait for approval: it is {stored.memory.status}"
        )


def check_status(memory: Memory) -> None:
    """Refuse a memory that has no text to correct."""
    if memory.status is Status.FORGOTTEN:
        raise Refused(f"{memory.id} was forgotten", hint="restore it first, then change it")


def changes_of(memory: Memory, given: Mapping[str, Any], kinds: Kinds) -> dict[str, Any]:
    """The fields that were given in words, as values; a clear error for one that is not valid."""
    changes: dict[str, Any] = dict(given)
    if "title" in given:
        changes["title"] = one_line(given["title"])
        if not changes["title"]:
            raise WrongUsage("a title cannot be empty", hint="give it a few words, or leave it out")
    if "content" in given:
        _check_length(given["content"])
        changes["content"] = given["content"].strip("\n").rstrip()
        if not changes["content"]:
            raise WrongUsage("a text cannot be empty", hint="to be rid of the memory, forget it")
    if "impact" in given:
        changes["impact"] = choice(Impact, given["impact"])
    if "tags" in given:
        changes["tags"] = _distinct_tags(given["tags"])
    if "kind" in given:
        kind = kinds.parse(given["kind"])
        changes["kind"] = kind.name
        if memory.state not in kind.states:
            changes.setdefault("state", kind.first_state)
    if given.get("state"):
        kind = kinds[changes.get("kind", memory.kind)]
        changes["state"] = kind.parse_state(given["state"])
    return changes


def _check_length(text: str) -> None:
    """Refuse a text that is too long for a memory."""
    if len(text) > MAX_TEXT:
        raise Refused(
            f"the text has {len(text):,} characters; a memory holds at most {MAX_TEXT:,}",
            hint="keep the point, and say in which file the rest is",
        )


def _without_secrets(given: Mapping[str, Any], text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
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


def _distinct_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """The tags as they were typed, each once, on one line."""
    return tuple(dict.fromkeys(clean for tag in tags if (clean := one_line(tag).strip(" ,"))))


def _clean(changes: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The changes with every secret in their texts redacted, and the kinds of what was there."""
    texts = {name: changes[name] for name in _REDACTED if name in changes}
    clean, kinds = _without_secrets(texts, "content")
    for name, make in (("title", title_of), ("summary", summary_of)):
        if kinds and "content" in texts and texts.get(name) == make(texts["content"]):
            clean[name] = make(clean["content"])  # so that it still follows from the text
    return {**changes, **clean}, kinds


def _difference(name: str, before: Any, after: Any) -> str:
    return "" if before == after else f"{name}: {_shown(before)} → {_shown(after)}"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    words = ", ".join(value) if isinstance(value, tuple) else str(value)
    return shortened(one_line(words), _LONGEST) or "none"


_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_ID = 5
_NEAR = 20


def note_likely(
    store: Store, candidates: Candidates, likely: Iterable[Candidate], now: datetime
) -> None:
    """Keep what a session likely taught, unless it says where the work stands or is known."""
    likely = list(likely)
    withdrawn = {(each.source.session, each.withdraws) for each in likely if each.withdraws}
    if withdrawn:
        waiting = candidates.waiting()
        candidates.decide(
            [each.id for each in waiting if (each.session, each.lines) in withdrawn], DROPPED
        )
    lasting = [each for each in likely if not (each.fleeting or store.kinds[each.kind].single)]
    records = [
        CandidateRecord(
            _id_of(each.text),
            each.text,
            each.kind,
            str(each.impact or ""),
            str(each.scope),
            str(each.source.trust),
            each.source.session,
            each.source.lines,
            round(1000 * each.weight),
            int(moment_of(each.at, now).timestamp()),
        )
        for each in lasting
        if not _is_known(store, each.text)
    ]
    if records:
        candidates.add(records)


def settle_known(candidates: Candidates, memories: Iterable[Memory]) -> None:
    """Take out what new memories say: it was said more surely since."""
    texts = [each.text for each in memories if each.status is Status.ACTIVE]
    known = [
        each.id for each in candidates.waiting() if any(holds(text, each.text) for text in texts)
    ]
    if known:
        candidates.decide(known, KEPT)


def keep_candidate(
    store: Store,
    candidates: Candidates,
    record: CandidateRecord,
    *,
    by: str,
    auto_tag: bool,
    by_person: bool = False,
) -> RememberResult:
    """Make a memory of a candidate; `by` is the command or tool that confirmed it."""
    wish = RememberRequest(
        text=record.text,
        kind=record.kind if record.kind in store.kinds else None,
        impact=record.impact or None,
        scope=record.scope or None,
        auto_tag=auto_tag,
        source=Source(choice(Trust, record.trust), record.session, record.lines, by),
        by_person=by_person,
    )
    done = remember(store, wish)
    candidates.decide([record.id], KEPT)
    return done


def drop_candidates(candidates: Candidates, records: Iterable[CandidateRecord]) -> None:
    """Refuse candidates: they are neither offered nor noted again."""
    candidates.decide([each.id for each in records], DROPPED)


def _id_of(text: str) -> str:
    """A short id that what says the same has too."""
    digest = blake2b(" ".join(key(text)).encode("utf-8", "replace"), digest_size=8).digest()
    number = int.from_bytes(digest, "big")
    return "".join(_ALPHABET[number >> 5 * place & 31] for place in range(_ID))


def _is_known(store: Store, text: str) -> bool:
    """Whether a memory says it already, or did before it was forgotten or replaced."""
    found = store.search(text[:2_000], Filter(statuses=tuple(Status)), _NEAR).items
    return any(holds(each.stored.memory.text or each.stored.memory.title, text) for each in found)
