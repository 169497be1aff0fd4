"""What a person should know: signatures that do not fit, conflicts, what waits, other tools.

Only what was changed outside ltm is a fault; the rest is worth knowing. Imports core
and storage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltm.core.counting import counted
from ltm.core.markers import is_ours
from ltm.core.model import Filter, Problem, Status, Stored
from ltm.storage import keyfile, viewrecord
from ltm.storage.checking import state_of
from ltm.storage.foreign import foreign
from ltm.storage.plainfile import read_plain
from ltm.storage.signing import SignatureState
from ltm.storage.waiting import unproven, waiting
from ltm.upkeep.finding import Finding

if TYPE_CHECKING:
    from ltm.storage.places import Places
    from ltm.storage.store import Store


def standing(store: Store, places: Places) -> list[Finding]:
    """Everything about signatures, quarantine and trust that a person should know."""
    return [
        *_signatures(store, places.home),
        *_waiting(store, places),
        *_conflicts(store),
        *_foreign(places),
    ]


def _signatures(store: Store, home: str) -> list[Finding]:
    key = keyfile.load(home)
    if key is None:
        return []
    path = keyfile.path_in(home)
    if not key.secret:
        message = "cannot be used as a key, so nothing is signed (bring the right file back)"
        return [Finding(Problem(path, message))]
    unsigned: list[Stored] = []
    found: list[Finding] = []
    for stored in store.every(Filter(statuses=tuple(Status))):
        state = state_of(key, stored, store)
        if state is SignatureState.UNSIGNED:
            unsigned.append(stored)
        elif state is SignatureState.CHANGED:
            name = stored.memory.id
            message = f"was changed outside ltm (look: ltm show {name}, then: ltm sign {name})"
            found.append(Finding(Problem(stored.path, message)))
    if unsigned:
        are = "is" if len(unsigned) == 1 else "are"
        said = f"{counted(len(unsigned), 'memory')} {are} not signed with it"
        message = f"{said} (sign all with 'ltm sign')"
        found.append(Finding(Problem(path, message, ill=False)))
    return found


def _conflicts(store: Store) -> list[Finding]:
    """Memories in force that do not agree, a line for each pair or group."""
    found = {each.memory.id: each for each in store.list(Filter()).items if each.memory.conflicts}
    told: set[frozenset[str]] = set()
    findings: list[Finding] = []
    for name, stored in sorted(found.items()):
        for other in stored.memory.conflicts:
            if other in found and frozenset({name, other}) not in told:
                told.add(frozenset({name, other}))
                message = (
                    f"{name} and {other} do not agree"
                    f" (look: ltm settle, then: ltm settle ID, or ltm settle {name} --both)"
                )
                findings.append(Finding(Problem(stored.path, message, ill=False)))
    return findings


def _waiting(store: Store, places: Places) -> list[Finding]:
    found: list[Finding] = []
    quarantined, untrusted = waiting(store, places)
    if quarantined:
        message = f"{counted(quarantined, 'memory')} waiting for approval (look: ltm approve)"
        found.append(Finding(Problem(places.private, message, ill=False)))
    if untrusted:
        message = (
            f"{counted(untrusted, 'memory')} came with this repository, not told until you trust it"
            " (look: ltm list, then: ltm trust)"
        )
        found.append(Finding(Problem(places.shared, message, ill=False)))
    return found + [Finding(each) for each in unproven(places)]


def _foreign(places: Places) -> list[Finding]:
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
