"""Records transcripts and hook payloads of the real client, as fixtures for those who parse them.

    python -m tests.e2e.client.record OUT [2.1.197 latest ...]

writes OUT/<client version>/NAME.jsonl (transcripts), NAME.hook-payloads.json (every payload of the
same sessions) and NAME-subagents/. Paths of this machine are replaced. Imports: the package.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from .binary import ClientMissing, find, labels
from .deadline import wait_until
from .example import NAME, write_plugin
from .harness import Harness
from .reply import Reply, Rule, Scripted, ToolUse, use
from .script import Script
from .staging import TAP

FILES = {
    "CLAUDE.md": "# Shop service\nUse pytest -q.\n",
    "app.py": "def price(x):\n    return x * 1.2\n",
    "tests/test_app.py": "from app import price\n\n\ndef test_price():\n    assert price(1) == 1\n",
}
CHECK = 'python3 -c "from app import price; assert price(10) == 11; print(1)"'


def bash(command: str, **more: object) -> ToolUse:
    """A call of the shell tool."""
    return use("Bash", command=command, description="run", **more)


def failing_tools_and_resume(harness: Harness) -> None:
    """Print mode: failing tools, an unknown tool, an edit, an MCP call, a resume."""
    app = str(harness.project / "app.py")
    edit = use("Edit", file_path=app, old_string="x * 1.2", new_string="round(x * 1.1, 2)")
    missing = use("Read", file_path=str(harness.project / "missing.py"))
    first = harness.print_session(
        "Fix the failing price test. We decided the VAT is 10%.",
        [
            Reply("Running it.", "The tests first.", (bash(f"cd tests && {CHECK}"),)),
            Reply("Not from there. From the root.", tools=(bash(CHECK), missing)),
            use("Read", file_path=app),
            edit,
            bash(CHECK),
            use("NoSuchTool"),
            use("*write_note", note="VAT is 10% in the shop service (decided by the user)"),
            "Fixed: VAT is 10% now; written as {{re:note-[0-9]+}}.",
        ],
    )
    harness.print_session("Thanks. What is the VAT?", ["10%."], resume=first.session_id)


def rich(harness: Harness) -> None:
    """Terminal: thinking, @file, bash mode, a queued message, a background task, a slash command,
    a rename, an API error."""
    go_on = harness.project / "go-on"
    script = Script(
        [
            Reply("It computes a price.", "Let me look at app.py."),
            "I saw the shell.",
            bash("until [ -e go-on ]; do sleep 0.1; done"),
            bash("python3 -c 'import time; time.sleep(60)'", run_in_background=True),
            "Serving on 8082.",
            Reply(tools=(bash("cat /nonexistent"), bash("echo second"))),
            "Written.",
        ],
        rules=[Rule(Reply(status=400, error="scripted bad request"), user="make error")],
    )
    with harness.tui_session(script) as session:
        session.ask("explain @app.py please")
        session.terminal.send("!")
        session.wait_text("! for shell mode")
        session.ask("echo from-bash-mode")
        session.submit("run the slow thing")
        session.wait_fired("PreToolUse")
        session.submit("no, use port 8082 instead")
        turns = len(session.fired("Stop"))
        go_on.touch()
        session.wait_fired("Stop", turns + 1)
        session.wait_idle()
        session.ask(f"/{NAME}:note that the port is 8082")
        session.command("/rename billing work")
        session.ask("make error")
        session.kill(signal.SIGTERM)  # /exit would ask about the background task


def interrupted_and_denied(harness: Harness) -> None:
    """Terminal: Esc in a text, Esc in a tool, a permission denied."""
    started = harness.project / "started"
    slow = 'python3 -c \'import time; open("started", "w").close(); time.sleep(60)\''
    replies: list[Scripted] = [
        Reply("A long text begins.\n\nIt hangs in the middle.", hold=threading.Event()),
        Reply("Working.", tools=(bash(slow),)),
        "Done differently.",
        bash("rm app.py"),
    ]
    with harness.tui_session(replies, allowed=["Read", "Bash(python3:*)"]) as session:
        session.submit("write a long text")
        session.wait_text("A long text begins")
        session.key("esc")
        session.wait_idle()
        session.submit("run something slow")
        wait_until(started.exists, "the slow tool to run", state=session.describe)
        session.key("esc")
        session.wait_idle()
        session.ask("no, do it differently")
        session.submit("remove the file")
        session.dismiss("Do you want")
        session.wait_idle()


def compact_and_clear(harness: Harness) -> None:
    """Terminal: /compact, /clear."""
    replies = ["We chose Stripe Checkout. " * 60, "Use raw bodies. " * 60, "Going on.", "Fresh."]
    with harness.tui_session(replies) as session:
        session.ask("first question about the billing design")
        session.ask("second question")
        session.command("/compact keep the decisions", until="PostCompact")
        session.ask("after compaction")
        session.command("/clear", until="SessionStart")
        session.ask("a new session")


def auto_compact(harness: Harness) -> None:
    """Print mode: the client compacts by itself."""
    text = "lorem ipsum " * 400
    steps = [Reply(f"Step {n}. {text}", tools=(bash(f"seq 1 {n}00"),)) for n in range(10)]
    too_long = Reply(status=400, error="prompt is too long: 215000 tokens > 200000 maximum")
    harness.print_session("a long job", [*steps, too_long, "Done after compaction."])


def subagent(harness: Harness) -> None:
    """Print mode: an agent with a failing tool."""
    look = use("Agent", description="look", prompt="look around", subagent_type="general-purpose")
    own: list[Scripted] = [bash("ls"), bash("cat nope"), "Looked."]
    harness.print_session("look", Script([look, "The agent looked."], subagent_replies=own))


SCENARIOS: dict[str, Callable[[Harness], None]] = {
    "print-failing-tools-and-resume": failing_tools_and_resume,
    "tui-rich": rich,
    "tui-interrupted-and-denied": interrupted_and_denied,
    "tui-compact-and-clear": compact_and_clear,
    "print-auto-compact": auto_compact,
    "print-subagent": subagent,
}


def save(harness: Harness, out: Path, name: str) -> None:
    """Copy what the sessions left, without this machine's paths."""
    found = harness.transcripts()
    for number, path in enumerate(found, 1):
        own = name if len(found) == 1 else f"{name}-{number}"
        (out / f"{own}.jsonl").write_text(neutral(path.read_text("utf-8"), harness), "utf-8")
        for part in (path.with_suffix("") / "subagents").glob("*"):
            (out / f"{name}-subagents").mkdir(exist_ok=True)
            text = neutral(part.read_text("utf-8"), harness)
            (out / f"{name}-subagents" / part.name).write_text(text, "utf-8")
    payloads = [payload for session in harness.sessions for payload in session.fired()]
    text = neutral(json.dumps(payloads, indent=1), harness)
    (out / f"{name}.hook-payloads.json").write_text(text + "\n", "utf-8")


def neutral(text: str, harness: Harness) -> str:
    """The text as on a machine where everything lies in /example."""
    base = str(harness.base)
    slug = re.sub(r"[^A-Za-z0-9]", "-", base)
    places = {TAP[0]: "python3", TAP[-1]: "tap.py", base: "/example", slug: "-example"}
    for own, shown in places.items():
        text = text.replace(own, shown)
    return text


def main(args: list[str]) -> int:
    """Record every scenario with each client."""
    if not args:
        print(__doc__, file=sys.stderr)
        return 2
    for label in args[1:] or labels(os.environ):
        try:
            client = find(label, os.environ)
        except ClientMissing as missing:
            print(missing, file=sys.stderr)
            return 1
        out = Path(args[0]) / client.version
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        for name, scenario in SCENARIOS.items():
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                base = Path(folder).resolve()
                with Harness(client, base / "world", files=FILES, git=True) as harness:
                    harness.load(write_plugin(base))
                    scenario(harness)
                    save(harness, out, name)
            print(f"{out / name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
