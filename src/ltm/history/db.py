"""What was said in a project's sessions, word for word and searchable: its `sessions.db`.

A client deletes its transcripts after some weeks, so this cannot be derived again: a damaged file
is moved aside and told as a problem, and another is begun from the transcripts that are still
there. For that, and so that nothing is kept twice, how far a transcript was read is noted in the
same transaction as what was read: a crash or a power cut loses both or neither.

What is kept can be looked up as `history.search` says. A project never sees another's file.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from ltm.errors import Conflict, StorageFailed
from ltm.files.atomic import make_folder
from ltm.files.sqlite import (
    Older,
    copy,
    empty,
    is_busy,
    is_damaged,
    is_in_place,
    is_unwritable,
    keep,
    look,
    migrate,
    set_aside,
    transaction,
)
from ltm.history.passage import Header, Passage
from ltm.history.search import PassageLookups
from ltm.history.tables import SCHEMA, PassageRows, kept_path, message_number, message_of
from ltm.index.index import keep_vectors, vectors_path
from ltm.model import Problem, iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ltm.config.config import Config
    from ltm.store.project import OpenProject

_PRUNED = 0.9  # of what may be kept: pruning to less than the limit makes it rare
_PURGED = "purged"
_MEGABYTE = 1_000_000


class Passages(PassageLookups):
    """The passages of one project, in the file at `path`. Used by one thread at a time.

    Reading never fails: where there is no file, or it cannot be read, there is
    nothing. A change raises `StorageFailed` when it cannot be kept.
    """

    def __init__(self, path: str, *, readonly: bool = False) -> None:
        self.path = path
        self.problem: Problem | None = None
        """What was wrong with the file, if anything was."""
        self._readonly = readonly
        self._use(self._opened())

    def close(self) -> None:
        self._db.close()

    def is_in_place(self) -> bool:
        """Whether it still reads the file that has its name, which can be read."""
        return self.problem is None and is_in_place(self._db, self.path)

    # -- keeping ---------------------------------------------------------------------------------

    def cursor(self, session: str, transcript: str) -> str:
        """How far a transcript was read into this file; '' at its beginning."""
        row = self._db.execute(
            "SELECT cursor FROM cursors WHERE session = ? AND path = ?",
            (session, kept_path(transcript)),
        ).fetchone()
        return row[0] if row else ""

    def known_messages(self, uuids: Sequence[str]) -> set[str]:
        """Those of a few hundred messages that were kept before, in whatever session."""
        numbers = {message_number(uuid): uuid for uuid in uuids}
        return {numbers[number] for number in self._rows.known([*numbers])}

    def is_purged(self, session: str) -> bool:
        return self.cursor(session, "") == _PURGED

    def add(
        self,
        header: Header,
        passages: Iterable[Passage],
        *,
        after: str = "",
        cursor: str = "",
    ) -> int:
        """Keep passages of a session and how far it was read, all or nothing; how many were new.

        A message that is known, from this session or from one it was forked from, is left out.
        `after` is the cursor the reading began at: if another process has read on since, this is
        a `Conflict`, and reading begins again from there.
        """
        with self._changing():
            if self.cursor(header.id, header.transcript) != after or self.is_purged(header.id):
                raise Conflict("this session was read or purged meanwhile", path=self.path)
            fresh = [
                each
                for each in dict.fromkeys(passages)
                if not self._rows.known([message_of(header.id, each)])
            ]
            if fresh:
                self._rows.put(header, fresh)
            if cursor:
                self._rows.put_cursor(header.id, header.transcript, cursor)
        return len(fresh)

    # -- letting go ------------------------------------------------------------------------------

    def purge(self, rows: Iterable[int], messages: Iterable[str] = ()) -> int:
        """Delete passages for good, leaving no trace of their words; how many there were.

        They do not come back when their transcript is read again, and neither do these messages if
        they were not kept yet.
        """
        with self._changing():
            gone = self._rows.remove(rows)
            self._rows.note_known(messages)
        self._wipe()
        return gone

    def purge_session(self, session: str) -> int:
        """Delete a session for good; nothing of it is kept again, not even what is said later."""
        with self._changing():
            gone = self._rows.remove(self._rows.of_session(session))
            self._rows.put_cursor(session, "", _PURGED)
        self._wipe()
        return gone

    def prune(self, *, before: str = "", most: int = 0) -> int:
        """Let go of sessions that ended before a moment, and of the oldest while the file is
        larger than so many bytes; how many passages went. What is newest always stays."""
        with self._changing():
            doomed = self._rows.ended_before(before) if before else []
            used = self._rows.used_bytes() if most else 0
            excess = 1 - _PRUNED * most / used if used > most else 0.0
            doomed += self._rows.oldest(excess, but=set(doomed)) if most else []
            gone = self._rows.remove(
                row for session in doomed for row in self._rows.of_session(session)
            )
        self._wipe()
        return gone

    def _wipe(self) -> None:
        """Leave no trace of what was removed, also by a process that did not come this far."""
        try:
            if self._rows.has_traces():
                self._rows.wipe()
                keep_vectors(vectors_path(self.path), self._rows.all())
                self._rows.note_wiped()
        except sqlite3.Error as error:
            raise self._failed(error) from None

    # -- the file --------------------------------------------------------------------------------

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """All of a change, or nothing of it and the reason."""
        if self._readonly:
            raise StorageFailed("what was said in sessions cannot be changed here", path=self.path)
        try:
            with transaction(self._db):
                yield
        except sqlite3.Error as error:
            if is_damaged(error):
                self._mend(error)
            raise self._failed(error) from None

    def _failed(self, error: sqlite3.Error) -> StorageFailed:
        return StorageFailed(
            f"what was said in sessions cannot be changed: {error}", path=self.path
        )

    def _use(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._rows = PassageRows(db)

    def _opened(self) -> sqlite3.Connection:
        if self._readonly:
            return self._looked_at()
        try:
            make_folder(os.path.dirname(self.path))
            db, aside = keep(self.path, SCHEMA)
        except (OSError, sqlite3.Error, StorageFailed):
            return self._looked_at()
        if aside:
            self._tell_aside(aside)
        return db

    def _looked_at(self) -> sqlite3.Connection:
        """What is there to read; nothing where no file can be read."""
        self._readonly = True
        try:
            if os.path.exists(self.path):
                return self._look()
        except sqlite3.Error as error:
            self.problem = Problem(self.path, f"cannot be read: {error}")
        return empty(SCHEMA)

    def _look(self) -> sqlite3.Connection:
        """The file to read from; one of a former schema is migrated first, in memory if need be."""
        try:
            return look(self.path, SCHEMA, long=True)
        except Older:
            pass
        try:
            migrate(self.path, SCHEMA)
        except (OSError, sqlite3.Error) as error:
            if isinstance(error, OSError) or is_unwritable(error):
                return copy(self.path, SCHEMA)
            raise
        return look(self.path, SCHEMA, long=True)

    def _mend(self, error: Exception) -> bool:
        if is_busy(error):
            return False
        self._db.close()
        if self._readonly or not (isinstance(error, sqlite3.Error) and is_damaged(error)):
            # Whatever it is, the file may be sound: it is left alone, and nothing is added to it.
            self._readonly = True
            self.problem = Problem(self.path, f"cannot be read: {error}")
            self._use(empty(SCHEMA))
            return True
        # The first to meet the damage has put the file aside, and begun the present one.
        if is_in_place(self._db, self.path):
            aside = set_aside(self.path)
            if aside:
                self._tell_aside(aside)
        self._use(self._opened())
        return True

    def _tell_aside(self, aside: str) -> None:
        self.problem = Problem(
            self.path,
            f"was damaged and is begun again; what it held is in {aside}"
            " (fill it again with: ltm capture --all)",
        )


def passages_of(project: OpenProject, *, readonly: bool = False) -> Passages:
    """What was said in a project's sessions, open until the project is closed.

    With `readonly` no file is made where there is none.
    """
    path = project.places.sessions_db
    if readonly and not project.has("passages"):
        return project.part("passages to read", lambda: Passages(path, readonly=True))
    return project.part("passages", lambda: Passages(path))


def is_behind(project: OpenProject, session: str, transcript: str) -> bool:
    """Whether a transcript is not as long as it was when it was last read into a project's file."""
    if not project.config.get("sessions.keep"):
        return False
    if not os.path.exists(project.places.sessions_db):
        return True
    from ltm.sessions.sources import cursor_of, extent  # a question needs no readers

    place = passages_of(project).cursor(session, transcript)
    try:
        return cursor_of(json.dumps(json.loads(place)["at"])).offset != extent(transcript)
    except (ValueError, KeyError, TypeError, OSError):
        return True


def let_go(project: OpenProject, now: datetime) -> int:
    """Let go of what is older, or more, than the options say; how many passages went."""
    config = project.config
    before, most = oldest_kept(config, now), int(config.get("sessions.megabytes")) * _MEGABYTE
    if not (before or most) or not os.path.exists(project.places.sessions_db):
        return 0
    return passages_of(project).prune(before=before, most=most)


def oldest_kept(config: Config, now: datetime) -> str:
    """The moment before which nothing is kept; '' when everything is."""
    days = int(config.get("sessions.days"))
    return iso(now - timedelta(days=days)) if days else ""
