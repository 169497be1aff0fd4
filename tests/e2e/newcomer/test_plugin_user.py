"""The first hour of a person who has Claude Code's plugin and no `ltm` command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.client import Harness, use, wait_until
from tests.e2e.product import (
    assert_quiet,
    ltm,
    memories,
    memory_home,
    path_without_python,
    ship,
    told,
)
from tests.mcp.wire import Wire

PORT = "We chose port 8081 because 8080 belongs to the proxy"
RULE = "Run the linter before you commit"
SKILL = ["Skill"]


def stored_by_an_agent(harness: Harness, content: str) -> None:
    with Wire(harness.project, harness.home) as wire:
        wire.initialize()
        wire.call("store_memory", content=content)


def test_each_command_for_a_person_does_its_job_and_needs_no_further_permission(
    product: Harness,
) -> None:
    """Those whose client-side run `test_product_plugin` and `test_first_sessions` do not show."""
    ltm(product, "remember", PORT)
    ltm(product, "config", "trust.hold", "agent")
    stored_by_an_agent(product, RULE)
    run = r'{{re:(sh "[^"]*/run.sh" %s)'
    asks = {
        "config inject.max_chars": (
            use("Bash", command=run % "config" + "}} inject.max_chars"),
            "9",
        ),
        "why Makefile": (use("Bash", command=run % "why -- " + "}}Makefile"), "Makefile"),
        "fix EADDRINUSE 8081": (
            use("Bash", command=run % "fix -- " + "}}'EADDRINUSE 8081'"),
            "8081",
        ),
        "friction": (use("Bash", command=run % "friction" + "}}"), ""),
        "memory-import old": (use("Bash", command=run % "import" + "}} old --dry-run"), "old"),
        "sign-memories": (use("Bash", command=run % "sign" + "}}"), "A signature shows"),
        "list": (use("*list_memories"), PORT),
        "memories": (use("*list_memories"), PORT),
        "review": (use("*review_candidates"), "No candidate waits"),
        "search-memory port": (use("*memory_search", query="port"), PORT),
        "forget port": (use("*recall", query="port"), PORT),
    }
    for words, (call, answer) in asks.items():
        session = product.print_session(f"/ltm:{words}", [call, "Seen."], allowed=SKILL)
        result = str(session.requests[-1].tool_results[-1])
        assert "requires approval" not in result, words
        assert answer.lower() in result.lower(), f"{words}: {result}"
        assert_quiet(session)
    for name, answer in {
        "approve": RULE,
        "detect-achievements": "no commits to look at",
        "status": "1 memory waiting for approval: ltm approve",
        "help": "/ltm:remember TEXT",
    }.items():
        session = product.print_session(f"/ltm:{name}", ["Seen."], allowed=SKILL)
        assert answer in session.requests[0].user_text, name
        assert_quiet(session)


@pytest.mark.every_client
@pytest.mark.parametrize("python", [True, False], ids=["no packages", "no python"])
def test_a_command_that_cannot_run_yet_shows_why(
    harness: Harness, tmp_path: Path, python: bool
) -> None:
    harness.cli("plugin", "marketplace", "add", str(ship(tmp_path / "checkout")))
    harness.cli("plugin", "install", "ltm@ltm")
    bare = path_without_python(tmp_path / "bin")
    if python:
        (tmp_path / "bin" / "python3").symlink_to(os.path.realpath(sys.executable))
    env = {"PATH": bare, "PIP_NO_INDEX": "1", "PIP_RETRIES": "0"}

    for name in ("status", "memory-graph") if python else ("status",):
        session = harness.print_session(f"/ltm:{name}", ["Seen."], allowed=SKILL, env=env)
        shown = session.requests[0].user_text
        why = "memories: none yet" if python else "LTM needs Python 3.11"
        if name == "memory-graph":
            why = "needs packages that are not installed"
        assert why in shown, shown
        assert "command failed" not in session.result
        assert_quiet(session)
    loaded = harness.print_session("/ltm:load-memory", ["Seen."], allowed=SKILL, env=env)
    assert ("Nothing to print yet" if python else why) in loaded.requests[0].user_text
    wait_until(lambda: not harness.running(), "every process of ours to end")


@pytest.mark.every_client
def test_a_person_is_told_how_many_memories_and_what_waits_until_the_option_is_off(
    product: Harness,
) -> None:
    ltm(product, "remember", PORT)
    ltm(product, "config", "trust.hold", "agent")
    stored_by_an_agent(product, RULE)
    with product.tui_session(["Hi."]) as terminal:
        waits = "Waiting for you: 1 memory to approve (/ltm:approve)"
        terminal.wait_text(re.escape(f"LTM: 1 memory told. {waits}"))
        terminal.ask("hello")
    assert RULE not in str(terminal.requests[0].messages)

    ltm(product, "config", "inject.message", "false")
    with product.tui_session(["Hi."]) as terminal:
        terminal.ask("hello")
        assert "LTM:" not in terminal.screen
    assert PORT in told(terminal.requests[0])[0]


def test_the_plugin_alone_brings_an_ltm_for_the_terminal(harness: Harness, tmp_path: Path) -> None:
    """Its packages are built for real in `test_product_plugin`; here a plain command is typed."""
    harness.cli("plugin", "marketplace", "add", str(ship(tmp_path / "checkout")))
    harness.cli("plugin", "install", "ltm@ltm")
    bare = path_without_python(tmp_path / "bin")
    (tmp_path / "bin" / "python3").symlink_to(os.path.realpath(sys.executable))
    env = {"PATH": bare, "PIP_NO_INDEX": "1", "PIP_RETRIES": "0"}
    ours = ["mcp__plugin_ltm_ltm"]
    harness.print_session(
        "remember it", [use("*store_memory", content=PORT), "Stored."], allowed=ours, env=env
    )
    command = memory_home(harness) / "bin" / "ltm"
    wait_until(command.exists, "the command")

    def typed(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [command, *words],
            cwd=harness.project,
            env={"HOME": str(harness.home), "PATH": bare},
            capture_output=True,
            text=True,
            check=False,
        )

    assert PORT in typed("recall", "port").stdout
    harness.cli("plugin", "uninstall", "ltm@ltm")
    harness.cli("plugin", "marketplace", "remove", "ltm")
    wait_until(lambda: not harness.running(), "every process of ours to end")
    assert [each["content"] for each in memories(harness)] == [PORT]
