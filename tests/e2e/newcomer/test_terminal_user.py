"""The first hour of a person at the terminal: what `tests/cli` and `tests/golden` do not show."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.runner import Ltm
from tests.mcp.wire import Wire
from tests.sessions.writing import Transcript

SAID = "From now on, always run the linter before you commit."


def held(ltm: Ltm) -> list[str]:
    """Texts that wait for approval."""
    return [each["title"] for each in ltm.json("approve")["waiting"]]


@pytest.mark.parametrize(
    ("hold", "agents", "sessions"),
    [("tools", False, False), ("agent", True, False), ("all", True, True)],
)
def test_an_option_decides_what_waits_for_approval(
    ltm: Ltm, hold: str, agents: bool, sessions: bool
) -> None:
    ltm.ok("config", "trust.hold", hold)
    ltm.ok("remember", "The port is 8081")
    with Wire(ltm.project, ltm.home) as wire:
        wire.initialize()
        wire.call("store_memory", content="The build needs a lock")
    transcript = Transcript(ltm.home / "s1.jsonl", "s1")
    transcript.user(SAID, cwd=str(ltm.project))
    transcript.says("Understood.", cwd=str(ltm.project))
    ltm.ok("capture", str(ltm.home / "s1.jsonl"))
    waiting = " ".join(held(ltm))
    assert "8081" not in waiting, "what a person types is vouched for"
    assert ("needs a lock" in waiting) is agents
    assert ("linter" in waiting) is sessions
    assert ("linter" in ltm.ok("inject")) is not sessions


def test_a_preference_for_all_projects_is_told_in_each_and_never_moved_into_one(
    ltm: Ltm, tmp_path: Path
) -> None:
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "begin"]):
        who = {f"GIT_{role}_{what}": "a@b.c" for role in ("AUTHOR", "COMMITTER")
               for what in ("NAME", "EMAIL")}  # fmt: skip
        subprocess.run(["git", *words], cwd=ltm.project, env={**ltm.environ(), **who}, check=True)
    everywhere = ltm.json("remember", "In all my repos, run the tests before a commit")
    here = ltm.json("remember", "I prefer short functions", "--scope", "project")
    assert (everywhere["scope"], here["scope"]) == ("agent", "project")
    ltm.ok("remember", "We chose port 8081")

    refused = ltm.run("init", "--move")
    assert "short functions" in refused.stdout + refused.stderr
    shared = ltm.project / ".claude" / "ltm" / "memories"
    assert not any("short functions" in path.read_text() for path in shared.glob("*.md"))

    ltm.ok("edit", here["id"], "--scope", "agent")
    ltm.ok("init", "--move")
    moved = " ".join(path.read_text() for path in shared.glob("*.md"))
    assert "8081" in moved
    assert "short functions" not in moved
    other = tmp_path / "other"
    other.mkdir()
    told = ltm.ok("inject", cwd=other)
    assert "short functions" in told
    assert "run the tests" in told
    assert "8081" not in told
