"""How fast transcripts are read and learned from: `python -m benchmarks.ingest`.

Beside plain `json.loads` over the same file, each in a process of its own, so that memory can be
told. `json`, `read` and `learn` are the parts; `capture` and `drain` are the real commands with all
they do: figures, memories, what was said word for word, indexes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from benchmarks.corpus import sentences
from benchmarks.report import keep, peak_mb, table
from benchmarks.used import used_by

_CALLS = 24
_LINES = (1, 1, 2, 1, 3, 2, 60, 1, 2, 8, 2, 1, 20, 3, 1, 160)
_ASKS = ("Always remember that", "From now on note that", "Please remember:", "Keep in mind that")
_TYPED = (
    "git status --short && git diff --stat",
    "pytest tests/{area} -k case_{case} -x -q",
    "grep -rn handler_{case} src/{area}",
    "ls -la src/{area} | head -40",
    "sed -n 1,80p src/{area}/module_{case}.py",
    "git log --oneline -20 -- src/{area}",
)
_USAGE = {"input_tokens": 3, "cache_read_input_tokens": 81_234, "output_tokens": 321}
_PARTS = ("json", "read", "learn")
_COMMANDS = ("capture", "drain")
_MOST_MB = 100


def write(path: Path, megabytes: float) -> None:
    """A transcript of about so many megabytes, as large ones are: most of it is what tools gave.

    Modelled on four sessions of people at work (5.6 MB: 78 calls, 44 answers, 1.3 prompts and 2
    things kept a megabyte; results of 200 characters in the middle and 26,000 at the most, each
    with the client's own copy beside it, 4 % of them failures; two calls in three run a command or
    change a file). Left out are lines of progress, 40 % of their bytes, which newer clients no
    longer write and which cost next to nothing. So a megabyte here has about 160 calls, 60 answers
    and 7 prompts; 2 to 4 things are kept of it, as rules change. A transcript of nothing but short
    turns and prompts that teach costs more a megabyte.
    """
    pool = sentences()
    number = 0
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < megabytes * 1_000_000:
            for _ in range(4):
                for entry in _task(pool, number):
                    file.write(json.dumps(entry, separators=(",", ":"), ensure_ascii=False) + "\n")
                number += 1


def _task(pool: list[str], number: int) -> Iterator[dict[str, Any]]:
    """A prompt, what the agent did about it, and what it said in the end."""
    said = [pool[(number * step + step) % len(pool)] for step in (3, 5, 7, 11, 13, 17)]
    prompt = f"Look into why case_{number} of area{number % 40} fails and fix it. {said[4]}?"
    if number % 3 == 0:
        prompt = f"{_ASKS[number % len(_ASKS)]} {said[0][0].lower()}{said[0][1:]}"
    contents: list[tuple[str, Any, Any]] = [("user", prompt, None)]
    for each in range(_CALLS):
        name = f"toolu_{number:08d}{each:02d}"
        if each % 3 == 2:
            contents.append(("assistant", [_text(said[each % len(said)])], None))
        tool, given = _call(said, number, each)
        call = {"type": "tool_use", "id": name, "name": tool, "input": given}
        output = _output(said, number, each)
        failed = (number + each) % 25 == 0
        result = {"type": "tool_result", "tool_use_id": name, "content": output}
        contents.append(("assistant", [call], None))
        beside = {"stdout": output, "stderr": "", "interrupted": False}
        contents.append(("user", [{**result, "is_error": failed}], beside))
    contents.append(("assistant", [_text(" ".join(said[1:]))], None))
    for place, (role, content, beside) in enumerate(contents):
        minute, second = divmod(number * 60 + place, 60)
        message = {"role": role, "content": content}
        if role == "assistant":
            message |= {"model": "claude-opus-4-8", "usage": _USAGE}
        yield {
            "parentUuid": str(UUID(int=number * 100 + place)),
            "isSidechain": False,
            "userType": "external",
            "cwd": "/srv/project",
            "sessionId": "session",
            "version": "2.1.197",
            "gitBranch": "main",
            "type": role,
            "message": message,
            "uuid": str(UUID(int=number * 100 + place + 1)),
            "timestamp": f"2026-01-{minute // 1440 % 28 + 1:02d}T{minute // 60 % 24:02d}:"
            f"{minute % 60:02d}:{second:02d}.000Z",
            **({"toolUseResult": beside} if beside else {}),
        }


def _text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def _call(said: list[str], number: int, each: int) -> tuple[str, dict[str, str]]:
    """Half are commands, a quarter change a file, the rest look at one."""
    path = f"/srv/project/src/area{number % 40}/module_{each}.py"
    match each % 8:
        case 1 | 5:
            old, new = (f"def handler_{number}():\n    # {each}\n" for each in said[2:4])
            return "Edit", {"file_path": path, "old_string": old, "new_string": new}
        case 3 | 7:
            return "Read", {"file_path": path}
        case _:
            command = _TYPED[(number + each // 2) % len(_TYPED)]
            return "Bash", {"command": command.format(area=f"area{number % 40}", case=each)}


def _output(said: list[str], number: int, each: int) -> str:
    """So many lines: few mostly, now and then hundreds."""
    lines = _LINES[(number + each) % len(_LINES)]
    return "\n".join(
        f"src/area{number % 40}/module_{line}.py:{line * 7 % 400}: {said[line % len(said)]}"
        for line in range(lines)
    )


def measure(how: str, path: str) -> None:
    """Do one thing to the file and print lines, seconds of processor time and peak memory."""
    started = time.process_time()
    count = 0
    if how == "json":
        with open(path, "rb") as file:
            for line in file:
                json.loads(line)
                count += 1
    elif how == "read":
        from ltm.sessions.transcript import read

        for _ in read(path):
            count += 1
    else:
        from ltm.capture.extract import Listener
        from ltm.kinds import Kinds
        from ltm.sessions.transcript import read

        listener = Listener("s", Kinds())
        for turns in read(path).messages():
            count += len(turns)
            listener.hear(turns)
        listener.candidates()
    print(count, time.process_time() - started, peak_mb())


def command(how: str, path: str) -> None:
    """Let the real command do all of it to the file, in an empty home, and print the same."""
    folder = os.path.dirname(path)
    project = os.path.join(folder, how, "project")
    os.makedirs(project)
    environ = {**os.environ, "LTM_HOME": os.path.join(folder, how, "home")}
    words = ["capture", path]
    if how == "drain":
        from ltm.spool import events

        record = {"session": "session", "cwd": project, "transcript": path}
        for event in ("SessionStart", "Stop", "SessionEnd"):
            events.put(environ["LTM_HOME"], {"event": event, **record}, environ)
        words = ["drain"]
    used = used_by(words, Path(project), environ)
    with open(path, "rb") as file:
        count = sum(1 for _ in file)
    print(count, used.processor, used.peak)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", default="10,100", help="sizes; 1074 is a GiB")
    parser.add_argument("--json")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        (measure if given.measure[0] in _PARTS else command)(*given.measure)
        return
    rows: list[list[object]] = []
    for size in map(int, given.megabytes.split(",")):
        with tempfile.TemporaryDirectory(prefix="ltm-ingest-") as folder:
            path = Path(folder) / "session.jsonl"
            write(path, size)
            megabytes = os.path.getsize(path) / 1e6
            for how in (*_PARTS, *_COMMANDS):
                child = [sys.executable, "-m", "benchmarks.ingest", "--measure", how, str(path)]
                done = subprocess.run(child, check=True, capture_output=True, text=True)
                count, seconds, peak = map(float, done.stdout.split())
                rows.append([size, how, megabytes / seconds, int(count / seconds), peak])
    columns = ["MB", "what", "MB/s", "messages/s", "peak MB"]
    table("Ingest", columns, rows)
    held = max(float(str(row[-1])) for row in rows if row[1] in _COMMANDS)
    print(f"\nMost memory held by a command: {held:.0f} MB of at most {_MOST_MB}")
    keep(given.json, "ingest", {"rows": [dict(zip(columns, row, strict=True)) for row in rows]})
    if held > _MOST_MB:
        raise SystemExit("more memory than promised")


if __name__ == "__main__":
    main()
