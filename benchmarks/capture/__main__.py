"""Precision and recall of the extraction by rules: `python -m benchmarks.capture`.

`--show` tells what went wrong in the sessions to tune on; the others stay unseen. `--real DIR`
prints what transcripts of your own give, to be judged by hand.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.capture.baseline import keywords
from benchmarks.capture.score import Heard, Placed, Score
from benchmarks.capture.script import FRESH, LATER, Script, read_all, split
from benchmarks.capture.script import read as scripts_in
from benchmarks.capture.speed import hostile, ordinary
from benchmarks.capture.writing import Transcript
from benchmarks.report import keep, table
from ltm.capture.decide import Certainty, as_memory
from ltm.capture.extract import Listener
from ltm.capture.provenance import Evidence
from ltm.kinds import Kinds
from ltm.model import Trust
from ltm.sessions.transcript import read
from ltm.sessions.turns import Turn

Extractor = Callable[[list[Turn]], Iterable[Heard]]
_KINDS = Kinds()
_UNSEEN = "unseen"
_UNSEEN_FILES = ("unseen", "seventh")
"""Batches of which nobody ever printed what the rules make of them."""
FIRST_SIGHT = (
    ("later/mixed", 10, 0.88, 0.47),
    ("later/more", 9, 0.94, 0.73),
    ("fresh/seen", 31, 0.80, 0.56),
    ("fresh/unseen", 14, 0.93, 0.60),
    ("fresh/third", 15, 1.00, 0.35),
    ("fresh/fourth", 13, 0.79, 0.63),
    ("fresh/fifth", 10, 0.84, 0.73),
    ("fresh/sixth", 14, 0.75, 0.60),
    ("fresh/seventh", 14, 0.93, 0.69),
    ("fresh/eighth", 11, 0.82, 0.67),
)
"""Sessions, precision and recall of each batch when it was measured first, before anything was
changed because of it: what to expect of sessions nobody has seen."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--real", metavar="DIR")
    given = parser.parse_args()
    scores: dict[str, Score] = {}
    with tempfile.TemporaryDirectory(prefix="ltm-capture-") as folder:
        for name, scripts in parts().items():
            scores[f"rules, {name}"] = measured(scripts, rules, Path(folder))
        baseline = measured(parts()["held out"], keywords, Path(folder))
        scores["keywords, held out"] = baseline
        everyday, (worst, name) = ordinary(read_all(), Path(folder)), hostile()
    if given.show:
        for note in scores["rules, tuned on"].notes:
            print(note)
    _print(scores)
    print(f"\nListening: {everyday:.0f} MB/s; hostile texts ({name}): {worst:.1f} MB/s")
    speeds = {"mb_per_s": everyday, "mb_per_s_hostile": worst}
    keep(given.json, "capture", {**{n: _figures(s) for n, s in scores.items()}, **speeds})
    if given.real:
        show_real(Path(given.real))


def parts() -> dict[str, list[Script]]:
    """The sessions by what they are for."""
    tuned, held_out = split(read_all())
    seen = [path for path in sorted(FRESH.glob("*.txt")) if path.stem not in _UNSEEN_FILES]
    return {
        "tuned on": tuned,
        "held out": held_out,
        "written later": [*read_all(LATER), *(each for path in seen for each in scripts_in(path))],
        _UNSEEN: [each for name in _UNSEEN_FILES for each in scripts_in(FRESH / f"{name}.txt")],
    }


def rules(turns: list[Turn]) -> Iterable[Heard]:
    """What the product hears."""
    evidence = Evidence()
    listener = Listener("session", _KINDS, evidence=evidence)
    listener.hear(turns)
    now = datetime.now(UTC)
    for candidate in evidence.judged(listener.candidates()):
        if candidate.source.trust is Trust.TOOL or candidate.tier is Certainty.LIKELY:
            continue  # it waits for a person, or to be confirmed
        memory = as_memory(candidate, now)
        first, _, last = candidate.source.lines.partition("-")
        text = "\n".join((memory.title, memory.summary, memory.content, memory.reason))
        yield Heard(memory.kind, memory.title, text, int(first or 0), int(last or first or 0))


def measured(scripts: Iterable[Script], extractor: Extractor, folder: Path) -> Score:
    """How an extractor does on some sessions."""
    score = Score()
    for script in scripts:
        path = folder / f"{script.name}.jsonl"
        written = Transcript(script, path)
        labels = [
            Placed(label, *lines)
            for step, lines in zip(script.steps, written.lines, strict=True)
            for label in step.labels
        ]
        score.add(script.name, list(extractor(list(read(str(path))))), labels)
    return score


def show_real(folder: Path) -> None:
    """Print what the transcripts of a folder give."""
    for path in sorted(folder.glob("**/*.jsonl")):
        start = time.perf_counter()
        turns = list(read(str(path)))
        middle = time.perf_counter()
        heard = list(rules(turns))
        end = time.perf_counter()
        speed = path.stat().st_size / 1e6 / max(1e-9, end - middle)
        print(f"\n## {path.name}: {len(turns)} turns, {len(heard)} memories")
        print(f"read in {middle - start:.2f} s, heard in {end - middle:.2f} s ({speed:.0f} MB/s)")
        for memory in heard:
            print(f"- {memory.kind}, line {memory.first}: {memory.title}\n    {memory.text!r}")


def _print(scores: dict[str, Score]) -> None:
    names = list(scores)
    figures = {name: _figures(score) for name, score in scores.items()}
    rows = [
        [figure, *[figures[name][figure] for name in names]]
        for figure in figures[names[0]]
        if figure != "recall by category"
    ]
    table("Capture", ["", *names], rows)
    categories = sorted({each for score in scores.values() for each in score.wanted})
    table(
        "Recall by category (found of wanted)",
        ["category", *names],
        [
            [each, *[f"{scores[n].found[each]} of {scores[n].wanted[each]}" for n in names]]
            for each in categories
        ],
    )
    table("At first sight", ["batch", "sessions", "precision", "recall"], FIRST_SIGHT)
    print(
        "\nThe judge learned from these sessions too; training/README.md tells how it does on"
        " authors it has not learned from."
    )


def _figures(score: Score) -> dict[str, Any]:
    return {
        "sessions": score.sessions,
        "labels": score.wanted.total(),
        "memories": score.memories,
        "precision": score.precision,
        "recall": score.recall,
        "recall by category": {
            name: score.found[name] / wanted for name, wanted in sorted(score.wanted.items())
        },
        "junk rate": score.wrong / max(1, score.memories),
        "of these, wrong kind": score.misfits,
        "of these, repeated": score.repeated,
        "neither right nor wrong": score.neither,
        "memories per session": score.memories / max(1, score.sessions),
        "sessions to be silent in": score.silent,
        "of these, not silent": score.noisy,
        "reasons told": score.reasons_told / max(1, score.reasons),
        "titles by the rules": score.titles_good / max(1, score.titles),
    }


if __name__ == "__main__":
    main()
