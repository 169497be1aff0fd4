"""Row S8, the routes: `schemathesis` sends requests of every shape to a real `ltm serve`.

Two of its checks are left out. A hook's twin takes a message that makes no sense without a word, as
the hook does, so nothing is told of data that is not as described. And the guard refuses before it
is known which route is meant, so a wrong method is answered with 415 too; S1 tries all of that.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.soak.environments import programs
from benchmarks.soak.fuzz_openapi import description
from tests.figures import count
from tests.hook.runner import Hooks
from tests.http.runner import Server

HANG = 10
"""Seconds after which a request hangs."""

_CHECKS = ("not_a_server_error", "status_code_conformance", "ignored_auth")
_SEED = 8


def routes(examples: int) -> bool:
    """Fuzz the server with so many requests for each route; whether all was in order."""
    fuzzer = programs("schemathesis") / "schemathesis"
    with tempfile.TemporaryDirectory(prefix="ltm-fuzz-") as name:
        hooks = Hooks(Path(name))
        hooks.remember("The gateway drops one request in a hundred")
        wanted = description(str(hooks.home))
        with Server(hooks) as server:
            told, said = _run(fuzzer, server, wanted, examples)
            alive = server.process.poll() is None
            well = alive and server.ask("GET", "/health", [server.authorized]).status == 200
    flaws = {each["type"]: int(each["count"]) for each in told.get("failures", ())}
    sent = int(told.get("test_cases", {}).get("generated", 0))
    operations = sum(len(methods) for methods in wanted["paths"].values())
    tested = int(told.get("operations", {}).get("tested", 0))
    slow = sum(number for flaw, number in flaws.items() if "Timeout" in flaw)
    print(f"routes: {sent} requests to {tested} operations; {flaws or 'no flaw'}", flush=True)
    count(
        "S8",
        fuzzed_requests=sent,
        fuzzed_operations=tested,
        answers_5xx=flaws.get("ServerError", 0),
        hangs=slow,
        server_crashes=int(not well),
    )
    in_order = well and told.get("exit_code") == 0 and told.get("complete") is True
    if not in_order:
        print(said[-6_000:], flush=True)
    return in_order and tested == operations and sent >= examples


def _run(
    fuzzer: Path, server: Server, wanted: dict[str, Any], examples: int
) -> tuple[dict[str, Any], str]:
    """What the fuzzer puts on record, and what it prints."""
    top = server.hooks.top
    api, report = top / "api.json", top / "report.json"
    api.write_text(json.dumps(wanted))
    done = subprocess.run(
        [
            *(fuzzer, "--no-color", "run", api, "--url", f"http://127.0.0.1:{server.port}"),
            *("--header", ": ".join(server.authorized), "--checks", ",".join(_CHECKS)),
            *("--phases", "examples,coverage,fuzzing", "--max-examples", str(examples)),
            *("--seed", str(_SEED), "--continue-on-failure", "--request-timeout", str(HANG)),
            *("--report", "json", "--report-json-path", report, "--generation-database", "none"),
        ],
        cwd=top,
        env=server.hooks.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    told: dict[str, Any] = json.loads(report.read_text()) if report.exists() else {}
    return told, done.stdout
