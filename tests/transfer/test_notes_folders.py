"""Graphs and folders of notes move in: server-memory, basic-memory, plain Markdown."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ltm.errors import Refused
from ltm.model import Impact
from tests.transfer.importing import Machine, at, counts, snapshot, write


def test_a_knowledge_graph_moves_in_with_its_relations(machine: Machine, tmp_path: Path) -> None:
    lines = [
        json.dumps(each)
        for each in (
            {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["likes C"]},
            {"type": "entity", "name": "Use WAL", "entityType": "decision", "observations": []},
            {"type": "relation", "from": "Ada", "to": "Use WAL", "relationType": "decided"},
            {"type": "relation", "from": "Ada", "to": "Ghost", "relationType": "knows"},
            {"type": "entity", "name": "Ada", "observations": ["speaks French"]},
        )
    ]
    path = write(tmp_path / "memory.jsonl", "\n".join([*lines[:2], "{broken", "", *lines[2:]]))
    before = snapshot(tmp_path)
    report = machine.take(path)
    assert (report.sources, report.added) == (["server-memory"], 2)
    assert [(p.line, p.message) for p in report.problems] == [
        (3, "is neither an entity nor a relation"),
        (0, "a relation names 'Ghost', which is not an entity"),
    ]
    found = machine.by_legacy()
    ada = found["Ada"]
    assert ada.content == "- likes C\n- speaks French\n- Ada decided Use WAL\n- Ada knows Ghost"
    assert (ada.kind, ada.tags, ada.links) == ("fact", ("person",), (found["Use WAL"].id,))
    assert found["Use WAL"].kind == "decision"
    assert {name: data for name, data in snapshot(tmp_path).items() if "memory" in name} == before
    again = machine.take(path)
    assert (again.added, again.skipped) == (0, 2)


NOTE = """\
---
title: Authentication Design
type: note
tags: [auth, security]
permalink: specs/authentication-design
created: 2026-01-10
---

# Authentication Design

- [ ] a task is no observation
- [decision] Using JWT tokens #stateless
- [decision] Refresh tokens in cookies (to prevent XSS)
- [constraint] Tokens expire after 15 minutes

## Relations
- implements [[API Security]]
- relates_to [[Nobody Wrote This]]
"""


def test_basic_memory_notes_move_in_with_categories_and_links(
    machine: Machine, tmp_path: Path
) -> None:
    folder = tmp_path / "basic-memory"
    write(folder / "specs" / "Authentication Design.md", NOTE)
    write(
        folder / "API Security.md",
        "---\ntitle: API Security\ntype: Person\npermalink: api-security\n---\n\nOnly over TLS.\n",
    )
    write(folder / "no front matter.md", "Just words about nothing in particular.\n")
    before = snapshot(folder)
    report = machine.take(folder)
    assert report.sources == ["basic-memory"]
    assert counts(report) == (3, 0, 0)
    found = machine.by_legacy()
    auth = found["specs/authentication-design"]
    assert (auth.kind, auth.title) == ("decision", "Authentication Design")
    assert auth.tags == ("auth", "security", "stateless")
    assert auth.links == (found["api-security"].id,)
    assert auth.created == at("2026-01-10")
    assert "no front matter" in found
    assert snapshot(folder) == before
    assert counts(machine.take(folder)) == (0, 0, 3)


def test_plain_markdown_moves_in_a_file_at_a_time(machine: Machine, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    write(folder / "deploy.md", "# Deploys need the VPN\n\nOtherwise they hang.\n")
    write(
        folder / "sub" / "choice.md",
        "---\ntitle: Tabs\nkind: decisions\nimpact: HIGH\ntags: style, tabs\ndate: 2026-02-03\n"
        "---\nWe chose tabs.\n",
    )
    write(folder / "untitled_note.md", "no heading here\n")
    write(folder / "empty.md", "\n")
    write(folder / ".hidden" / "x.md", "# Hidden")
    write(folder / "node_modules" / "x.md", "# Module")
    write(folder / "latin1.md", "caf\xe9 au lait".encode("latin-1"))
    os.utime(folder / "deploy.md", (1_767_225_600, 1_767_225_600))
    report = machine.take(folder)
    assert (report.sources, report.added) == (["markdown"], 4)
    (problem,) = report.problems
    assert (problem.line, problem.message) == (1, "is not UTF-8")
    found = machine.by_legacy()
    assert set(found) == {"deploy.md", "sub/choice.md", "untitled_note.md", "latin1.md"}
    assert found["deploy.md"].title == "Deploys need the VPN"
    assert found["deploy.md"].created == at("2026-01-01")
    choice = found["sub/choice.md"]
    assert (choice.kind, choice.impact, choice.title) == ("decision", Impact.HIGH, "Tabs")
    assert (choice.tags, choice.created) == (("style", "tabs"), at("2026-02-03"))
    assert found["untitled_note.md"].title == "untitled note"
    assert machine.take(folder).added == 0


def test_a_repository_is_not_searched_for_just_any_markdown(
    machine: Machine, tmp_path: Path
) -> None:
    write(tmp_path / "repo" / "README.md", "# Readme")
    (tmp_path / "repo" / ".git").mkdir()
    with pytest.raises(Refused, match="no memories that ltm knows"):
        machine.take(tmp_path / "repo")
    assert machine.take(tmp_path / "repo", "markdown").added == 1


def test_an_edit_or_a_shortening_here_does_not_bring_the_text_back_twice(
    machine: Machine, tmp_path: Path
) -> None:
    """What has no id there is known by the text it came with, whatever it says here by now."""
    path = write(
        tmp_path / "MEMORY.md",
        "## Facts\n- the first fact of all\n- the second fact\n\n## Preferences\n- short answers\n",
    )
    assert counts(machine.take(path)) == (3, 0, 0)
    first = next(m for m in machine.memories() if "first" in m.title)
    machine.store().update(first.id, {"content": "entirely other words", "title": "Other"})
    machine.store().delete(next(m.id for m in machine.memories() if "second" in m.title))
    assert counts(machine.take(path)) == (0, 0, 3)


@pytest.mark.parametrize(
    ("file", "text", "source", "said"),
    [
        (
            ".codex/memories/MEMORY.md",
            "# Task Group: ports\napplies_to: cwd=any; reuse_rule=none\n\n## Task 1: look\n"
            "### keywords\n- port\n\n## Reusable knowledge\n- The broker uses 7431 [Task 1]\n",
            "codex",
            "The broker uses 7431",
        ),
        (
            ".qwen/projects/-p/memory/tabs.md",
            "---\nname: tabs\ndescription: Tabs\ntype: feedback\n---\nAlways use tabs.\n",
            "claude-code",
            "Always use tabs",
        ),
        (
            ".gemini/GEMINI.md",
            "# Mine\n- Answer in verse.\n\n## Gemini Added Memories\n- I like pnpm.\n",
            "gemini",
            "I like pnpm.",
        ),
        (
            ".cursor/rules/style.mdc",
            "---\ndescription: Style of exports\nglobs: *.ts\n---\n- Named exports only.\n",
            "markdown",
            "Named exports only",
        ),
    ],
    ids=["codex", "qwen", "gemini", "cursor"],
)
def test_what_other_agents_remember_is_read_where_they_keep_it(
    machine: Machine, tmp_path: Path, file: str, text: str, source: str, said: str
) -> None:
    path = write(tmp_path / file, text)
    before = snapshot(tmp_path / file.split("/")[0])
    report = machine.take(path if path.name == "GEMINI.md" else path.parent)
    assert (report.sources, report.added) == ([source], 1)
    (found,) = machine.memories()
    assert said in found.text
    assert "verse" not in found.text
    assert not found.text.endswith("]")
    assert snapshot(tmp_path / file.split("/")[0]) == before


def test_what_codex_remembers_goes_to_the_project_it_is_about(
    machine: Machine, tmp_path: Path
) -> None:
    other, gone = tmp_path / "other", tmp_path / "gone"
    other.mkdir()
    groups = [
        f"# Task Group: {folder.name}\napplies_to: cwd={folder}; reuse_rule=none\n\n"
        f"## User preferences\n- when {folder.name} is built, use {folder.name}-tool [Task 1]\n"
        for folder in (machine.project, other, gone)
    ]
    report = machine.take(write(tmp_path / ".codex/memories/MEMORY.md", "\n".join(groups)))
    assert report.added == 2
    assert [memory.kind for memory in machine.memories()] == ["preference"]
    assert "other-tool" in machine.memories(project=other)[0].text
    assert "1 memory of the project 'gone'" in report.problems[0].message
