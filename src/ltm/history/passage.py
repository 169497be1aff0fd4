"""A passage: what was said or done in one place of a session, as it is kept to be found again."""

from __future__ import annotations

from ltm.record import NamedTuple

_WRITING = ("Edit: ", "Write: ", "MultiEdit: ", "NotebookEdit: ")

USER, ASSISTANT, TOOL = "user", "assistant", "tool"
"""Who speaks in a passage: the user, the agent, or a tool the agent used."""


class Passage(NamedTuple):
    """One turn of a session, or a part of a long one, without secrets.

    A turn is what one side said. The tools an agent used after saying something are further parts
    of the same turn, so that the turns before and after one are what was said before and after.
    """

    turn: int
    """Which turn of its session it belongs to, counted from 1."""
    part: int
    """Which part of that turn it is, counted from 0."""
    role: str
    text: str
    at: str = ""
    """When, as ISO 8601 in UTC; '' when unknown."""
    first: int = 0
    last: int = 0
    """The lines of the transcript it stands on, counted from 1."""
    message: str = ""
    """The uuid of the message; '' when it has none."""
    agent: str = ""
    """The sub-agent at work, '' for the main conversation."""
    files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    """The files, commands and error texts it names."""
    row: int = 0
    """Its number in the project, never given twice; 0 while it is not kept."""
    session: str = ""
    """The session it is from; '' while it is not kept."""

    @property
    def writes(self) -> bool:
        """Whether it tells of a file that the agent wrote to."""
        return self.role == TOOL and self.text.startswith(_WRITING)

    @property
    def citation(self) -> str:
        """How it is cited: the session and the lines of its transcript, as `3f2a…:120-134`."""
        lines = f"{self.first}-{self.last}" if self.last > self.first else f"{self.first}"
        return f"{self.session}:{lines}"


class Header(NamedTuple):
    """A session whose passages are kept."""

    id: str
    cwd: str = ""
    transcript: str = ""
    started: str = ""
    ended: str = ""
    """When the first and the last passage were, as ISO 8601 in UTC."""
    title: str = ""
    """The first words of the user."""
    turns: int = 0
    passages: int = 0
    size: int = 0
    """Characters of all its passages."""


def line_range(lines: str) -> tuple[int, int]:
    """The first and the last line of `120-134` or `120`; nothing is from 0 to 0."""
    first, _, last = lines.partition("-")
    try:
        return int(first), int(last or first)
    except ValueError:
        return 0, 0
