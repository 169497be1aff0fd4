"""The outbox of a team: decisions of this machine that its server has not answered yet.

A decision is a file of its own, on the disk before the change is acknowledged, and gone when the
server answered it. Their names put them in order and are the keys by which the server knows one
that comes twice. What the server refused is kept with its answer until the person dismisses it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from typing import Any

from ltm.decisions import Decision, decision_from, decision_record
from ltm.errors import LtmError, Refused
from ltm.files.atomic import make_folder, names_in, read_plain, remove_file, write_file
from ltm.model import Memory, as_record, iso, now
from ltm.record import NamedTuple

_ENDING = ".json"
# Bytes of a decision, of which a server takes 8 MiB: twice the text of a memory, whose file has
# 1 MiB at the most, with twelve bytes for each character that has four there.
_LIMIT = 7 * 1024 * 1024


class WaitingDecision(NamedTuple):
    key: str
    record: dict[str, Any]
    """The decision as JSON values."""
    base: str = ""
    """The etag that the memory it changes had on the server when it was made."""
    before: dict[str, Any] | None = None
    """The memory as it was then here, where that was a state the server never had."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The memories it is about."""
        return ids_of(self.record)

    @property
    def size(self) -> int:
        """About how many bytes it is on its way."""
        return len(json.dumps(self._asdict()))


class RefusedDecision(NamedTuple):
    """A decision that the server refused, and why."""

    key: str
    at: str
    message: str
    hint: str
    record: dict[str, Any]

    def as_record(self) -> dict[str, Any]:
        """What was refused, and why, as JSON values."""
        made = self.record.get("memory") or self.record.get("by") or {}
        changes = self.record.get("changes") or {}
        said = [each.get(name) for each in (made, changes) for name in ("content", "title")]
        return {
            "at": self.at,
            "decision": str(self.record.get("decision", "")),
            "id": str(self.record.get("id") or made.get("id") or ""),
            "text": str(next(filter(None, said), "")),
            "message": self.message,
            "hint": self.hint,
        }


def ids_of(record: dict[str, Any]) -> tuple[str, ...]:
    """The memories that the record of a decision names, the one it is about first."""
    made = [record.get(name) for name in ("memory", "by")] + list(record.get("copies", ()))
    names = [str(each["id"]) for each in made if isinstance(each, dict) and "id" in each]
    named = [
        record.get("id"),
        record.get("into"),
        *record.get("ids", ()),
        *record.get("others", ()),
    ]
    return tuple(dict.fromkeys([*names, *(str(each) for each in named if each)]))


class Outbox:
    """The outbox in the folder of a team; its owner holds a lock where more than one may write."""

    def __init__(self, folder: str) -> None:
        self._folder = os.path.join(folder, "outbox")
        self._refused = os.path.join(folder, "refused")

    @property
    def last(self) -> str:
        """What the newest decision is called; '' if none waits."""
        return max(self._names(), default="")

    def put(self, decision: Decision, base: str = "", before: Memory | None = None) -> str:
        """Add a decision at the end; return its key."""
        key = f"{int(self.last[:12] or 0) + 1:012}-{os.urandom(8).hex()}"
        said = {"decision": decision_record(decision), "base": base}
        if before is not None:
            said["before"] = as_record(before)
        data = json.dumps(said).encode("ascii")
        if len(data) > _LIMIT:
            raise Refused(
                f"this is more than a team takes at once ({_LIMIT // 1024 // 1024} MiB)",
                hint="keep it in smaller parts",
            )
        make_folder(self._folder)
        write_file(self._path(key), data)
        return key

    def waiting(self) -> list[WaitingDecision]:
        """What waits, in order; a file that no decision can be read from is put aside."""
        found = []
        for name in sorted(self._names()):
            key = name.removesuffix(_ENDING)
            try:
                data = read_plain(self._path(key), limit=_LIMIT).decode("utf-8")
            except FileNotFoundError:
                continue
            try:
                said = json.loads(data)
                record = dict(said["decision"])
                decision_from(record)
                before = said.get("before")
                found.append(WaitingDecision(key, record, str(said.get("base", "")), before))
            except (KeyError, TypeError, ValueError) as error:
                self.refuse(key, {}, f"its file cannot be read: {error}", "")
        return found

    def count(self) -> int:
        return len(self._names())

    def remove(self, key: str) -> None:
        """Delete a decision that was answered, or did not happen."""
        remove_file(self._path(key))

    def refuse(self, key: str, record: dict[str, Any], message: str, hint: str) -> None:
        """Put a decision aside with the server's answer."""
        make_folder(self._refused)
        said = {"at": iso(now()), "message": message, "hint": hint, "decision": record}
        write_file(os.path.join(self._refused, f"{key}{_ENDING}"), json.dumps(said).encode("ascii"))
        self.remove(key)

    def refused(self) -> list[RefusedDecision]:
        """What the server refused, in order."""
        found = []
        for name in (each for each in names_in(self._refused) if each.endswith(_ENDING)):
            try:
                data = read_plain(os.path.join(self._refused, name), limit=_LIMIT)
                said = dict(json.loads(data))
            except (OSError, ValueError, TypeError):
                continue
            at, message, hint = (str(said.get(key, "")) for key in ("at", "message", "hint"))
            record = said.get("decision")
            key = name.removesuffix(_ENDING)
            kept = record if isinstance(record, dict) else {}
            found.append(RefusedDecision(key, at, message, hint, kept))
        return sorted(found, key=lambda each: (each.at, each.key))  # keys begin again at 1

    def dismiss(self) -> int:
        """Delete all refused decisions; return how many there were."""
        refused = self.refused()
        for each in refused:
            remove_file(os.path.join(self._refused, f"{each.key}{_ENDING}"))
        return len(refused)

    def forget(self, ids: Collection[str], but: str = "") -> None:
        """Delete decisions about these memories alone, refused ones too, except the key `but`."""
        for waiting in self.waiting():
            if waiting.key != but and set(waiting.ids) <= set(ids):
                self.remove(waiting.key)
        for each in self.refused():
            if set(ids_of(each.record)) & set(ids):
                remove_file(os.path.join(self._refused, f"{each.key}{_ENDING}"))

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, f"{key}{_ENDING}")

    def _names(self) -> list[str]:
        try:
            names = os.listdir(self._folder)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise LtmError(f"cannot list the outbox: {error}", path=self._folder) from error
        return [each for each in names if each.endswith(_ENDING) and each[:12].isdigit()]
