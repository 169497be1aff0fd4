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

The body is the text, or a `## Summary` section, then a `## Content` section; both texts come back
exactly, whatever they contain. A body without these headings is all content, and its summary is
what `summary_of` makes of it: so a summary that no person wrote stands in no file and follows the
text.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NoReturn, Protocol, TypeVar

from ltm.errors import BadFile, LtmError, Refused, WrongUsage
from ltm.files.atomic import is_device
from ltm.kinds import Kinds
from ltm.model import Memory, Phase, Source, Trust, choice, is_id
from ltm.text.sentences import summary_of, title_of
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
_HEADING = re.compile(r"^##[ \t]+(summary|content)[ \t]*\r?(?:\n|\Z)", re.MULTILINE | re.IGNORECASE)
# Lines of the texts that would be read as something else get a backslash, which Markdown hides:
# the opening marker of a merge conflict anywhere, and the next section's heading in the summary.
_MARKER = r"<<<<<<<"
_CONTENT = r"##[ \t]+content[ \t]*\r?(?:$|\Z)"
_FLAGS = re.MULTILINE | re.IGNORECASE
_LINES = {"summary": f"(?:{_MARKER}|{_CONTENT})", "content": _MARKER}
_BARE = {name: re.compile(rf"^\\*{line}", _FLAGS) for name, line in _LINES.items()}
_ESCAPED = {name: re.compile(rf"^\\(\\*{line})", _FLAGS) for name, line in _LINES.items()}


def decode(document: Document, path: str, kinds: Kinds, *, seen: datetime | None = None) -> Memory:
    """The memory a document holds; BadFile with the line of the key that cannot be read.

    `seen` is the moment to assume for a hand-written file whose keys and id tell none, such as the
    file's modification time.
    """
    values = DocumentValues(document, path)
    if "topic" in document.fields and not document.fields.keys() & _OURS_ALONE:
        values.bad(
            "topic",
            "is a memory of claude-ltm, which is read only when it is imported",
            "take it in with 'ltm import' and move it away; if it is yours, write 'kind: fact'",
        )
    sections = read_body(with_notes(document.body, document.alternates))
    memory_id = values.text("id").strip()
    if not memory_id:  # a file is named `<slug>.<id>.md`, so a deleted line loses nothing
        memory_id = os.path.basename(path).removesuffix(".md").rpartition(".")[2]
    if not is_id(memory_id):
        hint = "write 'id: mem_' and letters or digits of your choice, in one word"
        found = f"'{memory_id}' is not a memory's id" if values.text("id") else "'id' is missing"
        values.bad("id", found, hint)
    kind = values.text("kind")
    try:
        kind = kinds.parse(kind).name if kind.strip() else kinds.default.name
    except WrongUsage as error:
        values.bad("kind", error.message, error.hint)
    # A title is one line; YAML lets a person wrap one, and that person means a space.
    title = re.sub(r"[\r\n]+", " ", values.text("title"))
    if not title.strip():
        title = title_of(sections.content or sections.summary)
    if not title:
        hint = "write 'title:' and a few words, or a text below the keys"
        values.bad("title", "'title' is missing", hint)
    created = values.moment("created") or _id_moment(memory_id) or values.moment("updated") or seen
    if created is None:
        values.bad("created", "'created' is missing", "write 'created: 2026-11-15T16:22:00Z'")
    return assembled(
        values,
        values,
        trust=Trust.USER,
        id=memory_id,
        kind=kind,
        title=title,
        summary=sections.summary,
        content=sections.content,
        created=created.replace(microsecond=0),
    )


def encode(memory: Memory, base: Document | None = None, kinds: Kinds | None = None) -> Document:
    """The document that says this; with a base, that document changed only where the memory is.

    Refused when a text cannot be kept in a file or the file would be too large to be read again.
    """
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
    if base is None:
        body = write_body(memory.summary, memory.content)
        document = Document().with_fields(_values(memory), body)
    else:
        document = _onto(base, memory, kinds or Kinds())
    if document.front_size > MAX_FRONT or len(document.to_bytes()) > MAX_FILE:
        raise Refused(
            f"'{memory.title[:60]}' is too long to be kept as one memory",
            hint=f"keep it below {MAX_FILE // 1024} KiB, its keys below {MAX_FRONT // 1024} KiB",
        )
    return document


def to_bytes(memory: Memory, base: Document | None = None, kinds: Kinds | None = None) -> bytes:
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
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", plain)[: _LONGEST_SLUG + 1].strip("-")[:_LONGEST_SLUG]
    name = name.strip("-") or "memory"
    return f"memory-{name}" if is_device(name) else name


def file_name(memory: Memory) -> str:
    """The name of the file a memory lives in; its id alone decides which memory that is."""
    return f"{slug(memory.title)}.{memory.id}.md"


class Values(Protocol):
    """Named values, each checked; what is missing is the default."""

    def text(self, name: str) -> str: ...
    def texts(self, name: str) -> tuple[str, ...]: ...
    def choice(self, name: str, default: _T) -> _T: ...
    def flag(self, name: str) -> bool: ...
    def share(self, name: str, default: float) -> float: ...
    def count(self, name: str) -> int: ...
    def phase(self) -> Phase: ...
    def moment(self, name: str, default: datetime) -> datetime: ...


def assembled(values: Values, origin: Values, *, trust: Trust, **given: Any) -> Memory:
    """The memory of named values, wherever they stand: the keys of a file or a record's fields.

    `given` are the fields without a default, but for two moments. `origin` has the values of the
    memory's source; `trust` is what a missing one means there.
    """

    def value(place: Values, name: str, default: object) -> Any:
        if isinstance(default, StrEnum):
            return place.choice(name, default)
        if isinstance(default, Phase):
            return place.phase()
        if isinstance(default, bool):
            return place.flag(name)
        if isinstance(default, float):
            return place.share(name, default)
        if isinstance(default, int):
            return place.count(name)
        return place.texts(name) if isinstance(default, tuple) else place.text(name)

    source = {**Source._field_defaults, "trust": trust}
    return Memory(
        **given,
        updated=values.moment("updated", given["created"]),
        confirmed=values.moment("confirmed", given["created"]),
        source=Source(*(value(origin, name, default) for name, default in source.items())),
        **{
            name: value(values, name, default)
            for name, default in Memory._field_defaults.items()
            if name != "source"
        },
    )


@dataclass(frozen=True, slots=True)
class Sections:
    summary: str
    content: str
    explicit: bool
    """Whether the body has the headings; without them the summary is derived."""
    summary_span: tuple[int, int] | None = None
    content_span: tuple[int, int] | None = None
    """Where each text stands in the body, if it stands there in one piece."""

    @property
    def given(self) -> str:
        """The summary that stands in the body; nothing where it follows from the text."""
        return self.summary if self.explicit else ""


@dataclass(frozen=True, slots=True)
class DocumentValues:
    """The values of a document's keys, read as a person may have typed them."""

    document: Document
    path: str

    def bad(self, key: str, message: str, hint: str) -> NoReturn:
        line = self.document.lines.get(key, 1)
        raise BadFile(message, path=self.path, line=line, hint=hint)

    def text(self, key: str) -> str:
        value = self.document.fields.get(key, "")
        if isinstance(value, tuple):
            self.bad(key, f"'{key}' is a list", f"write '{key}:' and one text in double quotes")
        return value

    def _word(self, key: str) -> str:
        """A value that is one of a few words or a number; empty means the default."""
        return self.text(key).strip() or BY_KEY[key].default

    def texts(self, key: str) -> tuple[str, ...]:
        return items(self.document.fields.get(key))

    def choice(self, key: str, default: _T) -> _T:
        try:
            return choice(type(default), self.text(key).strip() or default.value)
        except WrongUsage as error:
            self.bad(key, f"'{key}': {error.message}", error.hint)

    def flag(self, key: str) -> bool:
        word = self._word(key).lower()
        if word not in _TRUE | _FALSE:
            self.bad(key, f"'{key}' is neither true nor false", f"write '{key}: true'")
        return word in _TRUE

    def _number(self, key: str) -> float:
        value = number(self._word(key))
        if value is None:
            self.bad(key, f"'{key}' is not a number", f"write '{key}: {BY_KEY[key].default}'")
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
            self.bad("phase", "'phase' is not a phase", "write a number from 0 (full) to 3")
        return Phase(found)

    def moment(self, key: str, default: datetime | None = None) -> Any:
        text = self.text(key).strip()
        found = moment(text) if text else default
        if text and found is None:
            self.bad(key, f"'{key}' is not a moment", f"write '{key}: 2026-11-15T16:22:00Z'")
        return found


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


def _onto(base: Document, memory: Memory, kinds: Kinds) -> Document:
    changes = _values(memory)
    try:  # a base without an id takes it from the name
        before = decode(base, file_name(memory), kinds, seen=memory.created)
    except LtmError:
        pass  # a broken base has nothing to compare with: every known key is written
    else:
        if before == memory:
            return base
        old = _values(before)
        due = {*base.repeated, *lacking(base)}
        if memory.title != before.title:  # one that follows from the text may be in an older file
            due.add("title")
        changes = {key: new for key, new in changes.items() if new != old[key] or key in due}
    # Words that lost in a union merge are in the memory's content by now, so they enter the body
    # as the repeated lines that held them go.
    return base.with_fields(changes, rewrite_body(base.body, memory.summary, memory.content))


def _values(memory: Memory) -> dict[str, Value | None]:
    """Every key in the order of the table; None for one that is left out."""
    record = record_by_key(memory)
    values: dict[str, Value] = {}
    for field in FIELDS:
        value = record[field.key]
        if isinstance(value, list):
            values[field.key] = tuple(value)
        elif isinstance(value, bool):
            values[field.key] = "true" if value else "false"
        else:
            values[field.key] = value if isinstance(value, str) else repr(value)
    left_out: dict[str, Value] = {
        field.key: () if field.many else field.default for field in FIELDS if not field.always
    }
    left_out["title"] = title_of(memory.content or memory.summary)
    left_out["confirmed"] = values["created"]
    return {key: None if left_out.get(key) == value else value for key, value in values.items()}


# -- the body --------------------------------------------------------------------------------------


def read_body(body: str) -> Sections:
    """The summary and the content of a body."""
    first = _HEADING.search(body)
    if first is None:
        content = body.strip("\n")
        start = len(body) - len(body.lstrip("\n"))
        text = _unescape(content, "content")
        return Sections(summary_of(text), text, False, content_span=(start, start + len(content)))
    lead = body[: first.start()].strip("\n")
    summary, summary_span = "", None
    headings = _HEADING.finditer(body, first.start())
    heading = next((each for each in headings if each[1].lower() == "content"), None)
    if heading is None or heading.start() != first.start():
        end = len(body) if heading is None else heading.start()
        summary_span = _span(body, first.end(), end, 1 if heading is None else 2)
        summary = _unescape(body[slice(*summary_span)], "summary")
    text, content_span = "", None
    if heading is not None:
        content_span = _span(body, heading.end(), len(body), 1)
        text = _unescape(body[slice(*content_span)], "content")
    if lead:  # a person's words above the headings belong to the content
        text, content_span = f"{lead}\n\n{text}" if text else lead, None
    return Sections(summary, text, True, summary_span, content_span)


def write_body(summary: str, content: str) -> str:
    """The shortest body that says exactly this; nothing at all for a tombstone without words."""
    text = _escape(content, "content")
    if content and _says(f"\n{text}\n", summary, content):
        return f"\n{text}\n"
    above = f"\n## Summary\n\n{_escape(summary, 'summary')}\n" if summary else ""
    return above + (f"\n## Content\n\n{text}\n" if content else "")


def rewrite_body(body: str, summary: str, content: str) -> str:
    """A body with these texts in which an unchanged section keeps every byte it has.

    The sections go with the first change after which the summary follows from the text.
    """
    old = read_body(body)
    if (old.summary, old.content) == (summary, content):
        return body
    new = write_body(summary, content)
    if not read_body(new).explicit:
        return new
    spliced = body
    contents = ("content", content, old.content, old.content_span)  # stands behind the summary
    for name, text, former, span in (contents, ("summary", summary, old.summary, old.summary_span)):
        if text != former and span:
            spliced = f"{spliced[: span[0]]}{_escape(text, name)}{spliced[span[1] :]}"
    # Where a section is missing, or stands in pieces, there is nothing to splice into.
    return spliced if _says(spliced, summary, content) else new


def with_notes(body: str, lost: Mapping[str, tuple[str, ...]]) -> str:
    """A body with a line for each text that lost against another version of the same key."""
    if not lost:
        return body
    sections = read_body(body)
    # One line each, so that a later merge can tell that it is there already.
    notes = (f"- other {key}: {text}" for key, texts in lost.items() for text in texts)
    there = set(sections.content.split("\n"))
    lines = "\n".join(line for note in notes if (line := note.replace("\n", " ")) not in there)
    if not lines:
        return body
    content = f"{sections.content}\n\n{lines}" if sections.content else lines
    return rewrite_body(body, sections.summary, content)


def _says(body: str, summary: str, content: str) -> bool:
    found = read_body(body)
    return (found.summary, found.content) == (summary, content)


def _span(body: str, start: int, end: int, blank: int) -> tuple[int, int]:
    """The text between two headings without the one line end before it and `blank` behind it."""
    if body.startswith("\n", start, end):
        start += 1
    for _ in range(blank):
        if body.endswith("\n", start, end):
            end -= 1
    return start, end


def _escape(text: str, section: str) -> str:
    return _BARE[section].sub(r"\\\g<0>", text)


def _unescape(text: str, section: str) -> str:
    return _ESCAPED[section].sub(r"\1", text)
