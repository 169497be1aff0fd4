"""Corrections by users (`friction.db`), the rules made of them, and whether those rules helped.

    observing ──promoted──▶ hot ──needed again and again, in two wordings──▶ escalated
        │ ▲                  │
        │ └────demoted───────┘          rejected: a person does not want it
        └──not seen for eight weeks──▶ expired

A row is evidence (one time a user reacted, with the words and the message it stands in), a
conversation that was looked at, a rule that evidence was gathered into, or a time when a rule
became a memory. Every figure and every state is computed from the rows, and a message is one row
however often it is read, so nothing can be counted twice or drift.

Transcripts are deleted by their clients after some weeks, so this cannot be derived again: a file
that cannot be read is put aside and never deleted.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Literal

from ltm.errors import NotFound, StorageFailed
from ltm.files.atomic import make_folder
from ltm.files.sqlite import Incompatible, Schema, keep, transaction
from ltm.model import iso, utc
from ltm.text.similarity import most_typical

RuleStatus = Literal["observing", "hot", "escalated", "expired", "rejected"]
Tier = Literal["low", "medium", "high"]

MEDIUM = 3
HIGH = 5
"""Conversations in which a behaviour was seen for it to be believed a little, and fully."""
RECURRENCES = 2
"""Conversations in which a hot rule is needed all the same before its wording has failed."""
WORDINGS = 2
"""Wordings that must fail before a rule is more than a memory can solve."""
EXPIRES = timedelta(weeks=8)
"""How long a rule that was never promoted is remembered without being seen."""
ENOUGH = 3
"""Conversations after a promotion before anything is said about its effect."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation that was looked at; forked and resumed sessions are one."""

    project: str
    id: str
    """The uuid of its first message: the same in every copy."""
    session: str
    started: str


@dataclass(frozen=True, slots=True)
class RuleEvidence:
    """One time a user reacted to what an agent did."""

    project: str
    conversation: str
    session: str
    message: str
    """The uuid of the message; with the signal it is unique in a project."""
    at: str
    """When, in UTC: ISO 8601."""
    signal: str
    weight: float
    statement: str
    """The user's own words, without secrets."""
    rule: str = ""
    """The rule it was gathered into, as `ag-001`."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One time a rule became a memory."""

    memory: str
    at: str
    ended: str = ""
    outcome: str = ""
    """How it ended: `rephrased`, `demoted` or `rejected`."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What users keep having to say, in their words, and what was done about it."""

    id: str
    statement: str
    status: RuleStatus
    observations: int
    """Conversations it was seen in. The only count that decides anything."""
    messages: int
    sessions: tuple[str, ...]
    first_seen: str
    last_seen: str
    attempts: tuple[Attempt, ...] = ()
    recurred_while_hot: int = 0
    """Conversations that began under the present memory and needed it all the same."""

    @property
    def tier(self) -> Tier:
        """How far it is believed."""
        return tier(self.observations)

    @property
    def memory(self) -> str:
        """The memory it is at present, '' when it is none."""
        last = self.attempts[-1] if self.attempts else None
        return last.memory if last and not last.ended else ""

    @property
    def since(self) -> str:
        """When it first became a memory; '' if it never did."""
        return next((each.at for each in self.attempts if each.memory), "")

    @property
    def wants_rewording(self) -> bool:
        return self.status == "hot" and self.recurred_while_hot >= RECURRENCES


@dataclass(frozen=True, slots=True)
class Share:
    """In how many of how many conversations something was seen."""

    seen: int
    of: int

    @property
    def rate(self) -> float:
        """As a share from 0 to 1; 0 when there were none."""
        return self.seen / self.of if self.of else 0.0


@dataclass(frozen=True, slots=True)
class Effect:
    """How often a rule was needed before it became a memory, and after."""

    rule: Rule
    before: Share
    after: Share

    @property
    def verdict(self) -> str:
        """What the figures say: `too early`, `stopped`, `less often`, `as before`, `more often`."""
        if self.after.of < ENOUGH:
            return "too early"
        if not self.after.seen:
            return "stopped"
        if self.after.rate < self.before.rate:
            return "less often"
        return "as before" if self.after.rate == self.before.rate else "more often"


def tier(observations: int) -> Tier:
    """How far something seen in so many conversations is believed."""
    if observations >= HIGH:
        return "high"
    return "medium" if observations >= MEDIUM else "low"


def rule_of(
    name: str,
    statement: str,
    evidence: Sequence[RuleEvidence],
    attempts: Sequence[Attempt],
    started: Mapping[str, str],
    now: datetime,
) -> Rule:
    """A rule from all that was seen of it, and all that was tried."""
    conversations = {each.conversation for each in evidence}
    times = sorted(each.at for each in evidence)
    present = attempts[-1] if attempts and not attempts[-1].ended else None
    recurred = _began_after(conversations, present.at, started) if present else 0
    failed = sum(
        _began_after(conversations, each.at, started, each.ended or None) >= RECURRENCES
        for each in attempts
        if each.memory
    )
    first, last = (times[0], times[-1]) if times else ("", "")
    status: RuleStatus = "observing"
    if any(each.outcome == "rejected" for each in attempts):
        status = "rejected"
    elif failed >= WORDINGS:
        status = "escalated"
    elif present:
        status = "hot"
    elif last and utc(last) + EXPIRES < now:
        status = "expired"
    return Rule(
        id=name,
        statement=statement,
        status=status,
        observations=len(conversations),
        messages=len({each.message for each in evidence}),
        sessions=tuple(sorted({each.session for each in evidence})),
        first_seen=first,
        last_seen=last,
        attempts=tuple(attempts),
        recurred_while_hot=recurred,
    )


def effect_of(rule: Rule, evidence: Sequence[RuleEvidence], started: Mapping[str, str]) -> Effect:
    """How often a rule was needed in conversations before it became a memory, and after.

    A conversation that was under way when it did counts as before: it did not have it.
    """
    needed = {each.conversation for each in evidence}
    after = {name for name, began in started.items() if began > rule.since}
    before = set(started) - after
    shares = (Share(len(needed & each), len(each)) for each in (before, after))
    return Effect(rule, *shares)


def _began_after(
    conversations: set[str], at: str, started: Mapping[str, str], until: str | None = None
) -> int:
    """How many of these conversations began after a moment, and before another one if given."""
    begun = (started.get(each, "") for each in conversations)
    return sum(at < each and (until is None or each <= until) for each in begun)


FILE = "friction.db"
_FIELDS = tuple(field.name for field in fields(RuleEvidence))

_TABLES = """
CREATE TABLE conversations(
  project TEXT NOT NULL, id TEXT NOT NULL, session TEXT NOT NULL, started TEXT NOT NULL,
  PRIMARY KEY(project, id)) WITHOUT ROWID;
CREATE TABLE evidence(
  project TEXT NOT NULL, conversation TEXT NOT NULL, session TEXT NOT NULL, message TEXT NOT NULL,
  at TEXT NOT NULL, signal TEXT NOT NULL, weight REAL NOT NULL, statement TEXT NOT NULL,
  rule TEXT NOT NULL, PRIMARY KEY(project, message, signal)) WITHOUT ROWID;
CREATE INDEX evidence_rule ON evidence(project, rule);
CREATE TABLE rules(
  project TEXT NOT NULL, id TEXT NOT NULL, statement TEXT NOT NULL,
  PRIMARY KEY(project, id)) WITHOUT ROWID;
CREATE TABLE attempts(
  number INTEGER PRIMARY KEY, project TEXT NOT NULL, rule TEXT NOT NULL, memory TEXT NOT NULL,
  at TEXT NOT NULL, ended TEXT NOT NULL DEFAULT '', outcome TEXT NOT NULL DEFAULT '')
"""

SCHEMA = Schema(1, _TABLES)


def opened(home: str) -> AbstractContextManager[Ledger]:
    """The ledger of the user whose files are in `home`, for as long as it is needed."""
    return closing(Ledger(os.path.join(home, FILE)))


class Ledger:
    """The ledger at `path`. Used by one thread at a time; several processes may share the file."""

    def __init__(self, path: str) -> None:
        make_folder(os.path.dirname(path))
        self.path = path
        try:
            self._db, _ = keep(path, SCHEMA)  # one that is broken is put aside first
        except Incompatible as error:
            raise StorageFailed(f"the ledger {error}", path=path, hint=error.hint) from error
        except (OSError, sqlite3.Error) as error:
            raise StorageFailed(f"the ledger cannot be opened: {error}", path=path) from error
        # Where a transcript was read to is noted elsewhere: what it said must survive a power cut.
        self._db.execute("PRAGMA synchronous = FULL")

    def close(self) -> None:
        self._db.close()

    # -- what was seen ---------------------------------------------------------------------------

    def note(
        self,
        conversations: Iterable[Conversation],
        evidence: Iterable[RuleEvidence],
        wordings: Mapping[tuple[str, str], str] | None = None,
    ) -> int:
        """Keep what was seen; what is known already stays as it is. How much of it was new.

        Evidence names the rule it belongs to; the rule is made when it is the first of it.
        `wordings` gives rules, by project and id, the words of their evidence that say it best.
        """
        new = 0
        with transaction(self._db):
            self._db.executemany(
                "INSERT INTO conversations VALUES(?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                " started = min(started, excluded.started)",
                [(each.project, each.id, each.session, each.started) for each in conversations],
            )
            for each in evidence:
                self._db.execute(
                    "INSERT OR IGNORE INTO rules VALUES(?, ?, ?)",
                    (each.project, each.rule, each.statement),
                )
                new += self._db.execute(
                    "INSERT OR IGNORE INTO evidence VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    tuple(getattr(each, name) for name in _FIELDS),
                ).rowcount
            for (project, rule), statement in (wordings or {}).items():
                self._db.execute(
                    "UPDATE rules SET statement = ? WHERE project = ? AND id = ?",
                    (statement, project, rule),
                )
        return new

    def evidence(self, project: str, rule: str = "") -> list[RuleEvidence]:
        """What was seen in a project, or of one rule, the oldest first."""
        only, values = (" AND rule = ?", (project, rule)) if rule else ("", (project,))
        rows = self._db.execute(
            f"SELECT * FROM evidence WHERE project = ?{only} ORDER BY at, message, signal", values
        )
        return [RuleEvidence(*row) for row in rows]

    def _by_rule(self, project: str) -> dict[str, list[RuleEvidence]]:
        """The evidence of every rule of a project, read once for all of them."""
        seen: dict[str, list[RuleEvidence]] = {}
        for each in self.evidence(project):
            seen.setdefault(each.rule, []).append(each)
        return seen

    def purge(self, project: str, quotes: Callable[[str], bool]) -> int:
        """Leave no word of what `quotes` knows in a project; how often it was seen.

        That it was seen stays, or it would be counted again from the transcript, words and all. A
        rule keeps its name with the words of what else it was seen in; without any, it is gone.
        """
        gone = [each for each in self.evidence(project) if quotes(each.statement)]
        named = self._db.execute(
            "SELECT id, statement FROM rules WHERE project = ?", (project,)
        ).fetchall()
        with transaction(self._db):
            self._db.executemany(
                "UPDATE evidence SET statement = '' WHERE project = ? AND message = ?"
                " AND signal = ?",
                [(project, each.message, each.signal) for each in gone],
            )
            seen = self._by_rule(project)
            for rule, statement in named:
                left = [each.statement for each in seen.get(rule, ()) if each.statement]
                if not left:
                    self._db.execute(
                        "DELETE FROM rules WHERE project = ? AND id = ?", (project, rule)
                    )
                elif quotes(statement):
                    self._db.execute(
                        "UPDATE rules SET statement = ? WHERE project = ? AND id = ?",
                        (most_typical(left), project, rule),
                    )
        self._db.execute("VACUUM")  # SQLite keeps what was overwritten until then
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return len(gone)

    # -- rules -----------------------------------------------------------------------------------

    def rules(self, project: str, now: datetime) -> list[Rule]:
        """The rules of a project with what they rest on; those seen most often come first."""
        return self._rules(project, self._by_rule(project), self._started(project), now)

    def _rules(
        self,
        project: str,
        seen: Mapping[str, Sequence[RuleEvidence]],
        started: Mapping[str, str],
        now: datetime,
    ) -> list[Rule]:
        attempts: dict[str, list[Attempt]] = {}
        for rule, *tried in self._db.execute(
            "SELECT rule, memory, at, ended, outcome FROM attempts WHERE project = ?"
            " ORDER BY number",
            (project,),
        ):
            attempts.setdefault(rule, []).append(Attempt(*tried))
        named = self._db.execute("SELECT id, statement FROM rules WHERE project = ?", (project,))
        found = [
            rule_of(name, statement, seen.get(name, []), attempts.get(name, []), started, now)
            for name, statement in named
        ]
        return sorted(found, key=lambda rule: (-rule.observations, rule.id))

    def promoted(self, project: str, rule: str, memory: str, at: datetime) -> None:
        """Note that a rule became a memory, or another one than before; once per memory."""
        with transaction(self._db):
            row = self._db.execute(
                "SELECT memory FROM attempts WHERE project = ? AND rule = ? AND ended = ''"
                " ORDER BY number DESC LIMIT 1",
                (project, rule),
            ).fetchone()
            if row is not None and row[0] == memory:
                return
            self._end(project, rule, at, "rephrased")
            self._db.execute(
                "INSERT INTO attempts(project, rule, memory, at) VALUES(?, ?, ?, ?)",
                (project, rule, memory, iso(at)),
            )

    def demoted(self, project: str, rule: str, at: datetime) -> None:
        """Note that a rule is no longer a memory; it is observed as before."""
        with transaction(self._db):
            self._end(project, rule, at, "demoted")

    def rejected(self, project: str, rule: str, at: datetime) -> None:
        """Note that a person does not want this rule: it is never promoted again."""
        with transaction(self._db):
            self._end(project, rule, at, "demoted")
            self._db.execute(
                "INSERT INTO attempts(project, rule, memory, at, ended, outcome)"
                " VALUES(?, ?, '', ?, ?, 'rejected')",
                (project, rule, iso(at), iso(at)),
            )

    def admitted(self, project: str, rule: str) -> None:
        """Take back that a person does not want this rule."""
        with transaction(self._db):
            self._db.execute(
                "DELETE FROM attempts WHERE project = ? AND rule = ? AND outcome = 'rejected'",
                (project, rule),
            )

    def effect(self, project: str, now: datetime) -> list[Effect]:
        """For each rule that became a memory: how often it was needed before, and since."""
        seen, started = self._by_rule(project), self._started(project)
        return [
            effect_of(rule, seen.get(rule.id, ()), started)
            for rule in self._rules(project, seen, started, now)
            if rule.since
        ]

    def _started(self, project: str) -> dict[str, str]:
        """When each conversation of a project began."""
        rows = self._db.execute(
            "SELECT id, started FROM conversations WHERE project = ?", (project,)
        )
        return dict(rows.fetchall())

    def _end(self, project: str, rule: str, at: datetime, outcome: str) -> None:
        """Note how the present attempt of a rule ended, if there is one."""
        known = "SELECT 1 FROM rules WHERE project = ? AND id = ?"
        if self._db.execute(known, (project, rule)).fetchone() is None:
            raise NotFound(f"there is no rule '{rule}' in this project", hint="try: ltm friction")
        self._db.execute(
            "UPDATE attempts SET ended = ?, outcome = ?"
            " WHERE project = ? AND rule = ? AND ended = ''",
            (iso(at), outcome, project, rule),
        )
