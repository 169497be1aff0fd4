"""Full-text search that takes the same time at any size, and reading that survives damage.

Both searches by words, over memories and over passages, are made of these: FTS5 expressions that
find no more matches than may be scored, and look-ups that are repeated once a damaged database was
mended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from itertools import accumulate
from math import inf

from ltm.files.sqlite import DAMAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    _F = TypeVar("_F", bound=Callable[..., Any])

POSTINGS = 3_000
"""How many matches one search may score. Scoring costs about 2 µs a match and word, walking over
the matches of a word 0.03 µs each. Words too common to fit rank the matches of the rarer words and
bring in none of their own."""


def rarest_first(holders: Mapping[str, int]) -> list[str]:
    """The words that any text has, by how many texts have them."""
    return [word for _, word in sorted((held, word) for word, held in holders.items() if held)]


def affordable(holders: Mapping[str, int], ranking: float = inf) -> str:
    """An expression for any of the words that finds at most `POSTINGS` matches.

    '' when even the rarest word has more. `ranking` is how many times more matches may be walked
    over for the sake of ranking.
    """
    words = rarest_first(holders)
    spent = list(accumulate(holders[word] for word in words))
    fitting = sum(each <= POSTINGS for each in spent)
    ranked = sum(each <= ranking * POSTINGS for each in spent)
    if not fitting or ranked == fitting:
        return any_of(words[:fitting])
    # bm25 scores every word of the expression, also those that cannot match alone.
    return f"({any_of(words[:fitting])}) AND ({any_of(words[:ranked])})"


def any_of(words: Sequence[str]) -> str:
    """An expression that any of the words fulfils."""
    return " OR ".join(f'"{word}"' for word in words)


def all_of(words: Sequence[str]) -> str:
    """An expression that only all words together fulfil."""
    return " AND ".join(f'"{word}"' for word in words)


def mending(method: _F) -> _F:
    """A look-up that is repeated when its object could mend the database: damage shows only when
    it is read. The object has `_mend(error)`, which says whether the question may be asked again.
    """

    @wraps(method)
    def call(self: Any, *values: Any, **named: Any) -> Any:
        try:
            return method(self, *values, **named)
        except DAMAGE as error:
            if not self._mend(error):
                raise
            return method(self, *values, **named)

    return call  # type: ignore[return-value]
