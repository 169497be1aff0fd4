"""A memory made of named values, wherever they stand: the keys of a file, the fields of a record.

Owns which value becomes which field, once. How strict one is with a value is up to the reader:
`reading` with what a person typed, `transfer.record` with what a program wrote. Imports core.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeVar

from ltm.core.model import Impact, Memory, Phase, Scope, Source, Status, Trust

_T = TypeVar("_T", bound=StrEnum)


class Values(Protocol):
    """Named values, each checked; what is missing is the default."""

    def text(self, name: str) -> str:
        """One text."""
        ...

    def texts(self, name: str) -> tuple[str, ...]:
        """A flat list of texts."""
        ...

    def choice(self, name: str, default: _T) -> _T:
        """One of a few words."""
        ...

    def flag(self, name: str) -> bool:
        """True or false, which is the default."""
        ...

    def share(self, name: str, default: float) -> float:
        """A number from 0 to 1."""
        ...

    def count(self, name: str) -> int:
        """A whole number from 1 up."""
        ...

    def phase(self) -> Phase:
        """How much of the text is left."""
        ...

    def moment(self, name: str, default: datetime) -> datetime:
        """A moment."""
        ...


def assembled(
    values: Values,
    origin: Values,
    *,
    memory_id: str,
    kind: str,
    title: str,
    summary: str,
    content: str,
    created: datetime,
    trust: Trust,
) -> Memory:
    """The memory of these values; `origin` has those of its source, whose `trust` is a default."""
    return Memory(
        id=memory_id,
        kind=kind,
        title=title,
        summary=summary,
        content=content,
        created=created,
        updated=values.moment("updated", created),
        confirmed=values.moment("confirmed", created),
        scope=values.choice("scope", Scope.PROJECT),
        tags=values.texts("tags"),
        impact=values.choice("impact", Impact.MEDIUM),
        pinned=values.flag("pinned"),
        difficulty=values.share("difficulty", 0.0),
        confidence=values.share("confidence", 1.0),
        observations=values.count("observations"),
        phase=values.phase(),
        status=values.choice("status", Status.ACTIVE),
        version=values.count("version"),
        supersedes=values.texts("supersedes"),
        superseded_by=values.text("superseded_by"),
        merged_from=values.texts("merged_from"),
        previous=values.text("previous"),
        links=values.texts("links"),
        conflicts=values.texts("conflicts"),
        distinct=values.texts("distinct"),
        source=Source(
            trust=origin.choice("trust", trust),
            session=origin.text("session"),
            lines=origin.text("lines"),
            tool=origin.text("tool"),
        ),
        reason=values.text("reason"),
        state=values.text("state"),
        legacy_id=values.text("legacy_id"),
        signature=values.text("signature"),
        shown_signature=values.text("shown_signature"),
    )
