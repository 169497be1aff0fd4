"""Run inside MemPalace's own environment: `peer_mempalace.py DATA OUT FOLDER`.

Stands alone, because nothing of ours is installed there. Stores a drawer for every turn and asks
its own `search_memories`, leaving out what was filed after the day of the question.
"""

import gzip
import json
import resource
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from mempalace.palace import get_collection  # type: ignore[import-not-found]
from mempalace.searcher import search_memories  # type: ignore[import-not-found]

BATCH = 200
MOST = 50


def main(data: str, out: str, folder: str) -> None:
    """Store, ask, and write a line for every question; the last line is what it cost."""
    packed = Path(data).read_bytes()
    bench = json.loads(gzip.decompress(packed) if packed[:2] == b"\x1f\x8b" else packed)
    seconds, documents = 0.0, 0
    with open(out, "w", encoding="utf-8") as file:
        for number, group in enumerate(bench["groups"]):
            palace = str(Path(folder) / f"palace{number}")
            turns = [(each, turn) for each in group["sessions"] for turn in each["turns"]]
            started = time.perf_counter()
            collection = get_collection(palace)
            for start in range(0, len(turns), BATCH):
                part = turns[start : start + BATCH]
                collection.add(
                    documents=[f"{turn['role']}: {turn['text']}" for _, turn in part],
                    ids=[str(start + place) for place in range(len(part))],
                    metadatas=[
                        {
                            "wing": "bench",
                            "room": each["id"],
                            "source_file": each["id"],
                            "filed_at": each.get("date") or "2000-01-01T00:00:00",
                        }
                        for each, _ in part
                    ],
                )
            seconds += time.perf_counter() - started
            documents += len(turns)
            for asked in group["questions"]:
                if asked["type"] != "category-5":
                    file.write(json.dumps(answered(group["id"], asked, palace, turns)) + "\n")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        cost = {"documents_per_second": documents / seconds, "peak_mb": peak}
        file.write(json.dumps(cost) + "\n")


def answered(group: str, asked: dict[str, Any], palace: str, turns: list[Any]) -> dict[str, Any]:
    """The line of one question."""
    until = None
    if asked.get("date"):
        day = datetime.fromisoformat(asked["date"]).date() + timedelta(days=1)
        until = day.isoformat()
    started = time.process_time()
    found = search_memories(asked["text"], palace, n_results=MOST, before=until)
    taken = (time.process_time() - started) * 1000
    rows = [turns[int(each["drawer_id"])] for each in found["results"]]
    return {
        "group": group,
        "question": asked["id"],
        "sessions": list(dict.fromkeys(each["id"] for each, _ in rows)),
        "turns": [turn["id"] for _, turn in rows],
        "milliseconds": taken,
    }


if __name__ == "__main__":
    main(*sys.argv[1:4])
