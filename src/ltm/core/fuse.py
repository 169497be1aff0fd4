"""How many memories a machine may put out of use at once without asking a person.

A clock that jumps by years, a model that is wrong, a file from elsewhere: each can make a rule ask
for most of a store. Every single step could be undone, but not noticed in time. So a run
that would take more than `SHARE` of a scope's active memories out of use takes none of them, and
says what to type. `FEW` are never a mass, or a small store could not change at all. Pure; imports
the standard library and `core.model`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ltm.core.model import Scope

SHARE = 0.3
"""The part of the active memories that may go in one run."""

FEW = 10
"""So many may always go: as many as give way in a session."""


class Mass(NamedTuple):
    """Memories that would go all at once, and wait for a person's consent."""

    scope: Scope
    leaving: int
    active: int

    def __str__(self) -> str:
        return f"{self.leaving} of {self.active} active memories of scope {self.scope}"

    def as_record(self) -> dict[str, Any]:
        """The mass in the fields scripts read."""
        return {"scope": str(self.scope), "leaving": self.leaving, "active": self.active}


def masses(leaving: Mapping[Scope, int], active: Mapping[Scope, int]) -> tuple[Mass, ...]:
    """The scopes of which too many would go, by how many would go and how many there are."""
    found = (Mass(scope, count, active.get(scope, 0)) for scope, count in leaving.items())
    return tuple(each for each in found if each.leaving > max(FEW, SHARE * each.active))
