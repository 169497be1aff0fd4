"""Names in order, each kept as how many letters it shares with the one before it, and the rest.

The weights of `judge` and of `redact.prose` are kept so: the plugin stays small.
"""

from __future__ import annotations

from collections.abc import Iterator

BETWEEN, NONE = "\r", 48
"""What stands between two names, and the number of the letter that means no common letter."""


def decoded(text: str) -> Iterator[str]:
    """The names in a text."""
    name = ""
    for coded in text.split(BETWEEN):
        name = name[: ord(coded[0]) - NONE] + coded[1:]
        yield name
