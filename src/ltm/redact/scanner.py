"""Finds the secrets that can be told by their shape: those of `core.secrets`, and blocks of keys.

A text is first searched for the beginnings that secrets have, all at once; only where one stands is
it looked at closely. A secret broken over lines and one in base64 are found by their beginning too.
Every step is bounded, so that time grows with the text and no faster. Imports `core.secrets`,
`core.keynames` and `core.looks`; no I/O.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Iterator
from functools import cache

from ltm.redact.key_names import any_of
from ltm.redact.patterns import SHAPES, Shape
from ltm.redact.values import is_placeholder, is_random, oddness

Span = tuple[int, int, str]
"""Start, end and kind of a secret."""

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
_WORD_END = re.compile(r"\w\Z", re.ASCII)
_WORD_START = re.compile(r"\w", re.ASCII)
_ESCAPE = re.compile(r"(?:\\[nrt]|%[0-9A-Fa-f]{2})\Z")
_AFTER_ESCAPE = r"(?<=%[0-9A-Fa-f][0-9A-Fa-f])"
_CODES = ("%2", "%3", "%5", "%7")
_ENCODED = re.compile(r"[A-Za-z0-9+/]{16,8192}={0,2}")
_ARMOUR = "-----BEGIN "
_BASIC = re.compile(r"[Bb]asic(?: |%20)([A-Za-z0-9+/]{8,}={0,2})")


def by_shape(text: str) -> Iterator[Span]:
    """Every secret whose shape tells what it is; those of several kinds may overlap."""
    if "PRIVATE KEY" in text or "Static key" in text:
        yield from _key_blocks(text)
    shapes, encoded = _beginnings()
    pattern = _beginning(any(code in text for code in _CODES))
    done = 0
    for hint in pattern.finditer(text):
        at = hint.start()
        if at >= done and _begins_word(text, at):
            found = (_shape_at(text, at, shape) for shape in shapes.get(hint[0], ()))
            span = next(filter(None, found), None) or _encoded_at(text, at, encoded.get(hint[0]))
            if span is not None:
                yield span
                done = span[1]
    for needed, shape in _insides():
        if needed in text and shape.may_be_in(text):
            for match in shape.regex().finditer(text):
                start, end = match.span(match.lastindex or 0)
                if not _is_example(text[start:end], shape):
                    yield start, end, shape.kind
    if "asic" in text:
        yield from _basic(text)


def continued(text: str, end: int) -> int:
    """The end of a secret, past following lines that are nothing but more of the same."""
    while (line := _NEXT_LINE.match(text, end)) is not None and is_random(line[1]):
        end = line.end(1)
    return end


@cache
def _beginning(escapes: bool) -> re.Pattern[str]:
    """Where a secret may start: where a word does, or after an escape if the text has any."""
    words: list[str] = []
    marks: list[str] = []
    for hints in _beginnings():
        for hint in hints:
            (words if _WORD_START.match(hint) else marks).append(hint)
    # Most letters of a text are inside of words, where nothing else has to be tried.
    start = rf"(?:(?a:\b)|{_AFTER_ESCAPE})" if escapes else r"(?a:\b)"
    return re.compile(f"{start}{any_of(words)}|{any_of(marks)}")


@cache
def _beginnings() -> tuple[dict[str, list[Shape]], dict[str, list[Shape]]]:
    """The shapes for each beginning of a secret: as it is, and in base64."""
    rows: dict[str, list[Shape]] = {}
    for shape in SHAPES:
        if shape.starts:
            for hint in shape.hints:
                rows.setdefault(hint, []).append(shape)
    longest = sorted(rows, key=len, reverse=True)
    shapes = {
        hint: [shape for other in longest if hint.startswith(other) for shape in rows[other]]
        for hint in rows
    }
    encoded: dict[str, list[Shape]] = {_stem(_ARMOUR): []}
    for hint in rows:
        named = all(shape.made_up for shape in rows[hint])  # such a word precedes no token
        if len(hint) >= 3 and " " not in hint and not named:
            encoded.setdefault(_stem(hint), []).extend(shapes[hint])
    return shapes, encoded


def _stem(text: str) -> str:
    """The characters that base64 begins with for everything that begins with this text."""
    return b2a_base64(text.encode(), newline=False).decode()[: len(text) * 8 // 6]


@cache
def _insides() -> list[tuple[str, Shape]]:
    return [(hint, shape) for shape in SHAPES if not shape.starts for hint in shape.hints]


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
            return _place(places, start), continued(text, _place(places, end - 1) + 1), shape.kind
        broken = _BREAK.match(text, run.end())
        if broken is None:
            return None
        there = broken.end()
    return None


def _place(places: list[tuple[int, int]], offset: int) -> int:
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
