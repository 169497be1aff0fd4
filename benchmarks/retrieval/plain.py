"""What anybody has without a memory tool: grep, and plain BM25.

Both get the same texts, a document for every turn with who says it; a session ranks by its best
turn. BM25 is measured twice: as it comes, and leaving out what was said after the day of the
question, as our recall and peers do where they are told the day.
"""

from __future__ import annotations

import re
import sqlite3
import time
from datetime import datetime

from benchmarks.retrieval.data import Group, Ranking

MOST = 200

_COMMON = (
    "a an the is are was were be been am i you he she it we they them his her its our your my me do"
    " does did have has had of to in on at by for with from as and or not no so if then than that"
    " this these those what which who whom when where why how can could would should will shall may"
    " might about into over after before any some"
)
_STOP = frozenset(_COMMON.split())


def words_of(question: str) -> list[str]:
    """The words somebody would type into a search."""
    words = re.findall(r"\w+", question.lower())
    return [word for word in words if word not in _STOP] or words


def grep(groups: list[Group]) -> list[Ranking]:
    """Turns by how many of the question's words they have, newest first among equals."""
    found: list[Ranking] = []
    for group in groups:
        texts = [
            (session.id, turn.id, f"{turn.role}: {turn.text}".lower())
            for session in sorted(group.sessions, key=lambda each: str(each.date), reverse=True)
            for turn in session.turns
        ]
        for asked in group.questions:
            started = time.process_time()
            words = words_of(asked.text)
            scored = [
                (-sum(word in text for word in words), place)
                for place, (_, _, text) in enumerate(texts)
            ]
            best = [texts[place] for score, place in sorted(scored)[:MOST] if score]
            taken = (time.process_time() - started) * 1000
            found.append(_ranking(group, asked.id, [(each[1], each[0]) for each in best], taken))
    return found


def dated_bm25(groups: list[Group]) -> list[Ranking]:
    """The same, leaving out what was said after the day of the question."""
    return bm25(groups, dated=True)


def bm25(groups: list[Group], *, dated: bool = False) -> list[Ranking]:
    """SQLite's full-text search with its own stems, stop words left out of the question."""
    found: list[Ranking] = []
    for group in groups:
        db = sqlite3.connect(":memory:")
        db.execute(
            "CREATE VIRTUAL TABLE t USING fts5(turn UNINDEXED, session UNINDEXED, day UNINDEXED,"
            " body, tokenize = 'porter unicode61')"
        )
        db.executemany(
            "INSERT INTO t VALUES(?, ?, ?, ?)",
            (
                (turn.id, session.id, _day(session.date), f"{turn.role}: {turn.text}")
                for session in group.sessions
                for turn in session.turns
            ),
        )
        for asked in group.questions:
            started = time.process_time()
            expression = " OR ".join(f'"{word}"' for word in words_of(asked.text))
            rows = db.execute(
                "SELECT turn, session FROM t WHERE t MATCH ? AND day <= ? ORDER BY rank LIMIT ?",
                (expression, _day(asked.date) if dated and asked.date else "~", MOST),
            ).fetchall()
            taken = (time.process_time() - started) * 1000
            found.append(_ranking(group, asked.id, rows, taken))
        db.close()
    return found


def _day(moment: datetime | None) -> str:
    return moment.date().isoformat() if moment else ""


def _ranking(
    group: Group, question: str, rows: list[tuple[str, str]], milliseconds: float
) -> Ranking:
    sessions = list(dict.fromkeys(session for _, session in rows))
    return Ranking(group.id, question, sessions, [turn for turn, _ in rows], milliseconds)
