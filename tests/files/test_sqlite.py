"""A local database never gets in the way: a broken one is begun again, one in use is respected."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ltm.files import sqlite
from ltm.state.model_log import ModelLog

TABLES = "CREATE TABLE word (text TEXT);\nCREATE TABLE other (number INTEGER)"
OTHER = "CREATE TABLE IF NOT EXISTS other (number INTEGER)"
SCHEMA = sqlite.Schema(7, TABLES, (OTHER,) * 6)
DERIVED = sqlite.Schema(7, TABLES, derived=True)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "some.db")


def opened(path: str) -> sqlite3.Connection:
    return sqlite.connect(path, DERIVED)


def put(path: str, *words: str) -> None:
    with closing(opened(path)) as db, sqlite.transaction(db):
        db.executemany("INSERT INTO word VALUES (?)", [(word,) for word in words])


def words_in(db: sqlite3.Connection) -> list[str]:
    return [text for (text,) in db.execute("SELECT text FROM word ORDER BY rowid")]


def change(db: sqlite3.Connection, *statements: str) -> None:
    with sqlite.transaction(db):
        for statement in statements:
            db.execute(statement)


def damage(path: str) -> None:
    Path(path).write_bytes(b"this is no database at all " * 100)


def garble(path: str) -> None:
    """Damage the name of a table, so that SQLite complains of it in bytes that are no text."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE secret (x); PRAGMA user_version = 7")
    data = Path(path).read_bytes()
    assert b"tablesecretsecret" in data
    garbled = data.replace(b"tablesecretsecret", b"table\xa7ecret\xa7ecret")
    Path(path).write_bytes(garbled.replace(b"TABLE secret (x)", b"TABLE \xa7ecret (("))


def older(path: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE earlier (x); PRAGMA user_version = 6")


def newer(path: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE later (x); PRAGMA user_version = 8")


def foreign(path: str) -> None:
    """Somebody else's, without any number of a schema."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE theirs (x)")


def test_what_was_committed_is_there_for_the_next_and_for_no_one_else(path: str) -> None:
    before = os.umask(0)
    try:
        put(path, "one", "two")
    finally:
        os.umask(before)
    assert Path(path).stat().st_mode & 0o777 == 0o600
    with closing(opened(path)) as db:
        assert words_in(db) == ["one", "two"]
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA secure_delete").fetchone() == (1,)
        assert db.execute("PRAGMA synchronous").fetchone() == (1,)


@pytest.mark.parametrize("spoil", [damage, garble, older, newer, foreign])
def test_what_can_be_derived_is_begun_again_where_it_is(
    path: str, spoil: Callable[[str], None]
) -> None:
    spoil(path)
    Path(f"{path}-journal").write_bytes(b"left over")
    put(path, "one")
    with closing(opened(path)) as db:
        assert words_in(db) == ["one"]
    assert sorted(os.listdir(os.path.dirname(path))) == ["some.db"]


@pytest.mark.parametrize("spoil", [damage, garble, foreign])
def test_what_cannot_be_derived_is_moved_aside_with_all_that_belongs_to_it(
    path: str, spoil: Callable[[str], None]
) -> None:
    for number in (1, 2):
        spoil(path)
        was = Path(path).read_bytes()
        db, aside = sqlite.keep(path, SCHEMA)
        assert words_in(db) == []
        db.close()
        assert aside == f"{path}.damaged{number}"
        assert Path(aside).read_bytes() == was
        os.unlink(path)
    # The log is a part of the database: words may be in it and nowhere else.
    Path(path).write_bytes(b"x")
    Path(f"{path}-wal").write_bytes(b"log")
    assert sqlite.set_aside(path) == f"{path}.damaged3"
    assert Path(f"{path}.damaged3-wal").read_bytes() == b"log"
    assert not os.path.exists(f"{path}-wal")


def test_what_another_has_put_aside_already_is_not_an_error(path: str) -> None:
    assert sqlite.set_aside(path) == ""
    assert not os.path.exists(f"{path}.damaged1")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (newer, r"was written by a newer ltm \(schema 8, this one knows 7\)"),
        (older, r"cannot be brought from schema 6 to 7: no column word.text"),
    ],
)
def test_what_cannot_be_derived_nor_used_stays_where_and_as_it_is(
    path: str, spoil: Callable[[str], None], message: str
) -> None:
    """reliability R21: two versions at work in turn take nothing from each other."""
    spoil(path)
    was = Path(path).read_bytes()
    for enter in (sqlite.keep, sqlite.migrate):
        with pytest.raises(sqlite.Incompatible, match=message):
            enter(path, SCHEMA)
    with closing(sqlite.connect(path, SCHEMA)) as db:
        assert not sqlite.is_kept(db)
        assert words_in(db) == []
    assert Path(path).read_bytes() == was
    assert sorted(os.listdir(os.path.dirname(path))) == ["some.db"]


@pytest.mark.parametrize("number", range(7))
def test_a_former_schema_becomes_the_present_one_and_keeps_its_rows(path: str, number: int) -> None:
    """Number 0: a dump that was read back has lost it."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "CREATE TABLE word (text TEXT); INSERT INTO word VALUES ('one');"
            f"PRAGMA user_version = {number}"
        )
    with pytest.raises(sqlite.Older):
        sqlite.look(path, SCHEMA)
    with closing(sqlite.copy(path, SCHEMA)) as db:
        assert words_in(db) == ["one"]
    db, aside = sqlite.keep(path, SCHEMA)
    with closing(db):
        assert (words_in(db), aside) == (["one"], "")
    with closing(sqlite.look(path, SCHEMA)) as db:
        assert db.execute("SELECT count(*) FROM other").fetchone() == (0,)


@pytest.mark.parametrize("failure", [sqlite3.IntegrityError("twice"), ValueError("no number")])
def test_a_migration_that_fails_leaves_the_file_as_it_was(path: str, failure: Exception) -> None:
    def fail(db: sqlite3.Connection) -> None:
        db.execute("DROP TABLE word")
        raise failure

    with closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE word (text TEXT); PRAGMA user_version = 5")
    was = Path(path).read_bytes()
    with pytest.raises(sqlite.Incompatible, match=str(failure)):
        sqlite.keep(path, SCHEMA._replace(migrations=(*SCHEMA.migrations[:5], fail)))
    assert Path(path).read_bytes() == was
    assert sorted(os.listdir(os.path.dirname(path))) == ["some.db"]


def test_a_sound_one_is_kept_as_it_is(path: str) -> None:
    put(path, "one")
    db, aside = sqlite.keep(path, SCHEMA)
    with closing(db):
        assert (words_in(db), aside) == (["one"], "")


@pytest.mark.parametrize("keeps", [True, False])
def test_one_that_another_holds_is_neither_replaced_nor_moved(
    path: str, keeps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "PATIENCE_MS", 0)
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        holder.execute("CREATE TABLE word (text TEXT)")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            (sqlite.keep if keeps else sqlite.connect)(path, SCHEMA)
        holder.execute("COMMIT")
        assert words_in(holder) == []
    assert not os.path.exists(f"{path}.damaged1")


@pytest.mark.parametrize("there", [True, False])
def test_where_nothing_can_be_written_reading_goes_on_and_keeping_says_no(
    path: str, there: bool
) -> None:
    if there:
        put(path, "one")
    os.mkdir(f"{path}-wal")  # so SQLite cannot make its log, as on a disk without room
    with closing(opened(path)) as db:
        assert words_in(db) == (["one"] if there else [])
        with sqlite.transaction(db):
            db.execute("INSERT INTO word VALUES ('two')")  # for as long as this process runs
        assert words_in(db)[-1] == "two"
    with pytest.raises(sqlite3.OperationalError) as caught:
        sqlite.keep(path, SCHEMA)
    assert sqlite.is_unwritable(caught.value)
    assert not os.path.exists(f"{path}.damaged1")


def test_where_there_is_no_place_for_a_file_it_is_in_memory(tmp_path: Path) -> None:
    path = str(tmp_path / "no folder" / "some.db")
    with closing(opened(path)) as db:
        assert words_in(db) == []
    with pytest.raises(FileNotFoundError):
        sqlite.keep(path, SCHEMA)
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_not_written_through(path: str, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_bytes(b"not ours")
    os.symlink(precious, path)
    with closing(opened(path)) as db:
        assert words_in(db) == []
    assert precious.read_bytes() == b"not ours"
    assert os.path.islink(path)


def test_a_change_is_there_whole_or_not_at_all(path: str) -> None:
    with closing(opened(path)) as db:
        with pytest.raises(sqlite3.OperationalError, match="nonsense"):
            change(db, "INSERT INTO word VALUES ('half')", "nonsense")
        assert not db.in_transaction
        assert words_in(db) == []
        with pytest.raises(sqlite3.OperationalError, match="nonsense"):
            change(db, "ROLLBACK", "nonsense")  # as SQLite does by itself when the disk is full
        change(db, "INSERT INTO word VALUES ('whole')")
        assert not db.in_transaction
        assert words_in(db) == ["whole"]


def test_within_a_snapshot_what_others_write_is_not_seen_and_afterwards_it_is(path: str) -> None:
    put(path, "one")
    with closing(opened(path)) as db:
        with sqlite.snapshot(db):
            assert words_in(db) == ["one"]
            put(path, "two")
            with sqlite.snapshot(db):  # one within another is the same one
                assert words_in(db) == ["one"]
            assert words_in(db) == ["one"]
        assert not db.in_transaction
        assert words_in(db) == ["one", "two"]
        with sqlite.transaction(db), sqlite.snapshot(db):
            db.execute("INSERT INTO word VALUES ('three')")
        assert words_in(db) == ["one", "two", "three"]


def test_a_change_holds_the_file_from_its_first_moment(path: str) -> None:
    with closing(opened(path)) as one, closing(opened(path)) as two, sqlite.transaction(one):
        two.execute("PRAGMA busy_timeout = 0")
        with pytest.raises(sqlite3.OperationalError) as caught, sqlite.transaction(two):
            raise AssertionError("two changes at once")
        assert sqlite.is_busy(caught.value)


class TestLooking:
    def test_what_is_not_there_is_an_error_and_is_not_made(self, path: str) -> None:
        with pytest.raises(sqlite3.DatabaseError):
            sqlite.look(path, SCHEMA)
        with pytest.raises(sqlite3.DatabaseError):
            sqlite.look(path, SCHEMA, long=True)
        assert os.listdir(os.path.dirname(path)) == []

    @pytest.mark.parametrize("spoil", [damage, older, foreign])
    def test_what_is_unusable_is_an_error_and_stays(
        self, path: str, spoil: Callable[[str], None]
    ) -> None:
        spoil(path)
        was = Path(path).read_bytes()
        with pytest.raises(sqlite3.DatabaseError, match=r"schema \w+ is not 7"):
            sqlite.look(path, SCHEMA)
        assert Path(path).read_bytes() == was

    def test_nothing_can_be_changed(self, path: str) -> None:
        put(path, "one")
        with closing(sqlite.look(path, SCHEMA)) as db:
            assert words_in(db) == ["one"]
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                db.execute("DELETE FROM word")
        assert os.listdir(os.path.dirname(path)) == ["some.db"]

    @pytest.mark.parametrize("name", ["a?b.db", "a#b.db", "100%25.db", "a b&mode=rwc.db"])
    def test_any_name_means_that_file(self, name: str, tmp_path: Path) -> None:
        path = str(tmp_path / name)
        put(path, "one")
        with closing(sqlite.look(path, SCHEMA)) as db:
            assert words_in(db) == ["one"]
        assert os.listdir(tmp_path) == [name]

    def test_what_is_only_in_the_log_yet_is_seen(self, path: str) -> None:
        with closing(opened(path)) as writer:
            with sqlite.transaction(writer):
                writer.execute("INSERT INTO word VALUES ('one')")
            with closing(sqlite.look(path, SCHEMA)) as db:
                assert words_in(db) == ["one"]

    def test_a_log_that_cannot_be_used_costs_what_is_in_it_only(self, path: str) -> None:
        put(path, "one")
        os.mkdir(f"{path}-wal")
        with closing(sqlite.look(path, SCHEMA)) as db:
            assert words_in(db) == ["one"]

    def test_who_looks_for_long_sees_what_comes_later(self, path: str) -> None:
        put(path, "one")
        with closing(sqlite.look(path, SCHEMA, long=True)) as db:
            put(path, "two")
            assert words_in(db) == ["one", "two"]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_BUSY, "busy"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "busy"),
        (sqlite3.SQLITE_LOCKED, "busy"),
        (sqlite3.SQLITE_CORRUPT, "damaged"),
        (sqlite3.SQLITE_NOTADB, "damaged"),
        (sqlite3.SQLITE_CORRUPT_VTAB, "damaged"),
        (sqlite3.SQLITE_READONLY, "unwritable"),
        (sqlite3.SQLITE_READONLY_DBMOVED, "unwritable"),
        (sqlite3.SQLITE_FULL, "unwritable"),
        (sqlite3.SQLITE_IOERR_FSYNC, "unwritable"),
        (sqlite3.SQLITE_CANTOPEN, "unwritable"),
        (sqlite3.SQLITE_PERM, "unwritable"),
        (sqlite3.SQLITE_ERROR, ""),
        (None, ""),
    ],
)
def test_trouble_has_one_cause(code: int | None, kind: str) -> None:
    """The disk, the file or somebody else: each is answered in another way."""
    error = sqlite3.OperationalError()
    if code is not None:  # our own has none
        error.sqlite_errorcode = code
    asked = {
        "busy": sqlite.is_busy,
        "damaged": sqlite.is_damaged,
        "unwritable": sqlite.is_unwritable,
    }
    assert [name for name, is_so in asked.items() if is_so(error)] == ([kind] if kind else [])


def test_no_statement_numbers_its_placeholders() -> None:
    """Python 3.12.0 to 3.12.3 take `?1` for a name and warn of a sequence given for it."""
    sources = Path(sqlite.__file__).parent.parent.rglob("*.py")
    numbered = re.compile(r"(?<=[\s(,=])\?\d")
    assert [path.name for path in sources if numbered.search(path.read_text("utf-8"))] == []


def test_what_one_process_writes_by_two_connections_outlives_the_close_of_another(
    tmp_path: Path,
) -> None:
    """A second connection must not end the locks of the first: the next process to close the
    database would delete its log, and with it everything that is written from then on."""
    path = str(tmp_path / "state.db")
    with closing(ModelLog(path)) as first, closing(ModelLog(path)):
        first.note_unheard("before")
        looking = (
            "import sys; from contextlib import closing; from ltm.state.model_log import ModelLog\n"
            "with closing(ModelLog(sys.argv[1])) as log: print(*(e.session for e in log.unheard()))"
        )

        def seen() -> str:
            command = [sys.executable, "-c", looking, path]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout

        assert seen().split() == ["before"]
        first.note_unheard("after")
        assert sorted(seen().split()) == ["after", "before"]
