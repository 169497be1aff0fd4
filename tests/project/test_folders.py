"""Whether a folder is the one that was recorded: by its birth, and never by its name alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ltm.project.identity import inode, is_in_place, is_still, lives_beside, look_at


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "code" / "app"
    made.mkdir(parents=True)
    return made


@pytest.mark.parametrize("path", ["/nowhere/at/all", "no\0path"])
def test_what_is_not_there_is_no_folder(path: str, folder: Path) -> None:
    known = look_at(str(folder))
    assert known is not None
    assert look_at(path) is None
    assert inode(path) == -1
    assert not is_still(known, path)
    assert not is_in_place(known._replace(path=path), path)


def test_a_folder_is_still_itself_wherever_it_is_moved(folder: Path) -> None:
    known = look_at(str(folder))
    assert known is not None
    assert known.ino == inode(str(folder)) == folder.stat().st_ino
    assert is_still(known, str(folder))
    assert is_in_place(known, str(folder))
    moved = folder.parent / "renamed"
    os.rename(folder, moved)
    assert is_still(known, str(moved))
    assert not is_in_place(known, str(moved))
    assert lives_beside(known)
    os.rename(moved, folder.parent.parent / "far")
    assert not lives_beside(known)


def test_another_disk_number_is_believed_only_at_the_same_path(folder: Path) -> None:
    known = look_at(str(folder))
    assert known is not None
    other = known._replace(dev=known.dev + 1)
    assert is_still(other, str(folder))
    assert not is_in_place(other, str(folder))
    assert not is_still(other._replace(path="/elsewhere"), str(folder))


@pytest.mark.parametrize("field", ["ino", "born"])
def test_another_number_or_birth_is_another_folder(folder: Path, field: str) -> None:
    known = look_at(str(folder))
    assert known is not None
    assert not is_still(known._replace(**{field: getattr(known, field) + 1}), str(folder))
    assert not is_still(known._replace(born=0), str(folder))


def test_a_repository_is_as_old_as_its_description(folder: Path) -> None:
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    by_disk = look_at(str(folder))
    (folder / "description").write_text("")
    os.utime(folder / "description", ns=(5, 5))
    known = look_at(str(folder))
    assert by_disk is not None
    assert known is not None
    assert known.born == 5
    assert by_disk.born != 5


def test_a_repository_lives_beside_its_old_place_when_its_work_tree_does(folder: Path) -> None:
    (folder / ".git").mkdir()
    known = look_at(str(folder / ".git"))
    assert known is not None
    assert not lives_beside(known), "it is in its place, not beside it"
    os.rename(folder, folder.parent / "renamed")
    assert lives_beside(known)
    assert not lives_beside(known._replace(path="/nowhere/at/all/.git"))
