"""A memory as plain JSON values and back: the one shape for `--json`, export, index and tools.

Keys are the SPEC's field names; `source` is a small object. Pure; the standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ltm.core.model import Impact, Memory, Phase, Scope, Source, Status, Trust, iso, utc

_MOMENTS = frozenset({"created", "updated", "confirmed"})
_TUPLES = frozenset({"tags", "supersedes", "merged_from", "links", "conflicts", "distinct"})

# Calling an enumeration takes ten times as long as looking into a dictionary.
_SCOPES = {str(each): each for each in Scope}
_IMPACTS = {str(each): each for each in Impact}
_STATUSES = {str(each): each for each in Status}
_TRUSTS = {str(each): each for each in Trust}
_PHASES = {int(each): each for each in Phase}


def as_record(memory: Memory) -> dict[str, Any]:
    """Every field of a memory as JSON values, in the order of the model."""
    record: dict[str, Any] = {}
    for name in Memory._fields:
        value = getattr(memory, name)
        if name in _MOMENTS:
            value = iso(value)
        elif name in _TUPLES:
            value = list(value)
        elif name == "source":
            value = {
                "trust": str(value.trust),
                "session": value.session,
                "lines": value.lines,
                "tool": value.tool,
            }
        elif name == "phase":
            value = int(value)
        elif isinstance(value, str):
            value = str(value)
        record[name] = value
    return record


def short_record(memory: Memory) -> dict[str, Any]:
    """The same without the fields that are as usual, which is most of them: quicker to read."""
    usual = Memory._field_defaults
    return {
        name: value
        for name, value in as_record(memory).items()
        if name not in usual or getattr(memory, name) != usual[name]
    }


def from_record(record: Mapping[str, Any]) -> Memory:
    """The memory a record describes, short or not; keys that are no field of one are ignored.

    `ValueError` when it describes none.
    """
    try:
        return _memory(record)
    except (TypeError, AttributeError, KeyError) as error:
        raise ValueError(f"not the record of a memory: {error}") from error


def _memory(record: Mapping[str, Any]) -> Memory:
    # Field by field and without a loop: a listing makes a thousand of them.
    get = record.get
    told = (get("source") or {}).get
    return Memory(
        id=record["id"],
        kind=record["kind"],
        title=record["title"],
        summary=record["summary"],
        content=record["content"],
        created=utc(record["created"]),
        updated=utc(record["updated"]),
        confirmed=utc(record["confirmed"]),
        scope=_SCOPES[get("scope", "project")],
        tags=tuple(get("tags", ())),
        impact=_IMPACTS[get("impact", "medium")],
        pinned=get("pinned", False),
        difficulty=get("difficulty", 0.0),
        confidence=get("confidence", 1.0),
        observations=get("observations", 1),
        phase=_PHASES[get("phase", 0)],
        status=_STATUSES[get("status", "active")],
        version=get("version", 1),
        supersedes=tuple(get("supersedes", ())),
        superseded_by=get("superseded_by", ""),
        merged_from=tuple(get("merged_from", ())),
        previous=get("previous", ""),
        links=tuple(get("links", ())),
        conflicts=tuple(get("conflicts", ())),
        distinct=tuple(get("distinct", ())),
        source=Source(
            trust=_TRUSTS[told("trust", "user")],
            session=told("session", ""),
            lines=told("lines", ""),
            tool=told("tool", ""),
        ),
        reason=get("reason", ""),
        state=get("state", ""),
        legacy_id=get("legacy_id", ""),
        signature=get("signature", ""),
        shown_signature=get("shown_signature", ""),
    )
