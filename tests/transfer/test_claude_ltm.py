"""A claude-ltm folder moves in, whole, and also where it lies in our own place."""

from __future__ import annotations

from pathlib import Path

from ltm.decisions import Restore
from ltm.model import Phase, Trust
from tests.stores import make
from tests.transfer.importing import Machine, at, counts, snapshot, write


def claude_ltm(root: Path) -> Path:
    """A store as that tool leaves it: three memories in three phases, one only in the archive."""
    folder = root / ".claude" / "ltm"
    full = "## Summary\n\nRetries back off.\n\n## Content\n\nThree tries.\n\nWith jitter, always.\n"
    front = (
        "---\nid: {id}\ntopic: {topic}\ntags: [http, retry]\nphase: {phase}\ndifficulty: 0.72\n"
        "created_at: 2026-01-05T09:30:00\ncreated_session: 4\n---\n\n"
    )
    write(
        folder / "memories" / "mem_0000aaaa.md",
        front.format(id="mem_0000aaaa", topic='"He said "hi": 42\nsecond line"', phase=0) + full,
    )
    hint = (
        "## Summary\n\nRetries back off.\n\n*[Content reduced - see archives for full version]*\n"
    )
    write(
        folder / "memories" / "mem_0000bbbb.md",
        front.format(id="mem_0000bbbb", topic="123", phase=1) + hint,
    )
    write(
        folder / "archives" / "mem_0000bbbb.md",
        front.format(id="mem_0000bbbb", topic="123", phase=0) + full,
    )
    write(
        folder / "memories" / "mem_0000cccc.md",
        front.format(id="mem_0000cccc", topic="Abstract", phase=2)
        + "*Abstract: the gateway drops one in a hundred*\n\n*[Full content archived]*\n",
    )
    write(
        folder / "archives" / "mem_0000dddd.md",
        front.format(id="mem_0000dddd", topic="Evicted", phase=0) + full,
    )
    known = {"tags": ["http", "retry"], "difficulty": 0.72, "created_at": "2026-01-05T09:30:00"}
    write(
        folder / "index.json",
        {
            "version": 1,
            "memories": {
                "mem_0000aaaa": {**known, "topic": 'He said "hi": 42\nsecond line', "phase": 0},
                "mem_0000bbbb": {**known, "topic": "123", "phase": 1},
                "mem_0000eeee": {**known, "topic": "lost", "phase": 0},
            },
        },
    )
    write(
        folder / "stats.json",
        {"version": 1, "memories": {"mem_0000aaaa": {"access_count": 3, "priority": 0.5}}},
    )
    return folder


def test_a_claude_ltm_folder_moves_in_with_titles_tags_phases_and_originals(
    machine: Machine, tmp_path: Path
) -> None:
    """traps 2.1 #14: a topic with quotes, a colon and a line end, and a topic that is a number.

    traps 2.1 #19: the difficulty that was kept is the one that counts.
    """
    folder = claude_ltm(tmp_path / "old")
    before = snapshot(tmp_path / "old")
    report = machine.take(folder)
    assert (report.sources, report.added, report.skipped) == (["claude-ltm"], 4, 0)
    assert [problem.message for problem in report.problems] == [
        "lists mem_0000eeee, but its file is missing"
    ]
    found = machine.by_legacy()
    whole = found["mem_0000aaaa"]
    assert whole.title == 'He said "hi": 42 second line'
    assert (whole.tags, whole.difficulty, whole.phase) == (("http", "retry"), 0.72, Phase.FULL)
    assert (whole.summary, whole.created) == ("Retries back off.", at("2026-01-05T09:30:00"))
    assert (whole.source.trust, whole.source.tool) == (Trust.IMPORT, "claude-ltm")
    assert whole.content == "Three tries.\n\nWith jitter, always."
    assert machine.store().usage([whole.id])[whole.id].uses == 3

    hint = found["mem_0000bbbb"]
    assert (hint.title, hint.phase, hint.content) == ("123", Phase.HINT, "Three tries.")
    restored = machine.store().apply(Restore(hint.id)).stored.memory
    assert restored.content == whole.content

    assert found["mem_0000cccc"].content == "the gateway drops one in a hundred"
    assert found["mem_0000cccc"].phase is Phase.FULL, "what is left is the whole text"

    evicted = found["mem_0000dddd"]
    assert (evicted.phase, evicted.content) == (Phase.ARCHIVED, "")
    assert machine.originals(evicted)[0].content == whole.content
    assert snapshot(tmp_path / "old") == before


def test_a_claude_ltm_folder_in_the_project_itself_is_only_read(machine: Machine) -> None:
    """traps 2.6 #3: that tool's folder is where a shared vault would be. It is not one, even if a
    person said that they trust it when LTM still read it as one."""
    folder = claude_ltm(machine.project)
    before = snapshot(folder)
    machine.trust()
    assert machine.memories() == []
    assert machine.take(machine.project).added == 4
    assert machine.take(folder).skipped == 4
    assert len(machine.memories()) == 4
    assert snapshot(folder) == before


def test_files_of_claude_ltm_between_ours_are_no_memories_until_they_are_imported(
    machine: Machine,
) -> None:
    """Former versions made a vault of that tool's folder, and both may still use it."""
    folder = claude_ltm(machine.project)
    write(folder / "config.toml", "")
    machine.trust()
    machine.store().create(make("one of our own"))
    assert [memory.title for memory in machine.memories()] == ["one of our own"]
    told = [problem.message for problem in machine.store().problems()]
    assert sum("is a memory of claude-ltm" in message for message in told) == 2
    theirs = {path: path.read_bytes() for path in folder.rglob("mem_????????.md")}
    for _ in range(2):
        machine.take(machine.project)
        assert len(machine.memories()) == 5
    assert {path: path.read_bytes() for path in theirs} == theirs


def test_a_text_about_kinds_in_a_claude_ltm_memory_is_not_taken_for_ours(
    machine: Machine, tmp_path: Path
) -> None:
    write(
        tmp_path / "ltm" / "memories" / "mem_00aa00aa.md",
        "---\nid: mem_00aa00aa\ntopic: k8s\n---\n\n## Content\n\nkind: Deployment\n",
    )
    assert counts(machine.take(tmp_path / "ltm")) == (1, 0, 0)
