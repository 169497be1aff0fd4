"""Hooks of the real client on this machine, memory in a container: docs/guides/serve.md."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.http.container import ENGINE, IMAGE, Box, serving, written
from tests.http.runner import until

from .client import use
from .conftest import MakeHarness
from .product import assert_quiet, memory_home, told

PORT = "We chose port 8081 because 8080 belongs to the proxy"
EVENTS = ("SessionStart", "PreCompact", "Stop", "SessionEnd")
HOOKS = {
    event: [
        {"hooks": [{"type": "command", "timeout": 5, "command": f"sh ~/.ltm/ltm-hook.sh {event}"}]}
    ]
    for event in EVENTS
}
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "serve.md"

pytestmark = pytest.mark.skipif(
    not IMAGE, reason="no image is named: dev/image builds and tries it"
)


def line_of_guide(begin: str, box: Box) -> str:
    """The guide's line that begins like this, for this engine and this container."""
    lines = (line.strip() for line in GUIDE.read_text("utf-8").splitlines())
    (found,) = (line for line in lines if line.startswith(begin))
    return re.sub(r"podman (exec (?:-i -w \"\$PWD\" )?)ltm ", rf"{ENGINE} \1{box.name} ", found)


def test_what_sessions_on_this_machine_teach_is_kept_in_the_container_and_told(
    make_harness: MakeHarness,
) -> None:
    # It waits for its servers before the first request.
    harness = make_harness(settings={"hooks": HOOKS}, env={"MCP_CONNECTION_NONBLOCKING": "0"})
    transcripts = harness.home / ".claude" / "projects"
    transcripts.mkdir(exist_ok=True)
    with serving(
        memory_home(harness), harness.project, user=os.getuid(), seen=[transcripts]
    ) as box:
        script = line_of_guide("podman exec", box)
        subprocess.run(
            ["sh", "-c", script], env={**os.environ, "HOME": str(harness.home)}, check=True
        )
        _, *words = shlex.split(line_of_guide("claude mcp add", box))
        assert box.name in words[-1]
        harness.cli(*words)
        today = harness.print_session(
            "We always use four spaces in YAML files, please remember that.",
            [use("*store_memory", content=PORT), "Stored {{re:mem_[0-9a-z]+}}."],
            allowed=[*harness.allowed, "mcp__ltm__store_memory"],
        )
        assert today.result.startswith("Stored mem_"), "the answer of the tool in the container"
        assert_quiet(today)
        until(lambda: "four spaces" in box.ltm("list").stdout)
        tomorrow = harness.print_session("hello", ["Hi."])
        text = told(tomorrow.requests[0])[0]
        assert PORT in text
        assert "four spaces" in text
        assert_quiet(tomorrow)
        assert written(box) == [], "everything it writes lies in /data"
