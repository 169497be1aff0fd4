"""Commits worth remembering: releases, features, migrations; not every commit.

Owns which subjects count, by whole words, and that a session tells a feature once, however many
commits it took. Pure; imports `core` and this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

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
# What commits name that belong together: a scope, or the ticket they are for.
_FEATURE = re.compile(
    r"\A\w+\((?P<scope>[^)]+)\)!?:|(?P<ticket>\b[A-Z]{2,}-\d+|(?<!\w)#\d+|\([\w-]+-\w+)"
)
MOST = 3
"""Achievements of one session; the rest is in the history of the repository."""


class Achieved:
    """What one session has achieved so far."""

    def __init__(self, state: Any = None) -> None:
        """`state` is what `state()` gave when an earlier stretch of the session ended."""
        listed = state if isinstance(state, list) else []
        self._told = [each for each in listed if isinstance(each, str)][:MOST]

    def committed(self, subject: str, commit: str, source: Source) -> Iterator[Candidate]:
        """The achievement a commit is, unless its feature was told already."""
        named = _FEATURE.search(subject)
        feature = redacted(named["scope"] or named["ticket"]) if named else commit[:7]
        if feature in self._told or len(self._told) >= MOST:
            return
        for found in achievement(subject, commit, source):
            self._told.append(feature)
            yield found

    def state(self) -> list[str]:
        """The features that were told, for the next stretch."""
        return self._told


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
                observed=f"{said} (commit {commit[:8]}).",
                done=said,
            )
            return
