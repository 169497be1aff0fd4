"""A memory file as a lossless document: keys, body, and every byte that is neither.

A change touches only the lines of the keys it changes. A value is written on one line, quoted so
that every YAML tool reads it back: a line per key lets git's union merge work on memory files.

Front matter as LTM writes it, and plain edits of that, is read here: a key a line, with a text or a
flat list. All other YAML is left to PyYAML, whose events are walked over without building an object
from them. Either way every scalar is the text that was typed, and no alias bomb, tag or `no` that
means False can do anything; a property test says that both readers agree. Where PyYAML is not
installed, a file that needs it is a problem that says so. What the keys mean is decided in `codec`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ltm.errors import BadFile, StorageFailed
from ltm.vault.fields import BY_KEY, ORDER, Value, settle
from ltm.vault.vault import MAX_FILE

if TYPE_CHECKING:
    from yaml.events import Event


MAX_FRONT = 64 * 1024
"""Characters its front matter may have."""

MAX_DEPTH = 8
"""How deep lists and maps of unknown keys may nest; known keys hold at most a flat list."""

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
        values: dict[str, list[Value]] = {}
        lines: dict[str, int] = {}
        line = 2
        for entry in self.entries:
            if entry.key:
                lines.setdefault(entry.key, line)
                if entry.value is not None:
                    values.setdefault(entry.key, []).append(entry.value)
            line += entry.raw.count("\n")
        fields = {key: each[0] for key, each in values.items()}
        alternates: dict[str, tuple[str, ...]] = {}
        for key, each in values.items():
            if len(each) > 1:
                fields[key], lost = settle(each, BY_KEY.get(key))
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
            if key in done or value is None:
                continue
            place = len(entries)
            if (rank := ORDER.get(key)) is not None:
                known = [i for i, entry in enumerate(entries) if entry.key in ORDER]
                before = [i for i in known if ORDER[entries[i].key] < rank]
                place = before[-1] + 1 if before else known[0] if known else place
            entries.insert(place, self._entry(key, value))
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
            text = flow(value)
        elif known is not None and known.token:
            text = token(value)
        else:
            text = scalar(value)
        newline = "\r\n" if self.opening.endswith("\r\n") else "\n"
        return FrontMatterEntry(key, f"{key}: {text}{remark}{newline}", value, remark)


def parse(data: bytes, path: str) -> Document:
    """The document in a file's bytes; BadFile with the line and a way out when there is none."""
    text, bom = _text(data, path)
    _refuse_conflict(text, path)
    opening = _OPENING.match(text)
    if opening is None:
        hint = "begin it with a line '---', the keys id, kind and title, and another '---'"
        raise _bad(path, "the file does not begin with front matter", hint, 1)
    start = opening.end()
    closing = _CLOSING.search(text, start)
    if closing is None or closing.start() - start > MAX_FRONT:
        if len(text) - start <= MAX_FRONT:
            raise _bad(path, "the front matter has no end", "add a line '---' below it", 1)
        hint = "end it with a line '---' and keep long text below that"
        raise _bad(path, f"the front matter is longer than {MAX_FRONT // 1024} KiB", hint, 1)
    front = text[start : closing.start()]
    try:
        entries = _entries(front, yaml_keys(front))
    except YamlMissing as flaw:
        raise StorageFailed(flaw.message, path=path, hint=flaw.hint) from flaw
    except Flaw as flaw:
        line = 2 + front.count("\n", 0, flaw.offset)
        raise _bad(path, flaw.message, flaw.hint, line) from flaw
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
    for entry in entries:
        if entry.value is None and entry.key in BY_KEY:
            hint = f"write '{entry.key}: …' as one text, or as a list [a, b]"
            line = document.lines[entry.key]
            raise _bad(path, f"'{entry.key}' is a nested value", hint, line)
    return document


def _bad(path: str, message: str, hint: str, line: int | None = None) -> BadFile:
    return BadFile(message, path=path, line=line, hint=hint)


def _text(data: bytes, path: str) -> tuple[str, bool]:
    """The text of a file and whether a byte order mark stood before it."""
    if not data:
        hint = "restore it with 'git checkout' or from archives/, or delete it"
        raise _bad(path, "the file is empty", hint)
    if len(data) > MAX_FILE:
        message = f"the file is larger than {MAX_FILE // 1024 // 1024} MiB"
        raise _bad(path, message, "keep a memory short and link to long text")
    as_text = "save it as UTF-8 text"
    if (nul := data.find(b"\0")) >= 0:
        raise _bad(path, "the file holds a NUL byte", as_text, 1 + data.count(b"\n", 0, nul))
    bom = data.startswith(_BOM)
    try:
        return data[3 if bom else 0 :].decode(), bom
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start + (3 if bom else 0))
        raise _bad(path, "the file is not UTF-8", as_text, line) from error


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
            hint = (
                "keep what is right and delete the lines <<<<<<<, ======= and >>>>>>>;"
                " a text about such markers needs a backslash before <<<<<<<"
            )
            line = 1 + text.count("\n", 0, opened)
            raise _bad(path, "the file holds the markers of an unfinished merge", hint, line)


def _entries(front: str, items: Sequence[YamlKey]) -> tuple[FrontMatterEntry, ...]:
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


# -- reading YAML ----------------------------------------------------------------------------------


# What a YAML reader refuses or takes for a line break when it stands unescaped.
UNFIT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\r(?!\n)")


class Flaw(Exception):
    """The front matter cannot be read; `offset` is the character at which that shows."""

    def __init__(self, offset: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message
        self.hint = hint


class YamlMissing(Flaw):
    """The front matter is in YAML that only PyYAML reads, and PyYAML is not installed."""


@dataclass(frozen=True, slots=True)
class YamlKey:
    """One top-level key and the stretch of text it takes up."""

    key: str
    value: Value | None
    """None when it is neither a scalar nor a flat list of scalars."""
    start: int
    end: int
    """Where the last character of the value was read."""


def yaml_keys(text: str) -> list[YamlKey]:
    """The top-level keys of a front matter, in order, duplicates included."""
    if unfit := UNFIT.search(text):
        code = f"{ord(unfit[0]):04x}"
        raise Flaw(
            unfit.start(),
            f"the character U+{code.upper()} cannot stand in front matter",
            f'write it as "\\u{code}" inside double quotes, or remove it',
        )
    keys = plain_keys(text)
    return pyyaml_keys(text) if keys is None else keys


def pyyaml_keys(text: str) -> list[YamlKey]:
    """The keys of a front matter in any YAML, read by PyYAML."""
    try:
        import yaml
    except ImportError:
        raise YamlMissing(
            0,
            "the front matter is in YAML that only PyYAML reads, which is not installed here",
            "write one 'key: value' per line and lists as [a, b], or install PyYAML",
        ) from None
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # no libyaml: slower, same events
    try:
        return _top_level(yaml.parse(text, Loader=loader), text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        offset = mark.index if mark is not None else getattr(error, "position", 0)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None)
        raise Flaw(
            min(int(offset), len(text)),
            f"the front matter is not valid YAML ({problem or 'syntax error'})",
            "write one 'key: value' per line and put texts with special characters in double"
            " quotes",
        ) from error


_FIRST = r"[^ \t\-?:,\[\]{}#&*!|>'\"%@`]"
_WORDS = rf"{_FIRST}(?:[^ \t:#]|:(?=[^ \t])|(?<=[^ \t])#|\ +(?=[^ \t#]))*"
_QUOTED = r"\"(?:[^\"\\]|\\[\"\\bfnrt]|\\u(?!0000|[dD][89a-fA-F])[0-9a-fA-F]{4})*\""
_SINGLE = r"'(?:[^']|'')*'"
_CELL = rf"{_QUOTED}|{_SINGLE}|[\w./+](?:[\w./@+-]|\ +(?=[\w./@+-]))*"
_FLOW = rf"\[\ *(?:(?:{_CELL})\ *(?:,\ *(?:{_CELL})\ *)*)?\]"
_END = r"(?:\ +\#.*)?\ *$"  # a comment may stand behind a value
_LINE = re.compile(
    rf"(?P<key>[A-Za-z_][A-Za-z0-9_-]{{0,63}}):"
    rf"(?:\ +(?P<value>{_QUOTED}|{_SINGLE}|{_FLOW}|{_WORDS}))?{_END}"
)
_ITEM = re.compile(rf"(?P<indent>\ *)-\ +(?P<value>{_QUOTED}|{_SINGLE}|{_WORDS}){_END}")
_BETWEEN = re.compile(r"\ *(?:\#.*)?$")
_CELLS = re.compile(_CELL)


def plain_keys(text: str) -> list[YamlKey] | None:
    """The keys of a front matter that needs no YAML parser; None if it does, or may not be valid.

    What is read here reads the same in YAML: one key to a line, a text that is plain or quoted and
    ends on that line, a list in brackets or as lines with a dash.
    """
    keys: list[YamlKey] = []
    items: list[str] | None = None  # of the list in lines that may go on
    indent = start = offset = 0
    for line in text.split("\n"):
        begin, offset = offset, offset + len(line) + 1
        line = line.removesuffix("\r")
        if items is not None and (item := _ITEM.match(line)):
            if items and len(item["indent"]) != indent:
                return None
            indent = len(item["indent"])
            items.append(_scalar(item["value"]))
            keys[-1] = YamlKey(keys[-1].key, tuple(items), start, begin + item.end("value"))
            continue
        if _BETWEEN.match(line):
            continue
        found = _LINE.match(line)
        if found is None:
            return None
        start, value = begin, found["value"]
        items = [] if value is None else None
        if value is None:
            keys.append(YamlKey(found["key"], "", start, begin + found.end("key") + 1))
        elif value[0] == "[":
            cells = tuple(_scalar(cell[0]) for cell in _CELLS.finditer(value, 1))
            keys.append(YamlKey(found["key"], cells, start, begin + found.end("value")))
        else:
            keys.append(YamlKey(found["key"], _scalar(value), start, begin + found.end("value")))
    return keys


def _scalar(text: str) -> str:
    """What a scalar says that was matched above."""
    if text[0] == '"':
        said: str = json.loads(text, strict=False)  # a tab may stand as it is
        return said
    return text[1:-1].replace("''", "'") if text[0] == "'" else text


def _top_level(events: Iterator[Event], text: str) -> list[YamlKey]:
    import yaml

    items: list[YamlKey] = []
    documents = depth = 0
    key: str | None = None  # the key whose value is being read
    start = end = 0
    parts: list[str] | None = None  # texts of a flat list; None once it is not one
    is_list = False
    for event in events:
        # A parser always sets both marks.
        at = event.start_mark.index if event.start_mark else 0
        stop = event.end_mark.index if event.end_mark else 0
        if isinstance(event, yaml.AliasEvent):
            raise Flaw(at, "front matter may not use aliases (*name)", "write the value out")
        if getattr(event, "anchor", None) is not None:
            raise Flaw(at, "front matter may not use anchors (&name)", "write the value out")
        if getattr(event, "tag", None) is not None:
            raise Flaw(at, "front matter may not use tags (!name)", "remove the tag")
        if isinstance(event, yaml.ScalarEvent):
            if event.style == '"' and not is_text(event.value):  # only escapes can make one
                raise Flaw(at, "a value holds a character that is not text", "remove the escape")
            if depth == 0:
                raise _no_map(at)
            if depth == 1 and key is None:
                if at and text[at - 1] != "\n":
                    raise Flaw(at, "a key does not start its line", "start every key at column 1")
                key, start, parts, is_list = event.value, at, [], False
                continue
            end = stop
            if parts is not None:
                parts.append(event.value)
        elif isinstance(event, yaml.CollectionStartEvent):
            if depth == 0 and (event.flow_style or not isinstance(event, yaml.MappingStartEvent)):
                raise _no_map(at)
            if depth and key is None:
                raise Flaw(at, "a key must be a plain word", "write 'key: value'")
            if depth >= MAX_DEPTH:
                raise Flaw(at, f"values nest deeper than {MAX_DEPTH} levels", "flatten this value")
            if depth:
                is_list = depth == 1 and isinstance(event, yaml.SequenceStartEvent)
                parts = parts if is_list else None
                end = stop
            depth += 1
            continue
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            if stop > at:  # a closing bracket; the end of a block has no width
                end = stop
        elif isinstance(event, yaml.DocumentEndEvent) and event.explicit:
            raise Flaw(at, "the front matter ends before its last line", "remove the line '...'")
        elif isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise Flaw(at, "the front matter holds more than one YAML document", "keep one")
        if depth == 1 and key is not None:
            value: Value | None = None
            if parts is not None:
                value = tuple(parts) if is_list else parts[0]
            items.append(YamlKey(key, value, start, end))
            key = None
    return items


def _no_map(at: int) -> Flaw:
    return Flaw(at, "the front matter is not a list of keys", "write one 'key: value' per line")


# -- writing values --------------------------------------------------------------------------------


_ESCAPED = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SPECIAL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|: | #|:$")
_FLOW_PLAIN = re.compile(r"[\w ./@+-]+\Z")  # readers differ on what else may stand in a list
_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:+_-]*\Z")
# Words that some YAML reader, of whatever version, takes for something other than a string.
_RESERVED = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"))


def scalar(text: str) -> str:
    """A text as a plain scalar where it cannot be misread, else in double quotes."""
    return text if _is_plain(text) else quoted(text)


def flow(items: Iterable[str]) -> str:
    """A list on one line: `[a, b]`."""
    cells = (t if _FLOW_PLAIN.match(t) and _is_plain(t) else quoted(t) for t in items)
    return f"[{', '.join(cells)}]"


def token(text: str) -> str:
    """A number, a boolean or a moment, left plain because other tools may read it as such."""
    return text if _TOKEN.match(text) and not text.endswith(":") else scalar(text)


def quoted(text: str) -> str:
    """A text in double quotes with escapes that mean the same in JSON and in YAML."""
    return _ESCAPED.sub(
        lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False)
    )


def is_text(text: str) -> bool:
    """Whether a text file can keep this: no NUL and no half of a surrogate pair."""
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_plain(text: str) -> bool:
    return (
        text[:1].isalpha()  # no indicator, sign or digit: neither syntax, number nor date
        and text == text.strip()
        and text.lower() not in _RESERVED
        and not _SPECIAL.search(text)
    )
