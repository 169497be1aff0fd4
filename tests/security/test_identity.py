"""Forged identity (reliability S18): a folder's own files choose no other project and no agent.

A victim's project and an agent have memories on this machine. Each way in which a clone or an
unpacked archive can say that it is that project is tried through the commands and the real hook:
it is told none of the victim's memories, and nothing said in it reaches them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ltm.hook.answer import compose_brief
from ltm.spool import session_text
from ltm.store.project import OpenProject
from tests.cli.runner import Ltm
from tests.figures import count
from tests.project.repos import git, make_repo
from tests.security.strangers import clone, session_start, tree

HUB = "https://github.com/org/app.git"
SECRET = "The payroll job runs on the blue cluster"
PLANTED = "The release key is kept in the lobby"
CONFIG = f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {HUB}\n'


@pytest.fixture
def victim(ltm: Ltm, tmp_path: Path) -> Path:
    """The user's own clone, in which something was remembered."""
    folder = make_repo(tmp_path / "code" / "victim", HUB, "the victim's own")
    ltm.json("remember", SECRET, cwd=folder)
    return folder


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """A repository of somebody else."""
    return make_repo(tmp_path / "code" / "stranger", "https://github.com/evil/app", "stranger")


def doctor(ltm: Ltm, folder: Path) -> str:
    """What the doctor says there."""
    return ltm.run("doctor", cwd=folder).stdout


def git_dir(folder: Path, config: str = CONFIG, **files: str) -> Path:
    """What makes a folder a git folder, without any object."""
    for name in ("objects", "refs"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text(config)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def bare_in_a_clone(stranger: Path, victim: Path) -> Path:
    """Nothing keeps git from tracking these files."""
    origin = stranger.with_name("origin")
    shutil.copytree(stranger, origin)
    git_dir(origin / "fixtures" / "app.git")
    for name in ("objects", "refs"):
        (origin / "fixtures" / "app.git" / name / "keep").touch()
    git(origin, "add", "-f", "-A")
    git(origin, "commit", "-q", "-m", "fixtures")
    return clone(origin, stranger.with_name("checkout")) / "fixtures" / "app.git"


def bare_with_the_history(stranger: Path, victim: Path) -> Path:
    git(stranger, "clone", "-q", "--bare", str(victim), str(stranger / "app.git"))
    (stranger / "app.git" / "config").write_text(CONFIG)
    return stranger / "app.git"


def bare_that_leads_away(stranger: Path, victim: Path) -> Path:
    folder = stranger / "worktree"
    folder.mkdir()
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "commondir").write_text("../../victim/.git\n")
    return folder


def bare_unpacked(stranger: Path, victim: Path) -> Path:
    return git_dir(stranger.with_name("unpacked.git"))


def copied_settings(stranger: Path, victim: Path) -> Path:
    make_repo(stranger / "sub", HUB, "another history")
    return stranger / "sub"


def no_commits(stranger: Path, victim: Path) -> Path:
    return git_dir(stranger.with_name("unpacked") / ".git").parent


def settings_in_a_link(stranger: Path, victim: Path) -> Path:
    folder = git_dir(stranger.with_name("unpacked") / ".git")
    (folder / "config").unlink()
    (folder / "config").symlink_to("../../victim/.git/config")
    return folder.parent


def names_without_objects(stranger: Path, victim: Path) -> Path:
    """The commit that the machine noted, without being able to show it."""
    head = git(victim, "rev-parse", "HEAD")
    folder = git_dir(stranger.with_name("unpacked") / ".git")
    (folder / "HEAD").write_text(head)
    return folder.parent


def a_blob_by_its_name(stranger: Path, victim: Path) -> Path:
    """Some files are in most repositories: the empty one is held by both."""
    (victim / "empty").touch()
    git(victim, "add", "-A")
    git(victim, "commit", "-q", "-m", "with an empty file")
    folder = make_repo(stranger.with_name("unpacked"), HUB, "another history")
    blob = git(folder, "hash-object", "-w", "/dev/null").strip()
    (folder / ".git" / "refs" / "heads" / "main").write_text(f"{blob}\n")
    return folder


def borrowed_objects(stranger: Path, victim: Path) -> Path:
    folder = make_repo(stranger.with_name("unpacked"), HUB, "another history")
    (folder / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (folder / ".git" / "objects" / "info" / "alternates").write_text("../../../victim/.git/objects")
    return folder


def linked_objects(stranger: Path, victim: Path) -> Path:
    folder = git_dir(stranger.with_name("unpacked") / ".git")
    (folder / "objects").rmdir()
    (folder / "objects").symlink_to("../../victim/.git/objects")
    return folder.parent


def a_path_as_remote(stranger: Path, victim: Path) -> Path:
    folder = stranger.with_name("unpacked")
    git_dir(folder / ".git", CONFIG.replace(HUB, "../victim"))
    return folder


def git_file(stranger: Path, victim: Path) -> Path:
    folder = stranger / "sub"
    folder.mkdir()
    (folder / ".git").write_text("gitdir: ../../victim/.git\n")
    return folder


def git_file_of_a_work_tree(stranger: Path, victim: Path) -> Path:
    git(victim, "worktree", "add", "-q", str(victim.with_name("feature")))
    folder = stranger / "sub"
    folder.mkdir()
    (folder / ".git").write_text("gitdir: ../../victim/.git/worktrees/feature\n")
    return folder


def git_link(stranger: Path, victim: Path) -> Path:
    folder = stranger / "sub"
    folder.mkdir()
    (folder / ".git").symlink_to("../../victim/.git")
    return folder


def leading_away(stranger: Path, victim: Path) -> Path:
    folder = stranger.with_name("unpacked")
    git_dir(folder / ".git", commondir="../../victim/.git\n")
    return folder


FORGERIES: dict[str, Callable[[Path, Path], Path]] = {
    each.__name__.replace("_", " "): each
    for each in (
        bare_in_a_clone,
        bare_with_the_history,
        bare_that_leads_away,
        bare_unpacked,
        copied_settings,
        no_commits,
        settings_in_a_link,
        names_without_objects,
        a_blob_by_its_name,
        borrowed_objects,
        linked_objects,
        a_path_as_remote,
        git_file,
        git_file_of_a_work_tree,
        git_link,
        leading_away,
    )
}


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_a_folder_that_poses_as_a_project_is_told_nothing_and_writes_nothing_there(
    ltm: Ltm,
    victim: Path,
    stranger: Path,
    tmp_path: Path,
    forgery: Callable[[Path, Path], Path],
) -> None:
    own = ltm.json("status", cwd=victim)["project"]["id"]
    folder = forgery(stranger, victim)
    told = [
        session_start(ltm, folder),
        ltm.json("inject", cwd=folder)["text"],
        json.dumps(ltm.json("recall", "payroll blue cluster", cwd=folder)),
        json.dumps(ltm.json("list", cwd=folder)),
    ]
    before = tree(ltm.home / ".ltm" / "projects" / own / "memories")
    kept = ltm.json("remember", PLANTED, cwd=folder)
    told.append(session_start(ltm, folder))
    leaked = sum("blue cluster" in text for text in told)
    planted = "lobby" in ltm.json("inject", cwd=victim)["text"]
    count("S18", forged_projects=1, told_to_a_forger=leaked, written_by_a_forger=int(planted))
    assert leaked == 0
    assert not planted
    assert own not in kept["path"]
    assert tree(ltm.home / ".ltm" / "projects" / own / "memories") == before
    assert "lobby" in ltm.json("inject", cwd=folder)["text"], "it has memories of its own"
    assert "blue cluster" in ltm.json("inject", cwd=victim)["text"]
    assert ltm.json("status", cwd=victim)["project"]["id"] == own


@pytest.mark.parametrize("way", [copied_settings, git_file], ids=["remote", "git file"])
def test_the_user_is_told_and_can_say_that_it_is_the_same_project(
    ltm: Ltm, victim: Path, stranger: Path, way: Callable[[Path, Path], Path]
) -> None:
    folder = way(stranger, victim)
    project = ltm.json("status", cwd=victim)["project"]
    line = "type: ltm trust --same-project"
    assert line in ltm.run("status", cwd=folder).stderr
    assert f"it says to be the project '{project['name']}'" in doctor(ltm, folder)
    assert line in doctor(ltm, folder)
    assert "(ltm trust --same-project)" in session_start(ltm, folder)
    kept = ltm.json("remember", PLANTED, cwd=folder)
    done = ltm.run("trust", "--same-project", cwd=folder)
    assert f"is part of the project {project['name']} ({project['id']})" in done.stdout
    assert f"ltm import {Path(kept['path']).parents[1]}" in done.stderr
    assert "blue cluster" in session_start(ltm, folder)
    assert line not in ltm.run("status", cwd=folder).stderr + doctor(ltm, folder)
    ltm.ok("import", str(Path(kept["path"]).parents[1]), cwd=folder)
    assert "lobby" in session_start(ltm, victim)
    again = ltm.run("trust", "--same-project", cwd=folder)
    assert again.returncode == 1
    assert "does not claim to be another project" in again.stderr


def honest_clone(victim: Path, top: Path) -> Path:
    folder = clone(victim, top / "second")
    git(folder, "remote", "set-url", "origin", HUB)
    return folder


def shallow_clone(victim: Path, top: Path) -> Path:
    git(top, "clone", "-q", "--depth", "1", f"file://{victim}", "second")
    git(top / "second", "remote", "set-url", "origin", HUB)
    return top / "second"


def local_clone(victim: Path, top: Path) -> Path:
    return clone(victim, top / "second")


def older_clone(victim: Path, top: Path) -> Path:
    folder = honest_clone(victim, top)
    git(victim, "commit", "-q", "--allow-empty", "-m", "later")
    return folder


def newer_clone(victim: Path, top: Path) -> Path:
    git(victim, "commit", "-q", "--allow-empty", "-m", "later")
    return honest_clone(victim, top)


def packed_clone(victim: Path, top: Path) -> Path:
    for number in range(20):
        git(victim, "commit", "-q", "--allow-empty", "-m", f"commit {number}")
    folder = honest_clone(victim, top)
    git(folder, "repack", "-adfq", "--depth=50")
    git(folder, "pack-refs", "--all")
    return folder


def cloned_anew(victim: Path, top: Path) -> Path:
    """The first clone is gone, and what the machine noted is all there is."""
    folder = honest_clone(victim, top)
    shutil.rmtree(victim)
    return folder


def work_tree(victim: Path, top: Path) -> Path:
    git(victim, "worktree", "add", "-q", str(top / "second"))
    return top / "second"


def moved_work_tree(victim: Path, top: Path) -> Path:
    work_tree(victim, top).rename(top / "moved")
    return top / "moved"


def work_tree_of_a_bare_repository(victim: Path, top: Path) -> Path:
    git(top, "clone", "-q", "--bare", str(victim), str(top / "layout" / ".bare"))
    (top / "layout" / ".git").write_text("gitdir: ./.bare\n")
    git(top / "layout", "remote", "set-url", "origin", HUB)
    git(top / "layout", "worktree", "add", "-q", str(top / "layout" / "feature"))
    return top / "layout" / "feature"


def submodule(victim: Path, top: Path) -> Path:
    parent = make_repo(top / "parent", "", "parent")
    allowed = ("-c", "protocol.file.allow=always")
    git(parent, *allowed, "submodule", "add", "-q", str(victim), "lib")
    return parent / "lib"


def separate_git_dir(victim: Path, top: Path) -> Path:
    git(top, "clone", "-q", f"--separate-git-dir={top / 'apart'}", str(victim), "second")
    return top / "second"


def renamed(victim: Path, top: Path) -> Path:
    victim.rename(top / "renamed")
    return top / "renamed"


def fetched(victim: Path, top: Path) -> Path:
    """Settings that were typed, and history that came from there."""
    folder = make_repo(top / "second", HUB, "another history")
    git(folder, "fetch", "-q", str(victim), "main:refs/remotes/origin/main")
    return folder


HONEST: dict[str, Callable[[Path, Path], Path]] = {
    each.__name__.replace("_", " "): each
    for each in (
        honest_clone,
        shallow_clone,
        local_clone,
        older_clone,
        newer_clone,
        packed_clone,
        cloned_anew,
        work_tree,
        moved_work_tree,
        work_tree_of_a_bare_repository,
        submodule,
        separate_git_dir,
        renamed,
        fetched,
    )
}


@pytest.mark.parametrize("way", HONEST.values(), ids=HONEST)
def test_the_users_own_copies_share_one_memory(
    ltm: Ltm, victim: Path, tmp_path: Path, way: Callable[[Path, Path], Path]
) -> None:
    (tmp_path / "more").mkdir()
    folder = way(victim, tmp_path / "more")
    status = ltm.json("status", cwd=folder)
    shares = "blue cluster" in session_start(ltm, folder)
    count("S18", own_copies=1, own_copies_refused=int(not shares))
    assert status["unproven"] == []
    assert shares


def test_a_record_from_before_commits_were_noted_is_completed(
    ltm: Ltm, victim: Path, tmp_path: Path, stranger: Path
) -> None:
    (path,) = (ltm.home / ".ltm" / "projects").glob("*/project.json")
    noted = json.loads(path.read_text())
    commits = noted.pop("commits")
    assert commits == [git(victim, "rev-parse", "HEAD").strip()]
    path.write_text(json.dumps(noted))
    forged = copied_settings(stranger, victim)
    assert "blue cluster" not in session_start(ltm, forged), "its folder is still there"
    ltm.json("remember", "We retry three times", cwd=victim)
    assert json.loads(path.read_text())["commits"] == commits
    path.write_text(json.dumps(noted))
    second = honest_clone(victim, tmp_path)
    shutil.rmtree(victim)
    assert "blue cluster" in session_start(ltm, second), "nothing is left to compare with"


def test_what_is_kept_in_a_forgery_stays_its_own_when_the_remote_is_used_later(
    ltm: Ltm, stranger: Path, tmp_path: Path
) -> None:
    """The forgery was there first: then the user's clone is the one that is asked about."""
    ltm.json("remember", PLANTED, cwd=no_commits(stranger, stranger))
    folder = make_repo(tmp_path / "mine", HUB, "mine")
    assert "lobby" not in ltm.json("inject", cwd=folder)["text"]
    ltm.json("remember", SECRET, cwd=folder)
    assert "lobby" not in ltm.json("inject", cwd=folder)["text"]
    assert "blue cluster" in ltm.json("inject", cwd=folder)["text"]


# -- the agent ---------------------------------------------------------------------------------

NAMED = {
    "AGENT.md": "---\nname: anima\n---\n",
    ".claude/agents/anima.md": "---\nltm:\n  id: anima\n---\n",
    ".claude/agents/plain.md": "---\nname: anima\n---\n",
}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def anima(ltm: Ltm) -> Ltm:
    """A person with an agent of that name, which knows something."""
    ltm.json("remember", "I keep the tokens in the blue drawer", "--scope", "agent", **ANIMA)
    ltm.json("remember", "I like long answers", "--scope", "agent")
    return ltm


ANIMA: dict[str, Any] = {"LTM_AGENT": "anima"}


@pytest.mark.parametrize("how", ["cloned", "unpacked", "plain folder"])
@pytest.mark.parametrize("name", NAMED)
def test_a_clone_does_not_choose_the_agent(
    anima: Ltm, stranger: Path, tmp_path: Path, name: str, how: str
) -> None:
    write(stranger / name, NAMED[name])
    git(stranger, "add", "-f", "-A")
    git(stranger, "commit", "-q", "-m", "an agent")
    folder = tmp_path / "theirs"
    if how == "cloned":
        clone(stranger, folder)
    else:
        shutil.copytree(stranger, folder)
        if how == "plain folder":
            shutil.rmtree(folder / ".git")
    told = [session_start(anima, folder), anima.json("inject", cwd=folder)["text"]]
    anima.json("remember", PLANTED, "--scope", "agent", cwd=folder)
    planted = "lobby" in anima.json("inject", **ANIMA)["text"]
    leaked = sum("blue drawer" in text for text in told)
    count("S18", forged_agents=1, told_to_a_forger=leaked, written_by_a_forger=int(planted))
    assert leaked == 0
    assert not planted
    assert all("long answers" in text for text in told)
    status = anima.run("status", cwd=folder)
    assert "agent     default" in status.stdout
    line = "name the agent 'anima', which is not used until you trust this repository"
    assert line in status.stderr
    assert f"{line} (type: ltm trust)" in doctor(anima, folder)
    assert "that files of this repository name (ltm trust)" in told[0]
    anima.ok("trust", "--no", cwd=folder)
    assert line not in anima.run("status", cwd=folder).stderr
    assert "agent     default" in anima.ok("status", cwd=folder)
    assert "The agent here is anima." in anima.ok("trust", cwd=folder)
    assert "blue drawer" in session_start(anima, folder)
    assert line not in anima.run("status", cwd=folder).stderr
    anima.ok("trust", "--forget", cwd=folder)
    assert "blue drawer" not in session_start(anima, folder)


def test_a_text_composed_while_trust_was_taken_away_is_kept_for_no_session(
    anima: Ltm, stranger: Path
) -> None:
    write(stranger / "AGENT.md", NAMED["AGENT.md"])
    environ = {"HOME": str(anima.home), "LTM_HOME": str(anima.home / ".ltm")}
    anima.ok("trust", cwd=stranger)
    with OpenProject(str(stranger), environ=environ, readonly=True) as project:
        assert project.places.agent == "anima"
        anima.ok("trust", "--forget", cwd=stranger)
        text, _ = compose_brief(project, str(stranger), environ)
    assert "blue drawer" in text
    assert session_text.load(environ["LTM_HOME"], str(stranger), environ) is None
    assert "blue drawer" not in session_start(anima, stranger)


def test_who_shares_memories_from_a_repository_lets_it_name_the_agent(
    anima: Ltm, stranger: Path
) -> None:
    write(stranger / "AGENT.md", NAMED["AGENT.md"])
    anima.ok("init", cwd=stranger)
    (stranger / "deep").mkdir()
    for folder in (stranger, stranger / "deep"):
        assert "blue drawer" in session_start(anima, folder)


def test_a_forgery_of_a_trusted_repository_is_not_trusted(
    anima: Ltm, victim: Path, stranger: Path
) -> None:
    write(victim / "AGENT.md", NAMED["AGENT.md"])
    anima.ok("trust", cwd=victim)
    assert "blue drawer" in session_start(anima, victim)
    for way in (git_link, no_commits):
        folder = way(stranger, victim)
        write(folder / "AGENT.md", NAMED["AGENT.md"])
        assert "blue drawer" not in session_start(anima, folder)


def test_what_the_user_names_is_the_agent_whatever_a_repository_says(
    anima: Ltm, stranger: Path
) -> None:
    write(stranger / "AGENT.md", "---\nname: other\n---\n")
    assert "blue drawer" in anima.json("inject", cwd=stranger, **ANIMA)["text"]
    write(anima.home / ".claude" / "agents" / "mine.md", "---\nltm: {id: anima}\n---\n")
    assert "blue drawer" in session_start(anima, stranger)
