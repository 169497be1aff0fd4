"""The doctor says why sessions have no memory, and what to do about it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ltm.clients.connections import client_health, connections
from ltm.clients.diagnose import is_entered, why_not_working
from ltm.clients.wire import PLUGIN_EVENTS
from ltm.config.config import load
from ltm.errors import StorageFailed
from ltm.project.layout import places
from ltm.spool import hook_log


class Person:
    """A person with a client, which has run before, and a project."""

    def __init__(self, top: Path) -> None:
        self.home = top / "home"
        self.project = top / "project"
        self.client = self.home / ".claude"
        (self.client / "projects").mkdir(parents=True)
        (self.home / ".ltm").mkdir()
        self.project.mkdir()
        self.environ = {"HOME": str(self.home), "PATH": ""}
        self.places = places(str(self.project), environ=self.environ)

    def settle(self, **settings: Any) -> None:
        """Write the client's settings."""
        (self.client / "settings.json").write_text(json.dumps(settings))

    def hooks(self, *events: str, python: str = sys.executable) -> dict[str, Any]:
        hook = Path(__file__).parents[2] / "src" / "ltm" / "hook" / "main.py"
        entry = {"type": "command", "command": f"{python} -I -S '{hook}'"}
        return {event: [{"hooks": [entry]}] for event in events or PLUGIN_EVENTS}

    def enter_server(self) -> None:
        entry = {"command": "ltm", "args": ["mcp"]}
        (self.home / ".claude.json").write_text(json.dumps({"mcpServers": {"ltm": entry}}))

    def install(self) -> None:
        """As the client notes an installed plugin."""
        (self.client / "plugins").mkdir()
        noted: dict[str, Any] = {"plugins": {"ltm@ltm": [{}]}}
        (self.client / "plugins" / "installed_plugins.json").write_text(json.dumps(noted))
        self.settle(enabledPlugins={"ltm@ltm": True})

    def why(self) -> list[str]:
        return [
            f"{each.path}: {each.message}" for each in why_not_working(self.places, self.environ)
        ]

    @property
    def entered(self) -> bool:
        return is_entered(self.places, self.environ)


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def test_a_complete_setup_has_no_trouble(person: Person) -> None:
    person.settle(hooks=person.hooks())
    person.enter_server()

    assert person.why() == []
    assert person.entered


def test_an_active_plugin_has_no_trouble(person: Person) -> None:
    person.install()

    assert person.why() == []
    assert person.entered


def test_a_setup_that_was_never_entered_is_explained_and_the_client_may_be_missing(
    person: Person,
) -> None:
    (only,) = person.why()
    assert "no hook of ltm is registered" in only
    assert "ltm setup" in only
    assert not person.entered

    (person.client / "projects").rmdir()

    assert "Claude Code was not found" in person.why()[0]


def test_hooks_switched_off_altogether_are_named(person: Person) -> None:
    person.settle(hooks=person.hooks(), disableAllHooks=True)
    person.enter_server()

    (only,) = person.why()
    assert only.startswith(f"{person.client / 'settings.json'}: disableAllHooks is on")


def test_a_switched_off_plugin_is_named(person: Person) -> None:
    person.install()
    person.settle(enabledPlugins={"ltm@ltm": False})

    (only,) = person.why()
    assert "claude plugin enable ltm" in only


def test_a_hook_whose_python_is_gone_is_named(person: Person) -> None:
    person.settle(hooks=person.hooks(python="/gone/bin/python3"))
    person.enter_server()

    (only,) = person.why()
    assert "/gone/bin/python3, which is not there" in only
    assert "ltm setup" in only


def test_an_event_without_a_hook_and_a_missing_server_are_named(person: Person) -> None:
    person.settle(hooks=person.hooks(*PLUGIN_EVENTS[1:]))

    first, second = person.why()
    assert f"no hook of ltm for {PLUGIN_EVENTS[0]}" in first
    assert "our server is not entered" in second


def test_settings_the_client_cannot_read_are_named_with_the_line(person: Person) -> None:
    person.install()
    local = person.project / ".claude" / "settings.local.json"
    local.parent.mkdir()
    local.write_text('{\n  "permissions": {,}\n}')

    (problem,) = why_not_working(person.places, person.environ)
    assert (problem.path, problem.line) == (str(local), 2)


def test_a_plugin_that_could_not_be_set_up_says_why(person: Person) -> None:
    person.install()
    data = person.client / "plugins" / "data" / "ltm-ltm"
    data.mkdir(parents=True)
    failed = {"state": "failed", "message": "LTM could not be set up: no network"}
    (data / "environment.json").write_text(json.dumps(failed))

    (only,) = person.why()
    assert only == f"{data / 'environment.log'}: LTM could not be set up: no network"


def test_both_the_plugin_and_setup_is_one_too_many(person: Person) -> None:
    person.install()
    person.settle(enabledPlugins={"ltm@ltm": True}, hooks=person.hooks())

    (only,) = person.why()
    assert "besides the plugin" in only


def test_a_noted_python_that_is_gone_is_named(person: Person) -> None:
    person.install()
    (person.home / ".ltm" / "runtime.json").write_text('{"python":"/gone/python"}')

    (only,) = person.why()
    assert only.startswith("/gone/python: ")


def test_the_last_error_of_a_hook_is_told_while_it_is_new(person: Person) -> None:
    person.install()
    home = str(person.home / ".ltm")
    hook_log.note(home, "Stop", StorageFailed("the disk is full", path="/x"))

    (only,) = person.why()
    assert "the last error of a hook" in only
    assert "the disk is full" in only

    log = person.home / ".ltm" / hook_log.LOG_FILE
    log.write_text("2020-01-01T00:00:00Z Stop: old news\n")
    assert person.why() == []


NOWHERE, NOT_FOUND, NO_HOOK = "", "Claude Code was not found", "no hook of ltm is registered"


@pytest.mark.parametrize(
    ("here", "entered", "connected", "trouble"),
    [
        (("claude", "qwen"), (), False, NO_HOOK),
        (("qwen",), (), False, NOWHERE),
        (("qwen",), ("qwen",), True, NOWHERE),
        (("qwen",), ("qwen", "project"), True, NOWHERE),
        (("claude", "qwen"), ("qwen",), True, NOWHERE),
        (("claude",), ("server",), True, NO_HOOK),
        ((), ("project",), True, NOT_FOUND),
        ((), (), False, NOT_FOUND),
    ],
)
def test_who_works_with_another_client_need_not_have_this_one(
    person: Person, here: tuple[str, ...], entered: tuple[str, ...], connected: bool, trouble: str
) -> None:
    if "claude" not in here:
        (person.client / "projects").rmdir()
    for each in here:
        (person.home / f".{each}").mkdir(exist_ok=True)
    if "qwen" in entered:
        server = {"mcpServers": {"ltm": {"command": "ltm", "args": ["mcp"]}}}
        (person.home / ".qwen" / "settings.json").write_text(json.dumps(server))
    if "project" in entered:  # a colleague entered it for everyone
        (person.project / ".claude").mkdir()
        settings = {"hooks": person.hooks()}
        (person.project / ".claude" / "settings.json").write_text(json.dumps(settings))
    if "server" in entered:
        person.enter_server()
    found = connections(person.places, load(str(person.home)), {}, person.environ)

    health = client_health(person.places, found, person.environ)

    messages = [each.message for each in health.trouble]
    assert health.connected is connected
    assert any(trouble in each for each in messages) if trouble else messages == []
    assert health.is_sound is not connected  # each of them lacks hooks
