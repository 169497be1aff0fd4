"""Claude Code's own auto memory is read as a source and never touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ltm.errors import Refused
from tests.transfer.importing import Machine, at, counts, snapshot, write

NOTE = """\
---
name: build-command
description: "Build with make, never with the IDE"
metadata:
  node_type: memory
  type: feedback
  originSessionId: 258c7280-ae70
  modified: 2026-03-01T10:00:00.000Z
---

Use `make build`; see [[test-setup]] and [[missing]].

**Why:** the IDE skips code generation.
"""


def auto_memory(home: Path) -> Path:
    folder = home / ".claude" / "projects" / "-work-app" / "memory"
    write(folder / "build-command.md", NOTE)
    write(
        folder / "test-setup.md",
        "---\nname: test-setup\ndescription: Tests need Redis\ntype: project\n---\nStart it.\n",
    )
    for word in ("user", "reference", "newer-type"):
        write(
            folder / f"{word}.md",
            f"---\nname: {word}\nmetadata:\n  type: {word}\n---\nWhat a {word} note says.\n",
        )
    write(
        folder / "MEMORY.md",
        "# Memory index\n\n- [Build](build-command.md) — make\n- [[test-setup]]\n\n"
        "## Conventions\nBranch names start with the ticket.\n",
    )
    write(folder.parent / "258c7280.jsonl", "{}\n")
    return folder


def test_notes_move_in_with_types_links_and_sessions(machine: Machine, tmp_path: Path) -> None:
    folder = auto_memory(tmp_path)
    before = snapshot(tmp_path / ".claude")
    report = machine.take(folder)
    assert report.sources == ["claude-code"]
    assert counts(report) == (6, 0, 0)
    found = machine.by_legacy()
    build = found["build-command"]
    assert (build.kind, build.title) == ("preference", "Build with make, never with the IDE")
    assert (build.source.session, build.created) == ("258c7280-ae70", at("2026-03-01T10:00:00"))
    assert build.links == (found["test-setup"].id,)
    assert "**Why:** the IDE skips code generation." in build.content
    assert found["test-setup"].kind == "context"
    assert found["user"].kind == "relationship"
    assert found["reference"].kind == "fact"
    (index,) = [memory for memory in found.values() if memory.title == "Conventions"]
    assert index.content == "Branch names start with the ticket."
    assert snapshot(tmp_path / ".claude") == before
    assert counts(machine.take(folder.parent)) == (0, 0, 6), "the project's folder will do as well"


def test_an_edited_note_is_taken_with_merge(machine: Machine, tmp_path: Path) -> None:
    folder = auto_memory(tmp_path)
    os.utime(folder / "user.md", (1_767_225_600, 1_767_225_600))
    machine.take(folder)
    write(folder / "user.md", "---\nname: user\nmetadata:\n  type: user\n---\nWhat it says now.\n")
    assert machine.take(folder).updated == 0
    os.utime(folder / "user.md", (1_767_312_000, 1_767_312_000))
    assert machine.take(folder, merge=True).updated == 1
    assert machine.by_legacy()["user"].content == "What it says now."
    assert machine.take(folder, merge=True).updated == 0
    os.utime(folder / "user.md", (1_767_400_000, 1_767_400_000))
    assert machine.take(folder, merge=True).updated == 0, "only its time changed"


def test_front_matter_that_is_not_yaml_is_told_and_the_note_still_moves_in(
    machine: Machine, tmp_path: Path
) -> None:
    write(
        tmp_path / "memory" / "odd.md",
        '---\nname: odd\ndescription: He said: "no": twice\ntype: user\n---\nStill here.\n',
    )
    report = machine.take(tmp_path / "memory")
    assert report.added == 1
    (problem,) = report.problems
    assert (problem.line, "YAML" in problem.message) == (3, True)
    assert machine.memories()[0].title == 'He said: "no": twice'


def test_agents_skills_and_commands_are_not_taken_for_notes(
    machine: Machine, tmp_path: Path
) -> None:
    write(
        tmp_path / "agents" / "reviewer.md",
        "---\nname: reviewer\ndescription: Reviews code\ntools: Read\n---\nYou review.\n",
    )
    (tmp_path / "agents" / ".git").mkdir()
    with pytest.raises(Refused, match="no memories that ltm knows") as refused:
        machine.take(tmp_path / "agents")
    assert "--from" in refused.value.hint


def test_a_folder_of_other_notes_is_not_taken_for_the_clients(
    machine: Machine, tmp_path: Path
) -> None:
    """One note that looks alike must not hide all the others."""
    write(tmp_path / "vault" / "plan.md", "---\ntitle: Plan\ntype: project\n---\nThe plan.\n")
    write(tmp_path / "vault" / "other.md", "# Other\n\nWords.\n")
    write(tmp_path / "vault" / "memory.md", "# Memory\n\nAbout memory chips.\n")
    write(tmp_path / "vault" / "sessions" / "notes.md", "# Yoga\n\nOn Mondays.\n")
    write(tmp_path / "vault" / "stash" / "yarn.md", "# Yarn\n\nBlue wool.\n")
    report = machine.take(tmp_path / "vault")
    assert (report.sources, report.added) == (["markdown"], 5)
