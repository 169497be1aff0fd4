"""Memory and the values all packages share: hits, filters, usage, problems, ids, moments, records.

All are named tuples: a data class takes a question 0.8 ms longer to load. But for `now` and
`new_id` nothing here looks at the world: no file, no clock, no configuration.

A record is a memory as plain JSON values: the one shape for `--json`, export, index and tools. Its
keys are the names of the fields; `source` is a small object.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import IntEnum, StrEnum

from ltm.errors import WrongUsage
from ltm.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    _T = TypeVar("_T", bound=StrEnum)


class Impact(StrEnum):
    """How much it matters; `critical` never fades."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for low up to 3 for critical."""
        return _RANKS[self]


_RANKS = {impact: rank for rank, impact in enumerate(Impact)}


class Scope(StrEnum):
    """Where it holds: in one project, or for one agent in every project."""

    PROJECT = "project"
    AGENT = "agent"


class Status(StrEnum):
    """Whether it is in force. Ordered: when two copies disagree, the later one here wins."""

    ACTIVE = "active"
    QUARANTINED = "quarantined"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"


class Trust(StrEnum):
    """Who said it."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    IMPORT = "import"


class Phase(IntEnum):
    """How much of the text is left in the active set."""

    FULL = 0
    HINT = 1
    ABSTRACT = 2
    ARCHIVED = 3


class Source(NamedTuple):
    """Where a memory came from, so that it can always be traced back."""

    trust: Trust = Trust.USER
    session: str = ""
    lines: str = ""
    """Line range in that session's transcript, as `120-134`."""
    tool: str = ""


class Memory(NamedTuple):
    """One thing worth remembering. Usage (how often it was needed) is deliberately not here."""

    id: str
    kind: str
    title: str
    summary: str
    content: str
    created: datetime
    updated: datetime
    confirmed: datetime
    scope: Scope = Scope.PROJECT
    tags: tuple[str, ...] = ()
    impact: Impact = Impact.MEDIUM
    pinned: bool = False
    difficulty: float = 0.0
    confidence: float = 1.0
    observations: int = 1
    phase: Phase = Phase.FULL
    status: Status = Status.ACTIVE
    version: int = 1
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    merged_from: tuple[str, ...] = ()
    previous: str = ""
    """The memory of the same kind that was newest when this one was made."""
    links: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    """Memories that seem to say otherwise: a person or an agent has to settle it."""
    distinct: tuple[str, ...] = ()
    """Memories it was kept apart from on purpose: never merged with them automatically."""
    source: Source = Source()
    reason: str = ""
    state: str = ""
    legacy_id: str = ""
    """Its id in the tool it was imported from."""
    signature: str = ""
    shown_signature: str = ""
    """Second signature, over the text that is really injected."""

    @property
    def text(self) -> str:
        """Summary and content as one text; a content that holds the summary stands alone."""
        summary, content = self.summary, self.content
        if not content:
            return summary
        if content.startswith(summary):
            return content
        # Lines may be wrapped differently, and a long summary ends in an ellipsis.
        words = summary.rstrip("…").split()
        if content.split(None, len(words))[: len(words)] == words:
            return content
        if f" {' '.join(words)}" in f" {' '.join(content.split())}":
            return content
        return f"{summary}\n\n{content}"

    @property
    def words(self) -> str:
        """What a search looks through next to title and tags: the text, its reason, its state."""
        text, reason = self.text, self.reason
        parts = (text, "" if reason in text else reason, self.state)
        return "\n".join(part for part in parts if part)

    @property
    def day(self) -> str:
        """The day it was said, and the day it was last confirmed, if that was a later one."""
        said, confirmed = self.created.date(), self.confirmed.date()
        return f"{said}, confirmed {confirmed}" if confirmed > said else str(said)


class Stored(NamedTuple):
    """A memory together with where it lies and the fingerprint a compare-and-swap needs."""

    memory: Memory
    vault: str
    """Name of the vault: `shared`, `private` or `agent`."""
    path: str
    etag: str
    """Hash of the file's bytes; changes whenever the file does."""
    trusted: bool = True
    """False in a vault that came with a repository not trusted yet."""

    @property
    def team(self) -> str:
        """The team it is a memory of; '' for one's own."""
        return self.vault.partition("team:")[2]


class Problem(NamedTuple):
    """Something wrong with a file; reported and not raised, so that it hides no other."""

    path: str
    message: str
    line: int = 0
    fixed: bool = False
    ill: bool = True
    """False for what is only worth knowing."""


class Usage(NamedTuple):
    """How often and when a memory was needed: local, volatile, never in a tracked file."""

    uses: int = 0
    last_session: int = 0
    """How many sessions the project had had when it was last used, or before it was first seen."""
    last_used: datetime | None = None
    uses_since: int = 0
    """How often it was used since it last changed its phase here."""
    sessions_since: int = 0
    """Sessions the project had since its last use, or first sight."""
    idle_days: int = 0
    """Days with a session of the project since its last use, change of phase or first sight."""
    known_days: int = 0
    """Such days since it was first seen."""


class Hit(NamedTuple):
    """One answer to a question: which memory, how well it fits and why."""

    stored: Stored
    score: float
    why: str
    weak: bool = False
    """Whether it has so little of the question that it may have nothing to do with it."""


class Filter(NamedTuple):
    """What to list or search among; empty fields do not restrict."""

    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    phases: tuple[Phase, ...] = ()
    statuses: tuple[Status, ...] = (Status.ACTIVE,)
    scopes: tuple[Scope, ...] = ()
    state: str = ""
    naming: str = ""
    """Only memories that name this id: as what they replace, follow, link to or came from."""
    ids: tuple[str, ...] | None = None
    """Only these; None does not restrict."""
    spared: bool = False
    """Only critical and pinned memories."""
    untrusted: bool = False
    """Also memories of vaults that came with a repository not trusted yet."""
    teams: bool = False
    """Also memories of the teams whose word this machine takes."""


class Page(NamedTuple):
    """A stretch of a listing and the size of the whole."""

    items: tuple[Stored, ...] = ()
    total: int = 0


_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: no i, l, o, u to misread
_JUST_NOW = 10_000  # milliseconds in which a moment is still this one
_ID = r"mem_[0-9a-z][0-9a-z_-]{2,62}\Z"


def new_id(now: datetime) -> str:
    """A fresh id: `mem_`, nine characters of time (so ids sort by age), eight of randomness.

    Moments are whole seconds; the clock's milliseconds put in order what is made within one.
    """
    second, clock = int(now.timestamp()) * 1000, time.time_ns() // 1_000_000
    stamp = clock if 0 <= clock - second < _JUST_NOW else max(0, second)
    chars: list[str] = []
    for _ in range(9):
        stamp, digit = divmod(stamp, 32)
        chars.append(_ALPHABET[digit])
    noise = int.from_bytes(os.urandom(5))
    tail = "".join(_ALPHABET[noise >> shift & 31] for shift in range(0, 40, 5))
    return f"mem_{''.join(reversed(chars))}{tail}"


def is_id(text: str) -> bool:
    """Whether a text has the form of a memory's id (and so is safe in a file name)."""
    return re.match(_ID, text) is not None


def utc(text: str) -> datetime:
    """The moment an ISO 8601 text names, in UTC; a text without a zone is taken as UTC."""
    moment = datetime.fromisoformat(text.strip())
    if moment.tzinfo is UTC:
        return moment  # as all that ltm writes, and thousands are read
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def iso(moment: datetime) -> str:
    """A moment as `2026-11-15T16:22:00Z`: whole seconds, always UTC."""
    plain = moment.astimezone(UTC).replace(tzinfo=None)  # strftime takes five times as long
    return plain.isoformat(timespec="seconds") + "Z"


def now() -> datetime:
    """This moment, in whole seconds of UTC, as every stored moment is."""
    return datetime.now(UTC).replace(microsecond=0)


def choice(values: type[_T], word: str) -> _T:
    """The member a person meant by a word, in any case; a clear error when there is none."""
    for value in values:
        if value.value == word.strip().lower():
            return value
    options = ", ".join(value.value for value in values)
    name = values.__name__.lower()
    raise WrongUsage(f"'{word}' is not a valid {name}", hint=f"use one of: {options}")


def as_record(memory: Memory) -> dict[str, Any]:
    """Every field of a memory as JSON values, in the order of the model."""
    return {name: plain(value) for name, value in zip(Memory._fields, memory, strict=True)}


def plain(value: Any) -> Any:
    """The value of a memory's field as a JSON value."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, Source):
        return value._asdict() | {"trust": str(value.trust)}
    if isinstance(value, tuple):
        return list(value)
    return int(value) if isinstance(value, Phase) else value


def stored_record(stored: Stored) -> dict[str, Any]:
    """A stored memory as JSON values, with where it lies."""
    return {
        **as_record(stored.memory),
        "vault": stored.vault,
        "path": stored.path,
        "etag": stored.etag,
        "trusted": stored.trusted,
    }


def short_record(memory: Memory) -> dict[str, Any]:
    """The same without the fields that are as usual, which is most of them: quicker to read."""
    usual = Memory._field_defaults
    return {
        name: value
        for name, value in as_record(memory).items()
        if name not in usual or getattr(memory, name) != usual[name]
    }


def from_record(record: Mapping[str, Any]) -> Memory:
    """The memory a record describes, short or not; keys that are not a field of one are ignored.

    `ValueError` when it describes none.
    """
    try:
        return Memory(
            **{name: _FROM[name](value) for name, value in record.items() if name in _FROM}
        )
    except (TypeError, AttributeError, KeyError) as error:
        raise ValueError(f"not the record of a memory: {error}") from error


def from_plain(name: str, value: Any) -> Any:
    """The value of a memory's field that a JSON value stands for; `ValueError` for none."""
    try:
        return _FROM[name](value)
    except (TypeError, AttributeError, KeyError) as error:
        raise ValueError(f"not a value for {name} of a memory: {error}") from error


def _as_it_is(value: Any) -> Any:
    return value


def _source(record: Mapping[str, Any] | None) -> Source:
    get = (record or {}).get
    trust = _TRUSTS[get("trust", "user")]
    return Source(trust, get("session", ""), get("lines", ""), get("tool", ""))


# Calling an enumeration takes ten times as long as looking into a dictionary.
_TRUSTS = {str(each): each for each in Trust}
_FROM: dict[str, Callable[[Any], Any]] = dict.fromkeys(Memory._fields, _as_it_is)
_FROM |= {name: tuple for name, usual in Memory._field_defaults.items() if usual == ()}
_FROM |= dict.fromkeys(("created", "updated", "confirmed"), utc)
_FROM |= {
    "scope": {str(each): each for each in Scope}.__getitem__,
    "impact": {str(each): each for each in Impact}.__getitem__,
    "status": {str(each): each for each in Status}.__getitem__,
    "phase": {int(each): each for each in Phase}.__getitem__,
    "source": _source,
}
"""How each field of a memory is read from its record."""
