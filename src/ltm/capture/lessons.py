"""What the agent states at the end of a task: causes it found, choices it made, traps it met.

Only the last words before the user speaks again count: on the way there an agent guesses aloud.
Pure; imports `core` and this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ltm.capture.candidate import Candidate
from ltm.capture.plainwords import spoken, tidy, with_reason
from ltm.core.model import Source

_CAUSE = re.compile(
    r"\b(?:the )?(?:root cause|underlying (?:cause|issue|problem)|real (?:cause|issue|problem)"
    r"|culprit)\b"
    r"\s*(?:was|is|turned out|:)|\b(?:it )?turn(?:s|ed) out(?: that)?\b"
    r"|\bthe (?:problem|issue|bug|failure|error|crash|test failure|regression)\s+(?:was|came from|"
    r"happened because|occurred because|stemmed from)\s+(?!fixed|resolved|gone|that you)\S",
    re.IGNORECASE,
)
_TRAP = re.compile(
    r"\A(?:\*\*)?(?:gotcha|pitfall|caveat|lesson(?: learned)?|watch out|beware|important|key"
    r" (?:insight|"
    r"lesson|takeaway|finding)|note for (?:the )?future)(?:\*\*)?\s*:(?:\*\*)?\s+\S",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    r"\b(?:i|we)(?:'ve| have)?\s+(?:decided|chose|opted|went with|settled on|kept|picked|used)\b.+"
    r"\b(?:because|since|over|instead of|rather than|so that)\b\s+\S"
    r"|\A(?:\*\*)?(?:design )?decision(?:\*\*)?\s*:(?:\*\*)?\s+\S",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:might|maybe|perhaps|probably|possibly|could be|may be|seems?|appears?|i think|likely"
    r"|let me"
    r"|i'?ll|should i|would you|do you want|if you)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"\A\W*(?:gotcha|pitfall|caveat|lesson(?: learned)?|important|key (?:insight|lesson|takeaway"
    r"|finding)"
    r"|note for (?:the )?future|(?:design )?decision|root cause)\W*:\W*",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_FEWEST, _MOST = 6, 60


def lessons(text: str, source: Source) -> Iterator[Candidate]:
    """Candidates from the agent's last words on a task."""
    for sentence in spoken(text):
        plain = _MARKUP.sub("", sentence)
        if not _FEWEST <= len(plain.split()) <= _MOST or plain.rstrip().endswith(("?", ":")):
            continue
        if _DOUBT.search(plain):
            continue
        if _CAUSE.search(plain) or _TRAP.match(sentence):
            yield Candidate("gotcha", tidy(_LABEL.sub("", plain)), 0.7, source)
        elif _CHOICE.search(plain):
            claim, reason = with_reason(tidy(_LABEL.sub("", plain)))
            text = f"{claim.rstrip('.')} because {reason}." if reason else tidy(claim)
            yield Candidate("decision", text, 0.65, source, reason=reason)


def cause_in(text: str) -> str:
    """The sentence of a text that says what was wrong, or nothing."""
    for sentence in spoken(text):
        plain = _MARKUP.sub("", sentence)
        if _CAUSE.search(plain) and not _DOUBT.search(plain) and len(plain.split()) <= _MOST:
            return tidy(_LABEL.sub("", plain))
    return ""
