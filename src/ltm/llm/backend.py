"""What a backend is: something that answers a text with a text, and says what it cost.

Owns the port between `Model` and what stands behind it. A backend raises `ModelFailed` and its
kinds, never anything else, and never quotes a key or what it was asked. Standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

GUARD = "LTM_INSIDE"
"""Set in the environment of whatever a backend starts, so that none of our hooks wakes up in it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said."""

    text: str
    tokens: int | None = None
    """What question and answer cost together; None when it does not say."""


class Backend(Protocol):
    """A way to a model."""

    overhead: int
    """Tokens it adds to every question on its own account."""

    def ask(self, system: str, prompt: str, *, most: int, timeout: float) -> Answer:
        """The answer to a prompt, of at most so many tokens, within so many seconds."""
        ...
