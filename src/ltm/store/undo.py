"""Taking a change back: memories as they were before it, put in force again.

Nothing is undone over a later change: each memory must still be as the change left it. An undo is a
change like any other, so what it replaces is in the archive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ltm.decisions import TEXT, Forget, Reduce, Restore, Revise
from ltm.errors import Conflict
from ltm.model import Filter, Memory, Phase, Status, Stored
from ltm.record import NamedTuple
from ltm.store.store import Store

_KEPT = frozenset({"id", "created", "updated", "version", "scope", "signature", "shown_signature"})


class Undo(NamedTuple):
    """What a change touched: the memories before it, their etags since, and those it added."""

    former: tuple[Memory, ...]
    etags: Mapping[str, str]
    added: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the change left everything as it was."""
        return not self.former and not self.added


def touched(store: Store, ids: Iterable[str]) -> dict[str, Stored]:
    """These memories and those in conflict with them, which a change of one releases."""
    found = _read(store, ids)
    rivals = {name for each in found.values() for name in each.memory.conflicts} - found.keys()
    return {**found, **_read(store, rivals)}


def noted(store: Store, before: Mapping[str, Stored], added: Iterable[str] = ()) -> Undo:
    """What takes back a change that is done, given the memories `touched` by it before."""
    added = tuple(added)
    after = _read(store, (*before, *added))
    changed = [each.memory for name, each in before.items() if _etag(after, name) != each.etag]
    names = (*(each.id for each in changed), *added)
    return Undo(tuple(changed), {name: _etag(after, name) for name in names}, added)


def take_back(store: Store, undo: Undo) -> None:
    """Put everything back as it was, or change nothing if a memory was changed since."""
    now = _read(store, undo.etags)
    for name, etag in undo.etags.items():
        if _etag(now, name) != etag:
            raise Conflict(
                f"{name} was changed since, so this cannot be undone any more",
                hint="open the memory: its earlier versions are listed there",
            )
    with store.in_a_row():
        for name in undo.added:
            store.apply(Forget(name, expected=undo.etags[name]))
        for memory in undo.former:
            _put_back(store, now[memory.id], memory)


def _put_back(store: Store, stored: Stored, former: Memory) -> None:
    present = stored.memory
    same_text = all(getattr(present, name) == getattr(former, name) for name in TEXT)
    gone = present.status is Status.FORGOTTEN and former.status is not Status.FORGOTTEN
    gone = gone or (present.phase is not Phase.FULL and present.version == former.version)
    if gone or (not same_text and former.phase is not Phase.FULL):
        # The whole text is in the archive only.
        version = 0 if gone else former.version
        stored = store.apply(Restore(former.id, version, expected=stored.etag)).stored
        present = stored.memory
        left_out = {*_KEPT, *TEXT, "phase"} if former.phase is not Phase.FULL else _KEPT
    else:
        left_out = _KEPT
    changes: dict[str, Any] = {
        name: getattr(former, name)
        for name in Memory._fields
        if name not in left_out and getattr(former, name) != getattr(present, name)
    }
    if not changes.keys().isdisjoint(TEXT):
        changes |= {name: getattr(former, name) for name in TEXT}  # or a title follows the text
    if changes:
        stored = store.apply(Revise(former.id, changes, expected=stored.etag)).stored
    if former.phase > stored.memory.phase:
        store.apply(Reduce(former.id, former.phase, expected=stored.etag))


def _read(store: Store, ids: Iterable[str]) -> dict[str, Stored]:
    wanted = Filter(ids=tuple(ids), statuses=tuple(Status))
    return {each.memory.id: each for each in store.list(wanted).items} if wanted.ids else {}


def _etag(found: Mapping[str, Stored], name: str) -> str:
    return found[name].etag if name in found else ""
