"""Which kind a heading of foreign notes means. Pure; imports core."""

from __future__ import annotations

from ltm.core.errors import WrongUsage
from ltm.core.kinds import Kinds


def kind_by_heading(heading: str, kinds: Kinds) -> str:
    """The kind whose heading, name or alias this is, with or without "recent" or "key"; else ''."""
    plain = heading.strip().strip("*_:").lower()
    for row in kinds:
        if row.heading.lower() == plain:
            return row.name
    for word in (plain, plain.removeprefix("recent "), plain.removeprefix("key ")):
        try:
            return kinds.parse(word).name
        except WrongUsage:
            continue
    return ""
