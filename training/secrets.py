"""Weights of `ltm.redact.prose`: `python -m training.secrets`.

Reads texts with secrets in them by eight authors (`secret_texts/`, backwards for the same reason as
those of `tests/redact`, which are read too), texts that only look like it, and the labelled
sessions as texts without secrets; writes `src/ltm/redact/prose.json.gz`. The same texts give the
same bytes. `--validate` judges each author by weights made without that author's texts;
`--blind DIR` runs redaction on a set of a new author (`kinds.jsonl` with `family`, `samples` and
`secrets`, `benign.jsonl` with `text`).
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ltm.redact.assignments import names_in
from ltm.redact.key_names import FAMILIES
from ltm.redact.prose import UNIT, WEIGHTS, described
from ltm.redact.redact import redacted
from ltm.redact.stems import TextWords
from tests.redact.secret_set import (
    Kind,
    contexts,
    escaped,
    fill,
    filled,
    kinds,
    lookalikes,
    more,
    more_lookalikes,
)
from training.fit import Example, fitted
from training.front_coding import coded

LEAST, PENALTY, PRUNE = 3, 1.0, 0.15
CONTEXTS = 2
"""In how many contexts each text is learned, besides by itself."""
MARGIN = 0.5
"""How much the bias is lowered: a text that is changed for nothing costs more than one found."""
HARMLESS = 3.0
"""How much a text without a secret counts against one with."""
_CORPUS = Path(__file__).parent / "corpus"
_TEXTS = Path(__file__).parent / "secret_texts"
_MARK = "[redacted:password]"


def authors() -> tuple[list[Kind], list[str]]:
    """Every text with a secret in it, and those that only look like it."""
    found, harmless = kinds() + more(), lookalikes() + more_lookalikes()
    for family in FAMILIES:
        for seed in range(3):
            harmless += [fill(sample, seed) for sample in family.leaves]
            for sample in family.finds:
                text, secret = filled(sample, seed)
                if secret:
                    found.append(Kind("own", "named", text, (secret,)))
    for path in sorted(_TEXTS.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            text, secrets = row["text"][::-1], tuple(each[::-1] for each in row["secrets"])
            if secrets:
                found.append(Kind(row["id"], row["family"], text, secrets))
            else:
                harmless.append(text)
    return found, harmless


def texts(authors: Iterable[Kind]) -> Iterator[tuple[str, Sequence[str]]]:
    """Each text with its secrets: by itself, in contexts, and with the secrets taken out."""
    chance, around = random.Random(1), contexts()
    for kind in authors:
        yield kind.text, kind.secrets
        fitting = [each for each in around if each.takes(kind)]
        for context in chance.sample(fitting, CONTEXTS):
            yield context.around(kind.text), kind.secrets
        cleaned = kind.text
        for secret in kind.secrets:
            cleaned = cleaned.replace(secret, _MARK)
        yield cleaned, ()


def harmless(looks: Iterable[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Texts without secrets."""
    for text in looks:
        yield text, ()
    for path in sorted(_CORPUS.glob("a?.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            for turn in json.loads(line)["turns"]:
                for part in ("text", "input", "output"):
                    if isinstance(turn.get(part), str):
                        yield turn[part], ()


def examples(rows: Iterable[tuple[str, Sequence[str]]], weight: float = 1.0) -> list[Example]:
    """Every token near a name in these texts, with whether it is (part of) a secret."""
    found = []
    for text, secrets in rows:
        spans = [span for secret in secrets for span in _places(text, secret)]
        for each in described(text, names_in(TextWords(text))):
            label = any(_is_part(each.start, each.end, *span) for span in spans)
            found.append(Example([], sorted(each.signs), int(label), weight))
    return found


def _places(text: str, secret: str) -> Iterator[tuple[int, int]]:
    for form in {secret, escaped(secret)}:
        at = text.find(form)
        while at >= 0:
            yield at, at + len(form)
            at = text.find(form, at + 1)


def _is_part(start: int, end: int, first: int, last: int) -> bool:
    if first <= start and end <= last:
        return True
    return min(end, last) - max(start, first) >= 0.8 * max(end - start, last - first)


def weights(known: Sequence[Example]) -> dict[str, Any]:
    """The bias, and the weights of signs by their names."""
    head = fitted(known, ["secret"], least=LEAST, penalty=PENALTY, prune=PRUNE)
    bias = round(head["bias"][0] - MARGIN, 3)
    return {"bias": bias, "weights": {name: row[0] for name, row in head["rows"].items()}}


def packed(made: Mapping[str, Any]) -> bytes:
    """The weights as `prose.json.gz` holds them: the names in order, without what they share."""
    names = sorted(made["weights"])
    weights = [made["weights"][name] for name in names]
    held = {"bias": made["bias"], "signs": coded(names), "weights": weights}
    return json.dumps(held, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def main() -> None:
    """Make the weights, or judge them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--validate", action="store_true", help="judge authors left out")
    parser.add_argument("--blind", type=Path, metavar="DIR", help="a set by a new author")
    args = parser.parse_args()
    if args.blind:
        blind(args.blind)
        return
    found, looks = authors()
    if args.validate:
        validate(found, looks)
        return
    made = weights([*examples(texts(found)), *examples(harmless(looks), HARMLESS)])
    WEIGHTS.write_bytes(gzip.compress(packed(made), 9, mtime=0))
    print(f"{len(made['weights'])} weights, {WEIGHTS.stat().st_size:,} bytes")


def validate(every: Sequence[Kind], looks: Sequence[str]) -> None:
    """Print how many texts of each author are found by weights made without that author."""
    rest = examples(harmless(looks), HARMLESS)
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for author in sorted({kind.id[0] for kind in every}):
        known = examples(texts(kind for kind in every if kind.id[0] != author))
        made = weights([*known, *rest])
        for kind in (kind for kind in every if kind.id[0] == author):
            text = kind.text
            spans = {
                (each.start, each.end)
                for each in described(text, names_in(TextWords(text)))
                if made["bias"] * UNIT + sum(made["weights"].get(sign, 0) for sign in each.signs)
                > 0
            }
            for start, end in sorted(spans, reverse=True):
                text = f"{text[:start]}\N{FULL BLOCK}{text[end:]}"
            _add(counts[kind.family, author], not kind.left(text))
    _report(counts)


def blind(folder: Path) -> None:
    """Print how much of a new author's set redaction finds, by family, and what it changes."""
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for line in (folder / "kinds.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        for text, secrets in zip(row["samples"], row["secrets"], strict=True):
            secrets = (secrets,) if isinstance(secrets, str) else tuple(secrets)
            kind = Kind(row["kind"], row["family"], text, secrets)
            found = not kind.left(redacted(text))
            _add(counts[kind.family, "new"], found)
            _add(counts["all", "new"], found)
    for line in (folder / "benign.jsonl").read_text("utf-8").splitlines():
        text = json.loads(line)["text"]
        _add(counts["unchanged", "new"], redacted(text) == text)
    _report(counts)


def _add(count: list[int], right: bool) -> None:
    count[0] += 1
    count[1] += right


def _report(counts: Mapping[tuple[str, str], Sequence[int]]) -> None:
    for (family, author), (whole, right) in sorted(counts.items()):
        print(f"{family:10} {author:4} {right:5} of {whole:5}  {right / whole:.3f}")


if __name__ == "__main__":
    main()
