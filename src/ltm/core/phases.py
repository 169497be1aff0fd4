"""How much of a memory's text each phase leaves, and which text it is taken from.

Only the content is shortened; the summary stays as it was written. A phase is always made from the
original and never from another phase, so that it does not matter by which way a memory came to it,
and every step can be undone. Pure; imports `core.model`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ltm.core.model import Memory, Phase

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}(?:[ \t]|$)")


def shortened(content: str, phase: Phase) -> str:
    """What a phase leaves of an original content: all, the first paragraph, or nothing."""
    if phase is Phase.FULL:
        return content
    return first_paragraph(content) if phase is Phase.HINT else ""


def first_paragraph(text: str) -> str:
    """The beginning of a text up to the end of its first paragraph.

    Headings before the paragraph come along, since a heading alone says nothing, and a block of
    code is not cut at an empty line in its middle.
    """
    end = place = 0
    fence = ""
    prose = False
    for line in _LINE.findall(text):
        place += len(line)
        if not line.strip() and not fence:
            if prose:
                break
            continue
        end = place
        mark = _FENCE.match(line)
        if fence:
            closes = mark is not None and mark[1].startswith(fence)
            fence = "" if closes else fence
        elif mark is not None:
            fence = mark[1]
        prose = prose or not _HEADING.match(line)
    return text[:end].rstrip("\r\n")


def original(memory: Memory, kept: Sequence[Memory]) -> tuple[Memory, bool]:
    """A memory with its whole content back, and whether that text is among the kept versions.

    `kept` are the versions in the archive, oldest first. A text that was edited while it was short,
    or whose archive is lost, is the whole text there is: it counts as a new version to be kept.
    """
    whole = [each for each in kept if each.phase is Phase.FULL]
    if memory.phase is Phase.FULL:
        return memory, any(
            (each.version, each.title, each.summary, each.content)
            == (memory.version, memory.title, memory.summary, memory.content)
            for each in whole
        )
    if whole and shortened(whole[-1].content, memory.phase) == memory.content:
        return memory._replace(phase=Phase.FULL, content=whole[-1].content), True
    return memory._replace(phase=Phase.FULL, version=memory.version + len(whole[-1:])), False


def whole(memory: Memory, kept: Sequence[Memory]) -> Memory:
    """A memory with all the text it ever had in its present version, whatever became of it since.

    A tombstone has no text of its own left: the last one kept is what it was.
    """
    if memory.phase is Phase.FULL and memory.text:
        return memory
    texts = [each for each in kept if each.text]  # a kept tombstone says nothing either
    last = memory if memory.text or not texts else texts[-1]
    return original(last, texts)[0]
