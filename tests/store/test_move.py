"""What docs/guides/moving.md says of a copy of LTM_HOME and of an export, tried out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.runner import Ltm
from tests.project.repos import git, make_repo
from tests.sessions.writing import Transcript

MEMORY = "Deploy with make ship, never by hand."


@pytest.fixture
def old(tmp_path: Path) -> Ltm:
    """A machine on which a memory was kept, sessions were held, and a wish was said thrice."""
    project = make_repo(tmp_path / "old" / "code" / "app", "git@example.org:me/app.git")
    ltm = Ltm(tmp_path / "old", project)
    ltm.ok("remember", MEMORY)
    folder = ltm.home / ".claude" / "projects" / "app"
    folder.mkdir(parents=True)
    for number in range(3):
        transcript = Transcript(folder / f"s{number}.jsonl", f"s{number}")
        transcript.user(f"Set up the zeppelin importer, part {number}.", cwd=str(ltm.project))
        transcript.says("I will use npm for it.")
        transcript.user("no, use pnpm instead of npm, always")
        transcript.says("Right, pnpm it is.")
    ltm.ok("capture", "--all")
    ltm.ok("friction")
    return ltm


def moved(old: Ltm, top: Path, project: Path) -> Ltm:
    """Another machine with a copy of the home, on which the old one's folders are not."""
    new = Ltm(top / "new", project)
    shutil.copytree(old.home / ".ltm", new.home / ".ltm", dirs_exist_ok=True)
    shutil.rmtree(old.home)
    return new


def clone(old: Ltm, to: Path) -> Path:
    to.parent.mkdir(parents=True, exist_ok=True)
    git(old.project, "clone", "-q", ".", str(to))
    git(to, "remote", "set-url", "origin", "https://example.org/me/app")
    return to


def test_a_copy_of_the_home_knows_what_was_said_and_corrected(old: Ltm, tmp_path: Path) -> None:
    new = moved(old, tmp_path, clone(old, tmp_path / "new" / "src" / "other-name"))
    assert new.json("doctor")["healthy"]
    assert MEMORY in {each["content"] for each in new.json("list")["memories"]}
    assert "s1:1" in new.ok("recall", "zeppelin importer")
    new.ok("consolidate", "--all")
    assert any("pnpm" in each["content"] for each in new.json("list")["memories"])


def test_a_project_without_a_remote_is_found_at_the_same_path_alone(
    old: Ltm, tmp_path: Path
) -> None:
    plain = make_repo(tmp_path / "old" / "code" / "plain")
    old.ok("remember", "Plain is served by caddy.", cwd=plain)
    new = moved(old, tmp_path, make_repo(tmp_path / "new" / "src" / "plain"))
    assert new.json("list")["memories"] == []
    again = make_repo(plain)
    assert len(new.json("list", cwd=again)["memories"]) == 1
    (vault,) = (new.home / ".ltm" / "projects").glob("plain-*")
    new.ok("import", str(vault))
    assert len(new.json("list")["memories"]) == 1


def test_an_export_takes_memories_along_and_no_word_that_was_said(old: Ltm, tmp_path: Path) -> None:
    exported = tmp_path / "memories.json"
    old.ok("export", str(exported), "--versions")
    new = Ltm(tmp_path / "new", clone(old, tmp_path / "new" / "app"))
    new.ok("import", str(exported))
    assert MEMORY in {each["content"] for each in new.json("list")["memories"]}
    assert "zeppelin" not in exported.read_text()
    assert "s1:1" not in new.run("recall", "zeppelin importer").stdout
    assert "seen in" not in new.ok("consolidate", "--all")
