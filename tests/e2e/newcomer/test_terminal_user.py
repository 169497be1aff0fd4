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


class Bare:
    """A person with an empty home, a checkout, and a Python without packages on the PATH."""

    def __init__(self, top: Path) -> None:
        self.checkout = ship(top / "ltm", "pyproject.toml", "README.md")
        self.home = top / "home"
        self.home.mkdir()
        path = path_without_python(top / "bin")
        for name in ("python3", "uv", "uvx", "pipx"):
            (top / "bin" / name).symlink_to(Path(sys.executable).parent / name)
        for name in ("dirname", "realpath"):  # the programs that uvx makes use these
            (top / "bin" / name).symlink_to(shutil.which(name) or name)
        passed_on = {name: value for name, value in os.environ.items()
                     if name.upper().startswith(PASSED_ON)}  # fmt: skip
        self.env = {**passed_on, "HOME": str(self.home), "PATH": f"{self.home}/.local/bin:{path}"}
        self.env["SHELL"] = "/bin/bash"

    def typed(self, line: str, folder: Path | None = None) -> str:
        """Type a line, in the home if nothing else is said; it works."""
        command = ["bash", "-c", line]
        done = subprocess.run(command, cwd=folder or self.home, env=self.env, capture_output=True,
                              text=True, timeout=600)  # fmt: skip
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture
def bare(tmp_path: Path) -> Bare:
    return Bare(tmp_path)


def line_of(page: str, begin: str) -> str:
    """The line of a page that begins like this, as it is typed."""
    lines = (line.strip() for line in (ROOT / page).read_text("utf-8").splitlines())
    return next(line for line in lines if line.startswith(begin)).partition("  #")[0].rstrip()


@pytest.mark.parametrize(("tool", "source"), [("uv tool", "folder"), ("pipx", "git")])
def test_each_line_that_installs_brings_ltm_to_the_path_and_one_takes_it_away(
    bare: Bare, tool: str, source: str
) -> None:
    """From a copy of this checkout; the packages come from their index."""
    page = (ROOT / "README.md").read_text("utf-8")
    assert f"{tool} install '.[vectors]'" in page
    assert "(`git+https://…`) instead of the dot" in page
    commit_all(bare.checkout, "all of it")
    place = f"git+file://{bare.checkout}" if source == "git" else "."
    bare.typed(f"{tool} install '{place}[vectors]'", bare.checkout)
    found = "uv tool update-shell" if tool == "uv tool" else "pipx ensurepath"
    assert f"`{found}`" in page
    bare.typed(found)
    bare.typed("ltm remember 'Payments are retried three times'")
    assert "Payments" in bare.typed("ltm-memory recall payments")
    assert "on this machine" in bare.typed("ltm status"), "search by meaning"
    if tool == "uv tool":
        bare.typed(line_of("docs/guides/install.md", "uv tool install --force"), bare.checkout)
        assert "Payments" in bare.typed("ltm recall payments"), "what was kept before the update"
    bare.typed(f"{tool} uninstall ltm-memory")
    assert not list((bare.home / ".local" / "bin").iterdir())
    if tool == "uv tool":
        ran = bare.typed("uvx --from . ltm-memory --version", bare.checkout)
        assert ran.startswith("ltm ")


def test_the_line_to_look_at_it_first_plays_the_demo_and_leaves_one_folder(bare: Bare) -> None:
    before = {path.name for path in bare.checkout.iterdir()}
    said = bare.typed(line_of("README.md", "python3 -m venv"), bare.checkout)
    assert "The next session starts with:" in said
    assert {path.name for path in bare.checkout.iterdir()} - before == {".venv"}
    assert not (bare.home / ".ltm").exists()
