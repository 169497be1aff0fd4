"""A memory file as a lossless document: keys, body, and every byte that is neither.

Owns the limits on a file, the way from bytes to keys and back, and the promise that a change
touches only the lines of the keys it changes. What the keys mean is the codec's business.
Imports core, and from storage the table of keys and how values are written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ltm.core.errors import BadFile
from ltm.storage import scalars, strictyaml
from ltm.storage.fields import BY_KEY, ORDER, Value, settle
from ltm.storage.vault import MAX_FILE

MAX_FRONT = 64 * 1024
"""Characters its front matter may have."""

_BOM = b"\xef\xbb\xbf"
_OPENING = re.compile(r"---[ \t]*\r?(?:\n|\Z)")
_CLOSING = re.compile(r"^---[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_MARKER = re.compile(r"^(?:<<<<<<<(?=[ \r\n])|=======(?=\r?$)|>>>>>>>(?=[ \r\n]|\Z))", re.MULTILINE)
_LONE_NEWLINE = re.compile(r"(?<!\r)\n")


@dataclass(frozen=True, slots=True)
class FrontMatterEntry:
    """A stretch of front matter: one key with its value, or (key '') lines between keys."""

    key: str
    raw: str
    value: Value | None = None
    """None when the value is neither a scalar nor a flat list of scalars."""
    remark: str = ""
    """A comment behind the value, which stays when the value is replaced."""


@dataclass(frozen=True, slots=True)
class Document:
    """One memory file, as it was typed and as it reads."""

    entries: tuple[FrontMatterEntry, ...] = ()
    body: str = ""
    """The text below the front matter, with `\\n` for the line ends of a CRLF file."""
    opening: str = "---\n"
    closing: str = "---\n"
    bom: bool = False
    crlf: bool = False
    """Every line of the file ends with CRLF, so a changed line must too."""
    fields: Mapping[str, Value] = field(init=False, compare=False)
    """What each key says; one that stands several times is settled by its rule."""
    alternates: Mapping[str, tuple[str, ...]] = field(init=False, compare=False)
    """Words that lost against another line of the same key."""
    lines: Mapping[str, int] = field(init=False, compare=False)
    """The line of the file on which each key first stands."""

    def __post_init__(self) -> None:
        fields: dict[str, Value] = {}
        lines: dict[str, int] = {}
        repeated: dict[str, list[Value]] = {}
        line = 2
        for entry in self.entries:
            if entry.key:
                lines.setdefault(entry.key, line)
                if entry.value is not None:
                    if entry.key in fields:
                        repeated.setdefault(entry.key, [fields[entry.key]]).append(entry.value)
                    else:
                        fields[entry.key] = entry.value
            line += entry.raw.count("\n")
        alternates: dict[str, tuple[str, ...]] = {}
        for key, values in repeated.items():
            fields[key], lost = settle(values, BY_KEY.get(key))
            if lost:
                alternates[key] = lost
        object.__setattr__(self, "fields", fields)
        object.__setattr__(self, "alternates", alternates)
        object.__setattr__(self, "lines", lines)

    @property
    def repeated(self) -> tuple[str, ...]:
        """The keys that stand more than once, as git's union merge leaves them."""
        times = Counter(entry.key for entry in self.entries if entry.key)
        return tuple(key for key, count in times.items() if count > 1)

    @property
    def front_size(self) -> int:
        """Characters between the two `---` lines, which MAX_FRONT bounds."""
        return sum(len(entry.raw) for entry in self.entries)

    def to_bytes(self) -> bytes:
        """The file; exactly the bytes that were parsed when nothing was changed."""
        body = self.body.replace("\n", "\r\n") if self.crlf else self.body
        front = "".join(entry.raw for entry in self.entries)
        data = f"{self.opening}{front}{self.closing}{body}".encode()
        return _BOM + data if self.bom else data

    def with_fields(self, changes: Mapping[str, Value | None], body: str | None = None) -> Document:
        """A copy in which only the lines of the changed keys differ; None removes a key.

        A key that stood several times is left once. A new key goes where the order of the table
        puts it, behind the known key before it; one the table does not know goes to the end.
        """
        entries: list[FrontMatterEntry] = []
        done: set[str] = set()
        for entry in self.entries:
            if entry.key not in changes or not entry.key:
                entries.append(entry)
            elif entry.key not in done:
                done.add(entry.key)
                value = changes[entry.key]
                if value is not None:
                    entries.append(self._entry(entry.key, value, entry.remark))
        for key, value in changes.items():
            if key not in done and value is not None:
                entries.insert(_place(entries, key), self._entry(key, value))
        return self.with_entries(entries, body)

    def with_entries(
        self, entries: Iterable[FrontMatterEntry], body: str | None = None
    ) -> Document:
        """A copy with other front matter, and another body unless that is None."""
        text = self.body if body is None else body
        closing = self.closing
        if text and not closing.endswith("\n"):
            closing += "\r\n" if self.crlf else "\n"
        return replace(self, entries=tuple(entries), body=text, closing=closing)

    def _entry(self, key: str, value: Value, remark: str = "") -> FrontMatterEntry:
        known = BY_KEY.get(key)
        if isinstance(value, tuple):
            text = scalars.flow(value)
        elif known is not None and known.token:
            text = scalars.token(value)
        else:
            text = scalars.scalar(value)
        newline = "\r\n" if self.opening.endswith("\r\n") else "\n"
        return FrontMatterEntry(key, f"{key}: {text}{remark}{newline}", value, remark)


def parse(data: bytes, path: str) -> Document:
    """The document in a file's bytes; BadFile with the line and a way out when there is none."""
    text, bom = _text(data, path)
    _refuse_conflict(text, path)
    opening = _OPENING.match(text)
    if opening is None:
        raise BadFile(
            "the file does not begin with front matter",
            path=path,
            line=1,
            hint="begin it with a line '---', the keys id, kind and title, and another '---'",
        )
    start = opening.end()
    closing = _CLOSING.search(text, start)
    if closing is None or closing.start() - start > MAX_FRONT:
        if len(text) - start <= MAX_FRONT:
            raise BadFile(
                "the front matter has no end", path=path, line=1, hint="add a line '---' below it"
            )
        raise BadFile(
            f"the front matter is longer than {MAX_FRONT // 1024} KiB",
            path=path,
            line=1,
            hint="end it with a line '---' and keep long text below that",
        )
    front = text[start : closing.start()]
    try:
        entries = _entries(front, strictyaml.read(front))
    except strictyaml.Flaw as flaw:
        line = 2 + front.count("\n", 0, flaw.offset)
        raise BadFile(flaw.message, path=path, line=line, hint=flaw.hint) from flaw
    body = text[closing.end() :]
    crlf = "\r\n" in text and not _LONE_NEWLINE.search(text)
    document = Document(
        entries=entries,
        body=body.replace("\r\n", "\n") if crlf else body,
        opening=opening[0],
        closing=closing[0],
        bom=bom,
        crlf=crlf,
    )
    _refuse_nesting(document, path)
    return document


def _text(data: bytes, path: str) -> tuple[str, bool]:
    """The text of a file and whether a byte order mark stood before it."""
    if not data:
        raise BadFile(
            "the file is empty",
            path=path,
            hint="restore it with 'git checkout' or from archives/, or delete it",
        )
    if len(data) > MAX_FILE:
        raise BadFile(
            f"the file is larger than {MAX_FILE // 1024 // 1024} MiB",
            path=path,
            hint="keep a memory short and link to long text",
        )
    if (nul := data.find(b"\0")) >= 0:
        raise BadFile(
            "the file holds a NUL byte",
            path=path,
            line=1 + data.count(b"\n", 0, nul),
            hint="save it as UTF-8 text",
        )
    bom = data.startswith(_BOM)
    try:
        return data[3 if bom else 0 :].decode(), bom
    except UnicodeDecodeError as error:
        raise BadFile(
            "the file is not UTF-8",
            path=path,
            line=1 + data.count(b"\n", 0, error.start + (3 if bom else 0)),
            hint="save it as UTF-8 text",
        ) from error


def _refuse_conflict(text: str, path: str) -> None:
    """Refuse the markers of an unfinished merge; a lone `=======` is a Markdown heading."""
    if "<<<<<<<" not in text:
        return
    opened: int | None = None
    divided = False
    for marker in _MARKER.finditer(text):
        sign = marker[0][0]
        if sign == "<":
            opened, divided = marker.start(), False
        elif sign == "=":
            divided = True
        elif opened is not None and divided:
            raise BadFile(
                "the file holds the markers of an unfinished merge",
                path=path,
                line=1 + text.count("\n", 0, opened),
                hint="keep what is right and delete the lines <<<<<<<, ======= and >>>>>>>;"
                " a text about such markers needs a backslash before <<<<<<<",
            )


def _entries(front: str, items: Sequence[strictyaml.YamlKey]) -> tuple[FrontMatterEntry, ...]:
    """The front matter cut into keys and what lies between them, without losing a character."""
    entries: list[FrontMatterEntry] = []
    done = 0
    for item in items:
        if item.start > done:
            entries.append(FrontMatterEntry("", front[done : item.start]))
        end = item.end
        if front[end - 1] != "\n":  # a block text ends at the start of the line behind it
            end = front.index("\n", end) + 1
        tail = front[item.end : end].rstrip()
        remark = tail if tail.lstrip().startswith("#") else ""
        entries.append(FrontMatterEntry(item.key, front[item.start : end], item.value, remark))
        done = end
    if done < len(front):
        entries.append(FrontMatterEntry("", front[done:]))
    return tuple(entries)


def _refuse_nesting(document: Document, path: str) -> None:
    for entry in document.entries:
        if entry.value is None and entry.key in BY_KEY:
            raise BadFile(
                f"'{entry.key}' is a nested value",
                path=path,
                line=document.lines[entry.key],
                hint=f"write '{entry.key}: …' as one text, or as a list [a, b]",
            )


def _place(entries: Sequence[FrontMatterEntry], key: str) -> int:
    """Where a new key belongs among the entries."""
    rank = ORDER.get(key)
    if rank is not None:
        before = [i for i, e in enumerate(entries) if ORDER.get(e.key, len(ORDER)) < rank]
        if before:
            return before[-1] + 1
        if any(e.key in ORDER for e in entries):
            return next(i for i, e in enumerate(entries) if e.key in ORDER)
    return len(entries)
