"""How long a newcomer waits: from `claude plugin install` to the first answer of a tool.

    python -m tests.e2e.client.install latest     # once; needs npm
    python -m benchmarks.first_session            # --runs N, --json FILE

Each turn begins with an empty home and the real client, whose model is a script on loopback that
calls one tool. The machine has a Python without packages and uv, or only that Python, or no way to
a package index, or an `ltm` of the same version on its PATH, so that the plugin is a second copy.
claude-mem takes its turns in the same run: its package comes from npm before anything is timed, and
the client installs the plugin in it. Its tool may answer that it is not ready yet: what counts is
the first answer, and the table says whether it was an error. After the session, what a plugin goes
on to install in the background is waited for.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.report import keep, percentile, table
from tests.e2e.client import Harness, use
from tests.e2e.client.binary import Client, find, labels
from tests.e2e.client.deadline import wait_until
from tests.e2e.client.reply import ToolUse
from tests.e2e.client.request import Request
from tests.e2e.product import path_without_python, ship

OURS, PEER = "ltm", "claude-mem"
PATIENCE = 600.0
"""Seconds the packages of a plugin may take."""
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS")
SERVERS = ["mcp__plugin_ltm_ltm", "mcp__plugin_claude-mem_mcp-search"]
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_RETRIES": "0", "UV_OFFLINE": "1"}


class Way(NamedTuple):
    """A machine on which a plugin is installed and used."""

    name: str
    programs: Mapping[str, str]
    """What is on its PATH besides the usual small programs, and where it lies here."""
    env: Mapping[str, str] = {}
    plugin: str = OURS


class Taken(NamedTuple):
    """Seconds and bytes of one turn."""

    install: float
    first_answer: float
    """Of a tool, since the beginning of `plugin install`."""
    failed: bool
    packages: float
    """Until what is installed in the background was there, or given up; since the same moment."""
    state: str
    code: int
    environment: int


def ways(peer: Path | None) -> list[Way]:
    """The machines that can be made here."""
    python = {"python3": os.path.realpath(sys.executable)}
    found = [Way("ltm, pip", python)]
    if uv := shutil.which("uv"):
        found.append(Way("ltm, uv", {**python, "uv": uv}))
    found.append(Way("ltm, offline", python, OFFLINE))
    installed = str(Path(sys.executable).parent / "ltm")
    found.append(Way("ltm, second copy", {**python, "ltm": installed}))
    if peer:
        programs = {name: where for name in ("node", "npm", "bun") if (where := shutil.which(name))}
        found.append(Way(PEER, {**python, **programs}, plugin=PEER))
    return found


def fetched(folder: Path) -> tuple[Path | None, str]:
    """claude-mem as a marketplace, from its package on npm; else why it is not there."""
    if shutil.which("npm") is None:
        return None, "npm is not on the PATH"
    command = ["npm", "pack", "--loglevel=error", PEER]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    packed = next(folder.glob("*.tgz"), None)
    if done.returncode or packed is None:
        return None, (done.stderr.strip().splitlines() or ["no word"])[0]
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    entry = {"name": PEER, "source": "./package/plugin"}
    market = {"name": "peer", "owner": {"name": "npm"}, "plugins": [entry]}
    (folder / ".claude-plugin").mkdir()
    (folder / ".claude-plugin" / "marketplace.json").write_text(json.dumps(market))
    return folder, ""


def turn(way: Way, client: Client, peer: Path | None, base: Path) -> Taken:
    """Install a plugin in an empty home, and use it once."""
    base.mkdir()
    # Ours is a fresh copy each time: a plugin in a folder leaves what Python compiled in it.
    market = peer if way.plugin == PEER and peer else ship(base / "checkout")
    path = path_without_python(base / "bin")
    for name, where in way.programs.items():
        (base / "bin" / name).symlink_to(where)
    trusted = {name: os.environ[name] for name in CERTIFICATES if name in os.environ}
    env = {"PATH": path, **trusted, **way.env}
    call: ToolUse = use("*store_memory", content="The port is 8081")
    if way.plugin != OURS:
        call = use("*search", query="port")
    with Harness(client, base / "world", spy=False, tool_search=False, env=env) as harness:
        harness.cli("plugin", "marketplace", "add", str(market))
        began = time.perf_counter()
        harness.cli("plugin", "install", f"{way.plugin}@{'ltm' if way.plugin == OURS else 'peer'}")
        installed = time.perf_counter()
        plugins = harness.home / ".claude" / "plugins"
        code = _size(plugins / "cache")
        session = harness.start_print("go", [call, "Done."], allowed=SERVERS)
        session.wait(lambda: _answers(session.requests), "a tool", PATIENCE)
        answered = time.perf_counter()
        results = _answers(session.requests)
        session.finish()
        state = settled(plugins / "data" / "ltm-ltm") if way.plugin == OURS else "-"
        ready = time.perf_counter()
        return Taken(
            installed - began,
            answered - began,
            bool(results[0].get("is_error")),
            ready - began,
            state,
            code,
            _size(plugins / "data"),
        )


def _answers(requests: list[Request]) -> list[dict[str, Any]]:
    """What the plugin's tool answered; the client's own search for the tool does not count."""
    results = [each for request in requests for each in request.tool_results]
    return [each for each in results if "tool_reference" not in str(each.get("content"))]


def settled(data: Path) -> str:
    """How the packages of our plugin ended: ready, failed, or none where an `ltm` has them."""

    def state() -> dict[str, Any]:
        path = data / "environment.json"
        found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        return found if found.get("state") in ("ready", "failed") else {}

    found = wait_until(state, "the packages", PATIENCE)
    if found["state"] == "failed":
        return "given up"
    return "installed" if next(data.glob("env-*"), None) else "not needed"


def _size(folder: Path) -> int:
    return sum(
        path.lstat().st_size for path in folder.rglob("*") if path.is_file() or path.is_symlink()
    )


def _median(taken: list[Taken], value: Callable[[Taken], float]) -> float:
    return percentile([value(each) for each in taken], 0.5)


def main() -> None:
    """Measure, print a table, and keep the figures if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="turns per machine (default 3)")
    parser.add_argument("--json", metavar="FILE", help="write the figures to this file too")
    given = parser.parse_args()
    client = find(labels(os.environ)[-1], os.environ)
    with tempfile.TemporaryDirectory(prefix="ltm-first-") as name:
        top = Path(name)
        (top / "peer").mkdir()
        peer, reason = fetched(top / "peer")
        machines = ways(peer)
        taken: dict[str, list[Taken]] = {way.name: [] for way in machines}
        for number in range(max(1, given.runs)):
            for way in machines if number % 2 else reversed(machines):
                base = top / f"{number}-{len(taken[way.name])}-{way.name.replace(', ', '-')}"
                done = turn(way, client, peer, base)
                taken[way.name].append(done)
                print(f"{way.name}: {done.first_answer:.1f} s, {done.state}", file=sys.stderr)
                shutil.rmtree(base, ignore_errors=True)
    table(
        f"From `plugin install` to the first answer of a tool (client {client.version}, seconds)",
        ["machine", "installed", "first answer", "least", "most", "an error", "packages", "after",
         "code MB", "packages MB"],
        [
            [
                way,
                _median(each, lambda one: one.install),
                _median(each, lambda one: one.first_answer),
                min(one.first_answer for one in each),
                max(one.first_answer for one in each),
                f"{sum(one.failed for one in each)} of {len(each)}",
                each[-1].state,
                _median(each, lambda one: one.packages) if each[-1].state != "-" else "-",
                _median(each, lambda one: one.code) / 1e6,
                _median(each, lambda one: one.environment) / 1e6,
            ]
            for way, each in taken.items()
        ],
    )  # fmt: skip
    if reason:
        print(f"\n{PEER} was not measured: {reason}")
    figures = {way: [one._asdict() for one in each] for way, each in taken.items()}
    keep(given.json, "first_session", {"client": client.version, "turns": figures, PEER: reason})


if __name__ == "__main__":
    main()
