"""Lasting statements in user text.

How sure it is that a sentence is meant to last, and as what.

Owns adding up the signs of `cues`, what is a question, and what a request to remember looks like.
Pure; imports this package.

What the user says that is meant to last: orders, wishes, choices, facts, corrections.

Owns how the sentences of a message hang together: what points back, what gives the reason for the
one before, what is understood only with it. How sure we are of one sentence is for `weighing`.
Precision comes before recall: a wrong memory costs more than a missing one. Pure; imports `core`
and this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ltm.capture.cues import LASTING, MASK, OF_AN_ORDER, OTHERS, PART_OF_ORDERS, TOLD, Cue
from ltm.capture.cues_languages import Signs, spoken_in
from ltm.capture.decide import Candidate
from ltm.capture.message import (
    Sentence,
    joined,
    parted,
    repaired,
    said,
    tidy,
    with_reason,
    without_lead,
)
from ltm.kinds import Kinds
from ltm.model import Impact, Source
from ltm.text.infer import infer_impact, infer_scope
from ltm.text.sentences import title_of

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


ENOUGH = 0.5
"""How sure we must be that a sentence is meant to last."""

_EXPLAINED = 0.3
_MUCH = 1_500
"""Characters of speech from which a message is a document: then only clear requests count."""
_SHORT, _FRAGMENT = 14, 8

_POINTS_BACK = re.compile(
    r"(?:please )?(?:(?:remember|memori[sz]e|keep|bear|note|follow|stick to|respect|save) (?:that"
    r"|this|it|these)\b|to follow this"
    r"|(?:that|this|it)(?:'s| is| holds| applies| goes)\b.{0,40}\b(?:rule|convention|requirement"
    r"|important|always|polic\w+|for all|for every|everywhere|how (?:we|it))"
    r"|that's how\b|same (?:for|goes for|in) (?:all|every|the other)|just so (?:you|it))",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"\s*(?:no\b(?! (?:problem|worries|need|rush|idea|thanks))|nope\b|nah\b|wrong\b|not (?:like"
    r"|what|that|quite)\b|that'?s (?:not|wrong)|this is (?:not|wrong)|actually\b|don'?t\b|do not\b"
    r"|stop\b|wait\b|hold on\b|i (?:said|told you|meant|asked)\b|you (?:forgot|should"
    r"|were supposed|keep|didn'?t|did it again|changed|put|made|added|used)\b|why (?:did|are|do)"
    r" you\b|again[,:]|please (?:don'?t|do not|stop)|undo\b|revert\b|avoid\b"
    r"|too (?:long|much|many|short|verbose)\b)",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"(?:it|they|this|that|those|these|he|she)(?:'s|'re)?\b", re.IGNORECASE)
_MEANS_IT = re.compile(r"\b(?:it|this|that|those|these|them|there)\b", re.IGNORECASE)
_EXPLAINS = re.compile(
    r"(?:(?:that's |this is |it's )?because|(?:the )?reason(?: is|:)(?: that)?|otherwise|or else)"
    r"\s+",
    re.IGNORECASE,
)
# What stands behind a choice or an order, though it does not say that it is the reason.
_GROUNDS = re.compile(
    r"(?=we(?:'ve| have)? (?:already )?tried\b|(?:i|we) (?:don't|do not) want (?:to|a|another)\b)",
    re.IGNORECASE,
)
# Then the sentence before it told what is wrong.
_TO_MEND = re.compile(
    r"(?:(?:can|could) you )?(?:please )?(?:fix|change|correct|undo|revert|repair|remove)"
    r" (?:it|that|this|them)\b",
    re.IGNORECASE,
)
_REJECTION = re.compile(
    r"\s*(?:(?:hm+|wait|oh|um+|actually|sorry)[,.!…]* )*(?:no\b(?! (?:problem|worries|need|rush"
    r"|idea|thanks|thank you|questions?))|nope\b|nah\b|wrong\b|not (?:quite|like that|what|true)\b"
    r"|that'?s (?:not|wrong|nonsense)|this is (?:not|wrong)|i disagree|revert\b|undo\b"
    r"|(?:please )?(?:make|change) (?:it|that) (?!work|so\b)|i'?d rather\b|rather not\b"
    r"|don'?t do (?:that|it|this)\b|i (?:don'?t|do not) (?:want|like|agree))",
    re.IGNORECASE,
)
_ONE_OF_THOSE = re.compile(r"\b(?:needs?|gets?|has|have) (?:one|some|both)\W*\Z", re.IGNORECASE)
_GRAVE = re.compile(r"\b(?:never|must|critical|crucial|vital|essential)\b", re.IGNORECASE)


def statements(
    text: str, kinds: Kinds, source: Source, *, answers: bool = True
) -> Iterator[Candidate]:
    """Candidates from one message of the user; `answers` says that the agent had spoken before."""
    spoken = said(text)
    long = sum(len(each.text) for each in spoken) > _MUCH
    correction = answers and not long and bool(_CORRECTION.match(text))
    weighed = [weigh(each, correction=correction, opening=not answers) for each in spoken]
    _look_back(spoken, weighed)
    former: Candidate | None = None
    first = Weighed("")
    for place, each in enumerate(weighed):
        found: Candidate | None = None
        if each.explicit or (each.sure >= ENOUGH and not long):
            found = _candidate(place, weighed, kinds, source)
        if former and _goes_on(each):
            former = replace(former, text=joined(former.text, tidy(each.text)))
            continue
        if former and _is_behind(first, each):  # why, or about what, that is so
            reason = former.reason or tidy(each.text).rstrip(".")
            former = replace(former, text=joined(former.text, tidy(each.text)), reason=reason)
            continue
        if former:
            yield former
        former, first = found, each
    if former:
        yield former


def _is_behind(first: Weighed, each: Weighed) -> bool:
    """Whether a sentence only says how things are, after one that says what to do about it."""
    return each.plain and each.sure > 0 and not first.plain


def rejects(text: str) -> bool:
    """Whether a message takes back what the agent just said or chose."""
    return bool(_REJECTION.match(text[:200]))


def _goes_on(each: Weighed) -> bool:
    """Whether a sentence says more about what the one before it is about."""
    return each.lasting and each.sure > 0 and bool(_PRONOUN.match(without_lead(each.text)))


def _look_back(spoken: Sequence[Sentence], weighed: list[Weighed]) -> None:
    """Let what points back, or gives a reason, speak for the sentence before it."""
    for place in range(1, len(weighed)):
        before, each = weighed[place - 1], weighed[place]
        text = without_lead(each.text)
        if _POINTS_BACK.match(text) and len(each.text.split()) <= _SHORT:
            weighed[place - 1] = weigh(spoken[place - 1], pointed_at=True)
            each.sure = 0.0
        elif _EXPLAINS.match(text):
            if _is_answer(before):
                weighed[place - 1] = Weighed(before.text, SURE, lasting=True, kind="decision")
            elif before.lasting:
                before.sure += _EXPLAINED
            each.sure = 0.0
        elif _TO_MEND.match(text) and before.plain:
            before.sure -= _EXPLAINED
        elif _GROUNDS.match(text) and before.lasting and before.sure > 0:
            before.sure += _EXPLAINED
            each.sure = 0.0


def _is_answer(each: Weighed) -> bool:
    """Whether it is a short choice, as in "Redoc then.": more than a yes, less than a sentence."""
    left = without_lead(each.text).strip(" .!")
    return bool(left) and len(left.split()) <= FEWEST and not each.text.endswith("?")


def _candidate(
    place: int, weighed: Sequence[Weighed], kinds: Kinds, source: Source
) -> Candidate | None:
    each = weighed[place]
    text = tidy(each.text)
    claim, reason = with_reason(text)
    tongue = spoken_in(each.text)
    foreign = tongue.because.split(each.text, maxsplit=1) if tongue else ()
    if not reason and len(foreign) > 1:
        reason = foreign[-1].strip(" .!。！")
    following = without_lead(weighed[place + 1].text) if place + 1 < len(weighed) else ""
    explained = _EXPLAINS.match(following) or _GROUNDS.match(following)
    if not reason and explained:
        reason = following[explained.end() :].strip(" .!")
        text = f"{text.rstrip('.')} because {reason}."
    before = weighed[place - 1] if place else None
    if before and not before.text.endswith("?") and _needs(before, each, claim):
        text = joined(tidy(before.text), text)
    if text.isascii() and len(text.split()) < FEWEST:
        return None
    return Candidate(
        kind=each.kind or kind_of(each.text) or kinds.default.name,
        text=text,
        title=title_of(tidy(claim) if len(claim.split()) >= FEWEST else text),
        weight=min(SURE, 0.4 + each.sure / 2),
        source=source,
        impact=_impact(each.text),
        scope=infer_scope(each.text),
        reason=reason,
    )


def _needs(before: Weighed, each: Weighed, claim: str) -> bool:
    """Whether a claim is understood only with the sentence before it."""
    if _PRONOUN.match(claim) or _ONE_OF_THOSE.search(claim):
        return not (before.explicit or before.lasting)
    if "chosen" not in each.cues or not _MEANS_IT.search(claim):
        return False
    left = without_lead(before.text).strip(" .!")  # "Biome. We moved everything else to it."
    return bool(left) and len(left.split()) <= _FRAGMENT and not before.lasting and "," not in left


def _impact(sentence: str) -> Impact:
    """As inferred, but "always" alone is not critical."""
    impact = infer_impact(sentence)
    return Impact.HIGH if impact is Impact.CRITICAL and not _GRAVE.search(sentence) else impact
