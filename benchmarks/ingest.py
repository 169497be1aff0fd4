"""How fast transcripts are read and learned from: `python -m benchmarks.ingest`.

Beside plain `json.loads` over the same file, in processes of their own, so that memory can be told.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.corpus import sentences
from benchmarks.report import keep, peak_mb, table


def write(path: Path, megabytes: int) -> None:
    """A transcript of about so many megabytes: prompts, answers, tool calls and their results."""
    pool = sentences()
    number = 0
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < megabytes * 1_000_000:
            for _ in range(200):
                for entry in _turn(pool, number):
                    file.write(json.dumps(entry) + "\n")
                number += 1


def _turn(pool: list[str], number: int) -> list[dict[str, Any]]:
    said = [pool[(number * step) % len(pool)] for step in (3, 5, 7, 11)]
    call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": "make"}}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": " ".join(said) * 20}
    contents: list[tuple[str, Any]] = [
        ("user", said[0]),
        ("assistant", [call]),
        ("user", [{**result, "is_error": number % 7 == 0}]),
        ("assistant", [{"type": "text", "text": " ".join(said[1:])}]),
    ]
    return [
        {
            "type": role,
            "uuid": f"{number:08}-{place}",
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", default="10,100")
    parser.add_argument("--json")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(*given.measure)
        return
    rows: list[list[object]] = []
    for size in map(int, given.megabytes.split(",")):
        with tempfile.TemporaryDirectory(prefix="ltm-ingest-") as folder:
            path = Path(folder) / "session.jsonl"
            write(path, size)
            megabytes = os.path.getsize(path) / 1e6
            for how in ("json", "read", "learn"):
                command = [sys.executable, "-m", "benchmarks.ingest", "--measure", how, str(path)]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                count, seconds, peak = map(float, done.stdout.split())
                rows.append([size, how, megabytes / seconds, int(count / seconds), peak])
    columns = ["MB", "what", "MB/s", "messages/s", "peak MB"]
    table("Ingest", columns, rows)
    keep(given.json, "ingest", {"rows": [dict(zip(columns, row, strict=True)) for row in rows]})


if __name__ == "__main__":
    main()
