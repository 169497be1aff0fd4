"""Structured notes: sections of decisions, patterns and issues, a bullet each.

    ## Decisions          - what: why
    ## Patterns           - what
    ## Issues             - what: open|resolved

Owns the format, wherever such notes stand: in a message, in a session note, in a file. Pure;
imports `core` and this package.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from ltm.capture.decide import Candidate
from ltm.capture.message import tidy
from ltm.errors import WrongUsage
from ltm.kinds import Kinds
from ltm.model import Source
from ltm.text.sentences import title_of

_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$")
_BULLET = re.compile(r"^[-*+]\s+(?:\[[ xX]\]\s+)?(?P<text>\S.*)$")
_PLACEHOLDER = re.compile(r"\A\[[^\]\n]*\]\Z|\A\.{3}\Z|\A(?:none|n/a|tbd)\.?\Z", re.IGNORECASE)
_SECTIONS = ("decisions", "patterns", "issues", "gotchas", "facts", "learnings", "preferences")
_STATE = re.compile(r"[:–—-]\s*\(?(open|resolved)\)?\s*\Z", re.IGNORECASE)


def notes(
    text: str, kinds: Kinds, source: Source, sections: Collection[str] = _SECTIONS
) -> Iterator[Candidate]:
    """Candidates from every bullet of a section whose heading names a kind, in the plural."""
    kind = ""
    depth = 0
    for line in text.split("\n"):
        heading = _HEADING.match(line)
        if heading:
            level, name = len(heading[1]), heading[2].strip().lower()
            if name in sections:
                kind, depth = _kind(name, kinds), level
            elif level <= depth:
                kind = ""  # a deeper heading only groups the section's bullets
            continue
        bullet = _BULLET.match(line)
        if not kind or not bullet:
            continue
        what = bullet["text"].strip()
        if not _PLACEHOLDER.match(what) and len(what.split()) >= 2:
            yield _candidate(what, kind, kinds, source)


def _candidate(what: str, kind: str, kinds: Kinds, source: Source) -> Candidate:
    if kinds[kind].states:
        state = _STATE.search(what)
        text = tidy(_STATE.sub("", what))
        return Candidate(
            kind, text, 0.9, source, state=state[1].lower() if state else kinds[kind].states[0]
        )
    claim, reason = _split(what)
    return Candidate(kind, tidy(what), 0.9, source, title=title_of(tidy(claim)), reason=reason)


def _split(what: str) -> tuple[str, str]:
    """What and why, at the last colon and blank that do not stand in code."""
    claim, colon, reason = what.rpartition(": ")
    if not colon or claim.count("`") % 2 or len(claim.split()) < 2:
        return what, ""
    return claim, reason.strip(" .")


def _kind(name: str, kinds: Kinds) -> str:
    try:
        return kinds.parse(name).name
    except WrongUsage:
        return kinds.default.name
