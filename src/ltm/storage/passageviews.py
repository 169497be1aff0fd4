"""Sessions as one text each: what the whole and the user's view search.

Owns the stretches. A stretch is a whole session up to `STRETCH` characters; a longer session has
several, so that adding to a long session costs one stretch and not the session. Its text is in
`views`, the user's words and all others as two columns, and nowhere else: what it consists of is
read from the words of its passages when it must be changed. Imports core.
"""

from __future__ import annotations

import sqlite3

from ltm.core.passage import USER, Passage

STRETCH = 60_000
"""Characters of a stretch. A session of 30 exchanges fits; what has more is about many things, and
one text of all of it would be near to every question and to none."""


class Filling:
    """The last stretch of a session, and those begun after it, while passages are put into them."""

    def __init__(self, db: sqlite3.Connection, number: int) -> None:
        self._db = db
        self._number = number
        self._former: tuple[str, str] | None = None
        self._words: tuple[list[str], list[str]] = ([], [])
        last = db.execute(
            "SELECT row, size FROM stretches WHERE session = ? ORDER BY row DESC LIMIT 1",
            (number,),
        ).fetchone()
        self._row: int = last[0] if last else 0
        self._size: int = last[1] if last else 0
        if self._row and self._size < STRETCH:
            self._former = stretch_words(db, self._row)
            self._words = ([self._former[0]], [self._former[1]])

    def stretch_for(self, passage: Passage) -> int:
        """The stretch that takes a passage: the last one while there is room in it."""
        if not self._row or self._size + len(passage.text) > STRETCH:
            self.write()
            self._row = int(
                self._db.execute(
                    "INSERT INTO stretches(session, size) VALUES(?, 0)", (self._number,)
                ).lastrowid
                or 0
            )
            self._size, self._former, self._words = 0, None, ([], [])
        return self._row

    def take(self, passage: Passage, said: str) -> None:
        """Add a passage and its words."""
        self._words[passage.role != USER].append(said)
        self._size += len(passage.text)

    def write(self) -> None:
        """Put the words of the stretch at hand into its view."""
        if self._row:
            user, rest = (" ".join(filter(None, each)) for each in self._words)
            if (user, rest) != self._former and (user or rest):
                replace_view(self._db, self._row, self._former or ("", ""), (user, rest))
            self._db.execute("UPDATE stretches SET size = ? WHERE row = ?", (self._size, self._row))


def stretch_words(db: sqlite3.Connection, stretch: int) -> tuple[str, str]:
    """The user's words of a stretch and all others, as they stand in its view."""
    said: tuple[list[str], list[str]] = ([], [])
    for role, text in db.execute(
        "SELECT p.role, w.text FROM passages p CROSS JOIN words w ON w.rowid = p.row"
        " WHERE p.stretch = ? ORDER BY p.row",
        (stretch,),
    ):
        if text:
            said[role != USER].append(text)
    return " ".join(said[0]), " ".join(said[1])


def replace_view(
    db: sqlite3.Connection, stretch: int, former: tuple[str, str], words: tuple[str, str]
) -> None:
    """Change the view of a stretch from one text to another; an empty one is none."""
    if any(former):
        db.execute(
            "INSERT INTO views(views, rowid, user, rest) VALUES('delete', ?, ?, ?)",
            (stretch, *former),
        )
    if any(words):
        db.execute("INSERT INTO views(rowid, user, rest) VALUES(?, ?, ?)", (stretch, *words))
    else:
        db.execute("DELETE FROM stretches WHERE row = ?", (stretch,))
