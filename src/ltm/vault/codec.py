"""Memory to file and back, exactly: what each key means, how it is read and how it is written.

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

`assembled` puts a memory together from named values, wherever they stand: the keys of a file, read
here as a person typed them, or the fields of an exported record.
"""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NoReturn, Protocol, TypeVar

from ltm.errors import BadFile, LtmError, Refused, WrongUsage
from ltm.files.atomic import is_device
from ltm.kinds import Kinds
from ltm.model import Impact, Memory, Phase, Scope, Source, Status, Trust, choice, is_id
from ltm.text.sentences import title_of
from ltm.vault import body
from ltm.vault.body import Sections
from ltm.vault.fields import BY_KEY, FIELDS, Value, items, moment, number, phase_of, record_by_key
from ltm.vault.frontmatter import MAX_FRONT, Document, is_text
from ltm.vault.vault import MAX_FILE

_T = TypeVar("_T", bound=StrEnum)
_MOST = 10**9  # counts above it are a typing error, and would not fit every database
_TRUE = frozenset(("true", "yes", "on", "1"))
_FALSE = frozenset(("false", "no", "off", "0", ""))
_OURS_ALONE = {"kind", "legacy_id"}  # claude-ltm's files have none of these
_MADE_HERE = re.compile(r"mem_([0-9a-hjkmnp-tv-z]{9})[0-9a-hjkmnp-tv-z]{8}\Z")
_DIGITS = {char: value for value, char in enumerate("0123456789abcdefghjkmnpqrstvwxyz")}
_LONGEST_SLUG = 48
# Keys whose value was made up because the file had none: written down as soon as it is rewritten,
# so that no file that LTM wrote is without them.
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
        document = _onto(base, memory, new, kinds or Kinds())
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
    """The keys that every file that LTM wrote has, and this one has not."""
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


class Values(Protocol):
    """Named values, each checked; what is missing is the default."""

    def text(self, name: str) -> str:
        """One text."""
        ...

    def texts(self, name: str) -> tuple[str, ...]:
        """A flat list of texts."""
        ...

    def choice(self, name: str, default: _T) -> _T:
        """One of a few words."""
        ...

    def flag(self, name: str) -> bool:
        """True or false, which is the default."""
        ...

    def share(self, name: str, default: float) -> float:
        """A number from 0 to 1."""
        ...

    def count(self, name: str) -> int:
        """A whole number from 1 up."""
        ...

    def phase(self) -> Phase:
        """How much of the text is left."""
        ...

    def moment(self, name: str, default: datetime) -> datetime:
        """A moment."""
        ...


def assembled(
    values: Values,
    origin: Values,
    *,
    memory_id: str,
    kind: str,
    title: str,
    summary: str,
    content: str,
    created: datetime,
    trust: Trust,
) -> Memory:
    """The memory of these values; `origin` has those of its source, whose `trust` is a default."""
    return Memory(
        id=memory_id,
        kind=kind,
        title=title,
        summary=summary,
        content=content,
        created=created,
        updated=values.moment("updated", created),
        confirmed=values.moment("confirmed", created),
        scope=values.choice("scope", Scope.PROJECT),
        tags=values.texts("tags"),
        impact=values.choice("impact", Impact.MEDIUM),
        pinned=values.flag("pinned"),
        difficulty=values.share("difficulty", 0.0),
        confidence=values.share("confidence", 1.0),
        observations=values.count("observations"),
        phase=values.phase(),
        status=values.choice("status", Status.ACTIVE),
        version=values.count("version"),
        supersedes=values.texts("supersedes"),
        superseded_by=values.text("superseded_by"),
        merged_from=values.texts("merged_from"),
        previous=values.text("previous"),
        links=values.texts("links"),
        conflicts=values.texts("conflicts"),
        distinct=values.texts("distinct"),
        source=Source(
            trust=origin.choice("trust", trust),
            session=origin.text("session"),
            lines=origin.text("lines"),
            tool=origin.text("tool"),
        ),
        reason=values.text("reason"),
        state=values.text("state"),
        legacy_id=values.text("legacy_id"),
        signature=values.text("signature"),
        shown_signature=values.text("shown_signature"),
    )


@dataclass(frozen=True, slots=True)
class MemoryReader:
    """A document together with what is needed to understand it and to complain about it."""

    document: Document
    path: str
    kinds: Kinds

    def memory(self, sections: Sections, seen: datetime | None) -> Memory:
        """The memory these keys and sections make."""
        if "topic" in self.document.fields and not self.document.fields.keys() & _OURS_ALONE:
            self._bad(
                "topic",
                "is a memory of claude-ltm, which is read only when it is imported",
                "take it in with 'ltm import' and move it away; if it is yours, write 'kind: fact'",
            )
        found = self._id()
        return assembled(
            self,
            self,
            memory_id=found,
            kind=self._kind(),
            title=self._title(sections),
            summary=sections.summary,
            content=sections.content,
            created=self._created(found, seen),
            trust=Trust.USER,
        )

    def _bad(self, key: str, message: str, hint: str) -> NoReturn:
        line = self.document.lines.get(key, 1)
        raise BadFile(message, path=self.path, line=line, hint=hint)

    def text(self, key: str) -> str:
        value = self.document.fields.get(key, "")
        if isinstance(value, tuple):
            self._bad(key, f"'{key}' is a list", f"write '{key}:' and one text in double quotes")
        return value

    def _word(self, key: str) -> str:
        """A value that is one of a few words or a number; empty means the default."""
        return self.text(key).strip() or BY_KEY[key].default

    def texts(self, key: str) -> tuple[str, ...]:
        return items(self.document.fields.get(key))

    def _id(self) -> str:
        found = self.text("id").strip()
        if not found:
            # A file is named `<slug>.<id>.md`, so a deleted line loses nothing.
            found = os.path.basename(self.path).removesuffix(".md").rpartition(".")[2]
        if not is_id(found):
            problem = f"'{found}' is not a memory's id" if self.text("id") else "'id' is missing"
            self._bad(
                "id", problem, "write 'id: mem_' and letters or digits of your choice, in one word"
            )
        return found

    def _kind(self) -> str:
        word = self.text("kind")
        if not word.strip():
            return self.kinds.default.name
        try:
            return self.kinds.parse(word).name
        except WrongUsage as error:
            self._bad("kind", error.message, error.hint)

    def _title(self, sections: Sections) -> str:
        # A title is one line; YAML lets a person wrap one, and that person means a space.
        title = re.sub(r"[\r\n]+", " ", self.text("title"))
        if title.strip():
            return title
        derived = title_of(sections.content or sections.summary)
        if not derived:
            hint = "write 'title:' and a few words, or a text below the keys"
            self._bad("title", "'title' is missing", hint)
        return derived

    def choice(self, key: str, default: _T) -> _T:
        try:
            return choice(type(default), self.text(key).strip() or default.value)
        except WrongUsage as error:
            self._bad(key, f"'{key}': {error.message}", error.hint)

    def flag(self, key: str) -> bool:
        word = self._word(key).lower()
        if word not in _TRUE | _FALSE:
            self._bad(key, f"'{key}' is neither true nor false", f"write '{key}: true'")
        return word in _TRUE

    def _number(self, key: str) -> float:
        value = number(self._word(key))
        if value is None:
            self._bad(key, f"'{key}' is not a number", f"write '{key}: {BY_KEY[key].default}'")
        return value

    def share(self, key: str, default: float) -> float:
        """A number from 0 to 1; what lies outside is moved to the nearer end."""
        return min(1.0, max(0.0, self._number(key) if self.text(key).strip() else default))

    def count(self, key: str) -> int:
        """A whole number from 1 up; what lies outside is moved to the nearer end."""
        return int(min(_MOST, max(1, self._number(key))))

    def phase(self) -> Phase:
        found = phase_of(self._word("phase"))
        if found is None:
            self._bad("phase", "'phase' is not a phase", "write a number from 0 (full) to 3")
        return Phase(found)

    def _moment(self, key: str) -> datetime | None:
        text = self.text(key).strip()
        if not text:
            return None
        found = moment(text)
        if found is None:
            self._bad(key, f"'{key}' is not a moment", f"write '{key}: 2026-11-15T16:22:00Z'")
        return found

    def moment(self, key: str, default: datetime) -> datetime:
        return self._moment(key) or default

    def _created(self, memory_id: str, seen: datetime | None) -> datetime:
        found = self._moment("created") or _id_moment(memory_id) or self._moment("updated") or seen
        if found is None:
            self._bad("created", "'created' is missing", "write 'created: 2026-11-15T16:22:00Z'")
        return found.replace(microsecond=0)


def _id_moment(memory_id: str) -> datetime | None:
    """The moment at which LTM made an id, or None for an id that others made."""
    made_here = _MADE_HERE.match(memory_id)
    if made_here is None:
        return None
    stamp = 0
    for char in made_here[1]:
        stamp = stamp * 32 + _DIGITS[char]
    try:
        made = datetime.fromtimestamp(stamp // 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return made if 2000 <= made.year < 2200 else None


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
    record = record_by_key(memory)
    values = {field.key: _as_text(record[field.key]) for field in FIELDS}
    left_out: dict[str, Value] = {
        field.key: () if field.many else field.default for field in FIELDS if not field.always
    }
    left_out["title"] = title_of(memory.content or memory.summary)
    left_out["confirmed"] = values["created"]
    return {key: None if left_out.get(key) == value else value for key, value in values.items()}


def _as_text(value: Any) -> Value:
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def _refuse_unwritable(memory: Memory) -> None:
    if not is_id(memory.id):
        raise Refused(f"'{memory.id}' is not a memory's id", hint="leave the id to ltm")
    if not memory.title.strip():
        raise Refused("a memory needs a title", hint="give it one with --title")
    if "\n" in memory.title or "\r" in memory.title:
        raise Refused("a title must be one line", hint="put the rest into the content")
    for name, value in record_by_key(memory).items():
        texts = value if isinstance(value, list) else [value] if isinstance(value, str) else []
        if not all(map(is_text, texts)):
            raise Refused(
                f"the {name} holds a character that no text file can keep",
                hint="remove NUL characters and broken surrogates",
            )
