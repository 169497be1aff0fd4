"""Facts that commands proved (ports, test commands), and commits worth remembering.

Only what cannot be guessed counts: `pytest` in a Python project is not news, the same inside a
container is. Of commits releases, features and migrations count, each feature once in a session.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ltm.capture.commands import Run, is_particular, parse, purpose, stem_of, teaches
from ltm.capture.decide import Candidate
from ltm.errors import LtmError, NotFound, WrongUsage
from ltm.model import Impact, Source, Trust
from ltm.redact.redact import redacted
from ltm.store.share import git, made_here
from ltm.text.sentences import shortened

_OUTPUT = 4_000
_MOST = 50
_PROVEN = 2
"""Passes after which a command is how something is done here."""

_LISTENS = re.compile(
    r"\b(?:listen\w*|serving|served|running|started|ready|available|local|network|open|bound|up)\b"
    r"[^\n]{0,60}?(?P<where>(?:https?://)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])"
    r":(?P<port>\d{2,5})|\bport (?P<bare>\d{2,5})\b)",
    re.IGNORECASE,
)
_PORT = re.compile(r"(?:[tT\]]|\.[01]):\d\d|[pP][oO][rR][tT] \d\d")  # the end of every such place
_WHAT = {"test": "Run the tests with", "build": "Build with"}


class Surroundings:
    """Watches the commands of one session."""

    def __init__(self, session: str, state: Any = None) -> None:
        """`state` is what `state()` gave when an earlier stretch of the session ended."""
        self._session = session
        counted = state if isinstance(state, dict) else {}
        self._passes = Counter({str(k): v for k, v in counted.items() if isinstance(v, int)})
        self._found: list[Candidate] = []

    def ran(self, run: Run) -> None:
        """Take one more command into account."""
        if run.failed or not teaches(run.command):
            return
        what = _WHAT.get(purpose(run.command))
        if what is None:
            self._look_for_address(run)
        elif is_particular(run.command):
            stem = stem_of(run.command)
            self._passes[stem] += 1
            if self._passes[stem] == _PROVEN:
                self._tell(f"{what} `{shortened(stem, 120)}`.", run, done=stem)

    def state(self) -> dict[str, int]:
        """How often what passed, for the next stretch."""
        return dict(self._passes.most_common(_MOST))

    def candidates(self) -> Iterator[Candidate]:
        """What was proven since this was last asked for."""
        found, self._found = self._found, []
        yield from found

    def _look_for_address(self, run: Run) -> None:
        output = run.output[:_OUTPUT]
        where = _LISTENS.search(output) if _PORT.search(output) else None
        port = where and (where["port"] or where["bare"])
        if where and port and port not in run.command:
            address = where["where"] if where["port"] else f"port {port}"
            command = shortened(parse(run.command).whole(), 100)
            self._tell(f"`{command}` listens on {address}.", run)

    def _tell(self, text: str, run: Run, done: str = "") -> None:
        source = Source(Trust.ASSISTANT, self._session, str(run.line), "Bash")
        title = shortened(text.partition(": ")[0].rstrip("."), 80)
        found = Candidate("fact", text, 0.6, source, title, observed=text, done=done, at=run.at)
        self._found.append(found)


_SKIPPED = re.compile(
    r"\A(?:wip|fixup!?|squash!?|amend!?|merge|revert|bump|chore|ci|style|docs?|test|build)\b"
    r"|\A\[(?:skip|wip)|\b(?:rename|typo|whitespace|format(?:ting)?|lint|clean ?up|comment)s?\b",
    re.IGNORECASE,
)
_ACHIEVED = {
    Impact.HIGH: re.compile(
        r"\b(?:release[ds]?|releasing)\b|\bversion\s+v?\d+\.\d+|\Av\d+\.\d+"
        r"|\b(?:launch(?:ed|es|ing)?|milestone|ship(?:ped|s)?|deploy(?:ed)?)\b"
        r"|\bfix(?:ed|es)?\b.*\b(?:critical|major|security|data loss|race)\b",
        re.IGNORECASE,
    ),
    Impact.MEDIUM: re.compile(
        r"\A(?:feat|feature)(?:\([^)]*\))?!?:\s+\S"
        r"|\A(?:add|implement|create|build|introduce)(?:ed|s)?\b.*\b(?:command|feature|module|hook"
        r"|system|api|endpoint|page|integration|support|backend|service|client|importer|parser)\b"
        r"|\Arefactor(?:ed|s)?\b.*\b(?:split|extract|replace|separat|move)\w*"
        r"|\bmigrat(?:e|ed|es|ion)\b|\b(?:complete[ds]?|finish(?:ed|es)?)\b"
        r"|\b100\s?%\s*(?:coverage|tests?)\b",
        re.IGNORECASE,
    ),
}
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

    def committed(self, subject: str, commit: str, source: Source) -> Candidate | None:
        """The achievement a commit is, unless its feature was told already."""
        named = _FEATURE.search(subject)
        feature = redacted(named["scope"] or named["ticket"]) if named else commit[:7]
        if feature in self._told or len(self._told) >= MOST:
            return None
        found = achievement(subject, commit, source)
        self._told += [feature] * bool(found)
        return found

    def state(self) -> list[str]:
        """The features that were told, for the next stretch."""
        return self._told


def achievement(subject: str, commit: str, source: Source) -> Candidate | None:
    """The achievement a commit is, if it is one."""
    plain = redacted(" ".join(subject.split()))
    impact = next((each for each, words in _ACHIEVED.items() if words.search(plain)), None)
    if impact is None or _SKIPPED.search(plain) or len(plain.split()) < 2:
        return None
    said = _TYPE.sub("", plain)
    said = said[0].upper() + said[1:]
    text, title = f"{said} (commit {commit[:8]}).", shortened(said, 80)
    return Candidate(
        "achievement", text, 0.6, source, title, impact=impact, observed=text, done=said
    )


_FORMAT = "%H%x1f%s%x1f%aI%x1e"


def from_git(folder: str, hours: int) -> Iterator[Candidate]:
    """The achievements among the commits of the last so many hours, oldest first."""
    if hours < 1:
        raise WrongUsage("the time to look back is at least one hour", hint="try: --since 24")
    since = f"--since={hours} hours ago"
    done = git(folder, "log", "--no-merges", "--reverse", since, f"--format={_FORMAT}")
    if done.returncode != 0:
        told = done.stderr.decode(errors="replace").strip().splitlines()
        if any("does not have any commits" in line for line in told):
            return
        if any("not a git repository" in line for line in told):
            raise NotFound(
                "is not a git repository, so there are no commits to look at",
                path=folder,
                hint="name one that is: ltm achievements --project DIR",
            )
        raise LtmError(told[-1] if told else "git log failed", path=folder)
    here = made_here(folder)
    for row in done.stdout.decode(errors="replace").split("\x1e"):
        parts = row.strip("\n").split("\x1f")
        if len(parts) == 3:
            commit, subject, at = parts
            trust = Trust.ASSISTANT if commit in here else Trust.TOOL
            source = Source(trust, tool=f"git {commit[:12]}")
            if found := achievement(subject, commit, source):
                yield replace(found, at=at)
