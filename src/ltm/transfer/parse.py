"""Read foreign Markdown, SQLite and JSON, whatever state it is in.

A note is never lost because its front matter or headings are not as they should be. A database is
opened read-only and leaves no trace: a copy is read when a writer left a log, and a table is read
from both ends when a page in its middle is broken.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ltm.errors import WrongUsage
from ltm.files.sqlite import READ_ONLY, foreign, foreign_columns, foreign_tables, quoted
from ltm.kinds import Kinds
from ltm.model import Impact
from ltm.transfer.source import Origin
from ltm.vault import frontmatter
from ltm.vault.fields import Value, moment
from ltm.vault.fields import number as field_number

_FRONT = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"([A-Za-z_][\w-]*):[ \t]*(.*)")
_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*)\Z")
_BULLET = re.compile(r"[-*+][ \t]+(?:\[[ xX]\][ \t]+)?(\S.*)\Z")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_DAY = re.compile(
    r"(?<!\d)(\d{4}-\d{2}-\d{2})"
    r"(?:[T_ ](\d{2}):?(\d{2})(?::?(\d{2}))?(?:\.\d+)?(Z|[+-]\d{2}:\d{2})?)?"
)
_LONGEST_FRONT = 64 * 1024
_END = 300  # characters


@dataclass(frozen=True, slots=True)
class Front:
    keys: Mapping[str, Value]
    nested: Mapping[str, str]
    """The lines of keys that hold more than a text or a flat list, as they are written."""
    body: str
    body_line: int
    """The line of the file on which the body begins."""
    flaw: str = ""
    flaw_line: int = 0

    def text(self, *names: str) -> str:
        """The first of these keys that says something, as one text."""
        for name in names:
            value = self.keys.get(name, "")
            said = ", ".join(value) if isinstance(value, tuple) else value
            if said.strip():
                return said.strip()
        return ""

    def many(self, name: str) -> tuple[str, ...]:
        """A key that is a list, or a text with commas."""
        value = self.keys.get(name, ())
        parts = value if isinstance(value, tuple) else value.strip("[]").split(",")
        return tuple(part.strip(" \t\"'") for part in parts if part.strip(" \t\"'"))

    def inner(self, name: str, key: str) -> str:
        """The value of a key one level below another."""
        found = re.search(
            rf"^[ \t]+{re.escape(key)}:[ \t]*(.+?)[ \t]*$", self.nested.get(name, ""), re.M
        )
        return _unquoted(found[1]) if found else ""


@dataclass(slots=True)
class Section:
    """A heading and the lines up to the next heading of its level or above it."""

    level: int
    """0 for what stands before the first heading."""
    heading: str
    line: int
    body: list[str] = field(default_factory=list)
    """The lines below it, deeper headings included."""

    @property
    def text(self) -> str:
        return "\n".join(self.body).strip("\n")

    def bullets(self) -> list[tuple[int, str]]:
        """The top-level items of its lists with their lines, and the lines that continue each."""
        found: list[tuple[int, list[str]]] = []
        for number, text in enumerate(self.body, start=self.line + (self.level > 0)):
            bullet = _BULLET.match(text)
            if bullet:
                found.append((number, [bullet[1].strip()]))
            elif found and text.startswith((" ", "\t")) and text.strip():
                found[-1][1].append(text.rstrip())
        return [(number, "\n".join(said)) for number, said in found]

    def without_bullets(self) -> str:
        """The text less these items."""
        left: list[str] = []
        listed = False
        for text in self.body:
            continues = listed and text.startswith((" ", "\t")) and text.strip()
            listed = bool(_BULLET.match(text) or continues)
            if not listed:
                left.append(text)
        return "\n".join(left).strip("\n")


def front(text: str) -> Front:
    """A note taken apart. What is not valid YAML is read line by line, and the flaw is told."""
    match = _FRONT.match(text)
    if match is None or len(match[1]) > _LONGEST_FRONT:
        return Front({}, {}, text, 1)
    body_line = 1 + match[0].count("\n")
    try:
        items = frontmatter.yaml_keys(match[1])
    except frontmatter.Flaw as flaw:
        line = 2 + match[1].count("\n", 0, flaw.offset)
        return Front(_loose(match[1]), {}, text[match.end() :], body_line, flaw.message, line)
    keys = {item.key: item.value for item in items if item.value is not None}
    nested = {item.key: match[1][item.start : item.end] for item in items if item.value is None}
    return Front(keys, nested, text[match.end() :], body_line)


def read_note(origin: Origin, path: str) -> Front | None:
    """The note in a file, and a problem for its flaw; None when it cannot be read."""
    text = origin.text(path)
    if text is None:
        return None
    note = front(text)
    if note.flaw:
        origin.problem(path, f"{note.flaw}; read as well as could be", note.flaw_line)
    return note


def kind_by_words(words: Iterable[str], kinds: Kinds) -> str:
    """The kind of the first word that is a name or alias of one; else ''."""
    for word in words:
        try:
            return kinds.parse(word).name
        except WrongUsage:
            continue
    return ""


def _loose(text: str) -> dict[str, Value]:
    """`key: value` lines of a tool that quotes nothing; other lines go on with the one before."""
    found: dict[str, Value] = {}
    last = ""
    for line in text.split("\n"):
        key = _KEY.match(line)
        if key:
            last = key[1]
            value = key[2].strip()
            if value.startswith("[") and value.endswith("]"):
                parts = (_unquoted(part) for part in value[1:-1].split(","))
                found[last] = tuple(part for part in parts if part)
            else:
                found[last] = _unquoted(value)
        elif last and line.strip():
            before = found[last]
            if line.lstrip().startswith("- "):
                item = _unquoted(line.lstrip()[2:])
                listed = before if isinstance(before, tuple) else ((before,) if before else ())
                found[last] = (*listed, item)
            elif isinstance(before, str):
                found[last] = f"{before} {line.strip()}".strip()
    # Some tools put quotes around a text that has quotes inside, on several lines.
    return {
        key: _unquoted(value, '"') if isinstance(value, str) else value
        for key, value in found.items()
    }


def _unquoted(text: str, quotes: str = "\"'") -> str:
    plain = text.strip()
    is_quoted = len(plain) > 1 and plain[0] == plain[-1] and plain[0] in quotes
    return plain[1:-1] if is_quoted else plain


def sections(text: str, first_line: int = 1, level: int = 6) -> list[Section]:
    """The sections of a text whose heading is at most so deep; deeper headings stay inside.

    The first one holds what stands before any heading. Headings in code are code.
    """
    found = [Section(0, "", first_line)]
    fence = ""
    for number, line in enumerate(text.split("\n"), start=first_line):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        heading = None if fence or mark else _HEADING.match(line)
        if heading and len(heading[1]) <= level:
            found.append(Section(len(heading[1]), heading_of(heading[2]), number))
        else:
            found[-1].body.append(line)
    return found


def heading_of(text: str) -> str:
    """What a heading says, without the marks that may close it."""
    return text.rstrip(" \t").rstrip("#").rstrip(" \t") or text


def at_end(text: str) -> int:
    """Where to begin looking for what stands at the end of a text, however long that is."""
    return max(0, len(text) - _END)


def day(text: str) -> datetime | None:
    """The first date in a text, with its time if it has one."""
    found = _DAY.search(text)
    if found is None:
        return None
    date, hour, minute, second, zone = found.groups()
    if hour is None:
        return moment(date)
    return moment(f"{date}T{hour}:{minute}:{second or '00'}{zone or 'Z'}") or moment(date)


_MAGIC = b"SQLite format 3\0"
_BROKEN = (sqlite3.Error, UnicodeDecodeError)
"""What a damaged database raises: names in it, and messages about it, may be no text any more."""

Row = Mapping[str, Any]

_FIRST, _LAST = -(2**63), 2**63 - 1  # row numbers of SQLite


def _open(origin: Origin, path: str) -> sqlite3.Connection:
    """A foreign database to read from; its file and its folder stay as they are."""
    log = f"{path}-wal"
    # What is only in the log is newer than the file, and reading it in place would write there.
    if os.path.isfile(log) and os.path.getsize(log) and not os.path.islink(log):
        db = foreign(origin.copy(path, log), "mode=rw")
    else:
        db = foreign(path, READ_ONLY)
    db.row_factory = sqlite3.Row
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    return db


def is_database(origin: Origin, path: str) -> bool:
    return origin.head(path, len(_MAGIC)) == _MAGIC


def tables(origin: Origin, path: str) -> dict[str, frozenset[str]]:
    """The tables of a database and their stored columns; nothing when it cannot be read."""
    if path not in origin.tables:
        origin.tables[path] = {}
        try:
            if is_database(origin, path):
                with closing(_open(origin, path)) as db:
                    found = {name: foreign_columns(db, name) for name in foreign_tables(db)}
                    origin.tables[path] = found
        except _BROKEN as error:
            origin.problem(path, f"cannot be read as a database: {error}")
    return origin.tables[path]


def rows(origin: Origin, path: str, *names: str) -> Iterator[tuple[str, Row]]:
    """Every row of these tables, as far as they are there, with the name of its table."""
    try:
        with closing(_open(origin, path)) as db:
            for name in names:
                if name in tables(origin, path):
                    yield from ((name, row) for row in _rows(origin, path, db, name))
    except _BROKEN as error:
        origin.problem(path, f"cannot be read as a database: {error}")


def _rows(origin: Origin, path: str, db: sqlite3.Connection, table: str) -> Iterator[Row]:
    """The rows of a table, oldest first; what lies behind a broken page is read from the end.

    One question each: Python gives up the row before one that SQLite cannot read.
    """
    # By name: `*` would have SQLite compute columns that are not stored.
    columns = ", ".join(map(quoted, sorted(tables(origin, path)[table])))
    met: set[int] = set()
    for order, compared, edge, step in (("ASC", ">=", _FIRST, 1), ("DESC", "<=", _LAST, -1)):
        beyond = f"FROM {quoted(table)} WHERE rowid {compared} ? ORDER BY rowid {order} LIMIT 1"
        while _FIRST <= edge <= _LAST:
            row: sqlite3.Row | None = None
            try:
                row = db.execute(f"SELECT rowid AS _row, {columns} {beyond}", (edge,)).fetchone()
                if row is None:
                    return
                number = row["_row"]
            except _BROKEN as error:
                try:
                    (number,) = db.execute(f"SELECT rowid {beyond}", (edge,)).fetchone()
                except _BROKEN:
                    broken = f"the table {table} is broken ({error})"
                    origin.problem(path, f"{broken}; what can be read of it is taken")
                    break
                left_out = f"row {number} of the table {table} was left out: {error}"
                origin.problem(path, left_out)
            if number in met:
                return
            met.add(number)
            edge = number + step
            if row is not None:
                origin.count_row(path)
                size = sum(len(cell) for cell in row if isinstance(cell, str | bytes))
                origin.count_bytes(size, path)
                yield dict(row)


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def text_of(value: Any) -> str:
    """A text or a number as text; '' for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def listed(value: Any) -> tuple[str, ...]:
    """The texts of a list, or of a list written as JSON in a text."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return ()
    return tuple(text for each in items(value) if (text := text_of(each).strip()))


def impact_of(word: str) -> Impact:
    """The impact of a name, else medium."""
    plain = word.strip().lower()
    return Impact(plain) if plain in set(Impact) else Impact.MEDIUM


def name_of(path: str) -> str:
    """The name of a Markdown file in words, for a note without a title."""
    return os.path.basename(path).removesuffix(".md").replace("-", " ").replace("_", " ")


def share(value: Any, default: float) -> float:
    found = field_number(text_of(value))
    return default if found is None else min(1.0, max(0.0, found))


def count(value: Any, default: int) -> int:
    found = field_number(text_of(value))
    return default if found is None else int(min(1e9, max(0, found)))


def when(value: Any) -> datetime | None:
    """A moment as text, or as seconds or milliseconds since 1970."""
    if isinstance(value, str):
        return moment(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    seconds = value / 1000 if abs(value) > 1e11 else value
    try:
        return moment(datetime.fromtimestamp(int(seconds), UTC).isoformat())
    except (OverflowError, OSError, ValueError):
        return None


def kind_by_heading(heading: str, kinds: Kinds) -> str:
    """The kind whose heading, name or alias this is, with or without "recent" or "key"; else ''."""
    plain = heading.strip().strip("*_:").lower()
    for row in kinds:
        if row.heading.lower() == plain:
            return row.name
    words = (plain, plain.removeprefix("recent "), plain.removeprefix("key "))
    return kind_by_words(words, kinds)
