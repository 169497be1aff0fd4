"""What capture makes of labelled sessions: precision, recall, memories from empty sessions.

A memory is right when it is about a label of its turn: half of the letters of the shorter one are
in the other. Owns what is counted; what failing and passing commands, commits and task lists teach
is left out, since the labels are about what was said.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ltm.capture.decide import Candidate
from training.corpus import Keep, Session, letters

_PART = 0.5
_RUN = 12
"""Letters in a row that count as shared."""


@dataclass(slots=True)
class Tally:
    """Counts over sessions."""

    right: int = 0
    wrong: int = 0
    wanted: int = 0
    found: int = 0
    """Labels, and those that a memory is about: core ones only."""
    empty: int = 0
    noisy: int = 0
    """Sessions that hold nothing to keep, and those of them that gave a memory."""
    of_kind: int = 0
    kinds: int = 0
    """Right memories whose labels name a kind, and those of them that have it."""
    notes: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """Share of right memories."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """Share of core labels that were found."""
        return self.found / max(1, self.wanted)

    def add(self, session: Session, heard: Iterable[Candidate]) -> None:
        """Take one more session into account."""
        said = [each for each in heard if not each.source.tool]
        met: set[int] = set()
        for each in said:
            line = int(each.source.lines.partition("-")[0] or -1)
            fits = [n for n, kept in enumerate(session.keep) if about(each.text, line, kept)]
            met.update(fits)
            if fits:
                self.right += 1
                kinds = {session.keep[n].kind for n in fits} - {""}
                self.of_kind += bool(kinds)
                self.kinds += each.kind in kinds
            elif not any(about(each.text, line, kept) for kept in session.doubtful):
                self.wrong += 1
                self.notes.append(f"{session.name}: {each.kind}: {each.text}")
        core = [n for n, kept in enumerate(session.keep) if kept.core]
        self.wanted += len(core)
        self.found += sum(n in met for n in core)
        if not session.keep and not session.doubtful:
            self.empty += 1
            self.noisy += bool(said)

    def __iadd__(self, other: Tally) -> Tally:
        for name in ("right", "wrong", "wanted", "found", "empty", "noisy", "of_kind", "kinds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.notes += other.notes
        return self


def about(text: str, line: int, kept: Keep) -> bool:
    """Whether a memory from a line says what a label does."""
    if line != kept.turn:
        return False
    one, other = sorted((letters(text), letters(kept.text)), key=len)
    return bool(one) and _shared(one, other) >= _PART * len(one)


def _shared(one: str, other: str) -> int:
    """Letters of one text that stand in runs within the other."""
    if one in other:
        return len(one)
    run = min(_RUN, max(4, len(one) // 3))
    covered: set[int] = set()
    for start in range(len(one) - run + 1):
        if one[start : start + run] in other:
            covered.update(range(start, start + run))
    return len(covered)
