"""Signs of lasting statements in other languages, and which language a sentence is in.

Names and weights are those of the English signs. Pure; imports `cue` and the table of `languages`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ltm.capture.cue import Cue
from ltm.capture.languages import TONGUES, Tongue


@dataclass(frozen=True, slots=True)
class Signs:
    """One language, ready to be looked for."""

    known_by: re.Pattern[str]
    spaced: bool
    cues: tuple[Cue, ...]
    remember: re.Pattern[str]
    """A request to remember something, and what."""
    remembered: re.Pattern[str]
    """A statement followed by a request to remember it."""
    because: re.Pattern[str]
    """Where the reason begins."""
    question: re.Pattern[str]
    """How a sentence begins that is a question."""


_VERSION = r"[a-z][\w.+#-]* v?\d+(?:\.\d+)+"
"""A program and its version, in any language."""


def _stated(tongue: Tongue) -> str:
    return rf"\A(?!(?:{tongue.no_subject})\b)(?:\S+ ){{1,6}}?(?:{tongue.holds})\b"


def _signs(tongue: Tongue) -> Signs:
    def words(text: str) -> str:
        return rf"(?<!\w)(?:{text})(?!\w)" if tongue.spaced else f"(?:{text})"

    def cue(name: str, weight: float, text: str, kind: str = "", rank: int = 0) -> Cue:
        return Cue(name, weight, re.compile(words(text)), kind, rank, lasting=bool(kind))

    return Signs(
        re.compile(words(tongue.known_by), re.IGNORECASE),
        tongue.spaced,
        (
            cue("standing word", 0.5, tongue.standing, "preference", 4),
            cue("must", 0.2, tongue.must, "pattern", 3),
            cue("order not to", 0.3, tongue.order_not_to, "preference", 5),
            cue("chosen", 0.6, tongue.chosen, "decision", 9),
            cue("wish", 0.6, tongue.wish, "preference", 7),
            cue("because", 0.2, tongue.because),
            cue("doubt", -0.6, tongue.doubt),
            cue("a complaint", -0.5, tongue.complaint),
            cue("for now", -0.5, tongue.for_now),
            *([cue("plain fact", 0.5, _stated(tongue), "fact", 1)] if tongue.holds else []),
            cue("which version", 0.5, _VERSION, "fact", 2),
        ),
        re.compile(
            rf"{words(tongue.remember)}[\s,:：，、!]*(?:(?:que|dass|che|dat|że|что|de que)\b)?"
            r"[\s,:：，、]*(?P<what>\S.{3,})",
            re.IGNORECASE | re.DOTALL,
        ),
        re.compile(
            rf"(?P<what>\S.{{3,}}?)[,;，；、–—-]+\s*{words(tongue.remember)}(?:\s+\w+){{0,2}}[.!。！]*\Z",
            re.IGNORECASE | re.DOTALL,
        ),
        re.compile(rf"[\s,;，；、]*{words(tongue.because)}[\s，]*", re.IGNORECASE),
        re.compile(words(tongue.question), re.IGNORECASE),
    )


_SPACED = tuple(_signs(tongue) for tongue in TONGUES if tongue.spaced)
# Japanese and Korean before Chinese: they may use its characters, it does not use theirs.
_UNSPACED = tuple(_signs(tongue) for tongue in reversed(TONGUES) if not tongue.spaced)
_ENGLISH = frozenset(
    {"the", "we", "you", "is", "are", "it", "this", "to", "of", "and", "for", "with", "that"}
    | {"use", "please", "have", "our", "don't", "be", "in", "a", "i", "not", "all"}
)
_ENOUGH, _SHORT = 2, 40


@lru_cache(maxsize=128)
def spoken_in(sentence: str) -> Signs | None:
    """The language of a sentence, if it is one of these and not English."""
    english = 0
    if sentence.isascii():
        english = len(_ENGLISH.intersection(sentence.lower().split()))
        if english >= _ENOUGH:
            return None
    else:
        for signs in _UNSPACED:
            if signs.known_by.search(sentence):
                return signs
    fewest = _ENOUGH if len(sentence) > _SHORT and sentence.isascii() else 1
    best, most = None, max(english, fewest - 1)
    for signs in _SPACED:
        found = len({word.lower() for word in signs.known_by.findall(sentence)})
        if found > most:
            best, most = signs, found
    return best
