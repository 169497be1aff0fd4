"""The signals of a conversation, the rules that weigh them, and the messages around one.

There are two sets of rules: the default, checked on real sessions, and the classic one it came
from. What a person sets in `friction.weights.*` and `friction.thresholds.*` holds in both. Secrets
are taken out of the messages before anything is cut, so that no half of one stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from ltm.config.config import Config
from ltm.config.options import REACTIONS, SIGNALS, SIGNALS_BY_NAME, THRESHOLDS
from ltm.redact.redact import redacted
from ltm.sessions.turns import AssistantText, ToolResult, ToolUse, Turn, UserText

MESSAGES = 6
"""Messages in a window: the one of the signal and five before it."""

_ENDS = frozenset(("user_intervention", "session_abandoned"))
_FILES, _TOOLS, _ERRORS, _KEYWORDS, _CONTEXTS = 10, 15, 5, 15, 3
_LOOKED_AT = 2_000
_QUOTED = 1_000
_NAMED = 400
"""Characters in which a message says what it is about."""

_FILE_KEYS = ("file_path", "path", "notebook_path")

# The ending is looked for first: to try a name at every letter would take longer than all the rest.
_ENDING = re.compile(r"\.(?:py|js|ts|md|json|yaml|yml)\b")
_NAME = frozenset("_/.-")
_MAY_HIDE = re.compile(r"[^\s/.\\]{14}|[=:@]|[^\x00-\x7f]")
_LONGEST_NAME = 200
_ERROR = re.compile(r"error|traceback|exit code [1-9]", re.IGNORECASE)
_WORD = re.compile(r"\b[a-z]{4,40}\b")
_PER_MESSAGE = 20
_COMMON = """about after also been before being both could does doing done down each from have here
    into just know like made make many more most much need only other over please said same should
    some such sure than that their them then there these they this those very want well were what
    when where which while will with would your"""
_STOP = frozenset(_COMMON.split())


@dataclass(slots=True)
class Signal:
    """One sign of friction, at one moment."""

    name: str
    at: str
    """When, as the transcript writes it."""
    details: str = ""
    message: str = ""
    """The uuid of the message it was found in."""
    statement: str = ""
    """The user's own words, where a user reacted."""
    more: dict[str, Any] = field(default_factory=dict)
    """What else is known: `gap_seconds`, `tool`, `loop_count` and the like."""

    @property
    def is_reaction(self) -> bool:
        return self.name in REACTIONS

    def record(self, session: str) -> dict[str, Any]:
        return {
            "ts": self.at,
            "source": SIGNALS_BY_NAME[self.name].source,
            "signal": self.name,
            "details": self.details,
            "session": session,
            **self.more,
        }


@dataclass(frozen=True, slots=True)
class Window:
    """The turns up to a signal: what was going on when it came to this."""

    signal: Signal
    turns: int
    files: tuple[str, ...]
    tools: tuple[str, ...]
    errors: tuple[str, ...]
    keywords: tuple[str, ...]
    contexts: tuple[str, ...]


@dataclass(slots=True)
class Heard:
    """One conversation, looked through."""

    session: str
    """The full id of the session it was read from first."""
    conversation: str
    """The uuid of its first message: the same in all its copies."""
    cwd: str = ""
    branch: str = ""
    started: str = ""
    ended: str = ""
    messages: int = 0
    """What was said and done in it, without sub-agents."""
    turns: int = 0
    """What the user typed, counted by the rules in force."""
    signals: list[Signal] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)
    name: str = ""
    """The session's name in what is written: project, moment and id."""
    project: str = ""
    """The project's name in what is written."""

    @property
    def is_interactive(self) -> bool:
        """Whether there was an exchange, and not one order only."""
        return self.turns > 1

    def saw(self, name: str) -> bool:
        return any(signal.name == name for signal in self.signals)


def seconds_between(before: str, after: str) -> float | None:
    """Seconds between two moments of a transcript; None when either is none."""
    try:
        return (datetime.fromisoformat(after) - datetime.fromisoformat(before)).total_seconds()
    except (ValueError, TypeError):
        return None


@dataclass(frozen=True, slots=True)
class Rules:
    """One set of rules."""

    classic: bool
    weights: Mapping[str, float]
    thresholds: Mapping[str, float]
    bad: frozenset[str]
    """Signals that make a session bad."""
    trying: frozenset[str]
    """Signals that make it one of friction."""
    anchors: frozenset[str]
    """Signals from which candidates are made."""

    @property
    def peak(self) -> float:
        """Friction from which a session is rough."""
        return self.thresholds["friction_peak"]

    def weight(self, name: str) -> float:
        return self.weights.get(name, 0.0)

    def record(self) -> dict[str, object]:
        """As written into the summary."""
        return {
            "rules": "classic" if self.classic else "default",
            "weights": dict(self.weights),
            "thresholds": dict(self.thresholds),
        }


def rules(config: Config | None = None, *, classic: bool = False) -> Rules:
    """The rules with what a person has set; without a config as they are documented."""
    chosen = config.values if config is not None else {}
    weights: dict[str, float] = {}
    for kind in SIGNALS:
        weight = kind.classic if classic else kind.weight
        if weight is None:
            continue
        option = f"friction.weights.{kind.name}"
        if config is not None and config.origin(option) != "default":
            weight = float(chosen[option])
        weights[kind.name] = weight
    thresholds = {
        name: float(chosen.get(f"friction.thresholds.{name}", value))
        for name, value, _ in THRESHOLDS
    }
    if classic:
        return Rules(
            True,
            weights,
            thresholds,
            bad=_ENDS,
            trying=frozenset(("user_curse", "false_success")),
            anchors=_ENDS | {"false_success", "interrupt_cascade"},
        )
    return Rules(False, weights, thresholds, bad=_ENDS, trying=REACTIONS, anchors=_ENDS | REACTIONS)


def window(signal: Signal, messages: Iterable[Sequence[Turn]]) -> Window:
    """What these messages, the last of which holds the signal, were about."""
    held = list(messages)
    turns = [turn for message in held for turn in message]
    return Window(
        signal=signal,
        turns=len(held),
        files=tuple(sorted(_without_secrets(_first(_files(turns), _FILES)))),
        tools=_tools(turns)[:_TOOLS],
        errors=tuple(line[:200] for line in _without_secrets(_first(_errors(turns), _ERRORS))),
        keywords=tuple(sorted(_first(_keywords(turns), _KEYWORDS))),
        # The last words first: they are those that led to the signal.
        contexts=tuple(
            _first(
                (cut(turn.text, 500) for turn in reversed(turns) if isinstance(turn, UserText)),
                _CONTEXTS,
            )
        ),
    )


def cut(text: str, most: int) -> str:
    """The beginning of a text, on one line and without secrets."""
    return _clean(text[:_QUOTED])[:most].rstrip()


@lru_cache(maxsize=256)
def _clean(text: str) -> str:
    """A text on one line and without secrets; windows overlap, so it is often asked again."""
    return " ".join(redacted(text).split())


def _files(turns: list[Turn]) -> Iterator[str]:
    for turn in turns:
        if isinstance(turn, ToolUse):
            for key in _FILE_KEYS:
                if isinstance(named := turn.input.get(key), str) and named:
                    yield " ".join(named.split())[:300]
            command = turn.input.get("command")
            yield from _named_in(command[:_LOOKED_AT] if isinstance(command, str) else "")
        elif isinstance(turn, ToolResult | UserText | AssistantText):
            yield from _named_in(turn.text[:_LOOKED_AT])


def _named_in(text: str) -> Iterator[str]:
    """The names of files in a text."""
    for ending in _ENDING.finditer(text):
        start = ending.start()
        least = max(0, start - _LONGEST_NAME)
        while start > least and (text[start - 1].isalnum() or text[start - 1] in _NAME):
            start -= 1
        if start < ending.start():
            yield text[start : ending.end()]


def _without_secrets(found: list[str]) -> list[str]:
    # What has no run long enough to be a secret is not looked at.
    return [redacted(each) if _MAY_HIDE.search(each) else each for each in found]


def _tools(turns: list[Turn]) -> tuple[str, ...]:
    went = {
        turn.id: ":error" if turn.failed or turn.refused else ":ok"
        for turn in turns
        if isinstance(turn, ToolResult)
    }
    return tuple(turn.tool + went.get(turn.id, "") for turn in turns if isinstance(turn, ToolUse))


def _errors(turns: list[Turn]) -> Iterator[str]:
    for turn in turns:
        if isinstance(turn, ToolResult) and (turn.failed or not turn.judged):
            for line in turn.text[:_LOOKED_AT].split("\n", 5)[:5]:
                if _ERROR.search(line[:_QUOTED]):
                    yield " ".join(line[:_QUOTED].split())
                    break


def _keywords(turns: list[Turn]) -> Iterator[str]:
    for turn in turns:
        if isinstance(turn, UserText | AssistantText):
            found = _WORD.findall(cut(turn.text, _NAMED).lower())[:_PER_MESSAGE]
            yield from (word for word in found if word not in _STOP)


def _first(found: Iterable[str], most: int) -> list[str]:
    """The first different ones."""
    kept: dict[str, None] = {}
    for each in found:
        if each:
            kept[each] = None
        if len(kept) >= most:
            break
    return list(kept)
