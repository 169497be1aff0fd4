"""The changes that can happen to memories, and what each makes of a memory.

Every change in the product is one of these values handed to `Store.apply`, and only there. It is
evaluated against the memory as it is at that moment, under the store's lock, so two deciders never
overwrite each other; `expected` asks for compare-and-swap on top: the change happens only if the
memory still has the etag the decider saw.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, TypeAlias, get_args

from ltm.errors import Refused
from ltm.kinds import Kinds
from ltm.model import (
    Memory,
    Phase,
    Source,
    Status,
    Stored,
    Trust,
    as_record,
    from_plain,
    from_record,
    is_id,
    plain,
)
from ltm.policy import text_in_phase
from ltm.text.sentences import opens_with, summary_of, title_of


@dataclass(frozen=True, slots=True)
class Add:
    """A memory that was not there."""

    memory: Memory


@dataclass(frozen=True, slots=True)
class Copy:
    """A memory as it is elsewhere, with the versions that are kept of it there."""

    memory: Memory
    kept: tuple[Memory, ...] = ()
    over: str = ""
    """Etag of the memory here whose place it takes; '' when none of its id may be here."""


@dataclass(frozen=True, slots=True)
class Adopt:
    """Memories from elsewhere, taken as they are, in every field, even `updated` and `version`.

    Many at once, because an import brings thousands. All are checked before the first is
    written, and each is written whole; only a disk that fails in between leaves some of them out.
    """

    copies: tuple[Copy, ...]


@dataclass(frozen=True, slots=True)
class Revise:
    """New values for some fields; the former text is archived when the text changes."""

    id: str
    changes: Mapping[str, Any]
    expected: str = ""
    edited: bytes = b""
    """The file as a person edited it, if so: the lines no field stands for are taken from it."""


@dataclass(frozen=True, slots=True)
class Reinforce:
    """The same fact was seen again."""

    id: str
    source: Source = field(default_factory=Source)
    expected: str = ""
    wording: Memory | None = None
    """How it was said this time; other words than the memory's own are kept as a version."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Values that were given with it."""


@dataclass(frozen=True, slots=True)
class Supersede:
    """A newer memory takes the place of older ones, which are kept and marked."""

    ids: tuple[str, ...]
    by: Memory
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Contradict:
    """A newer memory says otherwise: all are kept, name each other, and are trusted less."""

    ids: tuple[str, ...]
    by: Memory
    """A new memory, or one that is stored by now."""
    etags: Mapping[str, str] = field(default_factory=dict)
    """The etag each of the older ones must still have, by id."""


@dataclass(frozen=True, slots=True)
class Settle:
    """The end of a conflict: one memory holds and the others give way, or all of them hold."""

    id: str
    others: tuple[str, ...]
    all_hold: bool = False


@dataclass(frozen=True, slots=True)
class Merge:
    """Several memories say the same: one takes the others in, which are kept and marked."""

    into: str
    ids: tuple[str, ...]
    content: str = ""
    """The text of the one, if it is to gain something the others said; '' leaves it."""
    etags: Mapping[str, str] = field(default_factory=dict)
    """The etag each of them must still have, by id."""


@dataclass(frozen=True, slots=True)
class Forget:
    """Out of sight: a tombstone stays, the text goes to the archive."""

    id: str
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Reduce:
    """More or less of its text: the original is kept, and every phase is made from it."""

    id: str
    phase: Phase
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Restore:
    """Back in force, with the text it had, or the text of an older version."""

    id: str
    version: int = 0
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Sign:
    """Vouched for as it is now, by a person who looked at it."""

    id: str
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Purge:
    """Gone for good: no byte of it is kept anywhere in the store."""

    id: str
    expected: str = ""


Decision: TypeAlias = (
    Add
    | Adopt
    | Revise
    | Reinforce
    | Supersede
    | Contradict
    | Settle
    | Merge
    | Forget
    | Reduce
    | Restore
    | Sign
    | Purge
)


@dataclass(frozen=True, slots=True)
class Applied:
    """What a decision did."""

    action: str
    stored: Stored
    superseded: tuple[str, ...] = ()


# -- decisions as JSON -----------------------------------------------------------------------------

_HERE = ("expected", "etags", "over", "edited")
"""What a decision says about the files of one machine, and does not travel with it."""


def decision_record(decision: Decision) -> dict[str, Any]:
    """A decision as JSON values, for another machine: without what it says about files here."""
    said = {each.name: getattr(decision, each.name) for each in fields(decision)}
    return {"decision": type(decision).__name__.lower(), **_sent(said)}


def _sent(said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value_sent(value) for name, value in said.items() if name not in _HERE}


def _value_sent(value: Any) -> Any:
    if isinstance(value, Memory):
        return as_record(value)
    if isinstance(value, Copy):
        return as_record(value.memory)
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, tuple) and not isinstance(value, Source):
        return [_value_sent(each) for each in value]
    return plain(value)


def decision_from(record: Mapping[str, Any]) -> Decision:
    """The decision that a record describes; `ValueError` when it describes none."""
    kind = _BY_NAME.get(str(record.get("decision")))
    if kind is None:
        raise ValueError(f"'{str(record.get('decision'))[:40]}' is not a decision")
    names = {each.name for each in fields(kind)} - set(_HERE)
    said = {name: _received(name, value) for name, value in record.items() if name in names}
    try:
        return kind(**said)
    except TypeError as error:
        raise ValueError(f"not a whole decision: {error}") from error


def _received(name: str, value: Any) -> Any:
    """A field of a decision, checked, because it comes from another machine."""
    expected = _RECEIVED[name]
    if name == "wording" and value is None:
        return None
    if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
        raise ValueError(f"{name} of a decision is not {expected.__name__}")
    if name in ("memory", "by", "wording"):
        return memory_from(value)
    if name == "copies":
        return tuple(Copy(memory_from(each)) for each in value)
    if name == "changes":
        return {each: _sound(each, from_plain(each, given)) for each, given in value.items()}
    if name in ("source", "phase"):
        return _sound(name, from_plain(name, value))
    return tuple(map(str, value)) if expected is list else value


def memory_from(record: Any) -> Memory:
    """The memory of a record from another machine, every field checked; `ValueError` if unsound."""
    if not isinstance(record, Mapping):
        raise ValueError("the record of a memory is not an object")
    memory = from_record(record)
    for name, value in zip(Memory._fields, memory, strict=True):
        _sound(name, value)
    return memory


def _sound(name: str, value: Any) -> Any:
    """The value of a field, if it is one that a file may hold."""
    usual = Memory._field_defaults.get(name, "")
    if isinstance(value, tuple):
        is_sound = all(isinstance(each, str) for each in value)
        if isinstance(value, Source):
            is_sound = is_sound and isinstance(value.trust, Trust)
    elif isinstance(usual, bool | str) or isinstance(value, bool):
        moments = ("created", "updated", "confirmed")
        is_sound = isinstance(value, datetime if name in moments else type(usual))
    else:
        number = isinstance(value, int | float)
        is_sound = number and 0 <= value <= (1 if isinstance(usual, float) else 1_000_000_000)
        is_sound = is_sound and (isinstance(usual, float) or isinstance(value, int))
    if name == "id":
        is_sound = is_sound and is_id(value)
    if name == "kind":
        is_sound = is_sound and value in _KINDS
    if not is_sound:
        raise ValueError(f"{name} of a memory has no sound value")
    return value


_BY_NAME: Mapping[str, type[Decision]] = {
    kind.__name__.lower(): kind for kind in get_args(Decision)
}
_KINDS = frozenset(kind.name for kind in Kinds())
_RECEIVED: Mapping[str, type[Any]] = {
    **dict.fromkeys(("memory", "by", "wording", "changes", "source"), dict),
    **dict.fromkeys(("copies", "ids", "others"), list),
    **dict.fromkeys(("id", "into", "content"), str),
    **dict.fromkeys(("version", "phase"), int),
    "all_hold": bool,
}
"""What each field of a decision is in JSON."""

_FIXED = frozenset({"id", "created", "version", "updated", "scope"})
_FIELDS = frozenset(Memory._fields)
TEXT = ("title", "summary", "content")

DISPUTED = 0.6
"""The most a memory is believed while another one says otherwise."""


def revised(
    memory: Memory, changes: Mapping[str, Any], now: datetime, *, whole: Memory | None = None
) -> Memory:
    """A memory with some fields changed; a no-op keeps even its `updated`.

    Title and summary follow a new text if they were made from the former one, which `whole` has
    where the memory was shortened.
    """
    unknown = changes.keys() - (_FIELDS - _FIXED)
    if unknown:
        raise Refused(f"cannot change {', '.join(sorted(unknown))} of {memory.id}")
    wanted = {name: value for name, value in changes.items() if getattr(memory, name) != value}
    if not wanted:
        return memory
    if "content" in wanted:
        wanted.setdefault("phase", Phase.FULL)  # a newly written text is whole, however short
        former = (whole or memory).content
        wanted = _following(memory, former, wanted["content"], changes) | wanted
    version = memory.version + (not wanted.keys().isdisjoint(TEXT))
    return memory._replace(**wanted, updated=now, version=version)


def reinforced(memory: Memory, source: Source, now: datetime) -> Memory:
    """Seen once more: confirmed today and counted. A trusted second source ends quarantine."""
    cleared = memory.status is Status.QUARANTINED and source.trust is not Trust.TOOL
    return memory._replace(
        confirmed=now,
        updated=now,
        observations=memory.observations + 1,
        confidence=DISPUTED if memory.conflicts else 1.0,
        status=Status.ACTIVE if cleared else memory.status,
    )


def superseded(memory: Memory, by: str, now: datetime) -> Memory:
    """Replaced by a newer memory, whose id it now names."""
    return memory._replace(status=Status.SUPERSEDED, superseded_by=by, updated=now)


def reworded(memory: Memory, wording: Memory) -> Memory:
    """A memory in the words of another one that says the same, as a version to be kept."""
    return memory._replace(
        title=wording.title,
        summary=wording.summary,
        content=wording.content,
        source=wording.source,
        created=wording.created,
        version=memory.version + 1,
        signature="",
        shown_signature="",
    )


def contradicted(memory: Memory, by: Sequence[str], now: datetime) -> Memory:
    """Said to be otherwise by other memories, which it now names."""
    return memory._replace(
        conflicts=tuple(dict.fromkeys((*memory.conflicts, *by))),
        confidence=min(memory.confidence, DISPUTED),
        updated=now,
    )


def settled(memory: Memory, others: Collection[str], now: datetime, *, all_hold: bool) -> Memory:
    """No longer in conflict with some memories: they are gone, or hold as well as this one does."""
    left = tuple(each for each in memory.conflicts if each not in others)
    apart = tuple(others) if all_hold else ()
    if left == memory.conflicts and not apart:
        return memory
    return memory._replace(
        conflicts=left,
        distinct=tuple(dict.fromkeys((*memory.distinct, *apart))),
        confidence=memory.confidence if left else 1.0,
        updated=now,
    )


def merged(memory: Memory, others: Sequence[Memory], content: str, now: datetime) -> Memory:
    """A memory that took others in: their tags, links and observations, the best of their marks.

    A text that is replaced is whole, as it is when a person writes it.
    """
    all_of_them = (memory, *others)
    wording = content or memory.content
    following = _following(memory, memory.content, wording, ()) if content else {}
    return memory._replace(
        **following,
        content=wording,
        phase=Phase.FULL if content else memory.phase,
        tags=tuple(dict.fromkeys(tag for each in all_of_them for tag in each.tags)),
        links=tuple(
            dict.fromkeys(link for each in all_of_them for link in each.links if link != memory.id)
        ),
        distinct=tuple(
            dict.fromkeys(one for each in all_of_them for one in each.distinct if one != memory.id)
        ),
        impact=max((each.impact for each in all_of_them), key=lambda impact: impact.rank),
        pinned=any(each.pinned for each in all_of_them),
        confidence=max(each.confidence for each in all_of_them),
        difficulty=max(each.difficulty for each in all_of_them),
        observations=sum(each.observations for each in all_of_them),
        confirmed=max(each.confirmed for each in all_of_them),
        merged_from=tuple(dict.fromkeys((*memory.merged_from, *(each.id for each in others)))),
        version=memory.version + (1 if wording != memory.content else 0),
        updated=now,
    )


def forgotten(memory: Memory, now: datetime) -> Memory:
    """A tombstone: it keeps its name so that it can be found and restored, not its text."""
    return memory._replace(status=Status.FORGOTTEN, summary="", content="", updated=now)


def reduced(memory: Memory, original: Memory, phase: Phase) -> Memory:
    """A memory in a phase, made from its original; `updated` stays, since its content is the same.

    A memory that is only shortened must neither win a merge against an edit nor seem newer.
    """
    if memory.status is not Status.ACTIVE:
        raise Refused(f"{memory.id} is {memory.status}; only active memories change their phase")
    return memory._replace(
        content=text_in_phase(original.content, phase),
        phase=phase,
        version=original.version,
    )


def restored(
    memory: Memory, original: Memory | None, now: datetime, *, was: Status = Status.ACTIVE
) -> Memory:
    """In force and whole again, with the archived text where the memory itself has none left.

    `was` is its status before it went out of force. What was in quarantine goes back there:
    bringing a text back does not say that it is trusted.
    """
    text = original if original is not None else memory
    waiting = Status.QUARANTINED in (memory.status, text.status, was)
    # The text of the version it already has, back from a shorter phase, is not a new version.
    older = text.version != memory.version and any(
        getattr(memory, name) != getattr(text, name) for name in TEXT
    )
    return memory._replace(
        title=text.title,
        summary=text.summary,
        content=text.content,
        status=Status.QUARANTINED if waiting else Status.ACTIVE,
        superseded_by="",
        # A person who brings it back next to what took its place wants both.
        distinct=tuple(filter(None, dict.fromkeys((*memory.distinct, memory.superseded_by)))),
        phase=Phase.FULL,
        version=memory.version + (1 if older else 0),
        confirmed=now,
        updated=now,
    )


def _following(memory: Memory, former: str, content: str, given: Container[str]) -> dict[str, Any]:
    """Title and summary for a new text, but for those that are given or that a person wrote."""
    if not content.strip():
        return {}
    found: dict[str, Any] = {}
    for name, make in (("title", title_of), ("summary", summary_of)):
        held = getattr(memory, name)
        # A title learned from a transcript may be a clause of the text and was written by a rule.
        learned = bool(memory.source.lines) and opens_with(former, held)
        if name not in given and (learned or held == make(former)):
            found[name] = make(content)
    return found
