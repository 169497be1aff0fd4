"""Makes the manifests of the plugin again: `python dev/manifests.py`; `--check` only compares.

One plugin for all: `src/` is what Claude Code, Codex, Copilot CLI and Qwen Code install, the
repository what Gemini CLI installs as an extension, and readers of Agent Plugins v1. What differs
is a column of the table of clients; name and version are those of Claude Code's manifest.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from ltm.clients.table import CLAUDE_CODE, CODEX, GEMINI, QWEN, UNLESS_PLUGIN, Client
from ltm.clients.wire import PLUGIN_EVENTS

ROOT = Path(__file__).parents[1]
AGENT_PLUGINS = "https://agent-plugins.org/schemas/1.0.0"


def manifests() -> dict[str, Any]:
    """Every manifest by its path in the repository."""
    claude = json.loads((ROOT / "src/.claude-plugin/plugin.json").read_text("utf-8"))
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"].get("version")
    about = {key: claude[key] for key in ("name", "version", "description")}
    assert version in (None, about["version"]), "the manifest of Claude Code has another version"
    author, licence = claude["author"], claude["license"]
    return {
        "src/hooks/hooks.json": hooks(CLAUDE_CODE),
        "src/.mcp.json": servers(CLAUDE_CODE.plugin, alwaysLoad=True),
        "src/.codex-plugin/plugin.json": {
            **about,
            "author": author,
            "license": licence,
            # It replaces no words in the entry of a server, so that has to come from `ltm setup`.
            "hooks": "./hooks/codex.json",
        },
        "src/hooks/codex.json": hooks(CODEX),
        # Not in `src/`: Codex prefers it there, and then finds neither hooks nor server.
        "plugin.json": {
            "$schema": f"{AGENT_PLUGINS}/plugin.schema.json",
            **about,
            "author": author,
            "license": licence,
        },
        # Its commands are names, or paths within the plugin that begin with a dot.
        "mcp.json": {
            "$schema": f"{AGENT_PLUGINS}/mcp.schema.json",
            **servers("./src", type="stdio"),
        },
        # In `src/`: at the root it would take the file above for Agent Plugins, which has no hooks.
        "src/qwen-extension.json": {
            **about,
            **servers(QWEN.plugin),
            "hooks": hooks(QWEN)["hooks"],
        },
        "gemini-extension.json": {**about, **servers(GEMINI.plugin), "contextFileName": []},
        "hooks/hooks.json": hooks(GEMINI),
    }


def hooks(client: Client) -> dict[str, Any]:
    """The hooks of a plugin: whatever is missing on a machine, a hook is silent and succeeds."""
    words = " ".join(["hook", *(each for each in client.hook_words if each != UNLESS_PLUGIN)])
    command = f'sh "{client.plugin}/run.sh" {words} 2>/dev/null || exit 0'
    found = {}
    for theirs, ours in client.events.items():
        if ours in PLUGIN_EVENTS:
            row = {**client.hook, **client.hook_for.get(theirs, {})}
            row |= {"command": command, "timeout": row["timeout"] or client.hook["timeout"]}
            found[theirs] = [{"hooks": [row]}]
    about = "Tell a session what is remembered, and note what happens for later"
    return {"description": about, "hooks": found}


def servers(folder: str, **more: Any) -> dict[str, Any]:
    """The MCP server of a plugin. Its command alone never reads messages as commands."""
    server = {"command": f"{folder}/run", "args": ["mcp"], **more}
    return {"mcpServers": {"ltm": server}}


def main(words: list[str]) -> int:
    """Write what differs; with `--check` only name it."""
    differs = []
    for name, value in manifests().items():
        path = ROOT / name
        if not path.exists() or json.loads(path.read_text("utf-8")) != value:
            differs.append(name)
            if "--check" not in words:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(value, indent=2) + "\n", "utf-8")
    print("\n".join(differs) or "Every manifest is as it should be.")
    return 1 if differs and "--check" in words else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
