"""No command, hook or server of ours speaks to anybody: reliability S4, and the README's promise.

Every process is traced with all it starts, to the end of the last one: a trace that ends is also
the proof that nobody stays behind.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from ltm.cli.app import COMMANDS
from tests.cli.runner import Ltm
from tests.faults.tracing import strace_or_outcome
from tests.figures import count
from tests.mcp.wire import INITIALIZE
from tests.project.repos import git
from tests.sessions.writing import Transcript

SERVED = {"serve", "ui", "remote", "team"}
"""Commands that were asked to listen, or for another machine: other tests look at those."""

EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "PreCompact", "SessionEnd")


class Watched:
    """A person whose every program is watched."""

    def __init__(self, ltm: Ltm, top: Path) -> None:
        self._ltm, self._top = ltm, top
        self.runs: list[str] = []
        """The commands and hooks that were run."""
        self.spoken: list[str] = []
        """The lines of the traces in which somebody asks for a way out of this machine."""

    def run(self, name: str, *words: str, said: str = "") -> str:
        """Run a program of ours; what it printed."""
        log = self._top / "trace"
        done = subprocess.run(
            ["strace", "-f", "-qq", "-e", "trace=%network", "-o", log, sys.executable, *words],
            cwd=self._ltm.project,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self._ltm.home),
                "LTM_HOME": str(self._ltm.home / ".ltm"),
                "TMPDIR": str(self._top),
            },
            input=said,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (words, done.stderr)
        self.runs.append(name)
        lines = log.read_text(errors="replace").splitlines()
        self.spoken += [f"{words}: {line}" for line in lines if "AF_INET" in line]
        return done.stdout

    def ltm(self, *words: str, said: str = "") -> str:
        """Run `ltm` with these words."""
        return self.run(words[0], "-m", "ltm", *words, said=said)


def test_nothing_of_ltm_opens_a_connection(ltm: Ltm, tmp_path: Path) -> None:
    strace_or_outcome()
    git(ltm.project, "init", "-q")
    git(ltm.project, "commit", "-qm", "Release 1.0", "--allow-empty")
    other = Watched(ltm, tmp_path)
    other.run("another program", "-c", "import socket; socket.socket()")
    assert other.spoken  # so a trace would show it
    me = Watched(ltm, tmp_path)
    log = Transcript(ltm.home / "s1.jsonl", "s1")
    log.user("remember that the parser needs care in src/parser.py", cwd=str(ltm.project))
    log.calls("Bash", command="make test")
    log.result("ParserError: unexpected end", error=True)
    log.says("I decided to use a lookahead of two, because one is not enough.")
    common = {"session_id": "s1", "cwd": str(ltm.project), "transcript_path": str(log.path)}
    for event in EVENTS:
        payload = {**common, "hook_event_name": event, "tool_name": "Bash", "prompt": "go on"}
        me.run("hook", "-m", "ltm.hook.main", said=json.dumps(payload))
    calls: list[dict[str, object]] = [
        {"method": "initialize", "id": 1, "params": INITIALIZE},
        {"method": "notifications/initialized"},
        {
            "method": "tools/call",
            "id": 2,
            "params": {"name": "recall", "arguments": {"query": "p"}},
        },
    ]
    me.ltm("mcp", said="".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in calls))
    first, second = (
        json.loads(me.ltm("remember", text, "--json"))["id"]
        for text in ("Use port 8082 for the server", "Never push to main by hand")
    )
    for words in (
        ("recall", "which port"),
        ("ask", "which port?"),
        ("list",),
        ("show", first),
        ("edit", first, "--impact", "high"),
        ("forget", second),
        ("restore", second),
        ("settle",),
        ("related", first),
        ("why", "src/parser.py"),
        ("fix", "ParserError: unexpected end"),
        ("timeline",),
        ("graph",),
        ("inject",),
        ("drain",),
        ("capture", str(log.path)),
        ("sessions",),
        ("achievements",),
        ("status",),
        ("stats",),
        ("upkeep",),
        ("consolidate",),
        ("doctor",),
        ("approve",),
        ("keygen",),
        ("sign",),
        ("verify",),
        ("review",),
        ("config",),
        ("demo",),
        ("bench", "recall", "--json"),
        ("statusline",),
        ("completion", "bash"),
        ("export", str(tmp_path / "out.json")),
        ("import", str(tmp_path / "out.json"), "--merge"),
        ("setup",),
        ("uninstall",),
    ):
        me.ltm(*words)
    written = git(ltm.project, "status", "--porcelain", "-uall", "--ignored")
    for words in (
        ("friction", str(log.path)),
        ("stash", "one"),
        ("init",),
        ("sync",),
        ("trust",),
    ):
        me.ltm(*words)
    count(
        "S4",
        programs_traced=len(me.runs),
        connections=len(me.spoken),
        files_in_the_repository_before_init=len(written.splitlines()),
    )
    assert me.spoken == []
    assert written == ""
    assert set(COMMANDS) - set(me.runs) <= SERVED
