"""`ltm setup` enters LTM next to what is yours; `ltm uninstall` gives every byte back."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ltm.clients.settings import SettingsEntry, SettingsFile, carry_out, entering
from ltm.clients.settings_text import value_of
from ltm.clients.table import BY_NAME, CLAUDE_CODE, CLIENTS, UNLESS_PLUGIN
from ltm.clients.wire import PLUGIN_EVENTS
from tests.cli.runner import Ltm
from tests.mcp.wire import Wire

SETTINGS = """\
{
    "model":   "opus",
    "permissions": { "allow": ["Bash(ls:*)"] },
    "hooks": {
        "Stop": [
            { "hooks": [ { "type": "command", "command": "say done" } ] }
        ],
        "PreToolUse": []
    },
    "env": {"A": "\\u00e4"}
}"""
STATE = '{"numStartups":7,"mcpServers":{"other":{"command":"x"}},"projects":{}}'


@pytest.fixture
def settings(ltm: Ltm) -> Path:
    path = ltm.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(SETTINGS)
    return path


@pytest.fixture
def state(ltm: Ltm) -> Path:
    path = ltm.home / ".claude.json"
    path.write_text(STATE)
    path.chmod(0o640)
    return path


def our_hooks(settings: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The hooks of LTM, by event."""
    found: dict[str, list[dict[str, Any]]] = {}
    for event, groups in settings.get("hooks", {}).items():
        for hook in (hook for group in groups for hook in group["hooks"]):
            if "ltm-hook" in hook["command"]:
                found.setdefault(event, []).append(hook)
    return found


def read(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text())
    return value


def without_ours(value: dict[str, Any]) -> dict[str, Any]:
    """What is left of settings when our entries are gone."""
    hooks = {
        event: [g for g in groups if "ltm-hook" not in json.dumps(g)]
        for event, groups in value.get("hooks", {}).items()
    }
    servers = {k: v for k, v in value.get("mcpServers", {}).items() if k != "ltm"}
    return {**value, "hooks": hooks, "mcpServers": servers}


def test_hooks_and_server_come_in_and_go_out_and_not_a_byte_is_different(
    ltm: Ltm, settings: Path, state: Path
) -> None:
    ltm.ok("setup")

    entered = read(settings)
    assert set(our_hooks(entered)) == set(PLUGIN_EVENTS)
    assert without_ours(entered)["env"] == {"A": "ä"}
    assert entered["hooks"]["Stop"][0] == {"hooks": [{"type": "command", "command": "say done"}]}
    assert list(entered) == ["model", "permissions", "hooks", "env"]
    server = read(state)["mcpServers"]["ltm"]
    assert server["alwaysLoad"] is True
    assert server["args"][-2:] == ["mcp", UNLESS_PLUGIN]
    assert oct(state.stat().st_mode & 0o777) == "0o640"

    ltm.ok("uninstall")

    assert settings.read_text() == SETTINGS
    assert state.read_text() == STATE
    assert oct(state.stat().st_mode & 0o777) == "0o640"


def test_a_second_setup_changes_nothing(ltm: Ltm, settings: Path, state: Path) -> None:
    ltm.ok("setup")
    before = settings.read_bytes(), state.read_bytes()

    again = ltm.json("setup")

    assert again["changed"] == []
    assert (settings.read_bytes(), state.read_bytes()) == before


def test_a_dry_run_shows_the_change_and_writes_nothing(ltm: Ltm, settings: Path) -> None:
    shown = ltm.ok("setup", "--dry-run")

    assert f"{settings}\n  + hooks.SessionStart: " in shown
    assert "+ mcpServers.ltm: " in shown
    assert settings.read_text() == SETTINGS
    assert not (ltm.home / ".claude.json").exists()
    assert not (ltm.home / ".ltm" / "setup").exists()
    assert ltm.json("uninstall", "--dry-run")["changed"] == []


def test_what_was_done_is_told_by_name_one_short_line_each(ltm: Ltm, settings: Path) -> None:
    for words, sign in ((("setup",), "+"), (("uninstall",), "-")):
        lines = ltm.ok(*words).splitlines()
        assert f"  {sign} hooks.SessionStart" in lines
        assert f"  {sign} mcpServers.ltm" in lines
        assert str(settings) in lines
        assert not any("{" in line for line in lines)


def test_a_machine_without_settings_has_none_afterwards(ltm: Ltm) -> None:
    ltm.ok("setup")
    assert our_hooks(read(ltm.home / ".claude" / "settings.json"))

    ltm.ok("uninstall")

    assert not (ltm.home / ".claude").exists()
    assert not (ltm.home / ".claude.json").exists()
    assert not launcher(ltm).parent.exists()


def test_what_others_changed_meanwhile_stays_and_only_ours_goes(
    ltm: Ltm, settings: Path, state: Path
) -> None:
    ltm.ok("setup")
    # The client writes its state again at every start, in its own layout.
    changed = {**read(state), "numStartups": 8}
    state.write_text(json.dumps(changed, indent=2))
    text = settings.read_text().replace('"opus"', '"sonnet"')
    settings.write_text(text)

    ltm.ok("uninstall")

    expected = {"numStartups": 8, "mcpServers": {"other": {"command": "x"}}, "projects": {}}
    assert state.read_text() == json.dumps(expected, indent=2)
    assert settings.read_text() == SETTINGS.replace('"opus"', '"sonnet"')


def test_a_table_we_made_goes_and_one_the_person_had_stays(ltm: Ltm) -> None:
    folder = ltm.home / ".claude"
    folder.mkdir()
    (folder / "settings.json").write_text('{"hooks": {"Stop": []}, "a": 1}')
    ltm.ok("setup")
    state = ltm.home / ".claude.json"
    for path in (folder / "settings.json", state):
        path.write_text(json.dumps({**read(path), "b": 2}))

    ltm.ok("uninstall")

    assert read(folder / "settings.json") == {"hooks": {"Stop": []}, "a": 1, "b": 2}
    assert read(state) == {"b": 2}


def test_another_hook_in_one_group_with_ours_stays(ltm: Ltm, settings: Path) -> None:
    ltm.ok("setup")
    value = read(settings)
    value["hooks"]["Stop"][1]["hooks"].append({"type": "command", "command": "mine"})
    settings.write_text(json.dumps(value, indent=2))

    ltm.ok("uninstall")

    left = read(settings)["hooks"]
    assert left["Stop"][1] == {"hooks": [{"type": "command", "command": "mine"}]}
    assert our_hooks(read(settings)) == {}


@pytest.mark.parametrize("text", ['{"hooks": {', "[]", '{"a": 1,}', '{"hooks": 3}', "// no\n{}"])
def test_settings_that_cannot_be_read_are_named_and_nothing_is_written(
    ltm: Ltm, settings: Path, state: Path, text: str
) -> None:
    settings.write_text(text)

    done = ltm.run("setup")

    assert done.returncode == 1
    assert f"{settings}:1" in done.stderr
    assert "mend the file by hand" in done.stderr
    assert settings.read_text() == text
    assert state.read_text() == STATE


def test_a_broken_file_of_one_client_does_not_keep_us_from_leaving_another(
    ltm: Ltm, settings: Path
) -> None:
    ltm.ok("setup")
    cursor = ltm.home / ".cursor" / "mcp.json"
    cursor.parent.mkdir()
    cursor.write_text("{")

    done = ltm.run("uninstall")

    assert done.returncode == 1
    assert f"not changed: {cursor}:1" in done.stderr
    assert settings.read_text() == SETTINGS


def test_another_server_of_our_name_is_not_replaced(ltm: Ltm, state: Path) -> None:
    state.write_text('{"mcpServers": {"ltm": {"command": "somebody-elses"}}}')

    done = ltm.run("setup")

    assert done.returncode == 1
    assert "another 'ltm'" in done.stderr
    assert read(state)["mcpServers"]["ltm"] == {"command": "somebody-elses"}
    assert not (ltm.home / ".claude").exists()


def test_a_setup_that_points_elsewhere_is_renewed_and_still_leaves_to_the_byte(
    ltm: Ltm, settings: Path
) -> None:
    ltm.ok("setup")
    ltm.ok("config", "hooks.tools", "true")

    renewed = ltm.json("setup")

    assert [Path(each["path"]).name for each in renewed["changed"]] == ["settings.json"]
    hooks = our_hooks(read(settings))
    assert {event: len(each) for event, each in hooks.items()} == dict.fromkeys(
        (*PLUGIN_EVENTS, "PostToolUse", "PostToolUseFailure"), 1
    )
    ltm.ok("uninstall")
    assert settings.read_text() == SETTINGS


QUIET = '"$@" 2>/dev/null || exit 0'
HOOK = ["/former/python", "-I", "-S", "/former/ltm/surfaces/hook.py", UNLESS_PLUGIN]
OLDER = {
    "shell": ["sh", "-c", QUIET, "ltm", *HOOK],
    "python": HOOK,
    "shared": ["sh", "-c", QUIET, "ltm", "ltm-hook", UNLESS_PLUGIN],
}
"""How hooks were entered before `command` was the whole of them."""


def entered_by_an_older_version(ltm: Ltm, path: Path, form: str) -> None:
    """Hooks of an older form in a file, with a note of what was put where."""
    hook = {"type": "command", "command": OLDER[form][0], "args": OLDER[form][1:], "timeout": 10}
    entries = [
        SettingsEntry(("hooks", event), {"hooks": [hook]}, listed=True) for event in PLUGIN_EVENTS
    ]
    change = entering(SettingsFile(str(path), hooks=True), entries, str(ltm.home / ".ltm"))
    assert change
    carry_out(change, str(ltm.home / ".ltm"))


@pytest.mark.parametrize("form", OLDER)
@pytest.mark.parametrize("scope", ["--user", "--project-scope"])
@pytest.mark.parametrize("noted", [True, False], ids=["noted", "copied"])
def test_hooks_of_an_older_form_are_named_and_replaced_and_leave_to_the_byte(
    ltm: Ltm, settings: Path, form: str, scope: str, noted: bool
) -> None:
    if scope == "--project-scope":
        settings.unlink()
        settings = ltm.project / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(SETTINGS)
    entered_by_an_older_version(ltm, settings, form)
    if not noted:
        shutil.rmtree(ltm.home / ".ltm" / "setup")
    (ltm.home / ".claude" / "projects").mkdir()
    remedy = "ltm setup" if scope == "--user" else "ltm setup --project-scope"

    messages = [
        each["message"] for each in json.loads(ltm.run("doctor", "--json").stdout)["problems"]
    ]

    (older,) = (each for each in messages if "older form" in each)
    assert older.endswith(f"(run '{remedy}')")
    if scope == "--project-scope":
        assert f"{settings}: hooks of an older form" in ltm.run("setup").stderr

    ltm.ok("setup", scope)

    hooks = our_hooks(read(settings))
    assert {event: len(each) for event, each in hooks.items()} == dict.fromkeys(PLUGIN_EVENTS, 1)
    assert "args" not in json.dumps(hooks)
    assert json.loads(ltm.run("doctor", "--json").stdout)["problems"] == []
    ltm.ok("uninstall")
    assert json.loads(settings.read_text()) == json.loads(SETTINGS)
    assert not noted or settings.read_text() == SETTINGS


def test_settings_kept_elsewhere_and_linked_stay_linked(ltm: Ltm, tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles.json"
    dotfiles.write_text(SETTINGS)
    link = ltm.home / ".claude" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(dotfiles)

    ltm.ok("setup")

    assert link.is_symlink()
    assert our_hooks(read(dotfiles))
    ltm.ok("uninstall")
    assert link.is_symlink()
    assert dotfiles.read_text() == SETTINGS


@pytest.mark.parametrize("name", [".claude", ".claude/settings.json", ".mcp.json"])
@pytest.mark.parametrize("there", [True, False], ids=["there", "dangling"])
def test_a_projects_settings_that_lead_out_of_it_are_refused(
    ltm: Ltm, tmp_path: Path, name: str, there: bool
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    target = outside / "dot" if name == ".claude" else outside / "file.json"
    if there and name == ".claude":
        target.mkdir()
        (target / "settings.json").write_text(SETTINGS)
    elif there:
        target.write_text(SETTINGS)
    before = {path: path.is_file() and path.read_text() for path in outside.rglob("*")}
    link = ltm.project / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(target)

    for words in (("setup", "--project-scope", "--dry-run"), ("setup", "--project-scope")):
        done = ltm.run(*words)
        assert done.returncode == 1
        assert f"leads out of the project, to {target}" in done.stderr
    assert {path: path.is_file() and path.read_text() for path in outside.rglob("*")} == before
    assert not (ltm.home / ".ltm").exists()
    assert link.is_symlink()


def test_a_projects_settings_linked_inside_it_are_set_up(ltm: Ltm) -> None:
    (ltm.project / "config").mkdir()
    (ltm.project / ".claude").symlink_to("config")
    ltm.ok("setup", "--project-scope")
    assert our_hooks(read(ltm.project / "config" / "settings.json"))


def test_the_clients_own_folder_is_where_it_says(ltm: Ltm, tmp_path: Path) -> None:
    moved = tmp_path / "moved"

    ltm.ok("setup", CLAUDE_CONFIG_DIR=str(moved))

    assert our_hooks(read(moved / "settings.json"))
    assert read(moved / ".claude.json")["mcpServers"]["ltm"]
    assert not (ltm.home / ".claude").exists()


def test_a_projects_settings_hold_no_path_of_this_machine(ltm: Ltm) -> None:
    ltm.ok("setup", "--project-scope")

    hooks = (ltm.project / ".claude" / "settings.json").read_text()
    servers = read(ltm.project / ".mcp.json")
    assert set(our_hooks(json.loads(hooks))) == set(PLUGIN_EVENTS)
    assert str(ltm.home) not in hooks
    assert str(Path(sys.executable).parent) not in hooks
    assert servers["mcpServers"]["ltm"]["command"] == "ltm"
    assert not (ltm.home / ".claude").exists()

    ltm.ok("uninstall")

    assert [path.name for path in ltm.project.iterdir()] == []


def launcher(ltm: Ltm) -> Path:
    """The program that hooks run."""
    return ltm.home / ".ltm" / "bin" / "ltm-hook"


@pytest.mark.parametrize("gone", ["python", "hook", "launcher", "right to run it"])
def test_a_hook_whose_program_is_gone_says_nothing_and_blocks_no_one(
    ltm: Ltm, settings: Path, gone: str
) -> None:
    """A missing file makes Python leave with 2, which tells the client to stop its agent."""
    ltm.ok("setup")
    (ltm.home / ".claude" / "projects").mkdir()
    command = our_hooks(read(settings))["Stop"][0]["command"]
    program = launcher(ltm)
    if gone == "launcher":
        program.unlink()
    elif gone == "right to run it":
        program.chmod(0o600)
    else:
        text = re.sub(rf"(?m)^{gone}=.*", f"{gone}=/nowhere/at/all", program.read_text())
        assert "/nowhere" in text
        program.write_text(text)

    done = subprocess.run(["sh", "-c", command], input=b"{}", capture_output=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    report = ltm.run("doctor", "--json")
    assert report.returncode == 1
    assert str(program) in {each["path"] for each in json.loads(report.stdout)["problems"]}

    mended = ltm.json("doctor", "--fix")

    assert [each["path"] for each in mended["problems"] if each["fixed"]] == [str(program)]
    assert os.access(program, os.X_OK)
    assert "/nowhere" not in program.read_text()


def test_another_program_where_the_launcher_would_be_is_left_alone(ltm: Ltm) -> None:
    """LTM_HOME can be any folder, and its `bin` can hold the `ltm-hook` that pip installed."""
    program = launcher(ltm)
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")

    done = ltm.run("setup")

    assert done.returncode == 1
    assert f"{program}: another program stands" in done.stderr
    assert "LTM_HOME" in done.stderr
    assert not (ltm.home / ".claude").exists()
    ltm.ok("uninstall")
    assert program.read_text() == "#!/bin/sh\n"


def test_what_was_entered_is_what_the_client_needs_to_run_the_hook(
    ltm: Ltm, settings: Path
) -> None:
    ltm.ok("remember", "We chose PostgreSQL because two workers write at once")
    ltm.ok("setup")
    hook = our_hooks(read(settings))["SessionStart"][0]
    event = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": str(ltm.project)}

    done = subprocess.run(
        ["sh", "-c", hook["command"]],
        input=json.dumps({**event, "source": "startup"}),
        env={"PATH": os.environ["PATH"], "HOME": str(ltm.home), "LTM_HOME": f"{ltm.home}/.ltm"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert "PostgreSQL" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


def enable_plugin(ltm: Ltm) -> None:
    """As the client notes an installed plugin."""
    plugins = ltm.home / ".claude" / "plugins"
    plugins.mkdir(parents=True)
    installed = {"version": 2, "plugins": {"ltm@ltm": [{"scope": "user"}]}}
    (plugins / "installed_plugins.json").write_text(json.dumps(installed))
    path = ltm.home / ".claude" / "settings.json"
    value = read(path) if path.exists() else {}
    path.write_text(json.dumps({**value, "enabledPlugins": {"ltm@ltm": True}}))


def test_with_the_plugin_there_is_nothing_to_set_up(ltm: Ltm) -> None:
    enable_plugin(ltm)

    done = ltm.run("setup")

    assert done.returncode == 0
    assert "The plugin is active" in done.stderr
    assert our_hooks(read(ltm.home / ".claude" / "settings.json")) == {}
    assert not (ltm.home / ".claude.json").exists()


def test_with_the_plugin_only_the_hooks_it_does_not_bring_are_entered(ltm: Ltm) -> None:
    ltm.ok("setup")
    enable_plugin(ltm)
    ltm.ok("config", "recall.per_prompt", "true")

    ltm.ok("setup")

    hooks = our_hooks(read(ltm.home / ".claude" / "settings.json"))
    assert set(hooks) == {"UserPromptSubmit"}
    assert not (ltm.home / ".claude.json").exists()  # the plugin brings its server itself


def test_a_server_entered_before_the_plugin_came_offers_nothing_next_to_it(ltm: Ltm) -> None:
    def names() -> list[str]:
        with Wire(ltm.project, ltm.home, args=(UNLESS_PLUGIN,)) as wire:
            wire.initialize()
            assert wire.ask("ping")["result"] == {}
            return [tool["name"] for tool in wire.ask("tools/list")["result"]["tools"]]

    assert "recall" in names()
    enable_plugin(ltm)
    assert names() == []


FILES = {
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "codex": ".codex/config.toml",
    "copilot": ".copilot/mcp-config.json",
    "crush": ".config/crush/crush.json",
    "cursor": ".cursor/mcp.json",
    "gemini": ".gemini/settings.json",
    "kiro": ".kiro/settings/mcp.json",
    "opencode": ".config/opencode/opencode.json",
    "qwen": ".qwen/settings.json",
    "vscode": ".config/Code/User/mcp.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "zed": ".config/zed/settings.json",
    "amp": ".config/amp/settings.json",
    "antigravity": ".gemini/antigravity-cli/mcp_config.json",
    "auggie": ".augment/settings.json",
    "cline": ".cline/data/settings/cline_mcp_settings.json",
    "goose": ".config/goose/config.yaml",
    "kilo": ".config/kilo/kilo.json",
}


@pytest.mark.skipif(sys.platform != "linux", reason="the paths are those of Linux")
@pytest.mark.parametrize("name", [each.name for each in CLIENTS if each is not CLAUDE_CODE])
def test_each_client_gets_the_server_into_its_own_file(ltm: Ltm, name: str) -> None:
    in_home = BY_NAME[name].servers[0].replace("{home}/", "")
    path = ltm.home / FILES.get(name, in_home)

    ltm.ok("setup", "--client", name)

    text = path.read_text()
    assert '"mcp"' in text
    server = value_of(text, BY_NAME[name].syntax)
    for step in (*BY_NAME[name].servers_at, "ltm"):
        server = server[step]
    server = server.get("transport", server)
    command = server.get("command") or server["cmd"]
    words = command if isinstance(command, list) else [command, *server["args"]]
    done = subprocess.run([*words, "--help"], capture_output=True, text=True, check=True)
    assert "Serve memories to an agent over MCP" in done.stdout

    ltm.ok("uninstall")

    assert not path.exists()
    assert [each.name for each in ltm.home.iterdir()] == [".ltm"]


JSONC = """{
  // servers I use
  "servers": {
    "one": { "command": "a" } // the first
  },
}
"""
TOML = 'model = "o5"  # mine\n\n[mcp_servers.other]\ncommand = "x"\n'


@pytest.mark.skipif(sys.platform != "linux", reason="the paths are those of Linux")
@pytest.mark.parametrize(
    ("name", "text"), [("vscode", JSONC), ("codex", TOML)], ids=["vscode", "codex"]
)
def test_comments_of_a_client_that_allows_them_stay(ltm: Ltm, name: str, text: str) -> None:
    path = ltm.home / FILES[name]
    path.parent.mkdir(parents=True)
    path.write_text(text)

    ltm.ok("setup", "--client", name)
    edited = path.read_text().replace("mine", "still mine").replace("the first", "the 1st")
    assert "ltm" in edited
    path.write_text(edited)
    ltm.ok("uninstall", "--client", name)

    assert path.read_text() == text.replace("mine", "still mine").replace("the first", "the 1st")


def test_an_unknown_client_is_refused_with_the_names_there_are(ltm: Ltm) -> None:
    done = ltm.run("setup", "--client", "emacs")

    assert done.returncode == 2
    assert "cursor" in done.stderr


def test_uninstall_takes_the_merge_settings_out_of_the_repository(ltm: Ltm) -> None:
    subprocess.run(["git", "init", "-q", "."], cwd=ltm.project, check=True)
    config = ltm.project / ".git" / "config"
    before = config.read_bytes()
    ltm.ok("init")
    assert b"merge" in config.read_bytes()

    done = ltm.json("uninstall")

    assert str(config) in done["merge_settings"]
    assert config.read_bytes() == before
    assert (ltm.project / ".claude" / "ltm" / "memories").is_dir()


def test_memories_survive_an_uninstall(ltm: Ltm) -> None:
    kept = ltm.json("remember", "The port is 8081")["id"]
    ltm.ok("setup")

    assert ltm.json("uninstall")["memories"] == "kept"

    assert ltm.json("show", kept)["content"] == "The port is 8081"


def test_memories_go_only_when_asked_for_and_confirmed(ltm: Ltm) -> None:
    ltm.ok("remember", "The port is 8081")
    stranger = ltm.home / ".ltm" / "thesis.odt"
    stranger.write_text("mine")

    for answer in ("n\n", "y\n"):  # a pipe is not a person, whatever comes through it
        refused = ltm.run("uninstall", "--purge-memories", stdin=answer)
        assert refused.returncode == 2
        assert "--yes" in refused.stderr
        assert ltm.json("list")["total"] == 1

    ltm.ok("keygen")
    done = ltm.run("uninstall", "--purge-memories", "--yes")
    assert done.returncode == 0
    assert "signing.key, thesis.odt" in done.stderr
    (ltm.home / ".ltm" / "signing.key").unlink()
    (ltm.home / ".ltm" / ".gitignore").unlink(missing_ok=True)
    assert [path.name for path in (ltm.home / ".ltm").iterdir()] == ["thesis.odt"]
    stranger.unlink()
    ltm.ok("remember", "Again")
    ltm.ok("uninstall", "--purge-memories", "--yes")
    assert not (ltm.home / ".ltm").exists()


def test_the_doctor_tells_a_broken_setup_and_keeps_quiet_about_none(
    ltm: Ltm, settings: Path
) -> None:
    fresh = ltm.run("doctor")
    assert fresh.returncode == 0
    assert "no hook of ltm is registered" in fresh.stderr

    ltm.ok("setup")
    (ltm.home / ".claude" / "projects").mkdir()
    assert ltm.run("doctor").returncode == 0
    launcher(ltm).write_text(launcher(ltm).read_text().replace(sys.executable, "/gone/python"))

    broken = ltm.run("doctor", "--json")

    assert broken.returncode == 1
    report = json.loads(broken.stdout)
    assert report["healthy"] is False
    assert "/gone/python" in report["problems"][0]["message"]
