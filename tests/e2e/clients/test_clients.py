"""The real clients: what one session keeps, the next is told; what is said is captured."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from ltm.clients.connections import trust_hash

from ..client import use
from ..client.binary import required
from ..conftest import MakeHarness
from .install import IN_CI, PINNED, folder_of
from .world import RECIPES, Run, World

ROOT = Path(__file__).parents[3]
PORT = "The staging port is 7431 because 7430 is taken by Jenkins"
RULE = "From now on always format the Go code with gofumpt, never with gofmt."
HOSTILE = "$(touch X1) `touch X2` ';touch X3;' \"$(touch X4)\""
QUOTED = "echo '$(touch X5) `touch X6`'"
EVERY_EVENT = ("inject.news_per_prompt", "hooks.tools")
"""Options with which hooks are also fed what a person typed, and what tools were called with."""


def world_of(name: str, top: Path, *, is_set_up: bool = True) -> World:
    """A person with a client; the test is skipped where it is not installed."""
    folder = folder_of(name)
    if not folder.is_dir():
        command = f"python -m tests.e2e.clients.install {name}"
        if name in IN_CI and required(os.environ):
            pytest.fail(f"{name} is not installed: {command}")
        pytest.skip(f"{name} is not installed: {command}")
    return World(RECIPES[name], folder, top, is_set_up=is_set_up)


@dataclass(frozen=True)
class Story:
    """Two sessions in one project, and what came of them."""

    world: World
    first: Run
    second: Run

    @property
    def memories(self) -> list[str]:
        found = self.world.value("list")["memories"]
        return [f"{each['title']} {each.get('summary', '')}" for each in found]

    @property
    def likely(self) -> list[str]:
        """What waits to be confirmed."""
        return [json.dumps(each) for each in self.world.value("review")["waiting"]]


@pytest.fixture(scope="module", params=PINNED)
def story(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Story]:
    world = world_of(request.param, tmp_path_factory.mktemp(request.param))
    recipe = world.recipe
    try:
        for option in EVERY_EVENT:
            world.ltm("config", option, "true")
        world.ltm("setup", "--client", recipe.name)
        first = world.ask(
            f"{RULE} Then check the build.",
            recipe.command_call("echo the build is broken >&2; exit 3"),
            *recipe.store(PORT),
            "The build fails, and the port is kept.",
        )
        second = world.ask(
            f"Hello. {HOSTILE} which port was it?",
            recipe.command_call(QUOTED),
            f"It is 7431. {HOSTILE}",
        )
        assert (first.rc, second.rc, world.model.missing) == (0, 0, []), (first, second)
        yield Story(world, first, second)
    finally:
        world.close()


def test_what_one_session_stores_the_next_is_told_at_its_first_request(story: Story) -> None:
    assert "[LTM:" not in "".join(story.first.requests[:2])
    assert "[LTM:" in story.second.requests[0]
    assert PORT in story.second.requests[0]
    assert story.second.requests[0].count("[/LTM]") == 1


def test_sessions_are_listed_with_their_client(story: Story) -> None:
    listed = story.world.value("sessions")["sessions"]
    assert [each["client"] for each in listed] == [story.world.recipe.name] * 2


def test_a_stated_preference_is_kept_or_waits_to_be_confirmed(story: Story) -> None:
    assert any("gofumpt" in each for each in (*story.memories, *story.likely))


def test_a_failed_command_is_seen_as_failed(story: Story) -> None:
    newest, oldest = story.world.value("sessions")["sessions"]
    assert (oldest["tools"]["failed"], newest["tools"]["failed"]) == (1, 0)
    assert newest["tools"]["ok"] == 1


def test_what_we_told_is_not_learned(story: Story) -> None:
    assert sum("7431" in each for each in story.memories) == 1
    assert not any("7431" in each or "[LTM" in each for each in story.likely)
    assert len(story.memories) + len(story.likely) == 2


def test_nothing_in_a_prompt_a_call_or_an_answer_is_executed(story: Story) -> None:
    assert not [path for path in story.world.top.rglob("X[1-6]") if path.is_file()]


def test_the_doctor_knows_when_it_was_heard_of(story: Story) -> None:
    report = json.loads(story.world.ltm("doctor", "--json", ok=False))
    (found,) = (each for each in report["clients"] if each["client"] == story.world.recipe.name)
    assert found["last_event"]
    assert found["server"]
    assert [each for each in found["missing"] if "trust" not in each] == []


def test_uninstall_gives_every_byte_back(story: Story) -> None:
    world = story.world
    entered = {name: data for name, data in world.settings().items() if b"ltm" in data}
    ours = {name for name in world.touched if name in entered}
    assert ours
    world.ltm("uninstall", "--client", world.recipe.name)
    after = world.settings()
    assert {name: after.get(name) for name in world.touched} == {
        name: world.before.get(name) for name in world.touched
    }


# -- trust, and two clients ----------------------------------------------------------------------


def test_codex_runs_the_hooks_a_person_trusted_and_the_doctor_sees_it(tmp_path: Path) -> None:
    world = world_of("codex", tmp_path / "world")
    try:
        world.ltm("remember", PORT)
        listed = {each["key"]: each for each in hooks_of_codex(world)}
        lines = []
        for each in listed.values():
            event = each["key"].split(":")[1]
            hooks = json.loads((world.home / ".codex" / "hooks.json").read_text())["hooks"]
            name = "".join(part.capitalize() for part in event.split("_"))
            assert trust_hash(event, hooks[name][0]["hooks"][0]) == each["currentHash"], event
            assert each["trustStatus"] == "untrusted"
            lines.append(f'[hooks.state."{each["key"]}"]\ntrusted_hash = "{each["currentHash"]}"\n')
        before = world.ask("Hello", "Hi.", trusting=True)
        with (world.home / ".codex" / "config.toml").open("a") as file:
            file.write("\n" + "\n".join(lines))

        after = world.ask("Hello", "Hi.", trusting=True)

        assert len(lines) == 5
        assert PORT not in before.requests[0]
        assert PORT in after.requests[0]
        assert {each["trustStatus"] for each in hooks_of_codex(world)} == {"trusted"}
        report = json.loads(world.ltm("doctor", "--json", ok=False))
        assert report["clients"][0]["missing"] == []
    finally:
        world.close()


PLUGINS = {
    "codex": (
        ("codex", "plugin", "marketplace", "add", "{}"),
        ("codex", "plugin", "add", "ltm@ltm"),
    ),
    "copilot": (
        ("copilot", "plugin", "marketplace", "add", "{}"),
        ("copilot", "plugin", "install", "ltm@ltm"),
    ),
    "gemini": (("gemini", "extensions", "install", "{}", "--consent"),),
    "qwen": (("qwen", "extensions", "install", "{}/src", "--consent"),),
}


SHIPPED = (".claude-plugin", "src", "hooks", "gemini-extension.json", "plugin.json", "mcp.json")


def shipped_to(folder: Path) -> Path:
    """What is installed of the repository as a plugin, in a folder of its own."""
    folder.mkdir()
    for part in SHIPPED:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        copy(ROOT / part, folder / part)
    return folder


def test_readers_of_agent_plugins_get_the_tools_for_the_project_they_are_in(
    tmp_path: Path,
) -> None:
    """That format has no hooks, and starts servers in the plugin's folder."""
    world = world_of("qwen", tmp_path / "world", is_set_up=False)
    try:
        shipped = shipped_to(tmp_path / "shipped")
        world.cli("qwen", "extensions", "install", str(shipped), "--consent")
        world.ask("Keep the port.", *world.recipe.store(PORT), "Kept.")
        (memory,) = world.value("list")["memories"]
        assert memory["title"] in PORT
    finally:
        world.close()


@pytest.mark.parametrize("name", PLUGINS)
def test_the_plugin_tells_what_is_remembered_without_any_setup(name: str, tmp_path: Path) -> None:
    shipped = shipped_to(tmp_path / "shipped")
    world = world_of(name, tmp_path / "world", is_set_up=False)
    try:
        world.ltm("remember", PORT)
        for words in PLUGINS[name]:
            world.cli(*(word.format(shipped) for word in words))

        world.ask("Hello", "Hi.")  # compiles the plugin, which may take longer than a hook may
        run = world.ask("Hello again", "Hi.")

        assert PORT in run.requests[0]
        assert run.requests[0].count("[/LTM]") == 1
        assert {each["client"] for each in world.value("sessions")["sessions"]} == {name}
        report = json.loads(world.ltm("doctor", "--json", ok=False))
        (found,) = (each for each in report["clients"] if each["client"] == name)
        assert (found["plugin"], bool(found["last_event"])) == (True, True)
    finally:
        world.close()


def test_a_session_with_two_doors_is_told_and_kept_once(tmp_path: Path) -> None:
    """Copilot also runs the hooks in a project's `.claude/settings.json`."""
    world = world_of("copilot", tmp_path / "world")
    try:
        world.ltm("remember", PORT)
        world.ltm("setup", "--client", "claude-code", "--project-scope")
        assert "ltm-hook" in (world.project / ".claude" / "settings.json").read_text()

        run = world.ask(f"{RULE} Then check the build.", world.recipe.command_call("exit 3"), "No.")

        assert run.requests[0].count("[/LTM]") == 1
        assert "[/LTM]" not in run.requests[-1].replace("[/LTM]", "", 1)
        (session,) = world.value("sessions")["sessions"]
        assert (session["client"], session["tools"]["failed"]) == ("copilot", 1)
        kept = [*world.value("list")["memories"], *world.value("review")["waiting"]]
        assert sum("gofumpt" in json.dumps(each) for each in kept) == 1
    finally:
        world.close()


def test_one_memory_for_codex_and_claude_code(make_harness: MakeHarness, tmp_path: Path) -> None:
    """What a session of one keeps, the other is told in the same folder, both ways."""
    claude = make_harness()
    world = world_of("codex", tmp_path / "world", is_set_up=False)
    codex = replace(world.recipe, env=lambda url: {"FAKE_KEY": "x"})
    shared = World(codex, world.folder, tmp_path / "shared", home_folder=claude.home,
                   project_folder=claude.project)  # fmt: skip
    try:
        shared.ltm("setup", "--client", "claude-code")
        shared.ask("Keep the port.", codex.command_call("true"), *codex.store(PORT), "Kept.")
        port = claude.print_session("hello", ["Hi."])
        kept = use("*store_memory", content="Deployments need two approvals since the outage")
        claude.print_session("keep this", [kept, "Kept."], allowed=["mcp__ltm__store_memory"])

        told = shared.ask("Hello", "Hi.")

        assert PORT in port.requests[0].text
        assert PORT in told.requests[0]
        assert "Deployments need two approvals" in told.requests[0]
        clients = {each["client"] for each in shared.value("sessions")["sessions"]}
        assert clients == {"codex", "claude-code"}
    finally:
        world.close()
        shared.model.close()


def hooks_of_codex(world: World) -> list[dict[str, Any]]:
    """The hooks Codex knows of, as it says itself."""
    with subprocess.Popen(
        ["codex", "app-server"],
        env=world.environ(),
        cwd=world.project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdin
        assert server.stdout
        me = {"clientInfo": {"name": "test", "version": "1", "title": "test"}}
        asked = [
            {"id": 1, "method": "initialize", "params": me},
            {"method": "initialized"},
            {"id": 2, "method": "hooks/list", "params": {"cwds": [str(world.project)]}},
        ]
        server.stdin.write("".join(f"{json.dumps(each)}\n" for each in asked))
        server.stdin.flush()
        answers = (json.loads(line) for line in server.stdout)
        found = next(each for each in answers if each.get("id") == 2)
        server.kill()
    hooks: list[dict[str, Any]] = found["result"]["data"][0]["hooks"]
    return hooks
