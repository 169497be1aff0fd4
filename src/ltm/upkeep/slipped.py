"""Secrets that slipped into memories, by hand or before anybody knew their shape.

What goes in through our own doors is redacted first; a file edited by hand, merged or imported is
not, and the rules learn new shapes. Such a memory is told and left to a person: only they know
whether it is a secret, and one that reached a disk has to be changed where it came from. Imports
core and the doctor's findings.
"""

from __future__ import annotations

from collections.abc import Iterable

from ltm.core.model import Memory, Problem, Stored
from ltm.core.redact import redact
from ltm.upkeep.finding import Finding


def secrets_in(memory: Memory) -> tuple[str, ...]:
    """The kinds of secrets that stand in a memory."""
    text = "\n".join((memory.title, memory.text, memory.reason, *memory.tags))
    # A memory may well speak of the tag that marks what is private.
    return tuple(kind for kind in redact(text).kinds if kind != "private")


def slipped(held: Iterable[Stored]) -> list[Finding]:
    """A finding for each memory with a secret in it; the secret itself is not repeated."""
    return [
        Finding(
            Problem(
                each.path,
                f"seems to hold a secret ({', '.join(kinds)}): change the secret where it is"
                f" used, then take it out with 'ltm edit {each.memory.id}'",
            )
        )
        for each in held
        if (kinds := secrets_in(each.memory))
    ]
