"""All extractors over the turns of a session, in order: what it taught, without any model.

Owns who is listened to and when: the user always, the agent in its last words before the user
speaks again, commands while they run. Pure; imports `core`, the turns of `sessions` and this
package.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ltm.capture.achievements import achievement
from ltm.capture.candidate import Candidate
from ltm.capture.fixes import Fixes
from ltm.capture.lessons import lessons
from ltm.capture.notes import notes
from ltm.capture.progress import from_tasks, from_words
from ltm.capture.statements import statements
from ltm.core.kinds import Kinds
from ltm.core.model import Source, Trust
from ltm.core.similar import jaccard, tokens_of
from ltm.sessions.turns import AssistantText, Command, Commit, ToolUse, Turn, UserText

_TASK_LISTS = frozenset({"TodoWrite"})
MOST = 12
"""Memories a stretch of a session may leave; the surest are kept."""

_SAME, _PART = 0.6, 0.85


class Listener:
    """Follows one session; `candidates` gives what is new since it was last asked."""

    def __init__(self, session: str, kinds: Kinds, state: str = "") -> None:
        """`state` is what `state()` gave at the end of the stretch before, if there was one."""
        self._session = session
        self._kinds = kinds
        former = _loaded(state)
        self._fixes = Fixes(session, former.get("fixes"))
        self._answered = bool(former)
        self._last: AssistantText | None = None
        self._tasks: ToolUse | None = None
        self._found: list[Candidate] = []

    def hear(self, turns: Iterable[Turn]) -> None:
        """Take more turns into account; those of sub-agents only as commands that ran."""
        for turn in turns:
            if turn.sidechain:
                continue
            self._fixes.see(turn)
            match turn:
                case UserText():
                    self._task_over()
                    self._from_user(turn)
                case Command():
                    self._task_over()
                case AssistantText(broken_off=False):
                    self._last = turn
                    self._answered = True
                case ToolUse():
                    self._last = None  # it was not the end yet
                    if turn.tool in _TASK_LISTS:
                        self._tasks = turn
                case Commit():
                    for each in achievement(turn.subject, turn.hash, self._by_agent(turn)):
                        self._found.append(replace(each, at=turn.at))

    def candidates(self, *, at_end: bool = True) -> list[Candidate]:
        """What was learned so far; `at_end` says that the agent's last words may be its last."""
        if at_end:
            self._task_over()
            if self._tasks is not None:
                for each in from_tasks(self._tasks, self._by_agent(self._tasks)):
                    self._found.append(replace(each, at=self._tasks.at))
                self._tasks = None
        self._found += self._fixes.candidates()
        found, self._found = _best(self._found, self._kinds), []
        return found

    def state(self) -> str:
        """What must be known when the session is read on: what was failing and is not mended."""
        return json.dumps({"fixes": self._fixes.state()}, ensure_ascii=False)

    def _from_user(self, turn: UserText) -> None:
        source = Source(Trust.USER, self._session, str(turn.line))
        noted = list(notes(turn.text, self._kinds, source))
        self._found += noted or statements(turn.text, self._kinds, source, answers=self._answered)

    def _task_over(self) -> None:
        turn, self._last = self._last, None
        if turn is None:
            return
        source = self._by_agent(turn)
        noted = list(notes(turn.text, self._kinds, source))
        found = [*(noted or lessons(turn.text, source)), *from_words(turn.text, source)]
        self._found += [replace(each, at=turn.at) for each in found]

    def _by_agent(self, turn: Turn) -> Source:
        return Source(Trust.ASSISTANT, self._session, str(turn.line))


def _loaded(state: str) -> dict[str, Any]:
    try:
        value = json.loads(state)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _best(found: list[Candidate], kinds: Kinds) -> list[Candidate]:
    """The surest of what was found, each thing once, in the order it was said.

    Of where the work stands only the latest counts; of two that say the same, the surer.
    """
    latest: list[Candidate] = []
    single: set[str] = set()
    for candidate in reversed(found):
        if candidate.kind in single:
            continue
        if kinds[candidate.kind].single:
            single.add(candidate.kind)
        latest.append(candidate)
    kept: list[Candidate] = []
    for candidate in sorted(latest, key=lambda each: -each.weight):
        if not any(_repeats(candidate.text, other.text) for other in kept):
            kept.append(candidate)
    chosen = kept[:MOST]
    return [candidate for candidate in found if any(candidate is each for each in chosen)]


def _repeats(text: str, other: str) -> bool:
    """Whether a text says nothing that the other does not."""
    words, known = tokens_of(text), tokens_of(other)
    return jaccard(words, known) >= _SAME or len(words & known) >= _PART * len(words)
