"""One person, several machines: what is remembered on one is known on the others."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.project.repos import git, make_repo
from tests.remote.machines import bare, gone, machine, objects, pair

WAL = "We chose WAL for the index because readers must not wait"
RULE = "Always run the linter before a commit"
PORT = "The billing service listens on port 8443"


def test_machines_that_both_had_memories_have_all_of_them(tmp_path: Path) -> None:
    remote = bare(tmp_path)
    one, two = machine(tmp_path, "one", remote), machine(tmp_path, "two", remote, "work/shop")
    one.remember(WAL)
    one.remember(RULE, "--scope", "agent")
    two.remember(PORT)
    assert one.add()["sent"] == 2
    done = two.add()
    assert (done["sent"], done["received"]) == (1, 2)
    assert one.now()["received"] == 1
    assert one.texts() == two.texts()
    assert sorted(one.texts().values()) == sorted([WAL, RULE, PORT])
    assert "Always run the linter" in two.ok("inject")
    assert one.now() == {**one.now(), "sent": 0, "received": 0}


def test_after_a_week_offline_on_both_machines_nothing_is_lost(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    common = one.remember("First line.\nSecond line.\nThird line.\nFourth line.")
    gone_later = one.remember(PORT)
    one.now(), two.now()
    aside = gone(one.remote)
    for day in range(3):
        one.remember(f"On day {day} machine one learned that queue {day} overflows")
        two.remember(f"On day {day} machine two saw that cache {day} was stale")
        assert one.run("remote", "now").returncode == two.run("remote", "now").returncode == 1
    one.ok(
        "edit",
        common,
        "--content",
        "First line, as one has it.\nSecond line.\nThird line.\nFourth line.",
    )
    two.ok(
        "edit",
        common,
        "--content",
        "First line.\nSecond line.\nThird line.\nFourth line, as two has it.",
    )
    two.ok("forget", gone_later)
    assert one.json("remote", "status")["unsent"] == 4
    told = one.run("remote", "status").stderr
    assert "there is no such folder" in told
    assert f"git init --bare -b main {one.remote}" in told, "a clone of it shows the files"
    aside.rename(one.remote)
    one.now(), two.now(), one.now()
    assert one.texts() == two.texts()
    assert len(one.texts()) == 7
    assert one.texts()[common] == (
        "First line, as one has it.\nSecond line.\nThird line.\nFourth line, as two has it."
    )
    assert one.files() == two.files()


def test_a_file_edited_by_hand_on_both_machines_has_both_edits(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    memory = one.remember("Apples are red.\nPears are green.\nPlums are blue.")
    one.now(), two.now()
    for here, old, new in ((one, "red", "red and round"), (two, "blue", "blue and small")):
        path = here.file_of(memory)
        path.write_text(path.read_text().replace(f"are {old}", f"are {new}"))
    one.now(), two.now(), one.now()
    assert one.texts() == two.texts()
    assert "red and round" in one.texts()[memory]
    assert "blue and small" in one.texts()[memory]


def test_the_same_project_in_other_folders_is_one_project(tmp_path: Path) -> None:
    """By its remote and a commit; a folder that only says so waits."""
    remote = bare(tmp_path)
    one, two = machine(tmp_path, "one", remote), machine(tmp_path, "two", remote, "x/y/shop")
    git(two.project, "remote", "set-url", "origin", "https://github.com/Anna/shop")
    forged = make_repo(two.home / "forged", "git@github.com:anna/shop.git", first="not the shop")
    one.remember(WAL)
    one.add()
    # The forger was there first, and has memories under the shop's id.
    two.ok("remember", "The forger writes down what he hears", "--project", str(forged))
    done = two.add()
    assert done["waiting"]
    assert not done["received"]
    assert WAL not in two.texts("--project", str(forged)).values()
    assert "forger" not in objects(remote).decode(errors="replace")
    before = git(remote, "rev-parse", "main")
    assert (two.now()["sent"], two.now()["sent"]) == (0, 0)
    assert git(remote, "rev-parse", "main") == before
    one.ok("edit", next(iter(one.texts())), "--content", f"{WAL}, as was measured")
    one.now(), two.now()
    assert git(remote, "rev-parse", "main") == git(
        two.ltm_home / "remote" / "repository.git", "rev-parse", "main"
    )


def test_a_project_that_is_cloned_later_finds_its_memories(tmp_path: Path) -> None:
    remote = bare(tmp_path)
    one, two = machine(tmp_path, "one", remote), machine(tmp_path, "two", remote)
    one.remember(WAL)
    one.add()
    shutil.rmtree(two.project)
    (two.home / "empty").mkdir()
    two.project = two.home / "empty"
    assert two.json("remote", "add", remote)["received"] == 1
    assert "shop" in two.run("remote").stderr
    two.project = two.home / "later"
    shutil.copytree(one.project, two.project)
    assert list(two.texts().values()) == [WAL]
    two.remember(PORT)
    two.now(), one.now()
    assert set(one.texts().values()) == {WAL, PORT}


def test_folders_without_a_git_remote_are_joined_by_a_person(tmp_path: Path) -> None:
    """Two machines may have different projects at one path, so a path proves nothing."""
    remote = bare(tmp_path)
    one, two = machine(tmp_path, "one", remote), machine(tmp_path, "two", remote)
    for each, text in ((one, WAL), (two, PORT)):
        each.project = each.home / "notes"
        each.project.mkdir()
        each.remember(text)
        each.add()
    one.now()
    assert list(one.texts().values()) == [WAL]
    assert list(two.texts().values()) == [PORT]
    assert "ltm remote join NAME" in two.run("remote").stderr
    joined = two.json("remote", "join", "notes")
    assert joined["sent"] == 1
    assert sorted(two.texts().values()) == sorted([WAL, PORT])
    one.now(), two.now()
    assert one.texts() == two.texts()
    assert "notes" not in two.run("remote").stderr
    # The other way round is said, too: there is nothing left to join.
    done = one.run("remote", "join", "notes")
    assert done.returncode == 1
    assert "there is no project 'notes'" in done.stderr


def test_a_removed_file_leaves_the_others_and_a_lost_folder_comes_back(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    first, second = one.remember(WAL), one.remember(PORT)
    one.now(), two.now()
    one.file_of(first).unlink()
    one.now(), two.now()
    assert list(two.texts()) == [second]
    # An edit there counts for more than a removal here.
    one.file_of(second).unlink()
    two.ok("edit", second, "--content", f"{PORT} since May")
    one.now(), two.now(), one.now()
    assert one.texts() == two.texts() == {second: f"{PORT} since May"}
    shutil.rmtree(one.ltm_home / "projects")
    one.now(), two.now()
    assert one.texts() == two.texts() == {second: f"{PORT} since May"}


def test_a_purge_reaches_every_machine_and_the_history_of_the_remote(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    three = machine(tmp_path, "three", one.remote, "third/shop")
    three.add()
    memory = one.remember("The zanzibarquux deal is with the mandalorquux company")
    one.ok("edit", memory, "--content", "The zanzibarquux deal is off")
    kept = one.remember(PORT)
    one.now(), two.now(), three.now()
    two.ok("edit", memory, "--content", "The zanzibarquux deal is on again")
    three.remember(WAL)
    said = one.run("forget", memory, "--purge", "--yes")
    assert "lose it with the next sync" in said.stderr
    one.now()
    git(Path(one.remote), "gc", "-q", "--prune=now")
    for each in (two, three):
        assert each.now()["purged"] == [memory]
    one.now(), two.now()
    for each in (one, two, three):
        assert b"quux" not in objects(each.ltm_home / "remote" / "repository.git")
        assert not [path for path in each.ltm_home.rglob("*") if _holds(path, b"quux")]
        assert set(each.texts()) == set(three.texts())
        assert kept in each.texts()
    assert b"quux" not in objects(one.remote)
    assert len(one.texts()) == 2


def _holds(path: Path, text: bytes) -> bool:
    return path.is_file() and text in path.read_bytes()


def test_a_purge_says_what_remains_where_the_remote_keeps_its_history(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    git(Path(one.remote), "config", "receive.denyNonFastForwards", "true")
    memory = one.remember("The zanzibarquux deal is on")
    one.now(), two.now()
    one.ok("forget", memory, "--purge", "--yes")
    done = one.run("remote", "now")
    assert done.returncode == 0
    assert "history still has 1 memory that you purged" in done.stderr
    assert "force push" in done.stderr
    assert two.now()["purged"] == [memory]
    assert "history still has 1 memory" in one.run("doctor").stdout
    git(Path(one.remote), "config", "receive.denyNonFastForwards", "false")
    assert one.now()["in_history"] == 0
    git(Path(one.remote), "gc", "-q", "--prune=now")
    two.now()
    assert b"quux" not in objects(one.remote)
    assert one.texts() == two.texts() == {}


@pytest.mark.parametrize("what", ["a branch with other files", "another branch", "a newer format"])
def test_a_repository_that_holds_something_else_is_refused(tmp_path: Path, what: str) -> None:
    remote = bare(tmp_path)
    other = make_repo(tmp_path / "other")
    mark = '{"format": 9}' if what == "a newer format" else "no"
    (other / "ltm.json" if mark != "no" else other / "README.md").write_text(mark)
    git(other, "add", ".")
    git(other, "commit", "-qm", "mine")
    branch = "trunk" if what == "another branch" else "main"
    git(other, "push", "-q", remote, f"HEAD:refs/heads/{branch}")
    before = git(remote, "for-each-ref")
    one = machine(tmp_path, "one", remote)
    one.remember(WAL)
    files = one.files()
    done = one.run("remote", "add", remote)
    assert done.returncode == 1
    expected = "written by a newer ltm" if mark != "no" else "holds something else"
    assert expected in done.stderr
    assert git(remote, "for-each-ref") == before
    assert one.files() == files


def test_a_remote_that_was_lost_is_filled_again(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    one.remember(WAL)
    one.now(), two.now()
    shutil.rmtree(one.remote)
    bare(tmp_path)
    two.remember(PORT)
    two.now(), one.now(), two.now()
    assert one.texts() == two.texts()
    assert len(one.texts()) == 2


def test_a_damaged_repository_next_to_the_vaults_is_made_again(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    one.remember(WAL)
    two.remember(PORT)
    one.now(), two.now()
    repository = one.ltm_home / "remote" / "repository.git"
    for path in (repository / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(b"")
    (repository / "refs" / "heads").mkdir(exist_ok=True)
    one.now()
    assert one.texts() == two.texts()


def test_removing_and_adding_again_doubles_nothing(tmp_path: Path) -> None:
    remote = bare(tmp_path)
    one = machine(tmp_path, "one", remote)
    notes = one.home / "notes"
    notes.mkdir()
    one.project = notes
    one.remember(WAL)
    one.add()
    assert one.json("remote", "remove")["address"] == remote
    assert "There is no remote" in one.ok("remote")
    one.remember(PORT)
    assert one.add()["sent"] == 1
    assert len(one.texts()) == 2
    paths = git(remote, "ls-tree", "-r", "--name-only", "main").splitlines()
    assert len([path for path in paths if "/memories/" in path]) == 2


def test_signed_memories_stay_signed_where_machines_have_the_same_key(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    one.ok("keygen")
    shutil.copy(one.ltm_home / "signing.key", two.ltm_home / "signing.key")
    memory = one.remember("Apples are red.\nPears are green.\nPlums are blue.")
    one.now(), two.now()
    two.ok("edit", memory, "--content", "Apples are red.\nPears are green.\nPlums are violet.")
    one.ok("edit", memory, "--content", "Apples are yellow.\nPears are green.\nPlums are blue.")
    one.now(), two.now(), one.now()
    for each in (one, two):
        assert each.run("verify").returncode == 0, each.run("verify").stdout
    assert one.texts() == two.texts()


def test_only_memories_go_in_and_no_secret_does(tmp_path: Path) -> None:
    """Every object of the repository is searched, and every path in it is looked at."""
    one, two = pair(tmp_path)
    one.ok("keygen")
    one.ok("config", "max_memories", "77")
    key = "AKIA" + "Q3EGRXAMPLEXYZ42"
    one.remember(f"The upload uses the key {key} for the bucket")
    memory = one.remember(PORT)
    path = one.file_of(memory)
    path.write_text(path.read_text() + f"\nThe key is {key}.\n")
    note = one.ltm_home / "projects" / path.parent.parent.name / "sessions.db"
    note.write_bytes(b"what was said: mandalorquux")
    done = one.now()
    assert str(path) in done["held"]
    assert "secret" in done["held"][str(path)]
    assert "seems to hold a secret" in one.run("doctor").stdout
    two.now()
    data = objects(one.remote) + objects(one.ltm_home / "remote" / "repository.git")
    secret = (one.ltm_home / "signing.key").read_text().strip()
    for text in (key, secret, "mandalorquux", "max_memories = 77", str(one.project), str(one.home)):
        assert text.encode() not in data, text
    for name in git(one.remote, "ls-tree", "-r", "--name-only", "main").splitlines():
        parts = name.split("/")
        assert name in ("README.md", "ltm.json", "purged") or (
            parts[0] in ("agents", "projects")
            and (parts[-2] in ("memories", "archives") or parts[-1] == "project.json")
        ), name
    # Once the secret is out of it, it goes.
    path.write_text(path.read_text().replace(key, "in the vault"))
    assert one.now()["held"] == {}
    two.now()
    assert memory in two.texts()


def test_what_init_moves_into_the_repository_leaves_the_remote(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    one.remember(WAL)
    one.now(), two.now()
    one.ok("init", "--move")
    assert one.now()["sent"] == 1
    two.now()
    assert two.texts() == {}
    shutil.copytree(one.project / ".claude", two.project / ".claude")
    two.ok("trust")
    assert one.texts() == two.texts()
    assert len(one.texts()) == 1


def test_no_hook_or_setting_of_a_repository_starts_a_program(tmp_path: Path) -> None:
    """Neither of the one beside the vaults nor of a folder that is the remote."""
    one, two = pair(tmp_path)
    started = tmp_path / "started"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho $0 >> {started}\ncat > /dev/null\n")
    program.chmod(0o755)
    hooks = (
        "pre-push", "reference-transaction", "pre-receive", "update", "post-receive", "post-update",
        "pre-auto-gc", "push-to-checkout",
    )  # fmt: skip
    settings = (
        "core.fsmonitor", "core.sshCommand", "core.alternateRefsCommand", "credential.helper",
        "gpg.program", "core.gitProxy", "uploadpack.packObjectsHook",
    )  # fmt: skip
    for folder in (Path(one.remote), one.ltm_home / "remote" / "repository.git"):
        (folder / "hooks").mkdir(exist_ok=True)
        for name in hooks:
            shutil.copy(program, folder / "hooks" / name)
        for name in settings:
            git(folder, "config", name, str(program))
        git(folder, "config", "url./nowhere.insteadOf", one.remote)
    git(one.project, "push", "-q", one.remote, "HEAD:refs/heads/probe", check=False)
    assert started.exists()  # git alone runs them
    started.unlink()
    one.remember(WAL)
    assert one.now()["sent"] == 1
    assert two.now()["received"] == 1
    assert not started.exists()


def test_hostile_paths_in_a_remote_are_written_nowhere(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    one.remember(WAL)
    one.now()
    work = tmp_path / "work"
    git(tmp_path, "clone", "-q", one.remote, str(work))
    for name in (
        "agents/../../evil/memories/a.md",
        "projects/UPPER CASE/memories/a.md",
        "agents/default/memories/.hidden.md",
        "agents/default/hooks/run.sh",
        "config.toml",
        "signing.key",
    ):
        path = work / name.replace("..", "dots")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("evil")
    (work / "agents" / "default" / "memories").mkdir(parents=True, exist_ok=True)
    (work / "agents" / "default" / "memories" / "link.md").symlink_to("/etc/passwd")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "evil")
    git(work, "push", "-q", "origin", "HEAD:main")
    two.now()
    assert not [
        path
        for path in two.ltm_home.rglob("*")
        if _holds(path, b"evil") and ".git" not in str(path)
    ]
    assert not [path for path in two.ltm_home.rglob("*") if path.is_symlink()]
    assert list(two.texts().values()) == [WAL]
    assert json.loads(two.ok("doctor", "--json"))["healthy"]


def test_a_project_that_gets_its_git_remote_later_keeps_what_it_had(tmp_path: Path) -> None:
    remote = bare(tmp_path)
    one, two = machine(tmp_path, "one", remote), machine(tmp_path, "two", remote)
    git(two.project, "remote", "remove", "origin")
    one.remember(WAL)
    two.remember(PORT)
    one.add(), two.add()
    assert list(two.texts().values()) == [PORT]
    git(two.project, "remote", "add", "origin", "git@github.com:anna/shop.git")
    assert list(two.texts().values()) == [PORT]
    assert two.json("remote", "join", "shop")["sent"] >= 1
    one.now(), two.now()
    assert one.texts() == two.texts()
    assert len(one.texts()) == 2
