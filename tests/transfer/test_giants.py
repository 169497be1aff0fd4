"""Databases and notes that are made to need gigabytes: a real import of each (reliability S20)."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.figures import count, worst

MOST_MB = 150
"""What a whole process may need: without any trap it is about 30."""

GIANT = 60_000_000
COLUMNS = "id, agent_id, region, kind, created_at, impact"
ROW = (
    "INSERT INTO memories(id, agent_id, region, kind, impact)"
    " VALUES('a', 'x', 'PROJECT', 'FACT', 'LOW')"
)
NOT_THEIRS = "is a database without a table 'memories' that keeps region, kind and content"
VIEW = (
    "SELECT 1 AS rowid, 1 AS id, 2 AS agent_id, 'PROJECT' AS region, 'FACT' AS kind, 3 AS impact,"
    " 4 AS created_at, hex(zeroblob(400000000)) AS content"
)


class Done(NamedTuple):
    """How a command ended."""

    code: int
    said: str
    peak_mb: float
    seconds: float
    """Of processor time, which other work on the machine does not change."""


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A folder with a home and a project."""
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    return tmp_path


# A process is said to have needed what the one it was forked from needed: so by a small one.
MEASURED = """
import os, resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_CPU, (100, 100))  # seconds: what has no end is ended
process = subprocess.Popen([sys.executable, "-I", "-m", "ltm", *sys.argv[1:]])
_, status, used = os.wait4(process.pid, 0)
print(os.waitstatus_to_exitcode(status), used.ru_maxrss, used.ru_utime + used.ru_stime)
"""


def ltm(world: Path, *words: str) -> Done:
    """Run a command, and notice how much it needed."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", MEASURED, *words],
        env={"HOME": str(world / "home"), "PATH": os.environ["PATH"]},
        cwd=world / "project",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=True,
    )
    code, most, seconds = done.stdout.splitlines()[-1].split()
    unit = 1_000_000 if sys.platform == "darwin" else 1_000
    return Done(int(code), done.stdout, int(most) / unit, float(seconds))


def judged(done: Done, told: str) -> None:
    """Nothing fell over, the trap was named, and little was needed."""
    worst("S20", peak_mb=round(done.peak_mb, 1), slowest_s=round(done.seconds, 1))
    assert "Traceback" not in done.said
    assert told in done.said
    assert done.peak_mb < MOST_MB


# -- databases -----------------------------------------------------------------------------------


def computed(each: str, many: int = 1) -> str:
    columns = ", ".join(f"c{n} GENERATED ALWAYS AS ({each})" for n in range(many))
    return f"CREATE TABLE memories({COLUMNS}, content, {columns}); {ROW}"


def renamed(statement: str, name: str) -> str:
    """A statement that another one of the schema is replaced by, as an attacker's editor does."""
    escaped = statement.replace("'", "''")
    return (
        f"PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = '{escaped}'"
        f" WHERE name = '{name}'"
    )


DATABASES: dict[str, tuple[str, str]] = {
    "computed columns of 3 GB": (computed("zeroblob(30000000)", 100), "without text"),
    "a computed text": (
        f"CREATE TABLE memories({COLUMNS}, content AS (hex(zeroblob(400000000))));" + ROW,
        NOT_THEIRS,
    ),
    "a pattern without end": (
        computed("replace(hex(zeroblob(2000000)), '0', 'ab') LIKE '%a%a%a%a%a%a%a%a%a%a_x%'"),
        "without text",
    ),
    "a view without end": (
        "CREATE VIEW memories AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
        " SELECT x AS id, 'PROJECT' AS region, 'FACT' AS kind, 'text ' || x AS content FROM c",
        NOT_THEIRS,
    ),
    "views of views": (
        "CREATE TABLE v0(region, kind, content);"
        + "".join(
            f"CREATE VIEW v{n} AS SELECT a.region, a.kind, a.content FROM v{n - 1} a, v{n - 1} b;"
            for n in range(1, 40)
        )
        + "CREATE VIEW memories AS SELECT * FROM v39",
        NOT_THEIRS,
    ),
    "a table that is a view": (
        f"CREATE TABLE memories({COLUMNS}, content); CREATE TABLE kept(x);"
        + renamed(f"CREATE VIEW memories AS {VIEW}", "memories"),
        "cannot be read as a database",
    ),
    "a table in the name of a view": (
        f"CREATE TABLE other({COLUMNS}, content); CREATE VIEW v AS SELECT 1;"
        + renamed(f"CREATE VIEW memories AS {VIEW}", "v")
        + "; UPDATE sqlite_master SET name = 'memories', tbl_name = 'memories'"
        " WHERE name = 'other'",
        "cannot be read as a database",
    ),
    "an index of a view": (
        f"CREATE VIEW source AS {VIEW};"
        "CREATE VIRTUAL TABLE memories USING fts5(region, kind, content, content='source')",
        NOT_THEIRS,
    ),
    "a text of 60 MB": (
        f"CREATE TABLE memories({COLUMNS}, content); {ROW};"
        f"UPDATE memories SET content = hex(zeroblob({GIANT // 2}))",
        "row 1 of the table memories was left out: string or blob too big",
    ),
}


@pytest.mark.parametrize("name", DATABASES)
def test_nothing_of_a_foreign_schema_is_run(world: Path, name: str) -> None:
    statements, told = DATABASES[name]
    path = world / "memories.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(statements)
        db.commit()
    done = ltm(world, "import", "--from", "anima", str(path))
    count("S20", databases=1)
    judged(done, told)
    assert str(path) in done.said
    # The same database where one of LTM/Anima would be, which every session's start looks for.
    (world / "home" / ".ltm").mkdir(mode=0o700, exist_ok=True)
    path.rename(world / "home" / ".ltm" / "memories.db")
    judged(ltm(world, "doctor"), "")


def test_a_row_that_is_too_large_costs_no_other(world: Path) -> None:
    path = world / "memories.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"CREATE TABLE memories({COLUMNS}, content)")
        for number, text in enumerate(("Use port 8082", "x" * GIANT, "Use port 8083")):
            db.execute(
                "INSERT INTO memories(id, region, kind, content) VALUES(?, 'PROJECT', 'FACT', ?)",
                (str(number), text),
            )
        db.commit()
    done = ltm(world, "import", "--from", "anima", str(path))
    judged(done, "row 2 of the table memories was left out")
    assert "2 added" in done.said


# -- notes ---------------------------------------------------------------------------------------

FRONT = b"---\nname: x\ndescription: y\ntype: user\n---\n"
GIANTS: dict[str, Callable[[], bytes]] = {
    "one word": lambda: b"a" * GIANT,
    "many lines": lambda: b"The port of the service is 8082.\n" * (GIANT // 33),
    "blank lines": lambda: b"\n" * GIANT,
}
FOLDERS = {
    "markdown": ("notes/big.md", "notes/small.md", b""),
    "basic-memory": ("notes/big.md", "notes/small.md", b"---\npermalink: x\n---\n"),
    "claude-code": ("memory/big.md", "memory/small.md", FRONT),
}


@pytest.mark.parametrize("giant", GIANTS)
@pytest.mark.parametrize("source", FOLDERS)
def test_a_giant_note_is_named_and_the_others_are_read(
    world: Path, source: str, giant: str
) -> None:
    big, small, front = FOLDERS[source]
    top = world / "source"
    (top / big).parent.mkdir(parents=True)
    (top / big).write_bytes(front + GIANTS[giant]())
    (top / small).write_bytes(front + b"Use port 8082 for the billing service\n")
    done = ltm(world, "import", "--from", source, str((top / big).parent))
    count("S20", giant_notes=1)
    judged(done, f"{big.rpartition('/')[2]}: is larger than 4 MiB")
    assert "1 added" in done.said


LONG = 500_000
SLOW = {
    "a heading of blanks": "# x" + " " * LONG + "x",
    "a bullet that goes on": "- a\n" + " b\n" * (LONG // 3),
    "figures": "- (" + "1 " * (LONG // 2),
    "blanks before a tag": "- x" + " " * LONG + "[",
    "blanks before a state": "- x" + " " * LONG + ":y",
}


@pytest.mark.parametrize("shape", SLOW)
def test_the_time_a_note_takes_grows_with_its_length_alone(world: Path, shape: str) -> None:
    """What is quadratic in one of them is ended by the limit of a measured process."""
    text = SLOW[shape]
    for name, data in {
        "memory/MEMORY.md": f"# by /remember\n## Facts\n{text}\n## Preferences\n{text}\n",
        "memory/raw.md": text,
        "memory/sessions/2026-01-01_0000.md": f"## Decisions\n{text}\n## Issues\n{text}\n",
        "memory/facts.json": "{}",
    }.items():
        path = world / "source" / ".claude" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data)
    for source in ("memory-md", "memory-keeper", "markdown"):
        done = ltm(world, "import", "--dry-run", "--from", source, str(world / "source"))
        count("S20", long_notes=1)
        judged(done, "")
        assert done.code in (0, 1)


def test_a_text_longer_than_a_memory_is_told_before_it_is_searched_for_secrets(
    world: Path,
) -> None:
    path = world / "big.md"
    path.write_bytes(b"# Big\n\n" + b"The port of the service is 8082.\n" * 100_000)
    done = ltm(world, "import", "--from", "markdown", str(path))
    judged(done, "it is too long to be kept as one memory (3,222 of 1,024 KiB)")


# -- our own places ------------------------------------------------------------------------------


@pytest.mark.parametrize("giant", ["one word", "many lines"])
def test_a_giant_in_a_vault_is_named_and_costs_no_other_memory(world: Path, giant: str) -> None:
    assert ltm(world, "remember", "Use port 8082 for the billing service").code == 0
    (kept,) = world.rglob("memories/*.md")
    path = kept.with_name("giant.mem_zzzzzzzzzz.md")
    path.write_bytes(kept.read_bytes() + GIANTS[giant]())
    judged(ltm(world, "recall", "billing"), "Use port 8082 for the billing service")
    judged(ltm(world, "doctor"), f"{path}: is larger than 1024 KiB")
    (world / "project" / "CLAUDE.md").write_bytes(GIANTS[giant]())
    judged(ltm(world, "sync"), "CLAUDE.md")
    assert path.stat().st_size > GIANT
    assert (world / "project" / "CLAUDE.md").stat().st_size > GIANT - 100
    count("S20", giants_in_a_vault=2)
