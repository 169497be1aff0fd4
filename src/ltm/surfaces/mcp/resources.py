"""Memories as resources: `ltm://memory/<id>` is the card that get_memory shows.

What it takes to read one is imported when one is read, since the server needs the address earlier.
"""

from __future__ import annotations

from dataclasses import dataclass

from ltm.core.errors import NotFound
from ltm.core.model import Filter, Usage
from ltm.surfaces.mcp.call import Call

NAME = "resources"
"""What a call for one is named, where the others have the name of their tool."""

PREFIX = "ltm://memory/"
LISTED = 20
"""Only the newest are listed; every other can be read by its id."""


@dataclass(frozen=True, slots=True)
class ResourceEntry:
    """One resource of the list."""

    uri: str
    name: str
    description: str


def listed(call: Call) -> list[ResourceEntry]:
    """The newest memories as resources."""
    from ltm.inject.fence import harmless
    from ltm.inject.said import shorten

    return [
        ResourceEntry(
            f"{PREFIX}{each.memory.id}",
            shorten(harmless(each.memory.title), 100),
            f"{each.memory.kind}, {each.memory.impact}",
        )
        for each in call.store.list(Filter(), LISTED).items
    ]


def read(call: Call, uri: str) -> str:
    """The card of the memory an address names."""
    from ltm.surfaces.mcp.opening import card

    if not uri.startswith(PREFIX):
        raise NotFound(f"there is no resource '{uri[:200]}'", hint=f"there is {PREFIX}<id>")
    stored = call.read(uri.removeprefix(PREFIX))
    return card(stored, call.store.usage([stored.memory.id]).get(stored.memory.id, Usage()))
