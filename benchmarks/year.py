"""A year of sessions on a made-up clock: `python -m benchmarks.year`.

300 sessions bring 5,000 candidates with repeats, contradictions and noise. Afterwards the active
set must be bounded, whatever is critical or was used lately must be there in full, every original
must come back, and every injection must have kept its budget. The baseline, in the same run, is a
store that only ever appends: what the next session would have to be told without upkeep.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.corpus import sentences
from benchmarks.report import keep as keep_figures
from benchmarks.report import percentile, table
from ltm.capture.candidate import Candidate
from ltm.capture.pipeline import Captured, keep
from ltm.core.decision import Restore
from ltm.core.kinds import Kinds
from ltm.core.model import Filter, Impact, Phase, Scope, Source, Status, Trust
from ltm.core.policy import Limits
from ltm.core.tokens import estimate
from ltm.inject.compose import MAX_CHARS, compose
from ltm.inject.said import units
from ltm.storage.filestore import FileStore
from ltm.storage.state import State
from ltm.storage.vault import Vault
from ltm.upkeep import consolidate
from ltm.upkeep.apply import run
from ltm.upkeep.plan import ACTIVE

SEED = 7
BUDGET = 20_000
_KINDS = ("decision", "preference", "gotcha", "fact", "pattern", "architecture", "context")


class Clock:
    """A clock that only moves when told to."""

    def __init__(self) -> None:
        self.now = datetime.fromisoformat("2026-01-01T09:00:00+00:00")

    def __call__(self) -> datetime:
        return self.now


def live(folder: Path, sessions: int, candidates: int) -> dict[str, Any]:
    """Play the year and measure it."""
    chance = random.Random(SEED)
    pool = sentences()
    clock = Clock()
    vault = Vault("private", str(folder / "vault"))
    state = State(str(folder / "state.db"))
    homes = {Scope.PROJECT: vault, Scope.AGENT: vault}
    store = FileStore((vault,), homes, state, Kinds(), project="p", clock=clock)
    limits = {scope: Limits() for scope in Scope}
    said: list[str] = []
    originals: dict[str, str] = {}
    taken: list[float] = []
    files: list[int] = []
    active: list[int] = []
    over = appended = 0
    used: list[str] = []
    for number in range(sessions):
        clock.now += timedelta(hours=chance.choice((4, 20, 26, 30, 70)))
        state.began(f"session-{number}", "p", clock.now)
        batch = [_candidate(chance, pool, said, number) for _ in range(candidates // sessions)]
        started = time.perf_counter()
        done = Captured()
        keep(store, batch, done, now=clock.now, difficulty=chance.random())
        for each in done.added:
            originals.setdefault(each, store.read(each).memory.content)
        everybody = [each.memory.id for each in store.list(ACTIVE).items]
        used = chance.sample(everybody, min(4, len(everybody)))
        store.used(used)
        consolidate.apply(store, consolidate.plan(store, clock.now, least=consolidate.LEAST))
        run(store, now=clock.now, limits=limits)
        told = compose(
            store,
            agent="a",
            project="p",
            now=clock.now,
            sessions=store.sessions(),
            budget_tokens=BUDGET,
        )
        taken.append((time.perf_counter() - started) * 1000)
        over += told.tokens > BUDGET or units(told.text) > MAX_CHARS
        appended += sum(estimate(each.text) for each in batch)
        files.append(len(vault.names()))
        active.append(store.list(ACTIVE).total)
    full = {each.memory.id for each in store.list(Filter(phases=(Phase.FULL,))).items}
    must = {
        each.memory.id
        for each in store.list(ACTIVE).items
        if each.memory.impact is Impact.CRITICAL or each.memory.id in used
    }
    lost = sum(not _comes_back(store, name, text) for name, text in originals.items())
    store.close()
    tenth = max(1, sessions // 10)
    return {
        "sessions": sessions,
        "candidates": sessions * (candidates // sessions),
        "memories_made": len(originals),
        "active_most": max(active),
        "active_at_the_end": active[-1],
        "critical_or_used_not_whole": len(must - full),
        "originals_lost": lost,
        "injections_over_budget": over,
        "tokens_if_only_appended": appended,
        "session_ms_first_tenth": percentile(taken[:tenth], 0.5),
        "session_ms_last_tenth": percentile(taken[-tenth:], 0.5),
        "files_after_a_tenth": files[tenth - 1],
        "files_at_the_end": files[-1],
    }


def _candidate(chance: random.Random, pool: list[str], said: list[str], number: int) -> Candidate:
    draw = chance.random()
    if said and draw < 0.45:
        text = chance.choice(said[-400:])  # the same again, or nearly
        if draw < 0.15:
            text = f"{text} And {chance.choice(pool)[:30]}"
    elif said and draw < 0.5:
        text = f"Never {chance.choice(said[-100:])}"
    else:
        text = f"{chance.choice(pool)} In part {chance.randrange(10_000)} of the code."
        said.append(text)
    return Candidate(
        kind=chance.choice(_KINDS),
        text=text,
        weight=0.8,
        source=Source(Trust.USER, f"session-{number}", str(chance.randrange(5_000))),
        impact=chance.choices(list(Impact), (3, 6, 2, 0.1))[0],
    )


def _comes_back(store: FileStore, name: str, text: str) -> bool:
    stored = store.read(name)
    if stored.memory.status is Status.ACTIVE and stored.memory.content == text:
        return True
    kept = [each.memory.content for each in store.versions(name)]
    return text in kept or store.apply(Restore(name)).stored.memory.content.startswith(text)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--candidates", type=int, default=5_000)
    parser.add_argument("--json")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ltm-year-") as folder:
        figures = live(Path(folder), given.sessions, given.candidates)
    table(f"A year (seed {SEED})", ["figure", "value"], list(figures.items()))
    keep_figures(given.json, "year", figures)


if __name__ == "__main__":
    main()
