"""Take secrets out of a text before anything is done with it.

`redact` puts `[redacted:github-token]` and the like in the place of every secret it finds, and
`[private]` in the place of `<private>…</private>`; everything else stays as it is, and so does a
text that was redacted before. Secrets are found by their shape (`patterns`, searched for here), by
the mark that ties them to a name (`assignments`), by the words around them (`prose`), and what is
a row of plain numbers, words or letters by all of it together (`codes`).

For shapes, a text is first searched for the beginnings that secrets have, all at once; only where
one stands is it looked at closely. Every step is bounded, so that time grows with the text and no
faster. Standard library only.
"""

from __future__ import annotations

import re
import sys
from binascii import Error, a2b_base64
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ltm.redact.assignments import assigned, in_columns, names_in
from ltm.redact.codes import Span, in_rows
from ltm.redact.patterns import Shape
from ltm.redact.prose import by_words
from ltm.redact.stems import TextWords, beginning, beginnings, insides
from ltm.redact.values import is_hash, is_placeholder, is_random, oddness

_SHORT = 4_000  # characters of a text whose answer is remembered
_ROUNDS = 16  # as many secrets may stand one right after another
_PRIVATE = re.compile(r"<\s{0,8}(/?)\s{0,8}private(?![\w.-])[^<>]{0,200}>", re.IGNORECASE)

_COLOUR = re.compile(r"(?:\x1b|\\(?:u001[bB]|x1[bB]|e|033))\[[\d;]{0,20}[mK]")
_COLOURS = ("\x1b[", "1b[", "1B[", "\\e[", "\\033[")
_MARKS_BEFORE = (">", "+")
_BEFORE_LINE = re.compile(r"\n[>+][>+ ]{0,6}")
_ESCAPED = re.compile(
    r"\\{1,15}(?:[\"'nrt]|u00(?:22|27|26|3[cde])|x22|x27)|&(?:quot|apos|lt|gt|amp|#3[49]|#x2[27]);"
    r"|%(?:25)?(?:22|27|26|2C|2F|3A|3D|3F|40|7B|7D)"
)
_ESCAPED_JSON = re.compile(_ESCAPED.pattern + r'|"')
_PLAIN = {
    **{"&quot;": '"', "&#34;": '"', "&#x22;": '"', "&apos;": "'", "&#39;": "'", "&#x27;": "'"},
    **{f"%{more}{ord(mark):02X}": mark for more in ("", "25") for mark in "\"'&,/:=?@{}"},
    **{f"\\u00{ord(mark):02x}": mark for mark in "&<=>"},
    "&amp;": "&",
    **{"&lt;": "<", "&gt;": ">", "n": "\n", "r": "\r", "t": "\t", "'": "'", '"': "\n"},
    **{"\\" * count + mark: '"' for count in range(1, 16) for mark in ('"', "u0022", "x22")},
    **{"\\" * count + mark: "'" for count in range(1, 16) for mark in ("u0027", "x27")},
}
_CONTINUED = re.compile(r"\\\n[ \t]{0,40}")
_BASE64 = re.compile(r"[A-Za-z0-9+/](?<![\w+/-].)[A-Za-z0-9+/]{19,4095}={0,2}(?![\w+/-])")
_PRINTED = re.compile(rb"[\t\n\r -~]+\Z")
_MARK = re.compile(r"\[(?:redacted:[a-z0-9-]+|private)\]")
_MOST_LINES = 6
_LONGEST_BLOCK = 32_000
_LONGEST_LOOK = 1024
_TRAIL = ".,:;)]}*\\"
_BEGIN = re.compile(
    r"-{0,5} ?BEGIN (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1) ?-{4,5}"
)
_BODY = re.compile(r"(?:[A-Za-z0-9+/=:,\s>|→]|\\[nr]|[\"'+])*+")
_END = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
# Lines of a key, from its last one upwards.
_BODY_BEFORE = re.compile(r"(?:(?:[\s>|+\"']|n\\|r\\){1,60}[A-Za-z0-9+/=]{16,128})*+")
_KEY_DATA = re.compile(r"[A-Za-z0-9+/]{32}")
_RUN = re.compile(r"[A-Za-z0-9_.~+/=%:$-]{1,1024}")
_BREAK = re.compile(r"(?:[\"']?\s?[\\+]?\r?\n|\\n)[ \t>|+]{0,40}[\"']?")
_NEXT_LINE = re.compile(
    r"(?:[\"'][ ]?[\\+.]?)?\r?\n[ \t]{0,40}[\"']?"
    r"([A-Za-z0-9_.~+/=-]{8,})[\"'`;,]{0,3}[ \t]*(?=\r?\n|\Z)"
)
# `"…" + "…"`: the second half of a text that is cut in two.
_NEXT_PART = re.compile(r"([\"'])[ ]{0,4}[+.][ ]{0,4}\1([A-Za-z0-9_.~+/=-]{8,})(?=\1)")
_WORD_END = re.compile(r"\w\Z", re.ASCII)
_WORD_START = re.compile(r"\w", re.ASCII)
_ESCAPE = re.compile(r"(?:\\[nrt]|%[0-9A-Fa-f]{2})\Z")
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_CODES = ("%2", "%3", "%5", "%7")
_ENCODED = re.compile(r"[A-Za-z0-9+/]{16,8192}={0,2}")
_BASIC = re.compile(r"[Bb]asic(?: |%20)([A-Za-z0-9+/]{8,}={0,2})")


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and which kinds of them it had: "private" first, each once."""

    text: str
    kinds: tuple[str, ...]


def redact(text: str) -> Redacted:
    """The text with a mark in the place of every secret and private passage, and what they were."""
    # What a session said is kept by several readers, one after the other.
    return _redacted_before(text) if len(text) <= _SHORT else _redact(text)


def _redact(text: str) -> Redacted:
    kinds: dict[str, None] = {}
    if "<" in text:
        public = _without_private(text)
        if public != text:
            text, kinds = public, {"private": None}
    # What stood before a secret can hide the next one, so it is looked at again once it is gone.
    for _ in range(_ROUNDS):
        found = list(_found(text))
        if not found:
            break
        spans = _merged(found)
        kinds.update(dict.fromkeys(kind for _, _, kind in spans))
        text = _replaced(text, spans)
    return Redacted(text, tuple(kinds))


_redacted_before = lru_cache(maxsize=1024)(_redact)


def redacted(text: str) -> str:
    """The text without its secrets."""
    return redact(text).text


def redact_fields(fields: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The texts among these values redacted, also those in tuples, and the kinds found in any."""
    kinds: dict[str, None] = {}

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            done = redact(value)
            kinds.update(dict.fromkeys(done.kinds))
            return done.text
        return tuple(map(clean, value)) if isinstance(value, tuple) else value

    return {name: clean(value) for name, value in fields.items()}, tuple(kinds)


def without_marks(text: str) -> str:
    """The text without what `redact` put into it: only the writer's own words."""
    return _MARK.sub("", text)


def _without_private(text: str) -> str:
    """Private passages, nested or never closed, as `[private]`."""
    kept: list[str] = []
    depth = end = 0
    for tag in _PRIVATE.finditer(text):
        if not tag[1]:
            if depth == 0:
                kept.append(text[end : tag.start()] + "[private]")
            depth += 1
        elif depth:
            depth -= 1
            end = tag.end()
    if depth == 0:
        kept.append(text[end:])
    return "".join(kept)


def _found(text: str) -> Iterator[Span]:
    """Secrets of a text, also of one that is quoted, coloured or written inside of another."""
    text = _bare(text)
    yield from _found_in(text)
    if "\\\n" in text:
        yield from _found_in(_CONTINUED.sub(_blank, text))
    yield from _encoded(text)
    if ("\\" in text or "&" in text or "%" in text) and _ESCAPED.search(text):
        inner, places = _unescaped(text)
        for start, end, kind in _found_in(inner):
            yield _place(places, start), _place(places, end), kind


def _bare(text: str) -> str:
    """The text with spaces for colours and for the marks of a quotation or a patch."""
    if "[" in text and any(mark in text for mark in _COLOURS):
        text = _COLOUR.sub(_blank, text)
    if text[:1] in _MARKS_BEFORE or "\n>" in text or "\n+" in text:
        text = _BEFORE_LINE.sub(_blank, f"\n{text}")[1:]
    return text


def _blank(found: re.Match[str]) -> str:
    return ("\n" if found[0][0] == "\n" else " ").ljust(len(found[0]))


def _unescaped(text: str) -> tuple[str, list[tuple[int, int]]]:
    """What the lines with escaped quotes and lines say, and where their parts stand in the text.

    The strings of a JSON text become lines of their own: each is a text for itself.
    """
    escapes = _ESCAPED_JSON if text[:1] in ("{", "[") else _ESCAPED
    parts: list[str] = []
    places: list[tuple[int, int]] = []
    at = end = size = 0
    for found in escapes.finditer(text):
        if found.start() >= end:
            parts.append(text[at:end] + "\n")
            size += end - at + 1
            at = text.rfind("\n", at, found.start()) + 1
            end = text.find("\n", found.end())
            end = len(text) if end < 0 else end
            places.append((size, at))
        plain = _PLAIN.get(found[0]) or _PLAIN.get(found[0][-1], "\n")
        parts += (text[at : found.start()], plain)
        size += found.start() - at + 1
        at = found.end()
        places.append((size, at))
    return "".join((*parts, text[at:end])), places


def _place(places: list[tuple[int, int]], offset: int) -> int:
    """Where a character of the unescaped text stands."""
    began, there = places[bisect_right(places, (offset, sys.maxsize)) - 1]
    return there + offset - began


def _found_in(text: str) -> Iterator[Span]:
    words = TextWords(text)
    yield from by_shape(words)
    places = names_in(words)
    for start, end, kind in (*assigned(text, places), *by_words(text, places)):
        yield start, continued(text, end), kind
    yield from in_columns(words)
    yield from in_rows(words, places)


def _encoded(text: str) -> Iterator[Span]:
    """Base64 of a text that holds a secret."""
    for run in _BASE64.finditer(text):
        code = run[0].rstrip("=")
        code = code[: len(code) // 4 * 4]
        if _PRINTED.match(a2b_base64(code[:24])) and _PRINTED.match(a2b_base64(code)):
            padded = run[0].rstrip("=") + "=" * (-len(run[0].rstrip("=")) % 4)
            try:
                plain = a2b_base64(padded).decode("latin-1")
            except Error:
                continue
            found = next(_found_in(plain), None)
            if found:
                yield (*run.span(), found[2])


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Spans in order; those that overlap become one, of the kind that was found first."""
    merged: list[tuple[int, Span]] = []
    for rank, (start, end, kind) in sorted(enumerate(spans), key=lambda pair: pair[1][0]):
        if merged and start < merged[-1][1][1]:
            first, (since, until, known) = merged[-1]
            merged[-1] = (
                min(first, rank),
                (since, max(until, end), known if first < rank else kind),
            )
        else:
            merged.append((rank, (start, end, kind)))
    return [span for _, span in merged]


def _replaced(text: str, spans: list[Span]) -> str:
    parts: list[str] = []
    at = 0
    for start, end, kind in spans:
        parts += (text[at:start], f"[redacted:{kind}]")
        at = end
    return "".join((*parts, text[at:]))


def by_shape(words: TextWords) -> Iterator[Span]:
    """Every secret whose shape tells what it is; those of several kinds may overlap."""
    text = words.text
    if "PRIVATE KEY" in text or "Static key" in text:
        yield from _key_blocks(text)
    shapes, encoded = beginnings()
    hints = _hints(words)
    if "%" in text and any(code in text for code in _CODES):
        after = _hints(TextWords(_PERCENT.sub("   ", text)))  # `%3D` ends a word
        hints = iter(sorted((*hints, *after), key=lambda hint: hint.start()))
    done = 0
    for hint in hints:
        at = hint.start()
        if at >= done and _begins_word(text, at):
            found = (_shape_at(text, at, shape) for shape in shapes.get(hint[0], ()))
            span = next(filter(None, found), None) or _encoded_at(text, at, encoded.get(hint[0]))
            if span is not None:
                yield span
                done = span[1]
    inside = words.insides()
    for needed, shape in insides():
        if needed in inside and shape.may_be_in(text):
            for match in shape.regex().finditer(text):
                start, end = match.span(match.lastindex or 0)
                if not _is_example(text[start:end], shape):
                    yield start, end, shape.kind
    if "asic" in text:
        yield from _basic(text)


def _hints(words: TextWords) -> Iterator[re.Match[str]]:
    """What may begin a secret, where it stands in a text."""
    done = 0
    for at in words.starts():
        if at >= done and (hint := beginning().match(words.text, at)):
            yield hint
            done = hint.end()


def continued(text: str, end: int) -> int:
    """The end of a secret, past parts and lines that are nothing but more of the same."""
    while (part := _NEXT_PART.match(text, end)) and (is_random(part[2]) or is_hash(part[2])):
        end = part.end(2)
    while (line := _NEXT_LINE.match(text, end)) is not None and is_random(line[1]):
        end = line.end(1)
    return end


def _begins_word(text: str, at: int) -> bool:
    """Whether a word begins here. Escapes before it (`\\n`, `%3D`) are no letters of the word."""
    before = text[max(0, at - 3) : at]
    if not _WORD_END.search(before) or not _WORD_START.match(text, at):
        return True
    return _ESCAPE.search(before) is not None


def _shape_at(text: str, at: int, shape: Shape) -> Span | None:
    """The secret of this shape that starts here, also if lines end within it."""
    regex = shape.regex()
    match = regex.match(text, at)
    if match is not None:
        start, end = match.span(match.lastindex or 0)
        return (
            None
            if _is_example(text[start:end], shape)
            else (start, continued(text, end), shape.kind)
        )
    joined = ""
    places: list[tuple[int, int]] = []
    there = at
    for _ in range(_MOST_LINES):
        run = _RUN.match(text, there)
        if run is None:
            return None
        places.append((len(joined), there))
        joined += run[0]
        whole = regex.match(joined) if len(places) > 1 else None
        if whole is not None and not _is_example(whole[0], shape):
            start, end = whole.span(whole.lastindex or 0)
            return (
                _joined_place(places, start),
                continued(text, _joined_place(places, end - 1) + 1),
                shape.kind,
            )
        broken = _BREAK.match(text, run.end())
        if broken is None:
            return None
        there = broken.end()
    return None


def _joined_place(places: list[tuple[int, int]], offset: int) -> int:
    """Where a character of the joined lines stands in the text."""
    began, there = max(pair for pair in places if pair[0] <= offset)
    return there + offset - began


def _encoded_at(text: str, at: int, shapes: list[Shape] | None) -> Span | None:
    """The base64 that starts here, if it is that of a secret."""
    run = None if shapes is None else _ENCODED.match(text, at)
    if run is None:
        return None
    code = run[0].rstrip("=")[:_LONGEST_LOOK]
    code = code[:-1] if len(code) % 4 == 1 else code
    plain = a2b_base64(code + "=" * (-len(code) % 4)).decode("latin-1")
    if _BEGIN.match(plain):
        return (*run.span(), "private-key")
    for shape in shapes or ():
        match = shape.regex().match(plain)
        if match is not None and not _is_example(match[0], shape):
            return (*run.span(), shape.kind)
    return None


def _is_example(value: str, shape: Shape) -> bool:
    """Whether this only stands for a secret, or is a word where a secret may be."""
    return is_placeholder(value) or (shape.made_up and oddness(value.rstrip(_TRAIL)) < 2)


def _key_blocks(text: str) -> Iterator[Span]:
    """Whole blocks of private keys; one that is cut off goes as far as it reads like a key."""
    at = 0
    closing = -1
    while (begin := _BEGIN.search(text, at)) is not None:
        at = begin.end()
        if closing < at:
            closing = text.find("---- END" if begin[0][4:5] == " " else "-----END", at)
            closing = len(text) if closing < 0 else closing
        body = _BODY.match(text, at, at + _LONGEST_BLOCK)
        end = body.end() if body else at
        if closing < min(len(text), at + _LONGEST_BLOCK):
            last = text.find("----", closing + 8, closing + 80)
            end = closing if last < 0 else last + 4
            end += text.startswith("-", end)
        if _KEY_DATA.search(text, at, end):
            yield begin.start(), end, "private-key"
            at = end
    yield from _ends_of_keys(text)


def _ends_of_keys(text: str) -> Iterator[Span]:
    """What is left of private keys that are cut off at the beginning."""
    for end in _END.finditer(text):
        lines = _BODY_BEFORE.match(text[max(0, end.start() - _LONGEST_BLOCK) : end.start()][::-1])
        start = end.start() - (lines.end() if lines else 0)
        if _KEY_DATA.search(text, start, end.start()):
            yield start, end.end(), "private-key"


def _basic(text: str) -> Iterator[Span]:
    """Names and passwords of basic authorization, which are base64 with a colon inside."""
    for match in _BASIC.finditer(text):
        try:
            pair = a2b_base64(match[1])
        except Error:
            continue
        if b":" in pair:
            yield (*match.span(1), "basic-auth")
