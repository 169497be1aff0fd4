"""Secrets that the words around them give away, judged by a linear model.

"The new password for staging is hunter2", "log in as admin / pineapple", "contraseña: sol y luna":
no list of patterns covers what people write in thirty languages. Near each name of a secret every
token is described by signs: what it looks like, which words stand between it and the name, what
follows it. The weights of the signs are in `prose.json`, made by `python -m training.secrets` from
texts of many authors. A token is looked at for the two names before it and the one after it, so
that time grows with the text and no faster.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from ltm.redact.key_names import Promise, is_label
from ltm.redact.values import (
    has_digit,
    is_field,
    is_hash,
    is_named,
    is_number,
    is_phrase,
    is_placeholder,
    is_plain,
    is_random,
    is_reference,
    is_wordy,
    oddness,
)

WEIGHTS = Path(__file__).with_name("prose.json")
UNIT = 100
"""Weights are kept as whole numbers, in this part of one."""

_BEFORE, _AFTER = 90, 170  # characters of text looked at around a name
_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u3000-\u303f\uff00-\uffef"
_TOKEN = re.compile(
    rf"(?:[^\s\"`,;&\\\\{_UNSPACED}]|&(?!quot|apos|amp|lt|gt|\#)){{1,300}}|[{_UNSPACED}]+"
)
_NAME_AND_MARK = re.compile(r"[\w.@\"'`-]{1,60}?\\?[\"'`]?(?:=>?|[:/])(?=[^/=:\s])")
_QUOTES = "\"'`„“”«»‹›「」『』"
_OPENING = _QUOTES + "([{<*_→\\"
_CLOSING = _QUOTES + ")]}>*_.,;:…。\\"
_QUOTED = re.compile(
    r"([\"'`„“«‹「『])([^\s\"'`„“”«»]{1,30}(?: [^\s\"'`„“”«»]{1,30}){1,7})[\"'`“”»›」』]"
)
_PHRASE = re.compile(
    r"(?<=[\s:])[^\W\d_]{2,16}(?:[ -](?:[^\W\d_]{2,16}|\d{1,4})){1,6}"
    r"(?=[ \t]{0,4}(?:[.,;!)(\n]|\Z))"
)
_LEAD = re.compile(r"[:=]\s?\Z|\b\w{1,4}:?\s\Z")
_WORD = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")
_SENTENCE_END = re.compile(r"[.!?;]+(?:\s|\Z)")
_EXTENSION = re.compile(r"\.[a-z]{1,5}\d?\Z")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+|\d{4}-\d\d-\d\d|\d\d?:\d\d")
_SKELETON = (("[a-z]+", "a"), ("[A-Z]+", "A"), (r"\d+", "0"), (r"[^\W\d_a-zA-Z]+", "a"))
_SORTS = tuple((re.compile(pattern), mark) for pattern, mark in _SKELETON)
_OTHERS = re.compile("[^aA0]+")
_USER = re.compile(
    r"\b(?:user(?:name)?|login|account|e-?mail|admin|root|benutzer|utilisateur|usuario|utente"
    r"|логин|пользователь)\b|用户|账号|ユーザー|사용자|아이디"
)
_SHORTEST = 4
_REACH = (36, 70, 170, 170)
"""How far from the name a token may stand, by how made up it looks."""
_LENGTHS = (4, 5, 6, 7, 8, 10, 13, 17, 25, 41)


class NamePlace(NamedTuple):
    """Where a name of a secret stands in a text, and what it promises."""

    start: int
    end: int
    held: Promise
    foreign: bool
    """Whether it is a word of another language than English."""


class Described(NamedTuple):
    """A token near a name, with the signs by which it is judged."""

    start: int
    end: int
    kind: str
    signs: frozenset[str]


def by_words(text: str, places: Sequence[NamePlace]) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of every token that the words around it make a secret."""
    if not places:
        return
    model = _model()
    weight, bias = model["weights"].get, model["bias"] * UNIT
    for each in described(text, places):
        if bias + sum([weight(sign, 0) for sign in each.signs]) > 0:
            yield each.start, each.end, each.kind


@cache
def _model() -> dict[str, Any]:
    model: dict[str, Any] = json.loads(WEIGHTS.read_text("utf-8"))
    return model


def described(text: str, places: Sequence[NamePlace]) -> Iterator[Described]:
    """Every token that may be the value of one of these names."""
    last = len(places) - 1
    edges = [0, *(edge for place in places for edge in place[:2]), len(text), len(text), len(text)]
    for n, place in enumerate(places):
        if place.held.kind == "password-hash":
            continue  # its value is known by its shape
        gaps = edges[2 * n : 2 * n + 6]  # before it, after it, and after the next name
        if max(gaps[1] - gaps[0], gaps[3] - gaps[2], gaps[5] - gaps[4]) < _SHORTEST:
            continue
        first = max(places[n - 1].end if n else 0, place.start - _BEFORE)
        until = min(places[n + 2].start if n + 2 <= last else len(text), place.end + _AFTER)
        yield from _around(text, place, *_window(text, place, first, until))


def _window(text: str, place: NamePlace, first: int, until: int) -> tuple[int, int]:
    """The part of a text around a name that is looked at: whole tokens of its paragraph."""
    gap = text.rfind("\n\n", first, place.start)
    if gap >= 0:
        first = gap + 2
    while 0 < first < place.start and not text[first - 1].isspace():
        first += 1
    gap = text.find("\n\n", place.end + 4, until)
    if gap >= 0 and text[gap - 1] != ":":
        return first, gap
    while until < len(text) and until - place.end < 2 * _AFTER and not text[until].isspace():
        until += 1
    return first, until


def _around(text: str, place: NamePlace, first: int, until: int) -> Iterator[Described]:
    start, end, held, foreign = place
    tokens = [
        (begin, stop, _look(text[begin:stop]))
        for begin, stop in _tokens(text, first, until)
        if (stop <= start or begin >= end)
        and (start - stop <= _REACH[0] >= begin - end or not text[begin:stop].isalpha())
    ]
    if not tokens:
        return
    most = max(look.odd for _, _, look in tokens)
    name = text[start:end]
    lead = _words(text[max(first, start - 40) : start])
    common = [f"kind {held.kind}", f"name {name.lower()[:20]}", f"lead {' '.join(lead[-2:])}"]
    common.append(f"lead {' '.join(lead[-1:])}")
    common += [f"weak {held.weak}", f"chosen {held.chosen}", f"foreign {foreign}"]
    common += [f"upper {name.isupper()}", f"flag {name[0] == '-'}"]
    user = _USER.search(text[first:until].lower()) is not None
    line_start = start == 0 or text[start - 1] == "\n"
    common += [f"user {user}", f"line start {line_start}"]
    for n, (begin, stop, look) in enumerate(tokens):
        if look.signs is None:
            continue
        odd, after = look.odd, begin >= end
        if (begin - end if after else start - stop) > _REACH[odd]:
            continue
        side = "after" if after else "before"
        between = text[end:begin] if after else text[stop:start]
        words = _words(between[-120:] if after else between[:120])
        gap = min(len(words), 4) if len(words) < 5 else 6 if len(words) < 7 else 9
        signs = {*common, *look.signs, f"gap {side} {gap}", f"gap {side} {gap} {odd}"}
        signs.add(f"lines {side} {min(3, between.count(chr(10)))}")
        signs.update(f"{side} {word}" for word in words)
        near = words[-3:] if after else words[:3]
        if after:
            signs.update((f"then {' '.join(near)}", f"then {' '.join(near[-2:])}"))
            signs.update((f"then {' '.join(near[-1:])}", f"then {' '.join(near[-1:])} {odd}"))
        else:
            signs.update((f"of {' '.join(near)}", f"of {' '.join(near[:2])}", f"of {near[:1]}"))
            signs.add(f"leads {' '.join(_words(text[max(first, begin - 40) : begin])[-1:])}")
        if len(words) <= 3:
            signs.update((f"link {side} {' '.join(words)}", f"link {side} {' '.join(words)} {odd}"))
        opening, closing = text[begin - 1 : begin] or "^", text[stop : stop + 1] or "$"
        signs.update((f"opening {opening}", f"closing {closing}"))
        if opening in _QUOTES and closing in _QUOTES:
            signs.update(("quoted", f"quoted {side} {odd}"))
        end_of = _end(text[stop : stop + 8].lstrip(_QUOTES + ")*"))
        signs.update((f"end {end_of}", f"end {end_of} {odd} {side}"))
        signs.add(f"next {' '.join(_words(text[stop : stop + 30])[:1])}")
        if look.is_hash:
            signs.update((f"hash {held.kind} {gap}", f"hash {held.weak} {side} {len(words)}"))
        signs.update((f"odd {held.kind} {odd} {side}", f"user {user} {odd} {side}"))
        signs.add(f"most {odd == most} {odd} {side}")
        signs.add(f"tie {foreign} {held.chosen} {side} {gap} {odd} {end_of}")
        others = tokens[:n] if after else tokens[n + 1 :]
        inside = [
            each.odd for at, to, each in others if (end <= at and to <= begin) or stop <= at < start
        ]
        signs.add(f"inside {min(3, len(inside))} {max(inside, default=0)} {odd}")
        kind = "password" if held.kind in ("login", "credential") else held.kind
        yield Described(begin, stop, kind, frozenset(signs))


def _tokens(text: str, first: int, until: int) -> Iterator[tuple[int, int]]:
    """Where the tokens of a text stand, without the marks around them; also phrases."""
    for token in _TOKEN.finditer(text, first, until):
        begin, stop = token.span()
        mark = _NAME_AND_MARK.match(text, begin, stop)
        cuts = (begin, mark.end(), stop) if mark and mark.end() < stop else (begin, stop)
        for at, to in pairwise(cuts):
            while at < to and text[at] in _OPENING:
                at += 1
            while to > at and text[to - 1] in _CLOSING:
                to -= 1
            if to - at >= 3:
                yield at, to
    for quoted in _QUOTED.finditer(text, first, until):
        yield quoted.span(2)
    for phrase in _PHRASE.finditer(text, first, until):
        if _LEAD.search(text, max(first, phrase.start() - 8), phrase.start()):
            yield phrase.span()


def _words(text: str) -> list[str]:
    return ["0" if word.isdigit() else word.lower() for word in _WORD.findall(text)]


def _end(rest: str) -> str:
    """What ends after a token."""
    if not rest:
        return "text"
    if rest[0] in "\r\n":
        return "line"
    return "sentence" if _SENTENCE_END.match(rest) else "comma" if rest[0] == "," else "nothing"


class _Look(NamedTuple):
    odd: int
    signs: tuple[str, ...] | None
    """None for what is never a secret."""
    is_hash: bool = False


@lru_cache(maxsize=4096)
def _look(value: str) -> _Look:
    """What a token looks like."""
    odd = oddness(value) or int(has_digit(value))
    if (
        len(value) < _SHORTEST
        or is_placeholder(value)
        or is_label(value)
        or is_reference(value, True)
    ):
        return _Look(odd, None)
    if " " in value:
        count = value.count(" ") + 1
        bare = (is_phrase(value), is_phrase(value, bare=True))
        parts = value.lower().split(" ")
        return _Look(
            odd,
            (f"phrase {count}", f"phrase {bare}", *(f"phrase word {part}" for part in parts)),
        )
    skeleton = value
    for pattern, mark in _SORTS:
        skeleton = pattern.sub(mark, skeleton)
    skeleton = _OTHERS.sub("!", skeleton)
    length = sum(len(value) >= limit for limit in _LENGTHS)
    signs = [f"odd {odd}", f"length {length}", f"skeleton {skeleton[:6]}"]
    signs.append(f"sorts {''.join(sorted(set(skeleton)))}")
    tests = (is_random, is_hash, is_number, is_plain, is_named, is_field, is_wordy)
    signs += [test.__name__ for test in tests if test(value)]
    if is_reference(value, False):
        signs.append("is_reference")
    if value.isalpha():
        case = (value.istitle(), value.isupper(), value.islower())
        signs += [f"case {case}", f"word {value.lower()[:14]}"]
    signs += [f"has {mark}" for mark in "/@.([=:_-" if mark in value[1:]]
    if value[0] in "-$%{<":
        signs.append(f"first {value[0]}")
    if _EXTENSION.search(value):
        signs.append("extension")
    if _VERSION.match(value):
        signs.append("version")
    return _Look(odd, tuple(signs), is_hash(value))
