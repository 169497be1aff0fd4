"""What is to happen with a candidate, given what is known already. Pure.

Owns the rules of overlap: a candidate that names what it replaces, one that says the same again,
one that says it better, and one that is new. May import `core` only.
"""

from __future__ import annotations

from collections.abc import Iterable

from ltm.core.decision import Add, Contradict, Decision, Reinforce, Supersede
from ltm.core.kinds import Kinds
from ltm.core.model import Memory, Status, Stored, Trust
from ltm.core.similar import jaccard, tokens_of

REPLACES = 0.5
"""Overlap above which an existing memory is the one a candidate says it replaces."""


CONTRADICTS = 0.5
"""Overlap, denials aside, from which two memories of which one denies are about the same."""

_DENIALS = frozenset({"not", "never", "dont", "doesnt", "cannot", "cant", "wont", "avoid", "stop"})


def decide(
    candidate: Memory, existing: Iterable[Stored], kinds: Kinds, *, replaces: str = ""
) -> Decision:
    """Add the candidate, let it replace an older memory, or count it as a repetition.

    Only memories of the candidate's kind and scope are compared. `replaces` is the text of the
    memory the candidate claims to replace; without a match the candidate is kept all the same.
    What waits in quarantine is compared with nothing: its words are not to stand for a person's,
    and only a user who says the very same lets it out. Every change of one older memory asks that
    it still is what the candidate was compared with.
    """
    peers = _peers(candidate, existing)
    for each in peers:
        if each.memory.status is Status.QUARANTINED and _vouches(candidate, each):
            return Reinforce(each.memory.id, candidate.source, expected=each.etag)
    peers = [each for each in peers if each.memory.status is not Status.QUARANTINED]
    if replaces:
        overlap, closest = _closest(replaces, peers)
        if closest is not None and overlap > REPLACES:
            return Supersede((closest.memory.id,), candidate, expected=closest.etag)
    if kinds[candidate.kind].single and peers and _words(candidate) != _words(peers[0].memory):
        return Supersede(tuple(each.memory.id for each in peers), candidate)
    overlap, closest = _closest(candidate.text, peers)
    if closest is None or overlap < kinds[candidate.kind].duplicate:
        opposed = _opposed(candidate, peers)
        if opposed is None:
            return Add(candidate)
        return Contradict(opposed.memory.id, candidate, expected=opposed.etag)
    if tokens_of(candidate.text) <= tokens_of(closest.memory.text):
        return Reinforce(closest.memory.id, candidate.source, expected=closest.etag)
    return Supersede((closest.memory.id,), candidate, expected=closest.etag)


def _vouches(candidate: Memory, waiting: Stored) -> bool:
    """Whether a user says word for word what waits: much the same may mean something else."""
    one, other = (" ".join(each.text.casefold().split()) for each in (candidate, waiting.memory))
    return candidate.source.trust is Trust.USER and one == other


def decide_warily(
    candidate: Memory, existing: Iterable[Stored], kinds: Kinds, *, replaces: str = ""
) -> Decision | None:
    """The same for what a model wrote down, which may change nothing but what it names.

    A repetition counts only if nobody confirmed the memory since it was said, because rules hear
    the same session, and ends a quarantine only if it is the user's very word. What only a tool
    said adds itself and touches nothing. None: there is nothing to do.
    """
    peers = _peers(candidate, existing)
    trusted = candidate.source.trust is not Trust.TOOL
    if replaces and trusted:
        overlap, closest = _closest(replaces, peers)
        if closest is not None and overlap > REPLACES:
            return Supersede((closest.memory.id,), candidate, expected=closest.etag)
    overlap, closest = _closest(candidate.text, peers)
    if closest is not None and overlap >= kinds[candidate.kind].duplicate:
        waits = closest.memory.status is Status.QUARANTINED
        if waits and not _vouches(candidate, closest):
            return Add(candidate) if candidate.source.trust is Trust.USER else None
        if not trusted or closest.memory.confirmed >= candidate.created:
            return None
        return Reinforce(closest.memory.id, candidate.source, expected=closest.etag)
    if kinds[candidate.kind].single and peers and trusted:
        return Supersede(tuple(each.memory.id for each in peers), candidate)
    return Add(candidate)


def _peers(candidate: Memory, existing: Iterable[Stored]) -> list[Stored]:
    return [
        each
        for each in existing
        if each.memory.kind == candidate.kind and each.memory.scope is candidate.scope
    ]


def opposes(one: str, other: str) -> bool:
    """Whether two texts say the contrary: much the same words, but only one of them denies."""
    words, others = tokens_of(one), tokens_of(other)
    if bool(words & _DENIALS) == bool(others & _DENIALS):
        return False
    return jaccard(words - _DENIALS, others - _DENIALS) >= CONTRADICTS


def _opposed(candidate: Memory, peers: Iterable[Stored]) -> Stored | None:
    return next((peer for peer in peers if opposes(candidate.text, peer.memory.text)), None)


def _words(memory: Memory) -> frozenset[str]:
    return tokens_of(memory.text)


def _closest(text: str, peers: Iterable[Stored]) -> tuple[float, Stored | None]:
    wanted = tokens_of(text)
    best: tuple[float, Stored | None] = (0.0, None)
    for peer in peers:
        overlap = jaccard(wanted, tokens_of(peer.memory.text))
        if overlap > best[0]:
            best = (overlap, peer)
    return best
