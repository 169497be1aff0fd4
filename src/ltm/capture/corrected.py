"""What a user keeps having to say, as a preference in their own words.

"No, use pnpm" means "Use pnpm."; "undo that" means nothing without what came before, and no word of
it becomes a memory. Pure; imports `core` and this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ltm.capture.plainwords import repaired, tidy
from ltm.capture.speech import said
from ltm.capture.statements import statements
from ltm.core.kinds import Kinds
from ltm.core.model import Source
from ltm.core.sameness import same

# Orders one can follow without knowing what came before.
_VERBS = (
    r"(?:always|never|don't|do not|stop \w+ing|avoid|prefer|use|keep|run|write|put|add|make|edit"
    r"|create|name|call|start|commit|push|test|check|ask|read|leave)\b"
)
_ORDER = re.compile(rf"(?:{_VERBS}|no \w)", re.IGNORECASE)
# "no, tabs" corrects, "no tabs" forbids.
_BEFORE = re.compile(
    rf"\A(?:no\b(?=\s*[,.:;!–—-]|\s+{_VERBS})[\s,.:;!–—-]*"
    r"|(?:nope|nah|wrong|stop(?! \w+ing)|wait|again|undo(?: that| it)?|revert(?: that| it)?)"
    r"\b[\s,.:;!–—-]*|(?:that's|this is|it's) (?:not|wrong)\b[^,.;:!]{0,60}[,.;:!]+\s*"
    r"|(?:not what|didn't work|still broken)\b[^,.;:!]{0,40}[,.;:!]+\s*"
    r"|(?:i|we)(?:'ve| have)? (?:already )?(?:said|told you|asked you)(?: (?:that|to|you))*\b"
    r"[\s,:]*)+",
    re.IGNORECASE,
)
_POINTS = re.compile(r"\b(?:it|that|this|those|these|them|there|here|one)\b", re.IGNORECASE)
_FEWEST, _MOST = 2, 30


def wordings(texts: Iterable[str], kinds: Kinds) -> list[str]:
    """The preferences users' words may stand for, the surest first, each once."""
    found: list[tuple[float, str]] = []
    for text in texts:
        clear = [
            (each.weight, tidy(_BEFORE.sub("", each.text)) or each.text)
            for each in statements(text, kinds, Source())
        ]
        found += clear or [(0.0, each) for each in _orders(text)]
    kept: list[str] = []
    for _, text in sorted(found, key=lambda each: -each[0]):
        if not any(same(text, other) for other in kept):
            kept.append(text)
    return kept


def _orders(text: str) -> Sequence[str]:
    """The sentences of a correction that are orders by themselves."""
    left = []
    for sentence in said(text)[:5]:
        order = tidy(_BEFORE.sub("", repaired(sentence.text)))
        words = order.split()
        if not _FEWEST <= len(words) <= _MOST or order.endswith("?"):
            continue
        if _ORDER.match(order) and not _POINTS.search(order):
            left.append(order)
    return left
