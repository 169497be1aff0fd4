"""Achievements from a real repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ltm.capture.discoveries import from_git
from ltm.errors import LtmError, WrongUsage
from tests.cli.runner import Ltm


def commit(folder: Path, subject: str) -> None:
    subprocess.run(
        [
            *("git", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q"),
            *("--allow-empty", "-m", subject),
        ],
        cwd=folder,
        check=True,
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "home").mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


def test_only_what_counts_is_an_achievement(repository: Path) -> None:
    """traps 2.3 #14: separators in subjects, version numbers, whole words."""
    for subject in (
        "Add a | b | c command for the cli",
        "wip: release nothing",
        "Fix typo",
        "Needs python 3.5 to run here",
        "Unreleased changes are noted",
        "feat(api): paginate the listing",
        "Release version 2.1",
    ):
        commit(repository, subject)
    assert [each.title for each in from_git(str(repository), 24)] == [
        "Add a | b | c command for the cli",
        "Paginate the listing",
        "Release version 2.1",
    ]


def test_a_repository_without_commits_has_none(repository: Path) -> None:
    assert list(from_git(str(repository), 24)) == []


def test_a_folder_without_git_is_told(tmp_path: Path) -> None:
    with pytest.raises(LtmError, match="not a git repository"):
        list(from_git(str(tmp_path), 24))
    with pytest.raises(WrongUsage):
        list(from_git(str(tmp_path), 0))


def test_each_commit_is_kept_once(repository: Path) -> None:
    ltm = Ltm(repository.parent / "home", repository)
    commit(repository, "Add the importer module for old stores")
    assert len(ltm.json("achievements", "--dry-run")["found"]) == 1
    assert ltm.json("list")["total"] == 0
    assert len(ltm.json("achievements")["added"]) == 1
    assert ltm.json("achievements")["found"] == []
    (memory,) = ltm.json("list", "--kind", "achievement")["memories"]
    assert memory["source"]["tool"].startswith("git ")
