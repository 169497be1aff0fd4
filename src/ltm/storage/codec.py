"""Memory to file and back, exactly.

Owns what each key means: how strictly it is read, how it is written, and which keys a short file
may leave out. Imports core, and from storage the document, its keys and its body.

Written always: id, kind, scope, tags, impact, status, created, updated. Every other key is
left out while it says what its absence says:

| key                                            | absent means            |
|------------------------------------------------|-------------------------|
| title                                          | made from the text      |
| pinned, difficulty, confidence                 | false, 0.0, 1.0         |
| observations, phase, version                   | 1, 0 (full), 1          |
| trust                                          | user                    |
| confirmed                                      | the moment of `created` |
| supersedes, merged_from, links,                | an empty list           |
| conflicts, distinct                            |                         |
| superseded_by, previous, session, lines, tool, | nothing                 |
| reason, state, legacy_id, signature,           |                         |
| shown_signature                                |                         |

Reading forgives what a person typing by hand leaves out: a missing id is taken from the file's
name, a kind from the table's default, `created` from the id, `updated` from `created`, scope, tags,
impact and status from the defaults above.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from functools import cache

from ltm.core.errors import LtmError, Refused
from ltm.core.kinds import Kinds
from ltm.core.model import Memory, is_id, iso
from ltm.core.sentences import title_of
from ltm.storage import body
from ltm.storage.fields import FIELDS, Value
from ltm.storage.frontmatter import MAX_FRONT, Document
from ltm.storage.plainfile import is_device
from ltm.storage.reading import MemoryReader
from ltm.storage.scalars import is_text
from ltm.storage.vault import MAX_FILE

_LONGEST_SLUG = 48
# Keys whose value was made up because the file had none: written down as soon as it is rewritten,
# so that no file we wrote is without them.
_MADE_UP = ("id", "created")


def decode(document: Document, path: str, kinds: Kinds, *, seen: datetime | None = None) -> Memory:
    """The memory a document holds; BadFile with the line of the key that cannot be read.

    `seen` is the moment to assume for a hand-written file whose keys and id tell none, such as the
    file's modification time.
    """
    sections = body.read(body.with_notes(document.body, document.alternates))
    return MemoryReader(document, path, kinds).memory(sections, seen)


def encode(memory: Memory, base: Document | None = None, kinds: Kinds | None = None) -> Document:
    """The document that says this; with a base, that document changed only where the memory is.

    Refused when a text cannot be kept in a file or the file would be too large to be read again.
    """
    _refuse_unwritable(memory)
    new = _values(memory)
    if base is None:
        document = Document().with_fields(new, body.write(memory.summary, memory.content))
    else:
        document = _onto(base, memory, new, kinds or _standard_kinds())
    if document.front_size > MAX_FRONT or len(document.to_bytes()) > MAX_FILE:
        raise Refused(
            f"'{memory.title[:60]}' is too long to be kept as one memory",
            hint=f"keep it below {MAX_FILE // 1024} KiB, its keys below {MAX_FRONT // 1024} KiB",
        )
    return document


def to_bytes(memory: Memory, base: Document | None = None, kinds: Kinds | None = None) -> bytes:
    """The bytes of the file that holds this memory."""
    return encode(memory, base, kinds).to_bytes()


def lacking(document: Document) -> tuple[str, ...]:
    """The keys that every file we wrote has, and this one has not."""
    return tuple(key for key in _MADE_UP if key not in document.fields)


def completed(document: Document, memory: Memory) -> Document:
    """The document with those keys, as the memory it holds says them."""
    values = _values(memory)
    due = lacking(document)
    return document.with_fields({key: values[key] for key in due}) if due else document


def slug(title: str) -> str:
    """A title as the readable part of a file name: ASCII, lower case, safe on every system."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", plain)[: _LONGEST_SLUG + 1].strip("-")[:_LONGEST_SLUG]
    name = name.strip("-") or "memory"
    return f"memory-{name}" if is_device(name) else name


def file_name(memory: Memory) -> str:
    """The name of the file a memory lives in; its id alone decides which memory that is."""
    return f"{slug(memory.title)}.{memory.id}.md"


@cache
def _standard_kinds() -> Kinds:
    return Kinds()


def _onto(base: Document, memory: Memory, new: dict[str, Value | None], kinds: Kinds) -> Document:
    name = file_name(memory)  # a base without an id takes it from here
    try:
        before = decode(base, name, kinds, seen=memory.created)
    except LtmError:  # a broken base has nothing to compare with: every known key is written
        return base.with_fields(new, body.rewrite(base.body, memory.summary, memory.content))
    if before == memory:
        return base
    old = _values(before)
    due = {*base.repeated, *lacking(base)}
    if memory.title != before.title:  # one that follows from the text may stand in an older file
        due.add("title")
    changes = {key: value for key, value in new.items() if value != old[key] or key in due}
    # Words that lost in a union merge are in the memory's content by now, so they enter the body
    # as the repeated lines that held them go.
    return base.with_fields(changes, body.rewrite(base.body, memory.summary, memory.content))


def _values(memory: Memory) -> dict[str, Value | None]:
    """Every key in the order of the table; None for one that is left out."""
    source = memory.source
    values: dict[str, Value] = {
        "id": memory.id,
        "kind": memory.kind,
        "title": memory.title,
        "scope": memory.scope.value,
        "tags": memory.tags,
        "impact": memory.impact.value,
        "pinned": "true" if memory.pinned else "false",
        "difficulty": repr(float(memory.difficulty)),
        "confidence": repr(float(memory.confidence)),
        "observations": str(memory.observations),
        "phase": str(int(memory.phase)),
        "status": memory.status.value,
        "version": str(memory.version),
        "supersedes": memory.supersedes,
        "superseded_by": memory.superseded_by,
        "merged_from": memory.merged_from,
        "previous": memory.previous,
        "links": memory.links,
        "conflicts": memory.conflicts,
        "distinct": memory.distinct,
        "created": iso(memory.created),
        "updated": iso(memory.updated),
        "confirmed": iso(memory.confirmed),
        "trust": source.trust.value,
        "session": source.session,
        "lines": source.lines,
        "tool": source.tool,
        "reason": memory.reason,
        "state": memory.state,
        "legacy_id": memory.legacy_id,
        "signature": memory.signature,
        "shown_signature": memory.shown_signature,
    }
    left_out: dict[str, Value] = {
        field.key: () if field.many else field.default for field in FIELDS if not field.always
    }
    left_out["title"] = title_of(memory.content or memory.summary)
    left_out["confirmed"] = values["created"]
    return {key: None if left_out.get(key) == value else value for key, value in values.items()}


def _refuse_unwritable(memory: Memory) -> None:
    if not is_id(memory.id):
        raise Refused(f"'{memory.id}' is not a memory's id", hint="leave the id to ltm")
    if not memory.title.strip():
        raise Refused("a memory needs a title", hint="give it one with --title")
    if "\n" in memory.title or "\r" in memory.title:
        raise Refused("a title must be one line", hint="put the rest into the content")
    for name, text in _texts(memory):
        if not is_text(text):
            raise Refused(
                f"the {name} holds a character that no text file can keep",
                hint="remove NUL characters and broken surrogates",
            )


def _texts(memory: Memory) -> list[tuple[str, str]]:
    """Every text of a memory with the name of its field."""
    found = memory._asdict() | memory.source._asdict()
    del found["source"]
    texts = [(name, value) for name, value in found.items() if isinstance(value, str)]
    lists = [(name, value) for name, value in found.items() if isinstance(value, tuple)]
    return texts + [(name, part) for name, value in lists for part in value]
