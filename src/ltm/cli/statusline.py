"""`ltm statusline`: one line about memory for the status line of a client.

The client runs it again and again and shows what it prints, so it loads only the standard library,
reads only, and says nothing rather than fail.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from ltm.cli import output
from ltm.cli.context import Work
from ltm.errors import LtmError
from ltm.inject.session_start import tell
from ltm.model import Filter, Status, now
from ltm.state.candidates import Candidates
from ltm.text.display import counted

_MOST = 1024 * 1024


def run() -> None:
    """Print the line for the folder that the client names on standard input, else this one."""
    try:
        with Work(_folder(_given())) as work:
            output.say(line(work))
    except (LtmError, OSError):
        return


def line(work: Work) -> str:
    """How many memories there are, when the last came, what a session is told, and what waits."""
    active = sum(count for _, _, status, _, count in work.store.counts() if status == Status.ACTIVE)
    parts = [counted(active, "memory")]
    newest = work.store.list(Filter(), 1).items
    if newest:
        parts.append(f"last {output.ago(newest[0].memory.created, now())}")
    told = tell(work.store, work.places, work.config, now())
    if told.shown:
        share = work.config.get("inject.budget_percent")
        budget = work.config.get("inject.context_window") * share // 100
        parts.append(f"{len(told.shown)} told in {told.tokens:,} of {budget:,} tokens")
    waiting = len(Candidates(work.places.private).waiting())
    if waiting:
        parts.append(f"{waiting} to review")
    return f"ltm: {', '.join(parts)}"


def _given() -> dict[str, Any]:
    """What the client says about the session; nothing at a terminal."""
    if sys.stdin is None or sys.stdin.isatty():
        return {}
    try:
        found = json.loads(sys.stdin.read(_MOST) or "{}")
    except (ValueError, OSError):
        return {}
    return found if isinstance(found, dict) else {}


def _folder(given: dict[str, Any]) -> str | None:
    workspace = given.get("workspace")
    places = workspace if isinstance(workspace, dict) else {}
    for name in (places.get("project_dir"), places.get("current_dir"), given.get("cwd")):
        if isinstance(name, str) and os.path.isdir(name):
            return name
    return None
