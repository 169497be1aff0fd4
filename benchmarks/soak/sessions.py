"""Row R16, a long life: `python -m benchmarks.soak.sessions [--sessions 1000]`.

A home lives through many sessions of 53 events each: a transcript grows, hooks leave their events,
the drain captures, tends and makes the next text. Memory, open files, databases and logs must stay
flat, and every text within its budget. A drain is a process of its own and ends with its work, so
one in twenty-five is the real command, whose memory is measured; the others run in this process,
whose open files are.
"""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from benchmarks.corpus import sentences
from benchmarks.used import used_by
from ltm.config.config import load
from ltm.hook.answer import at_start
from ltm.inject.render import units
from ltm.inject.session_start import MAX_CHARS
from ltm.spool import events as spool
from ltm.text.display import estimate
from ltm.worker.drain import drain
from tests.figures import count, worst
from tests.sessions.writing import Transcript

SEED = 16
TOOLS = 50
_WARM = 100  # sessions after which everything that is kept in memory has been met
_REAL = 25
_SMALL = 1_000_000
_ASKS = ("Always", "Never", "From now on", "Remember that", "We decided that")


def speak(transcript: Transcript, chance: random.Random, pool: list[str]) -> None:
    """A session with something to learn in it, and a lot of work that teaches nothing."""
    subject = chance.choice(pool).rstrip(".")
    transcript.user(f"{chance.choice(_ASKS)} {subject[0].lower()}{subject[1:]}.")
    for number in range(TOOLS):
        used = f"tool-{transcript.session}-{number}"
        call = {"type": "tool_use", "id": used, "name": "Bash", "input": {"command": "make check"}}
        transcript.assistant(call)
        result = {"type": "tool_result", "tool_use_id": used, "content": "ok " * 40}
        transcript.user([{**result, "is_error": chance.random() < 0.1}])
    transcript.assistant({"type": "text", "text": "Done. All checks pass."})


def megabytes(folder: Path, pattern: str) -> float:
    """The size of all files that fit a pattern."""
    return sum(path.stat().st_size for path in folder.rglob(pattern) if path.is_file()) / 1e6


def on_disk(paths: Iterable[Path]) -> int:
    """What files take on the disk, which gives out whole blocks."""
    return sum(path.stat().st_blocks for path in paths) * 512


def free_share(path: Path) -> float:
    """The share of a database's pages that hold nothing; below `_SMALL` one or two are a lot."""
    if path.stat().st_size < _SMALL:
        return 0.0
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        (free,), (pages,) = (
            db.execute(f"PRAGMA {name}").fetchone() for name in ("freelist_count", "page_count")
        )
    db.close()
    return int(free) / max(1, int(pages))


def live(top: Path, sessions: int) -> bool:
    """Live through the sessions; whether everything stayed flat and within its budget."""
    home, project = top / "home", top / "project"
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    environ = {"HOME": str(top), "LTM_HOME": str(home), "PATH": os.environ["PATH"]}
    os.environ.update(environ)
    config = load(str(home))
    budget = config.get("inject.context_window") * config.get("inject.budget_percent") / 100
    chance, pool = random.Random(SEED), sentences()
    over = errors = events = 0
    memory: list[float] = []
    handles: list[int] = []
    journal = 0.0
    for number in range(sessions):
        name = f"00000000-0000-4000-8000-{number:012d}"
        transcript = Transcript(top / "transcripts" / f"{name}.jsonl", name)
        told = {"session": name, "cwd": str(project), "transcript": str(transcript.path)}
        spool.put(str(home), {"event": "SessionStart", "source": "startup", **told}, environ)
        text, _ = at_start({"event": "SessionStart", "source": "startup", **told}, environ)
        over += estimate(text) > budget or units(text) > MAX_CHARS
        speak(transcript, chance, pool)
        for _ in range(TOOLS):
            spool.put(str(home), {"event": "PostToolUse", "tool": "Bash", **told}, environ)
        spool.put(str(home), {"event": "Stop", **told}, environ)
        spool.put(str(home), {"event": "SessionEnd", "reason": "exit", **told}, environ)
        if number % _REAL:
            done = drain(str(home), environ=environ, settle=0)
            events, errors = events + done.events, errors + done.errors
        else:
            used = used_by(["drain"], project, environ)
            events += int(str(used.answer["events"]))
            errors += int(str(used.answer["errors"]))
            memory.append(used.peak)
        transcript.path.unlink()  # clients delete their transcripts too
        handles.append(len(os.listdir("/proc/self/fd")))
        journal = max(journal, megabytes(home, "*-wal"))
    warm = min(_WARM, sessions // 2)
    growth = 100 * (max(memory[-3:]) / max(memory[: warm // _REAL]) - 1)
    # A memory of one sentence is a file of half a kilobyte and takes a block of the disk. Its rows
    # take 3 kB: the whole record, its words, who names whom. So both are told as the disk has them.
    kept = [*home.glob("projects/*/memories/*.md")]
    memories = [*kept, *home.glob("projects/*/archives/*.md")]
    figures = {
        "memory_growth_percent": round(growth, 1),
        "memory_mb": round(max(memory), 1),
        "handles_more": handles[-1] - handles[warm],
        "journal_mb": round(journal, 1),
        "memories": len(kept),
        "index_kb_a_memory": round(megabytes(home, "index.db") * 1_000 / max(1, len(kept)), 1),
        "index_to_content": round(on_disk(home.rglob("index.db")) / max(1, on_disk(memories)), 2),
        "free_pages_percent": round(100 * max(map(free_share, home.rglob("*.db"))), 1),
        "logs_mb": round(megabytes(home, "*.log*"), 2),
        "disk_mb": round(megabytes(home, "*"), 1),
        "files": sum(1 for path in home.rglob("*") if path.is_file()),
    }
    lost = sessions * (TOOLS + 3) - events
    count("R16", sessions=sessions, events=events, events_lost=lost, over_budget=over)
    worst("R16", **figures)
    print(f"{sessions} sessions, {events} events, {errors} errors, {over} over budget: {figures}")
    return not (
        lost
        or errors
        or over
        or growth > 10
        or figures["handles_more"] > 0
        or figures["journal_mb"] > 64
        or figures["index_to_content"] > 2
        or figures["free_pages_percent"] > 20
        or figures["logs_mb"] > 20
    )


def main() -> None:
    """Live, print, and fail if something grew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=1_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ltm-soak-") as folder:
        sys.exit(not live(Path(folder), given.sessions))


if __name__ == "__main__":
    main()
