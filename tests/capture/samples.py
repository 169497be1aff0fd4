"""Short ways to say what happens in a session and to ask what was heard."""

from __future__ import annotations

from itertools import count

from ltm.capture.decide import Candidate, Certainty
from ltm.capture.extract import Listener
from ltm.capture.statements import statements
from ltm.kinds import Kinds
from ltm.model import Source, Trust
from ltm.sessions.turns import AssistantText, Commit, ToolResult, ToolUse, Turn, UserText

KINDS = Kinds()
BY_USER = Source(Trust.USER, "s", "1")
BY_AGENT = Source(Trust.ASSISTANT, "s", "1")
_numbers = count(1)


def says(text: str) -> list[Candidate]:
    """What one message of the user gives."""
    return list(statements(text, KINDS, BY_USER))


def user(text: str) -> list[Turn]:
    return [UserText(text=text, line=next(_numbers))]


def agent(text: str) -> list[Turn]:
    return [AssistantText(text=text, line=next(_numbers))]


def ran(command: str, output: str = "", *, failed: bool = False) -> list[Turn]:
    """The agent runs a command."""
    number = next(_numbers)
    call = ToolUse(id=f"c{number}", tool="Bash", input={"command": command}, line=number)
    return [call, ToolResult(id=call.id, text=output, failed=failed, line=next(_numbers))]


def fails(command: str, output: str) -> list[Turn]:
    return ran(command, f"Exit code 1\n{output}", failed=True)


def edits(path: str, old: str = "", new: str = "") -> list[Turn]:
    """The agent changes a file."""
    number = next(_numbers)
    given = {"file_path": path, "old_string": old, "new_string": new}
    call = ToolUse(id=f"c{number}", tool="Edit", input=given, line=number)
    return [call, ToolResult(id=call.id, text="ok", line=next(_numbers))]


def writes(path: str, text: str) -> list[Turn]:
    number = next(_numbers)
    given = {"file_path": path, "content": text}
    return [ToolUse(id=f"c{number}", tool="Write", input=given, line=number)]


def commits(subject: str, commit: str = "abcdef1") -> list[Turn]:
    return [Commit(hash=commit, branch="main", subject=subject, line=next(_numbers))]


def considered(*parts: list[Turn], state: str = "") -> list[Candidate]:
    """What a session of these turns gives, sure or likely."""
    listener = Listener("s", KINDS, state)
    listener.hear(turn for part in parts for turn in part)
    return listener.candidates()


def heard(*parts: list[Turn], state: str = "") -> list[Candidate]:
    """What a session of these turns gives for sure."""
    return [each for each in considered(*parts, state=state) if each.tier is Certainty.SURE]


def texts(found: list[Candidate]) -> list[str]:
    return [candidate.text for candidate in found]
