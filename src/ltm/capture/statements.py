"""What is said in a session that is meant to last, by either of the two.

Owns the signs of where a sentence stands (who speaks, its place, what was asked before it), which
sentences belong together, and the tier of a statement: a sure one becomes a memory, a likely one a
candidate. How much the words of a sentence are worth is for `text.judge`, which learned it. Pure;
imports `text` and this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ltm.capture.decide import Candidate, Certainty
from ltm.capture.message import Sentence, joined, said, tidy, told, with_reason
from ltm.capture.requests import asked_for, is_standing_order, points_back
from ltm.kinds import Kinds
from ltm.model import Impact, Scope, Source
from ltm.text.infer import infer_scope
from ltm.text.judge import Judge, judge, words
from ltm.text.sentences import title_of

USER, AGENT = "user", "agent"
JOINS = "joins"
"""The question whether a sentence is one statement with the sentence before it."""

FEWEST, LONGEST = 3, 600
"""Words a statement has at least to be sure, and characters a sentence has at most."""
_MUCH = 1_500
"""Characters of speech from which a message is a document: then only requests are sure."""
_ASKED_FOR = 0.95
_TAKEN = 0.5
_LENGTHS = (1, 2, 3, 4, 6, 8, 11, 15, 20, 30, 50)
_QUOTE = re.compile(r"[\"“„«]")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_LEANS = re.compile(
    r"(?:(?:and|but|so|or|because|otherwise|also) )*"
    r"(?:it|it's|its|they|they're|their|them|that|that's|thats|this|these|those|he|she|same|then)\b"
    r"|(?:es|das (?:ist|war|hat|wird|muss|geht|gilt)|sie|deshalb|sonst|eso|esto|ça|c'est|elle"
    r"|isso|isto|ele|ela|questo|dat (?:is|moet)|to (?:jest|jest)|это|bu|それ|这|那)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Setting:
    """Where in a session a message stands."""

    speaker: str = USER
    first: bool = False
    """Whether the session begins with it."""
    asked: bool = False
    """Whether the words before it end with a question."""
    worked: bool = False
    """Whether tools ran since those words, or since the user spoke when it is the agent's."""
    failed: bool = False
    """Whether a command failed since the user spoke."""
    changed: bool = False
    """Whether a file was changed since the user spoke."""
    answer: str = ""
    """What the user said to it, when it is the agent's."""


ANYWHERE = Setting()


def sentences_of(text: str, setting: Setting) -> Sequence[Sentence]:
    """The sentences of a message that its writer wrote."""
    return said(text) if setting.speaker == USER else told(_without_emphasis(text))


def signs(spoken: Sequence[Sentence], place: int, setting: Setting) -> list[str]:
    """The signs of where a sentence stands, by which the judge knows them."""
    sentence = spoken[place]
    plain = sentence.text.rstrip()
    length = len(words(plain))
    size = next((each for each in _LENGTHS if length <= each), 99)
    found = [f"@length {size}", f"@place {min(place, 3)}", f"@sentences {min(len(spoken), 4)}"]
    named = {
        "@last": place == len(spoken) - 1,
        "@listed": sentence.listed,
        "@ruled": sentence.ruled,
        "@question": plain.endswith(("?", "？")),
        "@quoted": bool(_QUOTE.search(plain)),
        "@first": setting.first,
        "@first, alone": setting.first and len(spoken) == 1,
        "@asked": setting.asked,
        f"@asked, length {size}": setting.asked,
        f"@asked, place {min(place, 2)}": setting.asked,
        "@worked": setting.worked,
        "@failed": setting.failed,
        "@changed": setting.changed,
    }
    found += [name for name, holds in named.items() if holds]
    if place:
        found += _beginning("before", spoken[place - 1].text)
    if place + 1 < len(spoken):
        found += _beginning("after", spoken[place + 1].text)
        found += ["@question after"] * spoken[place + 1].text.rstrip().endswith(("?", "？"))
    return [*found, *_beginning("answer", setting.answer[:LONGEST])]


def _beginning(where: str, text: str) -> list[str]:
    begins = words(text[:80])[:2]
    return [f"@{where} {' '.join(begins[:n])}" for n in range(1, len(begins) + 1)]


def statements(
    text: str,
    kinds: Kinds,
    source: Source,
    setting: Setting = ANYWHERE,
    model: Judge | None = None,
) -> Iterator[Candidate]:
    """The statements of one message that are sure or likely to be meant to last."""
    model = model or judge()
    spoken = sentences_of(text, setting)
    likely, sure = model.tiers[setting.speaker]
    worth = [
        model.worth(setting.speaker, each.text, signs(spoken, place, setting))
        if len(each.text) <= LONGEST
        else 0.0
        for place, each in enumerate(spoken)
    ]
    if setting.speaker == USER:
        asked = [asked_for(each.text[:LONGEST]) for each in spoken]
    else:
        asked = [""] * len(spoken)
    for place in range(1, len(spoken)):
        if setting.speaker == USER and points_back(spoken[place].text[:LONGEST]):
            asked[place - 1] = asked[place - 1] or spoken[place - 1].text
            worth[place] = 0.0
    long = setting.speaker == USER and sum(len(each.text) for each in spoken) > _MUCH
    for group in _groups(spoken, worth, asked, likely, model):
        first = group[0]
        chosen = max(worth[place] for place in group)
        explicit = any(asked[place] for place in group)
        parts = [tidy(asked[place] or spoken[place].text) for place in group]
        whole = joined(*parts)
        if not whole or len(words(whole)) < 2:
            continue
        ordered = setting.speaker == USER and is_standing_order(spoken[first].text[:LONGEST])
        is_sure = (chosen >= sure or ordered) and not long and not _leans(spoken[first].text, whole)
        yield _candidate(
            whole,
            kinds,
            source,
            setting,
            model,
            weight=_ASKED_FOR if explicit else chosen,
            tier=Certainty.SURE if explicit or is_sure else Certainty.LIKELY,
        )


def _groups(
    spoken: Sequence[Sentence],
    worth: Sequence[float],
    asked: Sequence[str],
    likely: float,
    model: Judge,
) -> Iterator[list[int]]:
    """The places of the sentences that are worth something, with those that belong to them."""
    group: list[int] = []
    for place in range(len(spoken)):
        counts = bool(asked[place]) or worth[place] >= likely
        if group and (counts or worth[place] > 0) and _joins(spoken, place, model):
            group.append(place)
        elif counts:
            if group:
                yield group
            before = place - 1
            takes = place and not (group and group[-1] == before) and _joins(spoken, place, model)
            asks = place and spoken[before].text.rstrip().endswith(("?", "？"))
            group = [before, place] if takes and not asks and not asked[place] else [place]
        elif group:
            yield group
            group = []
    if group:
        yield group


def _joins(spoken: Sequence[Sentence], place: int, model: Judge) -> bool:
    """Whether a sentence is one statement with the one before it."""
    if spoken[place].listed or spoken[place].ruled or len(spoken[place].text) > LONGEST:
        return False
    return model.worth(JOINS, spoken[place].text, pair_signs(spoken, place)) >= _TAKEN


def pair_signs(spoken: Sequence[Sentence], place: int) -> list[str]:
    """The signs by which the judge knows what a sentence and the one before it are together."""
    before = spoken[place - 1].text.rstrip()
    length = len(words(before))
    size = next((each for each in _LENGTHS if length <= each), 99)
    ends = f"@before ends {before[-1:]}" if before[-1:] in "?!.:," else "@before ends"
    return [f"@before length {size}", ends, *signs(spoken, place, Setting())]


def _leans(first: str, whole: str) -> bool:
    """Whether a statement cannot be understood without what was said before it."""
    return bool(_LEANS.match(tidy(first))) or len(words(whole)) < FEWEST


def _candidate(
    text: str,
    kinds: Kinds,
    source: Source,
    setting: Setting,
    model: Judge,
    *,
    weight: float,
    tier: Certainty,
) -> Candidate:
    speaks = (f"@{setting.speaker}",)
    kind, _ = model.best("kind", text, speaks)
    impact, _ = model.best("impact", text, speaks)
    claim, reason = with_reason(text)
    return Candidate(
        kind=kind if kind in kinds else kinds.default.name,
        text=text,
        title=title_of(tidy(claim) if len(claim.split()) >= FEWEST else text),
        weight=weight,
        source=source,
        impact=Impact(impact),
        scope=infer_scope(text, model) if setting.speaker == USER else Scope.PROJECT,
        reason=reason,
        tier=tier,
    )


def _without_emphasis(text: str) -> str:
    """A text without marks of emphasis, which few have."""
    return _EMPHASIS.sub("", text) if "*" in text or "_" in text else text
