"""Questions and the sessions that hold their answers, from any file of the plain form.

The form: `{"name", "groups": [{"id", "sessions": [{"id", "date", "turns": [{"id", "role",
"text"}]}], "questions": [{"id", "type", "text", "date", "gold_sessions", "gold_turns"}]}]}`,
packed with gzip or not. Questions of a group are asked about its sessions only.
"""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

WITHOUT_ANSWER = frozenset({"category-5"})
"""Types of questions that nothing in the text answers: they are not asked."""


class Turn(NamedTuple):
    """What one side said."""

    id: str
    role: str
    text: str


class Session(NamedTuple):
    """A conversation and when it was."""

    id: str
    date: datetime | None
    turns: tuple[Turn, ...]


class Asked(NamedTuple):
    """A question, when it was asked, and where its answer is."""

    id: str
    type: str
    text: str
    date: datetime | None
    sessions: tuple[str, ...]
    turns: tuple[str, ...]


class Group(NamedTuple):
    """Sessions and the questions asked about them."""

    id: str
    sessions: tuple[Session, ...]
    questions: tuple[Asked, ...]


class Ranking(NamedTuple):
    """What a system found for a question, best first."""

    group: str
    question: str
    sessions: list[str]
    turns: list[str]
    milliseconds: float = 0.0


def load(path: Path) -> tuple[str, list[Group]]:
    """The name of a set and its groups."""
    data = path.read_bytes()
    bench = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    return str(bench["name"]), [_group(group) for group in bench["groups"]]


def _group(group: dict[str, Any]) -> Group:
    sessions = tuple(
        Session(
            each["id"],
            _moment(each.get("date")),
            tuple(Turn(turn["id"], turn["role"], turn["text"]) for turn in each["turns"]),
        )
        for each in group["sessions"]
    )
    # Who asks without saying when, asks after all of it was said.
    dates = [each.date for each in sessions if each.date is not None]
    last = max(dates) + timedelta(days=1) if dates else None
    questions = tuple(
        Asked(
            each["id"],
            each["type"],
            each["text"],
            _moment(each.get("date")) or last,
            tuple(each["gold_sessions"]),
            tuple(each.get("gold_turns") or ()),
        )
        for each in group["questions"]
        if each["type"] not in WITHOUT_ANSWER
    )
    return Group(group["id"], sessions, questions)


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None
