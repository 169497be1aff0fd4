"""Which project a folder belongs to: the same after every move, never another's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ltm.files.atomic import inode
from ltm.project.git import local_path, normalise, settings
from ltm.project.identity import (
    Project,
    identify,
    is_in_place,
    is_still,
    lives_next_to,
    look_at,
    record,
)
from tests.project.repos import git, make_repo

pytestmark = pytest.mark.usefixtures("user_home")

HUB = "https://github.com/org/app.git"


@pytest.fixture
def ltm_home(tmp_path: Path) -> str:
    return str(tmp_path / "ltm")


@pytest.fixture
def code(user_home: Path) -> Path:
    folder = user_home / "code"
    folder.mkdir()
    return folder


def used(folder: Path, home: str) -> Project:
    """What happens when something is stored in a folder: it is identified and recorded."""
    project = identify(str(folder), home)
    record(project, home)
    return project


class TestOneMemoryFor:
    def test_a_repository_and_its_subfolders(self, code: Path, ltm_home: str) -> None:
        top = make_repo(code / "mono")
        inner = top / "packages" / "web" / "src"
        inner.mkdir(parents=True)
        assert identify(str(inner), ltm_home) == identify(str(top), ltm_home)
        assert identify(str(inner), ltm_home).root == str(top)

    def test_a_repository_and_its_work_trees(self, code: Path, ltm_home: str) -> None:
        top = make_repo(code / "app")
        git(top, "worktree", "add", "-q", str(code / "feature"))
        main, tree = (identify(str(path), ltm_home) for path in (top, code / "feature"))
        assert main.id == tree.id
        assert tree.root == str(code / "feature")
        assert tree.common_dir == main.common_dir == str(top / ".git")

    def test_a_work_tree_of_a_repository_that_was_moved(self, code: Path, ltm_home: str) -> None:
        top = make_repo(code / "app")
        git(top, "worktree", "add", "-q", str(code / "feature"))
        before = used(code / "feature", ltm_home)
        os.rename(top, code / "moved")
        git(code / "moved", "worktree", "repair", str(code / "feature"))
        assert identify(str(code / "feature"), ltm_home).id == before.id
        assert identify(str(code / "moved"), ltm_home).id == before.id

    def test_two_clones_of_one_bare_repository(self, code: Path, ltm_home: str) -> None:
        git(code, "init", "-q", "--bare", "shared.git")
        for name in ("one", "two"):
            git(code, "clone", "-q", str(code / "shared.git"), name)
        ids = {identify(str(code / name), ltm_home).id for name in ("one", "two", "shared.git")}
        assert len(ids) == 1

    def test_clones_over_different_protocols(self, code: Path, ltm_home: str) -> None:
        addresses = [
            "git@github.com:Org/App.git",
            "ssh://git@github.com:22/Org/App",
            "https://me:secret@github.com/org/app.git/",
        ]
        for number, address in enumerate(addresses):
            make_repo(code / f"clone{number}", address)
        projects = [identify(str(code / f"clone{number}"), ltm_home) for number in range(3)]
        assert {project.id for project in projects} == {projects[0].id}
        assert projects[0].remote == "github.com/org/app"
        assert projects[0].id.startswith("app-")

    def test_a_local_clone_and_the_repository_it_came_from(self, code: Path, ltm_home: str) -> None:
        make_repo(code / "original")
        git(code, "clone", "-q", "original", "copy")
        git(code, "clone", "-q", f"file://{code}/copy", "copy-of-copy")
        ids = [
            identify(str(code / name), ltm_home).id for name in ("original", "copy", "copy-of-copy")
        ]
        assert len(set(ids)) == 1
        assert ids[0].startswith("original-")

    def test_a_local_clone_of_a_clone_that_has_a_public_remote(
        self, code: Path, ltm_home: str
    ) -> None:
        make_repo(code / "work", HUB)
        git(code, "clone", "-q", "work", "scratch")
        assert identify(str(code / "scratch"), ltm_home).remote == "github.com/org/app"

    def test_a_repository_whose_local_clone_was_used_first(self, code: Path, ltm_home: str) -> None:
        """Rule 2: the clone's record names the place it came from, and this is that place."""
        original = make_repo(code / "original")
        git(code, "clone", "-q", "original", "copy")
        before = used(code / "copy", ltm_home)
        shutil.rmtree(code / "copy")
        assert identify(str(original), ltm_home).id == before.id

    def test_a_clone_by_a_second_address_whose_own_record_was_lost(
        self, code: Path, ltm_home: str
    ) -> None:
        """Rule 3: a record that knows this remote, though nothing leads from the address to it."""
        first = make_repo(code / "first", "https://old.example.org/app")
        before = used(first, ltm_home)
        git(first, "remote", "set-url", "origin", HUB)
        again = used(first, ltm_home)
        assert again.id == before.id
        (alias,) = (
            name
            for name in os.listdir(Path(ltm_home, "projects"))
            if name != before.id and not name.startswith(".")
        )
        shutil.rmtree(Path(ltm_home, "projects", alias))
        second = make_repo(code / "second", HUB)
        assert identify(str(second), ltm_home).id == before.id

    def test_a_local_clone_when_the_original_gets_a_remote_later(
        self, code: Path, ltm_home: str
    ) -> None:
        original = make_repo(code / "original")
        git(code, "clone", "-q", "original", "copy")
        before = used(code / "copy", ltm_home)
        git(original, "remote", "add", "origin", HUB)
        assert identify(str(original), ltm_home).id == before.id
        record(identify(str(original), ltm_home), ltm_home)
        assert identify(str(code / "copy"), ltm_home).id == before.id

    def test_clones_that_name_each_other_as_origin(self, code: Path, ltm_home: str) -> None:
        one = make_repo(code / "one", "../two")
        make_repo(code / "two", str(one))
        make_repo(code / "three", str(one))
        ids = {identify(str(code / name), ltm_home).id for name in ("one", "two", "three")}
        assert len(ids) == 1

    def test_a_repository_that_is_its_own_origin(self, code: Path, ltm_home: str) -> None:
        top = make_repo(code / "self", ".")
        assert identify(str(top), ltm_home).id == identify(str(top / ".git"), ltm_home).id

    def test_a_chain_of_clones_longer_than_we_follow_ends(self, code: Path, ltm_home: str) -> None:
        for number in range(9):
            make_repo(code / f"r{number}", f"../r{number + 1}")
        assert identify(str(code / "r0"), ltm_home).remote == f"file:{code}/r5"

    @pytest.mark.parametrize("how", ["git", "plain"])
    def test_a_folder_that_is_renamed_and_moved(self, how: str, code: Path, ltm_home: str) -> None:
        folder = code / "app"
        make_repo(folder) if how == "git" else folder.mkdir()
        _needs_birth(folder)
        before = used(folder, ltm_home)
        os.rename(folder, code / "renamed")
        renamed = used(code / "renamed", ltm_home)
        assert (renamed.id, renamed.name) == (before.id, "renamed")
        (code / "deep").mkdir()
        os.rename(code / "renamed", code / "deep" / "er")
        assert used(code / "deep" / "er", ltm_home).id == before.id
        os.rename(code / "deep" / "er", folder)
        assert used(folder, ltm_home).id == before.id

    def test_a_folder_that_becomes_a_repository_and_gets_a_remote(
        self, code: Path, ltm_home: str
    ) -> None:
        folder = code / "young"
        folder.mkdir()
        _needs_birth(folder)
        before = used(folder, ltm_home)
        git(folder, "init", "-q")
        assert identify(str(folder), ltm_home).id == before.id
        git(folder, "remote", "add", "origin", HUB)
        assert identify(str(folder), ltm_home).id == before.id

    def test_a_remote_that_is_added_later(self, code: Path, ltm_home: str) -> None:
        top = make_repo(code / "app")
        before = used(top, ltm_home)
        git(top, "remote", "add", "origin", HUB)
        assert used(top, ltm_home).id == before.id
        make_repo(code / "elsewhere" / "app", HUB)
        assert identify(str(code / "elsewhere" / "app"), ltm_home).id == before.id

    def test_a_remote_that_is_renamed(self, code: Path, ltm_home: str) -> None:
        top = make_repo(code / "app", HUB)
        make_repo(code / "old-clone", HUB)
        before = used(top, ltm_home)
        git(top, "remote", "set-url", "origin", "git@github.com:neworg/better-name.git")
        assert used(top, ltm_home).id == before.id
        assert identify(str(code / "old-clone"), ltm_home).id == before.id
        make_repo(code / "new-clone", "https://github.com/neworg/better-name")
        assert identify(str(code / "new-clone"), ltm_home).id == before.id

    def test_a_remote_that_is_removed(self, code: Path, ltm_home: str) -> None:
        top = make_repo(code / "app", HUB)
        before = used(top, ltm_home)
        git(top, "remote", "remove", "origin")
        assert identify(str(top), ltm_home).id == before.id

    def test_a_path_through_a_symbolic_link(self, code: Path, ltm_home: str) -> None:
        top = make_repo(code / "app")
        (code / "link").symlink_to(top)
        assert identify(str(code / "link"), ltm_home) == identify(str(top), ltm_home)

    def test_a_folder_restored_from_a_backup(self, code: Path, ltm_home: str) -> None:
        top = make_repo(code / "app")
        before = used(top, ltm_home)
        shutil.copytree(top, code / "backup", copy_function=shutil.copy2)
        shutil.rmtree(top)
        shutil.copytree(code / "backup", top, copy_function=shutil.copy2)
        shutil.rmtree(code / "backup")
        assert identify(str(top), ltm_home).id == before.id

    def test_folders_below_one_where_ltm_was_initialised(self, code: Path, ltm_home: str) -> None:
        """traps 2.5 #9: what was kept depended on the folder a command was run in."""
        (code / "notes" / ".claude" / "ltm").mkdir(parents=True)
        (code / "notes" / "deep" / "er").mkdir(parents=True)
        below = identify(str(code / "notes" / "deep" / "er"), ltm_home)
        assert below == identify(str(code / "notes"), ltm_home)
        assert below.root == str(code / "notes")


class TestDifferentMemoriesFor:
    @pytest.mark.parametrize("how", ["git", "plain"])
    def test_two_folders_of_the_same_name(self, how: str, code: Path, ltm_home: str) -> None:
        """traps 2.3 #5"""
        for parent in ("a", "b"):
            folder = code / parent / "app"
            make_repo(folder) if how == "git" else folder.mkdir(parents=True)
        ids = {used(code / parent / "app", ltm_home).id for parent in ("a", "b")}
        assert len(ids) == 2
        assert all(project_id.startswith("app-") for project_id in ids)

    def test_a_submodule_and_its_parent(self, code: Path, ltm_home: str) -> None:
        library = make_repo(code / "library")
        parent = make_repo(code / "parent")
        git(
            parent,
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "add",
            "-q",
            str(library),
            "lib",
        )
        outer, inner = (identify(str(path), ltm_home) for path in (parent, parent / "lib"))
        assert outer.id != inner.id
        assert inner.root == str(parent / "lib")
        assert inner.common_dir == str(parent / ".git" / "modules" / "lib")
        assert inner.id == identify(str(library), ltm_home).id

    @pytest.mark.parametrize("first", ["", "https://example.org/first.git"])
    def test_another_repository_cloned_later_at_the_same_path(
        self, first: str, code: Path, ltm_home: str
    ) -> None:
        top = make_repo(code / "app", first)
        before = used(top, ltm_home)
        shutil.rmtree(top)
        make_repo(top, "https://example.org/second.git")
        assert used(top, ltm_home).id != before.id

    def test_a_new_repository_without_remote_where_one_with_a_remote_was(
        self, code: Path, ltm_home: str
    ) -> None:
        top = make_repo(code / "app", HUB)
        before = used(top, ltm_home)
        shutil.rmtree(top)
        make_repo(top)
        assert identify(str(top), ltm_home).id != before.id

    @pytest.mark.parametrize("how", ["git", "plain"])
    @pytest.mark.parametrize("first_used", ["moved", "new"])
    def test_a_folder_and_the_one_made_at_its_old_place(
        self, how: str, first_used: str, code: Path, ltm_home: str
    ) -> None:
        folder, moved = code / "app", code / "app-old"
        make_repo(folder) if how == "git" else folder.mkdir()
        _needs_birth(folder)
        before = used(folder, ltm_home)
        os.rename(folder, moved)
        make_repo(folder) if how == "git" else folder.mkdir()
        order = (moved, folder) if first_used == "moved" else (folder, moved)
        ids = {path: used(path, ltm_home).id for path in order}
        assert ids[moved] == before.id
        assert ids[folder] != before.id
        again = {path: used(path, ltm_home).id for path in order}
        assert again == ids

    @pytest.mark.parametrize("how", ["git", "plain"])
    def test_a_folder_moved_far_away_and_the_one_made_at_its_old_place(
        self, how: str, code: Path, ltm_home: str
    ) -> None:
        folder, moved = code / "app", code / "far" / "away"
        make_repo(folder) if how == "git" else folder.mkdir()
        _needs_birth(folder)
        before = used(folder, ltm_home)
        moved.parent.mkdir()
        os.rename(folder, moved)
        assert used(moved, ltm_home).id == before.id
        make_repo(folder) if how == "git" else folder.mkdir()
        assert used(folder, ltm_home).id != before.id

    def test_a_folder_that_was_emptied_to_hold_a_clone_of_something_else(
        self, code: Path, ltm_home: str
    ) -> None:
        folder = code / "workspace"
        folder.mkdir()
        used(folder, ltm_home)
        git(folder, "init", "-q")
        git(folder, "remote", "add", "origin", "https://example.org/first")
        before = used(folder, ltm_home)
        shutil.rmtree(folder / ".git")
        git(folder, "init", "-q")
        git(folder, "remote", "add", "origin", "https://example.org/second")
        assert identify(str(folder), ltm_home).id != before.id

    def test_a_new_repository_with_the_inode_of_one_that_had_a_remote_once(
        self, code: Path, ltm_home: str
    ) -> None:
        top = make_repo(code / "app")
        used(top, ltm_home)
        git(top, "remote", "add", "origin", HUB)
        before = used(top, ltm_home)
        shutil.rmtree(top)
        make_repo(top)
        info = (top / ".git").stat()
        _edit_record(ltm_home, before.id, ino=info.st_ino, dev=info.st_dev)
        assert identify(str(top), ltm_home).id != before.id

    def test_two_folders_that_swap_places(self, code: Path, ltm_home: str) -> None:
        one, two = make_repo(code / "one"), make_repo(code / "two")
        first, second = used(one, ltm_home), used(two, ltm_home)
        os.rename(one, code / "aside")
        os.rename(two, one)
        os.rename(code / "aside", two)
        assert used(one, ltm_home).id == second.id
        assert used(two, ltm_home).id == first.id
        assert used(one, ltm_home).id == second.id

    def test_a_new_folder_that_is_given_the_inode_of_a_deleted_one(
        self, code: Path, ltm_home: str
    ) -> None:
        """A deleted folder's number goes to the next folder made; its memories must not."""
        old = code / "old"
        old.mkdir()
        before = used(old, ltm_home)
        inode = old.stat().st_ino
        old.rmdir()
        new = code / "new"
        new.mkdir()
        if new.stat().st_ino != inode:  # other disks than ext4: forge what the record says
            _edit_record(ltm_home, before.id, ino=new.stat().st_ino)
        assert identify(str(new), ltm_home).id != before.id

    def test_a_folder_without_a_known_birth_proves_nothing(self, code: Path, ltm_home: str) -> None:
        folder = code / "app"
        folder.mkdir()
        before = used(folder, ltm_home)
        _edit_record(ltm_home, before.id, born=0)
        os.rename(folder, code / "renamed")
        assert identify(str(code / "renamed"), ltm_home).id != before.id

    def test_a_disk_that_keeps_no_births_gives_no_proof(self) -> None:
        known = look_at("/proc/self")
        if known is None or known.born:
            pytest.skip("there is no such disk here")
        assert not is_still(known, "/proc/self")

    def test_folders_below_a_dotfiles_repository_in_the_home_folder(
        self, user_home: Path, code: Path, ltm_home: str
    ) -> None:
        git(user_home, "init", "-q")
        for name in ("one", "two"):
            (code / name).mkdir()
        projects = [
            identify(str(path), ltm_home) for path in (user_home, code / "one", code / "two")
        ]
        assert len({project.id for project in projects}) == 3
        assert projects[0].common_dir == str(user_home / ".git")
        assert projects[1].common_dir == ""

    def test_folders_below_a_home_folder_where_ltm_was_initialised(
        self, user_home: Path, code: Path, ltm_home: str
    ) -> None:
        (user_home / ".claude" / "ltm").mkdir(parents=True)
        assert identify(str(code), ltm_home).root == str(code)
        assert identify(str(user_home), ltm_home).root == str(user_home)

    def test_folders_below_one_where_anybody_may_plant_a_repository(
        self, tmp_path: Path, ltm_home: str
    ) -> None:
        public = make_repo(tmp_path / "public", HUB)
        (public / "mine").mkdir()
        public.chmod(0o1777)
        assert identify(str(public / "mine"), ltm_home).root == str(public / "mine")
        public.chmod(0o755)
        assert identify(str(public / "mine"), ltm_home).root == str(public)


class TestStrangeFolders:
    def test_a_bare_repository_is_its_own_root(self, code: Path, ltm_home: str) -> None:
        git(code, "init", "-q", "--bare", "shared.git")
        project = used(code / "shared.git", ltm_home)
        assert (project.root, project.common_dir) == (str(code / "shared.git"),) * 2
        assert project.id.startswith("shared-")
        os.rename(code / "shared.git", code / "renamed.git")
        assert identify(str(code / "renamed.git" / "objects"), ltm_home).id == project.id

    def test_inside_the_git_folder_the_work_tree_counts(self, code: Path, ltm_home: str) -> None:
        top = make_repo(code / "app")
        assert identify(str(top / ".git" / "refs"), ltm_home) == identify(str(top), ltm_home)

    @pytest.mark.parametrize(
        "content", [b"", b"garbage", b"gitdir: /nowhere", b"gitdir: \xff\0", b"gitdir: ."]
    )
    def test_a_git_file_that_leads_nowhere_makes_a_project_without_git(
        self, content: bytes, code: Path, ltm_home: str
    ) -> None:
        outer = make_repo(code / "outer")
        (outer / "inner" / "deep").mkdir(parents=True)
        (outer / "inner" / ".git").write_bytes(content)
        inner = identify(str(outer / "inner" / "deep"), ltm_home)
        assert (inner.root, inner.common_dir) == (str(outer / "inner"), "")

    @pytest.mark.parametrize("shared", [b"../..\0/x", b"../../nowhere"])
    def test_a_work_tree_whose_repository_cannot_be_found_is_a_project_without_git(
        self, shared: bytes, code: Path, ltm_home: str
    ) -> None:
        top = make_repo(code / "app")
        git(top, "worktree", "add", "-q", str(code / "feature"))
        (top / ".git" / "worktrees" / "feature" / "commondir").write_bytes(shared)
        found = identify(str(code / "feature"), ltm_home)
        assert (found.common_dir, found.root) == ("", str(code / "feature"))

    def test_an_empty_git_folder_is_not_a_repository(self, code: Path, ltm_home: str) -> None:
        outer = make_repo(code / "outer")
        (outer / "inner" / ".git").mkdir(parents=True)
        assert identify(str(outer / "inner"), ltm_home).root == str(outer)

    @pytest.mark.parametrize("what", ["missing", "folder", "fifo", "garbage", "binary", "huge"])
    def test_a_config_that_cannot_be_read_is_a_repository_without_remote(
        self, what: str, code: Path, ltm_home: str
    ) -> None:
        top = make_repo(code / "app", HUB)
        config = top / ".git" / "config"
        config.unlink()
        if what == "folder":
            config.mkdir()
        elif what == "fifo":
            os.mkfifo(config)
        elif what == "garbage":
            config.write_bytes(b'[remote "origin\nurl = x\n[[[ = "\\')
        elif what == "binary":
            config.write_bytes(bytes(range(256)) * 100)
        elif what == "huge":
            config.write_bytes(b'[remote "origin"]\nurl = https://example.org/x\n' * 100_000)
        project = identify(str(top), ltm_home)
        assert (project.remote, project.common_dir) == ("", str(top / ".git"))

    def test_git_folders_that_name_each_other_lead_nowhere(self, code: Path, ltm_home: str) -> None:
        for name, other in (("one", "two"), ("two", "one")):
            git(code, "init", "-q", "--bare", name)
            (code / name / ".git").write_text(f"gitdir: ../{other}\n")
        (code / "app").mkdir()
        (code / "app" / ".git").write_text("gitdir: ../one\n")
        assert identify(str(code / "app"), ltm_home).root == str(code / "app")

    def test_a_git_pipe_does_not_hang(self, code: Path, ltm_home: str) -> None:
        os.mkfifo(code / ".git")
        assert identify(str(code), ltm_home).root == str(code)

    def test_a_remote_that_leads_into_a_pipe_does_not_hang(self, code: Path, ltm_home: str) -> None:
        trap = make_repo(code / "trap")
        (trap / ".git" / "config").unlink()
        os.mkfifo(trap / ".git" / "config")
        make_repo(code / "app", str(trap))
        assert identify(str(code / "app"), ltm_home).remote == f"file:{trap}"

    @pytest.mark.parametrize("how", ["git", "plain"])
    def test_a_path_that_is_not_utf8(self, how: str, code: Path, ltm_home: str) -> None:
        folder = Path(os.fsdecode(os.fsencode(code) + b"/caf\xe9 \xff"))
        make_repo(folder) if how == "git" else folder.mkdir()
        _needs_birth(folder)
        before = used(folder, ltm_home)
        os.rename(folder, code / "plain")
        assert used(code / "plain", ltm_home).id == before.id
        assert before.id.isascii()

    @pytest.mark.parametrize("name", ["日本", "-", "...", "a" * 200, "x y\nz", "$(rm)"])
    def test_any_folder_name_makes_a_safe_id(self, name: str, code: Path, ltm_home: str) -> None:
        (code / name).mkdir()
        project = used(code / name, ltm_home)
        assert len(project.id) <= 60
        assert all(letter.isalnum() or letter == "-" for letter in project.id)
        assert project.name == name

    def test_a_folder_that_is_gone_still_has_its_memory(self, code: Path, ltm_home: str) -> None:
        (code / "app").mkdir()
        before = used(code / "app", ltm_home)
        (code / "app").rmdir()
        assert identify(str(code / "app"), ltm_home).id == before.id

    def test_a_file_stands_for_its_folder(self, code: Path, ltm_home: str) -> None:
        (code / "file").write_text("x")
        assert identify(str(code / "file"), ltm_home) == identify(str(code), ltm_home)

    @pytest.mark.parametrize("text", ["/a\0b", "/\ud800", "", "/" * 5000])
    def test_a_path_no_disk_can_hold_is_answered_all_the_same(
        self, text: str, ltm_home: str
    ) -> None:
        assert identify(text, ltm_home).id

    def test_the_disk_root_has_an_id(self, ltm_home: str) -> None:
        assert identify("/", ltm_home).id.startswith("project-")


class TestRecords:
    def test_identifying_writes_nothing_anywhere(self, code: Path, ltm_home: str) -> None:
        top = make_repo(code / "app", HUB)
        before = sorted(path for path in code.rglob("*"))
        identify(str(top), ltm_home)
        assert not os.path.exists(ltm_home)
        used(top, ltm_home)
        assert sorted(path for path in code.rglob("*")) == before

    def test_a_record_is_private_and_holds_no_login(self, code: Path, ltm_home: str) -> None:
        top = make_repo(code / "app", "https://alice:hunter2@example.org/Org/App.git?token=s3cret")
        project = used(top, ltm_home)
        path = Path(ltm_home, "projects", project.id, "project.json")
        text = path.read_text()
        assert json.loads(text)["remotes"] == ["example.org/Org/App"]
        assert not any(secret in text for secret in ("alice", "hunter2", "s3cret"))
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700

    def test_recording_again_writes_nothing_new(self, code: Path, ltm_home: str) -> None:
        top = make_repo(code / "app", HUB)
        git(top, "worktree", "add", "-q", str(code / "feature"))
        project = used(top, ltm_home)
        path = Path(ltm_home, "projects", project.id, "project.json")
        written = path.stat().st_ino
        used(top, ltm_home)
        used(code / "feature", ltm_home)
        assert path.stat().st_ino == written

    def test_a_second_name_leads_to_the_record_of_the_first(
        self, code: Path, ltm_home: str
    ) -> None:
        top = make_repo(code / "app")
        first = used(top, ltm_home)
        git(top, "remote", "add", "origin", HUB)
        used(top, ltm_home)
        pointers = [
            json.loads(path.read_text())
            for path in Path(ltm_home, "projects").glob("*/project.json")
            if path.parent.name != first.id
        ]
        assert pointers == [{"same_as": first.id}]

    @pytest.mark.parametrize(
        "content",
        ["", "[]", "{", '{"same_as": "../../etc"}', '{"same_as": 3}', "[" * 100_000, "\0"],
    )
    def test_a_damaged_record_costs_nothing(self, content: str, code: Path, ltm_home: str) -> None:
        top = make_repo(code / "app", HUB)
        before = used(top, ltm_home)
        path = Path(ltm_home, "projects", before.id, "project.json")
        path.write_text(content)
        assert used(top, ltm_home).id == before.id
        assert json.loads(path.read_text())["remotes"] == ["github.com/org/app"]

    @pytest.mark.parametrize("folders", [7, [7], [{"path": "/x"}], [{"path": 1, "dev": "a"}]])
    def test_a_damaged_entry_costs_that_entry(
        self, folders: object, code: Path, ltm_home: str
    ) -> None:
        top = make_repo(code / "app", HUB)
        before = used(top, ltm_home)
        path = Path(ltm_home, "projects", before.id, "project.json")
        path.write_text(json.dumps(json.loads(path.read_text()) | {"folders": folders}))
        assert used(top, ltm_home).id == before.id
        assert len(json.loads(path.read_text())["folders"]) == 1

    def test_records_that_lead_in_a_circle_are_passed_over(self, code: Path, ltm_home: str) -> None:
        top = make_repo(code / "app", HUB)
        before = used(top, ltm_home)
        Path(ltm_home, "projects", before.id, "project.json").write_text(
            json.dumps({"same_as": before.id})
        )
        assert identify(str(top), ltm_home).id == before.id

    def test_what_a_later_version_wrote_is_kept(self, code: Path, ltm_home: str) -> None:
        top = make_repo(code / "app")
        before = used(top, ltm_home)
        path = Path(ltm_home, "projects", before.id, "project.json")
        path.write_text(json.dumps(json.loads(path.read_text()) | {"colour": "red"}))
        git(top, "remote", "add", "origin", HUB)
        used(top, ltm_home)
        assert json.loads(path.read_text())["colour"] == "red"

    def test_processes_that_record_at_once_lose_nothing(self, code: Path, ltm_home: str) -> None:
        folders = [make_repo(code / f"clone{number}", HUB) for number in range(8)]
        program = textwrap.dedent(
            """
            import sys
            from ltm.project.identity import identify, record
            sys.stdin.readline()
            record(identify(sys.argv[1], sys.argv[2]), sys.argv[2])
            """
        )
        running = [
            subprocess.Popen(
                [sys.executable, "-c", program, str(folder), ltm_home],
                stdin=subprocess.PIPE,
                text=True,
            )
            for folder in folders
        ]
        for process in running:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.close()
        assert [process.wait(120) for process in running] == [0] * 8
        (path,) = Path(ltm_home, "projects").glob("*/project.json")
        known = {entry["path"] for entry in json.loads(path.read_text())["folders"]}
        assert known == {str(folder / ".git") for folder in folders}


class TestAddresses:
    @pytest.mark.parametrize(
        ("address", "expected"),
        [
            ("git@github.com:Org/Repo.git", "github.com/org/repo"),
            ("ssh://git@github.com:22/Org/Repo", "github.com/org/repo"),
            ("ssh://git@ssh.github.com:443/Org/Repo.git", "github.com/org/repo"),
            ("https://user:token@github.com/org/repo.git/", "github.com/org/repo"),
            ("https://user:to@ken@GitHub.com//org//repo", "github.com/org/repo"),
            ("https://Example.ORG./Org/Repo.git", "example.org/Org/Repo"),
            ("https://example.org:8443/Org/Repo.git", "example.org:8443/Org/Repo"),
            ("https://example.org/repo?access_token=x#y", "example.org/repo"),
            ("git://example.org:9418/repo", "example.org/repo"),
            ("ssh://me@[::1]:2222/srv/repo.git", "::1:2222/srv/repo"),
            ("me@[::1]:srv/repo.git", "::1/srv/repo"),
            ("[me.example:2222]:srv/repo", "me.example:2222/srv/repo"),
            ("host:/srv/repo.git", "host/srv/repo"),
            ("user:password@host:srv/repo", "host/srv/repo"),
            ("gcrypt::git@github.com:Org/Repo", "github.com/org/repo"),
            ("file://server/share/repo", "server/share/repo"),
            ("https:///x", ""),
        ],
    )
    def test_an_address_has_one_spelling(self, address: str, expected: str) -> None:
        assert local_path(address) is None
        assert normalise(address) == expected

    @pytest.mark.parametrize(
        ("address", "expected"),
        [
            ("/srv/repo.git", "/srv/repo.git"),
            ("../repo", "../repo"),
            ("./a:b", "./a:b"),
            ("file:///srv/re%20po", "/srv/re po"),
            ("file://localhost/srv/repo", "/srv/repo"),
        ],
    )
    def test_a_path_is_told_from_a_host(self, address: str, expected: str) -> None:
        assert local_path(address) == expected

    @given(st.text() | st.text("a@:/[].?#"))
    @example("[0:@")
    def test_no_text_whatever_leaves_a_login_before_the_host(self, text: str) -> None:
        if local_path(text) is None:
            assert "@" not in normalise(text).partition("/")[0]

    @given(
        user=st.text("abcXYZ0-", min_size=1),
        password=st.text("abcXYZ0:@-", min_size=1),
        form=st.sampled_from(["https://{}:{}@host.example/p/r", "ssh://{}:{}@host.example/p/r"]),
    )
    def test_a_login_is_never_kept(self, user: str, password: str, form: str) -> None:
        assert normalise(form.format(user, password)) == "host.example/p/r"


class TestGitSettings:
    @pytest.mark.parametrize(
        "value",
        [
            "plain",
            "with  inner spaces",
            "  edges  ",
            'quote " and \\ backslash',
            "semi ; and # hash",
            "tab\tand\nnewline",
            "ends in backslash\\",
            "日本",
        ],
    )
    def test_a_value_written_by_git_is_read_as_git_reads_it(self, value: str, code: Path) -> None:
        top = make_repo(code / "app")
        git(top, "config", 'remote.or.i"g\\in.url', value)
        git(top, "config", "remote.second.url", "after")
        found = [entry for entry in settings(str(top / ".git")) if entry[0].startswith("remote")]
        assert found == [('remote.or.i"g\\in', "url", value), ("remote.second", "url", "after")]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('[remote "origin"] url = x', "x"),
            ('[REMOTE "origin"]\nURL=x # why', "x"),
            ('[remote "origin"]\r\n\turl = x\r\n', "x"),
            ('[remote "origin"]\nurl = a\\\nb', "ab"),
            ('# C:\\dir\\\n[remote "origin"]\nurl = x', "x"),
            ('[remote "origin"]\nurl = "a b"; note', "a b"),
            ('[remote "origin"]\nurl\n', "true"),
            ('url = before\n[remote "origin"]\nurl = x\n', "x"),
            ('[remote "origin"]\nurl = a\\tb\\\\c\n', "a\tb\\c"),
        ],
    )
    def test_a_value_written_by_hand_is_read_as_git_reads_it(
        self, text: str, expected: str, code: Path
    ) -> None:
        top = make_repo(code / "app")
        (top / ".git" / "config").write_text(text, newline="")
        assert settings(str(top / ".git")) == [("remote.origin", "url", expected)]
        if expected != "true" and not text.startswith("url"):  # which git does not read at all
            assert git(top, "config", "-f", ".git/config", "remote.origin.url").strip() == expected

    def test_without_an_origin_the_first_remote_counts(self, code: Path, ltm_home: str) -> None:
        top = make_repo(code / "app")
        git(top, "remote", "add", "upstream", "https://example.org/first")
        git(top, "remote", "add", "fork", "https://example.org/second")
        assert identify(str(top), ltm_home).remote == "example.org/first"
        git(top, "remote", "add", "origin", "https://example.org/third")
        assert identify(str(top), ltm_home).remote == "example.org/third"


def _edit_record(home: str, project_id: str, **cells: int) -> None:
    path = Path(home, "projects", project_id, "project.json")
    content = json.loads(path.read_text())
    content["folders"] = [entry | cells for entry in content["folders"]]
    path.write_text(json.dumps(content))


def _needs_birth(folder: Path) -> None:
    known = look_at(str(folder if not (folder / ".git").exists() else folder / ".git"))
    if known is None or not known.born:
        pytest.skip("this disk keeps no moment of birth, so a renamed plain folder is a new one")


# -- whether a folder is the one that was recorded: by its birth, and never by its name alone


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
    assert lives_next_to(known)
    os.rename(moved, folder.parent.parent / "far")
    assert not lives_next_to(known)


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


def test_a_repository_lives_next_to_its_old_place_when_its_work_tree_does(folder: Path) -> None:
    (folder / ".git").mkdir()
    known = look_at(str(folder / ".git"))
    assert known is not None
    assert not lives_next_to(known), "it is in its place, not next to it"
    os.rename(folder, folder.parent / "renamed")
    assert lives_next_to(known)
    assert not lives_next_to(known._replace(path="/nowhere/at/all/.git"))
