"""The replica of a team's memories: a vault of ordinary files that is read like any other.

A change made here is in the outbox before it is in a file, so that what is acknowledged will be
sent. What the server says then takes the place of the file, unless a later decision about the same
memory still waits. `known.json` has, for each memory, the etag of the server's state and that of
the file as it was written for it: a file that is otherwise, with nothing waiting, was edited by
hand, and is sent as a decision too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ltm.decisions import (
    TEXT,
    Add,
    Adopt,
    Applied,
    Copy,
    Decision,
    Purge,
    Reduce,
    Reinforce,
    Revise,
    Sign,
    decision_record,
)
from ltm.errors import NotFound, Refused
from ltm.files.atomic import make_folder, read_plain, write_file
from ltm.files.lock import Lock
from ltm.index.index import Index, forget_vectors
from ltm.kinds import Kinds
from ltm.model import Filter, Memory, Scope, Status, Stored, iso
from ltm.record import NamedTuple
from ltm.state.usage import State
from ltm.store.file_store import FileStore
from ltm.store.open import HOLDS
from ltm.team.outbox import Outbox, ids_of
from ltm.team.schedule import last_round
from ltm.team.teams import Team
from ltm.transfer.export import cleaned
from ltm.vault import codec
from ltm.vault.vault import Vault, etag

if TYPE_CHECKING:
    from ltm.config.config import Config
    from ltm.project.layout import Places

KNOWN_FILE = "known.json"
_LIMIT = 256 * 1024 * 1024  # bytes: a hundred for each of a million memories, and more
_EVERY = Filter(statuses=tuple(Status))


class ServerState(NamedTuple):
    """A memory as the server has it now; None if it is not there."""

    id: str
    etag: str
    memory: Memory | None
    is_purged: bool
    """Whether it was there, and no byte of it is to be kept."""


class Known(NamedTuple):
    """What is known of the server: how far its changes were read, and the etags of each memory."""

    cursor: int
    etags: dict[str, tuple[str, str]]
    """The server's etag, and the file's when it was written for that."""


class ReplicaStore(FileStore):
    """The memories of a team as a store of their own, whose changes are sent to the team."""

    def __init__(self, team: Team, state: State, kinds: Kinds) -> None:
        vault = Vault(f"team:{team.name}", team.folder)
        # Signing is a matter between a person and their own machines: no key.
        super().__init__([vault], dict.fromkeys(Scope, vault), state, kinds, project=team.name)
        self.team = team
        self.vault = vault
        self.outbox = Outbox(team.folder)
        self.hold = HOLDS["agent"]
        self._turn = Lock(os.path.join(team.folder, "outbox.lock"))

    def as_record(self) -> dict[str, Any]:
        """How the person and this machine stand to the team, as JSON values."""
        team, last = self.team, last_round(self.team.folder)
        return {
            "name": team.name,
            "address": team.place.address,
            "person": team.person,
            "role": team.role,
            "trusted": team.place.trusted,
            "project": team.place.project,
            "memories": self.list(Filter(), 0).total,
            "quarantined": self.list(Filter(statuses=(Status.QUARANTINED,)), 0).total,
            "unsent": self.outbox.count(),
            "refused": [each.as_record() for each in self.outbox.refused()],
            "synchronized": iso(datetime.fromtimestamp(last.succeeded, UTC))
            if last.succeeded
            else None,
            "error": last.error,
            "path": team.folder,
        }

    # -- changes made here -----------------------------------------------------------------------

    def apply(self, decision: Decision) -> Applied:
        """Make a change here, and have it sent to the team."""
        if isinstance(decision, Reduce | Sign):
            raise Refused("memories of a team neither fade nor are signed on one machine")
        make_folder(self.team.folder)
        with self._turn:
            self._check_role(decision)
            base, before = self._seen(ids_of(decision_record(decision)))
            key = self.outbox.put(decision, base, before)
            try:
                applied = super().apply(decision)
            except BaseException:
                self.outbox.remove(key)
                raise
            if isinstance(decision, Purge):
                self.outbox.forget([applied.stored.memory.id], but=key)
            return applied

    def _check_role(self, decision: Decision) -> None:
        """Refuse at once what the server would refuse, as far as that is known here."""
        if not self.team.may_change:
            raise Refused(
                f"you may read the memories of {self.team.name}, not change them",
                hint="ask a curator or owner of the team for the role of a writer",
            )
        approves = (
            isinstance(decision, Reinforce | Revise)
            and self.read(decision.id).memory.status is Status.QUARANTINED
            and (isinstance(decision, Reinforce) or "status" in decision.changes)
        )
        if not self.team.may_approve and (approves or isinstance(decision, Purge)):
            what = "approve" if approves else "purge"
            raise Refused(
                f"only a curator or an owner of {self.team.name} may {what} a memory",
                hint="see who is one: ltm team members",
            )

    def _seen(self, ids: Sequence[str]) -> tuple[str, Memory | None]:
        """What a decision is based on: the server's etag, and the memory here if it is another."""
        known = self.known().etags.get(ids[0]) if ids else None
        try:
            stored = self.read(ids[0]) if ids else None
        except NotFound:
            return "", None
        if stored is None or (known and known[1] == stored.etag):
            return (known[0] if known else ""), None
        return "", stored.memory

    # -- what the server says --------------------------------------------------------------------

    def known(self) -> Known:
        """What was known of the server at the end of the last round."""
        try:
            data = read_plain(os.path.join(self.team.folder, KNOWN_FILE), limit=_LIMIT)
            said = json.loads(data)
            return Known(int(said["cursor"]), {k: (v[0], v[1]) for k, v in said["etags"].items()})
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
            return Known(0, {})  # then all is asked for again, and nothing is lost

    def take(self, states: Iterable[ServerState], cursor: int | None = None) -> tuple[int, int]:
        """Write the server's memories into files, except those a waiting decision is about.

        Returns how many were written, and how many purged.
        """
        states = list(states)
        self.vault.prepare()
        with self._turn, self.vault.lock:
            known, index = self.known(), self._vaults.index(self.vault)
            index.refresh()
            waiting = {each for one in self.outbox.waiting() for each in one.ids}
            written = purged = 0
            for state in states:
                if state.id in waiting:
                    continue  # the answer to that decision will have the state after it
                held = index.get(state.id)
                memory = state.memory
                if memory is None:
                    known.etags.pop(state.id, None)
                    if state.is_purged:
                        self.outbox.forget([state.id])
                    if held is not None:
                        self._erase(index, held)
                        purged += state.is_purged
                    continue
                data = codec.to_bytes(memory._replace(signature="", shown_signature=""))
                if held is None or held.etag != etag(data):
                    self._put(held, memory, data)
                    written += 1
                known.etags[state.id] = (state.etag, etag(data))
            if cursor is not None:
                known = known._replace(cursor=cursor)
            self._write_known(known)
            index.refresh()
        return written, purged

    def note_edits(self) -> int:
        """Put files that were edited by hand into the outbox, without secrets; return how many."""
        with self._turn:
            known = self.known()
            waiting = {each for one in self.outbox.waiting() for each in one.ids}
            edits = 0
            there = set()
            for stored in self.every(_EVERY):
                memory = stored.memory
                there.add(memory.id)
                of_server, of_file = known.etags.get(memory.id, ("", ""))
                if memory.id in waiting or stored.etag == of_file:
                    continue
                copy, _ = cleaned(Copy(memory))
                if of_server:
                    self.outbox.put(Adopt((copy,)), of_server)
                else:
                    self.outbox.put(Add(copy.memory))
                edits += 1
            if known.etags.keys() - there:  # files were deleted by hand: have them sent again
                kept = {name: known.etags[name] for name in known.etags.keys() & there}
                self._write_known(Known(0, kept))
            return edits

    def _write_known(self, known: Known) -> None:
        said = json.dumps(known._asdict()).encode("ascii")
        write_file(os.path.join(self.team.folder, KNOWN_FILE), said)

    def _put(self, held: Stored | None, memory: Memory, data: bytes) -> None:
        name = codec.file_name(memory) if held is None else os.path.basename(held.path)
        if held is not None and any(
            getattr(held.memory, field) != getattr(memory, field) for field in TEXT
        ):
            former = held.memory
            self.vault.archive(former.id, former.version, self.vault.read(name))
        self.vault.write(name, data)

    def _erase(self, index: Index, held: Stored) -> None:
        name = os.path.basename(held.path)
        self._state.forget(held.memory.id)
        forget_vectors(self.vault.local, held.memory.id)
        index.drop(name)
        self.vault.purge(name, held.memory.id)


def open_replica(team: Team, places: Places, config: Config) -> ReplicaStore:
    return ReplicaStore(team, State(places.state_db), config.kinds)
