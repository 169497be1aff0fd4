"""What the user says that is meant to last: orders, wishes, choices, facts, corrections.

Owns how the sentences of a message hang together: what points back, what gives the reason for the
one before, what is understood only with it. How sure we are of one sentence is for `weighing`.
Precision comes before recall: a wrong memory costs more than a missing one. Pure; imports `core`
and this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ltm.capture.candidate import Candidate
from ltm.capture.plainwords import joined, tidy, with_reason, without_lead
from ltm.capture.speech import Sentence, said
from ltm.capture.tongues import spoken_in
from ltm.capture.weighing import FEWEST, SURE, Weighed, kind_of, weigh
from ltm.core.infer import infer_impact, infer_scope
from ltm.core.kinds import Kinds
from ltm.core.model import Impact, Source
from ltm.core.sentences import title_of

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
