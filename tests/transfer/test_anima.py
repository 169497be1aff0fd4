"""An Anima database moves in: each memory to its project and agent."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ltm.decisions import Restore
from ltm.model import Impact, Scope, Status
from tests.transfer.importing import Machine, at, snapshot, write

SCHEMA = """
CREATE TABLE agents(id TEXT PRIMARY KEY, name TEXT, definition_path TEXT, signing_key TEXT,
  created_at TIMESTAMP);
CREATE TABLE projects(id TEXT PRIMARY KEY, name TEXT, path TEXT UNIQUE, created_at TIMESTAMP);
CREATE TABLE memories(id TEXT PRIMARY KEY, agent_id TEXT, region TEXT, project_id TEXT, kind TEXT,
  content TEXT, original_content TEXT, impact TEXT, confidence REAL DEFAULT 1.0,
  created_at TIMESTAMP, last_accessed TIMESTAMP, previous_memory_id TEXT, version INTEGER DEFAULT 1,
  superseded_by TEXT, signature TEXT, token_count INTEGER,
  CHECK(region = 'AGENT' OR project_id IS NOT NULL));
"""
KEY = "f00dfeedf00dfeedf00dfeedf00dfeed"


def anima(path: Path, here: Path, other: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path)
    db.executescript(SCHEMA)
    db.execute("INSERT INTO agents VALUES('anima','Anima','x.md',?,'2025-12-01')", (KEY,))
    db.execute("INSERT INTO agents VALUES('u2','Code Reviewer','y.md',NULL,'2025-12-01')")
    for name, place in (("app", here), ("other", other), ("gone", Path("/no/such/gone"))):
        db.execute("INSERT INTO projects VALUES(?,?,?,'2025-12-01')", (name, name, str(place)))
    rows = [
        ("a1", "anima", "AGENT", None, "EMOTIONAL", "Matt likes humor", None, "CRITICAL", None),
        (
            "p1",
            "anima",
            "PROJECT",
            "app",
            "ARCHITECTURAL",
            "short [...]",
            "The long story. All.",
            "HIGH",
            None,
        ),
        ("p2", "anima", "PROJECT", "app", "LEARNINGS", "old lesson", "old lesson", "LOW", "p3"),
        ("p3", "anima", "PROJECT", "app", "LEARNINGS", "new lesson", "new lesson", "MEDIUM", None),
        (
            "p4",
            "anima",
            "PROJECT",
            "app",
            "ACHIEVEMENTS",
            "Told a secret",
            "Told a secret",
            "LOW",
            "f1",
        ),
        (
            "f1",
            "anima",
            "PROJECT",
            "app",
            "ACHIEVEMENTS",
            "[FORGOTTEN] Told a secret",
            None,
            "LOW",
            None,
        ),
        ("o1", "anima", "PROJECT", "other", "ARCHITECTURAL", "Other uses Rust", None, "HIGH", None),
        ("g1", "anima", "PROJECT", "gone", "ARCHITECTURAL", "Gone uses C", None, "HIGH", None),
        ("r1", "u2", "AGENT", None, "LEARNINGS", "Reviewers read tests first", None, "HIGH", None),
    ]
    for n, (*row, by) in enumerate(rows):
        db.execute(
            "INSERT INTO memories VALUES(?,?,?,?,?,?,?,?,0.6,?,NULL,?,2,?,'sig',9)",
            (*row, f"2025-12-{10 + n} 08:00:00", "p2" if row[0] == "p3" else None, by),
        )
    db.commit()
    db.close()
    return path


def test_an_anima_database_moves_in_to_each_project_and_agent(
    machine: Machine, tmp_path: Path
) -> None:
    """traps 2.3 #3, #4, #5, #13: forgotten stays forgotten, originals, folders, superseded ones."""
    other = tmp_path / "elsewhere" / "other"
    other.mkdir(parents=True)
    path = anima(tmp_path / ".ltm" / "memories.db", machine.project, other)
    before = snapshot(tmp_path / ".ltm")
    report = machine.take(path)
    assert (report.sources, report.added) == (["anima"], 7)
    (left,) = report.problems
    assert "1 memory of the project 'gone' (/no/such/gone) left out" in left.message
    assert "--source-project 'gone'" in left.message
    assert report.elsewhere == {str(other): 1, "code-reviewer": 1}
    found = machine.by_legacy()
    assert set(found) == {"a1", "p1", "p2", "p3", "p4"}
    assert (found["a1"].kind, found["a1"].scope) == ("relationship", Scope.AGENT)
    assert (found["a1"].impact, found["a1"].confidence) == (Impact.CRITICAL, 0.6)
    assert found["p1"].content == "The long story. All."
    assert (found["p1"].kind, found["p1"].version) == ("architecture", 2)
    assert (found["p1"].created, found["p1"].signature) == (at("2025-12-11T08:00:00"), "")
    assert (found["p2"].status, found["p2"].superseded_by) == (Status.SUPERSEDED, found["p3"].id)
    assert found["p3"].supersedes == (found["p2"].id,)
    assert found["p3"].previous == found["p2"].id
    assert (found["p4"].status, found["p4"].content) == (Status.FORGOTTEN, "")
    assert machine.store().apply(Restore(found["p4"].id)).stored.memory.content == "Told a secret"
    assert {m.legacy_id for m in machine.memories(agent="code-reviewer")} >= {"r1"}
    assert "r1" not in machine.by_legacy(), "agents never see each other's memories"
    assert "o1" in machine.by_legacy(project=other)
    assert snapshot(tmp_path / ".ltm") == before
    kept = b"".join(p.read_bytes() for p in machine.home.rglob("*") if p.is_file())
    assert KEY.encode() not in kept
    again = machine.take(path)
    assert (again.added, again.updated, again.skipped) == (0, 0, 7)


def test_a_project_that_moved_is_taken_in_by_its_name(machine: Machine, tmp_path: Path) -> None:
    path = anima(tmp_path / "memories.db", Path("/old/place/app"), Path("/old/place/other"))
    machine.take(path)
    assert "p1" in machine.by_legacy(), "the current project has the same name"
    report = machine.take(path, source_project="gone")
    assert (report.added, report.problems) == (1, [])
    assert "g1" in machine.by_legacy()
    assert "o1" not in machine.by_legacy()


def test_all_agents_memories_can_be_given_to_one_agent(machine: Machine, tmp_path: Path) -> None:
    path = anima(tmp_path / "ltm.db", machine.project, machine.project / "x")
    machine.take(path, remap_agent="Helper")
    assert {"a1", "r1"} <= machine.by_legacy(agent="helper").keys()
    assert "a1" not in machine.by_legacy()


def test_the_json_of_anima_moves_in(machine: Machine, tmp_path: Path) -> None:
    """traps 2.3 #13: version 1 is read, with what it has."""
    path = write(
        tmp_path / "export.json",
        {
            "version": "1.0",
            "exported_at": "2025-12-21T10:00:00",
            "agent": {"id": "anima", "name": "Anima"},
            "project": {"id": "whatever", "name": "whatever"},
            "memories": [
                {
                    "id": "11111111-aaaa",
                    "region": "PROJECT",
                    "kind": "LEARNINGS",
                    "content": "Read before editing",
                    "impact": "HIGH",
                    "confidence": 0.9,
                    "created_at": "2025-12-20T10:00:00",
                    "last_accessed": "2025-12-20T10:00:00",
                    "project_id": "whatever",
                },
                "rubbish",
                {"id": "2", "region": "AGENT", "kind": "EMOTIONAL", "content": "Be brief"},
            ],
        },
    )
    report = machine.take(path)
    assert report.added == 2
    assert [problem.message for problem in report.problems] == ["memory 2 is not an object"]
    found = machine.by_legacy()
    assert (found["11111111-aaaa"].kind, found["11111111-aaaa"].impact) == ("gotcha", Impact.HIGH)
    assert found["2"].scope is Scope.AGENT


def test_a_database_that_is_being_written_gives_its_latest_rows_and_is_not_touched(
    machine: Machine, tmp_path: Path
) -> None:
    path = anima(tmp_path / "db" / "memories.db", machine.project, machine.project / "x")
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute(
        "INSERT INTO memories(id, agent_id, region, kind, content) VALUES('w', 'anima', 'AGENT',"
        " 'LEARNINGS', 'only in the log')"
    )
    writer.commit()
    before = snapshot(tmp_path / "db")
    machine.take(path)
    assert snapshot(tmp_path / "db") == before
    assert "w" in machine.by_legacy()
    writer.close()


def test_a_broken_database_gives_what_can_be_read_of_it(machine: Machine, tmp_path: Path) -> None:
    path = tmp_path / "memories.db"
    db = sqlite3.connect(path)
    db.executescript(SCHEMA)
    for n in range(400):
        db.execute(
            "INSERT INTO memories(id, agent_id, region, kind, content) VALUES(?, 'anima', 'AGENT',"
            " 'LEARNINGS', ?)",
            (f"m{n}", f"lesson number {n} " + "x" * 400),
        )
    db.commit()
    db.close()
    data = bytearray(path.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 4096] = b"\xff" * 4096
    path.write_bytes(data)
    report = machine.take(path)
    assert any("broken" in problem.message for problem in report.problems)
    found = machine.by_legacy()
    assert 300 < len(found) < 400
    assert {"m0", "m399"} <= found.keys()
