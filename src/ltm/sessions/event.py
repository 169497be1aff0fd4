"""One thing a client told us, as the steps of a drain and plugged-in handlers see it.

Owns the shape of an event after it was kept in the spool. Imports the standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a session. Fields a client did not send are empty."""

    key: str
    """Unique and the same at every attempt: who must act only once remembers it."""
    event: str
    """Its name, such as `SessionStart` or `Stop`."""
    session: str
    at: float = 0.0
    """When the client told us, in seconds since 1970."""
    cwd: str = ""
    transcript: str = ""
    source: str = ""
    """How a session began: `startup`, `resume`, `clear`, `compact` or `fork`."""
    reason: str = ""
    """How it ended."""
    trigger: str = ""
    """Who asked for a compaction: `manual` or `auto`."""
    agent: str = ""
    agent_type: str = ""
    agent_transcript: str = ""
    tool: str = ""
    ok: bool = True
    """Whether the tool did its work."""


def from_record(key: str, record: Mapping[str, object]) -> Event | None:
    """The event of a spooled record; None when it lacks what makes an event."""
    if not isinstance(record.get("event"), str) or not isinstance(record.get("session"), str):
        return None
    known = {
        field.name: record[field.name]
        for field in fields(Event)
        if isinstance(record.get(field.name), str | bool)
    }
    seconds = key.partition("-")[0]
    known["at"] = int(seconds) / 1e9 if seconds.isdigit() else 0.0
    return Event(**{**known, "key": key})  # type: ignore[arg-type]  # checked field by field above
