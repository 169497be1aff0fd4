"""Which agent works here: what its files say, read and never written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ltm.project.layout import agent_of, front_matter, places, watched
from ltm.store.trust import record_trust
from tests.project.repos import make_repo


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "user")}


@pytest.fixture
def repo(tmp_path: Path, environ: dict[str, str]) -> Path:
    """A repository that a person trusts."""
    folder = make_repo(tmp_path / "user" / "app")
    found = places(str(folder), environ=environ)
    record_trust(found.private, found.project, found.shared, True)
    return folder


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# -- reading -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\nname: Anima\n---\n", {"name": "Anima"}),
        ("---\nltm:\n  id: anima\n  subagent: false\n---\n# A", {"ltm.id": "anima"}),
        ("---\nltm: {id: anima, subagent: true}\n---\n", {"ltm.subagent": "true"}),
        ("---\nltm: { 'id' : \"a b\" }  # ours\n---\n", {"ltm.id": "a b"}),
        ('---\nname: "Anima: the first" # a remark\n---\n', {"name": "Anima: the first"}),
        ("---\r\nname: anima # a remark\r\n---\r\n", {"name": "anima"}),
        ("---\n# name: no\n- name: no\nname:yes\n...\n", {"name": "yes"}),
        ("---\nother:\n  id: not-ours\nltm:\n\tid: ours\n---\n", {"ltm.id": "ours"}),
    ],
)
def test_plain_front_matter_is_read(text: str, expected: dict[str, str]) -> None:
    found = front_matter(text)
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize(
    "text",
    ["", "name: anima", "# Title\n---\nname: anima\n---\n", "---\nname: anima\n", "---", "\0"],
)
def test_what_is_not_front_matter_says_nothing(text: str) -> None:
    assert front_matter(text) == {}


# -- who it is ---------------------------------------------------------------------------------


def test_agent_md_names_the_agent(repo: Path, environ: dict[str, str]) -> None:
    write(repo / "AGENT.md", "---\nname: Anima\ndescription: mine\n---\n")
    found = places(str(repo), environ=environ)
    assert (found.agent, found.agent_folder) == ("anima", f"{environ['HOME']}/.ltm/agents/anima")
    write(repo / "AGENT.md", "---\nname: Anima\nltm: {id: prime}\n---\n")
    assert places(str(repo), environ=environ).agent == "prime"


def test_the_first_of_the_agents_files_that_is_not_a_sub_agent_names_it(
    repo: Path, environ: dict[str, str]
) -> None:
    """A client's own sub-agents have a name and a description, and never become the agent."""
    folder = repo / ".claude" / "agents"
    write(folder / "a-reviewer.md", "---\nname: reviewer\ndescription: reviews\n---\n")
    write(folder / "b-helper.md", "---\nltm: {id: helper, subagent: true}\n---\n")
    write(folder / "c-notes.txt", "---\nname: notes\n---\n")
    assert places(str(repo), environ=environ).agent == "default"
    write(folder / "d-second.md", "---\nname: second\nltm:\n  id: anima\ndescription: x\n---\n")
    write(folder / "e-third.md", "---\nname: third\n---\n")
    assert places(str(repo), environ=environ).agent == "anima"
    write(repo / "AGENT.md", "---\nname: first\n---\n")
    assert places(str(repo), environ=environ).agent == "first"


def test_the_users_own_agents_come_after_the_projects(
    repo: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    write(Path(environ["HOME"]) / ".claude" / "agents" / "x.md", "---\nltm: {id: mine}\n---\n")
    assert places(str(repo), environ=environ).agent == "mine"
    other = {**environ, "CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere")}
    assert places(str(repo), environ=other).agent == "default"
    write(repo / ".claude" / "agents" / "y.md", "---\nltm: {id: theirs}\n---\n")
    assert places(str(repo), environ=environ).agent == "theirs"


def test_what_the_person_says_counts_before_any_file(repo: Path, environ: dict[str, str]) -> None:
    write(repo / "AGENT.md", "---\nname: anima\n---\n")
    write(Path(environ["HOME"]) / ".ltm" / "config.toml", 'agent = "mine"\n')
    assert places(str(repo), environ=environ).agent == "mine"
    assert places(str(repo), environ={**environ, "LTM_AGENT": "env"}).agent == "env"
    assert places(str(repo), "asked", environ).agent == "asked"


@pytest.mark.parametrize(
    "name", ["../default", "a/b", "con", "", "x" * 65, ".hidden", "a\0b", "é", "{}"]
)
def test_a_name_that_is_none_is_passed_over(repo: Path, environ: dict[str, str], name: str) -> None:
    write(repo / "AGENT.md", f"---\nname: {name}\n---\n")
    write(repo / ".claude" / "agents" / "a.md", "---\nname: Next One\n---\n")
    assert places(str(repo), environ=environ).agent == "next-one"


def test_files_that_cannot_be_read_are_passed_over(repo: Path, tmp_path: Path) -> None:
    (repo / "AGENT.md").mkdir()
    folder = repo / ".claude" / "agents"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "a.md")
    (folder / "b.md").symlink_to(folder / "b.md")
    (folder / "c.md").write_bytes(b"---\nname: \xff\n---\n")
    (folder / "d.md").write_bytes(b"---\nname: big\n---\n" + b"x" * 100_000)
    write(folder / "e.md", "---\nname: at-last\n---\n")
    assert agent_of(str(repo)) == "at-last"


def test_whatever_may_come_to_name_the_agent_is_watched(repo: Path, tmp_path: Path) -> None:
    client = tmp_path / "client"
    before = set(watched(str(repo), str(client)))
    assert before == {
        str(repo / "AGENT.md"),
        str(repo / ".claude" / "agents"),
        str(client / "agents"),
    }
    made = write(repo / ".claude" / "agents" / "x.md", "---\nname: x\n---\n")
    assert set(watched(str(repo), str(client))) == before | {str(made)}
    assert set(watched(str(repo))) == {*before, str(made)} - {str(client / "agents")}
