"""What the agent states at the end of a task: causes it found, choices it made, traps it met.

Only the last words before the user speaks again count: on the way there an agent guesses aloud.
Pure; imports `core` and this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ltm.capture.candidate import Candidate
from ltm.capture.plainwords import tidy, with_reason
from ltm.capture.speech import told
from ltm.core.model import Source

_CAUSE = re.compile(
    r"\b(?:the )?(?:root cause|underlying (?:cause|issue|problem)|real (?:cause|issue|problem)"
    r"|culprit)\b"
    r"\s*(?:was|is|turned out|:)|\b(?:it )?turn(?:s|ed) out(?: that)?\b"
    r"|\b(?:the )?cause (?:was|is)\b"
    r"|\bthe (?:[\w'`./-]+ ){1,6}(?:came from|was caused by|were caused by|happened because) \S"
    r"|\bthe (?:problem|issue|bug|failure|error|crash|test failure|regression)\s+(?:was|came from|"
    r"happened because|occurred because|stemmed from)\s+(?!fixed|resolved|gone|that you)\S",
    re.IGNORECASE,
)
_IS_THAT = re.compile(
    r"\A(?:the )?(?:\w+ )?(?:cause|issue|problem|culprit) (?:was|is) that (?=\S+ )"
    r"|\A(?:it )?turn(?:s|ed) out(?: that)? (?=\S+ )",
    re.IGNORECASE,
)
_FOUND_IT = re.compile(r"(?:found|got) it\s*[:,.!–—-]+\s*(?=\S)", re.IGNORECASE)
_FOUND_OUT = re.compile(
    rf"{_FOUND_IT.pattern}|(?:(?:ah|ok|so|now),? )?"
    r"(?:i (?:see|found|understand|know)(?: now)?,? )?(?:the|what the"
    r"|that's the)"
    r" (?:real |actual )?(?:issue|problem|cause)\s*(?:is that|is|:|[-–—]+)\s+(?=\S)",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"\A(?:what i |the |key |main |design |important |one |a )*(?P<what>gotchas?"
    r"|things? (?:i|we)(?:'ve)? (?:learned|learnt)[^:]{0,30}|pitfalls?|caveats?"
    r"|lessons?|learned|learnt|watch out|beware|takeaways?|insights?|findings?|cause|root cause"
    r"|traps?|note for (?:the )?future|decisions?|choice|(?<=key )fix)(?: (?:here|learned|learnt"
    r"|for next time|for the future|made|in this session))?\s*:\s+(?=\S)",
    re.IGNORECASE,
)
_CHOSEN = re.compile(r"decisions?|choice", re.IGNORECASE)
_CHOICE = re.compile(
    r"\b(?:i|we)(?:'ve| have)?\s+(?:decided|chose|opted|went with|settled on|kept|picked|used)\b"
    r".+\b(?:because|since|over|instead of|rather than|so that)\b\s+\S",
    re.IGNORECASE,
)
_LIST_OF_CHOICES = re.compile(r"\b(?:decided|decisions?|chose|choices)\b", re.IGNORECASE)
_GIVES_REASON = re.compile(r"\b(?:because|since|so that|to (?:avoid|keep|save))\b|: ", re.I)
_DOUBT = re.compile(
    r"\b(?:might|maybe|perhaps|probably|possibly|could be|may be|seems?"
    r"|appears? (?:to|that)|i think|likely|let me|i need to|i'?ll|i will|i'd|i would|should i"
    r"|shall i|would you|do you want|if you)\b",
    re.IGNORECASE,
)
_REPORT = re.compile(
    r"\A(?:now|next|first|then|done|fixed|good|great|perfect|ok(?:ay)?|all|both|here|there (?:is"
    r"|are)"
    r"|i|we|running|looking|checking|continuing|committed|added|updated|created"
    r"|the tests? (?:pass|are|is|now|suite))\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_FEWEST, _MOST = 4, 60
_WORTH = 6


def lessons(text: str, source: Source) -> Iterator[Candidate]:
    """Candidates from the agent's last words on a task."""
    said = [(_plain(each.text), each.lead) for each in told(text)]
    for place, (plain, lead) in enumerate(said):
        label = _LABEL.match(plain)
        claim = plain[label.end() :] if label else plain
        if not _is_claim(claim, _FEWEST if label else _WORTH):
            continue
        if (label and _CHOSEN.match(label["what"])) or _is_choice(claim, lead):
            what, reason = with_reason(tidy(claim))
            stated = f"{tidy(what).rstrip('.')} because {reason}." if reason else tidy(what)
            yield Candidate("decision", stated, 0.65, source, reason=reason)
        elif label or _CAUSE.search(claim):
            more = said[place + 1][0] if label and place + 1 < len(said) else ""
            if len(claim.split()) < 2 * _WORTH and _is_claim(more, _FEWEST):
                claim = f"{tidy(claim)} {more}"  # a short lesson goes on in the next sentence
            yield Candidate("gotcha", tidy(_IS_THAT.sub("", claim)), 0.7, source)


def cause_in(text: str, *, for_sure: bool = False) -> str:
    """The sentence of a text that says what was wrong, or nothing.

    With `for_sure` only where it is called the cause: what is called an issue may be a detail.
    """
    for each in told(text):
        plain = _plain(each.text)
        found = (_FOUND_IT if for_sure else _FOUND_OUT).match(plain)
        if (found or _CAUSE.search(plain)) and _is_claim(plain, _FEWEST):
            return tidy(plain[found.end() :] if found else _IS_THAT.sub("", _LABEL.sub("", plain)))
    return ""


def diagnosis_in(text: str) -> str:
    """The first sentence of a text that explains rather than reports or announces, or nothing."""
    for each in told(text)[:3]:
        plain = _plain(each.text)
        if _is_claim(plain, _FEWEST) and not _REPORT.match(plain) and len(plain) <= 200:
            return tidy(plain)
    return ""


def _plain(text: str) -> str:
    """A text without marks of emphasis, which few have."""
    return _MARKUP.sub("", text) if "*" in text or "_" in text else text


def _is_choice(claim: str, lead: str) -> bool:
    if _CHOICE.search(claim):
        return True
    return bool(_LIST_OF_CHOICES.search(lead) and _GIVES_REASON.search(claim))


def _is_claim(plain: str, fewest: int) -> bool:
    """Whether a sentence states something: no question, no announcement, no guess."""
    words = len(plain.split())
    ends = plain.rstrip().endswith(("?", ":"))
    return fewest <= words <= _MOST and not ends and not _DOUBT.search(plain)
