"""`ltm export` and `ltm import` keep the contract for scripts and survive being killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from tests.cli.runner import Ltm


def stamped(text: str) -> str:
    """An export without the moment it was made."""
    return re.sub(r'"exported_at":"[^"]*"', "", text, count=1)


def test_export_and_import_into_an_empty_home_give_the_same_export(
    ltm: Ltm, tmp_path: Path
) -> None:
    ltm.ok("remember", "We chose Postgres over SQLite because two workers write")
    ltm.ok("remember", "Always use ruff", "--scope", "agent", "--pin")
    gone = ltm.json("remember", "A passing thought about mustard")["id"]
    ltm.ok("forget", gone)
    done = ltm.json("export", "all.json")
    assert set(done) >= {"memories", "versions", "path"}
    assert (done["memories"], done["versions"]) == (3, 1)
    printed = ltm.ok("export")
    assert stamped(printed) == stamped((ltm.project / "all.json").read_text())
    assert ltm.json("export")["count"] == 3, "it is one JSON value itself"

    other = Ltm(tmp_path / "other", ltm.project)
    other.home.mkdir()
    report = other.json("import", "all.json")
    assert {key: report[key] for key in ("added", "skipped", "updated", "problems")} == {
        "added": 3,
        "skipped": 0,
        "updated": 0,
        "problems": [],
    }
    assert stamped(other.ok("export")) == stamped(printed)
    assert other.json("restore", gone)["status"] == "active"
    assert "mustard" in other.json("show", gone)["content"]


def test_what_is_chosen_is_exported(ltm: Ltm) -> None:
    ltm.ok("remember", "We chose tabs", "--kind", "decision")
    ltm.ok("remember", "a fact of life", "--kind", "fact")
    assert ltm.json("export", "--kind", "decisions")["count"] == 1
    assert ltm.json("export", "--status", "forgotten")["count"] == 0
    assert ltm.json("export", "--scope", "agent")["count"] == 0
    assert ltm.run("export", "--scope", "galaxy").returncode == 2


def test_no_key_is_ever_in_an_export(ltm: Ltm) -> None:
    """issue: key 0600, never in an export."""
    ltm.ok("remember", "something signed")
    for name in ("key", "signing.key", "keys.json", "token", "server.json", "config.toml"):
        (ltm.home / ".ltm" / name).write_text("# canary-f00dfeed\n")
    assert "canary-f00dfeed" not in ltm.ok("export")


def test_an_import_tells_people_what_was_mapped_how(ltm: Ltm) -> None:
    folder = ltm.project / ".memory"
    folder.mkdir()
    memories = [
        {"id": "mem_1_a", "type": "gotcha", "content": "Raw body needed"},
        {"id": "mem_2_b", "type": "weird", "content": "Stripe is down on Mondays"},
    ]
    (folder / "state.json").write_text(json.dumps({"version": 2, "memories": memories}))
    shown = ltm.ok("import", ".", "--dry-run")
    assert "Would import from memory-mcp: 2 added" in shown
    assert ltm.json("list", "--status", "all")["total"] == 0
    shown = ltm.ok("import", ".")
    assert "Imported from memory-mcp: 2 added, 0 updated, 0 known already" in shown
    assert "memory-mcp: weird → fact: 1" in shown
    assert "2 known already" in ltm.ok("import", ".")
    assert ltm.json("show", "mem_1_a")["source"]["trust"] == "import"


def test_exit_codes_tell_refusal_from_wrong_words(ltm: Ltm) -> None:
    ltm.ok("remember", "one thing")
    ltm.ok("export", "a.json")
    again = ltm.run("import", "a.json")
    assert again.returncode == 1
    assert "add --merge" in again.stderr
    assert ltm.run("import", "a.json", "--merge").returncode == 0
    assert ltm.run("import", "nothing.json").returncode == 1
    assert ltm.run("import", "a.json", "--from", "chatgpt").returncode == 2
    assert ltm.run("import", "a.json", "--remap-agent", "../x").returncode == 2
    assert ltm.run("import").returncode == 2
    (ltm.project / "facts.json").write_text('{"_meta": {}, "decisions": [{"id"')
    cut = ltm.run("import", "facts.json", "--json")
    assert cut.returncode == 1, "nothing could be read"
    (problem,) = json.loads(cut.stdout)["problems"]
    assert problem["path"].endswith("facts.json")
    assert problem["line"] == 1


def test_an_export_can_be_piped_into_an_import(ltm: Ltm, tmp_path: Path) -> None:
    ltm.ok("remember", "日本語 in a pipe")
    other = Ltm(tmp_path / "other", ltm.project)
    other.home.mkdir()
    assert other.json("import", "-", stdin=ltm.ok("export"))["added"] == 1
    again = other.run("import", "-", stdin=ltm.ok("export"))
    assert again.stderr.startswith("ltm: standard input: holds 1 memory that you have already")


def entities(path: Path, count: int) -> Path:
    """A knowledge graph with so many entities."""
    with path.open("w") as file:
        for n in range(count):
            entity = {"type": "entity", "name": f"e{n}", "observations": [f"says {n} " * 20]}
            file.write(json.dumps(entity) + "\n")
    return path


def test_an_import_that_is_killed_is_finished_by_running_it_again(ltm: Ltm) -> None:
    path = entities(ltm.project / "memory.jsonl", 600)
    folder = ltm.home / ".ltm" / "projects"
    for least in (1, 200):
        process = subprocess.Popen(
            [sys.executable, "-m", "ltm", "import", str(path)],
            cwd=ltm.project,
            env={**os.environ, "HOME": str(ltm.home), "LTM_HOME": str(ltm.home / ".ltm")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while process.poll() is None and len(list(folder.rglob("*.mem_*.md"))) < least:
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
    before = ltm.json("list", "--limit", "1")["total"]
    assert 0 < before < 600
    report = ltm.json("import", str(path))
    assert (report["added"], report["skipped"]) == (600 - before, before)
    assert report["problems"] == []
    assert ltm.json("list", "--limit", "1")["total"] == 600
    assert ltm.json("import", str(path))["added"] == 0


def test_two_imports_at_once_bring_nothing_twice(ltm: Ltm) -> None:
    path = entities(ltm.project / "memory.jsonl", 300)
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "ltm", "import", str(path), "--json"],
            cwd=ltm.project,
            env={**os.environ, "HOME": str(ltm.home), "LTM_HOME": str(ltm.home / ".ltm")},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    reports = [json.loads(process.communicate()[0]) for process in running]
    assert sorted(report["added"] for report in reports) == [0, 0, 300]
    assert ltm.json("list", "--limit", "1")["total"] == 300


def test_a_progress_bar_is_shown_at_a_terminal_only(ltm: Ltm) -> None:
    path = entities(ltm.project / "memory.jsonl", 450)
    assert ltm.run("import", str(path), "--dry-run").stderr == ""
    said = ltm.on_a_terminal("import", str(path), "--dry-run")
    assert b"Importing" in said
    assert b"100%" in said
