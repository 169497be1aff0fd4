"""What the client put before the model besides the user's words, and what hooks had a part in it.

Imports: request.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .request import REMINDER, Request, block_texts

# How the client announces a hook's text, and where in the same message something else begins.
HEADING = re.compile(
    r"(?:^|\n)(?:<system-reminder>\n?)?(?P<hook>[A-Z]\w+)(?::[^\s:]+)? hook "
    r"(?:additional context|success|blocking error[^\n:]*|feedback|error): ?"
)
ENDING = re.compile(
    r"\n\n(?=The following (?:deferred|skills|MCP)|Available agent types|# MCP Server|"
    r"# Environment\n|When you launch|Today's date is|[A-Z]\w+(?::\S+)? hook )"
    r"|\n?</system-reminder>"
)


@dataclass(frozen=True, slots=True)
class Context:
    """A text of the client's own in the conversation; `request` is where it first appeared."""

    request: int
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Injection:
    """A text that a hook gave to the model, as the model sees it."""

    request: int
    role: str
    hook: str
    text: str


def contexts(requests: Sequence[Request]) -> list[Context]:
    """Every system message and reminder of the conversation, each once."""
    found: dict[str, Context] = {}
    for request in requests:
        if request.kind not in ("main", "subagent", "compact"):
            continue
        for message in request.messages:
            role = message.get("role", "")
            for text in block_texts(message.get("content")):
                if role == "system" or (role == "user" and REMINDER in text):
                    found.setdefault(text, Context(request.number, role, text))
    return list(found.values())


def injections(requests: Sequence[Request], hook: str = "") -> list[Injection]:
    """What hooks put into the conversation, in order, by the event's name if given."""
    found = []
    for context in contexts(requests):
        for heading in HEADING.finditer(context.text):
            if hook not in ("", heading["hook"]):
                continue
            rest = context.text[heading.end() :]
            ending = ENDING.search(rest)
            text = rest[: ending.start()] if ending else rest
            found.append(Injection(context.request, context.role, heading["hook"], text))
    return found
