"""Whether the plugin is active is told by the client's own files, and nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ltm import __version__
from ltm.clients.settings import is_our_hook, is_our_server
from ltm.clients.table import UNLESS_PLUGIN
from ltm.clients.wire import PLUGIN_EVENTS, is_plugin_active

ROOT = Path(__file__).parent.parent.parent


def load(path: str) -> Any:
    return json.loads((ROOT / path).read_text("utf-8"))


@pytest.fixture
def world(tmp_path: Path) -> Path:
    (tmp_path / ".claude" / "plugins").mkdir(parents=True)
    (tmp_path / "project" / ".claude").mkdir(parents=True)
    return tmp_path


def note(world: Path, installed: str = "ltm@ltm", **settings: bool) -> bool:
    """Write what the client would, and ask; the settings are user, project and local."""
    (world / ".claude" / "plugins" / "installed_plugins.json").write_text(
        json.dumps({"version": 2, "plugins": {installed: [{}]}})
    )
    files = {
        "user": world / ".claude" / "settings.json",
        "project": world / "project" / ".claude" / "settings.json",
        "local": world / "project" / ".claude" / "settings.local.json",
    }
    for name, on in settings.items():
        files[name].write_text(json.dumps({"enabledPlugins": {"ltm@ltm": on, "x@y": True}}))
    return is_plugin_active({"HOME": str(world)}, str(world / "project"))


def test_an_installed_and_enabled_plugin_is_active(world: Path) -> None:
    assert note(world, user=True)
    assert note(world, user=False, project=True)


def test_the_nearest_settings_have_the_last_word(world: Path) -> None:
    assert not note(world, user=True, local=False)
    assert note(world, user=True, project=False, local=True)


def test_a_plugin_that_is_not_installed_is_not_active(world: Path) -> None:
    assert not note(world, installed="other@market", user=True)
    assert not is_plugin_active({"HOME": str(world / "nobody")}, "")
    assert not is_plugin_active({}, "")


def test_a_project_that_wants_it_does_not_make_it_installed(world: Path) -> None:
    assert not note(world, installed="ltmx@ltm", project=True)


def test_settings_that_cannot_be_read_say_nothing(world: Path) -> None:
    note(world, user=True)
    (world / ".claude" / "settings.json").write_text('{"enabledPlugins": {"ltm@ltm": tr')

    assert not is_plugin_active({"HOME": str(world)}, str(world / "project"))


def test_the_moved_folder_of_the_client_is_looked_at(world: Path) -> None:
    note(world, user=True)

    assert is_plugin_active({"HOME": "/nowhere", "CLAUDE_CONFIG_DIR": str(world / ".claude")}, "")


def test_the_plugins_hooks_are_those_that_setups_hooks_leave_to_it() -> None:
    hooks = load("src/hooks/hooks.json")["hooks"]

    assert set(hooks) == set(PLUGIN_EVENTS)
    for group in (group for groups in hooks.values() for group in groups):
        for hook in group["hooks"]:
            assert not {"args", "async"} & set(hook)
            assert hook["timeout"] <= 10


def test_the_manifests_of_every_client_are_those_of_the_table() -> None:
    command = [sys.executable, str(ROOT / "dev" / "manifests.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run python dev/manifests.py: {done.stdout}{done.stderr}"


def test_the_manifests_say_the_same_as_the_package() -> None:
    manifest = load("src/.claude-plugin/plugin.json")
    market = load(".claude-plugin/marketplace.json")

    assert manifest["version"] == __version__
    assert market["plugins"][0]["name"] == manifest["name"]
    assert market["plugins"][0]["source"] == "./src"
    for name in (each.name for each in (ROOT / "src").iterdir()):
        assert not (ROOT / "src" / name).is_symlink(), "not every git or copy keeps links"
    assert (ROOT / "src" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert load("src/.mcp.json")["mcpServers"]["ltm"]["alwaysLoad"] is True


def test_each_command_may_use_exactly_the_tools_it_names() -> None:
    from ltm.cli.app import COMMANDS
    from ltm.mcp.tools import TOOLS

    names = {tool.name for tool in TOOLS}
    run = 'sh "${CLAUDE_PLUGIN_ROOT}/run.sh" '
    commands = sorted((ROOT / "src" / "commands").glob("*.md"))
    assert commands
    for path in commands:
        head, _, body = path.read_text("utf-8").removeprefix("---\n").partition("\n---\n")
        allowed = [line for line in head.splitlines() if line.startswith("allowed-tools: ")]
        tools = [
            word.removeprefix("mcp__plugin_ltm_ltm__")
            for word in allowed[0].removeprefix("allowed-tools: ").split(", ")
            if word.startswith("mcp__")
        ]
        assert set(tools) <= names, path.name
        assert all(tool in body for tool in tools), path.name
        calls = re.findall(r"!`(.*?)`", body)
        granted = re.findall(r"Bash\((.*?)\)", allowed[0])
        assert [each for each in granted if not each.endswith(":*")] == calls, path.name
        granted = [each.removesuffix(":*") for each in granted]
        assert all(each in body for each in granted), path.name
        assert all(each.startswith(f"{run}shown ") for each in calls), "a failure is to be read"
        named = [each.removeprefix(run).removeprefix("shown ").split()[0] for each in granted]
        assert {*named} <= {*COMMANDS}, path.name
        assert tools or granted, path.name
        assert yaml.safe_load(head)["description"], "a client reads it as YAML"
        assert "$ARGUMENTS" not in "".join(calls), "no shell may read what a person typed"
        assert "disable-model-invocation: true" in head, "a model has the tools; this costs tokens"
        assert len(body) < 500, "a command is sent to the model each time"
        same = re.search(r"^description: The same as /ltm:(\S+)$", head, re.M)
        if same:
            other = path.with_name(f"{same[1]}.md").read_text("utf-8")
            assert other.partition("\n---\n")[2] == body, path.name


def test_our_entries_are_told_from_those_of_others() -> None:
    assert is_our_hook({"command": "'/a b/.ltm/bin/ltm-hook' --unless-plugin || exit 0"})
    assert is_our_hook({"command": "sh", "args": ["-c", "x", "ltm", "ltm-hook", UNLESS_PLUGIN]})
    for place in ("hook\\main.py", "surfaces\\hook.py"):  # now, and in version 0.1
        assert is_our_hook({"command": "C:\\py.exe", "args": ["-I", f"C:\\ltm\\{place}"]})
    assert not is_our_hook({"command": "python3", "args": ["hooks/hook.py"]})
    assert not is_our_hook({"type": "http", "url": "http://localhost"})
    assert not is_our_hook("ltm-hook")
    assert is_our_server({"command": "/x/bin/ltm", "args": ["mcp"]})
    assert is_our_server({"command": "/x/python", "args": ["-P", "-m", "ltm", "mcp"]})
    assert is_our_server({"command": ["C:\\bin\\ltm.exe", "mcp"]})
    assert not is_our_server({"command": "ltm-other", "args": ["mcp"]})
    assert not is_our_server(None)
