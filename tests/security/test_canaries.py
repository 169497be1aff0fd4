"""A thousand planted secrets, through every way in, and none of them on any disk of ours."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.redaction import samples, survives
from ltm.redact.redact import redacted
from ltm.spool import events, hook_log
from tests.cli.runner import Ltm
from tests.figures import count

ALL = os.environ.get("LTM_FAULTS") == "all"
CANARIES = 1_000 if ALL else 300


def canaries() -> list[tuple[str, list[str]]]:
    """Texts with secrets that redaction knows: this is about where texts go, not what it knows."""
    found = (
        (line, secret)
        for _, _, text, secret in samples(each=3, seed=11)
        for line in ["\n".join(text.split("\n")[1:-1])]
        if "\n" not in line and not survives(secret, redacted(line))
    )
    return list(islice(found, CANARIES))


def entries(planted: list[tuple[str, list[str]]]) -> Iterator[dict[str, Any]]:
    """A session in which the user, the agent, commands and their output all hold secrets."""
    for number, (text, _) in enumerate(planted):
        way = number % 4
        if way == 0:
            yield user(f"Remember that the deployment needs this: {text}")
        elif way == 1:
            yield assistant(
                {"type": "text", "text": f"The root cause was that the config had {text}"}
            )
            yield user("Thanks, go on.")
        else:
            command = f"make check{number}" if way == 2 else f"TOKEN_{number}=1 ./run {text}"
            for failed in (True, False):
                name = f"tool-{number}-{failed}"
                call = {"type": "tool_use", "id": name, "name": "Bash"}
                yield assistant({**call, "input": {"command": command}})
                said = f"Exit code 1\nConfigError: cannot use {text}" if failed else "ok"
                result = {"type": "tool_result", "tool_use_id": name, "content": said}
                yield user([{**result, "is_error": failed}])
                if failed:
                    edit = {"type": "tool_use", "id": f"edit-{number}", "name": "Edit"}
                    yield assistant({**edit, "input": {"file_path": "src/settings.py"}})
                    yield user(
                        [{"type": "tool_result", "tool_use_id": f"edit-{number}", "content": "ok"}]
                    )
    # One failure is still open at the end: what is carried over to the next reading is on disk too.
    text = planted[0][0]
    call = {"type": "tool_use", "id": "open", "name": "Bash"}
    yield assistant({**call, "input": {"command": f"make deploy {text}"}})
    result = {"type": "tool_result", "tool_use_id": "open", "content": f"DeployError: {text}"}
    yield user([{**result, "is_error": True}])


def user(content: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}}


def assistant(block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "assistant", "message": {"role": "assistant", "content": [block]}}


def test_no_planted_secret_reaches_any_file(ltm: Ltm, tmp_path: Path) -> None:
    planted = canaries()
    assert len(planted) == CANARIES
    transcript = tmp_path / "session.jsonl"
    with transcript.open("w", encoding="utf-8") as file:
        for number, entry in enumerate(entries(planted)):
            common = {"uuid": f"u-{number:08}", "timestamp": "2026-01-01T00:00:00Z"}
            file.write(json.dumps({**entry, **common, "cwd": str(ltm.project)}) + "\n")
    done = ltm.json("capture", str(transcript))
    assert done["turns"] > CANARIES
    assert done["added"]
    for text, _ in planted[:10]:
        ltm.json("remember", "-", "--title", text, stdin=f"Keep in mind: {text}", LTM_DEBUG="1")
    environ = {"HOME": str(ltm.home), "LTM_HOME": str(ltm.home / ".ltm")}
    about = {"session": "session", "cwd": str(ltm.project), "transcript": str(transcript)}
    for event in ("SessionStart", "PreCompact", "SessionEnd"):
        events.put(str(ltm.home / ".ltm"), {"event": event, **about}, environ)
    hook_log.note(str(ltm.home / ".ltm"), "Stop", ValueError(planted[0][0]))
    ltm.ok("drain")
    ltm.ok("friction", str(transcript))
    ltm.ok("stash", "later", "--transcript", str(transcript))
    ltm.ok("consolidate", "--all")
    ltm.ok("init")
    ltm.ok("remember", f"The shared one needs {planted[1][0]}", "--scope", "project")
    ltm.ok("sync")
    ltm.ok("recall", "deployment")
    ltm.ok("export", str(ltm.project / "export.json"))
    kept = {
        path: path.read_bytes().decode("utf-8", "replace")
        for top in (ltm.home / ".ltm", ltm.project)
        for path in top.rglob("*")
        if path.is_file()
    }
    assert len(kept) > 5
    leaks = [
        (path.name, secret)
        for _, secret in planted
        for path, content in kept.items()
        if all(part in content for part in secret) and survives(secret, content)
    ]
    sinks = {path.name for path in kept}
    count("S10", canaries_planted=len(planted), files_searched=len(kept), canaries_found=len(leaks))
    for sink in ("index.db", "sessions.db", "state.db", "friction.db", "summary.md", "export.json"):
        assert sink in sinks, f"nothing was written to {sink}"
    assert leaks == []
