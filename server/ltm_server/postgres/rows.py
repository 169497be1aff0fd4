"""A memory as a row of the database and back: its record, what is asked for, and its words.

The etag is that of the file which says the same, so that a replica of files and the database name
one state of a memory alike.
"""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb

from ltm.kinds import Kinds
from ltm.model import Impact, Memory, Stored, short_record
from ltm.record import NamedTuple
from ltm.text.terms import terms
from ltm.vault import codec

VAULT = "team"
"""The name of the vault that a project of a team is."""

_MOST_POSITIONS = 16_000  # PostgreSQL counts no further within one text
_MOST_BYTES = 700_000  # of all different words of a text: PostgreSQL takes a megabyte with the rest


class MemoryRow(NamedTuple):
    """A memory as it is stored."""

    memory: Memory
    file: str
    etag: str
    seq: int

    def stored(self, slug: str) -> Stored:
        """The memory with where it lies."""
        return Stored(self.memory, VAULT, f"{slug}/{self.file}", self.etag)


def as_file(memory: Memory, kinds: Kinds) -> bytes:
    """The file that says this; refused if no file can."""
    return codec.to_bytes(memory, kinds=kinds)


def columns(memory: Memory, tag: str) -> dict[str, Any]:
    """What the columns of a memory's row hold, but for its place and its author."""
    fields = [" ".join(terms(each)) for each in _fields(memory)]
    return {
        "id": memory.id,
        "etag": tag,
        "kind": memory.kind,
        "scope": str(memory.scope),
        "status": str(memory.status),
        "trust": str(memory.source.trust),
        "phase": int(memory.phase),
        "spared": memory.pinned or memory.impact is Impact.CRITICAL,
        "state": memory.state,
        "tags": [tag.lower() for tag in memory.tags],
        "names": names(memory),
        "created": memory.created,
        "record": Jsonb(short_record(memory)),
        "title_terms": fields[0],
        "tag_terms": fields[1],
        "text_terms": fields[2],
        "words": _vector(fields),
    }


def names(memory: Memory) -> list[str]:
    """The ids a memory names, and the session it came from."""
    named = {memory.superseded_by, memory.previous, memory.source.session}
    named.update(memory.supersedes, memory.merged_from, memory.links, memory.conflicts)
    return sorted(named.union(memory.distinct) - {"", memory.id})


def lexeme(word: str) -> str:
    """A word as PostgreSQL reads it in a text search vector or question."""
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


def _fields(memory: Memory) -> tuple[str, str, str]:
    return memory.title, " ".join(memory.tags), memory.words


def _vector(fields: list[str]) -> str:
    """The words as a text search vector: A marks those of the title, B tags, D the text."""
    places: dict[str, list[str]] = {}
    place = size = 0
    for mark, text in zip("ABD", fields, strict=True):
        for word in text.split():
            if word not in places:
                size += len(word.encode()) + 8
                if size > _MOST_BYTES:
                    break
            place = min(place + 1, _MOST_POSITIONS)
            places.setdefault(word, []).append(f"{place}{mark}")
    return " ".join(f"{lexeme(word)}:{','.join(at)}" for word, at in places.items())
