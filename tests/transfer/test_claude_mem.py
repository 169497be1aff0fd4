"""claude-mem's database moves in, of its first schema and of its latest."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ltm.model import Impact, Scope
from tests.transfer.importing import Machine, at, counts, mapped, snapshot

NEW = """
CREATE TABLE sdk_sessions(id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT UNIQUE,
  memory_session_id TEXT UNIQUE, project TEXT NOT NULL, user_prompt TEXT);
CREATE TABLE observations(id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL,
  project TEXT NOT NULL, text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT,
  narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT, merged_into_project TEXT,
  created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
CREATE TABLE session_summaries(id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT,
  project TEXT NOT NULL, request TEXT, investigated TEXT, learned TEXT, completed TEXT,
  next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT, merged_into_project TEXT,
  created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
CREATE TABLE user_prompts(id INTEGER PRIMARY KEY, prompt_text TEXT);
CREATE TABLE directives(id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT, project TEXT,
  content TEXT NOT NULL, status TEXT, created_at TEXT, created_at_epoch INTEGER,
  updated_at_epoch INTEGER);
"""
OLD = """
CREATE TABLE sdk_sessions(id INTEGER PRIMARY KEY, claude_session_id TEXT, sdk_session_id TEXT,
  project TEXT);
CREATE TABLE observations(id INTEGER PRIMARY KEY AUTOINCREMENT, sdk_session_id TEXT NOT NULL,
  project TEXT NOT NULL, text TEXT NOT NULL, type TEXT NOT NULL, created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL);
"""
MILLIS = 1_767_225_600_000
DATE = "2026-01-01T00:00:00.000Z"


def claude_mem(folder: Path) -> Path:
    folder.mkdir(parents=True)
    db = sqlite3.connect(folder / "claude-mem.db")
    db.executescript(NEW)
    for n, (word, project) in enumerate(
        [("decision", "app"), ("bugfix", "app"), ("feature", "app"), ("discovery", "app"),
         ("change", "app"), ("decision", "elsewhere"), ("decision", "app/worktree-1")]
    ):  # fmt: skip
        db.execute(
            "INSERT INTO observations(memory_session_id, project, type, title, subtitle, facts,"
            " narrative, concepts, files_read, files_modified, created_at, created_at_epoch)"
            " VALUES('s-1', ?, ?, ?, 'In short', ?, ?, ?, '[\"b.py\"]', '[\"a.py\"]', ?, ?)",
            (project, word, f"Title {n}", '["fact one", "fact two"]', f"Narrative {n}.",
             '["pattern", "gotcha"]', DATE, MILLIS + n),
        )  # fmt: skip
    db.execute(
        "INSERT INTO session_summaries(memory_session_id, project, request, learned, next_steps,"
        " created_at, created_at_epoch) VALUES('s-1', 'app', 'Fix the login', 'Tokens expire',"
        " 'Write tests', ?, ?)",
        (DATE, MILLIS),
    )
    db.execute("INSERT INTO user_prompts(prompt_text) VALUES('please fix the login')")
    db.executemany(
        "INSERT INTO directives(scope, project, content, status, created_at_epoch)"
        f" VALUES(?, ?, ?, ?, {MILLIS})",
        [
            ("global", None, "Answer in English", "active"),
            ("project", "app", "Run ruff before committing", "active"),
            ("global", None, "No longer wanted", "archived"),
        ],
    )
    db.commit()
    db.close()
    return folder


def test_observations_summaries_and_directives_move_in(machine: Machine, tmp_path: Path) -> None:
    folder = claude_mem(tmp_path / ".claude-mem")
    before = snapshot(folder)
    report = machine.take(folder)
    assert (report.sources, report.added) == (["claude-mem"], 9)
    (left,) = report.problems
    assert "1 memory of the project 'elsewhere' left out" in left.message
    assert mapped(report) == {
        ("decision", "decision"): 2,
        ("bugfix", "gotcha"): 1,
        ("feature", "achievement"): 1,
        ("discovery", "fact"): 1,
        ("change", "episode"): 1,
        ("a session summary", "episode"): 1,
        ("a directive", "preference"): 2,
    }
    found = machine.by_legacy()
    first = found["observation-1"]
    assert (first.title, first.summary) == ("Title 0", "In short")
    assert first.content == "Narrative 0.\n\n- fact one\n- fact two\n\nFiles: a.py, b.py"
    assert (first.tags, first.source.session) == (("pattern", "gotcha"), "s-1")
    assert first.created == at("2026-01-01")
    assert "## Next steps\n\nWrite tests" in found["summary-1"].content
    assert (found["directive-1"].scope, found["directive-2"].scope) == (Scope.AGENT, Scope.PROJECT)
    assert found["directive-1"].impact is Impact.HIGH
    assert snapshot(folder) == before
    again = machine.take(folder)
    assert (again.added, again.updated, again.skipped) == (0, 0, 9)
    rest = machine.take(folder, source_project="elsewhere")
    assert (rest.added, rest.problems) == (1, [])


def test_a_database_of_its_first_schema_moves_in(machine: Machine, tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "claude-mem.db")
    db.executescript(OLD)
    db.execute(
        "INSERT INTO observations VALUES(7, 'sdk-1', 'app', 'Only a text.', 'discovery', ?, ?)",
        (DATE, MILLIS),
    )
    db.commit()
    db.close()
    assert counts(machine.take(tmp_path / "claude-mem.db")) == (1, 0, 0)
    memory = machine.by_legacy()["observation-7"]
    assert (memory.content, memory.source.session) == ("Only a text.", "sdk-1")
