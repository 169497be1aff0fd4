"""One round with a team's server: send what waits, then take what changed there.

It runs in the background, after the events of sessions, or by `ltm team sync`; never in a hook, and
nothing waits for it. A round that fails leaves all as it was, and the next one comes later each
time. Whatever is sent has a key, so a round that was cut off can be made again.
"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from ltm import __version__
from ltm.config.config import load
from ltm.decisions import memory_from
from ltm.errors import Busy, LtmError, NotFound, Refused
from ltm.files.lock import Lock
from ltm.llm.http_api import opener_for
from ltm.project.layout import STATE
from ltm.record import NamedTuple
from ltm.spool import hook_log
from ltm.state.usage import State
from ltm.team.outbox import WaitingDecision
from ltm.team.replica import ReplicaStore, ServerState
from ltm.team.schedule import is_due, note_round
from ltm.team.teams import Team, note, teams

TIMEOUT = 20.0
"""Seconds a server has for an answer."""

MOST, PAGE = 100, 500
"""Decisions of a request, and changes of an answer."""

_ROOM = 1_000_000  # bytes of a request; a single decision may be larger
_LARGEST = 64 * 1024 * 1024
_PATIENCE = 30.0


class NoAnswer(LtmError):
    """The server of a team cannot be reached, or has trouble of its own."""


class Synced(NamedTuple):
    sent: int = 0
    merged: int = 0
    """Of these, those about a memory that others had changed meanwhile."""
    refused: int = 0
    received: int = 0
    purged: int = 0


class TeamServer:
    """The server of a team, as a person with a token."""

    def __init__(self, address: str, token: str) -> None:
        self._address = address
        self._token = token
        self._opener = opener_for(urlsplit(address).hostname or "")

    def about(self) -> dict[str, Any]:
        """The team's name, the project, the person and their role, as the server has them."""
        return self._ask("GET", "")

    def send(self, decisions: Sequence[WaitingDecision]) -> dict[str, Any]:
        """Send decisions, in order."""
        sent = [
            {"key": one.key, "base": one.base, "before": one.before, "decision": one.record}
            for one in decisions
        ]
        return self._ask("POST", "/decisions", {"decisions": sent})

    def changes(self, after: int) -> dict[str, Any]:
        """What changed after a place in the server's order of changes."""
        return self._ask("GET", f"/changes?after={after}&limit={PAGE}")

    def ask(self, path: str, body: object | None = None) -> dict[str, Any]:
        """Send a request about the team to another path."""
        return self._ask("GET" if body is None else "POST", path, body)

    def _ask(self, method: str, path: str, body: object | None = None) -> dict[str, Any]:
        request = urllib.request.Request(  # noqa: S310 - http(s) only, see `parse_address`
            self._address + path,
            None if body is None else json.dumps(body).encode("ascii"),
            {
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
                "User-Agent": f"ltm/{__version__}",
            },
            method=method,
        )
        try:
            with self._opener.open(request, timeout=TIMEOUT) as response:
                data = response.read(_LARGEST + 1)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(error.code, error.read(4096)) from None
        except (OSError, HTTPException, ValueError) as error:
            place = urlsplit(self._address)
            raise NoAnswer(
                f"{place.netloc} cannot be reached: {_why(error)}",
                hint=f"whether it answers: {place.scheme}://{place.netloc}/health",
            ) from None
        try:
            said = json.loads(data)
        except ValueError:
            said = None
        if not isinstance(said, dict):
            raise NoAnswer(f"{self._address} answered with something else than JSON")
        return said

    def _refusal(self, status: int, body: bytes) -> LtmError:
        try:
            said = dict(json.loads(body))
        except (ValueError, TypeError):
            said = {}
        message = str(said.get("error") or f"it refused with status {status}")
        hint = str(said.get("hint") or "")
        if status == 401:
            again = f"get a new one, then type: ltm team join {self._address}"
            return Refused("the token is wrong, or no longer valid", hint=hint or again)
        if status == 403:
            return Refused(message, hint=hint or "ask an owner of the team")
        if status == 404:
            return NotFound(
                f"you are not a member of the project {self._address}, or there is none",
                hint=hint or "check the address, or ask a curator or owner of the team",
            )
        if status == 429 or status >= 500:
            return NoAnswer(f"{urlsplit(self._address).netloc} has trouble: {message}")
        return Refused(f"{urlsplit(self._address).netloc}: {message}", hint=hint)


def _why(error: Exception) -> str:
    """What is wrong with a connection, without the numbers of the system."""
    reason = getattr(error, "reason", error)
    return str(getattr(reason, "strerror", "") or reason) or type(error).__name__


def synchronize(home: str, team: Team, *, patience: float = _PATIENCE) -> Synced:
    """Make one round with a team's server; `Busy` where another one is under way."""
    lock = Lock(os.path.join(team.folder, "sync.lock"))
    if not lock.acquire(patience=patience):
        raise Busy(f"another round with the team {team.name} is under way", path=team.folder)
    try:
        done = _round(home, team)
    except LtmError as error:
        note_round(team.folder, str(error))
        if isinstance(error, NoAnswer):
            error.hint = "nothing is lost: it is tried again in the background"
        raise
    finally:
        lock.release()
    note_round(team.folder)
    return done


def _round(home: str, team: Team) -> Synced:
    server = TeamServer(team.place.address, team.token)
    state = State(os.path.join(home, STATE))
    with closing(ReplicaStore(team, state, load(home).kinds)) as replica:
        about = server.about()
        role, person = str(about.get("role", "")), str(about.get("person", ""))
        replica.team = note(team, role=role, person=person)
        replica.note_edits()
        sent, merged, refused = _send(server, replica)
        received, purged = _receive(server, replica)
    return Synced(sent, merged, refused, received, purged)


def _send(server: TeamServer, replica: ReplicaStore) -> tuple[int, int, int]:
    """Send the outbox and take the states after it; return the counts sent, merged and refused."""
    sent = merged = refused = 0
    for batch in _batches(replica.outbox.waiting()):
        said = server.send(batch)
        answers = {str(each.get("key")): each for each in _objects(said, "answers")}
        for one in batch:
            answer = answers.get(one.key)
            if answer is None:
                raise NoAnswer(f"the server gave no answer to the decision {one.key}")
            if answer.get("error") and not _is_moot(one, said):
                message, hint = str(answer["error"]), str(answer.get("hint") or "")
                replica.outbox.refuse(one.key, one.record, message, hint)
                refused += 1
            else:
                replica.outbox.remove(one.key)
            sent += 1
            merged += bool(answer.get("merged"))
        # Only now: states of memories about which something waits are left for its answer.
        replica.take(_states(_objects(said, "records")))
    return sent, merged, refused


def _is_moot(one: WaitingDecision, said: Mapping[str, Any]) -> bool:
    """Whether every memory it is about was purged meanwhile, so that nothing of it may be kept."""
    gone = {state.id for state in _states(_objects(said, "records")) if state.is_purged}
    return "id" in one.record and set(one.ids) <= gone


def _batches(waiting: Sequence[WaitingDecision]) -> Iterator[list[WaitingDecision]]:
    """The decisions in batches of at most `MOST` decisions and `_ROOM` bytes."""
    batch: list[WaitingDecision] = []
    size = 0
    for one in waiting:
        if batch and (len(batch) == MOST or size + one.size > _ROOM):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += one.size
    if batch:
        yield batch


def _receive(server: TeamServer, replica: ReplicaStore) -> tuple[int, int]:
    """Take what changed, page by page; return how many memories were written and purged."""
    received = purged = 0
    after = replica.known().cursor
    while True:
        said = server.changes(after)
        cursor = int(said.get("cursor", 0))
        if cursor < after:  # it was restored from a backup: all is asked for again
            after = 0
            continue
        written, gone = replica.take(_states(_objects(said, "changes")), cursor)
        received, purged = received + written, purged + gone
        if not said.get("more") or cursor == after:
            return received, purged
        after = cursor


def _states(said: Sequence[Mapping[str, Any]]) -> list[ServerState]:
    try:
        return [_state(each, each["record"]) for each in said]
    except KeyError as error:
        raise NoAnswer(f"the server's answer lacks {error}") from None
    except ValueError as error:
        raise NoAnswer(
            f"the server has what this ltm does not know, so update it: {error}"
        ) from None


def _state(said: Mapping[str, Any], record: object) -> ServerState:
    memory = None if record is None else memory_from(record)
    is_purged = bool(said.get("purged", memory is None))
    return ServerState(str(said["id"]), str(said["etag"]), memory, is_purged)


def _objects(said: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = said.get(name)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise NoAnswer(f"the server's answer has no {name}")
    return found


def synchronize_due(home: str) -> None:
    """Synchronize with each team whose round is due. Never raises: it runs in the background."""
    for team in teams(home):
        if not is_due(team.folder):
            continue
        try:
            synchronize(home, team, patience=0.0)
        except Busy:
            continue
        except Exception as error:
            hook_log.note(home, f"team {team.name}", error)
