"""What a reader of one client's transcripts is: everything that differs between clients.

A transcript is a sequence of numbered JSON objects. Most clients write one a line; those with a
database, or one JSON document, say what their records are, and all else is the same: the cursor,
each message once, the limits. A message is known by its uuid. Where a client has none, or writes a
message several times with more in it, a reader makes one for each part, from text and place.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, TypeAlias

from ltm.files.atomic import names_in
from ltm.sessions.turns import Turn

Entry: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SessionOrigin:
    session: str
    cwd: str = ""
    started: str = ""
    client: str = ""
    """The name of the reader of its client."""
    branch: str = ""
    is_subagent: bool = False
    """Whether another agent is the user of it."""
    has_items: bool = False
    """Whether it names each thing that was done as an item, for clients with two forms."""


@dataclass(frozen=True, slots=True)
class FoundTranscript:
    path: str
    written: float
    """When it was written last, in seconds since 1970."""


def _nothing_found(environ: Mapping[str, str]) -> Iterator[FoundTranscript]:
    yield from ()


def _may_hold_turns(line: bytes) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Reader:
    name: str
    """As the table of clients names it."""
    knows: Callable[[Entry], bool]
    """Whether the first entry of a file is of this client; for a JSON document, the document."""
    origin: Callable[[str, Iterable[Entry]], SessionOrigin]
    """What a transcript says of its session, from its path and its first entries."""
    turns: Callable[[Entry, int, SessionOrigin], list[Turn]]
    found: Callable[[Mapping[str, str]], Iterator[FoundTranscript]] = _nothing_found
    """Main transcripts on this machine, those of sub-agents left out; the argument is the
    environment."""
    holds_nothing: Callable[[bytes], bool] = _may_hold_turns
    """Whether a line is of a type without turns, so that it need not be parsed."""
    told: Callable[[Entry], tuple[str, str, str] | None] | None = None
    """What a hook told, if the entry says that: its event, the moment and the text. Without it, all
    that was put into the session counts."""
    has_uuids: bool = False
    """Whether each line with a message names it as `"uuid"`, so that it need not be parsed."""
    shows_results: bool = True
    """Whether what tools gave back is in it; else no word of the agent can be checked."""
    counted: tuple[bytes, ...] = ()
    """Bytes one of which is in every line with a result of a tool or a compaction, if known."""
    messages: str = ""
    """For a JSON document: the name of the list in it that holds its entries."""
    tables: Mapping[str, frozenset[str]] | None = None
    """For a database: the tables and columns that are read of it."""
    rows: Callable[[sqlite3.Connection, str], Iterator[Entry]] | None = None
    """For a database: what it says of a session, then the session's entries."""
    sessions: Callable[[sqlite3.Connection], Iterator[tuple[str, float]]] | None = None
    """For a database: the main sessions in it, and when each was written last."""
    of_session: Callable[[str, Mapping[str, str]], str] | None = None
    """The transcript of a session by its id, for clients whose events do not name it."""


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def object_of(value: object) -> Entry:
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def objects_in(value: object) -> list[dict[str, Any]]:
    return [each for each in list_of(value) if isinstance(each, dict)]


_DEPTH, _STRINGS, _LONGEST = 6, 200, 2_000_000


def flat(value: object) -> str:
    """All texts in a value, in their order, a bounded number of them: what a tool gave back."""
    found: list[str] = []
    _strings(value, found, 0)
    return "\n".join(found)[:_LONGEST]


def _strings(value: object, found: list[str], depth: int) -> None:
    if len(found) >= _STRINGS or depth > _DEPTH:
        return
    if isinstance(value, str):
        found.append(value)
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            _strings(each, found, depth + 1)


def texts_in(content: object) -> list[str]:
    """The texts of a content: a text, or a list of texts and blocks with one."""
    if isinstance(content, str):
        return [content]
    blocks = (each if isinstance(each, str) else object_of(each).get("text") for each in
              list_of(content))  # fmt: skip
    return [each for each in blocks if isinstance(each, str)]


def made_uuid(*parts: object) -> str:
    """A uuid for a message that has none, out of what it is known by."""
    data = json.dumps(parts, ensure_ascii=True, sort_keys=True, default=str)
    return blake2b(data.encode(), digest_size=12).hexdigest()


def stem(path: str) -> str:
    """The name of a transcript without its endings."""
    name = os.path.basename(path).removesuffix(".gz")
    return name.removesuffix(".jsonl").removesuffix(".json")


def user_home(environ: Mapping[str, str]) -> str:
    """The home folder of the person; '' where none is known."""
    home = environ.get("USERPROFILE" if os.name == "nt" else "HOME", "")
    return home if os.path.isabs(home) else ""


def below_home(environ: Mapping[str, str], variable: str, *names: str) -> str:
    """A client's folder: what a variable says, else a folder in the home; '' without either."""
    named = environ.get(variable, "") if variable else ""
    if os.path.isabs(named):
        return named
    home = user_home(environ)
    return os.path.join(home, *names) if home else ""


def data_folder(environ: Mapping[str, str], name: str) -> str:
    """A client's folder for data, as the XDG directories say; '' where there is no home."""
    named = environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(named):
        return os.path.join(named, name)
    return below_home(environ, "", ".local", "share", name)


def files_below(folder: str, depth: int, ending: str) -> Iterator[FoundTranscript]:
    """Files with this ending that lie so many folders deep in a folder; links are not followed."""
    for name in sorted(names_in(folder)) if folder else ():
        path = os.path.join(folder, name)
        try:
            is_folder = os.path.isdir(path) and not os.path.islink(path)
            if depth and is_folder:
                yield from files_below(path, depth - 1, ending)
            elif not depth and name.endswith(ending) and not is_folder:
                yield FoundTranscript(path, os.stat(path).st_mtime)
        except OSError:
            continue
