"""A refusal of the machine is told as one; a mistake of ours is not taken for one."""

from __future__ import annotations

import errno
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ltm.errors import Busy, LtmError, StorageFailed
from ltm.store.open import as_refusal


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LTM_HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("number", "cause"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EROFS, "the disk is read-only"),
        (errno.EMFILE, "too many files are open"),
    ],
)
def test_what_the_disk_refuses_is_told_with_its_path(number: int, cause: str) -> None:
    told = as_refusal(OSError(number, "whatever", "/some/where"))
    assert isinstance(told, StorageFailed)
    assert cause in str(told)
    assert str(told).startswith("/some/where")
    assert told.hint


def test_without_a_path_the_home_is_named(tmp_path: Path) -> None:
    assert str(as_refusal(OSError(errno.EIO, "x"))).startswith(str(tmp_path))


def failing(path: Path, question: str) -> sqlite3.Error:
    with closing(sqlite3.connect(str(path), timeout=0, isolation_level=None)) as db:
        with pytest.raises(sqlite3.Error) as caught:
            db.execute(question)
        return caught.value


def test_a_database_that_someone_holds_is_told_as_busy(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("CREATE TABLE t(x)")
        db.execute("BEGIN EXCLUSIVE")
        told = as_refusal(failing(path, "INSERT INTO t VALUES(1)"))
    assert isinstance(told, Busy)
    assert "database is locked" not in str(told)


def test_a_database_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.db").mkdir()
    with pytest.raises(sqlite3.Error) as caught:
        sqlite3.connect(str(tmp_path / "x.db")).execute("SELECT 1 FROM sqlite_master")
    told: LtmError | None = as_refusal(caught.value)
    assert isinstance(told, StorageFailed)
    assert str(told).startswith(f"{tmp_path}: could not write its databases: ")
    assert told.hint == "check the disk and the room on it, then run the same command again"


def test_a_mistake_in_the_code_stays_one(tmp_path: Path) -> None:
    assert as_refusal(KeyError("x")) is None
    assert as_refusal(FileNotFoundError(errno.ENOENT, "x", "y")) is None
    assert as_refusal(failing(tmp_path / "x.db", "SELECT nonsense")) is None
