"""The signals of a conversation by the rules that were checked on real sessions.

Owns the order in which turns become signals. A signal needs a reason in the transcript's own
verdicts (`is_error`) or in the user's own words; machine signals only corroborate. Saving one's
work, a pause and an end are checkpoints, unless a reaction of the user is among the last eight
signals. Imports `sessions.turns` and this package.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence

from ltm.friction.heard import Heard, Signal, seconds_between
from ltm.friction.loops import COMMANDS, EDITS, Loops
from ltm.friction.reactions import asks, is_correction, is_curse, is_pasted
from ltm.friction.ruleset import Rules
from ltm.friction.window import MESSAGES, cut, window
from ltm.sessions.turns import (
    AssistantText,
    Command,
    Compaction,
    Interruption,
    ToolResult,
    ToolUse,
    Turn,
    UserText,
)

CASCADE = 60
"""Seconds between two interruptions that are a cascade."""
_ONE_KEY = 2
"""Seconds within which two interruptions without an answer between them are one."""
_LOOK_BACK = 8
_LAST = 5
_ABANDONED = 8
_QUIET = frozenset(("exit_success", "checkpoint"))
_BREAKS = frozenset(("exit_error", "false_success", "request_interrupted", "interrupt_cascade"))
_MATTERS = COMMANDS | EDITS | {""}
"""Tools whose failure leaves work undone; what was looked for in vain does not."""
_STASH = re.compile(r"\s*/(?:[\w-]+:)?stash\b", re.IGNORECASE)
_CLAIM = re.compile(
    r"\b(?:done|completed?|fixed|success(?:ful(?:ly)?)?|works?\s+now|all\s+tests\s+pass)\b|✅",
    re.IGNORECASE,
)
# What a user who stopped an agent twice says is a wish only if it says how to do it.
_WISH = re.compile(
    r"\b(?:don'?t|do\s+not|never|always|instead|only|not|stop|should|must|use)\b", re.IGNORECASE
)
_SIBLING = "<tool_use_error>Sibling tool call errored"
_TOLD = "the user said:\n"
_NOTE = "\n\nNote: The user's next message"
_FAILED_TEXT = re.compile(r"^(?:Error:\s*)?(?:Exit code [1-9]|Traceback \(most recent)", re.M)
_SAID = 200
_STATEMENT = 300


class Detector:
    """Hears the messages of one conversation, in order, and notes what went wrong."""

    def __init__(self, heard: Heard, rules: Rules) -> None:
        self._heard = heard
        self._rules = rules
        self._ring: deque[Sequence[Turn]] = deque(maxlen=MESSAGES)
        self._loops = Loops()
        self._asked_before: set[str] = set()
        self._acted = False
        """Whether the agent did anything yet that could be wrong."""
        self._asks = False
        self._claimed = False
        self._unresolved = ""
        """The tool whose failure nothing has made good yet."""
        self._unanswered = False
        """Whether the user's last reaction has had no answer."""
        self._prompted = ""
        self._interrupted: Signal | None = None
        self._cascade: Signal | None = None
        """A cascade after which the user has not said yet what they want instead."""

    def hear(self, message: Sequence[Turn]) -> None:
        """Take in one message with all it holds."""
        first = message[0]
        if first.sidechain:
            return
        heard = self._heard
        heard.messages += 1
        if first.at:
            heard.started = heard.started or first.at
            heard.ended = max(heard.ended, first.at)
        known = len(heard.signals)
        for turn in message:
            if isinstance(turn, ToolUse):
                self._acted = True
                self._asks = turn.tool in ("AskUserQuestion", "ExitPlanMode")
                self._unanswered = False
                self._loops.call(turn)
            elif isinstance(turn, ToolResult):
                self._result(turn)
            elif isinstance(turn, AssistantText):
                self._acted = True
                self._asks = asks(turn.text)
                self._claimed = self._claimed or _CLAIM.search(turn.text[:2_000]) is not None
                self._unanswered = False
            elif isinstance(turn, UserText):
                self._user(turn)
            elif isinstance(turn, Interruption):
                self._interruption(turn)
            elif isinstance(turn, Command):
                if _STASH.match("/" + turn.name.lstrip("/")):
                    self._stash(turn)
            elif isinstance(turn, Compaction):
                self._add("compaction", turn, turn.trigger or "compacted")
        self._ring.append(message)
        for signal in heard.signals[known:]:
            if signal.name in self._rules.anchors:
                heard.windows.append(window(signal, self._ring))

    def finish(self) -> Heard:
        """The conversation is over: what can only be told at its end."""
        heard = self._heard
        heard.signals.sort(key=lambda signal: signal.at)  # forks may have been read out of order
        loud = [signal for signal in heard.signals if signal.name not in _QUIET]
        end = Signal("", heard.ended)
        left = self._unresolved or self._unanswered
        if left and 1 <= heard.turns <= 3 and loud and loud[-1].name in _BREAKS:
            heard.signals.append(Signal("rapid_exit", end.at, f"{heard.turns} turns"))
        intervened = heard.saw("user_intervention")
        if self._unresolved and not intervened and heard.turns > 1:
            detail = f"the last {self._unresolved} failed"
            heard.signals.append(Signal("no_resolution", end.at, detail))
        weight = sum(map(self._rules.weight_of, loud[-_LAST:]))
        if left and weight >= _ABANDONED and not intervened and heard.turns > 2:
            reacted = any(signal.is_reaction for signal in loud[-_LOOK_BACK:])
            name = "session_abandoned" if reacted else "checkpoint"
            signal = Signal(name, end.at, f"friction at the end: {weight:g}")
            heard.signals.append(signal)
            if reacted:
                heard.windows.append(window(signal, self._ring))
        return heard

    # -- the user --------------------------------------------------------------------------------

    def _user(self, turn: UserText) -> None:
        self._heard.turns += 1
        self._silence(turn)
        self._loops.clear()
        self._claimed = False
        asked, self._asks = self._asks, False
        if _STASH.match(turn.text):
            self._stash(turn)
            return
        if is_pasted(turn.text):
            return
        self._reaction(turn, turn.text, asked=asked)
        if self._cascade is not None and _WISH.search(turn.text[:_STATEMENT]):
            self._cascade.statement = cut(turn.text, _STATEMENT)
        self._cascade = None
        start = turn.text[:100].strip().lower()
        if len(start) > 20:
            if start in self._asked_before:
                self._add("repeated_question", turn, cut(turn.text, _SAID))
            self._asked_before.add(start)

    def _reaction(self, turn: Turn, text: str, *, asked: bool) -> None:
        if not self._acted:
            return  # nothing was done yet that these words could be about
        for name, found in (
            ("user_correction", is_correction(text, asked=asked, did=self._doings)),
            ("user_curse", is_curse(text)),
        ):
            if found:
                signal = self._add(name, turn, cut(text, _SAID))
                signal.statement = cut(text, _STATEMENT)
                self._unanswered = True

    def _doings(self) -> str:
        """What the agent said and did in its last messages."""
        return "\n".join(
            turn.text[:2_000] if isinstance(turn, AssistantText) else repr(turn.input)[:2_000]
            for message in self._ring
            for turn in message
            if isinstance(turn, AssistantText | ToolUse)
        )

    def _interruption(self, turn: Interruption) -> None:
        before = self._interrupted
        gap = seconds_between(before.at, turn.at) if before is not None else None
        if gap is not None and 0 <= gap <= _ONE_KEY and not self._acted_since():
            return
        self._interrupted = self._add(
            "request_interrupted", turn, "in a tool" if turn.in_tool else "in an answer"
        )
        self._unanswered = True
        if gap is not None and 0 <= gap <= CASCADE:
            signal = self._add("interrupt_cascade", turn, f"stopped again after {gap:.0f} s")
            signal.more["gap_seconds"] = round(gap, 1)
            self._cascade = signal

    def _acted_since(self) -> bool:
        """Whether the agent or the user did anything since the message before."""
        last = self._ring[-1] if self._ring else ()
        return not any(isinstance(turn, Interruption) for turn in last)

    def _stash(self, turn: Turn) -> None:
        name = "user_intervention" if self._reacted_lately() else "checkpoint"
        self._add(name, turn, "/stash")

    def _silence(self, turn: UserText) -> None:
        before, self._prompted = self._prompted, turn.at
        gap = seconds_between(before, turn.at)
        if gap is None or gap <= self._rules.silence * 60:
            return
        name = "long_silence" if self._reacted_lately() else "checkpoint"
        signal = self._add(name, turn, f"{gap / 60:.0f} minutes of silence")
        signal.more["gap_minutes"] = round(gap / 60, 1)

    def _reacted_lately(self) -> bool:
        loud = [each for each in self._heard.signals[-50:] if each.name not in _QUIET]
        return any(signal.is_reaction for signal in loud[-_LOOK_BACK:])

    # -- tools -----------------------------------------------------------------------------------

    def _result(self, turn: ToolResult) -> None:
        if turn.refused:
            words = turn.text.partition(_TOLD)[2].partition(_NOTE)[0].strip()
            if words and turn.tool != "ExitPlanMode":  # a plan is there to be talked about
                self._refusal(turn, words)
            return
        if turn.text.startswith(_SIBLING):
            self._sibling(turn)
            return
        loop = self._loops.result(turn)
        if turn.failed or (not turn.judged and _looks_failed(turn)):
            self._add("exit_error", turn, f"{turn.tool or 'a tool'} failed")
            # A file that is not there says nothing about whether the work was done.
            if self._claimed and (turn.tool in COMMANDS or not turn.tool):
                self._add("false_success", turn, f"success was claimed, then {turn.tool} failed")
            self._claimed = False
            if turn.tool in _MATTERS:
                self._unresolved = turn.tool or "tool"
        elif turn.tool in COMMANDS:
            self._add("exit_success", turn, f"{turn.tool} succeeded")
            self._unresolved = ""
            self._claimed = False
        elif self._unresolved not in COMMANDS:
            self._unresolved = ""  # what was looked for or edited in vain was found another way
        if loop is not None:
            self._heard.signals.append(loop)

    def _refusal(self, turn: ToolResult, words: str) -> None:
        """The user would not let a tool run and said why: a correction in so many words."""
        signal = self._add("user_correction", turn, cut(words, _SAID))
        signal.statement = cut(words, _STATEMENT)

    def _sibling(self, turn: ToolResult) -> None:
        """Calls cancelled together are one signal."""
        last = self._heard.signals[-1] if self._heard.signals else None
        if last is not None and last.name == "sibling_tool_error" and last.at == turn.at:
            last.more["batch_size"] += 1
            last.more["tools_affected"].append(turn.tool)
            return
        signal = self._add("sibling_tool_error", turn, "cancelled")
        signal.more = {"batch_size": 1, "tools_affected": [turn.tool]}

    def _add(self, name: str, turn: Turn, details: str) -> Signal:
        signal = Signal(name, turn.at, details, turn.uuid)
        self._heard.signals.append(signal)
        return signal


def _looks_failed(turn: ToolResult) -> bool:
    """Where the client gave no verdict: what a command or an unknown tool printed tells."""
    if turn.tool in COMMANDS:
        return _FAILED_TEXT.search(turn.text[:20_000]) is not None
    return not turn.tool and _FAILED_TEXT.match(turn.text) is not None
