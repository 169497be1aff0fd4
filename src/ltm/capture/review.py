"""Candidates from a session to a memory: noted when they are likely, offered once, kept or dropped.

What is noted here comes from `pipeline.keep`, which asked whose word it is and took its secrets
out. Keeping a candidate is remembering it in its own words, as said by the one who said it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from hashlib import blake2b

from ltm.capture.decide import Candidate
from ltm.capture.remember import RememberRequest, RememberResult, remember
from ltm.model import Filter, Memory, Source, Status, Trust, choice, utc
from ltm.state.candidates import DROPPED, KEPT, CandidateRecord, Candidates
from ltm.store.store import Store
from ltm.text.sameness import holds, key

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_ID = 5
_NEAR = 20


def note_likely(
    store: Store, candidates: Candidates, likely: Iterable[Candidate], now: datetime
) -> None:
    """Keep what a session likely taught, unless it says where the work stands or is known."""
    lasting = [each for each in likely if not (each.fleeting or store.kinds[each.kind].single)]
    records = [_record(each, now) for each in lasting if not _is_known(store, each.text)]
    if records:
        candidates.add(records)


def settle_known(candidates: Candidates, memories: Iterable[Memory]) -> None:
    """Take out what new memories say: it was said more surely since."""
    texts = [each.text for each in memories if each.status is Status.ACTIVE]
    known = [
        each.id for each in candidates.waiting() if any(holds(text, each.text) for text in texts)
    ]
    if known:
        candidates.decide(known, KEPT)


def keep_candidate(
    store: Store, candidates: Candidates, record: CandidateRecord, *, by: str, auto_tag: bool
) -> RememberResult:
    """Make a memory of a candidate; `by` is the command or tool that confirmed it."""
    wish = RememberRequest(
        text=record.text,
        kind=record.kind if record.kind in store.kinds else None,
        impact=record.impact or None,
        scope=record.scope or None,
        auto_tag=auto_tag,
        source=Source(choice(Trust, record.trust), record.session, record.lines, by),
    )
    done = remember(store, wish)
    candidates.decide([record.id], KEPT)
    return done


def drop_candidates(candidates: Candidates, records: Iterable[CandidateRecord]) -> None:
    """Refuse candidates: they are neither offered nor noted again."""
    candidates.decide([each.id for each in records], DROPPED)


def _record(candidate: Candidate, now: datetime) -> CandidateRecord:
    source = candidate.source
    return CandidateRecord(
        _id_of(candidate.text),
        candidate.text,
        candidate.kind,
        str(candidate.impact or ""),
        str(candidate.scope),
        str(source.trust),
        source.session,
        source.lines,
        round(1000 * candidate.weight),
        int(_moment(candidate.at, now).timestamp()),
    )


def _id_of(text: str) -> str:
    """A short id that what says the same has too."""
    digest = blake2b(" ".join(key(text)).encode("utf-8", "replace"), digest_size=8).digest()
    number = int.from_bytes(digest, "big")
    return "".join(_ALPHABET[number >> 5 * place & 31] for place in range(_ID))


def _moment(text: str, now: datetime) -> datetime:
    try:
        return min(utc(text), now)
    except ValueError:
        return now


def _is_known(store: Store, text: str) -> bool:
    """Whether a memory says it already, or did before it was forgotten or replaced."""
    found = store.search(text[:2_000], Filter(statuses=tuple(Status)), _NEAR).items
    return any(holds(each.stored.memory.text or each.stored.memory.title, text) for each in found)
