"""Views reach the disk whole, only where they may, and only when they change."""

from __future__ import annotations

import os
import stat
from datetime import timedelta
from pathlib import Path

import pytest

from ltm.decisions import Forget, Revise
from ltm.files.block import END, START
from ltm.inject.memory_md import give_back, write_views
from ltm.model import Scope
from ltm.state.usage import State
from ltm.store.file_store import FileStore
from ltm.vault.vault import Vault
from tests.inject.samples import KINDS, NOW, stored

MARKS = f"{START}\n{END}\n"


class Project:
    """A repository with a shared vault, and the user's own vaults outside it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "shop"
        self.root.mkdir()
        self.shared = Vault("shared", str(self.root / ".claude" / "ltm"), shared=True)
        self.private = Vault("private", str(folder / "home" / "p"))
        self.agent = Vault("agent", str(folder / "home" / "a"))
        self.vaults = (self.shared, self.private, self.agent)
        homes = {Scope.PROJECT: self.shared, Scope.AGENT: self.agent}
        state = State(str(folder / "home" / "state.db"))
        self.store = FileStore(self.vaults, homes, state, KINDS, clock=lambda: NOW)

    def publish(self, **wanted: object) -> list[str]:
        done = write_views(self.store, self.vaults, str(self.root), now=NOW, **wanted)  # type: ignore[arg-type]
        self.problems = done.problems
        self.kept = [Path(copy).read_bytes() for _, copy in done.kept]
        return [os.path.relpath(path, self.root) for path in done.written]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_each_vault_gets_its_memory_md_and_a_marked_file_its_block(project: Project) -> None:
    project.store.create(stored("Never push to main").memory)
    project.store.create(stored("Greet me in French", scope=Scope.AGENT).memory)
    claude = project.root / "CLAUDE.md"
    claude.write_text(f"# Mine\n\n{MARKS}tail\n")
    written = project.publish()
    assert written == [".claude/ltm/MEMORY.md", "../home/a/MEMORY.md", "CLAUDE.md"]
    assert claude.read_text().startswith(f"# Mine\n\n{START}\n## Project memory\n")
    assert claude.read_text().endswith(f"{END}\ntail\n")
    assert "Never push to main" in claude.read_text()
    assert "French" not in claude.read_text()
    assert "French" not in (project.root / ".claude/ltm/MEMORY.md").read_text()
    assert project.problems == ()


def test_a_private_memory_never_gets_into_a_file_of_the_repository(project: Project) -> None:
    project.store.create(stored("shared fact").memory)
    own = FileStore(
        (project.private,),
        {Scope.PROJECT: project.private},
        State(str(project.root.parent / "s.db")),
        KINDS,
    )
    own.create(stored("salary negotiation").memory)
    (project.root / "CLAUDE.md").write_text(MARKS)
    project.publish()
    for path in project.root.rglob("*.md"):
        assert "salary" not in path.read_text()
    assert "salary" in Path(project.private.folder, "MEMORY.md").read_text()


def test_without_marks_or_files_nothing_in_the_repository_is_touched(project: Project) -> None:
    project.store.create(stored().memory)
    claude = project.root / "CLAUDE.md"
    claude.write_text("# Mine\n")
    before = claude.stat()
    assert project.publish() == [".claude/ltm/MEMORY.md"]
    assert claude.read_text() == "# Mine\n"
    assert claude.stat().st_mtime_ns == before.st_mtime_ns
    assert not (project.root / "AGENTS.md").exists()


def test_what_does_not_change_is_not_written(project: Project) -> None:
    project.store.create(stored().memory)
    (project.root / "AGENTS.md").write_text(MARKS)
    assert len(project.publish()) == 2
    assert project.publish() == []
    later = write_views(
        project.store, project.vaults, str(project.root), now=NOW + timedelta(days=400)
    )
    assert later.written == ()


def test_a_forgotten_memory_leaves_the_views(project: Project) -> None:
    made = project.store.create(stored("The password is on the whiteboard").memory)
    (project.root / "CLAUDE.md").write_text(MARKS)
    project.publish()
    project.store.apply(Forget(made.memory.id))
    assert project.publish() == [".claude/ltm/MEMORY.md", "CLAUDE.md"]
    for path in (project.root / "CLAUDE.md", project.root / ".claude/ltm/MEMORY.md"):
        assert "password" not in path.read_text()
    assert (project.root / "CLAUDE.md").read_text() == MARKS


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_a_file_keeps_its_mode(project: Project, mode: int) -> None:
    project.store.create(stored().memory)
    claude = project.root / "CLAUDE.md"
    claude.write_text(MARKS)
    claude.chmod(mode)
    project.publish()
    assert stat.S_IMODE(claude.stat().st_mode) == mode
    assert "Use uv" in claude.read_text()


def test_a_link_between_the_two_files_stays_a_link(project: Project) -> None:
    project.store.create(stored().memory)
    (project.root / "AGENTS.md").write_text(MARKS)
    (project.root / "CLAUDE.md").symlink_to("AGENTS.md")
    assert project.publish().count("AGENTS.md") == 1
    assert (project.root / "CLAUDE.md").is_symlink()
    assert "Use uv" in (project.root / "CLAUDE.md").read_text()


def test_a_link_out_of_the_project_is_not_followed(project: Project, tmp_path: Path) -> None:
    """reliability S5: a repository must not make us write into the user's own files."""
    project.store.create(stored().memory)
    outside = tmp_path / "notes.md"
    outside.write_text(MARKS)
    (project.root / "CLAUDE.md").symlink_to(outside)
    project.publish()
    assert outside.read_text() == MARKS
    assert "outside the project" in project.problems[0].message


def test_a_planted_memory_md_is_replaced_and_not_followed(project: Project, tmp_path: Path) -> None:
    project.store.create(stored().memory)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    Path(project.shared.folder, "MEMORY.md").symlink_to(victim)
    project.publish()
    assert victim.read_text() == "precious"
    assert "Use uv" in Path(project.shared.folder, "MEMORY.md").read_text()


def test_a_file_that_cannot_be_written_is_a_problem_and_stops_nothing(project: Project) -> None:
    project.store.create(stored().memory)
    Path(project.shared.folder, "MEMORY.md").mkdir()
    os.mkfifo(project.root / "AGENTS.md")
    (project.root / "CLAUDE.md").write_text(MARKS)
    assert project.publish() == ["CLAUDE.md"]
    assert {os.path.basename(problem.path) for problem in project.problems} == {
        "MEMORY.md",
        "AGENTS.md",
    }


def test_bad_marks_are_reported_with_their_line(project: Project) -> None:
    project.store.create(stored().memory)
    (project.root / "CLAUDE.md").write_text(f"# Mine\n{START}\n")
    project.publish()
    assert [problem.line for problem in project.problems] == [2]
    assert (project.root / "CLAUDE.md").read_text() == f"# Mine\n{START}\n"


def test_instead_of_a_copy_the_block_can_load_memory_md(project: Project) -> None:
    """traps 2.2 #10: one of the two, never both."""
    project.store.create(stored().memory)
    claude = project.root / "CLAUDE.md"
    claude.write_text(MARKS)
    project.publish(imports=True)
    assert claude.read_text() == f"{START}\n@.claude/ltm/MEMORY.md\n{END}\n"
    assert project.problems == ()


def test_a_copy_next_to_an_import_is_reported(project: Project) -> None:
    project.store.create(stored().memory)
    (project.root / "CLAUDE.md").write_text(f"@.claude/ltm/MEMORY.md\n{MARKS}")
    project.publish()
    assert "also loads all memories" in project.problems[0].message


def test_a_change_made_while_the_views_are_written_is_in_them(project: Project) -> None:
    """Whoever comes last leaves the newest state, although nobody holds a lock meanwhile."""
    project.store.create(stored("first fact").memory)
    (project.root / "CLAUDE.md").write_text(MARKS)
    others = FileStore(
        project.vaults, {Scope.PROJECT: project.shared}, State(str(project.root / "s.db")), KINDS
    )
    listed = project.store.list
    calls: list[object] = []

    def list_then_somebody_adds(*args: object, **kwargs: object) -> object:
        page = listed(*args, **kwargs)  # type: ignore[arg-type]
        if not calls:
            others.create(stored("second fact").memory)
        calls.append(page)
        return page

    project.store.list = list_then_somebody_adds  # type: ignore[method-assign, assignment]
    project.publish()
    assert "second fact" in (project.root / "CLAUDE.md").read_text()


THEIRS = f"# Mine\r\n\r\n  {START} \r\n## Facts\r\n- timezone: EST\r\n{END}\r\ntail".encode()


@pytest.mark.parametrize("name", ["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "AGENTS.md"])
def test_a_block_that_ltm_did_not_write_stays_until_it_is_taken_over(
    project: Project, name: str
) -> None:
    project.store.create(stored("Never push to main").memory)
    path = project.root / name
    path.write_bytes(THEIRS)
    project.publish()
    assert path.read_bytes() == THEIRS
    assert [(problem.path, problem.line) for problem in project.problems] == [(str(path), 3)]
    assert "ltm sync --take-over" in project.problems[0].message
    assert project.publish(take_over=True) == [name]
    assert b"Never push to main" in path.read_bytes()
    assert b"timezone" not in path.read_bytes()
    assert project.kept == [THEIRS.partition(b"  ")[2].partition(b"\r\ntail")[0]]
    project.store.create(stored("Use tabs").memory)
    project.publish()
    assert b"Use tabs" in path.read_bytes(), "from now on it is ours"
    assert give_back(project.vaults, str(project.root)).written == (str(path),)
    assert path.read_bytes() == THEIRS
    assert give_back(project.vaults, str(project.root)).written == ()
    assert project.publish() == []
    assert path.read_bytes() == THEIRS


def test_a_memory_md_that_ltm_did_not_write_stays_until_it_is_taken_over(project: Project) -> None:
    project.store.create(stored("Never push to main").memory)
    path = Path(project.shared.folder, "MEMORY.md")
    path.write_text("# What I keep in mind\n")
    assert project.publish() == []
    assert path.read_text() == "# What I keep in mind\n"
    assert [problem.path for problem in project.problems] == [str(path)]
    project.publish(take_over=True)
    assert "Never push to main" in path.read_text()
    assert project.kept == [b"# What I keep in mind\n"]
    give_back(project.vaults, str(project.root))
    assert path.read_text() == "# What I keep in mind\n"


def test_another_tool_that_writes_its_block_again_gets_it_back(project: Project) -> None:
    project.store.create(stored().memory)
    path = project.root / "CLAUDE.md"
    path.write_bytes(THEIRS)
    project.publish(take_over=True)
    again = THEIRS.replace(b"EST", b"CET")
    path.write_bytes(again)
    project.publish()
    assert path.read_bytes() == again


def test_a_block_of_another_machine_is_ltms_and_may_change(
    project: Project,
) -> None:
    """What a colleague wrote and git brought along: known without any note on this machine."""
    memory = project.store.create(stored("Use uv for installs").memory).memory
    path = project.root / "CLAUDE.md"
    path.write_text(MARKS)
    project.publish()
    theirs = path.read_bytes()
    project.store.apply(Revise(memory.id, {"summary": "Use pip", "content": "Use pip"}))
    Path(project.private.folder, "views.json").unlink()
    assert project.publish() == [".claude/ltm/MEMORY.md", "CLAUDE.md"]
    assert path.read_bytes() != theirs
    assert (project.problems, project.kept) == ((), [])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("- Use uv", "- never deploy on Fridays\n- Use uv"),
        ("- Use uv", "- Use pip"),
        ("### Facts", "### What I know"),
        ("- Use uv", "<<<<<<< HEAD\n- Use uv"),
        ("## Project memory", "typed at the top\n## Project memory"),
    ],
)
@pytest.mark.parametrize("view", ["CLAUDE.md", ".claude/ltm/MEMORY.md"])
def test_what_was_typed_into_a_view_is_replaced_and_kept(
    project: Project, view: str, old: str, new: str
) -> None:
    project.store.create(stored("Use uv for installs").memory)
    (project.root / "CLAUDE.md").write_text(MARKS)
    project.publish()
    path = project.root / view
    before = path.read_text()
    assert old in before or view != "CLAUDE.md"
    typed = before.replace(old, new) if old in before else f"{before}- typed at the end\n"
    path.write_text(typed)
    assert project.publish() == [view]
    assert path.read_text() == before
    (kept,) = project.kept
    assert kept.strip() == typed.strip().encode()
    assert project.publish() == []


def test_what_another_tool_writes_at_this_very_moment_is_not_replaced(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client's file is read, changed and written by several programs without any lock."""
    project.store.create(stored().memory)
    project.publish()
    path = project.root / "CLAUDE.md"
    path.write_text(MARKS)
    fsync = os.fsync

    def fsync_while_another_tool_writes(handle: int) -> None:
        if path.read_text() == MARKS:
            path.write_bytes(THEIRS)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", fsync_while_another_tool_writes)
    project.publish()
    assert path.read_bytes() == THEIRS
