"""The signals of a conversation by the classic rules, to the letter, so that both can be compared.

Known to be wrong on real sessions: it reads exit codes from texts, takes any "/stash" for trouble
and any "no" for a negation, and misses results that are lists. Nothing is learned from what it
finds.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from ltm.friction.ruleset import MESSAGES, Heard, Rules, Signal, cut, seconds_between, window
from ltm.sessions.claude_code import turns_of
from ltm.sessions.port import text_of

_CURSE = re.compile(r"\b(fuck|shit|damn)\b", re.IGNORECASE)
_NEGATION = re.compile(r"\b(no|didn't work|still broken)\b", re.IGNORECASE)
_CLAIM = re.compile(r"\b(done|complete|success|✅)\b", re.IGNORECASE)
_STOPPED_RESULT = re.compile(r"Exit code 137|Request interrupted|interrupted by user", re.I)
_STOPPED_TEXT = re.compile(r"Request interrupted|interrupted by user", re.IGNORECASE)
_FAILED = re.compile(r"Exit code [1-9]|Traceback \(most recent|CalledProcessError")
_SUCCEEDED = re.compile(r"Exit code 0")
_SIBLING = "<tool_use_error>Sibling tool call errored</tool_use_error>"
_AT_THE_END: Mapping[str, float] = {
    "exit_error": 1,
    "user_curse": 5,
    "user_negation": 1,
    "tool_loop": 6,
    "false_success": 8,
    "request_interrupted": 4,
    "interrupt_cascade": 7,
    "repeated_question": 3,
}
_ABANDONED = 8
_CASCADE = 60
_SAID = 200


class ClassicDetector:
    def __init__(self, heard: Heard, rules: Rules) -> None:
        self._heard = heard
        self._rules = rules
        self._ring: deque[tuple[dict[str, Any], int]] = deque(maxlen=MESSAGES)
        self._before: list[Signal] = []
        self._questions: list[Signal] = []
        self._events: list[Signal] = []
        self._cascades: list[Signal] = []
        self._asked: set[str] = set()
        self._calls: dict[str, int] = {}
        self._tools: dict[str, str] = {}
        self._claimed = False
        self._prompted = ""
        self._interrupted = ""

    def hear(self, entry: dict[str, Any], line: int) -> None:
        what = entry.get("type")
        at = text_of(entry.get("timestamp"))
        if at:
            self._heard.started = self._heard.started or at
            self._heard.ended = max(self._heard.ended, at)
        if what == "progress":
            what, entry = _nested(entry)
        if what == "summary":
            said = text_of(entry.get("summary"))
            if said and "exited" not in said:
                self._before.append(Signal("compaction", at, "summary"))
        if what not in ("user", "assistant"):
            return
        self._heard.messages += 1
        self._ring.append((entry, line))
        events, cascades = len(self._events), len(self._cascades)
        uuid = text_of(entry.get("uuid"))
        content = _content(entry)
        if what == "user":
            self._user(content, at, uuid, nested=entry.get("type") != "user")
        else:
            self._assistant(content, at, uuid)
        for signal in (*self._events[events:], *self._cascades[cascades:]):
            if signal.name in self._rules.anchors:
                self._keep_window(signal)

    def finish(self) -> Heard:
        """The conversation is over: the signals in the order of the rules."""
        heard = self._heard
        events = [
            each for each in self._events if heard.is_interactive or each.name != "user_negation"
        ]
        heard.signals = [*self._before, *self._questions, *_batched(events), *self._cascades]
        last = heard.signals[-1].name if heard.signals else ""
        if 1 <= heard.turns <= 3 and last in ("exit_error", "request_interrupted"):
            heard.signals.append(Signal("rapid_exit", heard.ended, f"{heard.turns} turns"))
        calm = heard.saw("exit_success") or heard.saw("user_intervention")
        if heard.saw("exit_error") and not calm and heard.turns > 1:
            heard.signals.append(Signal("no_resolution", heard.ended, "no success"))
        weight = sum(_AT_THE_END.get(signal.name, 0) for signal in heard.signals[-5:])
        if weight >= _ABANDONED and not calm and heard.turns > 2:
            signal = Signal("session_abandoned", heard.ended, f"friction at the end: {weight:g}")
            heard.signals.append(signal)
            self._keep_window(signal)
        return heard

    def _user(self, content: str | list[Any], at: str, uuid: str, *, nested: bool) -> None:
        if isinstance(content, str) and not nested:
            self._heard.turns += 1
            gap = seconds_between(self._prompted, at)
            if gap is not None and gap > self._rules.thresholds["long_silence_minutes"] * 60:
                signal = Signal("long_silence", at, f"{gap / 60:.0f} minutes", uuid)
                signal.more["gap_minutes"] = round(gap / 60, 1)
                self._before.append(signal)
            self._prompted = at
        if isinstance(content, list):
            for block in content:
                if isinstance(block, dict) and block.get("type") == "tool_result":
                    self._result(block, at, uuid)
        said = _said(content)
        if not said:
            return
        start = said.strip().lower()[:100]
        if start in self._asked and len(start) > 20:
            self._questions.append(Signal("repeated_question", at, cut(said, _SAID), uuid))
        self._asked.add(start)
        if "/stash" in said.lower():
            self._add("user_intervention", at, cut(said, _SAID), uuid)
        if _CURSE.search(said):
            self._add("user_curse", at, cut(said, _SAID), uuid)
        if _NEGATION.search(said):
            self._add("user_negation", at, cut(said, _SAID), uuid)
        if _STOPPED_TEXT.search(said):
            self._stopped(at, uuid)

    def _result(self, block: Mapping[str, Any], at: str, uuid: str) -> None:
        text = block.get("content")
        if not isinstance(text, str):
            return
        tool = self._tools.get(text_of(block.get("tool_use_id")), "")
        if _SIBLING in text:
            signal = self._add("sibling_tool_error", at, "cancelled", uuid)
            signal.more = {"batch_size": 1, "tools_affected": [tool]}
        if _STOPPED_RESULT.search(text):
            self._stopped(at, uuid)
        elif _FAILED.search(text):
            self._add("exit_error", at, f"{tool or 'a tool'} failed", uuid)
            if self._claimed:
                self._add("false_success", at, "success was claimed, then a failure", uuid)
            self._claimed = False
        elif _SUCCEEDED.search(text):
            self._add("exit_success", at, f"{tool or 'a tool'} succeeded", uuid)
            self._claimed = False

    def _assistant(self, content: str | list[Any], at: str, uuid: str) -> None:
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if not isinstance(block, dict):
                continue
            if block.get("type") == "text" and _CLAIM.search(text_of(block.get("text"))):
                self._claimed = True
            elif block.get("type") == "tool_use":
                tool = text_of(block.get("name"))
                self._tools[text_of(block.get("id"))] = tool
                call = f"{tool}\0{json.dumps(block.get('input'), sort_keys=True)}"
                count = self._calls[call] = self._calls.get(call, 0) + 1
                if count >= 3:
                    signal = self._add("tool_loop", at, f"{tool}, {count} times", uuid)
                    signal.more = {"tool": tool, "loop_count": count}

    def _stopped(self, at: str, uuid: str) -> None:
        self._add("request_interrupted", at, "interrupted", uuid)
        gap = seconds_between(self._interrupted, at)
        self._interrupted = at
        if gap is not None and 0 <= gap <= _CASCADE:
            signal = Signal("interrupt_cascade", at, f"again after {gap:.0f} s", uuid)
            signal.more["gap_seconds"] = round(gap, 1)
            self._cascades.append(signal)

    def _add(self, name: str, at: str, details: str, uuid: str) -> Signal:
        signal = Signal(name, at, details, uuid)
        self._events.append(signal)
        return signal

    def _keep_window(self, signal: Signal) -> None:
        turns = [turns_of(entry, line) for entry, line in self._ring]
        self._heard.windows.append(window(signal, turns))


def _batched(events: list[Signal]) -> Iterator[Signal]:
    """Cancelled calls of one moment as one signal."""
    batches: dict[str, Signal] = {}
    for signal in events:
        if signal.name != "sibling_tool_error":
            yield signal
        elif signal.at in batches:
            first = batches[signal.at].more
            first["batch_size"] += 1
            first["tools_affected"] += signal.more["tools_affected"]
        else:
            batches[signal.at] = signal
            yield signal


def _nested(entry: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The message a sub-agent's progress reports, if it is a user's."""
    data = entry.get("data")
    message = data.get("message") if isinstance(data, dict) else None
    if isinstance(message, dict) and message.get("type") == "user":
        return "user", {**message, "type": "progress", "uuid": entry.get("uuid")}
    return "", {}


def _content(entry: Mapping[str, Any]) -> str | list[Any]:
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, str | list) else []


def _said(content: str | list[Any]) -> str:
    if isinstance(content, str):
        return content
    for block in content:
        if isinstance(block, dict) and block.get("type") == "text" and text_of(block.get("text")):
            return text_of(block["text"])
    return ""
