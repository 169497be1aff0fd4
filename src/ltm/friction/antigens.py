"""What keeps going wrong: candidates around the worst signals, and clusters of those alike.

By the classic rules candidates are alike when the same tools were used; by the default rules when
the user said the same, because which tools ran says nothing about what was wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from ltm.friction.score import Scored
from ltm.friction.signals import Rules, Window
from ltm.text.sameness import says_otherwise
from ltm.text.similarity import alike, phrases

# A value of the file's format, which other tools look for: no instruction is written yet.
UNWRITTEN = "# TODO: Write prevention instruction based on pattern above"
"""The placeholder for an instruction until one is written."""

_WEIGHTS = {
    "user_intervention": 10,
    "session_abandoned": 10,
    "false_success": 8,
    "no_resolution": 8,
    "tool_loop": 6,
    "rapid_exit": 6,
    "interrupt_cascade": 5,
}


@dataclass(frozen=True, slots=True)
class AntigenCandidate:
    """One time it went wrong, with what surrounded it."""

    session: str
    peak: float
    window: Window

    @property
    def pattern(self) -> str:
        """The tools used, in order, whatever came of them."""
        names = (tool.partition(":")[0] for tool in self.window.tools)
        return " → ".join(names) or "(none)"

    @property
    def statement(self) -> str:
        """What the user said when it happened, else before it."""
        said = self.window.signal.statement
        return said or (self.window.contexts[0] if self.window.contexts else "")

    def record(self) -> dict[str, Any]:
        """As an item of `antigen_candidates.json`."""
        window = self.window
        return {
            "session_id": self.session,
            "anchor_signal": window.signal.name,
            "anchor_ts": window.signal.at,
            "peak_friction": self.peak,
            "turns_in_window": window.turns,
            "files": list(window.files),
            "tool_sequence": list(window.tools),
            "errors": list(window.errors),
            "keywords": list(window.keywords),
            "user_context": list(window.contexts),
            "inhibitory_instruction": UNWRITTEN,
        }


@dataclass(frozen=True, slots=True)
class Cluster:
    """Candidates that are alike."""

    members: tuple[AntigenCandidate, ...]
    score: float

    @property
    def signal(self) -> str:
        """The signal most of them have."""
        return _top((each.window.signal.name for each in self.members), 1)[0]

    @property
    def pattern(self) -> str:
        """The tools most of them used."""
        return _top((each.pattern for each in self.members), 1)[0]

    @property
    def sessions(self) -> list[str]:
        """The sessions they are from."""
        return sorted({each.session for each in self.members})

    @property
    def median_peak(self) -> float:
        """The friction of a usual one of these sessions."""
        return round(float(median(each.peak for each in self.members)), 2)

    @property
    def contexts(self) -> list[str]:
        """What users said, each once."""
        said = [each.statement for each in self.members if each.window.signal.statement]
        around = [text for each in self.members for text in each.window.contexts]
        return [text for text in dict.fromkeys([*said, *around]) if text][:5]

    def record(self) -> dict[str, Any]:
        """As an item of `antigen_clusters.json`."""
        windows = [each.window for each in self.members]
        return {
            "anchor_signal": self.signal,
            "tool_pattern": self.pattern,
            "count": len(self.members),
            "score": self.score,
            "sessions": self.sessions,
            "median_peak": self.median_peak,
            "max_peak": max(each.peak for each in self.members),
            "contexts": self.contexts,
            "errors": _top((error for each in windows for error in each.errors), 5),
            "top_files": _top((file for each in windows for file in each.files), 5),
            "top_keywords": _top((word for each in windows for word in each.keywords), 10),
        }


def candidates(sessions: Sequence[Scored], rules: Rules) -> list[AntigenCandidate]:
    """Every time it went wrong, in the worst sessions first."""
    wanted = ("BAD",) if rules.classic else ("BAD", "FRICTION")
    worst = sorted(
        (each for each in sessions if each.quality in wanted),
        key=lambda each: (-each.peak, each.heard.name),
    )
    return [
        AntigenCandidate(each.heard.name, each.peak, w)
        for each in worst
        for w in each.heard.windows
    ]


def clusters(found: Sequence[AntigenCandidate], rules: Rules) -> list[Cluster]:
    """Candidates that are alike, together; the heaviest first."""
    groups = _by_tools(found) if rules.classic else _by_words(found)
    made = [Cluster(tuple(members), _score(members, rules)) for members in groups]
    return sorted(made, key=lambda each: (-each.score, each.signal, each.pattern, each.sessions))


def _by_tools(found: Sequence[AntigenCandidate]) -> list[list[AntigenCandidate]]:
    groups: dict[tuple[str, str], list[AntigenCandidate]] = {}
    for each in found:
        groups.setdefault((each.window.signal.name, each.pattern), []).append(each)
    return list(groups.values())


def _by_words(found: Sequence[AntigenCandidate]) -> list[list[AntigenCandidate]]:
    """Each to the first group whose first member says the same; silent ones go by signal."""
    groups: list[tuple[frozenset[str], list[AntigenCandidate]]] = []
    silent: dict[str, list[AntigenCandidate]] = {}
    for each in found:
        words = phrases(each.statement)
        if not any(" " in phrase for phrase in words):
            silent.setdefault(each.window.signal.name, []).append(each)
            continue
        for known, members in groups:
            if alike(known, words) and not says_otherwise(each.statement, members[0].statement):
                members.append(each)
                break
        else:
            groups.append((words, [each]))
    return [*(members for _, members in groups), *silent.values()]


def _score(members: Sequence[AntigenCandidate], rules: Rules) -> float:
    if rules.classic:
        return float(len(members) * _WEIGHTS.get(members[0].window.signal.name, 1))
    return round(sum(rules.weight_of(each.window.signal) for each in members), 2)


def _top(values: Iterable[str], most: int) -> list[str]:
    return [value for value, _ in Counter(value for value in values if value).most_common(most)]
