"""What other tools and people put where LTM writes: left as it is, or kept as a copy.

None of it is an illness, and nothing of it is mended: what becomes of it is for a person to say.
Imports storage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltm.core.markers import is_ours
from ltm.core.model import Problem
from ltm.storage import viewrecord
from ltm.storage.foreign import foreign
from ltm.storage.plainfile import read_plain
from ltm.upkeep.finding import Finding

if TYPE_CHECKING:
    from ltm.storage.places import Places


def others(places: Places) -> list[Finding]:
    """Everything of other tools in our places, and what was typed into the views of memories."""
    typed = [
        Problem(
            path,
            "is a copy of a view into which something was typed, made before ltm wrote it again"
            " (delete it when you do not need it)",
            ill=False,
        )
        for path in viewrecord.every(places.private)
        if _is_view(path)
    ]
    return [Finding(each) for each in (*(each.problem for each in foreign(places)), *typed)]


def _is_view(path: str) -> bool:
    """Whether a kept text was ours but for some lines; others can be put back by a command."""
    try:
        return is_ours(read_plain(path, follow=False))
    except OSError:
        return False
