"""What users had to correct, and what became of the rules that were made of it.

Owns `friction.db`: evidence (one time a user reacted, with the words and the message it stands in),
the conversations that were looked at, the rules evidence was gathered into, and when a rule became
a memory. Nothing is counted here that is not a row, and a message is one row however often it is
read. What a rule's state is follows from the rows (`core.rulestate`), so it cannot drift from them.

    ledger.evidence(project)                  what was seen
    ledger.rules(project, now)                rules, how often each was seen, and their state
    ledger.promoted(project, rule, id, now)   a rule became a memory
    ledger.demoted(...), ledger.rejected(...) it is one no more; a person does not want it
    ledger.effect(project)                    how often it was needed before and after

Transcripts are deleted by their clients after some weeks, so this cannot be derived again: a file
that cannot be read is put aside and never deleted. Imports core and storage's database.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from datetime import datetime

from ltm.core.errors import NotFound, StorageFailed
from ltm.core.model import iso
from ltm.core.phrases import most_typical
from ltm.core.rulestate import Attempt, Conversation, Effect, Rule, RuleEvidence, effect_of, rule_of
from ltm.storage.database import Incompatible, Schema, keep, transaction
from ltm.storage.durable import make_folder

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


@contextmanager
def opened(home: str) -> Iterator[Ledger]:
    """The ledger of the user whose files are in `home`, for as long as it is needed."""
    ledger = Ledger(os.path.join(home, FILE))
    try:
        yield ledger
    finally:
        ledger.close()


class Ledger:
    """The ledger at `path`. Used by one thread at a time; several processes may share the file."""

    def __init__(self, path: str) -> None:
        make_folder(os.path.dirname(path))
        self.path = path
        self._db = _connect(path)

    def close(self) -> None:
        """Give the file back."""
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
        self._db.execute("VACUUM")  # SQLite keeps what was overwritten until told
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
            self._must_exist(project, rule)
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
            self._must_exist(project, rule)
            self._end(project, rule, at, "demoted")

    def rejected(self, project: str, rule: str, at: datetime) -> None:
        """Note that a person does not want this rule: it is never promoted again."""
        with transaction(self._db):
            self._must_exist(project, rule)
            self._end(project, rule, at, "demoted")
            self._db.execute(
                "INSERT INTO attempts(project, rule, memory, at, ended, outcome)"
                " VALUES(?, ?, '', ?, ?, 'rejected')",
                (project, rule, iso(at), iso(at)),
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

    def _must_exist(self, project: str, rule: str) -> None:
        known = self._db.execute(
            "SELECT 1 FROM rules WHERE project = ? AND id = ?", (project, rule)
        ).fetchone()
        if known is None:
            raise NotFound(f"there is no rule '{rule}' in this project", hint="try: ltm friction")

    def _end(self, project: str, rule: str, at: datetime, outcome: str) -> None:
        self._db.execute(
            "UPDATE attempts SET ended = ?, outcome = ?"
            " WHERE project = ? AND rule = ? AND ended = ''",
            (iso(at), outcome, project, rule),
        )


def _connect(path: str) -> sqlite3.Connection:
    """The database at `path`; one that is broken is put aside first."""
    try:
        db, _ = keep(path, SCHEMA)
    except Incompatible as error:
        raise StorageFailed(f"the ledger {error}", path=path, hint=error.hint) from error
    except (OSError, sqlite3.Error) as error:
        raise StorageFailed(f"the ledger cannot be opened: {error}", path=path) from error
    # Where a transcript was read to is noted elsewhere: what it told must survive a power cut.
    db.execute("PRAGMA synchronous = FULL")
    return db
