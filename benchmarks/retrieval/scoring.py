"""How good rankings are, with the range that chance leaves open."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from benchmarks.retrieval.data import Group, Ranking

CUTS = (1, 5, 10)
SHOWN = (
    *(f"any@{cut}" for cut in CUTS),
    *(f"R@{cut}" for cut in CUTS),
    *(f"all@{cut}" for cut in CUTS),
    "ndcg@10",
)
"""At least one answer among the first so many; the share of all answers; every answer; and the sum
that counts a place less the lower it is."""

_ROUNDS = 1_000


class Figure(NamedTuple):
    """A mean in percent, and between which values it lies in 95 of 100 draws of questions."""

    mean: float
    low: float
    high: float


def of_question(found: Sequence[str], wanted: Iterable[str]) -> dict[str, float]:
    """All figures of one question."""
    gold = set(wanted)
    names = list(dict.fromkeys(found))
    figures: dict[str, float] = {}
    for cut in CUTS:
        hits = len(gold.intersection(names[:cut]))
        figures[f"any@{cut}"] = float(hits > 0)
        figures[f"R@{cut}"] = hits / len(gold)
        figures[f"all@{cut}"] = float(hits == len(gold))
    gained = sum(1 / math.log2(at + 2) for at, name in enumerate(names[:10]) if name in gold)
    possible = sum(1 / math.log2(at + 2) for at in range(min(10, len(gold))))
    figures["ndcg@10"] = gained / possible
    return figures


def scored(
    groups: Iterable[Group], rankings: Iterable[Ranking]
) -> dict[str, list[dict[str, float]]]:
    """The figures of every question, for `sessions` and, where the data has them, `turns`."""
    found = {(each.group, each.question): each for each in rankings}
    figures: dict[str, list[dict[str, float]]] = {"sessions": [], "turns": []}
    for group in groups:
        for asked in group.questions:
            ranking = found.get((group.id, asked.id), Ranking(group.id, asked.id, [], []))
            if asked.sessions:
                figures["sessions"].append(of_question(ranking.sessions, asked.sessions))
            if asked.turns:
                figures["turns"].append(of_question(ranking.turns, asked.turns))
    return {level: each for level, each in figures.items() if each}


def summed(figures: Sequence[Mapping[str, float]], seed: int = 1) -> dict[str, Figure]:
    """The mean of each figure and its range, by drawing the questions anew many times."""
    rng = random.Random(seed)
    count = len(figures)
    draws = [[rng.randrange(count) for _ in range(count)] for _ in range(_ROUNDS)]
    result: dict[str, Figure] = {}
    for name in SHOWN:
        values = [100 * each[name] for each in figures]
        means = sorted(sum(values[at] for at in draw) / count for draw in draws)
        low, high = means[int(0.025 * _ROUNDS)], means[int(0.975 * _ROUNDS)]
        result[name] = Figure(sum(values) / count, low, high)
    return result
