"""Statements of a project's sessions that wait to be confirmed, in `candidates.json`.

Each has an id that follows from its words, so that what says the same is there once and what was
dropped does not come back when its session is read again. One that waits goes 30 days after it was
said. One that was decided about leaves its id for a year, and none of its words. Hooks read this to
compose a session's start; whatever changes it holds a lock.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

from ltm.files.atomic import failed, make_folder, read_plain, write_file
from ltm.files.fastjson import read_object, write
from ltm.record import NamedTuple

CANDIDATES_FILE = "candidates.json"
KEPT, DROPPED = "kept", "dropped"

DAYS = 30
"""Days after which an unconfirmed statement is gone."""

PER_SESSION = 10
"""Candidates a session may leave; the best are kept."""

_PER_PROJECT = 200
_DECIDED_DAYS = 365
_DAY = 24 * 3600
_LIMIT = 8 * 1024 * 1024


class CandidateRecord(NamedTuple):
    """A statement that waits, or the id of one that was decided about."""

    id: str
    text: str = ""
    kind: str = ""
    impact: str = ""
    scope: str = ""
    trust: str = ""
    """Who said it."""
    session: str = ""
    lines: str = ""
    weight: int = 0
    """How probable it is that it is worth keeping, in thousandths."""
    said: int = 0
    """When it was said, in seconds since 1970."""
    found: int = 0
    """When it was noted here, in milliseconds since 1970."""
    offered: int = 0
    """When the session that was offered it began, in seconds since 1970; 0 when none was."""
    outcome: str = ""
    """What was decided about it; '' while it waits."""


class Candidates:
    """The candidates of the project whose folder in LTM_HOME is `private`."""

    def __init__(self, private: str) -> None:
        self._private = private
        self.path = os.path.join(private, CANDIDATES_FILE)

    def waiting(self) -> list[CandidateRecord]:
        """Those that wait for a decision: the latest day first, then the user's, the best."""
        return _ordered(each for each in _fresh(self._load()) if not each.outcome)

    def decided(self) -> list[CandidateRecord]:
        """Those that were decided about in the last year; they have no words any more."""
        return [each for each in _fresh(self._load()) if each.outcome]

    def offers(self, most: int, at: float | None = None) -> list[CandidateRecord]:
        """Those that a session is offered when it begins, now or at a moment that was."""
        known = float("inf") if at is None else 1000 * at
        new = (each for each in self.waiting() if not each.offered and each.found <= known)
        return list(islice(new, most))

    def add(self, records: Iterable[CandidateRecord]) -> None:
        """Keep what is not known yet, so many of a session and of the project at the most."""
        with self._changing() as kept:
            found = time.time_ns() // 1_000_000
            for record in records:
                kept.setdefault(record.id, record._replace(found=found))
            waiting = _ordered(each for each in kept.values() if not each.outcome)
            by_session: dict[str, list[CandidateRecord]] = {}
            for each in waiting:
                by_session.setdefault(each.session, []).append(each)
            for each in waiting[_PER_PROJECT:]:
                kept.pop(each.id)
            for left in by_session.values():
                best = sorted(left, key=lambda each: (not each.offered, -each.weight))
                for each in best[PER_SESSION:]:
                    kept.pop(each.id, None)

    def note_offered(self, began: float, most: int) -> None:
        """Note that a session began, and was offered what was there by then."""
        with self._changing() as kept:
            for each in self.offers(most, began):
                kept[each.id] = each._replace(offered=int(began))

    def decide(self, ids: Iterable[str], outcome: str) -> None:
        """Note what became of candidates; their words go."""
        with self._changing() as kept:
            for name in ids:
                if name in kept:
                    kept[name] = CandidateRecord(name, said=kept[name].said, outcome=outcome)

    def reopen(self, records: Iterable[CandidateRecord]) -> None:
        """Let candidates wait again that were decided about by mistake."""
        with self._changing() as kept:
            kept.update((each.id, each) for each in records)

    def outcomes(self) -> dict[str, int]:
        fresh = list(_fresh(self._load()))
        return {
            name: sum(each.outcome == outcome for each in fresh)
            for name, outcome in (("kept", KEPT), ("dropped", DROPPED), ("waiting", ""))
        }

    def purge(self, is_purged: Callable[[CandidateRecord], bool]) -> int:
        """Delete those that wait and are meant; how many there were."""
        doomed = [each.id for each in self._load().values() if each.text and is_purged(each)]
        if doomed:
            with self._changing() as kept:
                for name in doomed:
                    kept.pop(name, None)
        return len(doomed)

    def _load(self) -> dict[str, CandidateRecord]:
        try:
            return self._read()
        except OSError:
            return {}

    def _read(self) -> dict[str, CandidateRecord]:
        try:
            found = read_object(read_plain(self.path, limit=_LIMIT).decode("utf-8", "replace"))
        except FileNotFoundError:
            return {}
        records = {}
        for name, value in found.items():
            given = value if isinstance(value, dict) else {}
            # A field that is not of its type counts as not there.
            fields = {
                field: given[field]
                for field, default in CandidateRecord._field_defaults.items()
                if type(given.get(field)) is type(default)
            }
            records[name] = CandidateRecord(name, **fields)
        return records

    @contextmanager
    def _changing(self) -> Iterator[dict[str, CandidateRecord]]:
        """Every record by its id, to be changed; written at the end without what is too old."""
        from ltm.files.lock import Lock  # hooks only read

        make_folder(self._private)
        with Lock(os.path.join(self._private, "candidates.lock")):
            try:
                kept = self._read()
            except OSError as error:
                raise failed(error, "read the file", self.path) from error
            before = dict(kept)
            yield kept
            left = {each.id: each for each in _fresh(kept)}
            if left != before:
                data = {
                    name: {field: v for field, v in each._asdict().items() if v and field != "id"}
                    for name, each in left.items()
                }
                write_file(self.path, write(data).encode("ascii"))


def _fresh(records: dict[str, CandidateRecord]) -> Iterator[CandidateRecord]:
    now = time.time()
    for each in records.values():
        if now - each.said < _DAY * (_DECIDED_DAYS if each.outcome else DAYS):
            yield each


def named(records: Iterable[CandidateRecord], ids: Collection[str]) -> list[CandidateRecord]:
    """The records of these ids, each once; `NotFound` names one that does not wait."""
    from ltm.errors import NotFound

    known = {each.id: each for each in records}
    wanted = list(dict.fromkeys(each.strip().lower() for each in ids))
    for each in wanted:
        if each not in known:
            raise NotFound(f"no candidate '{each}' waits", hint="list them with: ltm review")
    return [known[each] for each in wanted]


def _ordered(records: Iterable[CandidateRecord]) -> list[CandidateRecord]:
    return sorted(
        records, key=lambda each: (-(each.said // _DAY), each.trust != "user", -each.weight)
    )
