"""Row S8, the tools: `mcp-fuzzer` calls each of them over stdio, and we judge the answers.

Its own verdict counts every answer to an odd text as a flaw, also where any text is allowed. So
every message is noted on its way, and held against the schema the server itself gave: a request
without an answer is a hang, an end before the client's is a crash, and arguments outside of the
schema must be refused.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]

from benchmarks.soak import fuzz_tap
from benchmarks.soak.environments import programs
from tests.figures import count, worst
from tests.hook.runner import Hooks

GOAL = 0.99
"""The share of arguments outside of the schema that must be refused."""

HANG = 10.0
"""Seconds without an answer."""

_UNEXPECTED = "this should not have happened"
_SEED = 8


@dataclass
class Judged:
    """What a log of messages says about the server."""

    calls: int = 0
    requests: int = 0
    """Of any sort, calls of tools among them."""
    wrong: int = 0
    """Calls with arguments outside of the schema."""
    refused: int = 0
    """Of those."""
    hangs: int = 0
    slowest: float = 0.0
    crashes: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    """Arguments outside of the schema that were not refused."""


def judged(log: Iterable[str]) -> Judged:
    """Hold every request against its answer and, if a tool was called, the tool's schema."""
    found = Judged()
    schemas: dict[str, dict[str, Any]] = {}
    open_: dict[str, tuple[float, dict[str, Any]]] = {}
    gone = False
    for line in log:
        way, at, text = json.loads(line)
        gone |= way == ">" and not text
        if way == "!" and not gone:
            found.crashes.append(f"the server ended with {text}")
        message = _object(text) if way in "<>" else {}
        key = json.dumps(message.get("id"))
        if way == ">" and "method" in message and "id" in message:
            found.requests += 1
            open_[key] = at, message
        elif way == "<" and "method" not in message and key in open_:
            asked_at, asked = open_.pop(key)
            found.slowest = max(found.slowest, at - asked_at)
            for tool in _result(message).get("tools", ()):
                schemas[tool["name"]] = {**tool["inputSchema"], "additionalProperties": False}
            if asked["method"] == "tools/call":
                _judge_call(asked, message, schemas, found)
    found.hangs = len(open_)
    return found


def _judge_call(
    asked: dict[str, Any], answer: dict[str, Any], schemas: dict[str, Any], found: Judged
) -> None:
    found.calls += 1
    if _UNEXPECTED in json.dumps(answer):
        found.crashes.append(f"{asked['params']}: {answer}")
    params = asked.get("params")
    name = params.get("name") if isinstance(params, dict) else None
    given = params.get("arguments", {}) if isinstance(params, dict) else None
    schema = schemas.get(name) if isinstance(name, str) else None
    if schema is not None and jsonschema.Draft202012Validator(schema).is_valid(given):
        return
    found.wrong += 1
    if "error" in answer or _result(answer).get("isError") is True:
        found.refused += 1
    else:
        found.taken.append(json.dumps(params))


def _object(text: str) -> dict[str, Any]:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _result(message: dict[str, Any]) -> dict[str, Any]:
    result = message.get("result")
    return result if isinstance(result, dict) else {}


def tools(runs: int) -> bool:
    """Fuzz the server with so many runs for each tool and phase; whether all was in order."""
    fuzzer = programs("mcp-fuzzer") / "mcp-fuzzer"
    with tempfile.TemporaryDirectory(prefix="ltm-fuzz-") as name:
        hooks = Hooks(Path(name))
        hooks.remember("The gateway drops one request in a hundred")
        log = hooks.top / "messages"
        done = [
            _run(fuzzer, hooks, log, "--mode", "tools", "--phase", "both", "--runs", str(runs)),
            *(
                _run(fuzzer, hooks, log, "--mode", "protocol", "--protocol-phase", phase)
                for phase in ("realistic", "aggressive")
            ),
        ]
        found = judged(log.read_text(encoding="utf-8").splitlines()) if log.exists() else Judged()
    share = found.refused / found.wrong if found.wrong else 0.0
    print(
        f"tools: {found.calls} calls, {found.requests} requests, {found.wrong} outside of the"
        f" schema, of which refused {share:.2%}; slowest {found.slowest:.1f} s",
        *found.crashes[:5],
        *found.taken[:5],
        sep="\n",
        flush=True,
    )
    count(
        "S8",
        fuzzed_tool_calls=found.calls,
        fuzzed_mcp_requests=found.requests,
        out_of_schema=found.wrong,
        out_of_schema_refused=found.refused,
        server_crashes=len(found.crashes),
        hangs=found.hangs,
    )
    worst("S8", slowest_tool_s=round(found.slowest, 2))
    enough = found.calls >= runs and found.wrong > 0 and not any(done)
    return enough and share >= GOAL and not found.crashes and not found.hangs


def _run(fuzzer: Path, hooks: Hooks, log: Path, *words: str) -> int:
    """One run of the fuzzer in a home of its own; its exit code, which tells of its own flaws."""
    server = [sys.executable, fuzz_tap.__file__, str(log), sys.executable, "-m", "ltm", "mcp"]
    done = subprocess.run(
        [
            *(str(fuzzer), "--protocol", "stdio", "--endpoint", shlex.join(server), *words),
            *("--runs-per-type", "20", "--seed", str(_SEED), "--timeout", str(HANG)),
            *("--tool-timeout", str(HANG), "--no-network", "--no-corpus", "--no-safety"),
            *("--fs-root", str(hooks.top / "files"), "--output-dir", str(hooks.top / "reports")),
        ],
        cwd=hooks.project,
        env=hooks.environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        print(f"mcp-fuzzer ended with {done.returncode}: {done.stderr[-1_000:]}")
    return done.returncode
