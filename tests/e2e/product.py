"""The product under test: the plugin as a user gets it, and the memory behind it.

Imports: the harness's own modules, and the product for what a test wants to look up.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ltm import __version__
from ltm.state.session_log import Session as Logged
from ltm.state.session_log import SessionLog
from tests import forking

from .client import Harness, PrintSession, Request, wait_until

ROOT = Path(__file__).parent.parent.parent
SHIPPED = (".claude-plugin", "src", "LICENSE")
MARK = "[LTM:"


def ship(into: Path, *more: str) -> Path:
    """A copy of what a checkout ships, and of more; files that are not committed yet included."""
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard", "--", *SHIPPED, *more],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        target = into / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            shutil.copy2(ROOT / name, target)
    return into


def memory_home(harness: Harness) -> Path:
    """LTM_HOME of the harness's user."""
    return harness.home / ".ltm"


def provide_python(harness: Harness) -> None:
    """An `ltm` is installed: the one of these tests, as any run of it notes for the hooks."""
    memory_home(harness).mkdir(mode=0o700, exist_ok=True)
    noted = {"python": sys.executable, "version": __version__}
    path = memory_home(harness) / "runtime.json"
    path.touch(mode=0o600)
    path.write_text(json.dumps(noted, separators=(",", ":")) + "\n", "utf-8")


def warm_up(plugin: Path, elsewhere: Path) -> None:
    """Let the hook run once, so that it is compiled.

    The very first run on a machine that also runs other tests may take longer than a hook allows
    itself, and then says nothing; no test is about that.
    """
    event = {"hook_event_name": "SessionStart", "session_id": "warm-up", "cwd": str(elsewhere)}
    subprocess.run(
        [sys.executable, "-I", "-S", str(plugin / "ltm" / "hook" / "main.py")],
        env={"HOME": str(elsewhere), "LTM_HOME": str(elsewhere / ".ltm"), "PATH": os.defpath},
        input=json.dumps({**event, "source": "startup"}),
        text=True,
        capture_output=True,
        check=True,
    )


def ltm(harness: Harness, *words: str, env: Mapping[str, str] | None = None) -> str:
    """Run the user's `ltm` in the project; it must work."""
    done = forking.run(
        words,
        cwd=harness.project,
        env={**harness.env(), **(env or {})},
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, f"ltm {' '.join(words)}: {done.stderr}"
    out: str = done.stdout
    return out


def memories(harness: Harness) -> list[dict[str, Any]]:
    """Every memory the project's sessions can see."""
    found: list[dict[str, Any]] = json.loads(ltm(harness, "list", "--json"))["memories"]
    return found


def waiting_events(harness: Harness) -> list[str]:
    """Names of the events that hooks left for later, oldest first."""
    found = sorted((memory_home(harness) / "spool").glob("[0-9]*.json"))
    return [path.name.split(".")[1] for path in found]


def logged(harness: Harness, session: str) -> Logged:
    """What is known of a session, once everything that hooks left for later is done."""

    def is_done() -> bool:
        ltm(harness, "drain")
        return not waiting_events(harness)

    wait_until(is_done, "all events to be drained")
    log = SessionLog(str(memory_home(harness) / "state.db"))
    try:
        found = log.get(session)
    finally:
        log.close()
    assert found is not None, f"nothing is known of {session}"
    return found


def told(request: Request) -> list[str]:
    """The texts of remembered things in a request, each as often as it is there."""
    return [MARK + part.partition("[/LTM]")[0] for part in request.text.split(MARK)[1:]]


def assert_quiet(session: PrintSession) -> None:
    """The user saw nothing of us: no failed hook, nothing on the error stream."""
    assert session.rc == 0
    assert session.hook_problems == []
    assert session.stderr == ""


def path_without_python(folder: Path) -> str:
    """A PATH with the usual small programs and no Python, as on a bare machine."""
    folder.mkdir()
    for name in ("sh", "bash", "cat", "env", "git", "ls", "uname", "ps", "grep", "sed", "rm"):
        found = shutil.which(name)
        if found:
            (folder / name).symlink_to(os.path.realpath(found))
    return str(folder)
