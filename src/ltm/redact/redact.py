"""Secrets taken out of a text before anything is done with it.

`redact` puts `[redacted:github-token]` and the like in the place of every secret it finds, and
`[private]` in the place of `<private>…</private>`; everything else stays as it is, and so does a
text that was redacted before. How secrets are found stands in `core.shapes` (by their shape) and
`core.assigned` (by the name next to them). Standard library only; no I/O.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ltm.redact.assignments import assigned, in_columns
from ltm.redact.scanner import Span, by_shape, continued

_ROUNDS = 16  # as many secrets may stand one right after another
_PRIVATE = re.compile(r"<\s{0,8}(/?)\s{0,8}private\b[^<>]{0,200}>", re.IGNORECASE)

_COLOUR = re.compile(r"(?:\x1b|\\(?:u001[bB]|x1[bB]|e|033))\[[\d;]{0,20}[mK]")
_COLOURS = ("\x1b[", "1b[", "1B[", "\\e[", "\\033[")
_MARKS_BEFORE = (">", "+")
_BEFORE_LINE = re.compile(r"\n[>+][>+ ]{0,6}")
_ESCAPED = re.compile(
    r"\\{1,15}(?:[\"'nrt]|u0022|u0027|x22|x27)|&(?:quot|apos|lt|gt|#3[49]|#x2[27]);"
    r"|%(?:22|27|3A|2C|7B|7D)"
)
_ESCAPED_JSON = re.compile(_ESCAPED.pattern + r'|"')
_PLAIN = {
    **{"&quot;": '"', "&#34;": '"', "&#x22;": '"', "&apos;": "'", "&#39;": "'", "&#x27;": "'"},
    **{"%22": '"', "%27": "'", "%3A": ":", "%2C": ",", "%7B": "{", "%7D": "}"},
    **{"&lt;": "<", "&gt;": ">", "n": "\n", "r": "\r", "t": "\t", "'": "'", '"': "\n"},
    **{"\\" * count + mark: '"' for count in range(1, 16) for mark in ('"', "u0022", "x22")},
    **{"\\" * count + mark: "'" for count in range(1, 16) for mark in ("u0027", "x27")},
}
_MARK = re.compile(r"\[(?:redacted:[a-z0-9-]+|private)\]")


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and which kinds of them it had: "private" first, each once."""

    text: str
    kinds: tuple[str, ...]


def redact(text: str) -> Redacted:
    """The text with a mark in the place of every secret and private passage, and what they were."""
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
    if ("\\" in text or "&" in text or "%2" in text) and _ESCAPED.search(text):
        inner, places = _unescaped(text)
        for start, end, kind in _found_in(inner):
            yield _place(places, start), _place(places, end), kind


def _bare(text: str) -> str:
    """The text with spaces for colours and for the marks of a quotation or a patch."""
    if any(mark in text for mark in _COLOURS):
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
    yield from by_shape(text)
    for start, end, kind in assigned(text):
        yield start, continued(text, end), kind
    yield from in_columns(text)


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
