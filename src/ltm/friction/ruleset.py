"""The rules in force: weights and thresholds, and which signals decide what.

Two sets: the rules as they were checked on real sessions, and the classic ones they came from. What
a person sets in `friction.weights.*` and `friction.thresholds.*` holds in both. Imports
`core.signals` and `storage.config`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ltm.core.signals import REACTIONS, SIGNALS, THRESHOLDS
from ltm.friction.heard import Signal
from ltm.storage.config import Config


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

    @property
    def silence(self) -> float:
        """Minutes that are a long silence."""
        return self.thresholds["long_silence_minutes"]

    def weight(self, name: str) -> float:
        """What a signal weighs; 0 for one these rules do not know."""
        return self.weights.get(name, 0.0)

    def weight_of(self, signal: Signal) -> float:
        """What one signal weighs."""
        return self.weights.get(signal.name, 0.0)

    def record(self) -> dict[str, object]:
        """As written into the summary."""
        return {
            "rules": "classic" if self.classic else "default",
            "weights": dict(self.weights),
            "thresholds": dict(self.thresholds),
        }


_ENDS = frozenset(("user_intervention", "session_abandoned"))


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
