"""How many secrets are found, and how much else is lost: `python -m benchmarks.redaction`.

Kinds, contexts and benign families are split in half by a fixed seed. The rules were tuned on the
first halves only ("seen"); a figure for what was not seen says how they do on what they were not
written for: known kinds in new contexts, new kinds in known contexts, and both new. Contexts of the
second half whose misses led to a change of the rules are listed in `LOOKED_AT` and count as seen.
The corpus has our idea of what people write; text of other origin is the better judge (`--text`).
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.redaction_benign import families, lines
from benchmarks.redaction_contexts import CONTEXTS, Context
from benchmarks.redaction_kinds import KINDS, Kind
from benchmarks.report import keep, table
from ltm.redact.redact import redact
from tests import figures as noted

SPLIT = 4
"""Seed of the split; never changed, or what was seen would become unseen."""
BENIGN = 20_000
_WINDOW = 8
_MARK = "[redacted:"
_MARKS = re.compile(r"\[redacted:[a-z0-9-]+\]")
_NOISE = (
    "On branch main, at {hash}, everything is committed.",
    "request {hash} took 14 ms and gave 200",
    "The parser keeps one token of lookahead; see docs/parser.md for the reason.",
    "",
)


def half(names: Iterable[str]) -> set[str]:
    """The half of the names that may be tuned on."""
    ordered = sorted(names)
    random.Random(SPLIT).shuffle(ordered)
    return set(ordered[: len(ordered) // 2])


SEEN_KINDS = half(kind.name for kind in KINDS)
LOOKED_AT = {"broken over lines", "base64 in a manifest"}
SEEN_CONTEXTS = half(context.name for context in CONTEXTS) | LOOKED_AT
SEEN_FAMILIES = half(families())
PARTS = ("seen", "new contexts", "new kinds", "both new")


@dataclass(slots=True)
class Count:
    """What happened to the secrets of one part of the corpus."""

    total: int = 0
    found: int = 0
    more: int = 0
    """Redactions beside the secret."""
    kinds: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    contexts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    missed: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """Share of the secrets that are gone."""
        return self.found / self.total if self.total else 1.0


def survives(secret: Sequence[str], text: str) -> bool:
    """Whether eight characters in a row of any line of the secret are still in the text."""
    plain = _MARKS.sub("", text)
    return any(
        line[start : start + _WINDOW] in plain
        for line in secret
        for start in range(max(1, len(line) - _WINDOW + 1))
        if line
    )


def part_of(kind: Kind, context: Context) -> str:
    """Which part of the corpus a pair belongs to."""
    new_kind, new_context = kind.name not in SEEN_KINDS, context.name not in SEEN_CONTEXTS
    return PARTS[2 * new_kind + new_context]


def samples(each: int, seed: int) -> Iterator[tuple[Kind, Context, str, list[str]]]:
    """So many samples for each kind in each context that can hold it, with lines around them."""
    for kind in KINDS:
        for context in CONTEXTS:
            if not context.takes(kind):
                continue
            rng = random.Random(f"{kind.name} {context.name} {seed}")
            for _ in range(each):
                text, secret = context.place(kind, kind.make(rng), rng)
                before, after = (
                    rng.choice(_NOISE).format(hash=f"{rng.getrandbits(160):040x}") for _ in "ab"
                )
                yield kind, context, f"{before}\n{text}\n{after}", secret


def measure(each: int, seed: int) -> dict[str, Count]:
    """Redact every sample and count, by part of the corpus."""
    counts = {part: Count() for part in PARTS}
    for kind, context, text, secret in samples(each, seed):
        count = counts[part_of(kind, context)]
        after = redact(text).text
        gone = not survives(secret, after)
        count.total += 1
        count.found += gone
        count.more += max(0, after.count(_MARK) - 1)
        for counter in (count.kinds[kind.name], count.contexts[context.name]):
            counter["total"] += 1
            counter["found"] += gone
        if not gone:
            count.missed.append(f"{kind.name} / {context.name}: {text!r} -> {after!r}")
    return counts


def benign(count: int, seed: int) -> tuple[dict[bool, Counter[str]], list[str]]:
    """Lines and false redactions of the families seen and not seen, and the changed lines seen."""
    names = families()
    figures: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    wrong: list[str] = []
    for family in names:
        real = family.startswith("library")
        share = count // 4 if real else count // 2 // (len(names) - 2)
        seen = family in SEEN_FAMILIES
        for line in lines(family, share, seed):
            figures[seen]["lines"] += 1
            if redact(line).kinds:
                figures[seen]["wrong"] += 1
                wrong.append(
                    f"{'seen' if seen else 'new'} {family}: {line!r} -> {redact(line).text!r}"
                )
    return figures, wrong


def speed(texts: Sequence[str]) -> float:
    """MB of text a second of processor time, which other work on the machine does not change."""
    size = sum(len(text.encode()) for text in texts)
    start = time.process_time()
    for text in texts:
        redact(text)
    return size / 1e6 / (time.process_time() - start)


def _worst(counts: Iterable[Count], what: str) -> list[tuple[str, float]]:
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for count in counts:
        for name, counter in getattr(count, what).items():
            sums[name].update(counter)
    shares = [(name, each["found"] / each["total"]) for name, each in sums.items()]
    return sorted(shares, key=lambda pair: pair[1])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=3, help="samples a kind and context")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--benign", type=int, default=BENIGN)
    parser.add_argument("--seen-only", action="store_true", help="for tuning: hide the rest")
    parser.add_argument("--show", type=int, default=0, help="print so many mistakes on seen parts")
    parser.add_argument("--text", nargs="*", default=[], help="files of your own to measure on")
    parser.add_argument("--json")
    given = parser.parse_args()
    counts = measure(given.each, given.seed)
    false, wrong = benign(given.benign, given.seed)
    for line in (*counts["seen"].missed, *(w for w in wrong if w.startswith("seen")))[: given.show]:
        print(line)
    parts = PARTS[:1] if given.seen_only else PARTS
    rows = [[part, counts[part].total, counts[part].recall, counts[part].more] for part in parts]
    table("Secrets", ["part", "samples", "recall", "redactions beside"], rows)
    held = [counts[part] for part in PARTS[1:]]
    chosen = [counts["seen"]] if given.seen_only else held
    found, total = (sum(getattr(c, n) for c in chosen) for n in ("found", "total"))
    sides = (True,) if given.seen_only else (False,)
    mistakes = sum(c.more for c in chosen) + sum(false[side]["wrong"] for side in sides)
    lines_of, wrong_of = (sum(false[side][n] for side in sides) for n in ("lines", "wrong"))
    kinds, contexts = _worst(chosen, "kinds"), _worst(chosen, "contexts")
    table("Kinds, worst first", ["kind", "recall"], kinds[:8])
    table("Contexts, worst first", ["context", "recall"], contexts[:8])
    texts = [Path(name).read_text(errors="replace") for name in given.text] or _turns("library")
    figures: dict[str, Any] = {
        "on": "seen" if given.seen_only else "held out",
        "samples": total,
        "recall": found / total,
        "worst kind": kinds[0],
        "precision": found / (found + mistakes),
        "benign lines": lines_of,
        "benign false positives": wrong_of / lines_of,
        "MB/s": speed(texts),
        "MB/s of look-alikes": speed(_turns()),
    }
    if given.text:
        figures["redactions in the texts given"] = sum(_marks(text) for text in texts)
    table(
        "In short",
        ["figure", "value"],
        [[k, f"{v:.4f}" if isinstance(v, float) else v] for k, v in figures.items()],
    )
    if not given.seen_only:
        figures["seen"] = {"recall": counts["seen"].recall, "benign": dict(false[True])}
        figures["parts"] = {part: [counts[part].found, counts[part].total] for part in PARTS}
        figures["kinds"] = dict(kinds)
    keep(given.json, "redaction", figures)
    if not given.seen_only:
        noted.worst(
            "S10", **{name.replace(" ", "_"): round(value, 4) for name, value in _goals(figures)}
        )
        noted.count("S10", held_out_samples=total, benign_lines=lines_of)
        noted.worst("S10", **{"MB/s_of_look-alikes": round(figures["MB/s of look-alikes"], 4)})
    missed = [name for name, value in _goals(figures) if not _holds(name, value)]
    print("missed: " + ", ".join(missed) if missed else "every goal is met")
    sys.exit(bool(missed))


GOALS = {
    "recall": (0.98, True),
    "worst kind": (0.90, True),
    "precision": (0.97, True),
    "benign false positives": (0.001, False),
    "MB/s": (2.0, True),
}
"""What must be reached, and whether more is better (reliability S10)."""


def _goals(figures: dict[str, Any]) -> list[tuple[str, float]]:
    found = {**figures, "worst kind": figures["worst kind"][1]}
    return [(name, float(found[name])) for name in GOALS]


def _holds(name: str, value: float) -> bool:
    goal, more = GOALS[name]
    return value >= goal if more else value <= goal


def _marks(text: str) -> int:
    return redact(text).text.count(_MARK) - text.count(_MARK)


def _turns(kind: str = "") -> list[str]:
    """A few MB in turns of about 4 kB: real code and prose, or nothing but what looks like secrets.

    Real sessions have the name of a secret every 700 characters or more; in the second text there
    is one every 150, each with its surroundings to be judged, and a secret at times.
    """
    named = [family for family in families() if family.startswith(kind)]
    pool = [line for family in named for line in lines(family, 20_000 if kind else 400, 9)]
    if not kind:
        pool += [text for _, _, text, _ in samples(1, 9)][::40]
    rng = random.Random(9)
    return ["\n".join(rng.choices(pool, k=60)) for _ in range(800 if kind else 200)]


if __name__ == "__main__":
    main()
