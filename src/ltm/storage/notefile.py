"""The text of a session note: our mark at its end, and notes one after the other in an archive.

Owns the marks. Pure but for reading an archive; imports storage's careful reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import zip_longest

from ltm.storage.plainfile import read_plain

LARGEST = 64 * 1024 * 1024
"""Bytes of an archive that are read."""

_OURS = re.compile(r"\n<!-- ltm: session (\S*), sum ([0-9a-f]{16}) -->\n\Z")
_NOT_PLAIN = re.compile(r"[^\w.:-]")
_PART = re.compile(r"^<!-- note (\S+) -->\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Note:
    """One note, in a file of its own or in an archive."""

    name: str
    path: str
    text: str
    """Without our own mark at its end."""
    session: str = ""
    edited: bool = False
    """Whether a person changed or wrote it."""
    archived: bool = False

    @property
    def day(self) -> str:
        """The day its session began."""
        return self.name[:10]


def note_in(name: str, path: str, text: str, *, archived: bool = False) -> Note:
    """The note a text is; one without our mark, or with another sum, was edited by a person."""
    ours = _OURS.search(text)
    if ours is None:
        return Note(name, path, text, edited=True, archived=archived)
    own = text[: ours.start()] + "\n"
    return Note(name, path, own, ours[1], edited=_sum(own) != ours[2], archived=archived)


def notes_in(path: str) -> Iterator[Note]:
    """The notes in an archive."""
    try:
        text = read_plain(path, limit=LARGEST, follow=False).decode("utf-8", "replace")
    except OSError:
        return
    marks = list(_PART.finditer(text))
    for mark, after in zip_longest(marks, marks[1:]):
        body = text[mark.end() : after.start() if after else len(text)]
        yield note_in(mark[1], path, body.removesuffix("\n---\n\n"), archived=True)


def marked(text: str, session: str) -> str:
    """A note's text with our mark: whose it is, and what it was when we wrote it."""
    end = f"\n\n<!-- ltm: session {key(session) or '-'}, sum {_sum(text)} -->\n"
    return text.rstrip("\n") + end


def part(note: Note) -> str:
    """A note as a part of an archive."""
    return f"\n---\n\n<!-- note {note.name} -->\n{marked(note.text, note.session)}"


def key(session: str) -> str:
    """A session's id as it stands in a mark, which nothing in it can end."""
    return _NOT_PLAIN.sub("_", session)[:100]


def _sum(text: str) -> str:
    return blake2b(text.strip().encode(), digest_size=8).hexdigest()
