"""Memory Keeper moves in, and so does a project that had all of the older tools."""

from __future__ import annotations

import os
from pathlib import Path

from tests.transfer.importing import Machine, at, mapped, snapshot, write
from tests.transfer.test_claude_ltm import claude_ltm
from tests.transfer.test_memory_mcp import memory_mcp
from tests.transfer.test_memory_md import MEMORY_MD

SESSION = """\
# Session 2025-12-21_0300

## Summary
Parsed the notes.

## Decisions
- Use structured markdown: Easier to parse
- Use http://x: y
- [WIP] keep the lock
- Ship it
### deeper
- Under a deeper heading: still a decision

## Patterns
- Always use heredoc for bash
- [Pattern discovered]

## Issues
- JSON editing fails: resolved
- No state given
- Issue found: open/resolved
"""


def memory_keeper(root: Path) -> Path:
    folder = root / ".claude" / "memory"
    write(
        folder / "facts.json",
        {
            "_meta": {"counter": 2, "lastSave": "2025-12-21_0300"},
            "decisions": [
                {
                    "id": "d001",
                    "date": "2025-12-21",
                    "content": "Use structured markdown",
                    "reason": "Easier to parse",
                },
                {
                    "id": "d002",
                    "date": "2025-12-22",
                    "content": "Typed",
                    "reason": "",
                    "type": "technology",
                    "concepts": ["mypy"],
                    "files": ["a.py"],
                },
            ],
            "patterns": [
                {"id": "p001", "date": "2025-12-21", "content": "Always use heredoc for bash"}
            ],
            "issues": [
                {
                    "id": "i001",
                    "date": "2025-12-21",
                    "content": "JSON editing fails",
                    "status": "resolved",
                }
            ],
        },
    )
    write(folder / "sessions" / "2025-12-21_0300.md", SESSION)
    write(folder / "sessions" / "2025-12-21_0300.raw.jsonl", "{}\n")
    write(
        folder / "sessions" / "archive" / "2025-10.md",
        "# Session 2025-10-01_0900\n\n## Summary\nFirst.\n\n---\n\n# Session 2025-10-02_0900\n\n"
        "## Summary\nSecond.\n",
    )
    write(folder / "memory.md", "# Memory\n\n## 2025-12-21 Login\nThe login works again now.\n")
    return folder


def test_memory_keeper_moves_in_and_says_nothing_twice(machine: Machine) -> None:
    """traps 2.5 #5: reasons, addresses, own words in brackets, deeper headings, default state."""
    memory_keeper(machine.project)
    report = machine.take(machine.project)
    assert report.sources == ["memory-keeper"]
    assert report.problems == []
    found = machine.by_legacy()
    assert found["d001"].reason == "Easier to parse"
    assert found["d001"].created == at("2025-12-21")
    assert found["d002"].tags == ("mypy", "technology")
    assert found["d002"].content == "Typed\n\nFiles: a.py"
    assert (found["i001"].kind, found["i001"].state) == ("issue", "resolved")
    said = {(m.kind, m.content, m.reason, m.state) for m in found.values() if m.kind != "episode"}
    assert said == {
        ("decision", "Use structured markdown", "Easier to parse", ""),
        ("decision", "Typed\n\nFiles: a.py", "", ""),
        ("decision", "Use http://x", "y", ""),
        ("decision", "[WIP] keep the lock", "", ""),
        ("decision", "Ship it", "", ""),
        ("decision", "Under a deeper heading", "still a decision", ""),
        ("pattern", "Always use heredoc for bash", "", ""),
        ("issue", "JSON editing fails", "", "resolved"),
        ("issue", "No state given", "", "open"),
    }
    episodes = {m.title: m for m in found.values() if m.kind == "episode"}
    assert set(episodes) == {
        "Session 2025-12-21_0300",
        "Session 2025-10-01_0900",
        "Session 2025-10-02_0900",
        "2025-12-21 Login",
    }
    assert episodes["Session 2025-12-21_0300"].summary == "Parsed the notes."
    assert episodes["Session 2025-12-21_0300"].created == at("2025-12-21T03:00:00")
    before = len(found)
    again = machine.take(machine.project)
    assert (again.added, again.updated, len(machine.memories())) == (0, 0, before)


def test_a_facts_file_that_is_cut_off_is_refused_and_the_rest_moves_in(machine: Machine) -> None:
    """traps 2.5 #4: a truncated facts.json is refused, and nothing is lost anywhere."""
    folder = memory_keeper(machine.project)
    text = (folder / "facts.json").read_text()
    (folder / "facts.json").write_text(text[: len(text) // 2])
    before = snapshot(folder)
    report = machine.take(machine.project)
    (problem,) = report.problems
    assert problem.path.endswith("facts.json")
    assert problem.line == 1
    assert snapshot(folder) == before
    assert not {"d001", "d002"} & machine.by_legacy().keys()
    assert any(memory.kind == "episode" for memory in machine.memories())
    (folder / "facts.json").write_text(text)
    machine.take(machine.project)
    assert {"d001", "d002", "p001", "i001"} <= machine.by_legacy().keys()


def test_an_id_that_was_used_again_after_a_clear_is_another_memory(machine: Machine) -> None:
    """traps 2.5 #6: ids restart after clear-facts."""
    folder = memory_keeper(machine.project)
    machine.take(machine.project)
    write(
        folder / "facts.json",
        {
            "_meta": {},
            "decisions": [
                {"id": "d001", "date": "2026-02-01", "content": "Use TOML", "reason": "Readable"}
            ],
        },
    )
    assert machine.take(machine.project).added == 1
    texts = {m.content for m in machine.memories() if m.legacy_id == "d001"}
    assert texts == {"Use structured markdown", "Use TOML"}
    assert machine.take(machine.project).added == 0


def test_both_tools_that_share_one_folder_move_in_from_one_file_or_two(machine: Machine) -> None:
    """traps 2.6 #1: MEMORY.md and memory.md are one file on some disks."""
    folder = memory_keeper(machine.project)
    (folder / "memory.md").unlink()
    write(folder / "MEMORY.md", f"{MEMORY_MD}\n## 2025-12-23 Logout\nThe logout works as well.\n")
    report = machine.take(machine.project)
    assert report.sources == ["memory-md", "memory-keeper"]
    titles = {memory.title for memory in machine.memories()}
    assert {"timezone: EST", "aurora/lsp-hook", "2025-12-23 Logout"} <= titles
    again = machine.take(machine.project, merge=True)
    assert (again.added, again.updated, again.problems) == (0, 0, [])


def test_a_project_with_every_older_tool_moves_in_with_one_command(machine: Machine) -> None:
    memory_keeper(machine.project)
    memory_mcp(machine.project)
    write(machine.project / ".claude" / "memory" / "MEMORY.md", MEMORY_MD)
    claude_ltm(machine.project)
    report = machine.take(machine.project)
    assert report.sources == ["claude-ltm", "memory-md", "memory-mcp", "memory-keeper"]
    assert mapped(report)["architecture", "architecture"] == 1
    assert machine.take(machine.project).added == 0


def test_secrets_and_private_passages_do_not_move_in(machine: Machine) -> None:
    token = "ghp_" + "a1B2" * 9
    write(
        machine.project / ".claude" / "memory" / "facts.json",
        {
            "_meta": {},
            "patterns": [
                {"id": "p001", "date": "2026-01-01", "content": f"Push with {token} please"},
                {"id": "p002", "date": "2026-01-01", "content": "Ask <private>Bob</private> first"},
            ],
        },
    )
    report = machine.take(machine.project)
    assert report.redacted == 2
    kept = b"".join(path.read_bytes() for path in machine.home.rglob("*") if path.is_file())
    assert token.encode() not in kept
    assert b"Bob" not in kept
    assert os.path.exists(machine.project / ".claude" / "memory" / "facts.json")
