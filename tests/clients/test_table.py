"""One row per client: what a row says is all there is, and each row does what it says."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ltm.clients import table
from ltm.clients.clients import hook_entries, hook_events
from ltm.clients.connections import trust_hash
from ltm.clients.settings_text import value_of
from ltm.clients.table import BY_NAME, CLAUDE_CODE, CLIENTS, NESTED, PLAIN, Client
from ltm.clients.wire import FIELDS, PLUGIN_EVENTS
from ltm.config.config import load
from tests.cli.runner import Ltm
from tests.hook.runner import Hooks
from tests.source import modules

PAYLOADS = Path(__file__).parent / "payloads"
WITH_HOOKS = [client for client in CLIENTS if client.events]
NAMES = {client.name for client in CLIENTS}


def payloads(client: Client) -> list[dict[str, Any]]:
    """Messages of a client, as it sends them."""
    found: list[dict[str, Any]] = json.loads((PAYLOADS / f"{client.name}.json").read_text())
    return found


# -- the rows ------------------------------------------------------------------------------------


def test_every_row_is_sound() -> None:
    for client in CLIENTS:
        assert set(filter(None, client.events.values())) <= set(FIELDS), client.name
        assert client.limit == 0 or client.limit >= 10_000, "our longest text would not fit"
        assert client.hooks_form in ("groups", "list", "named", "triggers", "module")
        assert bool(client.events) == bool(client.hooks or client.project_hooks), client.name
        assert client.servers or client.project_servers, client.name
    with pytest.raises(TypeError, match="no column colour"):
        Client("x", "X", colour="blue")


ROWS = {name for name, value in vars(table).items() if isinstance(value, Client)}


def names_a_client(node: ast.AST) -> bool:
    """Whether an expression holds the name of a client, or a row of the table."""
    parts = list(ast.walk(node))
    return any(
        (isinstance(each, ast.Constant) and each.value in NAMES)
        or getattr(each, "id", getattr(each, "attr", "")) in ROWS
        for each in parts
    )


def branches(tree: ast.AST) -> Iterator[int]:
    """Lines that ask which client it is: by a comparison, a pattern, or a table of their own."""
    for node in ast.walk(tree):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            asked = [node.value]
        elif isinstance(node, ast.Dict):
            asked = [key for key in node.keys if key is not None]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            asked = list(node.args) if node.func.attr in ("startswith", "endswith") else []
        yield from (each.lineno for each in asked if names_a_client(each))


def test_no_other_code_asks_which_client_it_is() -> None:
    found = {
        name
        for name, path in modules().items()
        # A reader of one client's transcripts knows whose they are.
        if not re.search(r"\bReader\(", path.read_text("utf-8"))
        for _ in branches(ast.parse(path.read_text("utf-8")))
    }
    # The version of Claude Code itself; and the place in a list, in MCP and in the sync of teams.
    assert found == {"project/home.py", "mcp/protocol.py", "ltm_server/app.py"}
    for code in (
        'name == "codex"',
        "client is table.CODEX",
        "began.client != CODEX.name",
        'name in ("codex", "qwen")',
        '{"codex": 1}[name]',
        'name.startswith("codex")',
        'match name:\n  case "codex": ...',
    ):
        assert list(branches(ast.parse(code))), code


# -- what hooks say ------------------------------------------------------------------------------


def told(client: Client, out: str) -> str:
    """The text in the answer of a hook, as the client finds it."""
    if not out or client.told == PLAIN:
        return out
    said = json.loads(out)
    if client.told == NESTED:
        assert set(said) - {"systemMessage"} == {"hookSpecificOutput"}
        return str(said["hookSpecificOutput"]["additionalContext"])
    assert set(said) == {client.told}
    return str(said[client.told])


def words_of(client: Client, event: str) -> list[str]:
    """What a hook's program is called with, as `ltm setup` enters it."""
    is_named = client.event_field and event not in client.script_events
    named = [] if is_named else ["--event", event]
    return [*client.hook_words, *named]


@pytest.mark.parametrize("client", WITH_HOOKS, ids=lambda client: client.name)
def test_a_hook_keeps_what_its_client_sends_and_answers_in_its_form(
    tmp_path: Path, client: Client
) -> None:
    hooks = Hooks(tmp_path)
    hooks.remember("Staging listens on port 8082")
    events = [each for each, ours in client.events.items() if ours in PLUGIN_EVENTS]
    for payload in payloads(client):
        theirs = payload.get(client.event_field) or events.pop(0)
        text = json.dumps(payload).replace("/home/u/p", str(hooks.project))
        ran = hooks.send(text.encode(), command=[*hooks.command(), *words_of(client, theirs)])

        assert (ran.rc, ran.err) == (0, "")
        ours = client.events[theirs]
        record = hooks.waiting()[-1]
        assert record["event"] == ours
        assert record["session"] == "s1"
        assert record.get("client", CLAUDE_CODE.name) == client.name
        assert record.get("cwd", str(hooks.project)) == str(hooks.project)
        assert ("8082" in told(client, ran.out)) == (ours == "SessionStart" and client.told != "")


@pytest.mark.parametrize("client", [each for each in CLIENTS if each.marks], ids=lambda c: c.name)
def test_a_hook_written_for_another_client_answers_the_one_that_runs_it(
    tmp_path: Path, client: Client
) -> None:
    hooks = Hooks(tmp_path, env={client.marks[0]: "1"})
    hooks.remember("Staging listens on port 8082")
    ran = hooks.fire("SessionStart", source="startup")
    assert "8082" in told(client, ran.out)


def test_a_session_that_begins_through_two_doors_is_told_and_kept_once(tmp_path: Path) -> None:
    """Copilot runs the hooks in a project's `.claude/settings.json` and its own."""
    hooks = Hooks(tmp_path, env={"COPILOT_CLI": "1"})
    hooks.remember("Staging listens on port 8082")
    start = json.dumps(hooks.payload("SessionStart", source="new")).encode()
    doors = (["--unless-plugin"], ["--client", "copilot"], ["--client", "copilot", "--shared"])
    said = [hooks.send(start, command=[*hooks.command(), *words]).out for words in doors]
    assert [("8082" in each) for each in said] == [True, False, False]
    assert [each["event"] for each in hooks.waiting()] == ["SessionStart"]
    # The same door again is another beginning: the session was resumed, or compacted.
    assert "8082" in hooks.send(start, command=[*hooks.command(), *doors[0]]).out


def test_what_a_clients_instruction_files_say_is_told_where_they_are_not_loaded(
    tmp_path: Path,
) -> None:
    hooks = Hooks(tmp_path)
    hooks.remember("Staging listens on port 8081", "Deployments need two approvals")
    (hooks.project / "CLAUDE.md").write_text("- Staging listens on port 8081\n")
    for name, alone in (("codex", True), ("claude-code", False), ("opencode", False)):
        client = BY_NAME[name]
        command = [*hooks.command(), *client.hook_words]
        for number in range(2):
            payload = hooks.payload("SessionStart", source="startup", session_id=f"{name}{number}")
            said = told(client, hooks.send(json.dumps(payload).encode(), command=command).out)
            assert "two approvals" in said
            assert ("8081" in said) is alone, name


# -- what is entered -----------------------------------------------------------------------------

COMMANDS = {
    "claude-code": "--unless-plugin",
    "codex": "--client codex",
    "copilot": "--client copilot",
    "gemini": "--client gemini",
    "qwen": "--client qwen",
    "cursor": "--client cursor",
    "goose": "--client goose",
    "windsurf": "--client windsurf",
}


def written(ltm: Ltm) -> dict[str, bytes]:
    """Every file of the person and the project outside LTM's own folder."""
    return {
        str(path.relative_to(top)): path.read_bytes()
        for top in (ltm.home, ltm.project)
        for path in sorted(top.rglob("*"))
        if path.is_file() and ".ltm" not in path.parts
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_of_a_hook_never_changes(ltm: Ltm, name: str) -> None:
    """Clients that ask a person to trust a hook ask again when its text is another."""
    ltm.ok("setup", "--client", name)
    launcher = shlex.quote(str(ltm.home / ".ltm" / "bin" / "ltm-hook"))
    expected = f"{launcher} {COMMANDS[name]} 2>/dev/null || exit 0"
    assert json.dumps(expected) in b"".join(written(ltm).values()).decode()


TRUSTED = {
    "SessionStart": "100a07819f6aa82fc6ee4d3040971ffbed404714affdb09ffee2e6a8e96edb45",
    "PreCompact": "b930afc206dea065d1a47534a76250c2abf1b9e3300f44262e35ed8376b91180",
    "Stop": "59624246d0948019e12315ed784b92aa7b211623914c97fad87851521a2a05e0",
    "SubagentStop": "645a44761f1ca5ba3855d775dc6f12f0782bea8475ffaadb59758c0802880236",
    "SessionEnd": "2f5a3401aa23a535961084ce80f479721c2e4280d6b3a5426fe723b12e1cb6ea",
}
"""By which Codex knows the hooks of a home `/home/me/.ltm` that a person trusted: the command, and
all else in the entry."""


def test_hooks_that_were_trusted_stay_so_in_every_version() -> None:
    client, home = BY_NAME["codex"], "/home/me/.ltm"
    entries = hook_entries(client, hook_events(client, load(home)), home, shared=False)
    found = {}
    for entry in entries:
        event = re.sub(r"(?<!^)(?=[A-Z])", "_", entry.steps[-1]).lower()
        found[entry.steps[-1]] = trust_hash(event, entry.value["hooks"][0])
    assert found == {event: f"sha256:{each}" for event, each in TRUSTED.items()}


@pytest.mark.parametrize("name", ["cursor", "vscode"])
def test_servers_that_are_started_elsewhere_are_told_the_project(ltm: Ltm, name: str) -> None:
    """Cursor and VS Code put the project's folder in, in a project's own settings."""
    ltm.ok("setup", "--client", name, "--project-scope")
    (file,) = [path for path in written(ltm) if path.endswith("mcp.json")]
    text = written(ltm)[file].decode()
    words = value_of(text, "jsonc")[BY_NAME[name].servers_at[0]]["ltm"]["args"]
    assert words == ["mcp", "--project", "${workspaceFolder}"]


MINE = {
    "json": '{\n    "mine": {"a": [1, 2]},\n    "hooks": {}\n}',
    "jsonc": '{\n  // mine\n  "mine": {"a": [1, 2]}, // and this\n}\n',
    "toml": '# mine\nmodel = "x"\n\n[mine]\na = 1\n',
    "yaml": "# mine\nmine:\n  a: 1\nextensions:\n  other:\n    cmd: x\n",
}


@pytest.mark.parametrize("scope", ["--user", "--project-scope"])
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_what_is_entered_goes_out_to_the_byte(ltm: Ltm, client: Client, scope: str) -> None:
    """Where there is nothing, and then between what a person wrote."""
    if scope == "--project-scope" and not (client.project_servers or client.project_hooks):
        assert (
            "no settings for one project" in ltm.run("setup", "--client", client.name, scope).stderr
        )
        return
    ltm.ok("setup", "--client", client.name, scope)
    gone = ltm.json("uninstall", "--client", client.name)["changed"]
    paths = [Path(each["path"]) for each in gone]
    assert written(ltm) == {}
    assert not any(
        path.parent.exists() for path in paths if path.parent not in (ltm.home, ltm.project)
    )
    for path in paths:
        syntax = client.syntax if path.suffix in (".toml", ".yaml") else client.hooks_syntax
        if path.suffix in (".json", ".jsonc", ".toml", ".yaml") and "ltm" not in path.stem:
            path.parent.mkdir(parents=True, exist_ok=True)
            text = MINE["toml" if path.suffix == ".toml" else syntax]
            path.write_text(MINE["yaml"] if path.suffix == ".yaml" else text)
    before = written(ltm)

    ltm.ok("setup", "--client", client.name, scope)
    entered = written(ltm)
    assert entered != before
    assert ltm.json("setup", "--client", client.name, scope)["changed"] == []
    ltm.ok("uninstall", "--client", client.name)

    assert written(ltm) == before


def test_a_file_of_another_program_in_our_place_is_left_alone(ltm: Ltm) -> None:
    path = ltm.home / ".cline" / "plugins" / "ltm.js"
    path.parent.mkdir(parents=True)
    path.write_text("// mine\n")
    done = ltm.run("setup", "--client", "cline")
    assert done.returncode == 1
    assert f"{path}: another program stands" in done.stderr
    ltm.ok("uninstall")
    assert path.read_text() == "// mine\n"


MODULES = {
    "opencode": """
        const about = { directory: process.cwd() }
        const output = { system: [] }
        const plugin = await module.Ltm(about)
        await plugin["experimental.chat.system.transform"]({ sessionID: "ses_1" }, output)
        console.log(output.system.join())
    """,
    "cline": """
        const about = { session: { sessionId: "1" }, workspaceInfo: { rootPath: process.cwd() } }
        let rule
        module.default.setup({ registerRule: (each) => (rule = each) }, about)
        console.log(await rule.content())
    """,
}
"""What a client does with the module to have its text."""


@pytest.mark.parametrize("name", MODULES)
def test_the_module_is_the_same_on_every_machine_and_tells_what_is_remembered(
    ltm: Ltm, name: str
) -> None:
    ltm.ok("remember", "Staging listens on port 8082")
    ltm.ok("setup", "--client", name)
    (path,) = ltm.home.rglob("ltm.js")
    assert str(ltm.home) not in path.read_text()
    module = path.rename(path.with_suffix(".mjs"))
    script = f"const module = await import({json.dumps(str(module))})\n{MODULES[name]}"
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        cwd=ltm.project,
        env={"PATH": os.environ["PATH"], "HOME": str(ltm.home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "port 8082" in done.stdout, done.stderr


# -- finding, asking, saying ---------------------------------------------------------------------


def test_all_sets_up_every_client_that_is_found_and_leaves_a_broken_one_alone(ltm: Ltm) -> None:
    for folder in (".codex", ".qwen", ".cursor"):
        (ltm.home / folder).mkdir()
    (ltm.home / ".cursor" / "mcp.json").write_text("{")

    done = ltm.run("setup", "--all")

    assert done.returncode == 1
    assert "Cursor was left as it is" in done.stderr
    assert (ltm.home / ".codex" / "hooks.json").exists()
    assert "ltm" in (ltm.home / ".qwen" / "settings.json").read_text()
    assert (ltm.home / ".cursor" / "mcp.json").read_text() == "{"
    assert not (ltm.home / ".gemini").exists()
    assert not (ltm.home / ".claude.json").exists()


def test_all_in_a_project_are_those_with_settings_for_one(ltm: Ltm) -> None:
    for folder in (".augment", ".codex"):
        (ltm.home / folder).mkdir()
    assert ltm.json("setup", "--all", "--project-scope")["found"] == ["codex"]
    assert (ltm.project / ".codex" / "hooks.json").exists()


def test_at_a_terminal_it_finds_shows_asks_and_then_does(ltm: Ltm) -> None:
    for folder in (".codex", ".cursor"):
        (ltm.home / folder).mkdir()
    before = written(ltm)

    refused = ltm.on_a_terminal("setup", typed="n\n").decode()

    assert written(ltm) == before
    for words in ("Codex:", "Cursor (by its documents: not tried", "mcp_servers.ltm", "Do this?"):
        assert refused.count(words) == 1, words
    assert "ltm setup --client NAME" in refused

    done = ltm.on_a_terminal("setup", typed="y\n").decode()

    assert done.count("mcp_servers.ltm") == 1
    assert "Codex is set up" in done
    assert "Cursor is set up" in done
    # Who works with others need not have Claude Code.
    trust(ltm)
    said = ltm.run("doctor")
    assert said.returncode == 0
    assert "Claude Code" not in said.stdout + said.stderr
    assert "ltm setup" not in ltm.run().stdout
    ltm.ok("uninstall")
    assert "ltm setup" in ltm.run().stdout
    assert set(written(ltm)) == {".codex/config.toml"}  # where its hooks are trusted


def test_the_doctor_says_when_hooks_cannot_run_whichever_client_has_them(ltm: Ltm) -> None:
    ltm.ok("setup", "--client", "qwen")
    launcher = ltm.home / ".ltm" / "bin" / "ltm-hook"
    text = launcher.read_text()
    for broken in ("", text.replace("python=/", "python=/gone/")):
        launcher.unlink()
        if broken:
            launcher.write_text(broken)
            launcher.chmod(0o700)
        (trouble,) = clients_in(ltm)["qwen"]["missing"]
        assert trouble.startswith(str(launcher))
        assert "ltm doctor --fix" in trouble
        assert ltm.run("doctor", "--fix").returncode == 0
        assert launcher.read_text() == text
        assert clients_in(ltm)["qwen"]["missing"] == []


def test_without_a_terminal_the_others_are_named_and_not_touched(ltm: Ltm) -> None:
    for name in (".claude/projects", ".codex", ".qwen"):
        (ltm.home / name).mkdir(parents=True)
    done = ltm.run("setup")
    assert done.returncode == 0
    assert "Also found: Codex, Qwen Code." in done.stderr
    assert "ltm setup --all" in done.stderr
    assert list((ltm.home / ".codex").iterdir()) == []
    ltm.ok("uninstall")
    assert ltm.ok("setup", "--dry-run").startswith("Claude Code:\n")
    assert ltm.json("setup", "--dry-run")["found"] == ["claude-code", "codex", "qwen"]
    ltm.ok("setup", "--client", "qwen")
    assert "Also found: Codex.\n" in ltm.run("setup").stderr
    ltm.ok("uninstall", "--client", "qwen")
    # Without Claude Code, it is not set up for nothing.
    shutil.rmtree(ltm.home / ".claude")
    said = ltm.run("setup").stderr
    assert "Codex is set up" in said
    assert "Also found: Qwen Code." in said
    assert not (ltm.home / ".claude").exists()


def test_a_client_that_cannot_be_told_is_shown_the_way_by_its_instruction_file(ltm: Ltm) -> None:
    ltm.ok("remember", "Staging listens on port 8082", "--impact", "critical")
    done = ltm.run("setup", "--client", "zed")
    assert "Zed (by its documents: not tried" in done.stdout
    assert "ltm sync --agents-md" in done.stderr
    assert "ltm sync --agents-md" in ltm.run("setup", "--client", "windsurf").stderr
    ltm.ok("sync", "--agents-md")
    ltm.ok("remember", "Deployments need two approvals", "--impact", "critical")
    (event,) = payloads(BY_NAME["windsurf"])
    subprocess.run(
        [ltm.home / ".ltm" / "bin" / "ltm-hook", "--client", "windsurf"],
        input=json.dumps(event).encode(),
        cwd=ltm.project,
        env={"PATH": os.environ["PATH"], "HOME": str(ltm.home), "LTM_HOME": f"{ltm.home}/.ltm"},
        check=True,
    )
    ltm.ok("drain")
    shown = (ltm.project / "AGENTS.md").read_text()
    assert "port 8082" in shown
    assert "two approvals" in shown
    ltm.ok("sync", "--agents-md")
    assert "8082" in (ltm.project / "AGENTS.md").read_text()


def clients_in(ltm: Ltm) -> dict[str, dict[str, Any]]:
    """What the doctor says of each client."""
    found = json.loads(ltm.run("doctor", "--json").stdout)["clients"]
    return {each["client"]: each for each in found}


def test_the_doctor_says_of_each_client_what_it_has_and_what_is_missing(ltm: Ltm) -> None:
    (ltm.home / ".gemini").mkdir()
    (ltm.home / ".gemini" / "settings.json").write_text("{}")
    ltm.ok("setup", "--client", "codex")
    found = clients_in(ltm)
    assert found["gemini"]["missing"] == ["not set up: ltm setup --client gemini"]
    assert found["codex"]["server"] == str(ltm.home / ".codex" / "config.toml")
    assert found["codex"]["hooks"] == [
        "SessionStart",
        "PreCompact",
        "Stop",
        "SubagentStop",
        "SessionEnd",
    ]
    (untrusted,) = found["codex"]["missing"]
    assert untrusted.endswith("start codex, type /hooks and trust the hooks of ltm")
    said = ltm.run("doctor")
    assert said.returncode == 1
    assert (
        "Codex: our server, 5 hooks, no event seen yet\n  hooks that are not trusted" in said.stdout
    )

    trust(ltm)
    ltm.ok("setup", "--client", "gemini")
    assert clients_in(ltm)["codex"]["missing"] == clients_in(ltm)["gemini"]["missing"] == []
    said = ltm.run("doctor")
    assert said.returncode == 0
    assert "no event seen yet\n  before its hooks run: trust the folder when gemini" in said.stdout
    hooks = ltm.home / ".codex" / "hooks.json"
    hooks.write_text(hooks.read_text().replace('"timeout": 3', '"timeout": 2'))
    (modified,) = clients_in(ltm)["codex"]["missing"]
    assert modified.startswith("hooks that are not trusted (SessionEnd)")
    (ltm.home / ".codex" / "config.toml").write_text("[broken")
    assert "cannot be read" in str(clients_in(ltm)["codex"]["missing"])


PLUGIN_NOTED = {
    "codex": (".codex/config.toml", '[plugins."ltm@ltm"]\nenabled = true\n'),
    "copilot": (".copilot/settings.json", '{"enabledPlugins": {"ltm@ltm": true}}\n'),
    "gemini": (".gemini/extensions/ltm/gemini-extension.json", "{}\n"),
    "qwen": (".qwen/extensions/ltm/qwen-extension.json", "{}\n"),
}


@pytest.mark.parametrize("name", PLUGIN_NOTED)
def test_a_client_with_the_plugin_is_connected_and_set_up_for_what_it_lacks(
    ltm: Ltm, name: str
) -> None:
    client, (place, text) = BY_NAME[name], PLUGIN_NOTED[name]
    path = ltm.home / place
    path.parent.mkdir(parents=True)
    path.write_text(text)
    lacks = "no tools for agents" in str(clients_in(ltm)[name]["missing"])
    assert lacks is not client.plugin_serves
    assert f"{client.title}: its plugin, " in ltm.run("doctor").stdout
    ltm.ok("setup", "--client", name)
    there = clients_in(ltm)[name]
    assert (there["plugin"], there["missing"]) == (True, [])
    assert bool(there["server"]) is not client.plugin_serves
    assert "ltm-hook" not in str(written(ltm))
    if "true" in text:
        ltm.ok("uninstall")
        path.write_text(text.replace("true", "false"))
        assert clients_in(ltm)[name]["missing"] == [f"not set up: ltm setup --client {name}"]


def trust(ltm: Ltm) -> None:
    """Note what Codex notes when a person trusts its hooks."""
    path = ltm.home / ".codex" / "hooks.json"
    lines = []
    for event, groups in json.loads(path.read_text())["hooks"].items():
        name = "".join(f"_{c.lower()}" if c.isupper() else c for c in event).lstrip("_")
        digest = trust_hash(name, groups[0]["hooks"][0])
        lines += [f'[hooks.state."{path}:{name}:0:0"]', f'trusted_hash = "{digest}"']
    with (ltm.home / ".codex" / "config.toml").open("a") as file:
        file.write("\n" + "\n".join(lines) + "\n")


def test_the_last_event_of_each_client_is_known(ltm: Ltm) -> None:
    ltm.ok("setup", "--client", "codex")
    # The end of a session of which nothing else was heard, and that left no transcript.
    event = {"hook_event_name": "SessionEnd", "session_id": "s", "cwd": str(ltm.project)}
    subprocess.run(
        [ltm.home / ".ltm" / "bin" / "ltm-hook", "--client", "codex"],
        input=json.dumps(event).encode(),
        env={"PATH": os.environ["PATH"], "HOME": str(ltm.home), "LTM_HOME": f"{ltm.home}/.ltm"},
        check=True,
    )
    ltm.ok("drain")
    assert clients_in(ltm)["codex"]["last_event"]


def test_only_events_that_a_client_has_are_entered_for_an_option(ltm: Ltm) -> None:
    ltm.ok("config", "recall.per_prompt", "true")
    config = load(str(ltm.home / ".ltm"))
    assert "BeforeAgent" in hook_events(BY_NAME["gemini"], config)
    assert hook_events(BY_NAME["cursor"], config) == [
        "sessionStart",
        "stop",
        "preCompact",
        "sessionEnd",
    ]
