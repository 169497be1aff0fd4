"""What other packages plug in, found by name through Python's entry points.

Two groups: `ltm.stores` (a storage backend) and `ltm.tools` (a tool of the MCP server). Only a
person's own environment and config choose one; a repository's config never can.
"""

from __future__ import annotations

from typing import Any

from ltm.errors import LtmError, NotFound


def named(group: str, name: str) -> Any:
    """The object an installed package offers under this name in a group."""
    from importlib.metadata import entry_points  # slow to load, and few people plug anything in

    for point in entry_points(group=group):
        if point.name == name:
            return _load(point)
    known = ", ".join(sorted(point.name for point in entry_points(group=group))) or "none"
    raise NotFound(
        f"nothing installed offers '{name}' in {group}", hint=f"installed in {group}: {known}"
    )


def names(group: str) -> list[str]:
    """What installed packages offer in a group, by name and without loading any of it."""
    from importlib.metadata import entry_points

    return sorted({point.name for point in entry_points(group=group)})


def _load(point: Any) -> Any:
    try:
        return point.load()
    except Exception as error:
        raise LtmError(
            f"the extension '{point.name}' of {point.group} does not load: {error}",
            hint="update or uninstall the package that brings it",
        ) from error
