"""Memories and passages as the commands that look back print them: `why`, `fix`, `timeline`.

Owns how each looks for a person and as JSON. Imports core, recall and how commands answer.
"""

from __future__ import annotations

from typing import Any

from ltm.core.counting import counted
from ltm.core.model import Stored
from ltm.core.passage import Passage
from ltm.core.screen import one_line
from ltm.core.sentences import shortened
from ltm.core.tokens import estimate
from ltm.surfaces.cli import output
from ltm.surfaces.cli.call import Work

_LONG = 240


def say_memory(work: Work, stored: Stored) -> None:
    """Print a memory in three lines: what it is, what it says, since when and who says so."""
    memory = stored.memory
    mark = output.marker(work.places.home)(stored)
    output.say(f"{output.shown_id(memory.id)}  {mark}{one_line(output.headline(memory))}")
    output.say(f"    {shortened(one_line(memory.summary or memory.text), _LONG)}")
    price = counted(estimate(memory.text), "token")
    output.say(f"    {memory.day}, said by {memory.source.trust}; {price}")


def memory_record(stored: Stored) -> dict[str, Any]:
    """A memory as JSON, with its text, what it costs and where it came from."""
    memory = stored.memory
    return {
        "id": memory.id,
        "title": memory.title,
        "kind": memory.kind,
        "created": output.moment(memory.created),
        "confirmed": output.moment(memory.confirmed),
        "text": memory.text,
        "tokens": estimate(memory.text),
        "source": output.source(stored),
    }


def say_passage(label: str, passage: Passage, most: int = _LONG) -> None:
    """Print a passage in one line: what it is here, who said it, and where it stands."""
    text = shortened(one_line(passage.text), most)
    output.say(f"    {label}{passage.role}: {text}  ({one_line(passage.citation)})")
