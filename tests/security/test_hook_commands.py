"""Whatever a client ignores of an entry we wrote, the rest never executes what it is fed.

Clients other than the one an entry is meant for read it too, and some know `command` alone: they
run it and write the event to its standard input, with the prompt and the model's answer in it.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ltm.clients.clients import WANTED
from ltm.clients.table import CLAUDE_CODE, CLIENTS, EVENT_OPTION
from ltm.clients.wire import FIELDS as OURS
from ltm.clients.wire import client_of, option
from tests.cli.runner import Ltm

ROOT = Path(__file__).parents[2]
SHELLS = sorted({found for name in ("sh", "dash", "bash") if (found := shutil.which(name))})
ODD = 'it\'s "a" `touch X` $(touch X) földer'

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the shells are those of POSIX")


def placed_in(command: str) -> str:
    """A command of a plugin, with its folder written in by the client."""
    if command.startswith("./"):  # where the file is that names it
        return str(ROOT / command)
    for word, folder in (("CLAUDE_PLUGIN_ROOT", "src"), ("PLUGIN_ROOT", ""), ("extensionPath", "")):
        inner = "src" if word == "PLUGIN_ROOT" and "${PLUGIN_ROOT}/run.sh" in command else folder
        command = command.replace(f"${{{word}}}", str(ROOT / inner))
    return command


def is_hook_at(path: tuple[str, ...]) -> bool:
    """Whether what stands here in settings is a hook: under that name, or a list under ours."""
    return "hooks" in path or (path[:1] == ("ltm",) and len(path) > 1)


def entries(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[bool, dict[str, Any]]]:
    """Every entry with a command in settings, however they are laid out; and if it is a hook."""
    if isinstance(value, dict):
        if isinstance(value.get("command", value.get("bash")), str | list):
            yield is_hook_at(path), {"command": value.get("bash"), **value}
        for name, each in value.items():
            yield from entries(each, (*path, str(name)))
    elif isinstance(value, list):
        for each in value:
            yield from entries(each, path)


def settings_in(*folders: Path) -> Iterator[Any]:
    """What each settings file in these folders says."""
    for path in (path for folder in folders for path in sorted(folder.rglob("*"))):
        if path.suffix in (".json", ".jsonc"):
            yield json.loads(path.read_text("utf-8"))
        elif path.suffix == ".toml":
            yield tomllib.loads(path.read_text("utf-8"))


class World:
    """A person whose folders have names that mean something to a shell, and all of our entries."""

    def __init__(self, top: Path) -> None:
        self.top = top
        home, project = top / ODD / "home", top / ODD / "project"
        home.mkdir(parents=True)
        project.mkdir()
        self.ltm = Ltm(home, project)
        self.spool = home / ".ltm" / "spool"
        self.plugin = top / ODD / "plugin"
        self.plugin.symlink_to(ROOT / "src")
        (self.plugin.parent / "repository").symlink_to(ROOT)
        self.env = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(home),
            "TMPDIR": str(home),
            "CLAUDE_PLUGIN_ROOT": str(self.plugin),
            "PLUGIN_ROOT": str(self.plugin),
            "extensionPath": str(self.plugin.parent / "repository"),
        }
        for name, _ in WANTED:
            self.ltm.ok("config", name, "true")
        for client in CLIENTS:
            self.ltm.ok("setup", "--client", client.name)
            if client.project_servers or client.project_hooks:
                self.ltm.ok("setup", "--client", client.name, "--project-scope")
        # Without it no hook starts a process that outlives the test.
        (home / ".ltm" / "runtime.json").unlink()

    def found(self) -> list[tuple[bool, dict[str, Any]]]:
        plugin = (ROOT / "src" / ".claude-plugin", ROOT / "src" / "hooks", ROOT / "hooks")
        read = [*settings_in(self.ltm.home, self.ltm.project, *plugin)]
        for name in ("src/.mcp.json", "mcp.json", "gemini-extension.json"):
            read.append(json.loads((ROOT / name).read_text("utf-8")))
        # Its folder is `src`, where that of another client's extension is the repository.
        qwen = (ROOT / "src" / "qwen-extension.json").read_text("utf-8")
        read.append(json.loads(qwen.replace("${extensionPath}", "${extensionPath}/src")))
        return [entry for value in read for entry in entries(value)]

    def hooks(self) -> set[str]:
        """The commands of all hooks, as written and as a client writes the plugin's folder in."""
        written = {entry["command"] for is_hook, entry in self.found() if is_hook}
        scripts = [
            path
            for folder in (self.ltm.home / ".cline" / "hooks", self.ltm.project / ".clinerules")
            for path in folder.rglob("*")
            if path.is_file()
        ]
        assert scripts
        written |= {path.read_text("utf-8").splitlines()[-1] for path in scripts}
        return written | {placed_in(command) for command in written}

    def run(self, words: list[str], data: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            input=data,
            env={**self.env, **env},
            cwd=self.ltm.project,
            capture_output=True,
            text=True,
            check=False,
        )

    def executed(self) -> bool:
        """Whether a command in what was fed was executed, and the trace removed for the next."""
        made = [path for path in self.top.rglob("X") if path.exists()]
        for path in made:
            path.unlink()
        return bool(made)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("hooks"))


COMMANDS = "$(touch X) `touch X` ${Y:-$(touch X)} '$(touch X)' \"`touch X`\"\n touch X\n;touch X&"
FIELDS = (
    *("prompt", "last_assistant_message", "tool_name", "tool_use_id", "error", "message", "title"),
    *("source", "reason", "trigger", "custom_instructions", "compact_summary", "model", "agent_id"),
    *("agent_type", "agent_transcript_path", "permission_mode", "stop_hook_active", "prompt_id"),
)


SESSIONS = count()


def placed(field: str, value: str) -> dict[str, Any]:
    """A message with a value in a field, or in a field of an object."""
    outer, _, inner = field.rpartition(".")
    return {outer: {inner: value}} if outer else {inner: value}


def payloads(world: World, command: str = "") -> Iterator[tuple[str, str]]:
    """What a client may feed, and the event that is kept of it, if any; of clients other than
    Claude Code only one."""
    words = shlex.split(command)
    client = client_of(words, {})
    said = option(words, EVENT_OPTION)
    events = [each for each in client.events.items() if said in ("", each[0])]
    named = {**OURS["*"], **client.fields}
    for theirs, event in events if client is CLAUDE_CODE else events[:1]:
        known = {
            client.event_field or "hook_event_name": theirs,
            **placed(named["session"], f"s{next(SESSIONS)}"),
            named["cwd"]: str(world.ltm.project),
        }
        hostile = dict.fromkeys(FIELDS, COMMANDS)
        tools = {
            "tool_input": {"command": COMMANDS, COMMANDS: [COMMANDS]},
            "tool_response": hostile,
        }
        payload = {**known, **hostile, **tools, "transcript_path": f"/none/{COMMANDS}.jsonl"}
        yield json.dumps(payload, ensure_ascii=False), event
    names = (client.event_field, *named.values(), "hook_event_name", "session_id", "cwd", COMMANDS)
    every = dict.fromkeys((*FIELDS, *filter(None, names)), COMMANDS)
    is_whole = not client.event_field and named["session"] in every and "." not in named["session"]
    yield json.dumps(every, indent=1), events[0][1] if is_whole else ""
    yield COMMANDS, ""


def test_the_payloads_are_executed_by_a_bare_shell(world: World) -> None:
    """The form of older versions, `sh` with `args`, in a client that ignores `args`."""
    events = list(payloads(world))
    for shell in SHELLS:
        for data, _ in (events[1], *events[-2:]):
            world.run([shell], data)
            assert world.executed(), (shell, data)


def test_every_client_with_hooks_and_the_plugin_is_covered(world: World) -> None:
    assert [is_hook for is_hook, _ in world.found()].count(False) >= len(CLIENTS)
    commands = " ".join(world.hooks())
    for part in (shlex.quote(f"{world.ltm.home}/.ltm/bin/ltm-hook"), "${LTM_HOME:-", "run.sh"):
        assert part in commands
    named = {client_of(shlex.split(each), {}).name for each in world.hooks()}
    assert named == {client.name for client in CLIENTS if client.events} - {"opencode", "kilo"}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_hook_is_one_string_that_keeps_the_event_and_executes_nothing(
    world: World, shell: str
) -> None:
    assert not [entry for is_hook, entry in world.found() if is_hook and "args" in entry]
    for command in sorted(world.hooks()):
        for data, event in payloads(world, command):
            done = world.run([shell, "-c", command], data)

            assert not world.executed(), (command, data)
            assert (done.returncode, done.stderr) == (0, ""), command
            kept = [path.name.split(".")[1] for path in world.spool.glob("*.json")]
            assert kept == ([event] if event else []), (command, data)
            shutil.rmtree(world.spool, ignore_errors=True)


@pytest.mark.parametrize("missing", ["CLAUDE_PLUGIN_ROOT", "HOME", "PATH"])
def test_a_hook_without_what_it_needs_from_the_environment_executes_nothing(
    world: World, missing: str
) -> None:
    shell = shutil.which("sh") or "sh"
    nowhere = {missing: str(world.top / "nowhere")}
    for command in sorted(world.hooks()):
        for data, _ in payloads(world, command):
            done = world.run([shell, "-c", command], data, **nowhere)

            assert not world.executed(), (command, data)
            assert (done.returncode, done.stderr) == (0, ""), command


def test_the_command_of_a_server_alone_executes_nothing(world: World) -> None:
    """Clients are not known to ignore the `args` of a server, but one may."""
    servers = {json.dumps(entry["command"]) for is_hook, entry in world.found() if not is_hook}
    for written in servers:
        command = json.loads(written)
        words = command if isinstance(command, list) else [command]
        words = [placed_in(word) for word in words[:1]]
        request = {"jsonrpc": "2.0", "id": 1, "method": COMMANDS, "params": {"x": COMMANDS}}
        world.run(words, json.dumps(request) + "\n")
        assert not world.executed(), words


def test_the_hook_in_sh_executes_nothing_as_its_guide_enters_it(world: World) -> None:
    guide = (ROOT / "docs" / "guides" / "serve.md").read_text("utf-8")
    (line,) = (each for each in guide.splitlines() if "/path/to/ltm-hook.sh" in each)
    _, hook = next(entries(json.loads("{" + line.strip().rstrip("]}") + "}")))
    script = str(ROOT / "src" / "ltm" / "http" / "ltm-hook.sh")
    command = hook["command"].replace("/path/to/ltm-hook.sh", script)
    for data, _ in payloads(world):
        done = world.run(["sh", "-c", command], data)

        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert not world.executed(), data
        shutil.rmtree(world.spool, ignore_errors=True)
