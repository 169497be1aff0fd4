"""Which messages say what a purged memory said, so that they are not kept again.

A memory is purged while the client's transcript still has the words, and every later reader
(the note at the end of a session, a model, capture) would keep them once more. So the messages are
found while the memory is there to compare with, and only their ids are noted, never their words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from ltm.capture.model_extract import READER as MODEL
from ltm.capture.pipeline import READER as RULES
from ltm.history.passage import line_range
from ltm.model import Memory
from ltm.sessions.transcript import IN_ONE, Recent, Unknown, read
from ltm.sessions.turns import Turn
from ltm.state.session_log import SessionLog
from ltm.text.sentences import sentences
from ltm.text.similarity import jaccard, tokens_of

UNSAID = "unsaid"
"""Under this name, next to those of the readers, the log keeps messages to skip."""

_QUOTED = 0.6
"""Share of a memory's words from which a line quotes it."""

_LOOKED_AT = 200_000
"""Characters of a message that are compared."""


def quoting(memory: Memory) -> Callable[[str], bool]:
    """Whether a line says what a memory says."""
    words = tokens_of(memory.text)

    def quotes(line: str) -> bool:
        said = tokens_of(line)
        if not said or not words:
            return False
        return max(len(said & words) / len(words), jaccard(said, words)) >= _QUOTED

    return quotes


def messages_quoting(memory: Memory, session: str, transcript: str) -> list[str]:
    """The messages of a session's transcript that say what a memory says, or that it came from."""
    quotes = quoting(memory)
    own = session == memory.source.session
    first, last = line_range(memory.source.lines) if own else (0, 0)
    return [
        turns[0].uuid
        for turns in read(transcript).messages()
        if turns[0].uuid
        and ((first and first <= turns[0].line <= last) or any(map(quotes, _lines(turns))))
    ]


def note_unsaid(log: SessionLog, messages: list[str], at: datetime) -> None:
    """Make readers that have not read these messages yet skip them."""
    with log.transaction():
        for reader in (UNSAID, RULES, MODEL):
            read_by = log.turns_read(reader, at)
            for message in messages:
                read_by.is_new(message)


class Unpurged(Unknown):
    """Each message once, without those to skip."""

    def __init__(self, log: SessionLog, at: datetime) -> None:
        super().__init__(log.turns_read(UNSAID, at).known)
        self._recent = Recent(IN_ONE)

    def is_new(self, uuid: str) -> bool:
        """Whether this message is met for the first time, and may be told."""
        return self._recent.is_new(uuid) and not self.is_known(uuid)


def _lines(turns: list[Turn]) -> Iterator[str]:
    """What a message says, in lines and sentences, as notes would quote it."""
    for turn in turns:
        text = getattr(turn, "text", "") or getattr(turn, "subject", "")
        given = getattr(turn, "input", None) or {}
        words = (text, getattr(turn, "arguments", ""), *map(str, given.values()))
        for line in (line for each in words for line in each[:_LOOKED_AT].split("\n")):
            yield line
            yield from sentences(line)
