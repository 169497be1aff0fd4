"""Secrets that the words around them give away, judged by a linear model.

"The new password for staging is hunter2", "log in as admin / pineapple", "contraseña: sol y luna":
no list of patterns covers what people write in thirty languages. Near each name of a secret every
token is described by signs: what it looks like, which words stand between it and the name, what
follows it. The weights of the signs are in `prose.json.gz`, made by `python -m training.secrets`
from texts of many authors. A token is looked at for the two names before it and the one after it,
so that time grows with the text and no faster.
"""

from __future__ import annotations

import gzip
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate, groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

from ltm.redact.key_names import Promise, is_label
from ltm.redact.values import (
    has_digit,
    is_code,
    is_command,
    is_field,
    is_hash,
    is_named,
    is_number,
    is_phrase,
    is_placeholder,
    is_plain,
    is_random,
    is_reference,
    is_term,
    is_variable,
    is_wordy,
    oddness,
)
from ltm.text.front_coding import decoded

WEIGHTS = Path(__file__).with_name("prose.json.gz")
UNIT = 100
"""Weights are kept as whole numbers, in this part of one."""

_BEFORE, _AFTER = 90, 170  # characters of text looked at around a name
_NEXT = 30  # and after what is looked at
_SIDES = ("before", "after")
_BLANK = re.compile(r"\s")
# After "key": keys that are pressed together, and the name of something cached.
# What names a session or a memory next to it, and opens nothing.
_ID = re.compile(
    r"(?:mem_[0-9a-z]{8,24}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?![\w-])"
)
_NO_VALUE = re.compile(
    r"(?i:ctrl|control|alt|shift|cmd|meta|super)\+|[A-Za-z][\w.-]*-[0-9a-f]{32,}\Z"
)
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+\Z")
_HASH = re.compile(r"[0-9a-f]{32}(?:[0-9a-f]{8}|[0-9a-f]{32})?(?![\w-])")
_OF_A_HASH = re.compile(
    r"\b(?:at|commit|request|revision|merge|checkout|head|tree|parent|object|build|trace|span|etag"
    r"|digest|checksum)[ :=/]\Z",
    re.IGNORECASE,
)
_EMBEDDED = re.compile(r"data:[\w/+.-]{1,60};base64,[A-Za-z0-9+/=%]*\Z")
"""What stands before the data of an image, as in a style sheet."""
_LONGEST_DATA = 64_000
_SEED = re.compile("[A-Z2-7]{16,}|[0-9]{4,8}#")
_OTHER_ID = re.compile(
    r"(?i:request|trace|span|correlation|message|tool_?use|event)[-_ ]?(?i:id)[\"'\\]{0,4}"
    r"[ ]?(?:[:=,]|=>)?[ ]?[\"'\\]{0,4}\Z|(?<![\w-])(?i:id)[ ]?=[ ]?\Z"
)
# What a word right before a value calls it: `secretName: db`, `key_path=…`.
_OTHER_KEY = re.compile(
    r"(?:(?:\A|[\n,;{(\[?&<])[ \t]{0,20}[\"'\\]{0,3}(?:[\w.-]{1,30}[_.-])?|[a-z](?=[A-Z])|[\"'])"
    r"(?i:name|ref|path|file|mode|type|kind|version|namespace|url|uri|host|port|algorithm|alg"
    r"|keyid|fingerprint|comment|label|title|description|hint|placeholder|prompt|autocomplete|class"
    r"|(?<!ecret)(?<!ecret_)id)"
    r"[\"'\\]{0,3}[ ]?[:=][ ]?[\"'\\]{0,3}\Z"
)
_MUST_BE_SET = re.compile(r"\$\{\w{1,80}:?\?[^}\n]{0,160}\Z")
"""`${NAME:?words that are said if it is missing`."""
_SENTENCE_BEFORE = re.compile(r"[?!.。？！][\"'”»]?\s{1,3}[\"'„“«¿¡]?\Z")
_WORD_BEHIND = re.compile(r"[ ][^\W\d_]{1,20}(?:[ ,.!?\"'”»<]|\Z)")
_QUESTION = re.compile(r"(?:[ ][^\s?]{1,24}){1,8}[ ]?\?")
_FAILURE = re.compile(
    r"\b(?:fatal|error|could not|cannot|can't|failed|unable|denied|refused)\b[^\n]{0,160}\Z",
    re.IGNORECASE,
)
_LABEL_END = re.compile(r"(?:[ ][^\W\d_]{1,20}){1,5}[.!?…]?[\"'”»“<]")
_ENCRYPTED = re.compile(r"ENC\[AES256_GCM,[^\]\s]*\Z")
KEPT_THERE = re.compile(r"[\"'`]? ?(?:금고|볼트|보관함)?에 ?(?:있|저장|보관)")
"""What stands in Korean after the place where a password is kept."""
# "pass" that is a statement of a program, or what is done with a value.
_TO_PASS = re.compile(r"\b(?:to|not|n't|can|could|must|should|would|may|tests?|checks?|all)[ ]+\Z")
_PASSED = re.compile(r"[ ]*(?:\r?\n|\Z)|[ ]+(?:it|the|a|an|them|along|through|to|by|``|None)\b")
_NO_WORD = re.compile(
    r"[a-z]{3,}(?:al|ful|ive|ous|ent|ant|ic)ly\Z|(?:of|and|or|but|than)[ ]"
    r"|(?:button|label|legend|option|title|th|h[1-6])>"
)
"""An adverb, the middle of a sentence, or what a form says."""
_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u3000-\u303f\uff00-\uffef"
_IN_TOKEN, _AND = rf"[^\s\"`,;&\\\\{_UNSPACED}]", r"&(?!quot|apos|amp|lt|gt|\#)"
_TOKEN = re.compile(
    rf"{_IN_TOKEN}{{1,300}}+(?!{_AND})|(?:{_IN_TOKEN}|{_AND}){{1,300}}|[{_UNSPACED}]+"
)
_NAME_AND_MARK = re.compile(r"[\w.@\"'`-]{1,60}?\\?[\"'`]?(?:=>?|[:/])(?=[^/=:\s])")
_QUOTES = "\"'`„“”«»‹›「」『』"
_OPENING = _QUOTES + "([{<*_→\\"
_CLOSING = _QUOTES + ")]}>*_.,;:…。\\"
_QUOTED = re.compile(
    r"([\"'`„“«‹「『])[ \u00a0\u202f]?([^\s\"'`„“”«»]{1,30}(?: [^\s\"'`„“”«»]{1,30}){1,7})"
    r"[ \u00a0\u202f]?[\"'`“”»›」』]"
)
_PHRASE = re.compile(
    r"(?<=[\s:])[^\W\d_]{2,16}+(?:[ -](?:[^\W\d_]{2,16}+|\d{1,4}+)){1,6}+"
    r"(?=[ \t]{0,4}(?:[.,;!)(\n]|\Z))"
)
_LEAD = re.compile(r"[:=]\s?\Z|\b\w{1,4}:?\s\Z")
_WORD = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")
_WORDS_AND_GAPS = re.compile(f"({_WORD.pattern})")
_SENTENCE_END = re.compile(r"[.!?;]+(?:\s|\Z)")
_EXTENSION = re.compile(r"\.[a-z]{1,5}\d?\Z")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+|\d{4}-\d\d-\d\d|\d\d?:\d\d")
_SKELETON = (("[a-z]+", "a"), ("[A-Z]+", "A"), (r"\d+", "0"), (r"[^\W\d_a-zA-Z]+", "a"))
_SORTS = tuple((re.compile(pattern), mark) for pattern, mark in _SKELETON)
_OTHERS = re.compile("[^aA0]+")
_SORT_OF = {
    code: "a" if char.islower() else "A" if char.isupper() else "0" if char.isdigit() else "!"
    for code, char in enumerate(map(chr, range(128)))
}
_USER = re.compile(
    r"\b(?:user(?:name)?|login|account|e-?mail|admin|root|benutzer|utilisateur|usuario|utente"
    r"|логин|пользователь)\b|用户|账号|ユーザー|사용자|아이디"
)
_USERS = (
    *("user", "login", "account", "mail", "admin", "root", "benutzer", "utilisateur", "usuario"),
    *("utente", "логин", "пользов", "用户", "账号", "ユーザー", "사용자", "아이디"),
)
"""One of these is in every text that the pattern can be found in."""
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


class _Signs:
    """Signs of a token, and what they weigh together; no two groups of a token share a sign."""

    __slots__ = ("names", "weight")

    def __init__(self, *names: str) -> None:
        self.names = frozenset(names)
        weight = _model()["weights"].get
        self.weight: int = sum([weight(name, 0) for name in self.names])


class _Window(NamedTuple):
    """A name, and the part of a text that is looked at for its value."""

    text: str
    """That part, one character more before it and a few after it."""
    offset: int
    """Where that begins in the whole text."""
    place: NamePlace
    """Where the name stands in it."""
    first: int
    until: int


def by_words(text: str, places: Sequence[NamePlace]) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of every token that the words around it make a secret."""
    for text_around, offset, place, first, until in _windows(text, places):
        for start, end, kind in _secrets(text_around, place, first, until):
            at, to = offset + start, offset + end
            if not (_is_named(text, at) or _is_another(text, offset + place.end, at, to)):
                yield at, to, kind


@lru_cache(maxsize=1024)
def _secrets(
    text: str, place: NamePlace, first: int, until: int
) -> tuple[tuple[int, int, str], ...]:
    """The secrets of one window; most are met again once what was found first is taken out."""
    if _is_in_code(text, place):
        return ()
    least = -_model()["bias"] * UNIT
    return tuple(
        (start, end, _kind(place.held))
        for start, end, groups, after, said in _judged(text, place, first, until, _is_unlike)
        if sum([group.weight for group in groups]) + _weight(after, said) > least
        and not _is_harmless(text[start:end], place.held)
        and not KEPT_THERE.match(text, end)
        and not (place.held.weak and (_is_passed(text, place) or _is_argument(text, place)))
    )


def _is_harmless(value: str, held: Promise) -> bool:
    """Whether what the words around it make a secret is something else by its looks."""
    if is_code(value) or is_term(value) or _NO_WORD.match(value):
        return True
    if held.kind == "login" and _ID.match(value):
        return True
    if held.weak and (_NO_VALUE.match(value) or value[0] == ":"):
        return True
    return _is_unlike(value, held)


def _is_unlike(value: str, held: Promise) -> bool:
    """Whether a value does not look like the key, token or session that is promised."""
    if held.kind == "signature" and _HEX.match(value):
        return True
    if held.kind == "session":
        made = " " in value or is_random(value) or _SEED.match(value) is not None
        return _ID.match(value) is not None or not made
    # Keys and tokens are random, unless a person chose them: what looks like a variable is one,
    # and a word with a capital begins a sentence.
    plain = held.kind in ("key", "token") and not held.chosen and is_variable(value)
    return plain and (held.weak or value.isalpha())


def _is_in_code(text: str, place: NamePlace) -> bool:
    """Whether a name is a few letters of something in base64."""
    start, end = place.start, place.end
    joined = text[start - 1 : start] in ("+", "/") or text[end : end + 1] in ("+", "/")
    return joined and is_random(text[start:end])


def _is_argument(text: str, place: NamePlace) -> bool:
    """Whether a name is what a function is called with: `map.get(key)`."""
    start, end = place.start, place.end
    return text[end : end + 1] == ")" and re.match(r"\w\(", text[start - 2 : start]) is not None


def _is_passed(text: str, place: NamePlace) -> bool:
    """Whether a "pass" is what programs and people do with a value."""
    start, end = place.start, place.end
    if text[start:end].lower() != "pass":
        return False
    line = text.rfind("\n", 0, start) + 1
    if _TO_PASS.search(text, line, start):
        return True
    passed = _PASSED.match(text, end)
    return passed is not None and (passed[0].strip() != "" or not text[line:start].strip())


def _is_named(text: str, start: int) -> bool:
    """Whether words right before a value say that it is something else than a secret."""
    if _HASH.match(text, start) and _OF_A_HASH.search(text, max(0, start - 12), start):
        return True
    if _OTHER_ID.search(text, max(0, start - 30), start):
        return True
    if _ENCRYPTED.search(text, max(0, start - 300), start):
        return True
    data = text.rfind(";base64,", max(0, start - _LONGEST_DATA), start)
    return data >= 0 and _EMBEDDED.search(text, max(0, data - 66), start) is not None


def _is_another(text: str, name_end: int, start: int, end: int) -> bool:
    """Whether a value is something else by where it stands: of another key, the first word of a
    label, of a question or of the next sentence, or what is said of something that failed."""
    if _OTHER_KEY.search(text, max(0, start - 40), start):
        return True
    if _MUST_BE_SET.search(text, max(0, start - 250), start):
        return True
    if not text[start:end].replace(" ", "").isalpha():
        return False
    if name_end <= start and _FAILURE.search(text, max(0, name_end - 200), name_end):
        return True
    before = text[start - 1 : start]
    if before and before in "\"'`„“«>" and _LABEL_END.match(text, end):
        return True
    if before and before in "\"'`" and is_command(text[start : text.find(before, end)][:200]):
        return True
    begins = name_end <= start and text[start].isupper() and text[start + 1 : end].islower()
    if begins and _QUESTION.match(text, end):
        return True
    since = max(name_end, start - 6)
    opened = begins and _SENTENCE_BEFORE.search(text, since, start) is not None
    return opened and _WORD_BEHIND.match(text, end) is not None


def weights() -> dict[str, Any]:
    """The bias, and the weights by the names of their signs."""
    model: dict[str, Any] = json.loads(gzip.decompress(WEIGHTS.read_bytes()))
    by_sign = dict(zip(decoded(model["signs"]), model["weights"], strict=True))
    return {"bias": model["bias"], "weights": by_sign}


@cache
def _model() -> dict[str, Any]:
    return weights()


@cache
def _weights_of_words() -> tuple[dict[str, int], ...]:
    """What a word between a token and a name weighs, on either side."""
    weights: dict[str, int] = _model()["weights"]
    return tuple(
        {sign.partition(" ")[2]: weights[sign] for sign in weights if sign.startswith(f"{side} ")}
        for side in _SIDES
    )


def _weight(after: bool, said: set[str]) -> int:
    return sum(filter(None, map(_weights_of_words()[after].get, said)))


def described(text: str, places: Sequence[NamePlace]) -> Iterator[Described]:
    """Every token that may be the value of one of these names."""
    for text_around, offset, place, first, until in _windows(text, places):
        for start, end, groups, after, said in _judged(text_around, place, first, until):
            words = (f"{_SIDES[after]} {word}" for word in said)
            signs = frozenset(words).union(*(group.names for group in groups))
            yield Described(offset + start, offset + end, _kind(place.held), signs)


def _kind(held: Promise) -> str:
    return "password" if held.kind in ("login", "credential") else held.kind


def _windows(text: str, places: Sequence[NamePlace]) -> Iterator[_Window]:
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
        first, until = _around(text, place, first, until)
        offset = max(0, min(first, place.start) - 1)
        yield _Window(
            text[offset : until + _NEXT],
            offset,
            place._replace(start=place.start - offset, end=place.end - offset),
            first - offset,
            until - offset,
        )


def _around(text: str, place: NamePlace, first: int, until: int) -> tuple[int, int]:
    """The part of a text around a name that is looked at: whole tokens of its paragraph."""
    gap = text.rfind("\n\n", first, place.start)
    if gap >= 0:
        first = gap + 2
    if 0 < first < place.start:
        blank = _BLANK.search(text, first - 1, place.start - 1)
        first = blank.end() if blank else place.start
    gap = text.find("\n\n", place.end + 4, until)
    if gap >= 0 and text[gap - 1] != ":":
        return first, gap
    most = min(len(text), place.end + 2 * _AFTER)
    if until < most:
        blank = _BLANK.search(text, until, most)
        until = blank.start() if blank else most
    return first, until


def _judged(
    text: str,
    place: NamePlace,
    first: int,
    until: int,
    ruled_out: Callable[[str, Promise], bool] = lambda value, held: False,
) -> Iterator[tuple[int, int, list[_Signs], bool, set[str]]]:
    """The tokens of a window that may be the name's value, each with groups of signs, whether it
    stands after the name, and the words in between."""
    start, end, held, foreign = place
    tokens: list[tuple[int, int, int]] = []
    near: list[tuple[int, int, int, int, _Look]] = []
    most = 0
    for begin, stop in _tokens(text, first, until):
        away = begin - end if begin >= end else start - stop
        if away < 0:
            continue
        value = text[begin:stop]
        if away > _REACH[0] and value.isalpha():
            continue
        odd = _odd(value)
        if away <= _REACH[odd] and not ruled_out(value, held) and (look := _look(value)):
            near.append((len(tokens), begin, stop, odd, look))
        tokens.append((begin, stop, odd))
        most = max(most, odd)
    if not near:
        return
    # Its words are read from the first that counts to the last.
    since = max(first, min(start, *(begin for _, begin, *_ in near)) - 40)
    words = _WordPlaces(text, since, max(start, *(stop + _NEXT for _, _, stop, *_ in near)))
    user = _speaks_of_user(text[first:until].lower())
    is_first = start == 0 or text[start - 1] == "\n"
    lead = words.between(max(first, start - 40), start)[-2:]
    common = _Signs(*_of_name(text[start:end], held, foreign, lead, user, is_first))
    for n, begin, stop, odd, look in near:
        after = begin >= end
        if after:
            said = words.between(max(end, begin - 120), begin)
            lines = text.count("\n", end, begin)
            nearest, others = said[-3:], tokens[:n]
            inside = [each for at, to, each in others if end <= at and to <= begin]
        else:
            said = words.between(stop, min(start, stop + 120))
            lines = text.count("\n", stop, start)
            nearest, others = said[:3], tokens[n + 1 :]
            inside = [each for at, _, each in others if stop <= at < start]
        count = len(said)
        gap = min(count, 4) if count < 5 else 6 if count < 7 else 9
        end_of = _end(text[stop : stop + 8].lstrip(_QUOTES + ")*"))
        groups = [
            *(common, look.signs, _gap(after, gap, odd, min(3, lines))),
            _linked(after, odd, tuple(nearest), count <= 3),
            _next(words.first(stop, stop + _NEXT)),
            _marks(text[begin - 1 : begin], text[stop : stop + 1], end_of, odd, after),
            _ranked(held.kind, odd, after, user, odd == most),
            _tied(foreign, held.chosen, after, gap, odd, end_of),
            _inside(min(3, len(inside)), max(inside, default=0), odd),
        ]
        if not after:
            groups.append(_leads(*words.between(max(first, begin - 40), begin)[-1:]))
        if look.is_hash:
            groups.append(_hash(held, gap, after, count))
        yield begin, stop, groups, after, set(said)


def _of_name(
    name: str, held: Promise, foreign: bool, lead: list[str], user: bool, is_first: bool
) -> list[str]:
    return [
        *(f"kind {held.kind}", f"name {name.lower()[:20]}", f"lead {' '.join(lead)}"),
        f"lead {' '.join(lead[-1:])}",
        *(f"weak {held.weak}", f"chosen {held.chosen}", f"foreign {foreign}"),
        *(f"upper {name.isupper()}", f"flag {name[0] == '-'}"),
        *(f"user {user}", f"line start {is_first}"),
    ]


# The same few groups of signs come again and again, in any text.


@lru_cache(maxsize=256)
def _gap(after: bool, gap: int, odd: int, lines: int) -> _Signs:
    side = _SIDES[after]
    return _Signs(f"gap {side} {gap}", f"gap {side} {gap} {odd}", f"lines {side} {lines}")


@lru_cache(maxsize=2048)
def _linked(after: bool, odd: int, near: tuple[str, ...], is_all: bool) -> _Signs:
    signs = []
    if after:
        signs += [f"then {' '.join(near)}", f"then {' '.join(near[-2:])}"]
        signs += [f"then {' '.join(near[-1:])}", f"then {' '.join(near[-1:])} {odd}"]
    else:
        signs += [f"of {' '.join(near)}", f"of {' '.join(near[:2])}", f"of {list(near[:1])}"]
    if is_all:
        link = f"link {_SIDES[after]} {' '.join(near)}"
        signs += [link, f"{link} {odd}"]
    return _Signs(*signs)


@lru_cache(maxsize=1024)
def _leads(word: str = "") -> _Signs:
    return _Signs(f"leads {word}")


@lru_cache(maxsize=1024)
def _next(word: str) -> _Signs:
    return _Signs(f"next {word}")


@lru_cache(maxsize=2048)
def _marks(before: str, behind: str, end_of: str, odd: int, after: bool) -> _Signs:
    opening, closing, side = before or "^", behind or "$", _SIDES[after]
    signs = [f"opening {opening}", f"closing {closing}"]
    if opening in _QUOTES and closing in _QUOTES:
        signs += ["quoted", f"quoted {side} {odd}"]
    return _Signs(*signs, f"end {end_of}", f"end {end_of} {odd} {side}")


@lru_cache(maxsize=256)
def _hash(held: Promise, gap: int, after: bool, count: int) -> _Signs:
    return _Signs(f"hash {held.kind} {gap}", f"hash {held.weak} {_SIDES[after]} {count}")


@lru_cache(maxsize=256)
def _ranked(kind: str, odd: int, after: bool, user: bool, is_most: bool) -> _Signs:
    side = _SIDES[after]
    signs = (f"odd {kind} {odd} {side}", f"user {user} {odd} {side}")
    return _Signs(*signs, f"most {is_most} {odd} {side}")


@lru_cache(maxsize=1024)
def _tied(foreign: bool, chosen: bool, after: bool, gap: int, odd: int, end_of: str) -> _Signs:
    return _Signs(f"tie {foreign} {chosen} {_SIDES[after]} {gap} {odd} {end_of}")


@lru_cache(maxsize=256)
def _inside(count: int, most: int, odd: int) -> _Signs:
    return _Signs(f"inside {count} {most} {odd}")


class _WordPlaces:
    """The words, numbers and marks of a part of a window."""

    def __init__(self, text: str, first: int, until: int) -> None:
        self._text = text
        part = text[first:until]
        if text.isascii():  # there every character keeps its place in small letters
            cut = _WORDS_AND_GAPS.split(part.lower())
            self._words = ["0" if word.isdigit() else word for word in cut[1::2]]
        else:
            cut = _WORDS_AND_GAPS.split(part)
            self._words = [_plain(word) for word in cut[1::2]]
        ends = list(accumulate(map(len, cut), initial=first))
        self._starts, self._ends = ends[1:-1:2], ends[2::2]

    def first(self, first: int, until: int) -> str:
        """The first of a part."""
        n = bisect_right(self._ends, first)
        if n == len(self._starts) or self._starts[n] >= until:
            return ""
        whole = self._starts[n] >= first and self._ends[n] <= until
        return self._words[n] if whole else self.between(first, until)[0]

    def between(self, first: int, until: int) -> list[str]:
        """Those of a part, cut where the part ends."""
        begin = bisect_right(self._ends, first)
        end = bisect_left(self._starts, until, begin)
        words = self._words[begin:end] if first < until else []
        if words and self._starts[begin] < first:
            words[0] = _plain(self._text[first : min(until, self._ends[begin])])
        if words and self._ends[end - 1] > until:
            words[-1] = _plain(self._text[max(first, self._starts[end - 1]) : until])
        return words


def _plain(word: str) -> str:
    return "0" if word.isdigit() else word.lower()


def _speaks_of_user(lowered: str) -> bool:
    return any(map(lowered.__contains__, _USERS)) and _USER.search(lowered) is not None


def _tokens(text: str, first: int, until: int) -> Iterator[tuple[int, int]]:
    """Where the tokens of a text stand, without the marks around them; also phrases."""
    for token in _TOKEN.finditer(text, first, until):
        value = token[0]
        if len(value) < 3:
            continue
        at = token.start()
        if "=" in value or ":" in value or "/" in value:
            mark = _NAME_AND_MARK.match(text, at, at + len(value))
            if mark and len(mark[0]) < len(value):
                yield from _without_frame(at, mark[0])
                at, value = mark.end(), value[len(mark[0]) :]
        yield from _without_frame(at, value)
    for quoted in _QUOTED.finditer(text, first, until):
        yield quoted.span(2)
    for phrase in _PHRASE.finditer(text, first, until):
        if _LEAD.search(text, max(first, phrase.start() - 8), phrase.start()):
            yield phrase.span()


def _without_frame(at: int, value: str) -> Iterator[tuple[int, int]]:
    bare = value.lstrip(_OPENING)
    at += len(value) - len(bare)
    bare = bare.rstrip(_CLOSING)
    if len(bare) >= 3:
        yield at, at + len(bare)


def _end(rest: str) -> str:
    """What ends after a token."""
    if not rest:
        return "text"
    if rest[0] in "\r\n":
        return "line"
    return "sentence" if _SENTENCE_END.match(rest) else "comma" if rest[0] == "," else "nothing"


class _Look(NamedTuple):
    signs: _Signs
    is_hash: bool = False


def _skeleton(value: str) -> tuple[str, str]:
    """Which sorts of characters follow each other at the beginning, and which there are."""
    if value.isascii():
        sorts = value.translate(_SORT_OF)
        runs = groupby(sorts)
        return "".join(sort for sort, _ in islice(runs, 6)), "".join(sorted(set(sorts)))
    for pattern, mark in _SORTS:
        value = pattern.sub(mark, value)
    sorts = _OTHERS.sub("!", value)
    return sorts[:6], "".join(sorted(set(sorts)))


@lru_cache(maxsize=4096)
def _odd(value: str) -> int:
    """How made up a token looks."""
    return oddness(value) or int(has_digit(value))


@lru_cache(maxsize=4096)
def _look(value: str) -> _Look | None:
    """What a token looks like; None for what is never a secret."""
    if (
        len(value) < _SHORTEST
        or is_placeholder(value)
        or is_label(value)
        or is_reference(value, True)
    ):
        return None
    if " " in value:
        count = value.count(" ") + 1
        bare = (is_phrase(value), is_phrase(value, bare=True))
        parts = value.lower().split(" ")
        said = (f"phrase word {part}" for part in parts)
        return _Look(_Signs(f"phrase {count}", f"phrase {bare}", *said))
    skeleton, sorts = _skeleton(value)
    length = bisect_right(_LENGTHS, len(value))
    signs = [f"odd {_odd(value)}", f"length {length}", f"skeleton {skeleton}", f"sorts {sorts}"]
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
    return _Look(_Signs(*signs), is_hash(value))
