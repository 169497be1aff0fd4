"""Logistic regression over sparse examples: the same numbers for the same examples, every time.

Owns the vocabulary, the fit (L-BFGS over all examples, no randomness) and what of it is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ltm.text.judge import SCALE, UNIT

Floats = NDArray[np.float64]


class Example(NamedTuple):
    """A sentence: its n-grams, the signs of where it stands, its class, and how much it counts."""

    grams: Sequence[str]
    signs: list[str]
    label: int
    weight: float = 1.0


def fitted(
    examples: Sequence[Example],
    classes: Sequence[str],
    *,
    least: int = 2,
    penalty: float = 3.0,
    prune: float = 0.0,
    telling: float = 0.0,
) -> dict[str, Any]:
    """A head of the model. One class is a question of yes and no; `least` sentences have an n-gram.

    What weighs less than `prune` is left out, and the rest is fitted once more without it. With
    `telling`, n-grams that occur with one of two classes more than with the other may weigh more.
    """
    names = _vocabulary(examples, least)
    if prune:
        first = fitted(examples, classes, least=least, penalty=penalty, telling=telling)["rows"]
        names = [name for name in names if max(map(abs, first.get(name, [0]))) >= prune * UNIT]
    rows, columns, values = _matrix(examples, {name: n for n, name in enumerate(names)})
    labels = np.array([each.label for each in examples])
    weights = np.array([each.weight for each in examples])
    weights *= len(weights) / weights.sum()
    width, size = len(classes), len(names)
    target = (
        labels[:, None].astype(float)
        if width == 1
        else (labels[:, None] == np.arange(width)).astype(float)
    )

    scale = np.ones(size)
    if telling:
        counted = weights[rows]
        kept = 1 + np.bincount(columns, counted * labels[rows], size)
        left_out = 1 + np.bincount(columns, counted * (1 - labels[rows]), size)
        ratio = np.abs(np.log((kept / kept.sum()) / (left_out / left_out.sum())))
        scale += telling * (ratio / np.sqrt((ratio**2).mean()) - 1)
        values = values * scale[columns]

    def loss(flat: Floats) -> tuple[float, Floats]:
        table = flat.reshape(size + 1, width)
        scores = np.empty((len(examples), width))
        for k in range(width):
            scores[:, k] = np.bincount(rows, table[columns, k] * values, len(examples))
        scores += table[size]
        if width == 1:
            worth = np.logaddexp(0, scores) - target * scores
            shares = 1 / (1 + np.exp(-scores))
        else:
            top = scores.max(axis=1, keepdims=True)
            whole = top + np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
            worth = target * (whole - scores)
            shares = np.exp(scores - whole)
        total = float((worth.sum(axis=1) * weights).sum())
        total += penalty / 2 * float((table[:size] ** 2).sum())
        left = (shares - target) * weights[:, None]
        slope = np.empty_like(table)
        for k in range(width):
            slope[:size, k] = np.bincount(columns, left[rows, k] * values, size)
        slope[:size] += penalty * table[:size]
        slope[size] = left.sum(axis=0)
        return total, slope.ravel()

    table = _minimum(loss, np.zeros((size + 1) * width)).reshape(size + 1, width)
    whole = np.rint(table[:size] * scale[:, None] * UNIT).astype(int)
    kept = np.abs(whole).max(axis=1) >= 1
    return {
        "classes": list(classes),
        "bias": [round(float(each), 3) for each in table[size]],
        "rows": {name: whole[n].tolist() for n, name in enumerate(names) if kept[n]},
    }


def _vocabulary(examples: Sequence[Example], least: int) -> list[str]:
    grams = Counter(gram for each in examples for gram in each.grams)
    signs = Counter(sign for each in examples for sign in each.signs)
    return sorted({name for name, count in (grams + signs).items() if count >= least})


def _matrix(
    examples: Sequence[Example], place: dict[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    for number, each in enumerate(examples):
        known = [place[gram] for gram in each.grams if gram in place]
        signs = [place[sign] for sign in each.signs if sign in place]
        columns += known + signs
        values += [SCALE / max(1, len(known)) ** 0.5] * len(known) + [1.0] * len(signs)
        rows += [number] * (len(known) + len(signs))
    return np.array(rows), np.array(columns), np.array(values)


def _minimum(
    loss: Callable[[Floats], tuple[float, Floats]], at: Floats, *, steps: int = 100, memory: int = 8
) -> Floats:
    """Where a smooth function is smallest, by L-BFGS with a backtracking line search."""
    value, slope = loss(at)
    past: list[tuple[Floats, Floats]] = []
    for _ in range(steps):
        way = slope.copy()
        shares = []
        for moved, bent in reversed(past):
            share = moved @ way / (bent @ moved)
            shares.append(share)
            way -= share * bent
        moved, bent = past[-1] if past else (slope, slope * max(1.0, np.abs(slope).sum() ** 0.5))
        way *= moved @ bent / (bent @ bent)
        for (moved, bent), share in zip(past, reversed(shares), strict=True):
            way += moved * (share - bent @ way / (bent @ moved))
        step = 1.0
        while True:
            there = at - step * way
            new, slope_there = loss(there)
            if new <= value - 1e-4 * step * float(slope @ way) or step < 1e-6:
                break
            step /= 2
        moved, bent = there - at, slope_there - slope
        if moved @ bent > 1e-12:
            past = [*past[1 - memory :], (moved, bent)]
        settled = abs(value - new) < 1e-6 * abs(value)
        at, value, slope = there, new, slope_there
        if settled:
            break
    return at
