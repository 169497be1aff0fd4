"""What a person is told when the machine refuses, and that our own mistakes are not hidden so."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

import pytest

from ltm.core.errors import Busy, LtmError, StorageFailed
from ltm.storage.refusal import as_refusal


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("LTM_HOME", str(tmp_path))
    return str(tmp_path)


def sqlite_error(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("as SQLite says it")
    error.sqlite_errorcode = code
    return error


def told(error: Exception) -> LtmError:
    found = as_refusal(error)
    assert found is not None
    return found


def test_a_full_disk_is_named_with_the_file_it_refused(home: str) -> None:
    found = told(OSError(errno.ENOSPC, "no room", "/some/file"))
    assert isinstance(found, StorageFailed)
    assert found.path == "/some/file"
    assert told(OSError(errno.ENOSPC, "no room")).path == home, "or where we keep things"
    assert told(OSError(errno.ENOSPC, "no room", b"/bytes")).path == home


def test_a_database_somebody_holds_is_busy_and_one_that_cannot_be_written_is_not(home: str) -> None:
    busy = told(sqlite_error(sqlite3.SQLITE_BUSY))
    full = told(sqlite_error(sqlite3.SQLITE_FULL))
    assert isinstance(busy, Busy)
    assert isinstance(full, StorageFailed)
    assert "as SQLite says it" in full.message
    for found in (busy, full):
        assert found.path == home
        assert "run the same command again" in found.hint


@pytest.mark.parametrize(
    "error",
    [
        ValueError("ours"),
        sqlite3.OperationalError("no such column: ours"),
        sqlite_error(sqlite3.SQLITE_CORRUPT),
        OSError(errno.EBADF, "ours"),
    ],
)
def test_a_mistake_of_ours_stays_one(error: Exception) -> None:
    assert as_refusal(error) is None
