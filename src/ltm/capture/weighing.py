"""How sure it is that a sentence is meant to last, and as what.

Owns adding up the signs of `cues`, what is a question, and what a request to remember looks like.
Pure; imports this package.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ltm.capture.cue import MASK, Cue
from ltm.capture.cues import LASTING, OF_AN_ORDER, OTHERS, PART_OF_ORDERS, TOLD
from ltm.capture.plainwords import parted, repaired
from ltm.capture.speech import Sentence
from ltm.capture.tongues import Signs, spoken_in

SURE = 0.95
FEWEST, MOST, LONGEST = 3, 60, 600
"""Words a statement has at least and at most, and characters."""

_LISTED = 0.6
_CORRECTED = 0.15
_PLAIN = "plain fact"
_SITUATION, _COUNTED = 0.45, 0.3
"""What being a plain fact is not worth: in the description of a task, or next to a better sign."""
_TRUSTED = 0.5
_FACT = "fact"
_RULE = "pattern"
_SAYS_REMEMBER = ("remember", "memori", "in mind", "note", "forget", "to your memory", "the memory")
_OWN_KIND = 4
"""Rank from which a sign tells the kind of what is asked for, or listed, whatever else it is."""

_REMEMBER = re.compile(
    r"\b(?<!do you )(?<!i )(?<!can't )(?<!cannot )(?:remember|memori[sz]e|keep in mind|bear in mind"
    r"|make a (?:mental )?note|take note|note (?=that\b|:|for later|to self|the following)"
    r"|don't forget|do not forget|save (?:this|that|it) (?:to|in) (?:your |the )?memory"
    r"|add (?:this|that|it) to (?:your |the )?memory)\b"
    r"(?!\s+(?:when|how|why|what|who|where|which|last|if|the time|correctly|right|me\b|my name"
    r"|to\b(?! self)))"
    r"(?:\s*\b(?:for (?:later|next time|the future)|to self|the following[^:]{0,60}(?=:)|this"
    r"|once more)\b)*[\s,:–—-]*(?:that\b)?[\s,:–—-]*(?P<what>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_REMEMBERED = re.compile(
    r"(?P<what>\S.{8,}?)[,;–—-]+\s*(?:so |and |but )?(?:please )?(?:remember|keep|bear"
    r"|note|memori[sz]e) (?:that|this|it)(?: in mind)?(?:[,\s]*please)?[.!]*\Z",
    re.IGNORECASE | re.DOTALL,
)
_NAMES_NOTHING = re.compile(
    r"(?:please )?(?:remember|memori[sz]e|keep|bear|note) (?:that|this|it|these)\b", re.IGNORECASE
)
_ASKS_KINDLY = re.compile(
    r"\A(?:(?:also|and|so|please|ok) )*(?:can|could|would|will) you (?:please |also |maybe )*"
    r"(?!check|see|tell me|explain|look|show|find|help|give|give me)(?=\w)",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"(?:why|what|how|who|whom|whose|where|which|does|do (?:you|we|i|they|the|these|those|any|all)"
    r"|did|is (?!important)|are|was|were|can|could|should|would|will|shall|have you|has|am)\b",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"\A[^:,;.!?`]{3,40}: (?=\S)")
_CODE = re.compile(r"`[^`]*`")
_QUOTED = re.compile(r"[\"“„«][^\"“”„«»]{2,}[\"”“»]")
_MARKED = re.compile(r"[`\"“„«]")


@dataclass(slots=True)
class Weighed:
    """A sentence and how sure we are of it."""

    text: str
    sure: float = 0.0
    lasting: bool = False
    """Whether it reaches beyond the task at hand."""
    explicit: bool = False
    """Whether it was asked to be remembered."""
    kind: str = ""
    """What it is, when that is certain already; else `kind_of` tells."""
    cues: tuple[str, ...] = ()
    plain: bool = False
    """Whether nothing but its form speaks for it: it only says how something is."""


def weigh(
    sentence: Sentence,
    *,
    correction: bool = False,
    pointed_at: bool = False,
    opening: bool = False,
) -> Weighed:
    """A sentence of the user, weighed.

    `correction` says that it corrects what the agent just did, `pointed_at` that the next sentence
    calls it important, `opening` that it is the first: then it tells what the task is about.
    """
    plain = repaired(" ".join(sentence.text[: 2 * LONGEST].split()))
    if not _is_sentence(plain):
        return Weighed(plain)
    tongue = spoken_in(plain)
    asked = plain.endswith(("?", "？"))
    kindly = _ASKS_KINDLY.match(plain)
    if kindly:
        plain, asked = plain[kindly.end() :].rstrip("? "), False
    lead, left = parted(plain)
    if asked or _QUESTION.match(left) or (tongue and tongue.question.match(left)):
        return Weighed(plain)
    wanted = _wanted(plain, tongue)
    if wanted:
        return _asked_for(plain, wanted)
    trusted = pointed_at or sentence.ruled
    found = _found(lead, left, tongue, thorough=trusted)
    if not found and not trusted:
        return Weighed(plain)
    names = tuple(found)
    if not OF_AN_ORDER.isdisjoint(names):
        names = tuple(name for name in names if name not in PART_OF_ORDERS)
    sure = sum(found[name].weight for name in names)
    sure += _CORRECTED * correction - _LISTED * sentence.listed + _TRUSTED * trusted
    others = any(cue.lasting for name, cue in found.items() if name != _PLAIN)
    if _PLAIN in found:
        sure -= _SITUATION * (opening or bool(kindly)) + _COUNTED * others
    kind = (_kind(_ranked(found)) or _RULE) if sentence.ruled else ""
    return Weighed(plain, sure, lasting=True, kind=kind, cues=names, plain=not others)


def kind_of(sentence: str) -> str:
    """The kind a sentence tells, by its first part rather than by what follows from it; or ''."""
    tongue = spoken_in(sentence)
    head, follows, _ = sentence.partition(", so ")
    if follows and len(head.split()) > FEWEST:
        kind = _kind(_found(*parted(head), tongue, thorough=True))
        if kind:
            return kind
    return _kind(_found(*parted(sentence), tongue, thorough=True))


def _found(lead: str, text: str, tongue: Signs | None, *, thorough: bool) -> dict[str, Cue]:
    """The signs of a sentence, each name once; unless thorough, none when none is lasting.

    Where the whole has no lasting one, what stands behind its topic may: "Labels: never cut them".
    """
    masked = _QUOTED.sub(MASK, _CODE.sub(MASK, text)) if _MARKED.search(text) else text
    lowered, before = masked.lower(), lead.lower()
    found: dict[str, Cue] = {}
    foreign = tongue.cues if tongue else ()
    for cues in ((*LASTING, *foreign), OTHERS):
        for cue in cues:
            if cue.pattern.search(lowered) or (
                before and cue.name in TOLD and cue.pattern.search(before)
            ):
                former = found.get(cue.name)
                found[cue.name] = cue if former is None or cue.rank > former.rank else former
        if not any(cue.lasting for cue in found.values()):
            topic = _TOPIC.match(text)
            if topic:
                return _found(lead, text[topic.end() :], tongue, thorough=thorough)
            if not thorough:
                return {}
    return found


def _wanted(plain: str, tongue: Signs | None) -> re.Match[str] | None:
    low = plain.lower()
    if any(word in low for word in _SAYS_REMEMBER):
        found = _REMEMBERED.match(plain) or _REMEMBER.search(plain)
        if found:
            return found
    return tongue.remembered.match(plain) or tongue.remember.search(plain) if tongue else None


def _asked_for(plain: str, wanted: re.Match[str]) -> Weighed:
    """What was asked to be remembered; a request that names nothing points back."""
    what = wanted["what"].strip()
    if _NAMES_NOTHING.match(plain) and len(what.split()) < FEWEST:
        return Weighed(plain)
    signs = _found(*parted(what), spoken_in(what), thorough=True)
    kind = _kind(_ranked(signs)) or _FACT
    return Weighed(what, SURE, True, True, kind, ("asked to remember",))


def _ranked(found: Mapping[str, Cue]) -> dict[str, Cue]:
    """The signs that say more than where a sentence stands."""
    return {name: cue for name, cue in found.items() if cue.rank >= _OWN_KIND}


def _kind(found: Mapping[str, Cue]) -> str:
    ranked = max((cue for cue in found.values() if cue.kind), key=_rank, default=None)
    return ranked.kind if ranked else ""


def _rank(cue: Cue) -> int:
    return cue.rank


def _is_sentence(plain: str) -> bool:
    """Whether it is long enough to say something and short enough to be one statement."""
    spaced = len(plain.split())
    words = spaced if plain.isascii() else max(spaced, len(plain) // 3)
    return words >= FEWEST and spaced <= MOST and len(plain) <= LONGEST
