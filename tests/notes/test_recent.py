"""The work of the last days is read from the latest session notes and git's own files."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm.notes.recent import recent_work, watched
from ltm.project import git

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def write(folder: Path, days: float, text: str) -> Path:
    path = folder / "sessions" / f"{NOW - timedelta(days=days):%Y-%m-%d_%H%M}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"# Session {path.stem}\n\n{text}\n\n<!-- ltm: session s, sum 0 -->\n")
    return path


def test_the_last_session_and_the_last_on_this_branch_are_told_with_their_files(
    tmp_path: Path,
) -> None:
    write(tmp_path, 1, "## Stopped at\n- Fix it\n- Branch: main\n\n## Files\n- a.py\n- b.py")
    write(tmp_path, 2, "## Stopped at\n[What was accomplished]\n- Branch: dev")
    write(tmp_path, 3, "## Stopped at\n- Try it\n- Branch: dev\n\n## Files\n- b.py\n- c.py")
    write(tmp_path, 9, "## Stopped at\n- Old\n- Branch: dev\n\n## Files\n- d.py")
    (tmp_path / "sessions" / "summary.md").write_text("# Latest sessions\n")
    found = recent_work(str(tmp_path), ("dev", "main"), NOW)
    assert [each.lines for each in found.latest] == [("Fix it",), ("Try it",)]
    assert found.files == ("b.py", "a.py", "c.py")
    assert len(recent_work(str(tmp_path), (), NOW).latest) == 1


def test_a_note_a_person_wrote_is_told_and_one_of_last_month_is_not(tmp_path: Path) -> None:
    write(tmp_path, 2, "## Stopped at\nAll of it by hand.\n\n## Decisions\n- Tabs")
    assert recent_work(str(tmp_path), (), NOW).latest[0].lines == ("All of it by hand.",)
    assert recent_work(str(tmp_path), (), NOW + timedelta(days=40)).latest == ()
    assert recent_work(str(tmp_path / "nowhere"), (), NOW).latest == ()


def test_what_it_depends_on_is_watched(tmp_path: Path) -> None:
    note = write(tmp_path, 1, "## Stopped at\n- Fix it")
    assert watched(str(tmp_path), NOW) == [str(tmp_path / "sessions"), str(note)]


def run(folder: Path, *words: str) -> None:
    own = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run(["git", "-C", str(folder), *own, *words], check=True, capture_output=True)


@pytest.mark.parametrize("days", [1, -1])
def test_the_branches_of_the_last_days_are_known_without_running_git(
    tmp_path: Path, days: int
) -> None:
    run(tmp_path, "init", "-b", "main")
    run(tmp_path, "commit", "--allow-empty", "-m", "x")
    run(tmp_path, "checkout", "-b", "fix/retry")
    run(tmp_path, "worktree", "add", "-b", "side", str(tmp_path / "side"))
    run(tmp_path, "checkout", "main")
    since = (datetime.now(UTC) - timedelta(days=days)).timestamp()
    recent = ("main", "fix/retry") if days > 0 else ("main",)
    assert git.recent_branches(str(tmp_path), since) == recent
    assert git.recent_branches(str(tmp_path / "side"), since)[:1] == ("side",)
    assert git.recent_branches(str(tmp_path / "nowhere"), since) == ()
