"""A page for each client but Claude Code, made from its row in the table of clients.

What is written into a client's settings is shown as `ltm setup` writes it where the home folder is
`/home/you`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ltm.clients.clients import (
    hook_entries,
    own_files,
    server_entry,
    settings_files_of,
)
from ltm.clients.settings import entering
from ltm.clients.table import CLAUDE_CODE, CLIENTS, RUN, Client
from ltm.clients.wire import PLUGIN_EVENTS
from tests.e2e.clients.install import PINNED

FOLDER = Path(__file__).parent / "clients"
_HOME = "/home/you"
_LTM = f"{_HOME}/.ltm"
_PROGRAM = f"{_HOME}/.local/bin/ltm"

_ALIKE = {"jsonc": "json", "yaml": "yaml", "toml": "toml", "json": "json"}

_NOTES = {
    "codex": (
        "Codex skips hooks that you have not trusted, and does not say so. `ltm setup` never trusts"
        " them for you; `ltm doctor` says which are waiting. The command of a hook stays the same"
        " from version to version of LTM, so Codex asks you once.",
        "Codex's plugin of LTM has the hooks only, because Codex does not fill in the plugin's"
        " folder where a server is named. `ltm setup --client codex` adds the tools.",
        "Transcripts that Codex has packed (`.zst`) are not read.",
    ),
    "copilot": (
        "Copilot CLI also runs the hooks in a project's `.claude/settings.json`. A session that"
        " reaches LTM in both ways is told once and kept once.",
    ),
    "gemini": (
        "Gemini CLI runs neither hooks nor servers in a folder that you have not trusted.",
        "What it was told to remember stands in `~/.gemini/GEMINI.md`;"
        " `ltm import ~/.gemini/GEMINI.md` takes it in.",
        "Its sessions are found if their folder has a `.project_root`.",
    ),
    "qwen": (
        "Qwen Code has a memory of its own, in notes like Claude Code's. `ltm doctor` names it with"
        " the line that takes it in.",
    ),
    "opencode": (
        "OpenCode has no hooks but JavaScript plugins, so LTM adds one. It starts the hook's"
        " program and waits for it three seconds at most.",
    ),
    "kilo": (
        "Kilo has no hooks but JavaScript plugins, so LTM adds one. It starts the hook's"
        " program and waits for it three seconds at most.",
    ),
    "cline": (
        "Cline passes on what its hooks say only after the first tool call of a task, so LTM adds a"
        " JavaScript plugin too: memories are a rule, which the first request has. It starts the"
        " hook's program and waits for it three seconds at most. Cline goes without a plugin that"
        " needs more than four seconds to begin; what is said is learned all the same.",
        "A file of yours that has the name of one of LTM's is left alone, and `ltm setup` names"
        " it.",
        "Cline waits three seconds for a server unless the entry says otherwise; LTM's says 30.",
    ),
    "cursor": (
        "Cursor does not write down what its tools returned, so nothing the agent says can be"
        " checked: your own words become memories, and the agent's wait for your approval.",
        "Its transcripts do not say which folder they belong to, so `ltm capture --all` passes them"
        " over. Inside the project, `ltm capture FILE` reads one.",
        "`ltm import .cursor/rules` takes in the rules you have.",
    ),
    "antigravity": (
        "Its transcripts do not say which folder they belong to, so `ltm capture --all` passes them"
        " over. Inside the project, `ltm capture FILE` reads one.",
    ),
    "goose": ("An exported session is read too: `ltm capture FILE`, with the JSON file.",),
}
"""What its row does not say."""


def pages() -> dict[str, str]:
    """The page of each client, by file name."""
    return {
        f"{client.name}.md": "\n".join(_page(client))
        for client in CLIENTS
        if client is not CLAUDE_CODE
    }


def _page(client: Client) -> Iterator[str]:
    title, setup = client.title, f"ltm setup --client {client.name}"
    yield f"# LTM in {title}\n"
    yield "<!-- Made by `python -m docs.generate`; edit the code, not this page. -->\n"
    yield f"{title} shares one memory with every other client you set up"
    yield "([all of them](../guides/clients.md)).\n"
    yield f"| | {title} |\n|---|---|"
    yield f"| told at the start of a session | {_told(client)} |"
    yield f"| its sessions are learned from | {_learned(client)} |"
    yield "| the agent can ask (MCP tools) | yes |"
    yield f"| tried | {_tried(client)} |\n"
    yield "## Set it up\n"
    yield f"    {setup} --dry-run    # what it would write\n    {setup}\n    ltm doctor\n"
    yield "`ltm doctor` says what the client has and what is missing."
    if client.trust:
        yield f"Before its hooks run: {client.trust}."
    if _shares(client):
        yield f"\nFor everyone who works on a project, in files of the project:\n\n    {setup}" + (
            " --project-scope"
        )
    if client.instructions:
        named = ", ".join(f"`{name}`" for name in client.instructions)
        yield f"\nWhat {title} loads by itself ({named}) is not told again."
    yield "\n## What is written\n"
    yield from _written(client)
    if notes := _NOTES.get(client.name, ()):
        yield "## Worth knowing\n"
        yield from (f"- {note}" for note in notes)
        yield ""
    yield "## Take it out\n"
    yield f"    ltm uninstall --client {client.name}\n"
    yield "A file that was not changed since is as it was before, to the byte; from any other only"
    yield "LTM's own entries go. Your memories stay.\n"
    yield "If something does not work: [troubleshooting](../guides/troubleshooting.md).\n"


def _told(client: Client) -> str:
    if client.told and "SessionStart" in client.events.values():
        if not client.hooks:
            return "in projects that have its hooks"
        return "yes"
    if "AGENTS.md" in client.instructions:
        return (
            "no; `ltm sync --agents-md` keeps the most important memories in the AGENTS.md it reads"
        )
    return "no"


def _learned(client: Client) -> str:
    if not client.events:
        return "no: it has no hooks that LTM could use"
    if not client.reader:
        return "not yet: LTM sees that a turn or session ends, and cannot read what was said"
    return "yes" if client.hooks else "in projects that have its hooks"


def _tried(client: Client) -> str:
    if client.name in PINNED:
        return f"with the client itself, version {PINNED[client.name][0].rpartition('@')[2]}"
    if client.checked == RUN:
        return "its settings file only"
    return "no: all of this follows its documents. If you use it, tell us what you see"


def _shares(client: Client) -> bool:
    return bool(client.project_servers or client.project_hooks)


def _written(client: Client) -> Iterator[str]:
    """What `ltm setup` writes, file by file, with the first event for all of them."""
    environ = {"HOME": _HOME}
    events = [theirs for theirs, ours in client.events.items() if ours in PLUGIN_EVENTS]
    project = "" if client.hooks or not client.events else f"{_HOME}/project"
    listed = ", ".join(events)
    for file in settings_files_of(client, "", environ):
        hooks = hook_entries(client, events[:1], _LTM, shared=False) if file.hooks else []
        server = [server_entry(client, (_PROGRAM, "mcp"))] if file.servers else []
        change = entering(replace(file, path=f"{_HOME}/none"), [*hooks, *server], _LTM)
        assert change is not None
        assert change.after is not None
        what = " and ".join(
            [*(["hooks"] if hooks else []), *(["the MCP server"] if server else [])]
        )
        more = f", with a hook like this for each of {listed}" if len(events) > 1 and hooks else ""
        yield f"`{_shown(file.path)}`: {what}{more}."
        yield f"\n```{_ALIKE[file.syntax]}\n{change.after.strip()}\n```\n"
    own = list(own_files(client, events, _LTM, project, environ))
    if own:
        names = ", ".join(f"`{_shown(path)}`" for path, _, _ in own)
        yield f"{names}: {'a file' if len(own) == 1 else 'files'} of LTM with its hooks.\n"
    elif project:
        place = f"`--project-scope` enters them in `{client.project_hooks}` of a project"
        yield f"Its hooks have a place in projects only: {place}.\n"


def _shown(path: str) -> str:
    """A path as people write it."""
    return path.replace(f"{_HOME}/project{os.sep}", "").replace(_HOME, "~")
