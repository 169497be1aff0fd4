"""How well memories agree with labels: precision, recall, junk, titles.

Owns what counts as right, as README.md says. Imports `script`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from benchmarks.capture.script import Label


@dataclass(frozen=True, slots=True)
class Heard:
    """A memory as an extractor made it."""

    kind: str
    """'' fits every label: the baseline does not tell kinds apart."""
    title: str
    text: str
    """All its words: title, summary, content, reason."""
    first: int
    last: int
    """The lines of the transcript it names as its source."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A label and the lines of the transcript it is about."""

    label: Label
    first: int
    last: int


@dataclass(slots=True)
class Score:
    """What came of some sessions."""

    sessions: int = 0
    right: int = 0
    wrong: int = 0
    neither: int = 0
    misfits: int = 0
    """Of the wrong ones: said the right thing under the wrong kind."""
    repeated: int = 0
    """Of the wrong ones: said what another memory said already."""
    noisy: int = 0
    """Sessions that must give nothing and did not."""
    silent: int = 0
    """Sessions that must give nothing."""
    reasons: int = 0
    reasons_told: int = 0
    titles: int = 0
    titles_good: int = 0
    wanted: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    """What went wrong, a line each."""

    @property
    def memories(self) -> int:
        """How many there were."""
        return self.right + self.wrong + self.neither

    @property
    def precision(self) -> float:
        """Share of the memories that are right, leaving out those that are neither."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """Share of the labels that got a memory."""
        return self.found.total() / max(1, self.wanted.total())

    def add(self, name: str, heard: Sequence[Heard], labels: Sequence[Placed]) -> None:
        """Take one more session into account."""
        self.sessions += 1
        if not labels:
            self.silent += 1
            self.noisy += bool(heard)
        met: set[int] = set()
        for memory in heard:
            self._judge(name, memory, labels, met)
            problem = bad_title(memory.title)
            self.titles += 1
            self.titles_good += not problem
            if problem:
                self.notes.append(f"{name}: TITLE ({problem}) {memory.title!r}")
        for number, placed in enumerate(labels):
            if placed.label.wanted:
                self.wanted[placed.label.category] += 1
                self.found[placed.label.category] += number in met
                if number not in met:
                    self.notes.append(f"{name}: MISSED line {placed.first}, {placed.label}")

    def _judge(self, name: str, memory: Heard, labels: Sequence[Placed], met: set[int]) -> None:
        said = [each for each in enumerate(labels) if _says(memory, each[1])]
        fits = [number for number, each in said if memory.kind in ("", *each.label.kinds)]
        new = [number for number in fits if number not in met]
        met.update(new)
        if any(labels[number].label.wanted for number in new):
            self.right += 1
            self._reasons(memory, [labels[number].label for number in new])
        elif fits and not all(labels[number].label.wanted for number in fits):
            self.neither += 1
        else:
            self.wrong += 1
            self.repeated += bool(fits)
            self.misfits += bool(said) and not fits
            why = "REPEATED" if fits else "WRONG KIND" if said else "WRONG"
            place = f"{memory.first}-{memory.last}"
            self.notes.append(f"{name}: {why} line {place} {memory.kind}: {memory.text!r}")

    def _reasons(self, memory: Heard, labels: Iterable[Label]) -> None:
        for label in labels:
            if label.reason:
                self.reasons += 1
                self.reasons_told += any(word in memory.text.casefold() for word in label.reason)


def _says(memory: Heard, placed: Placed) -> bool:
    if memory.first > placed.last or memory.last < placed.first:
        return False
    text = memory.text.casefold()
    return all(any(word in text for word in words) for words in placed.label.words)


_FILLER = re.compile(
    r"(?:ok(?:ay)?|so|well|hey|hi|yes|yeah|nope|also|and|but|btw|by the way|please|pls|just"
    r"|thanks|oh|hm+|actually|remember)\b|no,|note:",
    re.IGNORECASE,
)
_PASTE = re.compile(r"^\s*(?:[>|$]|at \S+\(|Traceback|\d{4}-\d\d-\d\d|Exit code)")


def bad_title(title: str) -> str:
    """What is wrong with a title; '' when nothing is."""
    if not title.strip() or "\n" in title:
        return "not one line"
    if len(title) > 80:
        return "too long"
    if title.count("`") % 2 or "```" in title:
        return "cut in code"
    if _FILLER.match(title):
        return "filler"
    if _PASTE.match(title):
        return "paste"
    first = title.split()[0]
    plain = first.strip(".,:;!?").isalpha() and first.islower()
    return "small letter" if plain and first.isascii() else ""
