"""How an error was solved before: memories that tell of it, and the sessions that met it.

This is what `ltm fix` tells. Errors are compared without what changes each time
(`text.similarity`), wherever they stand: in the output of a command that failed or passed, in a log
that was pasted, in what was said of them. After each that is the same it looks for what was
changed, and which command then passed that had failed.
"""

from __future__ import annotations

from collections.abc import Sequence

from ltm.history.passage import ASSISTANT, TOOL, Passage
from ltm.model import Filter, Stored
from ltm.recall.passages import SessionSearch, leave_out
from ltm.record import NamedTuple
from ltm.store.store import Store
from ltm.text.similarity import SAME_ERROR, bare_error, error_likeness, error_signs
from ltm.text.terms import query_terms

_MEMORIES, _PASSAGES = 50, 100  # compared with the error
_TURNS = 12  # after an error, in which it may have been solved
_CHANGES = 4
_LINES = 8  # of an error text that is asked for


class Case(NamedTuple):
    """An error that a session met, and what became of it."""

    error: Passage
    likeness: float
    command: Passage | None
    """The command that failed."""
    changes: tuple[Passage, ...]
    """What was written to before the command passed."""
    passed: Passage | None
    """The same command, when it no longer failed; None when that was not seen."""
    said: Passage | None
    """What the agent said when it had passed or was changed, or next."""


class ErrorMemory(NamedTuple):
    """A memory that tells of an error."""

    stored: Stored
    likeness: float


class Solved(NamedTuple):
    """What is known about an error."""

    memories: tuple[ErrorMemory, ...]
    cases: tuple[Case, ...]
    """Those that were solved first, then the most alike, then the newest."""
    total: int


def solve(store: Store, said: SessionSearch, error: str, limit: int) -> Solved:
    """How an error was solved: `error` is its message, or the lines that matter of an output."""
    lines = [line for line in error.splitlines() if line.strip()][:_LINES]
    asked = [found for found in map(error_signs, lines) if found]
    if not asked:
        return Solved((), (), 0)
    leave_out(store, said)
    words = " ".join(map(bare_error, lines))
    memories = _memories(store, words, asked)
    cases = _cases(said, words, asked)
    if memories:
        store.used(each.stored.memory.id for each in memories[:limit])
    return Solved(tuple(memories[:limit]), tuple(cases[:limit]), len(memories) + len(cases))


def _memories(store: Store, words: str, asked: Sequence[frozenset[str]]) -> list[ErrorMemory]:
    found: list[ErrorMemory] = []
    for match in store.search(words, Filter(), _MEMORIES).items:
        memory = match.stored.memory
        # A memory quotes an error inside of a sentence, so sentences count as lines.
        text = f"{memory.title}\n{memory.text}\n{memory.reason}".replace(". ", ".\n")
        like = error_likeness(asked, text)
        if like >= SAME_ERROR:
            found.append(ErrorMemory(match.stored, like))
    return sorted(found, key=lambda each: -each.likeness)


def _cases(said: SessionSearch, words: str, asked: Sequence[frozenset[str]]) -> list[Case]:
    if not said.anything():
        return []
    terms = query_terms(words)
    matches = said.passages.find_errors(terms, _PASSAGES).candidates
    # An error also stands in what was said of it, and in logs that were not taken for one.
    rows = dict.fromkeys(
        each.row for each in (*matches, *said.passages.find(terms, _PASSAGES).candidates)
    )
    found: dict[tuple[str, int], Case] = {}
    for passage in said.shown(said.passages.read(rows)):
        texts = (*passage.errors, passage.text.replace(". ", ".\n"))
        like = max(error_likeness(asked, text) for text in texts)
        if like >= SAME_ERROR:
            case = _case(said, passage, like)
            # The same failure met again and again until it was solved is one case.
            key = (passage.session, case.passed.row if case.passed else 0)
            former = found.get(key)
            if former is None or former.error.row > passage.row:
                found[key] = case
    for session in {session for session, passed in found if passed}:
        found.pop((session, 0), None)  # it told of the error before it was solved
    newest = sorted(found.values(), key=lambda each: each.error.at, reverse=True)
    return sorted(newest, key=lambda each: (each.passed is None, -round(each.likeness, 1)))


def _case(said: SessionSearch, error: Passage, like: float) -> Case:
    """What led to an error, and what followed it."""
    near = said.shown(said.passages.around(error.session, error.turn, 1, _TURNS))
    at = next((n for n, each in enumerate(near) if each.row == error.row), len(near))
    before, after = near[:at], near[at + 1 :]
    command = next((each for each in reversed(before) if each.commands), None)
    if error.role != TOOL:
        command = None  # a person told of it; what ran before has nothing to do with it
    passed = _passed(command, after) if command else None
    until = passed.row if passed else after[-1].row if after else 0
    changes = [each for each in after if each.row < until + (not passed) and each.writes]
    told = [each for each in after if each.role == ASSISTANT]
    over = until if passed else changes[-1].row if changes else 0
    last = next((each for each in told if each.row > over), None)
    return Case(
        error, like, command, tuple(changes[:_CHANGES]), passed, last or next(iter(told), None)
    )


def _passed(command: Passage, after: Sequence[Passage]) -> Passage | None:
    """The next run of a command after which no failure stands."""
    for n, each in enumerate(after):
        if not each.commands or _call(each) != _call(command):
            continue
        following = after[n + 1] if n + 1 < len(after) else None
        if following is None or not (following.role == TOOL and following.errors):
            return each
    return None


def _call(passage: Passage) -> tuple[str, ...]:
    """What a command is known by: its last step, the program and what it is to do."""
    step = passage.commands[0].replace("&&", ";").split(";")[-1]
    return tuple(word for word in step.split() if not word.startswith("-"))[:2]
