"""Make the weights of `ltm.text.judge` from the labelled corpus: `python -m training.capture`.

Prints a cross-validation by author, each judged by a model that saw nothing of theirs, chooses the
tiers by it, and writes the file. `--show` prints the memories that were wrong. `--blind FILE`
judges sessions that are no part of the corpus with the weights there are, and writes nothing.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import table
from ltm.capture.decide import Candidate, Certainty
from ltm.capture.extract import Listener
from ltm.capture.message import Sentence as Spoken
from ltm.capture.message import said
from ltm.capture.provenance import Evidence
from ltm.capture.statements import AGENT, ANYWHERE, JOINS, USER, Setting, pair_signs, signs
from ltm.kinds import Kinds
from ltm.model import Impact, Scope, Trust
from ltm.sessions.turns import UserText
from ltm.text.judge import WEIGHTS, Judge, grams, unpacked, weights
from training.corpus import SCRIPTS, Keep, Session, read_sessions, sessions, statements
from training.fit import Example, fitted
from training.front_coding import coded
from training.score import Tally

FIGURES = Path(__file__).with_name("figures.json")
"""What the last cross-validation measured."""
SURE = 0.925
"""Precision on authors not trained on, from which a sentence is sure."""
LIKELY = {USER: 0.65, AGENT: 0.5}
"""The same for all sentences that are sure or likely; agents report much and conclude little."""
_LIKELY_OF_AGENT = 0.15
"""From where on a sentence of the agent is likely at the latest, so that causes are not lost."""
_TRIED = (0.15, 0.2, 0.3, 0.4, 0.5)
"""From where on a sentence of the user may be likely: what would come of each is shown."""
_COUNTED = "abd"
"""How the names of the authors begin who count in the figures of all."""
_ALONE = 2.5
"""What a statement that was written down alone counts, against a sentence of a session."""
_PLACES = (Setting(message=()), Setting(first=True, message=()))
"""Where such statements are taken to stand, in turn: they teach words, and no place."""
_HEAD = ["author", "AP user", "AP agent", "sure: precision", "recall", "from empty", "kind"]
_HEAD += ["both: precision", "recall"]
_KINDS = Kinds()
_CLASSES = {
    "kind": [each.name for each in _KINDS if each.name != "episode"],
    "impact": [each.value for each in Impact],
    "scope": [each.value for each in Scope],
}


@dataclass(slots=True)
class Sentence:
    """A sentence as the judge is asked about it."""

    author: str
    speaker: str
    text: str
    signs: list[str]
    line: int = -1
    keep: Keep | None = None
    doubtful: bool = False


class _Recorder(Judge):
    """Notes what a listener asks about, and finds nothing worth keeping."""

    def __init__(self) -> None:
        causes = {"classes": ["keep"], "bias": [-99.0], "rows": {}}  # none is found, none is noted
        tiers = {USER: (1, 1), AGENT: (1, 1), JOINS: (1, 1)}
        super().__init__({"heads": {AGENT: causes}, "tiers": tiers})
        self.asked: list[tuple[str, str, list[str]]] = []

    def worth(self, speaker: str, text: str, stands: Iterable[str]) -> float:
        if speaker != JOINS:
            self.asked.append((speaker, text, list(stands)))
        return 0.0

    def best(self, question: str, text: str, signs: Iterable[str] = ()) -> tuple[str, float]:
        return {"kind": "fact", "impact": "medium", "scope": "project"}[question], 0.0


def sentences(session: Session) -> Iterator[Sentence]:
    """The sentences of a session the judge is asked about, each with its label."""
    recorder = _Recorder()
    listener = Listener("session", _KINDS, model=recorder)
    lines = {turn.line: USER if isinstance(turn, UserText) else AGENT for turn in session.turns}
    for turn in session.turns:
        listener.hear([turn])
        yield from _labelled(session, recorder, turn.line, lines)
    listener.candidates()
    yield from _labelled(session, recorder, -1, lines)


def _labelled(
    session: Session, recorder: _Recorder, line: int, lines: dict[int, str]
) -> Iterator[Sentence]:
    for speaker, text, stands in recorder.asked:
        found = Sentence(session.author, speaker, text, stands, line if speaker == USER else -1)
        for keep in [*session.keep, *session.doubtful]:
            here = keep.turn == line if speaker == USER else lines.get(keep.turn) == AGENT
            if here and keep.covers(text):
                found.keep, found.doubtful = keep, keep in session.doubtful
        yield found
    recorder.asked.clear()


def pairs(session: Session) -> Iterator[tuple[str, list[str], bool]]:
    """Sentences of kept statements with the sentence before: are both the same statement?"""
    for turn in session.turns:
        if not isinstance(turn, UserText):
            continue
        spoken = said(turn.text)
        kept = [keep for keep in session.keep if keep.turn == turn.line]
        for place in range(1, len(spoken)):
            here = [keep for keep in kept if keep.covers(spoken[place].text)]
            before = [keep for keep in kept if keep.covers(spoken[place - 1].text)]
            if here or before:
                same = any(keep in before for keep in here)
                yield spoken[place].text, pair_signs(spoken, place), same


@dataclass(slots=True)
class Material:
    """What a model is made of, and who it is by."""

    sessions: list[Session]
    sentences: list[Sentence]
    pairs: list[tuple[str, tuple[str, list[str], bool]]]
    alone: list[tuple[str, Keep]]

    @classmethod
    def read(cls) -> Material:
        """All there is."""
        found = sessions()
        return cls(
            found,
            [each for session in found for each in sentences(session)],
            [(session.author, pair) for session in found for pair in pairs(session)],
            list(statements()),
        )

    def without(self, author: str) -> Material:
        """That of all other authors."""
        return Material(
            [each for each in self.sessions if each.author != author],
            [each for each in self.sentences if each.author != author],
            [each for each in self.pairs if each[0] != author],
            [each for each in self.alone if each[0] != author],
        )


def heads(material: Material) -> dict[str, Any]:
    """The heads of a model."""
    counts: dict[str, int] = {}
    for each in material.sentences:
        counts[each.author] = counts.get(each.author, 0) + 1
    usual = sum(counts.values()) / max(1, len(counts))
    found: dict[str, Any] = {}
    for speaker in (USER, AGENT):
        examples = [
            Example(
                grams(each.text),
                each.signs,
                int(each.keep is not None),
                usual / counts[each.author],
            )
            for each in material.sentences
            if each.speaker == speaker and not each.doubtful
        ]
        if speaker == USER:
            for number, (_, keep) in enumerate(material.alone):
                stands = signs([Spoken(keep.text)], 0, _PLACES[number % len(_PLACES)])
                examples.append(Example(grams(keep.text), stands, 1, _ALONE))
        found[speaker] = fitted(
            examples,
            ["keep"],
            least=2 if speaker == USER else 3,
            penalty=2.0,
            prune=0.085,
            telling=0.3 if speaker == USER else 0.0,
        )
    found[JOINS] = fitted(
        [Example(grams(text), stands, int(same)) for _, (text, stands, same) in material.pairs],
        ["joins"],
        least=3,
        prune=0.08,
    )
    for question, classes in _CLASSES.items():
        labelled = list(_answers(material, question))
        examples = [
            Example(grams(text), [f"@{speaker}"], classes.index(answer))
            for speaker, text, answer in labelled
        ]
        found[question] = fitted(examples, classes, least=2, penalty=2.0, prune=0.2)
    return found


def _answers(material: Material, question: str) -> Iterator[tuple[str, str, str]]:
    for session in material.sessions:
        speakers = {t.line: USER if isinstance(t, UserText) else AGENT for t in session.turns}
        for keep in session.keep:
            answer = getattr(keep, question)
            if answer and keep.text:
                yield speakers[keep.turn], keep.text, answer
    for _, keep in material.alone:
        yield USER, keep.text, getattr(keep, question)


def tiers(asked: Sequence[tuple[Sentence, float]]) -> dict[str, tuple[float, float]]:
    """From where on sentences are likely and sure, by how those of others were judged."""
    found = {JOINS: (0.5, 0.5)}
    for speaker in (USER, AGENT):
        rows = [(p, each) for each, p in asked if each.speaker == speaker and not each.doubtful]
        rows.sort(key=lambda row: -row[0])
        right = np.array([each.keep is not None for _, each in rows], float)
        precision = np.cumsum(right) / np.arange(1, len(right) + 1)
        enough = [
            max((n for n in range(20, len(rows)) if precision[n] >= least), default=0)
            for least in (LIKELY[speaker], SURE)
        ]
        likely, sure = (round(rows[n][0], 3) for n in enough)
        found[speaker] = (min(likely, _LIKELY_OF_AGENT) if speaker == AGENT else likely, sure)
    return found


def heard(session: Session, model: Judge | None = None) -> list[Candidate]:
    """What the product hears in a session, sure and likely."""
    evidence = Evidence()
    listener = Listener("session", _KINDS, evidence=evidence, model=model)
    listener.hear(session.turns)
    found = evidence.judged(listener.candidates())
    return [each for each in found if each.source.trust is not Trust.TOOL]


def average_precision(rows: Iterable[tuple[float, bool]]) -> float:
    """The mean of the precision at each sentence that is worth keeping."""
    right, total = 0, 0.0
    for number, (_, keep) in enumerate(sorted(rows, key=lambda row: -row[0]), start=1):
        right += keep
        total += keep * right / number
    return total / max(1, right)


def main() -> None:
    """Measure, print, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--only-write", action="store_true", help="keep the tiers there are")
    parser.add_argument("--blind", type=Path, metavar="FILE", help="sessions as GUIDE.md has them")
    given = parser.parse_args()
    if given.blind:
        blind(given.blind, show=given.show)
        return
    material = Material.read()
    if given.only_write:
        chosen = Judge(unpacked(weights())).tiers
    else:
        chosen, measured = _validated(material, show=given.show)
        FIGURES.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    packed = as_text(heads(material), chosen).encode()
    WEIGHTS.write_bytes(gzip.compress(packed, 9, mtime=0))
    print(f"\n{WEIGHTS.name}: {WEIGHTS.stat().st_size:,} bytes")


def as_text(found: dict[str, Any], chosen: dict[str, tuple[float, float]]) -> str:
    """The file of weights."""
    packed = {}
    for name, head in found.items():
        names = sorted(head["rows"])
        columns = zip(*(head["rows"][each] for each in names), strict=True)
        packed[name] = {
            "classes": head["classes"],
            "bias": head["bias"],
            "names": coded(names),
            "weights": [[*column] for column in columns],
        }
    held = {"tiers": chosen, "heads": packed}
    return json.dumps(held, ensure_ascii=False, separators=(",", ":")) + "\n"


def _validated(
    material: Material, *, show: bool
) -> tuple[dict[str, tuple[float, float]], dict[str, float]]:
    """The tiers, and how those who were not trained on are judged with them."""
    authors = sorted({each.author for each in material.sessions})
    models: dict[str, dict[str, Any]] = {}
    asked: list[tuple[Sentence, float]] = []
    answers: dict[str, list[bool]] = {name: [] for name in (*_CLASSES, JOINS)}
    alone: list[float] = []
    for author in authors:
        found = models[author] = heads(material.without(author))
        model = Judge({"heads": found, "tiers": {}})
        for each in material.sentences:
            if each.author == author:
                asked.append((each, model.worth(each.speaker, each.text, each.signs)))
        for by, keep in material.alone:
            if by == author:
                stands = signs([Spoken(keep.text)], 0, ANYWHERE)
                alone.append(model.worth(USER, keep.text, stands))
        for question in _CLASSES:
            own = Material(
                [each for each in material.sessions if each.author == author],
                [],
                [],
                [each for each in material.alone if each[0] == author],
            )
            for speaker, text, answer in _answers(own, question):
                answers[question].append(model.best(question, text, (f"@{speaker}",))[0] == answer)
        for by, (text, stands, same) in material.pairs:
            if by == author:
                answers[JOINS].append((model.worth(JOINS, text, stands) >= 0.5) == same)
    chosen = tiers([row for row in asked if _counts(row[0].author)])
    rows = []
    all_sure, all_both = Tally(), Tally()
    waits = {least: Tally() for least in _TRIED}
    reached = {least: Tally() for least in _TRIED}
    notes: list[str] = []
    for author in authors:
        model = Judge({"heads": models[author], "tiers": chosen})
        own_sessions = [each for each in material.sessions if each.author == author]
        sure, _, both = tallies(own_sessions, model)
        rows.append(_row(author, sure, both, [row for row in asked if row[0].author == author]))
        if _counts(author):
            all_sure += sure
            all_both += both
            notes += sure.notes
            for least in _TRIED:
                model.tiers = {**chosen, USER: (least, chosen[USER][1])}
                _, likely, both = tallies(own_sessions, model)
                waits[least] += likely
                reached[least] += both
    counted = [row for row in asked if _counts(row[0].author)]
    rows.append(_row("all of a, b, d", all_sure, all_both, counted))
    table("By author, judged by a model of the others", _HEAD, rows)
    number = sum(_counts(each.author) for each in material.sessions)
    table(
        "From where on a sentence of the user is likely, over all of a, b and d",
        ["likely from", "both: recall", "precision", "candidates a session", "right", "from empty"],
        [
            [
                least,
                f"{reached[least].recall:.3f}",
                f"{reached[least].precision:.2f}",
                f"{(likely.right + likely.wrong) / number:.2f}",
                f"{likely.precision:.2f}",
                f"{likely.noisy} of {likely.empty}",
            ]
            for least, likely in waits.items()
        ],
    )
    table(
        "Right answers",
        ["question", "share"],
        [[name, f"{sum(found) / len(found):.3f}"] for name, found in answers.items()],
    )
    print(f"\nlikely and sure from: {chosen}")
    shares = [sum(each >= least for each in alone) / len(alone) for least in chosen[USER]]
    print(
        f"stand-alone statements that are at least likely: {shares[0]:.2f}, sure: {shares[1]:.2f}"
    )
    if show:
        print("\n".join(notes))
    measured = {
        "precision of sure": all_sure.precision,
        "recall of sure": all_sure.recall,
        "recall of sure and likely": all_both.recall,
        "empty sessions with a memory": all_sure.noisy / all_sure.empty,
        "stand-alone statements at least likely": shares[0],
        **{name: sum(found) / len(found) for name, found in answers.items()},
    }
    return chosen, {name: round(value, 3) for name, value in measured.items()}


def _counts(author: str) -> bool:
    return author[0] in _COUNTED and author != SCRIPTS


def tallies(found: Iterable[Session], model: Judge) -> tuple[Tally, Tally, Tally]:
    """What a model makes of sessions: what is sure, what is likely, and both together."""
    sure, likely, both = Tally(), Tally(), Tally()
    for session in found:
        candidates = heard(session, model)
        sure.add(session, [each for each in candidates if each.tier is Certainty.SURE])
        likely.add(session, [each for each in candidates if each.tier is Certainty.LIKELY])
        both.add(session, candidates)
    return sure, likely, both


def blind(path: Path, *, show: bool) -> None:
    """Judge the sessions of a file with the weights there are, and print the row of the table."""
    found = read_sessions(path)
    model = Judge(unpacked(weights()))
    sure, likely, both = tallies(found, model)
    asked = [
        (each, model.worth(each.speaker, each.text, each.signs))
        for session in found
        for each in sentences(session)
    ]
    table(f"{path.name}: {len(found)} sessions", _HEAD, [_row(path.stem, sure, both, asked)])
    print(f"\nof likely alone: {likely.precision:.2f} right; from empty sessions: {likely.noisy}")
    if show:
        print("\n".join(sure.notes))


def _row(
    author: str, sure: Tally, both: Tally, asked: Sequence[tuple[Sentence, float]]
) -> list[Any]:
    def precision(speaker: str) -> str:
        rows = [
            (p, each.keep is not None)
            for each, p in asked
            if each.speaker == speaker and not each.doubtful
        ]
        return f"{average_precision(rows):.3f}"

    return [
        author,
        precision(USER),
        precision(AGENT),
        f"{sure.precision:.2f} ({sure.right}/{sure.right + sure.wrong})",
        f"{sure.recall:.2f}",
        f"{sure.noisy} of {sure.empty}",
        f"{sure.kinds / sure.of_kind:.2f}" if sure.of_kind else "-",
        f"{both.precision:.2f}",
        f"{both.recall:.2f}",
    ]


if __name__ == "__main__":
    main()
