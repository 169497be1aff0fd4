"""Whose memories a server serves: the folder it was given, the client's word, or where it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mcp.wire import Wire


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    made = {name: tmp_path / name for name in ("home", "cwd", "env", "root one", "given")}
    for folder in made.values():
        folder.mkdir()
    return made


def project_of(wire: Wire) -> str:
    """The project's name as the server tells it."""
    return wire.call("ltm_status").split(" (")[0].removeprefix("project ")


def test_the_folder_it_is_started_in_is_the_project(folders: dict[str, Path]) -> None:
    with Wire(folders["cwd"], folders["home"]) as wire:
        wire.initialize()
        assert project_of(wire) == "cwd"


def test_the_clients_project_folder_comes_before_its_roots(folders: dict[str, Path]) -> None:
    env = {"CLAUDE_PROJECT_DIR": str(folders["env"])}
    with Wire(folders["cwd"], folders["home"], env=env) as wire:
        wire.initialize({"roots": {}})
        wire.roots = [folders["root one"].as_uri()]
        assert project_of(wire) == "env"


def test_a_folder_given_by_the_person_comes_before_everything(folders: dict[str, Path]) -> None:
    env = {"CLAUDE_PROJECT_DIR": str(folders["env"])}
    args = ("--project", str(folders["given"]))
    with Wire(folders["cwd"], folders["home"], args=args, env=env) as wire:
        wire.initialize()
        assert project_of(wire) == "given"


def test_the_first_root_that_exists_is_the_project_and_a_change_is_noticed(
    folders: dict[str, Path],
) -> None:
    # An editor may pass the variable on unfilled; that is no folder and says nothing.
    env = {"CLAUDE_PROJECT_DIR": "${CLAUDE_PROJECT_DIR}"}
    with Wire(folders["cwd"], folders["home"], env=env) as wire:
        wire.initialize({"roots": {"listChanged": True}})
        gone = folders["cwd"] / "gone"
        wire.roots = [gone.as_uri(), folders["root one"].as_uri()]
        assert project_of(wire) == "root one"
        wire.roots = [folders["given"].as_uri()]
        assert project_of(wire) == "root one"
        wire.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
        assert project_of(wire) == "given"
        wire.roots = []
        wire.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
        assert project_of(wire) == "cwd"


def test_a_client_that_refuses_to_name_its_roots_is_served_where_it_runs(
    folders: dict[str, Path],
) -> None:
    with Wire(folders["cwd"], folders["home"]) as wire:
        wire.initialize({"roots": {}})
        number = wire.start("tools/call", {"name": "ltm_status", "arguments": {}})
        asked = wire.receive()
        assert asked["method"] == "roots/list"
        error = {"code": -32603, "message": "no roots for you"}
        wire.send({"jsonrpc": "2.0", "id": asked["id"], "error": error})
        assert "project cwd" in wire.answer(number)["result"]["content"][0]["text"]


def test_a_project_folder_that_was_deleted_is_a_tool_error(folders: dict[str, Path]) -> None:
    with Wire(folders["cwd"], folders["home"], args=("--project", str(folders["given"]))) as wire:
        wire.initialize()
        folders["given"].rmdir()
        text = wire.error("ltm_status")
        assert str(folders["given"]) in text
        assert "Next: " in text
        assert wire.ask("resources/list")["result"]["resources"] == []


def test_projects_do_not_see_each_others_memories(folders: dict[str, Path]) -> None:
    with Wire(folders["cwd"], folders["home"]) as wire:
        wire.initialize({"roots": {"listChanged": True}})
        wire.roots = [folders["root one"].as_uri()]
        wire.call("store_memory", content="The vault's door squeaks.", scope="project")
        wire.call("store_memory", content="Coffee is taken black.", scope="agent")
        wire.roots = [folders["given"].as_uri()]
        wire.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
        listing = wire.call("list_memories")
        assert "Coffee is taken black" in listing
        assert "squeaks" not in listing
