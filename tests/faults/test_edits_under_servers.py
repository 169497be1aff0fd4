"""Files are changed while an MCP server and an HTTP server are at work on them (reliability R8).

Each answer is what the files say at that moment, and what a server writes over is kept to the byte.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from ltm.model import Status
from ltm.text.display import one_line
from ltm.vault.vault import Vault
from tests.faults.test_outside_edits import WORDS, Outsider, read_all
from tests.figures import count
from tests.hook.runner import Hooks
from tests.http.runner import Server
from tests.mcp.wire import Wire
from tests.project.repos import git

SEED = 20_261_117
EDITS = 500 if os.environ.get("LTM_FAULTS") == "all" else 60


class Servers:
    """An MCP server and an HTTP server at work on one home, asked in turn."""

    def __init__(self, wire: Wire, http: Server) -> None:
        self._wire = wire
        self._http = http
        self._asked = 0
        wire.initialize()

    def call(self, tool: str, **given: object) -> str:
        """What the next of the two says, also if it refuses."""
        self._asked += 1
        if self._asked % 2:
            result = self._wire.result(tool, **given)
        else:
            result = self._http.call("tools/call", name=tool, arguments=given)
        return str(result["content"][0]["text"])


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)


@pytest.fixture
def kept(hooks: Hooks) -> Vault:
    """The private vault of a project, kept in git by its owner."""
    hooks.remember(*(f"{word}1 {word}2 {word}3 {word}4" for word in WORDS))
    (folder,) = hooks.home.glob("projects/*/memories")
    folder = folder.parent
    git(folder, "init", "-q")
    (folder / ".gitignore").write_text("*.db*\n*.lock\n.lock\n*.json\n")
    return Vault("private", str(folder))


def test_running_servers_answer_what_the_files_say_and_overwrite_nothing_newer(
    hooks: Hooks, kept: Vault
) -> None:
    folder = Path(kept.path("x")).parents[1]
    outsider = Outsider(folder, SEED, "")
    done: list[str] = []
    wrong: list[object] = []
    gone: list[object] = []
    with Wire(hooks.project, hooks.user_home) as wire, Server(hooks) as http:
        servers = Servers(wire, http)
        for number in range(EDITS):
            done.append(outsider.act())
            said, _ = read_all(kept)
            active = {each for each, (memory, _) in said.items() if memory.status is Status.ACTIVE}
            listed = set(re.findall(r"mem_\w+", servers.call("list_memories", limit=100)))
            if listed != active:
                wrong.append((SEED, number, done[-3:], listed ^ active))
            if not active:
                continue
            chosen = outsider.random.choice(sorted(active))
            shown = servers.call("get_memory", id=chosen)
            if one_line(said[chosen][0].title) not in shown:
                wrong.append((SEED, number, done[-3:], chosen, shown))
            if number % 5 == 0:
                # What the server writes over is kept to the byte, as somebody left it just now.
                before = text_of(kept, chosen)
                servers.call("forget", id=chosen)
                archived = [path.read_bytes() for path in folder.glob("archives/*.md")]
                if before not in archived and text_of(kept, chosen) != before:
                    gone.append((SEED, number, done[-3:], chosen))
                servers.call("restore", id=chosen)
    count("R8", edits=EDITS, wrong_answers=len(wrong), newer_overwritten=len(gone))
    assert (wrong, gone) == ([], [])
    assert len(set(done)) >= 10


def text_of(vault: Vault, memory: str) -> bytes:
    """The bytes of a memory's file."""
    for name in sorted(vault.names()):
        data = Path(vault.path(name)).read_bytes()
        if f"id: {memory}".encode() in data:
            return data
    return b""
