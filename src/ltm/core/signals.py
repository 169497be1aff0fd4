"""The signals of friction: one table of what they are, who gives them, and what they weigh.

Fourteen of them have always been scored, two help to score, and two came when the rules were
checked on real sessions: people correct an agent in words, and saving one's work is a habit and no
alarm. Each has a weight in the rules as they are now and one in the classic ones, None where a rule
set does not know it. The options `friction.weights.*` are made of this table. Pure; a table only.
"""

from typing import NamedTuple


class SignalKind(NamedTuple):
    """One signal: its name, its source, its two weights, and what it means."""

    name: str
    source: str
    """Who gives it: `user`, `tool`, `llm`, `system` or `session`."""
    weight: float | None
    classic: float | None
    doc: str
    reaction: bool = False
    """Whether a user reacted to what the agent did: only this is evidence of a preference."""

    @property
    def usual(self) -> float:
        """Its weight now, or in the classic rules if only these know it."""
        return self.weight if self.weight is not None else self.classic or 0.0


SIGNALS = (
    SignalKind("user_correction", "user", 8.0, None, "the user corrects the agent", True),
    SignalKind("user_curse", "user", 8.0, 5.0, "the user curses", True),
    SignalKind(
        "interrupt_cascade", "user", 8.0, 5.0, "the user stops the agent twice in a minute", True
    ),
    SignalKind("user_intervention", "user", 10.0, 10.0, "the user saves the work out of trouble"),
    SignalKind(
        "session_abandoned", "session", 10.0, 10.0, "a session is left in the middle of trouble"
    ),
    SignalKind("tool_loop", "llm", 6.0, 6.0, "a call is made three times to no other effect"),
    SignalKind("repeated_question", "user", 5.0, 1.0, "the user asks the same again"),
    SignalKind("request_interrupted", "user", 3.0, 2.5, "the user stops the agent"),
    SignalKind("false_success", "llm", 1.0, 8.0, "success is claimed before a failure"),
    SignalKind("no_resolution", "session", 1.0, 8.0, "failures are followed by no success"),
    SignalKind(
        "rapid_exit", "session", 1.0, 6.0, "a session is over on a failure after three turns"
    ),
    SignalKind("exit_error", "tool", 1.0, 1.0, "a tool failed"),
    SignalKind("long_silence", "user", 0.5, 0.5, "the user is silent for long"),
    SignalKind("compaction", "system", 0.5, 0.5, "the context was full"),
    SignalKind("sibling_tool_error", "system", 0.5, 0.5, "a call is cancelled as another failed"),
    SignalKind("user_negation", "user", None, 0.5, "a prompt holds no, didn't work, still broken"),
    SignalKind("checkpoint", "user", 0.0, None, "the user saves, pauses or leaves without trouble"),
    SignalKind("exit_success", "tool", 0.0, 0.0, "a command did its work"),
)

BY_NAME = {kind.name: kind for kind in SIGNALS}

REACTIONS = frozenset(kind.name for kind in SIGNALS if kind.reaction)
"""The signals by which a user reacts to what an agent did."""

THRESHOLDS = (
    ("friction_peak", 15.0, "Friction from which a session is rough."),
    ("intervention_predictability", 0.5, "Share of rough sessions that must end badly."),
    ("signal_noise_ratio", 1.5, "Friction of users and tools for one of the agent's own."),
    ("long_silence_minutes", 10.0, "Minutes between two prompts that are a long silence."),
)
"""Name, value and meaning of each threshold, the same in both rule sets."""
