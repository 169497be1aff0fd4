"""Keeping what was said in a session, word for word, so that it can be searched like memories.

Owns the flow: read on from where the project's own file says, cut into passages without secrets,
keep them and the place together. Bounded memory at any size, and the cost is the new part of the
transcript, whatever is kept already. Imports core, `sessions`, `storage` and this package.
"""

from __future__ import annotations

import json
from typing import Any

from ltm.capture.cutting import Cutter, sound
from ltm.core.errors import Conflict
from ltm.core.model import Memory
from ltm.core.passage import Header, Passage
from ltm.core.sentences import sentences
from ltm.core.words import query_terms
from ltm.sessions.lines import Cursor, cursor_of
from ltm.sessions.transcript import Unknown, read
from ltm.storage.passages import Passages

_BATCH = 400_000  # characters that are held before they are kept
_ATTEMPTS = 5
_TELLING = 4  # words that are not said by chance


def keep_verbatim(
    passages: Passages,
    session: str,
    transcript: str,
    cwd: str,
    *,
    since: str = "",
    known_as: str = "",
) -> int:
    """Keep what a session's transcript says since it was last read; how many passages were new.

    What was said before `since` (ISO 8601, UTC) is left out. `known_as` is the transcript's own
    path, where it lies elsewhere while it is read. Sub-agents' own transcripts are not read, as
    capture does not read them either: what they answered is in the session's.
    """
    header = Header(sound(session), sound(cwd), known_as or transcript)
    for _ in range(_ATTEMPTS):
        if passages.is_purged(session):
            return 0
        try:
            return _read_on(passages, header, transcript, since)
        except Conflict:
            continue  # another process reads the same session: go on from where it is now
    return 0


def passages_behind(passages: Passages, memory: Memory) -> list[int]:
    """The rows of what a memory came from: the lines it names, and wherever the same was said.

    What a purged memory says must not be found again: not in the agent's answer either, and not
    where it was said again. A sentence of few words is too common for that.
    """
    found = [each.row for each in passages.at_lines(memory.source.session, memory.source.lines)]
    for sentence in {memory.title, *sentences(memory.text)}:
        if len(query_terms(sentence)) >= _TELLING:
            found += passages.saying(sentence)
    return list(dict.fromkeys(found))


def _read_on(passages: Passages, header: Header, transcript: str, since: str) -> int:
    former = passages.cursor(header.id, header.transcript)
    cursor, state = _parsed(former)
    unread = Unknown(passages.known_messages)
    reading = read(transcript, cursor, unread)
    cutter = Cutter(header.cwd, state)
    held: list[Passage] = []
    size = added = 0

    def settle() -> None:
        nonlocal former, size, added
        place = _written(reading.cursor, cutter.state())
        if held or place != former:
            added += passages.add(header, held, after=former, cursor=place)
            former = place
        held.clear()
        unread.forget()
        size = 0

    for turns in reading.messages():
        for passage in cutter.cut(turns):
            if passage.at >= since or not passage.at:
                held.append(passage)
                size += len(passage.text)
        if size >= _BATCH:
            settle()
    settle()
    return added


def _parsed(text: str) -> tuple[Cursor, Any]:
    try:
        place = json.loads(text)
        return cursor_of(json.dumps(place["at"])), place["state"]
    except (ValueError, KeyError, TypeError):
        return Cursor(), None


def _written(cursor: Cursor, state: dict[str, Any]) -> str:
    return json.dumps({"at": json.loads(cursor.text()), "state": state}, separators=(",", ":"))
