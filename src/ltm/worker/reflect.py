"""`ltm consolidate --all`: make memories of unread sessions, stashes, preferences and repetitions.

The order: unread parts of sessions, stashes, preferences, repetitions, views. Each stash is marked
only after what it holds is on the disk, every count is set and not added to, and one such run is at
work in a project at a time; so one that is killed can simply be started again.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar, cast

from ltm.capture.decide import Candidate
from ltm.capture.model_extract import Asked, ask_about
from ltm.capture.model_extract import candidates_in as read_answer
from ltm.capture.pipeline import READER, Captured, keep_episode, keep_late
from ltm.capture.provenance import evidence_of
from ltm.capture.remember import note_likely
from ltm.decisions import Add, Applied, Contradict, Decision, Reinforce, Supersede
from ltm.errors import LtmError, ModelFailed
from ltm.files.atomic import make_folder
from ltm.files.lock import Lock
from ltm.friction import promotion as preferences
from ltm.kinds import Kinds
from ltm.llm.model import Model, open_model
from ltm.model import Filter, Problem, Source, Status, Stored, Trust, iso
from ltm.notes.markdown import episode, moment, preference_in_words, prose, read, taught
from ltm.notes.stash import Stash, Stashes
from ltm.project.git import find
from ltm.project.layout import Places
from ltm.redact.redact import redacted
from ltm.sessions.digest import Chunk, DigestLine, chunks
from ltm.sessions.stats import has_grown
from ltm.state import corrections
from ltm.state.candidates import Candidates
from ltm.state.model_log import ModelLog
from ltm.state.session_log import SessionLog
from ltm.store.other_tools import as_answered
from ltm.store.project import OpenProject
from ltm.store.share import CameAlong
from ltm.store.store import Store
from ltm.upkeep import plan
from ltm.upkeep.consolidate import ConsolidationStep, propose
from ltm.upkeep.consolidate import apply as merge
from ltm.upkeep.consolidate import plan as repetitions
from ltm.upkeep.plan import Mass, let_through
from ltm.vault.vault import modified
from ltm.worker.learning import begin, learn_from
from ltm.worker.session_end import write_project_views

Tell = Callable[[int], object]
"""Called after each part with how many there are, for a progress bar."""

_Answer = TypeVar("_Answer")
_DAY = re.compile(r"20\d\d-\d\d-\d\d")
_SESSIONS = 200
_NEAR = 20


@dataclass(slots=True)
class Reflected:
    """What came of it."""

    dry_run: bool = False
    sessions: int = 0
    """Sessions that had more to say."""
    captured: Captured = field(default_factory=Captured)
    stashes: list[dict[str, Any]] = field(default_factory=list)
    preferences: list[preferences.PreferenceChange] = field(default_factory=list)
    merged: list[ConsolidationStep] = field(default_factory=list)
    held: tuple[Mass, ...] = ()
    """What was too much at once without consent."""
    written: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    model: str = ""
    """Why the model did not help; '' when it did, or none is switched on."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed, or nothing would."""
        heard = self.captured
        learned = heard.added or heard.superseded or heard.reinforced
        waits = self.dry_run and self.sessions
        return not (waits or learned or self.stashes or self.preferences or self.merged)


def reflect(
    project: OpenProject,
    *,
    now: datetime,
    dry_run: bool = False,
    consent: bool = False,
    tell: Tell = lambda parts: None,
    environ: Mapping[str, str] = os.environ,
) -> Reflected:
    """Make memories of all there is, or only say what would be made."""
    done = Reflected(dry_run)
    store, log, places = project.store, project.log, project.places
    make_folder(places.private)
    lock = Lock(os.path.join(places.private, "reflect.lock"))
    with lock, closing(ModelLog(places.state_db)) as models:
        ai = _Asking(open_model(project.config, places.home, models, environ))
        stashes = Stashes(places.project.root, places.private)
        waiting = [each for each in stashes.every() if not each.processed]
        done.problems += [Problem(path, why) for path, why in stashes.problems]
        behind = list(_sessions_behind(log, waiting))
        for path, session, started in behind if not dry_run else ():
            begin(log, path, session, places.project.id, places.project.root, started)
        sessions = log.sessions(places.project.id, _SESSIONS)
        unread = [each for each in sessions if has_grown(log, each, READER)]
        done.sessions = len(unread) + (len(behind) if dry_run else 0)
        parts = len(unread) + len(waiting) + 3
        for each in unread if not dry_run else ():
            done.captured += learn_from(project, each, now)
            tell(parts)
        taken = _Taken(store, log, ai, done, now, dry_run)
        for stash in waiting:
            taken.add(stash)
            if not dry_run:
                stashes.mark(stash)
            tell(parts)
        if not dry_run:
            note_likely(store, Candidates(places.private), done.captured.likely, now)
        _count(store, log, places, done, now, ai, dry_run)
        tell(parts)
        done.merged = repetitions(store, now)
        through, done.held = let_through(store, done.merged, consent=consent)
        if not dry_run:
            done.merged = merge(store, through)
            proposed: list[ConsolidationStep] = ai.ask(lambda model: propose(store, model), [])
            through, held = let_through(store, proposed, consent=consent)
            done.merged += merge(store, through)
            done.held += held
            plan.note_masses(log, places.project.id, plan.CONSOLIDATE, done.held)
            tell(parts)
            views = write_project_views(project, now)
            done.written = views.written
            done.problems += as_answered(places, views.problems)
        tell(parts)
        done.model = ai.trouble
    return done


def _sessions_behind(log: SessionLog, stashes: Sequence[Stash]) -> Iterator[tuple[str, str, str]]:
    """The sessions behind stashes that no hook told of: transcript, id and beginning.

    What they taught is heard there first, so that it counts once, however the session is read
    later. A stash that changed since we wrote it could name any file, and is not asked.
    """
    for stash in stashes:
        about = read(stash.text).meta
        path, session = about.get("transcript", ""), about.get("session", "")
        ours = stash.ours == "written" and bool(session) and os.path.isfile(path)
        if ours and log.get(session) is None:
            yield path, session, about.get("started", "")


class _Trial:
    """A store in which nothing changes: what would become of a candidate is said and not done."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.titles: dict[str, str] = {}
        """What would be new, by ids that no memory has."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def apply(self, decision: Decision) -> Applied:
        """What the decision would do."""
        if isinstance(decision, Reinforce):
            return Applied("reinforced", self._store.read(decision.id))
        assert isinstance(decision, Add | Supersede | Contradict)
        memory = decision.memory if isinstance(decision, Add) else decision.by
        self.titles[memory.id] = memory.title
        gone = decision.ids if isinstance(decision, Supersede) else ()
        return Applied("added", Stored(memory, "", "", ""), gone)


class _Taken:
    """Keeps what stashes hold. What did not come from here waits for a person."""

    def __init__(
        self,
        store: Store,
        log: SessionLog,
        ai: _Asking,
        done: Reflected,
        now: datetime,
        dry_run: bool,
    ) -> None:
        self._store, self._log, self._ai, self._done = store, log, ai, done
        self._now, self._dry_run = now, dry_run
        self._along = CameAlong()
        episodes = store.list(Filter(kinds=("episode",), statuses=tuple(Status))).items
        self._imported = {each.memory.legacy_id for each in episodes}

    def add(self, stash: Stash) -> None:
        """Keep what a stash holds, and its episode unless an import brought that."""
        store, now, kept = self._store, self._now, Captured()
        own = self._is_own(stash)
        found, told = candidates_in(stash, store.kinds, now, own=own)
        trial = _Trial(store)
        if self._dry_run:
            store = cast(Store, trial)
        elif own and not stash.ours:
            found += self._by_model(stash)
        session = read(stash.text).meta.get("session", "") if stash.ours else ""
        evidence = evidence_of(self._log, session, verbatim=True)
        keep_late(store, found, kept, evidence=evidence, now=now)
        if told is not None and f"stash/{os.path.basename(stash.path)}" not in self._imported:
            keep_episode(store, told, kept, evidence=evidence, now=now)
        kept.added = [trial.titles.get(name, name) for name in kept.added]
        # However old a stash is, a person has as long to look at what it likely holds.
        self._done.captured.likely += [replace(each, at=iso(now)) for each in kept.likely]
        self._done.stashes.append(
            {
                "name": stash.name,
                "path": stash.path,
                "quarantined": not (own or stash.ours),
                "episode": told.title if told is not None else "",
                "added": kept.added,
                "superseded": kept.superseded,
                "reinforced": kept.reinforced,
                "known": kept.skipped,
            }
        )

    def _is_own(self, stash: Stash) -> bool:
        """Whether a file of another tool was written here: it did not come with the repository.

        Without a repository nothing says where it came from.
        """
        return bool(stash.ours) or (
            find(os.path.dirname(stash.path)) is not None and not self._along.has(stash.path)
        )

    def _by_model(self, stash: Stash) -> list[Candidate]:
        """What the model finds in free text, if one is switched on."""
        if self._ai.model is None:
            return []
        kinds, at = self._store.kinds, moment(read(stash.text), _written(stash))
        lines = redacted(stash.text).splitlines()
        found: list[Candidate] = []
        for chunk in chunks(DigestLine(f"CLAUDE: {line}", 0) for line in lines if line.strip()):
            near = self._store.search(chunk.text[:2_000], Filter(), _NEAR).items
            asked = ask_about(chunk, [each.stored.memory for each in near], kinds)

            def answer(model: Model, asked: Asked = asked, chunk: Chunk = chunk) -> list[Candidate]:
                return read_answer(model.ask(asked.system, asked.prompt), chunk, kinds, "", at)[0]

            found += self._ai.ask(answer, [])
        source = Source(Trust.ASSISTANT, tool="stash")
        return [
            replace(each, source=source) for each in found if each.source.trust is not Trust.TOOL
        ]


def candidates_in(
    stash: Stash, kinds: Kinds, now: datetime, *, own: bool = False
) -> tuple[list[Candidate], Candidate | None]:
    """What a stash teaches, and its episode; `own` says that it was written on this machine."""
    noted = read(stash.text)
    at = moment(noted, iso(now) if stash.ours else _written(stash))
    session = noted.meta.get("session", "") if stash.ours else ""
    trust = Trust.ASSISTANT if own or stash.ours else Trust.TOOL
    source = Source(trust, session, noted.meta.get("lines", ""), "stash")
    found = taught(stash.text, kinds, source, at)
    if not stash.ours:  # in free words, where ours has headings for what it holds
        found += prose(stash.text, kinds, source, at)
    return found, episode(noted, kinds, source, at, noted.meta.get("name") or stash.name)


def _written(stash: Stash) -> str:
    """When a stash was written that does not say so: the day in its name, or its file's time."""
    if found := _DAY.search(stash.name):
        return found[0]
    at = modified(stash.path)
    return iso(at) if at is not None else ""


def _count(
    store: Store,
    log: SessionLog,
    places: Places,
    done: Reflected,
    now: datetime,
    ai: _Asking,
    dry_run: bool,
) -> None:
    """Preferences from the ledger, where there is one."""
    if not os.path.exists(os.path.join(places.home, corrections.FILE)):
        return
    project = places.project.id
    try:
        with corrections.opened(places.home) as book:
            reword = ai.reword if ai.model is not None and not dry_run else None
            done.preferences = preferences.plan(
                store, book, project, now, reword, lambda session: evidence_of(log, session)
            )
            if not dry_run:
                done.preferences = preferences.apply(store, book, project, done.preferences, now)
    except (sqlite3.Error, LtmError) as error:
        done.problems.append(Problem(os.path.join(places.home, corrections.FILE), str(error)))


class _Asking:
    """The model, if one is switched on; the first failure ends the asking, and nothing else."""

    def __init__(self, model: Model | None) -> None:
        self.model = model
        self.trouble = ""

    def reword(self, statements: Sequence[str]) -> str:
        """A wording for what users wrote, or nothing."""
        return self.ask(lambda model: preference_in_words(statements, model), "")

    def ask(self, question: Callable[[Model], _Answer], otherwise: _Answer) -> _Answer:
        """The answer of the model; `otherwise` if there is none, or it failed."""
        if self.model is None or self.trouble:
            return otherwise
        try:
            return question(self.model)
        except ModelFailed as error:
            self.trouble = str(error)
            return otherwise
