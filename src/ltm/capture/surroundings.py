"""Facts about the surroundings that a command proved: where a server listens, how tests are run.

Only what one would not guess counts: `pytest` in a Python project is not news, the same inside a
container is. Owns following the commands that passed. Pure; imports `core` and this package.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ltm.capture.calls import Run
from ltm.capture.candidate import Candidate
from ltm.capture.commands import is_particular, parse, purpose, stem_of, teaches
from ltm.core.model import Source, Trust
from ltm.core.sentences import shortened

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
_PORT = re.compile(r"[tT01\]]:\d\d|[pP][oO][rR][tT] \d\d")  # what every such place ends with
_HOOK = re.compile(r"pre-?commit|husky|lint-staged|commit-msg|lefthook|overcommit", re.IGNORECASE)
_CHECKED = "a hook checks commits"
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
        if run.failed:
            self._look_for_hook(run)
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

    def _look_for_hook(self, run: Run) -> None:
        """A commit that a hook refused shows what commits have to pass here."""
        hook = _HOOK.search(run.output) if "git commit" in run.command else None
        if hook and not self._passes[_CHECKED]:
            self._passes[_CHECKED] += 1
            self._tell(f"Commits are checked by a hook before they are made: {hook[0]}.", run)

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
