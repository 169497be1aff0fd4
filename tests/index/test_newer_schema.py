"""What a newer ltm wrote is not touched by an older one, which works on without it (R21).

A person may have two of them, in a plugin and on the PATH. If each threw away what the other wrote,
usage, sessions and what was said in them would be lost again and again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ltm.errors import LtmError
from ltm.history.db import Passages
from ltm.model import Filter
from ltm.state import corrections
from ltm.state.session_log import SessionLog
from ltm.state.usage import SCHEMA, State
from tests.figures import count
from tests.hook.runner import Hooks
from tests.stores import file_store, make
from tests.worker.test_drain import Desk


def into_the_future(path: Path) -> bytes:
    """Make a database one of a later version; its bytes."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA user_version = 99")
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


def make_state(path: Path) -> None:
    state = State(str(path))
    state.used(["mem_1"], make().created)
    state.close()


def make_said(path: Path) -> None:
    Passages(str(path)).close()


def make_ledger(path: Path) -> None:
    with corrections.opened(str(path.parent)):
        pass


def read_state(path: Path) -> None:
    state = State(str(path))
    state.seen(["mem_2"])
    assert state.usage(["mem_1"]) == {}
    state.close()
    with pytest.raises(LtmError, match="newer"):
        SessionLog(str(path))


def read_said(path: Path) -> None:
    passages = Passages(str(path))
    assert passages.size().passages == 0
    assert passages.problem is not None
    with pytest.raises(LtmError):
        passages.purge_session("s1")
    passages.close()


def read_ledger(path: Path) -> None:
    with pytest.raises(LtmError, match="newer"), corrections.opened(str(path.parent)):
        pass


DATABASES: dict[str, tuple[Callable[[Path], None], Callable[[Path], None]]] = {
    "state.db": (make_state, read_state),
    "sessions.db": (make_said, read_said),
    corrections.FILE: (make_ledger, read_ledger),
}


@pytest.mark.parametrize("name", DATABASES)
def test_a_database_of_a_newer_ltm_is_left_to_the_byte(name: str, tmp_path: Path) -> None:
    made, read = DATABASES[name]
    made(tmp_path / name)
    before = into_the_future(tmp_path / name)
    read(tmp_path / name)
    untouched = (tmp_path / name).read_bytes() == before
    assert [path.name for path in tmp_path.glob("*.damaged*")] == []
    count("R21", newer_schemas=1, newer_schemas_written=int(not untouched))
    assert untouched


def test_with_a_newer_state_memories_work_and_no_event_is_lost(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    home = Path(desk.home)
    home.mkdir(parents=True)
    make_state(home / "state.db")
    before = into_the_future(home / "state.db")
    desk.tell("SessionStart")
    desk.tell("SessionEnd")
    assert desk.drain().errors
    assert len(desk.waiting()) == 2
    Hooks(tmp_path).remember("Builds run on two cores only")
    assert (home / "state.db").read_bytes() == before
    # The newer one comes back, and goes on with them.
    with closing(sqlite3.connect(home / "state.db")) as db:
        db.execute(f"PRAGMA user_version = {SCHEMA.number}")
    assert desk.drain().errors == 0
    assert desk.waiting() == []
    assert list(desk.sessions()) == ["s1"]


@pytest.mark.parametrize("schema", [1, 2, 3, 99])
def test_an_index_of_any_other_schema_is_rebuilt_and_answers(schema: int, tmp_path: Path) -> None:
    store = file_store(tmp_path)
    store.create(make("one"))
    store.close()
    (path,) = tmp_path.glob("project/index.db")
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {schema}")
    store = file_store(tmp_path)
    assert [each.memory.title for each in store.list(Filter()).items] == ["one"]
    store.close()
    count("R21", schemas_opened=1)
