"""The first hour of a person at the terminal: what `tests/cli` and `tests/golden` do not show."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.runner import Ltm
from tests.e2e.client.gitserver import commit_all
from tests.e2e.product import ROOT, path_without_python, ship
from tests.mcp.wire import Wire
from tests.sessions.writing import Transcript

PASSED_ON = ("PIP_", "SSL_CERT_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
"""What a machine may need to reach a package index."""
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


@pytest.mark.parametrize(("tool", "source"), [("uv tool", "folder"), ("pipx", "git")])
def test_each_line_that_installs_brings_ltm_to_the_path_and_one_takes_it_away(
    tmp_path: Path, tool: str, source: str
) -> None:
    """In an empty home, from a copy of this checkout; the packages come from their index."""
    page = (ROOT / "README.md").read_text("utf-8")
    assert f"{tool} install '.[vectors]'" in page
    assert "(`git+https://…`) instead of the dot" in page
    checkout = ship(tmp_path / "ltm", "pyproject.toml", "README.md")
    commit_all(checkout, "all of it")
    home = tmp_path / "home"
    home.mkdir()
    path = path_without_python(tmp_path / "bin")
    for name in ("python3", "uv", "uvx", "pipx"):
        (tmp_path / "bin" / name).symlink_to(Path(sys.executable).parent / name)
    for name in ("dirname", "realpath"):  # the programs that uvx makes use these
        (tmp_path / "bin" / name).symlink_to(shutil.which(name) or name)
    passed_on = {name: value for name, value in os.environ.items()
                 if name.upper().startswith(PASSED_ON)}  # fmt: skip
    env = {**passed_on, "HOME": str(home), "PATH": f"{home}/.local/bin:{path}"}

    def typed(line: str, folder: Path = home) -> str:
        done = subprocess.run(
            ["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        return done.stdout

    place = f"git+file://{checkout}" if source == "git" else "."
    typed(f"{tool} install '{place}[vectors]'", checkout)
    typed("ltm remember 'Payments are retried three times'")
    assert "Payments" in typed("ltm-memory recall payments")
    assert "on this machine" in typed("ltm status"), "search by meaning"
    typed(f"{tool} uninstall ltm-memory")
    assert not list((home / ".local" / "bin").iterdir())
    if tool == "uv tool":
        assert typed("uvx --from . ltm-memory --version", checkout).startswith("ltm ")
