"""Odd surroundings: each has a stated outcome, and nobody ever sees a traceback (R20, S9)."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.person import LTM, Person
from tests.figures import count

TEXT = "Die Prüfung läuft nachts — 夜間テスト 🌙"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    project = tmp_path / "project"
    project.mkdir()
    return Person(tmp_path / "user" / "home", project)


@pytest.fixture(autouse=True)
def nobody_sees_a_traceback(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a test is about: no command it runs may show one."""
    said: list[str] = []
    run = Person.run

    def noted(*given: Any, **more: Any) -> subprocess.CompletedProcess[str]:
        done = run(*given, **more)
        said.append(done.stdout + done.stderr)
        return done

    monkeypatch.setattr(Person, "run", noted)
    yield
    tracebacks = sum("Traceback" in each or "should not have happened" in each for each in said)
    count("R20", surroundings=1, commands=len(said), tracebacks=tracebacks)
    assert tracebacks == 0


@pytest.fixture
def passable() -> Iterator[Path]:
    """A folder with a project that other users can reach, which pytest's own they cannot."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        (top / "project").mkdir()
        top.chmod(0o755)
        yield top


def tells(person: Person, **more: object) -> str:
    """A text goes in and comes out again, for programs and for people; its id."""
    kept: str = person.value("remember", TEXT, **more)["id"]
    (hit,) = person.value("recall", "夜間テスト", **more)["hits"]
    assert (hit["id"], hit["text"]) == (kept, TEXT)
    for words in (("show", kept), ("recall", "Prüfung"), ("status",)):
        plain = person.run(*words, **more)  # type: ignore[arg-type]
        assert plain.returncode == 0, plain.stderr
        assert "Traceback" not in plain.stderr
    return kept


def works(person: Person, **more: object) -> None:
    """Everything a person does from day to day, once."""
    kept = tells(person, **more)
    person.value("edit", kept, "--title", "Nachts 🌙", **more)
    assert person.value("list", **more)["memories"][0]["title"] == "Nachts 🌙"
    person.value("forget", kept, **more)
    person.value("restore", kept, **more)
    assert person.value("show", kept, **more)["content"] == TEXT


@pytest.mark.parametrize("locale", ["C", "en_US.ISO-8859-1"])
def test_the_locale_does_not_change_what_is_kept(person: Person, locale: str) -> None:
    tells(Person(person.home, person.project, {"LC_ALL": locale, "LANG": locale}))


def test_ascii_only_output_is_escaped_and_not_an_error(person: Person) -> None:
    tells(Person(person.home, person.project, {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}))


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_what_is_private_stays_private_whatever_the_umask(person: Person, umask: int) -> None:
    works(person, umask=umask)
    open_doors = {
        str(path.relative_to(person.home)): oct(stat.S_IMODE(path.stat().st_mode))
        for path in (person.home, *person.home.rglob("*"))
        if stat.S_IMODE(path.stat().st_mode) != (0o700 if path.is_dir() else 0o600)
    }
    assert open_doors == {}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_what_is_shared_is_readable_and_its_databases_are_not(person: Person, umask: int) -> None:
    person.value("init", umask=umask)
    person.value("remember", TEXT, umask=umask)
    shared = person.project / ".claude" / "ltm"
    assert (shared / "index.db").exists()
    assert len(list((shared / "memories").iterdir())) == 1
    for path in shared.rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        if path.is_dir():
            assert mode == 0o755 & ~(umask & 0o077), path
        else:
            ours = path.name.startswith(("index.db", ".lock"))
            assert mode == (0o600 if ours else 0o644), path


def test_without_any_home_it_says_what_to_set(person: Person) -> None:
    env = {"PATH": os.environ["PATH"]}
    for words in (("list",), ("remember", "x"), ("status",), ("config",)):
        done = person.run(*words, env=env)
        assert done.returncode == 2, done.stderr
        assert "LTM_HOME" in done.stderr
        assert "Traceback" not in done.stderr


def test_without_home_but_with_ltm_home_everything_works(person: Person) -> None:
    env = {"PATH": os.environ["PATH"], "LTM_HOME": str(person.home)}
    works(person, env=env)


@pytest.mark.parametrize("home", ["relative/place", "~someone/x"])
def test_a_home_that_is_not_an_absolute_path_is_refused(person: Person, home: str) -> None:
    done = person.run("list", env={**person.environ, "LTM_HOME": home})
    assert done.returncode == 2
    assert "not an absolute path" in done.stderr


def test_a_home_that_is_a_file_is_told(person: Person) -> None:
    person.home.parent.mkdir(parents=True)
    person.home.write_text("in the way")
    said = person.refused("remember", TEXT)
    assert str(person.home) in said
    assert person.home.read_text() == "in the way"


@pytest.mark.parametrize(
    "name",
    [b"with spaces", b"new\nline", "emoji 🎇 名前".encode(), b"not utf-8 \xff\xfe", b"%3f ?#%"],
    ids=["spaces", "newline", "emoji", "not utf-8", "uri signs"],
)
def test_any_path_will_do(tmp_path: Path, name: bytes) -> None:
    top = Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name)))
    (top / "project").mkdir(parents=True)
    person = Person(top / "home", top / "project")
    works(person)
    assert person.value("init", "--move")["moved"] == 1
    assert person.value("recall", "夜間テスト")["total"] == 1
    person.value("remember", "Builds run on two cores only")
    assert person.value("doctor")["healthy"]


def test_a_project_that_was_deleted_under_us_is_told(person: Person) -> None:
    kept = person.value("remember", TEXT)["id"]
    script = f'rmdir "$PWD"; exec {LTM} list'
    done = subprocess.run(
        ["sh", "-c", script], cwd=person.project, env=person.environ, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "the current folder was deleted" in done.stderr
    assert "Traceback" not in done.stderr
    person.project.mkdir()
    assert person.value("show", kept)["content"] == TEXT


def test_another_user_is_refused_plainly_and_sees_nothing(passable: Path) -> None:
    """The home folder is private: somebody else neither reads nor breaks it."""
    person = Person(passable / "home", passable / "project")
    nobody = as_nobody(person)
    works(person)
    before = person.files()
    for words in (("remember", "x y z"), ("list",), ("recall", "Prüfung"), ("status",)):
        done = person.run(*words, **nobody)
        assert "Traceback" not in done.stderr
        assert "should not have happened" not in done.stderr
        assert TEXT not in done.stdout
        if words[0] == "remember":
            assert done.returncode == 1
            assert "permission denied" in done.stderr
    assert person.files() == before


def test_a_person_without_any_rights_beyond_their_own_can_do_everything(passable: Path) -> None:
    person = Person(passable / "home", passable / "project")
    nobody = as_nobody(person)
    for path in (passable, person.project):
        os.chown(path, 65534, 65534)
    works(person, **nobody)
    folder = next(person.home.glob("projects/*/memories"))
    folder.chmod(0o500)
    said = person.refused("remember", "Builds run on two cores only", **nobody)
    assert "permission denied" in said
    assert str(folder) in said
    assert person.value("list", **nobody)["total"] == 1
    (memory,) = folder.glob("*.md")
    memory.chmod(0)
    # A file that cannot be read now is reported; what is known of it is not forgotten.
    assert person.value("list", **nobody)["total"] == 1
    report = json.loads(person.run("doctor", "--json", **nobody).stdout)
    told = {each["path"]: each["message"] for each in report["problems"]}
    assert "permission denied" in told[str(memory)]
    memory.chmod(0o600)
    folder.chmod(0o700)
    assert person.value("doctor", **nobody)["healthy"]
    assert person.value("list", **nobody)["total"] == 1


def as_nobody(person: Person) -> dict[str, Any]:
    """How to run a program as a user without rights; skips where that cannot be done."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    nobody: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": ()}
    # Listing nothing loads all that the rest needs, and makes nothing.
    probe = person.run("list", **nobody)
    if probe.returncode:
        pytest.skip("the installed ltm lies where other users cannot reach it")
    return nobody


def test_the_command_needs_nothing_of_the_shell_that_starts_it(person: Person) -> None:
    """Closed standard streams, as under some supervisors, are not an error of ours."""
    code = "import os, sys; os.close(0); os.execv(sys.argv[1], sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, LTM, "remember", TEXT, "--json"],
        cwd=person.project,
        env=person.environ,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["action"] == "added"
