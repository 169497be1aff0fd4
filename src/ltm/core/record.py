"""A memory as plain JSON values and back: the one shape for `--json`, export, index and tools.

Keys are the SPEC's field names; `source` is a small object. Pure; the standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ltm.core.model import Impact, Memory, Phase, Scope, Source, Status, Trust, iso, utc

_MOMENTS = frozenset({"created", "updated", "confirmed"})
_TUPLES = frozenset({"tags", "supersedes", "merged_from", "links"})
_NAMES = tuple(field.name for field in fields(Memory))


def as_record(memory: Memory) -> dict[str, Any]:
    """Every field of a memory as JSON values, in the order of the model."""
    record: dict[str, Any] = {}
    for name in _NAMES:
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


def from_record(record: Mapping[str, Any]) -> Memory:
    """The memory a record describes; keys that are no field of a memory are ignored.

    `ValueError` when it describes none.
    """
    try:
        return _memory(record)
    except (TypeError, AttributeError, KeyError) as error:
        raise ValueError(f"not the record of a memory: {error}") from error


def _memory(record: Mapping[str, Any]) -> Memory:
    values = {name: record[name] for name in _NAMES if name in record}
    for name in _MOMENTS & values.keys():
        values[name] = utc(values[name])
    for name in _TUPLES & values.keys():
        values[name] = tuple(values[name])
    values["scope"] = Scope(values.get("scope", Scope.PROJECT))
    values["impact"] = Impact(values.get("impact", Impact.MEDIUM))
    values["status"] = Status(values.get("status", Status.ACTIVE))
    values["phase"] = Phase(values.get("phase", Phase.FULL))
    source = values.get("source") or {}
    values["source"] = Source(
        trust=Trust(source.get("trust", Trust.USER)),
        session=source.get("session", ""),
        lines=source.get("lines", ""),
        tool=source.get("tool", ""),
    )
    return Memory(**values)
