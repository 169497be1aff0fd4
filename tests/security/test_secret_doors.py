"""Secrets of every family through every door, and afterwards every byte of every file searched."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from ltm.redact.redact import redacted
from ltm.spool import events, hook_log
from tests.cli.runner import Ltm
from tests.figures import count
from tests.hook.runner import Hooks
from tests.http.runner import Server
from tests.mcp.wire import Wire
from tests.redact.secret_set import Kind, kinds
from tests.security.test_canaries import assistant, user

EACH = None if os.environ.get("LTM_FAULTS") == "all" else 9
"""Kinds of a family; None for all of them."""
SHORTEST = 8
"""What is shorter stands in any file by chance: a number, a word."""
TOGETHER = 30


def sample() -> list[Kind]:
    """Kinds of each family that redaction knows: this is about where texts go."""
    chosen: list[Kind] = []
    known = [
        kind
        for kind in kinds()
        if min(map(len, kind.secrets)) >= SHORTEST and not kind.left(redacted(kind.text))
    ]
    for family in dict.fromkeys(kind.family for kind in known):
        of_family = [kind for kind in known if kind.family == family]
        step = max(1, len(of_family) // EACH) if EACH else 1
        chosen += islice(of_family[::step], EACH)
    return chosen


SAMPLE = sample()


def texts() -> Iterator[str]:
    """All of the sample, a few in each text, with a sentence that is worth keeping."""
    for start in range(0, len(SAMPLE), TOGETHER):
        said = "\n\n".join(kind.text for kind in SAMPLE[start : start + TOGETHER])
        yield f"The deployment of service {start} needs what follows, always.\n\n{said}\n"


def by_command(ltm: Ltm) -> None:
    for text in texts():
        ltm.ok("remember", "-", stdin=text, LTM_DEBUG="1")
        line = text.split("\n")[2]
        done = ltm.run("remember", f"--reason={line}", "--", line, LTM_DEBUG="1")
        # A line that is nothing but a secret is refused.
        assert done.returncode == 0 or "nothing in the text but what is not kept" in done.stderr


def by_tool(ltm: Ltm) -> None:
    with Wire(ltm.project, ltm.home) as wire:
        wire.initialize()
        for text in texts():
            wire.call("store_memory", content=text)
            wire.call("recall", query=text.split("\n")[2])


def by_edit(ltm: Ltm) -> None:
    for number, text in enumerate(texts()):
        kept = ltm.json(
            "remember", f"Service {number} is deployed from the branch release/{number}."
        )
        ltm.ok("edit", kept["id"], "--content", text, "--title", text.split("\n")[2])


def by_transcript(ltm: Ltm) -> None:
    transcript = session(ltm)
    assert ltm.json("capture", str(transcript))["added"]
    ltm.ok("friction", str(transcript))
    ltm.ok("consolidate", "--all")


def by_session(ltm: Ltm) -> None:
    transcript = session(ltm)
    about = {"session": "session", "cwd": str(ltm.project), "transcript": str(transcript)}
    for event in ("SessionStart", "PreCompact", "SessionEnd"):
        events.put(str(ltm.home / ".ltm"), {"event": event, **about}, environ(ltm))
    ltm.ok("drain")
    ltm.ok("stash", next(texts())[:200], "--transcript", str(transcript))
    ltm.ok("sessions", "--json")


def by_log(ltm: Ltm) -> None:
    ltm.ok("remember", "The log is read once a week.")
    for text in texts():
        hook_log.note(str(ltm.home / ".ltm"), "Stop", ValueError(text))


def by_hook(ltm: Ltm) -> None:
    hooks = Hooks(ltm.home)
    for text in texts():
        hooks.fire("UserPromptSubmit", prompt=text)
        call = {"tool_name": "Bash", "tool_input": {"command": text}}
        hooks.fire("PostToolUse", **call, tool_response={"stdout": text, "stderr": text})
        hooks.fire("SessionEnd", reason="clear")
    assert hooks.ltm("drain").returncode == 0


def by_http(ltm: Ltm) -> None:
    hooks = Hooks(ltm.home)
    with Server(hooks) as server:
        for text in texts():
            server.tell("UserPromptSubmit", hooks.payload("UserPromptSubmit", prompt=text))
            done = server.call("tools/call", name="store_memory", arguments={"content": text})
            assert not done.get("isError"), done


def by_export(ltm: Ltm, tmp_path: Path) -> None:
    other = Ltm(tmp_path / "other-home", tmp_path / "other-project")
    other.home.mkdir()
    other.project.mkdir()
    export = tmp_path / "export.json"
    plain = [f"Service {n} is deployed from the branch release/{n}." for n, _ in enumerate(texts())]
    for text in plain:
        other.ok("remember", text)
    other.ok("export", str(export))
    written = export.read_text(encoding="utf-8")
    for before, text in zip(plain, texts(), strict=True):
        written = written.replace(before, json.dumps(text)[1:-1])
    export.write_text(written, encoding="utf-8")
    ltm.ok("import", str(export))


def by_notes(ltm: Ltm, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for number, text in enumerate(texts()):
        (tmp_path / "notes" / f"note-{number}.md").write_text(f"# Note {number}\n\n{text}")
    ltm.ok("import", str(tmp_path / "notes"), "--from", "markdown")


def by_views(ltm: Ltm) -> None:
    subprocess.run(["git", "init", "-q", str(ltm.project)], check=True)
    ltm.ok("init")
    for text in texts():
        ltm.ok("remember", "-", "--scope", "project", "--impact", "critical", stdin=text)
    ltm.ok("sync")
    ltm.ok("export", str(ltm.project / "export.json"))
    assert (ltm.project / "export.json").stat().st_size > 1000


DOORS: dict[str, Callable[..., None]] = {
    "remember": by_command,
    "store_memory": by_tool,
    "edit": by_edit,
    "transcript": by_transcript,
    "session": by_session,
    "log": by_log,
    "hook": by_hook,
    "http": by_http,
    "export": by_export,
    "notes": by_notes,
    "views": by_views,
}
NOT_KEPT = ("log", "hook")
"""Doors that keep no text of what comes in."""


def environ(ltm: Ltm) -> dict[str, str]:
    return {"HOME": str(ltm.home), "LTM_HOME": str(ltm.home / ".ltm")}


def session(ltm: Ltm) -> Path:
    """The transcript of a session in which the user, the agent and a command say the secrets."""
    transcript = ltm.home.parent / "session.jsonl"
    lines: list[dict[str, Any]] = []
    for number, text in enumerate(texts()):
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": text}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "is_error": True}
        lines += [
            user(f"Remember that {text}"),
            assistant({"type": "text", "text": f"The root cause was this: {text}"}),
            assistant(call),
            user([{**result, "content": f"Exit code 1\nConfigError: {text}"}]),
        ]
    with transcript.open("w", encoding="utf-8") as file:
        for number, line in enumerate(lines):
            common = {"uuid": f"u-{number:08}", "timestamp": "2026-01-01T00:00:00Z"}
            file.write(json.dumps({**line, **common, "cwd": str(ltm.project)}) + "\n")
    return transcript


def worded(text: str) -> str:
    """The words of a text: they stay, in the names of files and before any byte of an index."""
    return re.sub(r"\W+|_", "-", text.lower())


def searched(ltm: Ltm) -> tuple[int, bool, list[tuple[str, str, str]]]:
    """How many files there are, if one has marks of secrets, and what is left of which where."""
    files = [
        path
        for top in (ltm.home, ltm.project)
        for path in top.rglob("*")
        if path.is_file() and not path.is_symlink()
    ]
    whole = {path: path.read_bytes() for path in files}
    every = b"\n".join(whole.values())
    said = worded("\n".join(redacted(text) for text in texts()))
    leaks = []
    for kind in SAMPLE:
        for part in kind.traces():
            if part.encode() in every and worded(part).strip("-") not in said:
                names = [path.name for path, data in whole.items() if part.encode() in data]
                leaks.append((kind.id, part, ", ".join(names)))
                break
    return len(files), b"[redacted:" in every, leaks


@pytest.mark.parametrize("door", DOORS)
def test_no_secret_that_came_in_by_a_door_is_in_any_file(
    door: str, ltm: Ltm, tmp_path: Path
) -> None:
    if door in ("export", "notes"):
        DOORS[door](ltm, tmp_path)
    else:
        DOORS[door](ltm)
    files, marked, leaks = searched(ltm)
    count("S10", door_secrets=len(SAMPLE), door_files=files, door_leaks=len(leaks))
    assert leaks == []
    assert files
    assert marked or door in NOT_KEPT


def test_the_search_finds_what_is_there(ltm: Ltm) -> None:
    """The judge itself: a part of a secret in the middle of other bytes."""
    kind = SAMPLE[0]
    (ltm.home / "x.db-wal").write_bytes(b"\0\1" + kind.secrets[0][:14].encode() + b"\xff")
    assert [leak[0] for leak in searched(ltm)[2]] == [kind.id]
