"""Our own recall, as the product does it: transcripts in, kept as the drain keeps them, asked.

Every session becomes a transcript of the client's form, with its dates, and is read by the same
flow that reads a real one; a group is a project. Questions go through `recall.search.recall`, with
the day on which they were asked. A turn of the data is a line of the transcript, so that what is
cited can be scored.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from copy import copy
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.retrieval.data import Asked, Group, Ranking, Session, Turn
from ltm.config.config import load
from ltm.embed.embedder import Embedder, open_embedder
from ltm.history.ingest import keep_session
from ltm.model import Filter, iso
from ltm.project.layout import Places, places
from ltm.recall.passages import Quote, SessionSearch
from ltm.recall.search import recall
from ltm.state.session_log import Session as Logged
from ltm.store.open import open_store
from ltm.store.project import OpenProject

ASKED_FOR = 100
"""Hits a question may have."""

_NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Ours:
    """A fresh LTM_HOME with a project for every group."""

    def __init__(self, folder: Path, groups: list[Group], *, vectors: bool) -> None:
        self._folder = folder
        self._vectors = vectors
        self.passages = 0
        self._places: dict[str, Places] = {}
        started = time.perf_counter()
        for number, group in enumerate(groups):
            self._ingest(number, group)
        self.ingest_seconds = time.perf_counter() - started

    def without_vectors(self) -> Ours:
        """The same sessions, asked by words only."""
        other = copy(self)
        other._vectors = False
        return other

    def rankings(self, groups: list[Group]) -> list[Ranking]:
        """What is found for every question."""
        found: list[Ranking] = []
        for group in groups:
            where = self._places[group.id]
            config = load(where.home, where.settings)
            lines = {
                (_name(session.id), place): turn.id
                for session in group.sessions
                for place, turn in enumerate(session.turns, 1)
            }
            names = {_name(session.id): session.id for session in group.sessions}
            store = open_store(where, config)
            said = SessionSearch(where.sessions_db, self._embedder(where))
            try:
                for each in group.questions:
                    found.append(_ask(store, said, group, each, lines, names))
            finally:
                said.close()
                store.close()
        return found

    def disk_mb(self) -> float:
        """What all of it takes on the disk."""
        files = (file for file in (self._folder / "home").rglob("*") if file.is_file())
        return sum(file.stat().st_size for file in files) / 1e6

    def _ingest(self, number: int, group: Group) -> None:
        project = self._folder / f"project{number}"
        project.mkdir(parents=True)
        environ = {**os.environ, "LTM_HOME": str(self._folder / "home")}
        where = places(str(project), environ=environ)
        self._places[group.id] = where
        transcripts = self._folder / "transcripts" / str(number)
        transcripts.mkdir(parents=True)
        for session in group.sessions:
            path = transcripts / f"{_name(session.id)}.jsonl"
            path.write_text("".join(f"{line}\n" for line in _lines(session)), encoding="utf-8")
            logged = Logged(
                _name(session.id), where.project.id, 1, "", "", "", str(project), str(path), 0, 0, 0
            )
            with OpenProject(str(project), environ=environ) as opened:
                self.passages += keep_session(opened, logged, session.date or _NOW)
        self._embed(where)

    def _embed(self, where: Places) -> None:
        from ltm.embed.update import keep_passages
        from ltm.history.db import Passages
        from ltm.index.vectors import vectors_of

        embedder = self._embedder(where)()
        if embedder is None:
            return
        passages = Passages(where.sessions_db, readonly=True)
        vectors = vectors_of(where.sessions_db, embedder.name, embedder.dimensions)
        keep_passages(passages, vectors, embedder, 3600)
        vectors.close()
        passages.close()

    def _embedder(self, where: Places) -> Callable[[], Embedder | None]:
        if not self._vectors:
            return lambda: None
        config = load(where.home, where.settings)
        return lambda: open_embedder(config)


def _ask(
    store: object,
    said: SessionSearch,
    group: Group,
    asked: Asked,
    lines: dict[tuple[str, int], str],
    names: dict[str, str],
) -> Ranking:
    started = time.process_time()
    found = recall(
        store,  # type: ignore[arg-type]
        asked.text,
        Filter(),
        ASKED_FOR,
        counts=False,
        said=said,
        as_of=asked.date,
    )
    milliseconds = (time.process_time() - started) * 1000
    quotes = [hit.passage for hit in found.hits if isinstance(hit, Quote)]
    sessions = list(dict.fromkeys(names[each.session] for each in quotes))
    turns = list(dict.fromkeys(lines[each.session, each.first] for each in quotes))
    return Ranking(group.id, asked.id, sessions, turns, milliseconds)


def _lines(session: Session) -> list[str]:
    """A transcript as the client writes it: a line for every turn."""
    start = session.date or _NOW
    return [
        json.dumps(_line(session, place, turn, start + timedelta(seconds=place)))
        for place, turn in enumerate(session.turns)
    ]


def _line(session: Session, place: int, turn: Turn, at: datetime) -> dict[str, object]:
    agent = turn.role == "assistant"
    # People who have a name are not agents; who speaks is part of what is said.
    text = turn.text if turn.role in ("user", "assistant") else f"{turn.role}: {turn.text}"
    return {
        "type": "assistant" if agent else "user",
        "uuid": f"{_name(session.id)}-{place}",
        "sessionId": _name(session.id),
        "timestamp": iso(at),
        "message": {
            "role": "assistant" if agent else "user",
            "content": [{"type": "text", "text": text}],
        },
    }


def _name(session: str) -> str:
    return "".join(char if char.isalnum() else "-" for char in session)
