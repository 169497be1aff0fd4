"""All extractors over the turns of a session, in order.

The user is always listened to, the agent in its last words before the user speaks again, commands
while they run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ltm.capture.commands import Calls, FileEdit, Run
from ltm.capture.decide import Candidate, Certainty
from ltm.capture.discoveries import Achieved, Surroundings
from ltm.capture.fixes import Fixes
from ltm.capture.message import opening, said
from ltm.capture.provenance import Evidence
from ltm.capture.statements import (
    AGENT,
    Setting,
    cause_in,
    from_tasks,
    from_words,
    is_complete,
    notes,
    statements,
    withdraws,
)
from ltm.kinds import Kinds
from ltm.model import Source, Trust
from ltm.redact.redact import redacted
from ltm.sessions.turns import AssistantText, Command, Commit, ToolUse, Turn, UserText
from ltm.text.judge import Judge, judge
from ltm.text.sameness import holds, opposed, says_otherwise
from ltm.text.similarity import tokens_of

_TASK_LISTS = frozenset({"TodoWrite"})
_WRITING = frozenset({"Write"})
_PUTTING_AWAY = re.compile(r"\s*(?:cd \S+ && )?git (?:add|commit|push|tag|status)\b")
MOST = 12
"""Memories a stretch of a session may leave, and so many more for each further `_LONG` turns; the
surest are kept."""
_LONG = 500

_LOOKED_AT = 50_000
"""Characters of one message that are looked at. Secrets go first: a cut could hide half of one."""
_AT_ONCE = 400
_NOT_TRIED, _CHANGED, _PROVEN = range(3)
"""How far a cause the agent named went: nothing was done, something was changed, and it passed."""


class Listener:
    """Follows one session; `candidates` gives what is new since it was last asked."""

    def __init__(
        self,
        session: str,
        kinds: Kinds,
        state: str = "",
        *,
        evidence: Evidence | None = None,
        model: Judge | None = None,
    ) -> None:
        """`state` is what `state()` gave at the end of the stretch before, if there was one.

        `evidence` knows what the session was given; without it, only what is heard here counts.
        `model` judges what is said.
        """
        self._session = session
        self._kinds = kinds
        former = _loaded(state)
        self._calls = Calls(former.get("calls"))
        self._model = model or judge()
        self._surroundings = Surroundings(session, former.get("runs"))
        self._achieved = Achieved(former.get("achieved"))
        self._evidence = evidence or Evidence()
        self._fixes = Fixes(session, former.get("fixes"), self._model, self._evidence.folder)
        self._answered = bool(former)
        self._asked = bool(former.get("asked"))
        turns = former.get("turns")
        self._user_turns = turns if isinstance(turns, int) else 2 * bool(former)
        self._stated = str(former.get("stated", ""))
        self._worked = self._ran = self._failed = self._changed = False
        self._last: AssistantText | None = None
        self._cause: AssistantText | None = None
        self._explained: list[AssistantText] = []
        self._tried, self._proven = _NOT_TRIED, 0
        self._tasks: ToolUse | None = None
        self._found: list[Candidate] = []
        self._turns = 0

    def hear(self, turns: Iterable[Turn]) -> None:
        """Take more turns into account; what sub-agents say and do among themselves is left out."""
        for turn in turns:
            self._evidence.note(turn)
            if turn.sidechain:
                continue
            self._turns += 1
            if len(self._found) > _AT_ONCE:
                self._found = _best(self._found, self._kinds, _AT_ONCE // 2)
            self._from_tools(turn)
            match turn:
                case UserText():
                    self._task_over(turn.text)
                    self._fixes.next_task()
                    self._from_user(turn)
                    self._asked = self._worked = False
                    self._ran = self._failed = self._changed = False
                case Command():
                    self._task_over()
                case AssistantText(broken_off=False):
                    self._fixes.told(turn.text, turn.line)
                    self._last = turn
                    self._answered, self._worked = True, False
                    self._asked = turn.text.rstrip().endswith(("?", "？"))
                    self._explained.append(turn)
                case ToolUse():
                    self._answered = self._worked = True
                    if not _is_closing(turn):
                        self._last = None  # it was not the end yet
                    if turn.tool in _TASK_LISTS:
                        self._tasks = turn
                    elif turn.tool in _WRITING:
                        self._from_file(turn)
                case Commit():
                    source = self._by_agent(turn)
                    if not turn.own:  # written elsewhere: git only printed it
                        source = source._replace(trust=Trust.TOOL, tool="git")
                    if done := self._achieved.committed(turn.subject, turn.hash, source):
                        self._found.append(replace(done, at=turn.at))

    def candidates(self, *, at_end: bool = True) -> list[Candidate]:
        """What was learned so far; `at_end` says that the agent's last words may be its last.

        Whose word each of it really is, the evidence has not been asked about yet.
        """
        if at_end:
            self._task_over()
            if self._tasks is not None:
                source = self._by_agent(self._tasks)._replace(tool=self._tasks.tool)
                for each in from_tasks(self._tasks, source):
                    self._found.append(replace(each, at=self._tasks.at))
                self._tasks = None
        self._found += [*self._fixes.candidates(), *self._surroundings.candidates()]
        most = MOST * (1 + self._turns // _LONG)
        found, self._found = _best(self._found, self._kinds, most), []
        self._turns = 0
        return found

    def state(self) -> str:
        """What must be known when the session is read on: calls, failures, runs, achievements."""
        kept = {
            "calls": self._calls.state(),
            "fixes": self._fixes.state(),
            "runs": self._surroundings.state(),
            "achieved": self._achieved.state(),
            "asked": self._asked,
            "turns": self._user_turns,
            "stated": self._stated,
        }
        return json.dumps(kept, ensure_ascii=False)

    def _from_tools(self, turn: Turn) -> None:
        match self._calls.see(turn):
            case Run() as run:
                self._fixes.ran(run)
                self._surroundings.ran(run)
                self._ran, self._failed = True, self._failed or run.failed
                if self._tried != _NOT_TRIED:
                    self._find_cause()
                if self._tried != _NOT_TRIED:
                    self._tried = _CHANGED if run.failed else _PROVEN
                    self._proven = run.line
            case FileEdit() as change:
                self._fixes.changed(change)
                self._find_cause()
                self._changed, self._tried = True, _CHANGED

    def _find_cause(self) -> None:
        """The latest cause the agent named; it is looked for once something is tried."""
        for turn in reversed(self._explained):
            if cause_in(opening(turn.text, _LOOKED_AT), self._model):
                self._cause, self._tried = turn, _NOT_TRIED
                break
        self._explained.clear()

    def _from_user(self, turn: UserText) -> None:
        source = Source(Trust.USER, self._session, str(turn.line))
        text = redacted(opening(turn.text, _LOOKED_AT))
        setting = Setting(
            first=not self._answered,
            turn=self._user_turns,
            asked=self._asked,
            worked=self._worked,
        )
        self._user_turns += 1
        heard = list(notes(text, self._kinds, source)) or list(
            statements(text, self._kinds, source, setting, self._model)
        )
        former = self._stated if withdraws(said(text)) else ""
        known = [each for each in self._found if former and each.source.lines == former]
        if known:  # that was all of it, or its last part
            self._found.remove(known[-1])
        for each in heard:
            sure = former and known and known[-1].tier is Certainty.SURE
            tier = Certainty.SURE if sure else each.tier
            self._found.append(replace(each, at=turn.at, message=text, withdraws=former, tier=tier))
            former = ""
        self._stated = source.lines if heard else ""

    def _from_file(self, turn: ToolUse) -> None:
        """Notes the agent writes down, when it is told to keep them in a file."""
        path, text = turn.input.get("file_path"), turn.input.get("content")
        if not isinstance(path, str) or not isinstance(text, str) or not path.endswith(".md"):
            return
        noted = list(notes(redacted(opening(text, _LOOKED_AT)), self._kinds, self._by_agent(turn)))
        if len({each.kind for each in noted}) > 1:  # one such heading may stand in any document
            self._found += [replace(each, at=turn.at) for each in noted]

    def _task_over(self, answer: str = "") -> None:
        """Listen to the agent's last words on a task; `answer` is what the user says to them."""
        turn, self._last = self._last, None
        if self._tried == _PROVEN:
            self._find_cause()
        self._explained.clear()
        cause, self._cause = self._cause, None
        if cause is not None and cause is not turn and self._tried == _PROVEN:
            claim = cause_in(redacted(opening(cause.text, _LOOKED_AT)), self._model)
            source = self._by_agent(cause)._replace(lines=f"{cause.line}-{self._proven}")
            self._found.append(Candidate("gotcha", claim, 0.6, source, at=cause.at))
        if turn is None:
            return
        source = self._by_agent(turn)
        text = redacted(opening(turn.text, _LOOKED_AT))
        setting = Setting(
            AGENT, worked=self._ran, failed=self._failed, changed=self._changed, answer=answer
        )
        heard = list(notes(text, self._kinds, source)) or list(
            statements(text, self._kinds, source, setting, self._model)
        )
        steps = list(from_words(text, source))
        if steps:  # a list says where the work stands better than a sentence
            heard = [each for each in heard if not self._kinds[each.kind].single]
        elif is_complete(text):  # then what was left before is done
            self._found = [each for each in self._found if not self._kinds[each.kind].single]
        self._found += [replace(each, at=turn.at) for each in (*heard, *steps)]

    def _by_agent(self, turn: Turn) -> Source:
        return Source(Trust.ASSISTANT, self._session, str(turn.line))


def _is_closing(turn: ToolUse) -> bool:
    """Whether a call only puts away what is finished: then the words before it were the last."""
    return turn.tool in _TASK_LISTS or bool(_PUTTING_AWAY.match(str(turn.input.get("command", ""))))


def _loaded(state: str) -> dict[str, Any]:
    try:
        value = json.loads(state)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _best(found: list[Candidate], kinds: Kinds, most: int) -> list[Candidate]:
    """The surest of what was found, each thing once, in the order it was said.

    Of where the agent says the work stands only the latest counts, what the user says of it stays;
    of two that say the same, the surer.
    """
    latest: list[Candidate] = []
    single: set[str] = set()
    for candidate in reversed(found):
        state = kinds[candidate.kind].single and candidate.source.trust is not Trust.USER
        if state and candidate.kind in single:
            continue
        if state:
            single.add(candidate.kind)
        latest.append(candidate)
    words = {id(each): tokens_of(each.text) for each in found}
    kept: list[Candidate] = []
    for candidate in sorted(latest, key=lambda each: (each.tier is Certainty.LIKELY, -each.weight)):
        own = words[id(candidate)]
        near = [each for each in kept if not own or not own.isdisjoint(words[id(each)])]
        if any(holds(known.text, candidate.text) for known in near):
            continue
        less = [each for each in near if _says_less(each, candidate)]
        if less:  # the fuller one takes the place of what it holds
            kept = [each for each in kept if not any(each is other for other in less[1:])]
            kept[next(at for at, each in enumerate(kept) if each is less[0])] = candidate
        elif sum(each.tier is candidate.tier for each in kept) < most:
            kept.append(candidate)
    chosen = {id(candidate) for candidate in kept}
    ordered = [each for each in found if id(each) in chosen]
    return [
        each
        for place, each in enumerate(ordered)
        if not any(
            not words[id(each)].isdisjoint(words[id(later)]) and _takes_back(later, each)
            for later in ordered[place + 1 :]
        )
    ]


def _takes_back(later: Candidate, former: Candidate) -> bool:
    """Whether the user said a thing otherwise later in the session: only the last form counts."""
    if later.source.trust is not Trust.USER or later.source.lines == former.source.lines:
        return False
    if opposed(later.text, former.text):
        return True
    # The same words in another order: "tabs over spaces", and then "spaces over tabs".
    turned = tokens_of(later.text) == tokens_of(former.text) and later.text != former.text
    return turned or (later.changed and says_otherwise(later.text, former.text))


def _says_less(former: Candidate, candidate: Candidate) -> bool:
    """Whether a thing learned is wholly within another one of its sort, said by the same."""
    alike = former.tier is candidate.tier and former.source.trust is candidate.source.trust
    return alike and holds(candidate.text, former.text)
