"""What `ltm init` writes into a repository, and what git then makes of memory files."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ltm.errors import Refused, StorageFailed
from ltm.project.layout import places
from ltm.store.share import (
    driver_installed,
    init_shared,
    is_vault_ignored,
    remove_local,
    this_command,
)
from tests.cli.runner import Ltm
from tests.project.repos import git, make_repo

pytestmark = pytest.mark.usefixtures("user_home")

MEMORY = ".claude/ltm/memories/one.mem_1.md"
TEXT = "---\nid: mem_1\nkind: fact\n---\n## Summary\nOne.\n\n## Content\n"


@pytest.fixture
def repo(user_home: Path) -> Path:
    return make_repo(user_home / "app")


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def fake_driver(folder: Path, name: str = "ltm") -> tuple[Path, Path]:
    """A driver that writes down how it was called and settles the merge with one word."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "called"
    driver = folder / name
    driver.write_text(
        f'#!/bin/sh\nprintf \'%s\\n\' "$@" > {shlex.quote(str(log))}\necho merged > "$3"\n'
    )
    driver.chmod(0o755)
    return driver, log


def diverge(repo: Path, path: str = MEMORY) -> None:
    """Two branches that change the end of the same memory; `main` is checked out."""
    (repo / path).parent.mkdir(parents=True, exist_ok=True)
    (repo / path).write_text(TEXT)
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "base")
    git(repo, "switch", "-q", "-c", "side")
    (repo / path).write_text(TEXT + "From the side.\n")
    git(repo, "commit", "-q", "-am", "side")
    git(repo, "switch", "-q", "main")
    (repo / path).write_text(TEXT + "From main.\n")
    git(repo, "commit", "-q", "-am", "main")


def local_files(repo: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(repo)): path.read_bytes()
        for path in (repo / ".git").rglob("*")
        if path.is_file()
    }


class TestTheVault:
    def test_it_is_there_and_said_so(self, repo: Path) -> None:
        changed = init_shared(str(repo))
        folder = repo / ".claude" / "ltm"
        assert sorted(os.listdir(folder)) == [
            ".gitattributes",
            ".gitignore",
            "README.md",
            "archives",
            "config.toml",
            "memories",
        ]
        assert {path for path in changed if path.startswith(str(folder))} == {
            str(folder / name) for name in os.listdir(folder)
        }
        assert places(str(repo)).shared_exists

    def test_what_is_written_for_people_opens_with_a_word_to_them_and_sets_nothing(
        self, repo: Path
    ) -> None:
        init_shared(str(repo))
        folder = repo / ".claude" / "ltm"
        for name in ("README.md", "config.toml", ".gitignore", ".gitattributes"):
            text = (folder / name).read_text()
            assert text.startswith("# "), name
            assert text.endswith("\n"), name
            assert not text.endswith("\n\n"), name
        assert tomllib.loads((folder / "config.toml").read_text()) == {}
        assert tomllib.loads((folder / "config.toml").read_text().replace("# max", "max"))
        rules = [line for line in (folder / ".gitattributes").read_text().splitlines() if line]
        kept = "merge=union -text -ident -filter"
        assert rules[1:] == [f"/memories/*.md {kept}", f"/archives/*.md {kept}"]

    def test_a_second_time_changes_nothing(self, repo: Path) -> None:
        assert init_shared(str(repo))
        before = local_files(repo)
        assert init_shared(str(repo)) == []
        assert local_files(repo) == before

    def test_what_people_changed_stays(self, repo: Path) -> None:
        init_shared(str(repo))
        folder = repo / ".claude" / "ltm"
        (folder / "README.md").write_text("Ours.\n")
        (folder / "config.toml").write_text("max_memories = 5\n")
        with (folder / ".gitignore").open("a") as file:
            file.write("!/mine.txt\n")
        assert init_shared(str(repo)) == []
        assert (folder / "README.md").read_text() == "Ours.\n"
        assert (folder / "config.toml").read_text() == "max_memories = 5\n"

    @pytest.mark.parametrize("before", ["# mine\n*.bak", "/*\n!/memories/\n!/memories/*.md\n"])
    def test_rules_that_are_missing_are_added_below(self, before: str, repo: Path) -> None:
        folder = repo / ".claude" / "ltm"
        folder.mkdir(parents=True)
        (folder / ".gitignore").write_text(before)
        assert str(folder / ".gitignore") in init_shared(str(repo))
        assert (folder / ".gitignore").read_text().startswith(before)
        self.check_only_memories_are_shared(repo)
        assert init_shared(str(repo)) == []

    def test_only_memories_are_shared(self, repo: Path) -> None:
        init_shared(str(repo))
        self.check_only_memories_are_shared(repo)

    def check_only_memories_are_shared(self, repo: Path) -> None:
        folder = repo / ".claude" / "ltm"
        tracked = ["memories/a.mem_1.md", "archives/mem_1.v1.abc.md", "config.toml", "README.md"]
        local = ["index.db", "index.db-wal", ".lock", "server.json", "state.db", "spool/1.json"]
        local += ["memories/.a.mem_1.md.1f.tmp", "memories/a.md~", "archives/x.tmp", "secret"]
        for name in tracked + local:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text("x")
        git(repo, "add", ".")
        added = git(repo, "diff", "--cached", "--name-only").split()
        expected = [*tracked, ".gitignore", ".gitattributes"]
        assert sorted(added) == sorted(f".claude/ltm/{name}" for name in expected)

    def test_a_fresh_clone_without_any_memory_has_the_vault(
        self, repo: Path, user_home: Path
    ) -> None:
        init_shared(str(repo))
        git(repo, "add", ".")
        git(repo, "commit", "-q", "-m", "init")
        git(user_home, "clone", "-q", str(repo), "clone")
        assert places(str(user_home / "clone")).shared_exists

    @pytest.mark.usefixtures("open_umask")
    def test_its_modes_are_those_of_a_work_tree(self, repo: Path) -> None:
        made = [path for path in map(Path, init_shared(str(repo))) if ".claude" in path.parts]
        assert {path.is_dir() for path in made} == {True, False}
        for path in made:
            assert path.stat().st_mode & 0o777 == (0o755 if path.is_dir() else 0o644)

    def test_without_git_only_the_vault_is_made(self, user_home: Path) -> None:
        (user_home / "notes").mkdir()
        changed = init_shared(str(user_home / "notes"))
        assert all(path.startswith(str(user_home / "notes" / ".claude")) for path in changed)
        assert places(str(user_home / "notes")).shared_exists
        assert driver_installed(str(user_home / "notes")) is False
        assert remove_local(str(user_home / "notes")) == []

    def test_a_part_of_a_repository_can_have_its_own(self, repo: Path) -> None:
        (repo / "packages" / "web").mkdir(parents=True)
        init_shared(str(repo / "packages" / "web"))
        assert places(str(repo / "packages" / "web")).shared_exists
        assert not places(str(repo)).shared_exists
        assert driver_installed(str(repo))

    def test_a_bare_repository_is_refused(self, user_home: Path) -> None:
        git(user_home, "init", "-q", "--bare", "shared.git")
        before = sorted(os.walk(user_home))
        with pytest.raises(Refused, match="bare repository"):
            init_shared(str(user_home / "shared.git"))
        assert sorted(os.walk(user_home)) == before

    @pytest.mark.parametrize("link", [".claude", ".claude/ltm", ".claude/ltm/memories"])
    def test_nothing_is_written_through_a_link_out_of_the_repository(
        self, link: str, repo: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "outside").mkdir()
        (repo / link).parent.mkdir(parents=True, exist_ok=True)
        (repo / link).symlink_to(tmp_path / "outside")
        with pytest.raises(Refused, match="leads out"):
            init_shared(str(repo))
        assert os.listdir(tmp_path / "outside") == []

    @pytest.mark.parametrize("name", [".gitignore", ".gitattributes"])
    def test_a_linked_settings_file_is_refused(self, name: str, repo: Path, tmp_path: Path) -> None:
        (tmp_path / "outside").write_text("mine\n")
        (repo / ".claude" / "ltm").mkdir(parents=True)
        (repo / ".claude" / "ltm" / name).symlink_to(tmp_path / "outside")
        with pytest.raises(Refused):
            init_shared(str(repo))
        assert (tmp_path / "outside").read_text() == "mine\n"

    def test_a_repository_that_leaves_the_folder_out_is_noticed(self, repo: Path) -> None:
        init_shared(str(repo))
        assert is_vault_ignored(str(repo)) is False
        (repo / ".gitignore").write_text(".claude/\n")
        assert is_vault_ignored(str(repo)) is True


class TestBytes:
    @pytest.mark.parametrize("autocrlf", ["true", "input", "false"])
    def test_git_gives_back_exactly_what_was_written(
        self, autocrlf: str, repo: Path, user_home: Path
    ) -> None:
        init_shared(str(repo))
        (repo / ".gitattributes").write_text("* text=auto eol=lf\n*.md ident\n")
        texts = [b"a\r\nb\r\n", b"a\nb\n", b"a\r\nb\nc", b"\xef\xbb\xbf$Id$\r\n", b"", b"\r\r\n"]
        for number, text in enumerate(texts):
            for folder in ("memories", "archives"):
                (repo / f".claude/ltm/{folder}/{number}.md").write_bytes(text)
        git(repo, "config", "core.autocrlf", autocrlf)
        git(repo, "add", ".")
        git(repo, "commit", "-q", "-m", "all")
        git(user_home, "-c", f"core.autocrlf={autocrlf}", "clone", "-q", str(repo), "clone")
        for number, text in enumerate(texts):
            for folder in ("memories", "archives"):
                path = f".claude/ltm/{folder}/{number}.md"
                assert (user_home / "clone" / path).read_bytes() == text


class TestMerging:
    def test_git_asks_our_driver_with_the_path(self, repo: Path, tmp_path: Path) -> None:
        driver, log = fake_driver(tmp_path / "bin")
        init_shared(str(repo), [str(driver)])
        diverge(repo)
        git(repo, "merge", "-q", "--no-edit", "side")
        called = log.read_text().splitlines()
        assert called[0] == "merge-driver"
        assert called[4] == MEMORY
        assert (repo / MEMORY).read_text() == "merged\n"

    def test_a_driver_at_a_strange_path_is_called_too(self, repo: Path, tmp_path: Path) -> None:
        driver, _ = fake_driver(tmp_path / 'it\'s 100%O "odd" $HOME `x`', "my ltm")
        init_shared(str(repo), [str(driver)])
        assert driver_installed(str(repo))
        diverge(repo)
        git(repo, "merge", "-q", "--no-edit", "side")
        assert (repo / MEMORY).read_text() == "merged\n"

    def test_a_memory_with_a_strange_name_reaches_it_whole(
        self, repo: Path, tmp_path: Path
    ) -> None:
        driver, log = fake_driver(tmp_path / "bin")
        init_shared(str(repo), [str(driver)])
        path = ".claude/ltm/memories/it's $(x) 日本.md"
        diverge(repo, path)
        git(repo, "merge", "-q", "--no-edit", "side")
        assert log.read_text().splitlines()[4] == path

    def test_a_work_tree_merges_with_it(self, repo: Path, user_home: Path, tmp_path: Path) -> None:
        git(repo, "worktree", "add", "-q", "-b", "tree", str(user_home / "tree"))
        driver, _ = fake_driver(tmp_path / "bin")
        changed = init_shared(str(user_home / "tree"), [str(driver)])
        assert str(repo / ".git" / "info" / "attributes") in changed
        assert driver_installed(str(repo))
        diverge(repo)
        git(repo, "worktree", "remove", "--force", str(user_home / "tree"))
        git(repo, "worktree", "add", "-q", str(user_home / "again"), "side")
        git(user_home / "again", "merge", "-q", "--no-edit", "main")
        assert (user_home / "again" / MEMORY).read_text() == "merged\n"

    def test_a_vault_in_a_part_of_the_repository_merges_with_it(
        self, repo: Path, tmp_path: Path
    ) -> None:
        driver, _ = fake_driver(tmp_path / "bin")
        (repo / "web [1]").mkdir()
        init_shared(str(repo / "web [1]"), [str(driver)])
        diverge(repo, f"web [1]/{MEMORY}")
        git(repo, "merge", "-q", "--no-edit", "side")
        assert (repo / "web [1]" / MEMORY).read_text() == "merged\n"

    def test_the_real_driver_merges(self, repo: Path) -> None:
        init_shared(str(repo), (sys.executable, "-P", "-m", "ltm"))
        diverge(repo)
        git(repo, "merge", "-q", "--no-edit", "side")
        merged = (repo / MEMORY).read_text()
        assert "From main." in merged
        assert "From the side." in merged
        assert merged.count("id: mem_1") == 1

    def test_branches_that_both_wrote_the_block_in_claude_md_merge_without_a_conflict(
        self, repo: Path, ltm: Ltm
    ) -> None:
        """Lines of both sides stand in it; what a person wrote around it merges as ever."""
        ltm = replace(ltm, project=repo)
        (repo / "CLAUDE.md").write_text("# Ours\n\nintroduction\n")
        ltm.ok("remember", "We chose Postgres", "--kind", "decision")
        gone = ltm.json("remember", "The port is 8081", "--kind", "fact")["id"]
        ltm.ok("init", "--move", "--claude-md")

        def commit(*words: str) -> None:
            ltm.ok(*words)
            ltm.ok("sync")
            git(repo, "add", "-A")
            git(repo, "commit", "-qm", words[1])

        commit("remember", "Deploys run on Mondays", "--kind", "fact")
        git(repo, "branch", "side")
        commit("remember", "We chose Redis for queues", "--kind", "decision")
        commit("forget", gone)
        git(repo, "checkout", "-q", "side")
        commit("remember", "Names of tables are plural", "--kind", "pattern")
        text = (repo / "CLAUDE.md").read_text()
        (repo / "CLAUDE.md").write_text(text.replace("introduction", "other words"))
        git(repo, "commit", "-qam", "words")
        git(repo, "checkout", "-q", "-")
        git(repo, "merge", "-q", "--no-edit", "side")

        merged = (repo / "CLAUDE.md").read_text()
        assert merged.startswith("# Ours\n\nother words\n")
        for words in ("Postgres", "Mondays", "Redis", "plural"):
            assert merged.count(words) == 1
        assert "8081" not in merged
        assert "<<<<" not in merged
        ltm.ok("sync")
        assert sorted((repo / "CLAUDE.md").read_text().split()) == sorted(merged.split())

        (repo / "CLAUDE.md").write_text(merged.replace("other words", "one"))
        git(repo, "commit", "-qam", "one")
        git(repo, "checkout", "-qb", "late", "HEAD~")
        (repo / "CLAUDE.md").write_text(merged.replace("other words", "two"))
        git(repo, "commit", "-qam", "two")
        git(repo, "merge", "-q", "--no-edit", "-", check=False)
        assert git(repo, "diff", "--name-only", "--diff-filter=U") == "CLAUDE.md\n"
        assert "<<<<<<< ours\ntwo\n" in (repo / "CLAUDE.md").read_text()

    def test_other_files_that_are_given_to_the_real_driver_keep_their_conflict(
        self, repo: Path
    ) -> None:
        init_shared(str(repo), (sys.executable, "-P", "-m", "ltm"))
        (repo / ".gitattributes").write_text("*.py merge=ltm\n")
        diverge(repo, "main.py")
        ours = (repo / "main.py").read_bytes()
        git(repo, "merge", "-q", "--no-edit", "side", check=False)
        assert git(repo, "diff", "--name-only", "--diff-filter=U") == "main.py\n"
        assert (repo / "main.py").read_bytes() == ours

    @pytest.mark.parametrize("how", ["never installed", "gone", "failing"])
    def test_without_a_working_driver_both_sides_keep_their_lines(
        self, how: str, repo: Path, user_home: Path, tmp_path: Path
    ) -> None:
        driver, _ = fake_driver(tmp_path / "bin")
        init_shared(str(repo), [str(driver)])
        diverge(repo)
        here = repo
        if how == "never installed":
            git(user_home, "clone", "-q", str(repo), "clone")
            here = user_home / "clone"
            git(here, "branch", "side", "origin/side")
            assert not driver_installed(str(here))
        elif how == "gone":
            driver.unlink()
            assert not driver_installed(str(here))
        else:
            driver.write_text("#!/bin/sh\nexit 1\n")
        git(here, "merge", "-q", "--no-edit", "side")
        merged = (here / MEMORY).read_text()
        assert "From main.\n" in merged
        assert "From the side.\n" in merged
        assert "<<<<" not in merged

    def test_other_files_are_merged_as_ever(self, repo: Path, tmp_path: Path) -> None:
        driver, log = fake_driver(tmp_path / "bin")
        init_shared(str(repo), [str(driver)])
        diverge(repo, "notes.md")
        git(repo, "merge", "-q", "--no-edit", "side", check=False)
        assert "<<<<<<<" in (repo / "notes.md").read_text()
        assert not log.exists()

    def test_our_own_command_is_found_from_anywhere(self) -> None:
        command = this_command()
        assert os.path.isabs(command[0])
        done = subprocess.run(
            [*command, "--version"], cwd="/", env={}, capture_output=True, check=True
        )
        assert done.stdout.startswith(b"ltm ")


class TestLocalSettings:
    @pytest.mark.parametrize("attributes", [None, b"", b"*.c diff=cpp\n", b"*.c diff=cpp", b"\r\n"])
    @pytest.mark.parametrize("config_end", [b"", b"# end", b"# end\n\n", b"\r\n"])
    def test_they_are_taken_away_to_the_byte(
        self, attributes: bytes | None, config_end: bytes, repo: Path
    ) -> None:
        with (repo / ".git" / "config").open("ab") as file:
            file.write(config_end)
        path = repo / ".git" / "info" / "attributes"
        if attributes is not None:
            path.write_bytes(attributes)
        before = local_files(repo)
        init_shared(str(repo))
        init_shared(str(repo), ["/another/ltm"])
        assert git(repo, "check-attr", "merge", MEMORY).endswith("merge: ltm\n")
        if attributes and b"diff" in attributes:
            assert git(repo, "check-attr", "diff", "x.c").endswith("diff: cpp\n")
        assert sorted(remove_local(str(repo))) == [str(repo / ".git" / "config"), str(path)]
        assert local_files(repo) == before
        assert remove_local(str(repo)) == []

    def test_lines_a_person_added_around_them_stay(self, repo: Path) -> None:
        init_shared(str(repo))
        path = repo / ".git" / "info" / "attributes"
        path.write_bytes(b"*.a -diff\n" + path.read_bytes() + b"*.b -diff\n")
        assert init_shared(str(repo)) == []
        remove_local(str(repo))
        assert path.read_bytes() == b"*.a -diff\n*.b -diff\n"

    def test_an_editor_that_changed_the_line_ends_does_not_double_them(self, repo: Path) -> None:
        init_shared(str(repo))
        path = repo / ".git" / "info" / "attributes"
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        init_shared(str(repo))
        assert path.read_bytes().count(b">>> ltm") == 1
        assert driver_installed(str(repo))

    def test_a_moved_program_is_corrected(self, repo: Path, tmp_path: Path) -> None:
        driver, _ = fake_driver(tmp_path / "new")
        init_shared(str(repo), ["/old/ltm"])
        assert not driver_installed(str(repo))
        assert init_shared(str(repo), [str(driver)]) == [str(repo / ".git" / "config")]
        assert driver_installed(str(repo))

    @pytest.mark.parametrize("what", ["attributes", "config"])
    def test_half_of_them_is_not_installed(self, what: str, repo: Path) -> None:
        init_shared(str(repo))
        assert driver_installed(str(repo))
        if what == "attributes":
            (repo / ".git" / "info" / "attributes").unlink()
        else:
            git(repo, "config", "--remove-section", "merge.ltm")
        assert not driver_installed(str(repo))
        init_shared(str(repo))
        assert driver_installed(str(repo))

    def test_the_modes_of_gits_files_stay(self, repo: Path) -> None:
        path = repo / ".git" / "info" / "attributes"
        path.write_text("*.c diff=cpp\n")
        path.chmod(0o600)
        (repo / ".git" / "config").chmod(0o640)
        init_shared(str(repo))
        remove_local(str(repo))
        assert path.stat().st_mode & 0o777 == 0o600
        assert (repo / ".git" / "config").stat().st_mode & 0o777 == 0o640

    def test_a_repository_without_an_info_folder_gets_one(self, repo: Path) -> None:
        shutil.rmtree(repo / ".git" / "info")
        init_shared(str(repo))
        assert driver_installed(str(repo))

    def test_inside_a_git_hook_the_right_repository_is_changed(
        self, repo: Path, user_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = make_repo(user_home / "other")
        before = local_files(other)
        monkeypatch.setenv("GIT_DIR", str(other / ".git"))
        monkeypatch.setenv("GIT_WORK_TREE", str(other))
        init_shared(str(repo))
        (repo / ".gitignore").write_text(".claude/\n")
        assert is_vault_ignored(str(repo)) is True
        monkeypatch.delenv("GIT_DIR")
        monkeypatch.delenv("GIT_WORK_TREE")
        assert local_files(other) == before
        assert driver_installed(str(repo))

    def test_without_the_git_program_the_vault_is_made_and_nothing_is_promised(
        self, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = local_files(repo)
        monkeypatch.setenv("PATH", str(tmp_path))
        init_shared(str(repo))
        assert places(str(repo)).shared_exists
        assert local_files(repo) == before
        assert is_vault_ignored(str(repo)) is False

    def test_a_submodule_has_its_own(self, repo: Path, user_home: Path) -> None:
        library = make_repo(user_home / "library")
        git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "lib")
        init_shared(str(repo / "lib"))
        assert driver_installed(str(repo / "lib"))
        assert not driver_installed(str(repo))

    def test_a_driver_that_is_not_a_command_is_not_installed(self, repo: Path) -> None:
        init_shared(str(repo))
        git(repo, "config", "merge.ltm.driver", "ltm 'merge-driver")
        assert not driver_installed(str(repo))
        git(repo, "config", "merge.ltm.driver", "")
        assert not driver_installed(str(repo))

    def test_a_config_git_cannot_change_is_named_with_the_reason(self, repo: Path) -> None:
        (repo / ".git" / "config.lock").write_text("")
        with pytest.raises(
            StorageFailed, match=r"git could not change its config: .*lock"
        ) as caught:
            init_shared(str(repo))
        assert caught.value.path == str(repo / ".git" / "config")

    def test_an_installation_without_its_own_command_is_run_as_a_module(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
        assert this_command() == (str(tmp_path / "python"), "-P", "-m", "ltm")
        (tmp_path / "ltm").write_text("")
        assert this_command() == (str(tmp_path / "python"), "-P", "-m", "ltm")
        (tmp_path / "ltm").chmod(0o755)
        assert this_command() == (str(tmp_path / "ltm"),)

    def test_outside_of_a_repository_nothing_is_installed_or_taken_away(
        self, user_home: Path
    ) -> None:
        assert not driver_installed(str(user_home))
        assert remove_local(str(user_home)) == []

    def test_what_is_not_a_plain_file_in_gits_folder_is_refused(self, repo: Path) -> None:
        path = repo / ".git" / "info" / "attributes"
        path.unlink(missing_ok=True)
        path.mkdir()
        with pytest.raises(Refused, match="cannot be read"):
            driver_installed(str(repo))
