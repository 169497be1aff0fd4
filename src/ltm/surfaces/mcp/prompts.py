"""The prompts a client offers a person as commands: recall and remember.

They only say which tool to call, so that a prompt and the agent's own call give the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ltm.core.errors import NotFound, WrongUsage


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt: its name, what it does, its argument, and the text with a place for it."""

    name: str
    description: str
    argument: str
    text: str


PROMPTS = (
    Prompt(
        "recall",
        "Find what is remembered about something",
        "query",
        "Call the recall tool with this query, open what matters with get_memory, and tell me what"
        " is known, citing the ids: {}",
    ),
    Prompt(
        "remember",
        "Keep something for later sessions",
        "content",
        "Call the store_memory tool with this content, in full sentences, and tell me what was"
        " stored or confirmed: {}",
    ),
)


def prompt_text(name: str, arguments: Mapping[str, str]) -> str:
    """The text of a prompt with its argument filled in."""
    for prompt in PROMPTS:
        if prompt.name == name:
            said = arguments.get(prompt.argument, "").strip()
            if not said:
                raise WrongUsage(f"the prompt {name} needs {prompt.argument}")
            return prompt.text.format(said)
    known = ", ".join(prompt.name for prompt in PROMPTS)
    raise NotFound(f"there is no prompt '{name[:80]}'", hint=f"there are: {known}")
