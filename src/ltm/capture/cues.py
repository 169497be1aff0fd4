"""The small signs that tell a statement meant to last from everything else people say.

No sign decides alone: each adds to or takes from how sure we are, and `statements` adds them up.
Only some of them, the lasting ones, reach beyond the task at hand: "the page must have a title" is
a requirement, "in this project pages must have a title" is a rule.

Owns the order of the tables: of two signs with the same rank the first tells the kind. Pure;
imports the tables.
"""

from __future__ import annotations

from ltm.capture.cue import Cue
from ltm.capture.doubts import DOUBTS
from ltm.capture.facts import FACTS
from ltm.capture.orders import ORDERS
from ltm.capture.wishes import WISHES

_ALL: tuple[Cue, ...] = (*ORDERS, *WISHES, *FACTS, *DOUBTS)
LASTING = tuple(cue for cue in _ALL if cue.lasting)
OTHERS = tuple(cue for cue in _ALL if not cue.lasting)
"""Signs of English sentences, apart: without a lasting one the others need not be looked for."""

TOLD = frozenset({"told for later", "told again", "from now on", "standing order", "warned"})
"""Signs that also count in the small words before a statement."""

OF_AN_ORDER = frozenset(
    {"standing order", "from now on", "each time", "order not to", "none of that", "forbidden"}
    | {"a rule", "wish", "told again", "how to answer", "chosen"}
)
PART_OF_ORDERS = frozenset({"a complaint", "a thing to do"})
"""What does not speak against an order: it names a thing to do, and complains as its reason."""
