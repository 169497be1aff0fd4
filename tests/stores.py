"""A store for tests: real files in a temporary folder, as small as can be."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from ltm.files.atomic import make_folder
from ltm.files.sqlite import connect, transaction
from ltm.kinds import Kinds
from ltm.model import Memory, Scope, new_id, now
from ltm.state.usage import SCHEMA, State, note_session
from ltm.store.file_store import FileStore
from ltm.vault.vault import Vault

START = datetime(2026, 1, 1, tzinfo=UTC)


def file_store(
    folder: Path, clock: Callable[[], datetime] = now, *, answers_first: bool = False
) -> FileStore:
    """A store with one project vault and one agent vault below `folder`."""
    project = Vault("private", str(folder / "project"))
    agent = Vault("agent", str(folder / "agent"))
    return FileStore(
        (project, agent),
        {Scope.PROJECT: project, Scope.AGENT: agent},
        State(str(folder / "state.db")),
        Kinds(),
        project="p",
        clock=clock,
        answers_first=answers_first,
    )


def begin(state: State, session: str, project: str, at: datetime) -> None:
    """Note a session as the log does, in the same tables, without waiting for the disk."""
    make_folder(os.path.dirname(state.path))
    with closing(connect(state.path, SCHEMA)) as db, transaction(db):
        note_session(db, session, project, at)


def make(title: str = "Use ruff for linting", content: str = "", **fields: object) -> Memory:
    """A memory with sensible fields."""
    text = content or f"{title}. It keeps the style the same for all."
    values: dict[str, object] = {
        "id": new_id(START),
        "kind": "fact",
        "title": title,
        "summary": title,
        "content": text,
        "created": START,
        "updated": START,
        "confirmed": START,
        **fields,
    }
    return Memory(**values)  # type: ignore[arg-type]
