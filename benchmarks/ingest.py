"""How fast transcripts are read and learned from: `python -m benchmarks.ingest`.

Beside plain `json.loads` over the same file, each in a process of its own, so that memory can be
told. `json`, `read` and `learn` are the parts; `capture` and `drain` are the real commands with all
they do: figures, memories, what was said word for word, indexes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from uuid import UUID

from benchmarks.corpus import sentences
from benchmarks.report import keep, peak_mb, table

_CALLS = 6
_PARTS = ("json", "read", "learn")
_COMMANDS = ("capture", "drain")
_MOST_MB = 100


def write(path: Path, megabytes: int) -> None:
    """A transcript of about so many megabytes: prompts, answers, tool calls and their results.

    As in real ones, most of it is what tools gave back: some 30 kB after each prompt.
    """
    pool = sentences()
    number = 0
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < megabytes * 1_000_000:
            for _ in range(20):
                for entry in _turn(pool, number):
                    file.write(json.dumps(entry) + "\n")
                number += 1


def _turn(pool: list[str], number: int) -> list[dict[str, Any]]:
    said = [pool[(number * step) % len(pool)] for step in (3, 5, 7, 11)]
    contents: list[tuple[str, Any]] = [("user", said[0])]
    for each in range(_CALLS):
        name = f"t{number}-{each}"
        call = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "make test"}}
        output = " ".join([*said[each % 3 :], f"part {number}-{each}"]) * (8 + 2 * each)
        result = {"type": "tool_result", "tool_use_id": name, "content": output}
        contents.append(("assistant", [call]))
        contents.append(("user", [{**result, "is_error": (number + each) % 11 == 0}]))
    contents.append(("assistant", [{"type": "text", "text": " ".join(said[1:])}]))
    return [
        {
            "type": role,
            "uuid": str(UUID(int=number * 100 + place)),
            "sessionId": "session",
            "timestamp": "2026-01-01T00:00:00Z",
            "message": {"role": role, "content": content},
        }
        for place, (role, content) in enumerate(contents)
    ]


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
        from ltm.capture.rules import Listener
        from ltm.core.kinds import Kinds
        from ltm.sessions.transcript import read

        listener = Listener("s", Kinds())
        for turns in read(path).stretches():
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
        from ltm.storage import spool

        record = {"session": "session", "cwd": project, "transcript": path}
        for event in ("SessionStart", "Stop", "SessionEnd"):
            spool.put(environ["LTM_HOME"], {"event": event, **record}, environ)
        words = ["drain"]
    done = subprocess.run(
        [sys.executable, "-m", "ltm", *words], cwd=project, env=environ, capture_output=True
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr.decode())
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = used.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
    with open(path, "rb") as file:
        count = sum(1 for _ in file)
    print(count, used.ru_utime + used.ru_stime, peak)


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
