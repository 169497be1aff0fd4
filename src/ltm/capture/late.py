"""Keeping what was written down some time ago: whatever was said since stands.

A stash or a note is read long after its session, which was most likely heard already. So nothing in
it counts that any memory, in force or not, has known since the session began: reading the same
again changes nothing, a crash in the middle counts nothing twice, and an old note never brings back
what was replaced or forgotten meanwhile. Imports core, the store's port and this package.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from ltm.capture.candidate import Candidate, as_memory
from ltm.capture.decide import Choice
from ltm.capture.evidence import Evidence
from ltm.capture.pipeline import Captured, by_rules, keep
from ltm.core.decision import Add, Supersede
from ltm.core.kinds import Kinds
from ltm.core.model import Filter, Memory, Status, Stored, Trust
from ltm.core.sameness import holds
from ltm.storage.store import Store

_NEAR = 20


def keep_late(
    store: Store,
    candidates: Iterable[Candidate],
    done: Captured,
    *,
    evidence: Evidence,
    now: datetime,
) -> None:
    """Keep candidates as `pipeline.keep` does, except those that something newer answers."""

    def choose(
        memory: Memory, peers: Sequence[Stored], kinds: Kinds, said: Candidate
    ) -> Choice | None:
        return None if is_known_since(store, memory) else by_rules(memory, peers, kinds, said)

    keep(store, candidates, done, evidence=evidence, now=now, choose=choose)


def keep_episode(store: Store, candidate: Candidate, done: Captured, *, now: datetime) -> None:
    """Append an episode; a later one of the same session takes the place of the earlier."""
    memory = as_memory(candidate, now)
    if memory.source.trust is Trust.TOOL:
        memory = memory._replace(status=Status.QUARANTINED)
    same = [
        each.memory
        for each in store.list(Filter(kinds=(memory.kind,), statuses=tuple(Status))).items
        if each.memory.source.tool == memory.source.tool
        and each.memory.source.session == memory.source.session
        and (memory.source.session or each.memory.title == memory.title)
    ]
    if any(_says_the_same(each, memory) for each in same):
        done.skipped += 1
        return
    old = tuple(each.id for each in same if each.status is memory.status)
    applied = store.apply(Supersede(old, memory) if old else Add(memory))
    done.superseded += applied.superseded
    done.added.append(memory.id)


def is_known_since(store: Store, candidate: Memory) -> bool:
    """Whether a memory, whatever became of it, says the same and was confirmed then or later.

    Where only the newest of a kind is in force, any newer one will do.
    """
    kind = store.kinds[candidate.kind]
    wanted = Filter(kinds=(candidate.kind,), statuses=tuple(Status), scopes=(candidate.scope,))
    if kind.single:
        newer = store.list(wanted).items
        return any(each.memory.confirmed >= candidate.created for each in newer)
    wanted = wanted._replace(kinds=())
    for each in store.search(candidate.text[:2_000], wanted, _NEAR).items:
        memory = each.stored.memory
        if memory.confirmed < candidate.created:
            continue
        # A tombstone has only its title left to be known by.
        if holds(memory.text or memory.title, candidate.text) or (
            not memory.text and memory.title == candidate.title
        ):
            return True
    return False


def _says_the_same(one: Memory, other: Memory) -> bool:
    return one.title == other.title and one.content in ("", other.content)
