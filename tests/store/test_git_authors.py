"""Who made what is in a repository: told by the clone's own log, and by git alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from ltm.errors import LtmError
from ltm.store.share import CameAlong, former_names, made_here
from ltm.store.share import git as asked
from tests.project.repos import git, make_repo


def commit(repo: Path, name: str, text: str = "words\n") -> str:
    """A file, committed; the commit's id."""
    path = repo / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    git(repo, "add", "--", name)
    git(repo, "commit", "-q", "-m", f"{name} is new")
    return git(repo, "rev-parse", "HEAD").strip()


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """Somebody else's repository."""
    repo = make_repo(tmp_path / "theirs")
    commit(repo, "notes/theirs.md")
    return repo


@pytest.fixture
def ours(theirs: Path, tmp_path: Path) -> Path:
    """Our clone of it, with a file of our own."""
    git(tmp_path, "clone", "-q", str(theirs), "ours")
    commit(tmp_path / "ours", "notes/ours.md")
    return tmp_path / "ours"


def test_what_was_cloned_came_along_and_what_was_committed_here_did_not(ours: Path) -> None:
    along = CameAlong()
    assert along.has(str(ours / "notes" / "theirs.md"))
    assert not along.has(str(ours / "notes" / "ours.md"))
    assert along.has(str(ours / "notes"))
    assert along.has(str(ours))
    commit(ours, "mine/only.md")
    assert not CameAlong().has(str(ours / "mine"))


def test_what_is_pulled_came_along_and_so_did_changes_of_what_was_here(
    theirs: Path, ours: Path
) -> None:
    git(theirs, "pull", "-q", "--no-rebase", str(ours), "main")
    commit(theirs, "notes/ours.md", "their words\n")
    commit(theirs, "notes/later.md")
    git(ours, "pull", "-q", "--no-rebase", "origin", "main")
    along = CameAlong()
    for name in ("ours.md", "later.md", "theirs.md"):
        assert along.has(str(ours / "notes" / name)), name


def test_what_no_one_committed_did_not_come_along(ours: Path, tmp_path: Path) -> None:
    (ours / "notes" / "new.md").write_text("words\n")
    along = CameAlong()
    assert not along.has(str(ours / "notes" / "new.md"))
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.md").write_text("words\n")
    assert not along.has(str(plain / "a.md"))
    assert not along.has(str(plain))


def test_a_file_they_once_had_and_deleted_is_whose_it_is_now(theirs: Path, ours: Path) -> None:
    git(theirs, "rm", "-q", "notes/theirs.md")
    git(theirs, "commit", "-q", "-m", "gone")
    git(ours, "pull", "-q", "--no-rebase", "origin", "main")
    (ours / "notes" / "theirs.md").write_text("mine\n")
    assert not CameAlong().has(str(ours / "notes" / "theirs.md"))


def test_names_that_are_no_plain_words_are_told_apart(theirs: Path, tmp_path: Path) -> None:
    names = ("notes/ä b\t.md", "notes/\nline.md", "notes/end\n", "notes/\x01.md", "\n\n")
    for name in names:
        commit(theirs, name)
    git(tmp_path, "clone", "-q", str(theirs), "second")
    along = CameAlong()
    assert all(along.has(str(tmp_path / "second" / name)) for name in names)


def test_commits_of_this_clone_are_known_however_they_were_made(ours: Path) -> None:
    first = git(ours, "rev-parse", "HEAD").strip()
    cloned = git(ours, "rev-parse", "HEAD~1").strip()
    (ours / "notes" / "ours.md").write_text("better\n")
    git(ours, "commit", "-q", "-a", "--amend", "-m", "better")
    amended = git(ours, "rev-parse", "HEAD").strip()
    git(ours, "checkout", "-q", "-b", "other", cloned)
    git(ours, "cherry-pick", "--allow-empty", amended)
    picked = git(ours, "rev-parse", "HEAD").strip()
    made = made_here(str(ours))
    assert {first, amended, picked} <= made
    assert cloned not in made


def test_without_git_anything_may_have_come_along(
    ours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert CameAlong().has(str(ours / "notes" / "ours.md"))
    assert former_names(str(ours), "notes/ours.md") == []
    with pytest.raises(LtmError, match="git does not run"):
        asked(str(ours), "log")


def test_former_names_are_told_newest_first_and_once(ours: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(20))
    commit(ours, "a.md", text)
    for old, new in (("a.md", "b ä.md"), ("b ä.md", "a.md"), ("a.md", "deep.md")):
        git(ours, "mv", old, new)
        git(ours, "commit", "-q", "-m", "renamed")
    assert former_names(str(ours), "deep.md") == ["a.md", "b ä.md"]
    assert former_names(str(ours), "notes/ours.md") == []
    assert former_names(str(ours), "never was") == []
    assert former_names(str(ours), "no\0path") == []


def test_inside_a_git_hook_the_folder_that_is_meant_is_asked(
    ours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_repo(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert CameAlong().has(str(ours / "notes" / "theirs.md"))
    assert not CameAlong().has(str(ours / "notes" / "ours.md"))
