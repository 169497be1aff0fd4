"""Which memories the client's own instruction files already tell, so that they are not told twice.

A memory is carried when a line of those files that ends in its short id still says what we would
write today (a stale line does not count), or when every sentence of it stands there. Pure; imports
core and this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ltm.core.kinds import Kinds
from ltm.core.model import Memory, Stored
from ltm.inject.fence import harmless_in_file
from ltm.inject.said import DATE, SHORT_ID, say, short_id, words_of

TAGGED = re.compile(
    rf"^\s*[-*+] (?:{DATE}: )?(?P<text>.*?)(?P<disputed> \({DATE}\) — .*)?"
    rf" \[(?:\? )?(?P<id>[0-9a-z_-]{{1,{SHORT_ID}}})(?: [0-9a-z_-]+)*\]\s*$",
    re.MULTILINE,
)
"""A line of a view: the words of a memory, and the end of its id."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")
_BULLET = re.compile(r"^[\s>#*+-]*(?:\d+[.)]\s+)?")
_DECORATION = re.compile(r"[*_`\"'“”‘’]+")
_ENDS = " \t.,;:!?。！？…"

_LONG = 200  # two words are hardly longer

LEAST = 12
"""Characters below which a sentence is too common to prove that it is ours."""


def carried(text: str, memories: Iterable[Stored], kinds: Kinds) -> frozenset[str]:
    """Ids of the memories that `text`, as the client loads it, already tells."""
    if not text.strip():
        return frozenset()
    tagged = {found["id"]: found["text"] for found in TAGGED.finditer(text)}
    sentences = _sentences_of(text)
    openings = frozenset(map(_opening, sentences))
    return frozenset(
        each.memory.id
        for each in memories
        if is_current(tagged.get(short_id(each.memory), ""), each.memory, kinds)
        or _stands_in(words_of(each.memory) or each.memory.title, sentences, openings)
    )


def is_current(line: str, memory: Memory, kinds: Kinds) -> bool:
    """Whether a line of a view says what the memory says now, as far as the line goes."""
    if not line or memory.kind not in kinds:
        return False
    now = say(memory, kinds[memory.kind], harmless_in_file).text
    return line == now or (line.endswith("…") and now.startswith(line[:-1].rstrip()))


def _sentences_of(text: str) -> frozenset[str]:
    """Every line and every sentence, sentences also where a paragraph is wrapped."""
    found: set[str] = set()
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [_BULLET.sub("", line) for line in paragraph.split("\n")]
        for line in (*lines, " ".join(lines)):
            found.add(_plain(line))
            found.update(_plain(sentence) for sentence in _SENTENCE.split(line))
    return frozenset(found)


def _stands_in(words: str, sentences: frozenset[str], openings: frozenset[str]) -> bool:
    """Whether every sentence of a memory is among those of the file."""
    if _opening(words) not in openings:  # rules out nearly every memory at little cost
        return False
    wanted = [_plain(each) for each in _SENTENCE.split(" ".join(words.split()))]
    return len(max(wanted, key=len)) >= LEAST and all(each in sentences for each in wanted if each)


def _opening(text: str) -> str:
    """The first two words of a sentence."""
    return _plain(" ".join(text[:_LONG].split(None, 2)[:2]))


def _plain(text: str) -> str:
    """A sentence without its decoration, so that only the words are compared."""
    return " ".join(_DECORATION.sub("", text).split()).strip(_ENDS).casefold()
