"""What is left out of every answer though it is kept: what forgotten memories were made from.

Owns which passages that are. Who forgets a memory wants to meet it no more, in sessions either;
restoring it brings both back, and purging deletes both. Imports core and storage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltm.core.model import Filter, Status
from ltm.core.words import query_terms
from ltm.storage.store import Store

if TYPE_CHECKING:
    from ltm.core.passage import Passage
    from ltm.recall.said import Said

_MOST = 300  # forgotten memories, the newest first, that a question pays for
_TELLING = 4  # terms of a title that is said nowhere by accident


def leave_out_forgotten(store: Store, said: Said) -> None:
    """See to it that sessions do not tell what memories no longer may."""
    if not said.anything():
        return
    gone: dict[int, Passage] = {}
    for stored in store.list(Filter(statuses=(Status.FORGOTTEN,)), _MOST).items:
        memory = stored.memory
        origin = memory.source
        if origin.session and origin.lines:
            found = said.passages.at_lines(origin.session, origin.lines)
            gone.update((each.row, each) for each in found)
        if len(query_terms(memory.title)) >= _TELLING:
            gone.update(said.read(said.passages.saying(memory.title)))
    said.leave_out(gone.values())
