"""Asking: any text a person may type, to ranked hits that say why they are there.

Owns the flow behind `ltm recall` and the recall tools: memories (`remembered`) and what was said in
sessions (`said`) as one list (`blend`). Callers see hits and nothing of how they were found.
Imports core, storage and this package.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from ltm.core.model import Filter, Hit, Status, now
from ltm.core.question import understood
from ltm.recall.blend import blended, hit_of
from ltm.recall.forgotten import leave_out
from ltm.recall.remembered import remembered
from ltm.storage.store import Store

if TYPE_CHECKING:
    from ltm.recall.quote import Quote
    from ltm.recall.said import SessionSearch

MOST = 200


class Recalled(NamedTuple):
    """The best hits, and how many memories and passages were found in all."""

    hits: tuple[Hit | Quote, ...]
    total: int

    @property
    def memories(self) -> tuple[Hit, ...]:
        """The hits that are memories."""
        return tuple(hit for hit in self.hits if isinstance(hit, Hit))


def recall(
    store: Store,
    question: str,
    wanted: Filter,
    limit: int,
    *,
    counts: bool = True,
    said: SessionSearch | None = None,
    as_of: datetime | None = None,
) -> Recalled:
    """What answers a question, best first: memories, and with `said` what sessions hold too.

    A filter that chooses among memories asks for memories only; one that widens does not. Without
    quarantined memories in it, nothing is found that says what those say. `as_of` answers as on
    that day: what was said later is left out, and "last week" is seen from there. `counts` says
    whether being found is a use: yes when a person or agent asked, no when we look something up
    ourselves.
    """
    most = max(1, min(limit, MOST))
    day = (as_of or now()).date()
    asked = understood(question, day)
    embedder = said.embedder if said is not None else None
    found, total = remembered(store, asked, wanted, most, day, embedder)
    hits: Sequence[Hit | Quote]
    if said is not None and _chooses_none(wanted) and said.anything():
        leave_out(store, said, waiting=Status.QUARANTINED in wanted.statuses)
        quoted = said.ask(asked, day, until=as_of.date() if as_of else None)
        hits = blended(asked, found, quoted, said, most)
        total += len(quoted.ranking.scores)
    else:
        hits = [hit_of(asked, each) for each in found]
    result = Recalled(tuple(hits), total)
    if counts and result.memories:
        store.used(hit.stored.memory.id for hit in result.memories)
    return result


def _chooses_none(wanted: Filter) -> bool:
    """Whether a filter lets all active memories through, whatever else."""
    usual = Filter()
    widened = set(usual.statuses) <= set(wanted.statuses)
    return widened and wanted._replace(statuses=usual.statuses) == usual
