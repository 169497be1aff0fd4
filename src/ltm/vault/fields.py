"""The keys of a memory file: their order, their defaults, and how two versions of each agree.

Reading, writing and merging share this table, so that git's union merge (which leaves a key twice),
LTM's merge driver and the codec can never disagree.

| rule        | both sides changed it, or it stands twice in one file                  |
|-------------|------------------------------------------------------------------------|
| newest      | the value of the side updated last; in one file the last line          |
| union       | every item of either; what one side removed goes, when the base is known |
| highest, …  | by the measure named in the row                                        |
| added up    | the base plus what each side added; the larger one without a base      |

Unless a row is `steady`, a value that only one side changed is taken as that side has it. The
losing value of a `spoken` row is a person's words: it is kept as a line of the body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isnan
from typing import Any

from ltm.model import Impact, Memory, Phase, Status, Trust, as_record, utc

Value = str | tuple[str, ...]
"""What a key holds: a text, or a flat list of texts."""

MergeRule = Callable[[Sequence[str]], str]
"""Picks one of several values, given oldest first."""


@dataclass(frozen=True, slots=True)
class Field:
    """One key of the file."""

    key: str
    rule: MergeRule
    default: str = ""
    """What a missing key means."""
    always: bool = False
    """Written even when it equals the default, because people look for it."""
    many: bool = False
    """A flat list, merged as a set that keeps its order."""
    token: bool = False
    """A number, a boolean or a moment: written without quotes."""
    steady: bool = False
    """The rule decides even when only one side changed the value."""
    added: bool = False
    """A count: merged as the base plus what each side added."""
    spoken: bool = False
    """A person's words: the losing value is kept in the body."""
    signed: bool = False
    """Part of what a signature covers; a merge that changes it drops the signature."""


def moment(text: str) -> datetime | None:
    """The moment a text names, or None when it names none that can be kept."""
    try:
        found = utc(text)
    except (ValueError, OverflowError):
        return None
    # Outside these years neither `iso` nor arithmetic with time zones is safe.
    return found.replace(microsecond=0) if 1900 <= found.year < 3000 else None


def number(text: str) -> float | None:
    """The number a text names, or None."""
    try:
        found = float(text)
    except ValueError:
        return None
    return None if isnan(found) else found


def newest(values: Sequence[str]) -> str:
    """The last value that says anything."""
    return next((value for value in reversed(values) if value), "")


def _best(measure: Callable[[str], Any], pick: Callable[..., tuple[Any, str]]) -> MergeRule:
    """A rule that compares by a measure; a value that cannot be measured never wins."""

    def rule(values: Sequence[str]) -> str:
        measured = [(rank, value) for value in values if (rank := measure(value)) is not None]
        return pick(measured)[1] if measured else newest(values)

    return rule


def _place(*names: str) -> Callable[[str], int | None]:
    places = {name: place for place, name in enumerate(names)}
    return lambda value: places.get(value.strip().lower())


_phase_names = _place(*(phase.name.lower() for phase in Phase))


def phase_of(text: str) -> int | None:
    """The number of a phase given by number or name, or None when there is no such phase."""
    word = text.strip().lower()
    return int(word) if word in {"0", "1", "2", "3"} else _phase_names(word)


_highest, _lowest = _best(number, max), _best(number, min)
_earliest, _latest = _best(moment, min), _best(moment, max)
_gravest = _best(_place(*Impact), max)
_furthest = _best(_place(*Status), max)
_least_trusted = _best(_place(*Trust), max)
_fullest = _best(phase_of, min)
_pinned = _best(_place("false", "no", "off", "0", "true", "yes", "on", "1"), max)

FIELDS: tuple[Field, ...] = (
    Field("id", newest, always=True, signed=True),
    Field("kind", newest, always=True, signed=True),
    Field("title", newest, spoken=True, signed=True),
    Field("scope", newest, "project", always=True, signed=True),
    Field("tags", newest, always=True, many=True),
    Field("impact", _gravest, "medium", always=True, signed=True),
    Field("pinned", _pinned, "false", token=True),
    Field("difficulty", _highest, "0.0", token=True),
    Field("confidence", _lowest, "1.0", token=True),
    Field("observations", _highest, "1", token=True, added=True),
    Field("phase", _fullest, "0", token=True),
    Field("status", _furthest, "active", always=True),
    Field("version", _highest, "1", token=True, steady=True),
    Field("supersedes", newest, many=True),
    Field("superseded_by", newest, spoken=True),
    Field("merged_from", newest, many=True),
    Field("previous", newest, spoken=True),
    Field("links", newest, many=True),
    Field("conflicts", newest, many=True),
    Field("distinct", newest, many=True),
    Field("created", _earliest, always=True, token=True, steady=True, signed=True),
    Field("updated", _latest, always=True, token=True, steady=True),
    Field("confirmed", _latest, token=True, steady=True),
    Field("trust", _least_trusted, "user", signed=True),
    Field("session", newest, spoken=True, signed=True),
    Field("lines", newest, spoken=True, signed=True),
    Field("tool", newest, spoken=True, signed=True),
    Field("reason", newest, spoken=True),
    Field("state", newest),
    Field("legacy_id", newest, spoken=True, signed=True),
    Field("signature", newest),
    Field("shown_signature", newest),
)

BY_KEY = {field.key: field for field in FIELDS}
ORDER = {field.key: place for place, field in enumerate(FIELDS)}


def record_by_key(memory: Memory) -> dict[str, Any]:
    """Every field of a memory as JSON values, under the name it has in the file."""
    record = as_record(memory)
    record |= record.pop("source")
    return record | {name: float(record[name]) for name in ("difficulty", "confidence")}


def items(value: Value | None) -> tuple[str, ...]:
    """A list as a person may have typed it: a real list, `a, b` or nothing."""
    if isinstance(value, tuple):
        return value
    return tuple(part.strip() for part in (value or "").split(",") if part.strip())


def union(*lists: Sequence[str]) -> tuple[str, ...]:
    """Every item of every list once, in the order of first sight."""
    return tuple(dict.fromkeys(item for one in lists for item in one))


def settle(values: Sequence[Value], field: Field | None) -> tuple[Value, tuple[str, ...]]:
    """One value for a key that stands several times in a file, and the words that lost."""
    if field is not None and field.many:
        return union(*(items(value) for value in values)), ()
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) < len(values):  # a list where a text belongs: the reader of the key says so
        return values[-1], ()
    chosen = newest(texts) if field is None else field.rule(texts)
    if field is not None and not field.spoken:
        return chosen, ()
    return chosen, union([text for text in texts if text and text != chosen])


def merge3(field: Field, base: Value | None, older: Value | None, newer: Value | None) -> Value:
    """One value out of two versions of a key; `base` is None when there is no common ancestor.

    A key that a version lacks must be passed as the field's default ('' or () where it has none).
    """
    if field.many:
        mine, theirs = items(older), items(newer)
        gone = {item for item in items(base) if item not in mine or item not in theirs}
        return tuple(item for item in union(mine, theirs) if item not in gone)
    if base is not None and not field.steady:
        if field.added:
            try:
                start, one, two = (int(str(value)) for value in (base, older, newer))
                return str(max(1, one + two - start))
            except ValueError:
                pass  # one of the three is not a count
        if older == base:
            return newer or ""
        if newer == base:
            return older or ""
    return field.rule([text for text in (older, newer) if isinstance(text, str)])
