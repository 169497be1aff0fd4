"""What is said of a memory: its words, as many as its phase leaves, and whether that is all.

Owns the choice of words for every format and view, so that they never differ. Pure; imports core.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ltm.core.kinds import Kind
from ltm.core.model import Memory, Phase
from ltm.core.phases import shortened
from ltm.core.sentences import opens_with

FULL = 500
"""Characters of a memory that are shown at most; the rest is a question away."""

SHORT_ID = 6
"""The end of an id that is shown; any tool and command accepts it for the whole."""

DATE = r"\d{4}-\d\d-\d\d"
"""How a date before a line looks."""

_ROUGH = 8
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


class MemoryLine(NamedTuple):
    """One line about a memory."""

    text: str
    whole: bool
    """Whether the line holds everything there is to say."""


def say(memory: Memory, kind: Kind, harmless: Callable[[str], str], most: int = FULL) -> MemoryLine:
    """The line about a memory, of at most `most` characters, made safe by `harmless`."""
    words = words_of(memory)
    if memory.title and not opens_with(memory.text, memory.title):
        words = f"{memory.title}: {words}" if words else memory.title
    if kind.states and memory.state not in ("", kind.states[0]):
        words = f"({memory.state}) {words}"
    if memory.reason and memory.reason not in words:
        words = (
            f"{words} ({'' if memory.reason.startswith('before: ') else 'why: '}{memory.reason})"
        )
    # Escaping a megabyte to show five hundred characters of it would be a waste.
    rough = words[: most * _ROUGH]
    line = harmless(rough)
    cut = shorten(line, most)
    whole = cut == line and rough == words and memory.phase is Phase.FULL
    return MemoryLine(cut, whole)


def say_disputed(
    memories: Sequence[Memory], kind: Kind, harmless: Callable[[str], str], most: int = FULL
) -> MemoryLine:
    """One line about memories that do not agree, each with its date, in the order given."""
    room = max(_ROUGH, (most - 40) // len(memories))
    said = [say(each, kind, harmless, room) for each in memories]
    dated = [
        f"{one.text} ({each.created:%Y-%m-%d})" for one, each in zip(said, memories, strict=True)
    ]
    return MemoryLine(" — but earlier: ".join(dated), whole=all(one.whole for one in said))


def at_least(memory: Memory) -> int:
    """A number of characters its line has for sure: known at once, where writing it takes time."""
    if memory.phase is not Phase.FULL or len(memory.title + memory.state) > FULL:
        return 0
    # Blanks may be joined, and beyond ASCII much may go; nothing else gets shorter, and a cut
    # leaves at least half of the room.
    sure = memory.text[:FULL].encode("ascii", "ignore").translate(None, b" \t\r\n")
    return min(len(sure), FULL // 2 - 1)


def words_of(memory: Memory) -> str:
    """A memory's own words, as many as its phase leaves."""
    if memory.phase is Phase.FULL:
        return memory.text
    left = memory._replace(content=shortened(memory.content, memory.phase)).text
    return left if memory.phase is Phase.HINT else _SENTENCE.split(left.strip(), maxsplit=1)[0]


def shorten(text: str, most: int) -> str:
    """The text if it fits, else its beginning up to a word border and an ellipsis."""
    if len(text) <= most:
        return text
    room = max(0, most - 2)
    head = text[:room]
    if not text[room].isspace():
        border = head.rfind(" ")
        # A text without spaces, or with one endless word, is cut where the room ends.
        head = head[:border] if border > room // 2 else head
    return f"{head.rstrip()} …"[:most]


def units(text: str) -> int:
    """Length as the client counts it: in UTF-16 units, so that an emoji is two."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def short_id(memory: Memory) -> str:
    """The end of a memory's id, enough to name it."""
    return memory.id[-SHORT_ID:]
