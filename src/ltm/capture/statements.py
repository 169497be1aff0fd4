"""What the user says that is meant to last: orders, wishes, choices, facts, corrections.

Owns one table of rules, each a way people put such things, tried sentence by sentence on the user's
own words. Precision comes before recall: a wrong memory costs more than a missing one, so
questions, doubts, one-off tasks and pasted text give nothing. Pure; imports `core` and this
package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ltm.capture.candidate import Candidate
from ltm.capture.plainwords import is_long, spoken, tidy, with_reason
from ltm.core.infer import infer_impact, infer_kind, infer_scope
from ltm.core.kinds import Kinds
from ltm.core.model import Impact, Source


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to say something that lasts."""

    name: str
    pattern: re.Pattern[str]
    weight: float
    kind: str = ""
    """The kind it makes; '' leaves it to the words."""
    explicit: bool = False
    """Whether it is a sure sign even inside a long, document-like message."""
    corrects: bool = False
    """Whether it counts only when the user corrects what the agent just did."""


def _rule(name: str, pattern: str, weight: float, kind: str = "", **flags: bool) -> Rule:
    return Rule(name, re.compile(pattern, re.IGNORECASE), weight, kind, **flags)


_BEGIN = (
    r"(?:\A|[,;:.–—-]\s+|\b(?:and|but|so|please|also|just|then|ok|okay|hey|no|should|must|to)"
    r"[,]?\s+)"
)
_NOT_A_VERB = (
    r"(?!mind\b|get\b|see\b|forget|run into\b|hit\b|end up\b"
    r"|been\b|had\b|was\b|were\b|is\b|are\b|seen\b|got\b|gets\b|knew\b|heard\b|worked\b"
    r"|works\b|ends?\b|comes?\b|happens?\b|did\b|does\b|the case\b|a\b|an\b|the\b|that\b|this\b"
    r"|it\b"
    r"|going to\b|wanted\b|thought\b|felt\b|came\b|seems?\b|fails?\b|crash|break|hang|return(?:s"
    r"|ed)\b"
    r"|\w+ing\b|\w{2,}(?<!need)(?<!feed)(?<!embed)ed\b)"
)
_HERE = (
    r"(?:this|the|our) (?:project|repo|repository|codebase|code base|monorepo|app|team|company"
    r"|organi[sz]ation|backend|front-?end|service|stack|pipeline)"
)

RULES: tuple[Rule, ...] = (
    _rule(
        "asked to remember",
        r"\b(?<!do you )(?<!i )(?<!can't )(?<!cannot )(?:remember|memori[sz]e|keep in mind|bear"
        r" in mind"
        r"|make (?:a )?note|take note|note (?=that|:)|don'?t forget that|do not forget that"
        r"|save (?:this|that|it) (?:to|in) (?:your |the )?memory|add (?:this|that|it) to (?:your"
        r" )?memory"
        r"|for (?:the|future) (?:record|reference))"
        r"\b(?!\s+(?:when|how|why|what|who|last|if|the time|correctly|right|me\b))"
        r"[\s,:–—-]*(?:that|this|to)?\b[\s,:–—-]*(?P<what>\S.{8,})",
        0.95,
        explicit=True,
    ),
    _rule(
        "from now on",
        r"\b(?:from now on|going forward|from here on(?: out)?|from this point on"
        r"|(?:in|for) (?:the )?future[,:]?\s+(?:please|always|never|don'?t|do not|use|run|make"
        r"|keep|put"
        r"|write|add|ask|check|avoid|you)|next time[,:]?\s+(?:please|always|never|don'?t|do not"
        r"|use|run"
        r"|ask|check|make|you))\b",
        0.9,
        "preference",
        explicit=True,
    ),
    _rule(
        "always or never",
        rf"{_BEGIN}(?:do )?(?:always|never|don'?t ever"
        rf"|do not ever)\s+{_NOT_A_VERB}[a-z][a-z'-]+\s+\S",
        0.85,
        "preference",
    ),
    _rule(
        "we always or never",
        rf"\b(?:we|you should|you must|i)\s+(?:should |must )?(?:always|never)\s+{_NOT_A_VERB}"
        r"(?!\w+s\s)[a-z][a-z'-]+\s+\S",
        0.8,
        "pattern",
    ),
    _rule(
        "whenever",
        r"\A(?:please )?(?:whenever|every time|each time|any time|anytime) (?:you|we"
        r"|there)\b[^,]{4,90},"
        r"\s*(?:please )?(?:also )?(?:always |never |don'?t |do not |make sure|run|update|add"
        r"|use|write|"
        r"check|ask|bump|rebuild|regenerate|include|create|remove|keep|put|commit|restart|you )",
        0.85,
        "preference",
    ),
    _rule(
        "prefers",
        r"\b(?:i|we)(?:'d| would| really| strongly| generally| usually)*\s+"
        r"(?:prefer|rather(?: have| you| use| not))\s+\S+\s+\S|\bmy preference (?:is|would be)\b"
        r"|\b(?:i|we)\s+(?:really |absolutely )?(?:hate|dislike|can'?t stand|don'?t like"
        r"|do not like|"
        r"love|like)\s+(?:it when|when|seeing|having|to (?:see|have|keep)|[a-z]+ing\b|short"
        r"|small|long|"
        r"verbose|terse|explicit|simple|plain|descriptive|named)\s+\S",
        0.85,
        "preference",
    ),
    _rule(
        "decided",
        r"\b(?:we|i|team|they)(?:'ve| have| had| all| both| just| finally| already)*\s+"
        r"(?:decided|agreed|chose|chosen|opted|settled|picked|elected|went with|standardi[sz]ed on"
        r"|are going with|will go with|(?:switched|moved|migrated) (?:from \S+ )?to)\b\s+\S"
        r"|\bwe(?:'re|'ll) go(?:ing)?(?: to go)? with\b|\A(?:the )?decision\s*(?:is|:)\s+\S",
        0.85,
        "decision",
    ),
    _rule(
        "chosen over",
        r"\b(?:let'?s|we(?:'ll| will| should)?|we'?re|i want to|i'?d like to)\s+(?:just )?"
        r"(?:go(?:ing)? with|us(?:e|ing)|stick(?:ing)? (?:with|to)|keep(?:ing)?"
        r"|switch(?:ing)? to)\s+.+?"
        r"\b(?:instead of|rather than|over|not|because|since|so that)\s+\S",
        0.8,
        "decision",
    ),
    _rule(
        "we use",
        r"\A(?:\w+[,:]\s+)?(?:here,? |in (?:this|our) \w+,? )?(?:we|our team)\s+(?:only |all "
        r"|mostly |"
        r"currently )?(?:use|are using|run|deploy|target|support|write|follow|build|host|keep"
        r"|store|"
        r"release|ship|name|squash|rebase|pin|mock|test|log|require|have to support)\b\s+\S+",
        0.75,
    ),
    _rule(
        "this project is",
        rf"\b{_HERE}\s+(?:only |always |never |mainly |currently )?(?:uses?|runs?|targets?"
        rf"|requires?|"
        r"supports?|follows?|deploys?|relies|depends|is (?:written|built|hosted|deployed|based)"
        r"|lives|"
        r"must|cannot|can'?t|has to|doesn'?t (?:use|support|allow))\b\s+\S",
        0.75,
    ),
    _rule(
        "where it is",
        r"\b(?:the|our|my)\s+(?:[\w-]+\s+){1,5}?(?:lives? (?:in|at|on|under)|runs? on|listens? on|"
        r"is (?:at|located|hosted|deployed|stored|kept|served|defined|configured) (?:in|at|on"
        r"|under|to|by)?"
        r"|(?:is|are) (?:in|under) (?:the )?`?[\w./-]+/|must (?:be|have|stay|run|use|never|not"
        r"|always)|"
        r"(?:expires?|rotates?|resets?) (?:every|after|on))\b\s*\S",
        0.6,
    ),
    _rule(
        "everything must",
        r"\A(?:all|every|each|any|no|new|our)\s+(?:[\w-]+\s+){1,4}?(?:must|should|needs? to"
        r"|has to|have to"
        r"|may|goes?|go)\s+(?:always |never |not )?[a-z]+\s+\S",
        0.7,
        "pattern",
    ),
    _rule(
        "who the user is",
        r"\bi(?:'m| am)\s+(?:an? |the |new to |not (?:very )?familiar with |colou?r ?blind"
        r"|the only )"
        r"(?:[\w-]+\s+){0,3}?(?:engineer|developer|scientist|designer|student|manager|founder"
        r"|teacher|"
        r"researcher|admin|administrator|maintainer|beginner|programmer|analyst|writer|devops"
        r"|react|rust|"
        r"python|elixir|go|typescript|kubernetes|\w+)\b|\bmy (?:time ?zone|name|editor|shell|os"
        r"|role|"
        r"pronouns|native language|first language) (?:is|are)\s+\S|\bcall me\s+[A-Z]",
        0.6,
        "relationship",
    ),
    _rule(
        "by when",
        r"\b(?:deadline|code freeze|feature freeze|release date|launch|demo|go-?live|cut-?off)\s+"
        r"(?:is|starts?|begins?|for \S+ is|will be|moved to)\s+(?:on |at |in |by |due )?\S+",
        0.6,
        "context",
    ),
    _rule(
        "not that but this",
        r"\b(?:use|run|call|write|put|name|import|return|say|test with|build with|deploy with"
        r"|do)\s+\S.*?"
        r"(?:,? (?:and |but )?not\b|\binstead(?: of)?\b|\brather than\b)"
        r"|\binstead of\s+\S.+?,\s*(?:use|run|call|do|write|put)\b|\bshould (?:be|use|go"
        r"|have been)\b.+\bnot\b",
        0.75,
        "preference",
        corrects=True,
    ),
    _rule(
        "do not",
        r"\A(?:please |and |also |just |so |no[,.!]+ |hey[,.!]+ |again[,:]? )*(?:don'?t|do not"
        r"|avoid|"
        r"no more|quit|stop(?= \w+ing\b))\s+(?!worry|know|think|see|understand|care|mind|get\b"
        r"|have\b|"
        r"need|believe|want|be\b|forget|bother|hesitate|do (?:that|it|this)\b|that\b|it\b|this\b)"
        r"[a-z-]+\s+\S",
        0.7,
        "preference",
        corrects=True,
    ),
    _rule(
        "do not, ever",
        r"\A(?:please |and |also |just |so )*(?:don'?t|do not|avoid|no)\s+[a-z-]+\s+.*\b(?:ever"
        r"|again|"
        r"anymore|any more|without (?:asking|my|permission|approval|telling)|unless i|in this"
        r" (?:repo|"
        r"project|codebase))\b",
        0.8,
        "preference",
    ),
)

_DOUBT = re.compile(
    r"\b(?:maybe|perhaps|not sure|might be|i wonder|should we|do we|could we|what if|i guess|i"
    r" suppose"
    r"|possibly|would it|can you (?:check|see|tell)|do you (?:know|think|remember))\b",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:docs?|documentation|readme|error|message|log|output|it|he|she|they|article|post"
    r"|linter)\s+"
    r"(?:says?|said|claims?|tells? me|states?|suggests?|recommends?)\b|\baccording to\b",
    re.IGNORECASE,
)
_FOR_NOW = re.compile(
    r"\b(?:yet|for now|right now|this time|just this once|at the moment|today|tonight|for the"
    r" moment"
    r"|temporarily|in this (?:pr|commit|branch|case|file|function|task|session)|for this (?:pr"
    r"|commit"
    r"|task|one|change|test))\b",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"\A\s*(?:no\b(?! (?:problem|worries|need|rush|idea|thanks))|nope\b|wrong\b|not (?:like|what"
    r"|that|quite)"
    r"\b|that'?s (?:not|wrong)|this is (?:not|wrong)|actually\b|don'?t\b|do not\b|stop\b|wait\b"
    r"|hold on\b"
    r"|i (?:said|told you|meant|asked)\b|you (?:forgot|should|were supposed|keep|didn'?t|did it"
    r" again)\b"
    r"|why (?:did|are|do) you\b|again[,:]|please (?:don'?t|do not|stop)|undo\b|revert\b|avoid\b)",
    re.IGNORECASE,
)
_FEWEST, _MOST = 3, 60


def statements(
    text: str, kinds: Kinds, source: Source, *, answers: bool = True
) -> Iterator[Candidate]:
    """Candidates from one message of the user; `answers` says that the agent had spoken before."""
    long = is_long(text)
    said = spoken(text)
    correction = answers and not long and bool(_CORRECTION.match(text)) and len(said) <= 4
    for place, sentence in enumerate(said):
        rule = _first(sentence, long=long, correction=correction)
        if rule is None:
            continue
        found = rule.pattern.search(sentence)
        what = found.groupdict().get("what") if found else None
        claim, reason = with_reason(tidy(what or sentence))
        claim = tidy(claim)
        if not reason and place + 1 < len(said):
            reason = _next_reason(said[place + 1])
        if len(claim.split()) < _FEWEST:
            continue
        yield Candidate(
            kind=rule.kind or infer_kind(claim, kinds),
            text=f"{claim[:-1]} because {reason}." if reason else claim,
            weight=rule.weight,
            source=source,
            impact=_impact(sentence),
            scope=infer_scope(sentence),
            reason=reason,
        )


def _first(sentence: str, *, long: bool, correction: bool) -> Rule | None:
    """The first rule a sentence fits, if it is a statement at all."""
    words = sentence.split()
    if not _FEWEST <= len(words) <= _MOST:
        return None
    explicit_only = long
    if sentence.rstrip().endswith("?") or _DOUBT.search(sentence) or _REPORTED.search(sentence):
        explicit_only = True
    for rule in RULES:
        if (explicit_only and not rule.explicit) or (rule.corrects and not correction):
            continue
        if rule.pattern.search(sentence) and (rule.explicit or not _FOR_NOW.search(sentence)):
            return None if sentence.rstrip().endswith("?") and not rule.explicit else rule
    return None


def _impact(sentence: str) -> Impact:
    """As inferred, but "always" alone is no matter of life and death."""
    impact = infer_impact(sentence)
    grave = re.search(r"\b(?:never|critical|crucial|vital|essential)\b", sentence, re.IGNORECASE)
    return Impact.HIGH if impact is Impact.CRITICAL and not grave else impact


_BECAUSE = re.compile(
    r"\A(?:that'?s |this is |it'?s )?because\s+|\A(?:the )?reason(?: is|:)(?: that)?\s+", re.I
)


def _next_reason(sentence: str) -> str:
    opening = _BECAUSE.match(sentence)
    return sentence[opening.end() :].strip(" .!") if opening else ""
