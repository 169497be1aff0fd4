"""Which calls wait for which: one at a time in each lane, lanes in parallel.

Owns the three lanes. Each call has a store of its own, so two threads may do at once what
two processes may. One call at a time in each keeps what a server takes of the
memory small, and what one writes in the order it was asked to.
"""

from __future__ import annotations

import anyio

from ltm.surfaces.mcp import resources
from ltm.surfaces.mcp.table import SLOW, TOOLS

_READING = {resources.NAME, *(tool.name for tool in TOOLS if tool.effect.reads_only)}


class Lanes:
    """Whose turn it is among the calls of one server."""

    def __init__(self) -> None:
        self._reading = anyio.CapacityLimiter(1)
        self._writing = anyio.CapacityLimiter(1)
        self._slow = anyio.CapacityLimiter(1)

    def of(self, tool: str) -> anyio.CapacityLimiter:
        """The lane of a tool; those of other packages may write, as far as we know."""
        if tool in SLOW:
            return self._slow
        return self._reading if tool in _READING else self._writing
