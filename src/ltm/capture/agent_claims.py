"""Conclusions and next steps the agent states.

What the agent states at the end of a task: causes it found, choices it made, traps it met.

Only the last words before the user speaks again count: on the way there an agent guesses aloud.
Pure; imports `core` and this package.

Where the work stands at the end: what is done, and what is next.

Taken from the agent's own task list, from what its last words name as left to do, or from the user,
who says where to go on. A task that is wholly done leaves nothing to continue. Pure; imports
`core`, the turns of `sessions` and this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ltm.capture.decide import Candidate
from ltm.capture.message import opening, repaired, said, tidy, told, with_reason
from ltm.model import Impact, Source
from ltm.redact.redact import redacted
from ltm.sessions.turns import ToolUse
from ltm.text.sentences import shortened

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
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_FEWEST, _MOST_WORDS = 4, 60
_WORTH = 6


def lessons(text: str, source: Source) -> Iterator[Candidate]:
    """Candidates from the agent's last words on a task."""
    said = [(_without_emphasis(each.text), each.lead) for each in told(text)]
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
        plain = _without_emphasis(each.text)
        found = (_FOUND_IT if for_sure else _FOUND_OUT).match(plain)
        if (found or _CAUSE.search(plain)) and _is_claim(plain, _FEWEST):
            return tidy(plain[found.end() :] if found else _IS_THAT.sub("", _LABEL.sub("", plain)))
    return ""


def diagnosis_in(text: str) -> str:
    """The first sentence of a text that explains rather than reports or announces, or nothing."""
    for each in told(text)[:3]:
        plain = _without_emphasis(each.text)
        if _is_claim(plain, _FEWEST) and not _REPORT.match(plain) and len(plain) <= 200:
            return tidy(plain)
    return ""


def _without_emphasis(text: str) -> str:
    """A text without marks of emphasis, which few have."""
    return _EMPHASIS.sub("", text) if "*" in text or "_" in text else text


def _is_choice(claim: str, lead: str) -> bool:
    if _CHOICE.search(claim):
        return True
    return bool(_LIST_OF_CHOICES.search(lead) and _GIVES_REASON.search(claim))


def _is_claim(plain: str, fewest: int) -> bool:
    """Whether a sentence states something: no question, no announcement, no guess."""
    words = len(plain.split())
    ends = plain.rstrip().endswith(("?", ":"))
    return fewest <= words <= _MOST_WORDS and not ends and not _DOUBT.search(plain)


_LEFT = (
    r"(?:next(?: steps?| up)?|remaining(?: work| tasks?| items?| steps?)?|still (?:to do|open"
    r"|missing"
    r"|left|pending)|to[- ]?dos?(?: next)?|what(?:'s| is) (?:left|next|missing|still open)"
    r"|not (?:yet )?"
    r"(?:done|finished)(?: yet)?|left to do|(?:still )?open(?: points?| items?| tasks?)?"
    r"|outstanding|pending"
    r"|follow[- ]?ups?)"
)
_HEADING = re.compile(rf"(?:\A|[.!]\s)\W*{_LEFT}\W*\Z", re.IGNORECASE)
_INLINE = re.compile(
    rf"(?:^|[.!;]\s+)\W{{0,6}}{_LEFT}\s*:\s+(?P<what>\S.{{8,400}})"
    r"|\b(?:the )?(?:next step|next up|what remains|what is left|remaining work) is\s+"
    r"(?P<that>\S.{8,300})",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+(?:\[ \]\s+)?(?P<text>\S.*)$")
_OFFER = re.compile(
    r"\b(?:let me know|would you like|do you want|if you(?:'d| would)? like|want me to|shall i"
    r"|should i|optional|you (?:can|could|may|might)|consider)\b|\?\s*\Z",
    re.IGNORECASE,
)
_DAY = (
    r"(?:tomorrow|next (?:week|weekend|session|month|monday|tuesday|wednesday|thursday|friday)"
    r"|(?:on )?(?:monday|tuesday|wednesday|thursday|friday)|after the weekend|later this week"
    r"|when (?:we|i|you) (?:continue|come back|resume|are back|go on|pick (?:this|it) up)"
    r"|when (?:i'm|we're) back)"
)
_GO_ON = re.compile(
    rf"\b{_DAY}\s*:\s*\S|\b{_DAY}\b[\s,]+(?:we|i|let's|please|you|comes?|continue|go on|start)\b"
    rf"|\b(?:continue|go on|carry on|pick up|resume|start) (?:with|at|from)\b.*\b{_DAY}\b"
    rf"|\A(?:the )?(?:next|the rest|remaining|what's left|still open)\b.*\b{_DAY}\b"
    r"|\A(?:the )?(?:current )?status\b.{0,30}:|\bso you know where we (?:are|stand)\b.{0,20}:",
    re.IGNORECASE,
)
_COMPLETE = re.compile(
    r"\A\W{0,4}all done\b|\beverything (?:is|was) (?:done|complete|finished|implemented)\b"
    r"|\b(?:is|are) (?:now )?(?:fully |entirely |all )?(?:complete|implemented|finished)"
    r"(?: and|[.!]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_DAYS = ("tomorrow", "tmrw", "next ", "day", "weekend", "week", "when ", "status", "stand", "where")
_MOST_STEPS = 6


def from_words(text: str, source: Source) -> Iterator[Candidate]:
    """The next steps the agent names in its last words on a task."""
    steps: list[str] = []
    listing = False
    for line in text.split("\n"):
        if _HEADING.search(line[-100:]):
            listing = True
            continue
        bullet = _BULLET.match(line)
        if listing and bullet:
            steps.append(_plain(bullet["text"]))
        elif listing and line.strip():
            listing = not steps and line.rstrip().endswith(":")
    if not steps:
        for paragraph in text.split("\n"):
            found = _INLINE.search(_MARKUP.sub("", paragraph[:1_000]))
            if found:
                steps.append(_plain(found["what"] or found["that"]))
    steps = [step for step in steps if step and not _OFFER.search(step)]
    if steps:
        yield _candidate((), steps, source)


def is_complete(text: str) -> bool:
    """Whether the agent says that nothing of the work is left."""
    return bool(_COMPLETE.search(text[:1_000]))


def from_user(text: str, source: Source) -> Iterator[Candidate]:
    """Where the user says to go on, another day."""
    for each in said(text):
        low = each.text.lower()
        if not any(word in low for word in _DAYS):
            continue
        plain = repaired(each.text)
        found = _GO_ON.search(plain) if len(plain) < 400 and not plain.endswith("?") else None
        if found and len(plain.split()) > 3:
            yield Candidate(
                kind="progress",
                title=shortened(tidy(plain).rstrip("."), 80),
                text=tidy(plain),
                weight=0.75,
                source=source,
                impact=Impact.MEDIUM,
            )
            return


def from_tasks(turn: ToolUse, source: Source) -> Iterator[Candidate]:
    """What a task list says when some of it is done and some is not."""
    todos = turn.input.get("todos")
    if not isinstance(todos, list):
        return
    done: list[str] = []
    left: list[str] = []
    for todo in todos:
        if isinstance(todo, dict) and isinstance(todo.get("content"), str):
            task = _plain(redacted(opening(todo["content"], 1_000)))
            (done if todo.get("status") == "completed" else left).append(task)
    if done and left:
        yield _candidate(done, left, source)


_MARKUP = re.compile(r"\*\*|__|`{3,}")


def _candidate(done: Sequence[str], left: Sequence[str], source: Source) -> Candidate:
    parts = []
    if done:
        parts.append(f"Done: {'; '.join(done[-_MOST_STEPS:])}.")
    parts.append(f"Next: {'; '.join(left[:_MOST_STEPS])}.")
    return Candidate(
        kind="progress",
        title=shortened(f"Next: {left[0]}", 80),
        text="\n\n".join(parts),
        weight=0.7,
        source=source,
        impact=Impact.MEDIUM,
        fleeting=True,
    )


def _plain(text: str) -> str:
    return shortened(" ".join(_MARKUP.sub("", text).split()).rstrip(".;,"), 240)
