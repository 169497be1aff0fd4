"""How much friction a session had, and how good it was.

Owns the sums and the five qualities: BAD, FRICTION, ROUGH, ONE-SHOT, OK. Friction only adds up, so
the peak is the end. Imports `core.signals` and this package.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from ltm.core.signals import BY_NAME
from ltm.friction.heard import Heard, seconds_between
from ltm.friction.ruleset import Rules

QUALITIES = ("BAD", "FRICTION", "ROUGH", "ONE-SHOT", "OK")
_ERRORS = 3
_ERROR_RATIO = 0.5
_CALM = 5
_LOOP = ("exit_error", "false_success")


@dataclass(frozen=True, slots=True)
class Scored:
    """A session with its figures."""

    heard: Heard
    quality: str
    peak: float
    successes: int
    errors: int
    duration: int
    """Minutes from the first message to the last."""
    by_source: dict[str, dict[str, Any]]
    patterns: list[dict[str, Any]]
    trajectory: list[float]

    @property
    def error_ratio(self) -> float:
        """Failures as a share of all commands that ran."""
        return self.errors / (self.errors + self.successes) if self.errors else 0.0

    @property
    def is_bad(self) -> bool:
        """Whether it went wrong."""
        return self.quality == "BAD"

    def record(self) -> dict[str, Any]:
        """As an item of `friction_analysis.json`."""
        heard = self.heard
        return {
            "session_id": heard.name,
            "session_metadata": {
                "git_branch": heard.branch,
                "cwd": heard.cwd,
                "started_at": heard.started,
                "ended_at": heard.ended,
                "turn_count": heard.turns,
                "duration_min": self.duration,
            },
            "friction_summary": {
                "peak": self.peak,
                "final": self.peak,
                "total_signals": len(heard.signals),
                "learning_moments": sum(
                    pattern["type"] == "learning_moment" for pattern in self.patterns
                ),
            },
            "momentum": {
                "success_count": self.successes,
                "error_count": self.errors,
                "error_ratio": round(self.error_ratio, 2),
            },
            "quality": self.quality,
            "by_source": self.by_source,
            "friction_trajectory": self.trajectory,
            "patterns_detected": self.patterns,
        }

    def brief(self) -> dict[str, Any]:
        """As the best or worst session of a summary."""
        return {
            "session_id": self.heard.name,
            "quality": self.quality,
            "peak_friction": self.peak,
            "turns": self.heard.turns,
            "duration_min": self.duration,
        }


def score(heard: Heard, rules: Rules) -> Scored:
    """The figures of a session by these rules."""
    weights = [rules.weight_of(signal) for signal in heard.signals]
    trajectory = [round(total, 2) for total in accumulate(weights)]
    peak = trajectory[-1] if trajectory else 0.0
    successes = sum(signal.name == "exit_success" for signal in heard.signals)
    errors = sum(signal.name == "exit_error" for signal in heard.signals)
    return Scored(
        heard=heard,
        quality=_quality(heard, rules, peak, successes, errors),
        peak=peak,
        successes=successes,
        errors=errors,
        duration=int((seconds_between(heard.started, heard.ended) or 0) // 60),
        by_source=_by_source(heard, rules),
        patterns=_patterns(heard, rules, trajectory),
        trajectory=trajectory,
    )


def _quality(heard: Heard, rules: Rules, peak: float, successes: int, errors: int) -> str:
    names = {signal.name for signal in heard.signals}
    if names & rules.bad:
        return "BAD"
    if names & rules.trying:
        return "FRICTION"
    ran = errors + successes
    if peak >= rules.peak or (errors > _ERRORS and errors > _ERROR_RATIO * ran):
        return "ROUGH"
    return "ONE-SHOT" if heard.turns <= 1 else "OK"


def _by_source(heard: Heard, rules: Rules) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for signal in heard.signals:
        weight = rules.weight_of(signal)
        source = found.setdefault(
            BY_NAME[signal.name].source,
            {"total_friction": 0.0, "signal_count": 0, "signals": {}},
        )
        source["total_friction"] = round(source["total_friction"] + weight, 2)
        source["signal_count"] += 1
        of_it = source["signals"].setdefault(signal.name, {"count": 0, "total_weight": 0.0})
        of_it["count"] += 1
        of_it["total_weight"] = round(of_it["total_weight"] + weight, 2)
    return found


def _patterns(heard: Heard, rules: Rules, trajectory: list[float]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    angry = rules.trying - {"false_success"}
    names = [signal.name for signal in heard.signals]
    for place, sequence in enumerate(zip(names, names[1:], names[2:], strict=False)):
        if sequence[:2] == _LOOP and names[place + 2] in angry:
            found.append({"type": "false_success_loop", "sequence": list(sequence), "count": 1})
    if rules.classic or not trajectory:
        return found
    # A reaction after which the rest went well: the agent took it in.
    last = max((place for place, each in enumerate(heard.signals) if each.is_reaction), default=-1)
    before, after = trajectory[last], round(trajectory[-1] - trajectory[last], 2)
    if last >= 0 and after < _CALM and "exit_success" in names[last + 1 :]:
        pattern = {"type": "learning_moment", "friction_before": before, "friction_after": after}
        found.insert(0, pattern)
    return found
