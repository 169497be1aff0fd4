"""A year of sessions on a made-up clock: `python -m benchmarks.year`.

300 sessions bring 5,000 candidates with repeats, contradictions and noise. Afterwards the active
set must be bounded, whatever is critical or was used lately must be there in full, every original
must come back, and every injection must have kept its budget. The baseline, in the same run, is a
store that only ever appends: what the next session would have to be told without upkeep.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.corpus import sentences
from benchmarks.report import keep as keep_figures
from benchmarks.report import percentile, table
from ltm.capture.decide import Candidate
from ltm.capture.pipeline import Captured, keep
from ltm.capture.provenance import Evidence
from ltm.decisions import Restore
from ltm.inject.render import units
from ltm.inject.session_start import MAX_CHARS, Injection, StartContext, compose
from ltm.kinds import Kinds
from ltm.model import Filter, Impact, Phase, Scope, Source, Trust
from ltm.policy import Limits
from ltm.state.session_log import SessionLog
from ltm.state.usage import State
from ltm.store.file_store import FileStore
from ltm.text.display import estimate
from ltm.upkeep import consolidate
from ltm.upkeep.plan import ACTIVE, run
from ltm.vault.vault import Vault

SEED = 7
BUDGET = 20_000
_KINDS = ("decision", "preference", "gotcha", "fact", "pattern", "architecture", "context")


class Clock:
    """A clock that only moves when told to."""

    def __init__(self) -> None:
        self.now = datetime.fromisoformat("2026-01-01T09:00:00+00:00")

    def __call__(self) -> datetime:
        return self.now


@dataclass(slots=True)
class Diary:
    """What was measured, session by session."""

    ms: list[float] = field(default_factory=list)
    """Time of the process for what a session left to do: waiting for the disk is the disk's."""
    wall: list[float] = field(default_factory=list)
    active: list[int] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    steps: Counter[str] = field(default_factory=Counter)
    over_budget: int = 0
    not_whole: int = 0
    """Memories that are critical or were used in this session, and were not there in full."""
    appended: int = 0


def live(
    folder: Path, sessions: int, candidates: int, limits: Limits
) -> tuple[dict[str, Any], Diary]:
    """Play the year and measure it."""
    chance = random.Random(SEED)
    pool = sentences()
    clock = Clock()
    vault = Vault("private", str(folder / "vault"))
    state = State(str(folder / "state.db"))
    homes = {Scope.PROJECT: vault, Scope.AGENT: vault}
    store = FileStore((vault,), homes, state, Kinds(), project="p", clock=clock)
    said: list[tuple[str, str]] = []
    originals: dict[str, str] = {}
    diary = Diary()
    log = SessionLog(str(folder / "state.db"))
    for number in range(sessions):
        clock.now += timedelta(hours=chance.choice((4, 20, 26, 30, 70)))
        with log.transaction():
            log.begin(f"session-{number}", "p", "", "", clock.now)
        share = (number + 1) * candidates // sessions - number * candidates // sessions
        batch = [_candidate(chance, pool, said, number) for _ in range(share)]
        everybody = [each.memory.id for each in store.list(ACTIVE).items]
        used = chance.sample(everybody, min(4, len(everybody)))
        wall, cpu = time.perf_counter(), time.process_time()
        done, told = _session(store, batch, used, clock.now, chance.random(), limits, diary)
        diary.wall.append((time.perf_counter() - wall) * 1000)
        diary.ms.append((time.process_time() - cpu) * 1000)
        diary.over_budget += told.tokens > BUDGET or units(told.text) > MAX_CHARS
        diary.appended += sum(estimate(each.text) for each in batch)
        with store.in_a_row():
            for each in done.added:
                originals.setdefault(each, _first_text(store, each))
            in_force = [each.memory for each in store.list(Filter()).items]
        diary.not_whole += sum(
            each.phase is not Phase.FULL
            for each in in_force
            if each.impact is Impact.CRITICAL or each.id in used
        )
        diary.files.append(len(vault.names()) + len(os.listdir(vault.archives)))
        diary.active.append(store.list(ACTIVE).total)
    with store.in_a_row():
        lost = sum(not _comes_back(store, name, text) for name, text in originals.items())
    log.close()
    store.close()
    return _figures(diary, sessions, candidates, len(originals), lost), diary


def _session(
    store: FileStore,
    batch: list[Candidate],
    used: list[str],
    now: datetime,
    difficulty: float,
    limits: Limits,
    diary: Diary,
) -> tuple[Captured, Injection]:
    """What one session leaves to do, in the order in which the product does it."""
    done = Captured()
    keep(store, batch, done, evidence=Evidence(), now=now, difficulty=difficulty)
    store.used(used)
    merged = consolidate.apply(store, consolidate.plan(store, now, least=consolidate.LEAST))
    outcome = run(store, now=now, limits=dict.fromkeys(Scope, limits))
    diary.steps.update(step.action for step in outcome.done)
    diary.steps.update(step.action for step in merged)
    diary.steps.update(added=len(done.added), again=len(done.reinforced))
    told = compose(store, StartContext("a", "p", now, budget_tokens=BUDGET))
    return done, told


def _figures(diary: Diary, sessions: int, candidates: int, made: int, lost: int) -> dict[str, Any]:
    tenth = max(1, sessions // 10)
    first, last = slice(0, tenth), slice(-tenth, None)
    full = slice(3 * tenth, 4 * tenth)  # until then the active set is still filling up
    return {
        "sessions": sessions,
        "candidates": candidates,
        "memories_made": made,
        "seen_again": diary.steps["again"],
        "merged": diary.steps["merge"],
        "faded_a_phase": diary.steps["fade"],
        "gave_way_a_phase": diary.steps["evict"],
        "archived_as_outdated": diary.steps["archive"],
        "got_their_text_back": diary.steps["revive"],
        "active_most": max(diary.active),
        "active_at_the_end": diary.active[-1],
        "critical_or_used_not_whole": diary.not_whole,
        "originals_lost": lost,
        "injections_over_budget": diary.over_budget,
        "tokens_if_only_appended": diary.appended,
        "session_cpu_ms_first_tenth": percentile(diary.ms[first], 0.5),
        "session_cpu_ms_fourth_tenth": percentile(diary.ms[full], 0.5),
        "session_cpu_ms_last_tenth": percentile(diary.ms[last], 0.5),
        "files_a_session_first_tenth": diary.files[tenth - 1] / tenth,
        "files_a_session_last_tenth": (diary.files[-1] - diary.files[-tenth - 1]) / tenth,
        "files_at_the_end": diary.files[-1],
    }


def by_month(diary: Diary) -> list[list[Any]]:
    """A row for each tenth of the year: the curve behind the figures."""
    tenth = max(1, len(diary.ms) // 10)
    rows: list[list[Any]] = []
    for start in range(0, len(diary.ms), tenth):
        part = slice(start, start + tenth)
        before = diary.files[start - 1] if start else 0
        rows.append(
            [
                f"{start + 1}-{start + len(diary.ms[part])}",
                diary.active[part][-1],
                round(percentile(diary.ms[part], 0.5)),
                round(percentile(diary.wall[part], 0.5)),
                diary.files[part][-1] - before,
            ]
        )
    return rows


def _candidate(
    chance: random.Random, pool: list[str], said: list[tuple[str, str]], number: int
) -> Candidate:
    draw = chance.random()
    if said and draw < 0.45:
        kind, text = chance.choice(said[-400:])  # the same again, or nearly
        if draw < 0.15:
            text = f"{text} And {chance.choice(pool)[:30]}"
    elif said and draw < 0.5:
        kind, text = chance.choice(said[-100:])
        text = f"Never {text}"
    else:
        kind = chance.choice(_KINDS)
        text = f"{chance.choice(pool)} In part {chance.randrange(10_000)} of the code."
        said.append((kind, text))
    return Candidate(
        kind=kind,
        text=text,
        weight=0.8,
        source=Source(Trust.USER, f"session-{number}", str(chance.randrange(5_000))),
        impact=chance.choices(list(Impact), (3, 6, 2, 0.1))[0],
    )


def _first_text(store: FileStore, name: str) -> str:
    """The text a memory was made with: it may have been shortened since, in the same session."""
    kept = store.versions(name)
    return kept[0].memory.content if kept else store.read(name).memory.content


def _comes_back(store: FileStore, name: str, text: str) -> bool:
    """Whether the text a memory was made with is still to be had, by `ltm restore` or by hand."""
    if any(each.memory.content == text for each in store.versions(name)):
        return True
    return store.apply(Restore(name)).stored.memory.content == text


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--candidates", type=int, default=5_000)
    batch = Limits().eviction_batch_size
    parser.add_argument("--batch", type=int, default=batch, help="eviction_batch_size")
    parser.add_argument("--json")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ltm-year-") as folder:
        limits = Limits(eviction_batch_size=given.batch)
        figures, diary = live(Path(folder), given.sessions, given.candidates, limits)
    table(f"A year (seed {SEED})", ["figure", "value"], list(figures.items()))
    head = ["sessions", "active", "CPU ms a session", "wall ms a session", "new files"]
    table("Tenth by tenth", head, by_month(diary))
    keep_figures(given.json, "year", figures)


if __name__ == "__main__":
    main()
