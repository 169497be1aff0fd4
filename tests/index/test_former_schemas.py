"""What a former ltm wrote is found again, whatever its tables were; only an index is rebuilt.

`schemas/` has one file for each form that the tables of `state.db`, `sessions.db` and `friction.db`
ever had, with rows as the ltm of that time wrote them, and one for the present form. None of the
former ones was in a release. Under number 1 `sessions.db` had three forms, which are told apart by
their columns; each has a file.

A change of tables needs a new number, a migration, and a file here.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm.files.sqlite import Schema, empty
from ltm.history import tables
from ltm.history.db import Passages
from ltm.history.passage import Header, Passage
from ltm.state import corrections, usage
from ltm.state.corrections import Ledger
from ltm.state.model_log import ModelLog, Spent, Unheard
from ltm.state.session_log import SessionLog
from ltm.state.usage import State
from ltm.text.terms import query_terms
from tests.cli.runner import Ltm

FOLDER = Path(__file__).parent / "schemas"
FORMS = sorted(path.stem for path in FOLDER.glob("*.sql"))
SCHEMAS: dict[str, Schema] = {
    "state": usage.SCHEMA,
    "sessions": tables.SCHEMA,
    "friction": corrections.SCHEMA,
}
PRESENT = [f"{name}-{schema.number}" for name, schema in SCHEMAS.items()]
MEMORIES = ("mem_0", "mem_1", "mem_2", "mem_3")
AT = datetime(2026, 3, 9, tzinfo=UTC)


def built(form: str, folder: Path) -> Path:
    """The database of a form, as the ltm of that time left it."""
    path = folder / f"{kind_of(form)}.db"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as db:
        path.chmod(0o600)
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript((FOLDER / f"{form}.sql").read_text("utf-8"))
    return path


def kind_of(form: str) -> str:
    return form.partition("-")[0]


def of_kind(kind: str) -> list[str]:
    return [form for form in FORMS if kind_of(form) == kind]


def number_of(form: str) -> int:
    return int(form.partition("-")[2].rstrip("abc"))


def tables_in(db: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """Every table and index, with its columns, their types and what is in its key."""
    names = db.execute("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
    asked = "SELECT name, type, pk FROM pragma_table_xinfo(?)"
    return {name: db.execute(asked, (name,)).fetchall() for (name,) in names}


def without_former(path: Path) -> None:
    assert [each.name for each in path.parent.iterdir() if "damaged" in each.name] == []


# -- every row -----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", of_kind("state"))
def test_usage_sessions_and_spend_are_found_again(form: str, tmp_path: Path) -> None:
    path, number = built(form, tmp_path), number_of(form)
    known = State(str(path))
    found = known.usage(MEMORIES, "p")
    used = {
        name: (each.uses, each.last_used and each.last_used.isoformat(), each.sessions_since)
        for name, each in found.items()
    }
    assert used == {
        "mem_0": (1, "2026-03-01T08:00:00+00:00", 2),
        "mem_1": (2, "2026-03-03T10:00:00+00:00", 0),
        "mem_2": (1 if number == 1 else 2, "2026-03-02T10:00:00+00:00", 1),
        **({} if number == 1 else {"mem_3": (0, None, 1)}),
    }
    # Schema 4 notes that a memory changed its phase, from which on it is idle.
    idle = {name: each.idle_days for name, each in found.items()}
    assert (idle["mem_1"], idle["mem_2"]) == (0, 0 if number >= 4 else 1)
    since = {name: each.uses_since for name, each in found.items()}
    assert since["mem_2"] == 0 or number == 1
    assert [known.sessions(project) for project in "pqr"] == [2, 1, 0]
    assert known.active_days_since("p", datetime(2026, 3, 1, tzinfo=UTC)) == 1
    assert known.batch_taken("p", "vault") is (number >= 2)
    known.close()

    log = SessionLog(str(path))
    told = [(each.id, each.project, each.number, each.started) for each in log.sessions()]
    assert told == [
        ("s3", "p", 2, "2026-03-03T09:00:00Z"),
        ("s2", "q", 1, "2026-03-02T09:00:00Z"),
        ("s1", "p", 1, "2026-03-01T09:00:00Z"),
    ]
    first = log.get("s1")
    assert first
    if number >= 3:
        assert (first.ended, first.reason) == ("2026-03-01T11:00:00Z", "clear")
        assert (first.cwd, first.transcript) == ("/p", "/t/s1.jsonl")
        assert (first.ok, first.failed, first.compactions) == (5, 3, 1)
        assert log.cursor("s1", "capture", "/t/s1.jsonl") == "120:abc"
        assert log.turns_read("capture", AT).known(["uuid-1", "uuid-2"]) == {"uuid-1"}
        assert log.progress("0001-key") == (2, 1)
    with log.transaction():  # and it goes on from there
        log.begin("s4", "p", "/p", "/t/s4.jsonl", AT)
    fourth = log.get("s4")
    assert fourth
    assert fourth.number == 3
    log.close()

    models = ModelLog(str(path))
    if number >= 5:
        assert models.spent(datetime(2026, 3, 3, 9, tzinfo=UTC)) == Spent(1, 900)
        assert models.unheard() == [
            Unheard("s1"),
            Unheard("s2", "7", "120-134", 5, 0, "too long"),
        ]
    assert models.reserve(AT, 10, calls_cap=1, tokens_cap=10)
    models.close()
    without_former(path)


@pytest.mark.parametrize("readonly", [True, False])
@pytest.mark.parametrize("form", of_kind("sessions"))
def test_what_was_said_is_found_again(form: str, readonly: bool, tmp_path: Path) -> None:
    path = built(form, tmp_path)
    said = Passages(str(path), readonly=readonly)
    assert said.problem is None
    one, two = said.of_session("one"), said.of_session("two")
    assert [each.text for each in one] == [
        "How do we retry a payment?",
        "With backoff, three times.",
        "make test: TypeError in src/pay.py",
        "Make it five times, paid in Zürich",
    ]
    assert [each.text for each in two] == ["Which port does staging use?"]
    assert one[2] == Passage(
        *(2, 1, "tool", "make test: TypeError in src/pay.py", "2026-03-01T09:03:00Z", 3, 3),
        *("uuid-3", "", ("src/pay.py",), ("make test",), ("TypeError: no retries",), 3, "one"),
    )
    for question, row in (("retry payment", 1), ("backoff", 2), ("zurich", 6)):
        (hit,) = said.find(query_terms(question), 5, since="2026-03-01").candidates
        assert hit.row == row
    assert [each.row for each in said.find_errors(query_terms("TypeError"), 5).candidates] == [3]
    views = said.find_views(query_terms("five times"), 5)
    assert len(views) == 1
    assert said.naming_file("src/pay.py") == [one[2]]
    assert [each.row for each in said.neighbours([2], 1)] == [1, 2, 3]
    assert [(each.id, each.turns, each.passages, each.size) for each in said.sessions()] == [
        ("one", 3, 4, 120),
        ("two", 2, 1, 28),
    ]
    said.close()

    said = Passages(str(path))  # and it goes on from there, as far as it was read
    assert said.cursor("one", "/t/one.jsonl") == "400:ghi"
    again = [each._replace(row=0, session="") for each in one]
    header = Header("one", "/p", "/t/one.jsonl")
    assert said.add(header, again, after="400:ghi", cursor="500:jkl") == 0
    assert said.known_messages(["uuid-5", "uuid-9"]) == {"uuid-5"}
    assert said.purge([4]) == 1
    assert said.size().passages == 4
    assert [each.row for each in said.find(query_terms("staging backoff"), 5).candidates] == [2]
    said.close()
    assert b"staging" not in path.read_bytes()
    without_former(path)


def test_words_that_got_stems_of_their_own_are_found_by_them(tmp_path: Path) -> None:
    path = built("sessions-2", tmp_path)
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "UPDATE texts SET text = 'A projection went wrong' WHERE row = 4;"
            "UPDATE words SET text = 'a project go wrong' WHERE rowid = 4;"
            "INSERT INTO views(views, rowid, user, rest)"
            " VALUES('delete', 2, 'which port does stage use', '');"
            "INSERT INTO views(rowid, user, rest) VALUES(2, 'a project go wrong', '');"
        )
    with closing(Passages(str(path), readonly=True)) as said:
        for question, rows in (("projection", [4]), ("went", [4]), ("project", []), ("Go", [])):
            found = said.find(query_terms(question), 5).candidates
            assert [each.row for each in found] == rows, question
            views = said.find_views(query_terms(question), 5)
            assert [each.session for each in views] == ["two" for _ in rows], question


@pytest.mark.parametrize("form", of_kind("friction"))
def test_what_users_corrected_is_found_again(form: str, tmp_path: Path) -> None:
    path = built(form, tmp_path)
    with closing(Ledger(str(path))) as found:
        assert [each.statement for each in found.evidence("p")] == [
            "use the mirror",
            "use the mirror, please",
            "delete no branches",
        ]
        rules = found.rules("p", AT)
        assert [(each.id, each.statement, each.observations) for each in rules] == [
            ("ag-001", "use the mirror", 2),
            ("ag-002", "delete no branches", 1),
        ]
        assert [each.rule.id for each in found.effect("p", AT)] == ["ag-001"]
    without_former(path)


# -- the tables ----------------------------------------------------------------------------------


def opened(path: Path) -> None:
    """Open a database as the product does, and give it back."""
    with closing(OPENERS[path.stem](str(path))):
        pass


def opened_state(path: str) -> State:
    known = State(path)
    known.sessions("p")
    return known


OPENERS: dict[str, Callable[[str], State | Passages | Ledger]] = {
    "state": opened_state,
    "sessions": Passages,
    "friction": Ledger,
}


@pytest.mark.parametrize("form", FORMS)
def test_a_migrated_database_has_the_tables_of_a_new_one(form: str, tmp_path: Path) -> None:
    path = built(form, tmp_path)
    opened(path)
    schema = SCHEMAS[path.stem]
    with closing(sqlite3.connect(path)) as db, closing(empty(schema)) as present:
        assert tables_in(db) == tables_in(present)
        assert db.execute("PRAGMA user_version").fetchone() == (schema.number,)
        assert db.execute("PRAGMA quick_check").fetchone() == ("ok",)


def test_every_number_has_a_migration_and_a_file() -> None:
    for name, schema in SCHEMAS.items():
        assert len(schema.migrations) == schema.number - 1, name
        assert {number_of(form) for form in of_kind(name)} == {*range(1, schema.number + 1)}, name


@pytest.mark.parametrize("form", PRESENT)
def test_the_tables_of_a_number_stay_as_they_are(form: str, tmp_path: Path) -> None:
    asked = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
    with (
        closing(sqlite3.connect(built(form, tmp_path))) as db,
        closing(empty(SCHEMAS[kind_of(form)])) as present,
    ):
        assert db.execute(asked).fetchall() == present.execute(asked).fetchall()


@pytest.mark.parametrize(
    ("form", "number"),
    [(form, number) for form in PRESENT for number in range(number_of(form))],
)
def test_tables_that_are_newer_than_their_number_are_taken_as_they_are(
    form: str, number: int, tmp_path: Path
) -> None:
    """A dump that is read back has the number 0."""
    path = built(form, tmp_path)
    with closing(sqlite3.connect(path)) as db:
        before = sorted(db.iterdump())
        db.execute(f"PRAGMA user_version = {number}")
    opened(path)
    with closing(sqlite3.connect(path)) as db:
        assert sorted(db.iterdump()) == before
        assert db.execute("PRAGMA user_version").fetchone() == (SCHEMAS[path.stem].number,)
    without_former(path)


# -- on the way ----------------------------------------------------------------------------------

KILLED = """
import os, signal, sqlite3, sys
from tests.index.test_former_schemas import OPENERS

connect = sqlite3.connect


class Killed(sqlite3.Connection):
    left = 0

    def execute(self, *words):
        Killed.left -= 1
        if Killed.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(*words)


sqlite3.connect = lambda *words, **named: connect(*words, **{**named, "factory": Killed})
path = sys.argv[1]
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        Killed.left = int(line)
        OPENERS[os.path.basename(path)[:-3]](path).close()
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""
"""Opens a database in a process of its own for each line, and kills it after so many statements."""

OPENED = """
import sys
from tests.index.test_former_schemas import OPENERS

print("ready", flush=True)
sys.stdin.readline()
OPENERS[sys.argv[2]](sys.argv[1]).close()
"""


@pytest.mark.parametrize("form", ["state-1", "sessions-1a"])
def test_a_kill_at_any_statement_leaves_the_old_tables_or_the_new(
    form: str, tmp_path: Path
) -> None:
    path = built(form, tmp_path)
    schema = SCHEMAS[path.stem]
    with closing(sqlite3.connect(path)) as db:
        old = tables_in(db)
    with closing(empty(schema)) as present:
        new = tables_in(present)
    numbers = set()
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as killer:
        assert killer.stdin
        assert killer.stdout
        for most in range(1, 100):
            path = built(form, tmp_path)
            print(most, file=killer.stdin, flush=True)
            code = int(killer.stdout.readline())
            with closing(sqlite3.connect(path)) as db:
                (number,) = db.execute("PRAGMA user_version").fetchone()
                assert tables_in(db) == (new if number == schema.number else old)
            numbers.add(number)
            if code == 0:
                break
            assert code == -signal.SIGKILL
            opened(path)  # the next process finishes it
            with closing(sqlite3.connect(path)) as db:
                assert tables_in(db) == new
                assert db.execute("SELECT count(*) FROM sessions").fetchone()[0] >= 2
    assert numbers == {1, schema.number}
    without_former(path)


@pytest.mark.parametrize("form", ["state-1", "sessions-1a"])
def test_processes_that_open_it_at_once_migrate_it_once(form: str, tmp_path: Path) -> None:
    path = built(form, tmp_path)
    command = [sys.executable, "-c", OPENED, str(path), path.stem]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(4)
    ]
    for process in processes:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write(b"go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate()
    assert [process.returncode for process in processes] == [0, 0, 0, 0]
    alone = tmp_path / "alone"
    alone.mkdir()
    other = built(form, alone)
    opened(other)
    with closing(sqlite3.connect(path)) as db, closing(sqlite3.connect(other)) as expected:
        assert sorted(db.iterdump()) == sorted(expected.iterdump())
    without_former(path)


def test_on_a_disk_that_cannot_be_written_it_is_read_all_the_same(tmp_path: Path) -> None:
    path = built("sessions-1a", tmp_path)
    os.mkdir(f"{path}-wal")  # so SQLite cannot make its log, as on a disk without room
    before = path.read_bytes()
    for readonly in (True, False):
        with closing(Passages(str(path), readonly=readonly)) as said:
            assert len(said.of_session("one")) == 4
    assert path.read_bytes() == before


def test_a_session_start_reads_usage_of_a_former_schema_and_writes_nothing(tmp_path: Path) -> None:
    path = built("state-1", tmp_path)
    before = path.read_bytes()
    with closing(State(str(path), readonly=True)) as known:
        assert known.usage(["mem_1"], "p")["mem_1"].uses == 2
    assert path.read_bytes() == before


# -- doctor --------------------------------------------------------------------------------------


def test_doctor_migrates_what_it_can_and_names_what_it_cannot(tmp_path: Path) -> None:
    ltm = Ltm(tmp_path / "home", tmp_path / "project")
    ltm.project.mkdir()
    ltm.ok("remember", "Builds run on two cores only")
    home = ltm.home / ".ltm"
    paths = [built(form, home) for form in ("state-1", "sessions-1a", "friction-1")]
    assert ltm.json("doctor")["problems"] == []
    for path in paths:
        with closing(sqlite3.connect(path)) as db:
            number = SCHEMAS[path.stem].number
            assert db.execute("PRAGMA user_version").fetchone() == (number,)

    path = built("state-3", home)
    with closing(sqlite3.connect(path)) as db:
        db.execute("ALTER TABLE sessions RENAME COLUMN started TO begun")
    before = path.read_bytes()
    done = ltm.run("doctor", "--fix")
    assert done.returncode == 1
    assert "state.db" in done.stdout
    assert "cannot be brought from schema 3 to 6: no column sessions.started" in done.stdout
    assert path.read_bytes() == before
    without_former(path)
