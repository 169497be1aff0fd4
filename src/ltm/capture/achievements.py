"""Commits worth remembering: releases, features, migrations; not every commit.

Owns which subjects count, by whole words. Pure; imports `core` and this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ltm.capture.candidate import Candidate
from ltm.core.model import Impact, Source
from ltm.core.redact import redacted
from ltm.core.sentences import shortened

_SKIPPED = re.compile(
    r"\A(?:wip|fixup!?|squash!?|amend!?|merge|revert|bump|chore|ci|style|docs?|test|build)\b"
    r"|\A\[(?:skip|wip)|\b(?:rename|typo|whitespace|format(?:ting)?|lint|clean ?up|comment)s?\b",
    re.IGNORECASE,
)
_RULES: tuple[tuple[re.Pattern[str], Impact], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), impact)
    for pattern, impact in (
        (r"\b(?:release[ds]?|releasing)\b|\bversion\s+v?\d+\.\d+|\Av\d+\.\d+", Impact.HIGH),
        (r"\b(?:launch(?:ed|es|ing)?|milestone|ship(?:ped|s)?|deploy(?:ed)?)\b", Impact.HIGH),
        (r"\A(?:feat|feature)(?:\([^)]*\))?!?:\s+\S", Impact.MEDIUM),
        (
            r"\A(?:add|implement|create|build|introduce)(?:ed|s)?\b.*\b(?:command|feature|module"
            r"|hook|"
            r"system|api|endpoint|page|integration|support|backend|service|client|importer"
            r"|parser)\b",
            Impact.MEDIUM,
        ),
        (r"\Arefactor(?:ed|s)?\b.*\b(?:split|extract|replace|separat|move)\w*", Impact.MEDIUM),
        (r"\bmigrat(?:e|ed|es|ion)\b", Impact.MEDIUM),
        (r"\b(?:complete[ds]?|finish(?:ed|es)?)\b", Impact.MEDIUM),
        (r"\bfix(?:ed|es)?\b.*\b(?:critical|major|security|data loss|race)\b", Impact.HIGH),
        (r"\b100\s?%\s*(?:coverage|tests?)\b", Impact.MEDIUM),
    )
)
_TYPE = re.compile(r"\A\w+(?:\([^)]*\))?!?:\s+")


def achievement(subject: str, commit: str, source: Source) -> Iterator[Candidate]:
    """The achievement a commit is, if it is one."""
    plain = redacted(" ".join(subject.split()))
    if _SKIPPED.search(plain) or len(plain.split()) < 2:
        return
    for pattern, impact in _RULES:
        if pattern.search(plain):
            said = _TYPE.sub("", plain)
            said = said[0].upper() + said[1:]
            yield Candidate(
                kind="achievement",
                title=shortened(said, 80),
                text=f"{said} (commit {commit[:8]}).",
                weight=0.6,
                source=source,
                impact=impact,
            )
            return
