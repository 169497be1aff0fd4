"""What is known about a file or a folder: the memories that name it, the sessions that touched it.

This is what `ltm why` tells. A memory counts if it names the file, by an end of its path or by a
tag; one that merely has the same words does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from ltm.history.passage import TOOL, Header, Passage
from ltm.model import Filter, Memory, Stored
from ltm.recall.passages import SessionSearch, leave_out
from ltm.record import NamedTuple
from ltm.store.store import Store
from ltm.text.display import is_tag_of, names_file, names_folder, parts_of

_LOOKED_AT = 200  # memories by each name, and passages
_LAST = 1_000  # place of kinds that explain nothing
_SHOWN = 2  # passages of a session


class Touched(NamedTuple):
    """A session in which a file was spoken of or changed."""

    header: Header
    changed: bool
    """Whether the agent wrote to it; else it was only spoken of, or part of a command."""
    times: int
    passages: tuple[Passage, ...]
    """Where, the most telling first: what a person said before what a tool did."""


class Explained(NamedTuple):
    """What is known about a file."""

    memories: tuple[Stored, ...]
    """Decisions and pitfalls before the rest, the newest of each first."""
    sessions: tuple[Touched, ...]
    """The newest first."""
    total: int
    """Memories and sessions that were found, shown or not."""


def explain(
    store: Store, said: SessionSearch, paths: Sequence[str], limit: int, *, folder: bool = False
) -> Explained:
    """What is known about a file that has, or had, these paths in its project."""
    leave_out(store, said)
    memories = _memories(store, paths, folder)
    sessions = _sessions(said, paths, folder)
    if memories:
        store.used(each.memory.id for each in memories[:limit])
    total = len(memories) + len(sessions)
    return Explained(tuple(memories[:limit]), tuple(sessions[:limit]), total)


def _memories(store: Store, paths: Sequence[str], folder: bool) -> list[Stored]:
    found: dict[str, Stored] = {}
    for path in paths:
        for asked in dict.fromkeys((path, (parts_of(path) or [path])[-1])):
            for match in store.search(asked, Filter(), _LOOKED_AT).items:
                if _names(match.stored.memory, path, folder):
                    found[match.stored.memory.id] = match.stored

    def place(stored: Stored) -> tuple[int, float]:
        memory = stored.memory
        return store.kinds[memory.kind].explains or _LAST, -memory.confirmed.timestamp()

    return sorted(found.values(), key=place)


def _names(memory: Memory, path: str, folder: bool) -> bool:
    if any(is_tag_of(tag, path) for tag in memory.tags):
        return True
    names = names_folder if folder else names_file
    return names("\n".join((memory.title, memory.text, memory.reason)), path)


def _sessions(said: SessionSearch, paths: Sequence[str], folder: bool) -> list[Touched]:
    if not said.anything():
        return []
    lookups = said.passages
    look = lookups.in_folder if folder else lookups.naming_file
    by_session: dict[str, dict[int, Passage]] = {}
    for path in paths:
        for each in said.shown(look(path, _LOOKED_AT)):
            by_session.setdefault(each.session, {})[each.row] = each
    found: list[Touched] = []
    for session, passages in by_session.items():
        header = lookups.header(session)
        if header is not None:
            telling = sorted(passages.values(), key=lambda each: (each.role == TOOL, -each.row))
            changed = any(each.writes for each in telling)
            shown = tuple(telling[:_SHOWN])
            found.append(Touched(said.titled(header), changed, len(telling), shown))
    return sorted(found, key=lambda each: each.header.ended, reverse=True)
