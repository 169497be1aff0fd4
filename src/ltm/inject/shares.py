"""A few lines shared out among sections that want more: by weight, none unused. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def share_out(needs: Sequence[int], weights: Sequence[int], room: int, opening: int) -> list[int]:
    """How many lines each section gets, so that all fit into `room`.

    A section that gets any also takes `opening` lines for its heading. Line by line, the section
    furthest below its weight is served: so each has its share before any has more, what one does
    not need goes to those that want more than theirs, and if the room is smaller than all shares
    together, every share shrinks alike. A section without weight gets nothing.
    """
    given = [0] * len(needs)
    while True:
        hungry = [
            place
            for place, need in enumerate(needs)
            if weights[place] > 0
            and given[place] < need
            and (1 if given[place] else 1 + opening) <= room
        ]
        if not hungry:
            return given
        # Ties go to the first, which keeps the result the same every time.
        place = min(hungry, key=lambda each: given[each] / weights[each])
        room -= 1 if given[place] else 1 + opening
        given[place] += 1
