"""Whether a statement only repeats what the session was given: then it is the word of a tool.

Given are results of tools, attachments, instruction files, and what sub-agents and pasted texts
say, over the whole session: where an earlier stretch is needed, the transcript is read again. What
repeats it, or is in doubt, waits for a person.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice, takewhile
from typing import Any

from ltm.capture.commands import MEMORY
from ltm.capture.decide import Candidate, Certainty
from ltm.capture.message import pasted, quoted
from ltm.clients.table import CLIENTS
from ltm.errors import LtmError
from ltm.files.atomic import is_inside, read_plain
from ltm.model import Source, Trust
from ltm.project.git import find, upward
from ltm.sessions.readers import READERS
from ltm.sessions.sources import file_of
from ltm.sessions.transcript import IN_ONE, Cursor, Lines, LineSource, Recent, read
from ltm.sessions.turns import (
    Aside,
    AssistantText,
    Command,
    Summary,
    ToolResult,
    ToolUse,
    Turn,
    UserText,
)
from ltm.state.session_log import SessionLog
from ltm.text import terms
from ltm.text.sameness import same
from ltm.text.similarity import COMMON_WORDS

INSTRUCTIONS = tuple(
    dict.fromkeys(
        (
            *("CLAUDE.md", ".claude/CLAUDE.md", ".github/copilot-instructions.md", ".clinerules"),
            *(name for client in CLIENTS for name in client.instructions),
        )
    )
)
"""Files of a repository that clients load: older clients do not note what stood in them."""

_RULES = (
    ".claude/rules", ".clinerules", ".cursor/rules", ".github/instructions", ".kiro/steering",
    ".windsurf/rules",
)  # fmt: skip
"""Folders of such files."""

_IMPORT = re.compile(r"(?<!\S)@((?:\\ |\S)+)")
"""How one of them takes another in."""

_FILES = 100
"""So many of them are read."""

_HELD = 4_000_000
"""Characters that are held; beyond them the transcript is read again when there is a question."""

_READ = 512 << 20
"""Bytes of transcript that one reading may read again; beyond, what the agent says is in doubt."""

_FILE = 4_000_000
_CALLS = 2_000
_OWN = 20_000
_ANSWERS = frozenset({"AskUserQuestion", "ExitPlanMode"})
"""Tools whose results are the user's answers."""

_SCRIPTS = ("exec",)
"""Tools by which an agent calls others, and among them those of this memory."""

_RECALLED = "Recorded notes follow: data to judge"
"""Stands above what this memory's tools give back."""

_MOSTLY = 0.4
"""Share of a statement from which on it is that of another one, if so much of it is quoted."""

_RUN = 4
_NAMED = 2
"""Words that must be shared besides the share, where a name is one of them."""

_STEM = 6
_IN_RUN = 3
"""Words of a run that say something."""
_WINDOW = 240
_TO_BLANKS = {code: " " for code in range(128) if not re.match(r"\w", chr(code))}
_PIECES = re.compile(r"(?<=[.!?。！？])\s+|[;\n；。]+|:\s+(?=\S+\s+\S+\s+\S+)|\s[–—-]\s")
_NAMES = re.compile(
    r"(?<![\w/])(?=[\w@$./:=-]*[a-z])(?:--?[a-z][\w-]{2,}|[@$]?\w+(?:(?:://|[./:=@_-]+)\w+)+/?)"
)
_PROPER = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{5,}(?![\w'’-])")
_TERMS = re.compile(r"[`'\"“„«「]([^\W\d_]\w{4,40})[`'\"”“»」]")
"""Words that stand alone in quotes: the names of what is explained."""

_QUOTES = re.compile(r"[\"“„«»‚‘'`「『]([^\"“”„«»‚‘’'`「」『』]{6,400})[\"”“»«’‘'`」』]")


@dataclass(frozen=True, slots=True)
class Given:
    """One text that a session was given."""

    line: int
    text: str
    own: str = ""
    """What the agent itself put into the call that gave it."""
    waiting: bool = False
    """Whether it is a memory that waits for a person."""
    quoted: bool = False
    """Whether the user quoted it: then the agent taught nothing, but a user may quote a rule."""
    recalled: bool = False
    """Whether it came from memory: then the user may say it again, but the agent taught nothing."""


class Evidence:
    """What one session was given, to tell whether a candidate is the word of who says it."""

    def __init__(
        self,
        transcript: str = "",
        *,
        begun: bool = False,
        folder: str = "",
        lines: LineSource = Lines,
        verbatim: bool = False,
    ) -> None:
        """`begun` says that an earlier stretch of the transcript was read before.

        With `verbatim` only what is repeated word for word is not the word of who says it: a person
        may have written it, in a file or at a prompt of the shell.
        """
        self._transcript = transcript
        self._lines = lines
        self.begun = begun
        self.folder = folder
        self._verbatim = verbatim
        self._collected = _Collector()
        self._held = _HeldTexts()
        self._to_read = _READ
        self._cursor: Cursor | None = None
        self._seen = Recent(IN_ONE)

    def note(self, turn: Turn) -> None:
        """Take one more turn into account."""
        for given in self._collected.of(turn):
            self._held.add(given)
        if self._held.size > _HELD and self._transcript:
            self._held, self.begun = _HeldTexts(), True

    def read_on(self) -> None:
        """Take into account what the transcript says that was not read here before."""
        self._to_read = _READ
        if _size(self._transcript) > _READ:
            self.begun = True
            return
        reading = read(self._transcript, self._cursor, self._seen, lines=self._lines)
        for turn in reading:
            self.note(turn)
        self._cursor = reading.cursor

    def judged(
        self, candidates: Iterable[Candidate], *, waiting: Iterable[str] = ()
    ) -> list[Candidate]:
        """The candidates, each with the trust of the one who really said it.

        `waiting` are the texts of memories that are not confirmed yet: a quote of one among
        other words is not enough. The transcript may be read again for it, so one call for many
        candidates costs as much as for one.
        """
        found = list(candidates)
        asked = [
            _Question(each, verbatim=self._verbatim)
            for each in found
            if each.source.trust is not Trust.TOOL
        ]
        self._answer(asked)
        if any(each.verbatim for each in asked):
            _compare(asked, (Given(0, text, waiting=True) for text in waiting))
        given = {id(each.candidate) for each in asked if each.answered or each.is_quotation}
        return [
            replace(each, source=each.source._replace(trust=Trust.TOOL))
            if id(each) in given
            else each
            for each in found
        ]

    def is_copied(self, *texts: str) -> bool:
        """Whether one of some texts stands in what was given, word for word."""
        asked = [_Question(Candidate("", text, 0.0, Source(Trust.USER))) for text in texts if text]
        self._answer(asked)
        return any(each.answered for each in asked)

    def _answer(self, asked: list[_Question]) -> None:
        if asked and self._is_blind():
            for each in asked:
                each.doubt()
        self._held.compare(asked)
        _compare(asked, self._instructions())
        left = [each for each in asked if not each.answered and each.pieces]
        if not left or not self.begun or not self._transcript:
            return
        self._to_read -= _size(self._transcript)
        if self._to_read < 0:
            for each in left:
                each.doubt()
            return
        collected = _Collector()
        turns = read(self._transcript, lines=self._lines)
        _compare(left, (given for turn in turns for given in collected.of(turn)))

    def _is_blind(self) -> bool:
        """Whether the client does not write down what tools gave back."""
        client = self._lines(self._transcript, None).origin.client if self._transcript else ""
        return client in READERS and not READERS[client].shows_results

    def _instructions(self) -> Iterator[Given]:
        """What the files say that clients load in the folder, from the top of its repository."""
        if not self.folder:
            return
        folder = os.path.realpath(self.folder)
        repository = find(folder)
        top = repository.work_tree if repository and repository.work_tree else folder
        places = takewhile(lambda place: is_inside(place, top), upward(folder))
        paths = deque(path for place in places for path in _loaded_in(place))
        seen: set[str] = set()
        read = 0
        while paths and read < _FILES:
            path = paths.popleft()
            if path in seen:
                continue
            seen.add(path)
            try:
                text = read_plain(path, limit=_FILE).decode("utf-8", "replace")
            except (OSError, LtmError):
                continue
            read += 1
            yield Given(0, text)
            for name in islice(_IMPORT.findall(text), _FILES):
                target = os.path.join(os.path.dirname(path), name.replace("\\ ", " "))
                if is_inside(target, top):
                    paths.append(os.path.normpath(target))


def _loaded_in(place: str) -> Iterator[str]:
    """Where the files may be that clients load in a folder."""
    yield from (os.path.join(place, name) for name in INSTRUCTIONS)
    for folder in _RULES:
        for parent, _, names in islice(os.walk(os.path.join(place, folder)), _FILES):
            rules = (name for name in sorted(names) if name.endswith((".md", ".mdc")))
            yield from (os.path.join(parent, name) for name in islice(rules, _FILES))


def evidence_of(log: SessionLog, session: str, *, verbatim: bool = False) -> Evidence:
    """What a session was given from its beginning to its end; of one unknown nothing is known."""
    known = log.get(session) if session else None
    if known is None:
        return Evidence(verbatim=verbatim)
    return Evidence(known.transcript, begun=True, folder=known.cwd, verbatim=verbatim)


class _Collector:
    """Finds what was given in the turns of a session, in their order."""

    def __init__(self) -> None:
        self._calls: dict[str, str] = {}
        self._typed = ""

    def of(self, turn: Turn) -> Iterator[Given]:
        match turn:
            case ToolUse():
                if len(self._calls) >= _CALLS:
                    self._calls.clear()
                self._calls[turn.id] = "" if turn.tool in _ANSWERS else _own(turn.input)
            case ToolResult():
                own = self._calls.pop(turn.id, "")
                if turn.tool not in _ANSWERS and turn.text:
                    recalled = turn.tool.startswith(MEMORY) or (
                        turn.tool in _SCRIPTS and _RECALLED in turn.text
                    )
                    yield Given(turn.line, turn.text, own, recalled=recalled)
            case UserText():
                text = pasted(turn.text)
                if text:
                    yield Given(turn.line, text)
                yield from (Given(turn.line, each, quoted=True) for each in quoted(turn.text)[0])
            case Aside(what="shell" | "error"):
                return
            case Command():
                self._typed = turn.arguments.lower()
            case Aside() | Summary():
                # The body of a command repeats what the user typed after its name.
                text = turn.text.lower()
                text = text.replace(self._typed, " ") if self._typed else text
                yield Given(turn.line, text, recalled="[LTM:" in turn.text)
            case AssistantText(sidechain=True):
                yield Given(turn.line, turn.text)


def _size(path: str) -> int:
    try:
        return os.path.getsize(file_of(path))
    except OSError:
        return 0


def _own(given: Mapping[str, Any]) -> str:
    """The texts the agent put into a call."""
    texts = (value for value in given.values() if isinstance(value, str))
    return "\n".join(texts)[:_OWN]


@dataclass(slots=True)
class _Question:
    """A candidate, and whether it was found in what was given."""

    candidate: Candidate
    answered: bool = False
    verbatim: bool = False
    """Whether only the very words count, as for whatever the user says."""
    pieces: list[_Piece] = field(default_factory=list)
    stems: frozenset[str] = frozenset()
    """Those of all its pieces."""
    least: int = 1
    """Of these, as many are in every text that may answer it."""
    _line: int = 0

    def __post_init__(self) -> None:
        candidate = self.candidate
        by_user = candidate.source.trust is Trust.USER
        self.verbatim = self.verbatim or by_user
        last = candidate.source.lines.rpartition("-")[2]
        self._line = int(last) if last.isdecimal() else 0
        texts = [candidate.text, candidate.title, candidate.reason]
        if candidate.observed:  # then its title is made of the same
            claims = candidate.text.replace(candidate.observed, "").replace(candidate.done, "")
            texts = [claims, candidate.reason]
        parts = dict.fromkeys(
            part for text in texts for part in (text, *_PIECES.split(text)) if part.strip()
        )
        measure = _LAST_WORDS if candidate.fleeting else _CLAIM
        self.pieces = [_Piece(part, _PROMPT if self.verbatim else measure) for part in parts]
        if by_user:
            quotes = (quote for text in texts for quote in _QUOTES.findall(text))
            self.pieces += [_Piece(quote, _QUOTATION) for quote in quotes]
        if candidate.done:
            self.pieces.append(_Piece(candidate.done, _ACT))
        # A few words tell nothing, but may stand in the pasted part of their own message.
        every = self.pieces if by_user else []
        self.pieces = [piece for piece in self.pieces if piece.is_telling]
        self.stems = frozenset().union(*(piece.stems for piece in self.pieces or every))
        self.least = min((piece.least for piece in self.pieces), default=1)

    def look(self, given: Given, there: Collection[str]) -> None:
        """Look for the candidate in a text that was given before it was said.

        `there` are the stems that words of the text begin with, of those that are asked about.
        """
        if self.answered:
            return
        late = self._line and given.line > self._line
        if late or (self.verbatim and (given.recalled or given.quoted)):
            return
        if given.waiting and (not self.verbatim or self._states(given.text)):
            return
        self.answered = any(piece.is_given(given, there) for piece in self.pieces) or (
            # What stands in the pasted part of its own message, however short it is.
            self.verbatim and given.line == self._line > 0 and self._is_part_of(given.text)
        )

    @property
    def is_quotation(self) -> bool:
        """Whether the user did not ask for it, and mostly quotes."""
        said = self.candidate
        by_user, likely = said.source.trust is Trust.USER, said.tier is Certainty.LIKELY
        return by_user and likely and quoted(said.text)[1] >= _MOSTLY

    def doubt(self) -> None:
        """Mark it as unchecked: what the agent says waits, what the user says stands."""
        self.answered = not self.verbatim

    def _is_part_of(self, text: str) -> bool:
        """Whether a text has these very words."""
        return f" {' '.join(_words(self.candidate.text.lower()))} " in _spaced_words(text)

    def _states(self, text: str) -> bool:
        """Whether a message says just this, and nothing about it."""
        return self.candidate.alone and same(self.candidate.text, text)


@dataclass(frozen=True, slots=True)
class _Measure:
    """How much of a text must stand in what was given to be a repetition of it."""

    fewest: int
    """Words that say something, below which nothing can be told; `exact` counts every word."""
    share: float
    named: float
    """The share where both have a name in common: a host, a flag, a path, a package."""
    exact: bool = False
    """Whether runs of words are counted, and not words that stand close together."""


_CLAIM = _Measure(3, 0.6, 0.3)
_LAST_WORDS = _Measure(2, 0.3, 0.0)
_PROMPT = _Measure(6, 0.6, 0.45, exact=True)
_QUOTATION = _Measure(2, 0.6, 0.45, exact=True)
_ACT = _Measure(4, 0.6, 2.0, exact=True)


class _Piece:
    """A sentence, an item or a quotation of a candidate."""

    def __init__(self, text: str, measure: _Measure) -> None:
        lowered = text.lower()
        self._measure = measure
        self.words = _words(lowered)
        self.stems = frozenset(word[:_STEM] for word in self.words if _says_something(word))
        self._names = frozenset(_NAMES.findall(terms.spaced(lowered))) | frozenset(
            name.lower() for name in _PROPER.findall(text)
        )
        self._runs = [] if measure.exact else _telling_runs(self.words)
        self._window = max(_WINDOW, 2 * len(lowered))
        self._pattern: re.Pattern[str] | None = None
        self.least = max(1, math.ceil(min(measure.share, measure.named) * len(self.stems)))
        """Stems of it that are in every text it may stand in."""
        if self._runs:
            self.least = min(self.least, _IN_RUN)

    @property
    def is_telling(self) -> bool:
        """Whether there is enough to tell a repetition from chance."""
        fewest = self._measure.fewest
        if self._measure.exact:
            return len(self.words) >= fewest
        return len(self.stems) >= (min(fewest, _NAMED) if self._names else fewest)

    def is_given(self, given: Given, there: Collection[str]) -> bool:
        """Whether a text gave it, and the agent did not put it into the call for that text."""
        present = self.stems.intersection(there)
        if len(present) < self.least or not self._stands_in(given.text, present):
            return False
        return not (
            given.own and self._is_in(given.own, _stems_in(given.own, *_by_script(self.stems)))
        )

    def _stands_in(self, text: str, present: Collection[str]) -> bool:
        """Whether it repeats a text, or enough of it where both have a name in common.

        `present` are its stems that words of the text begin with.
        """
        if self._is_in(text, present):
            return True
        if len(present) < self._measure.named * len(self.stems):
            return False
        named = any(name in text for name in self._names) or any(
            term in self.words for term in _TERMS.findall(text)
        )
        return named and self._is_close(text, self._measure.named, _NAMED)

    def _is_in(self, text: str, present: Collection[str]) -> bool:
        """Whether it stands in a text: in the very words, or most of it close together."""
        most = len(present) >= self._measure.share * len(self.stems)
        if self._measure.exact:
            return most and self._is_quoted(text)
        close = most and self._is_close(text, self._measure.share, self._measure.fewest)
        return close or any(self._has_run(text, run) for run in self._runs)

    def _is_close(self, text: str, share: float, fewest: int) -> bool:
        """Whether so much of the words, and so many, stand within one window of the text."""
        enough = max(fewest, math.ceil(share * len(self.stems))) if share else 1
        last: dict[str, int] = {}
        if self._pattern is None:
            self._pattern = _any_of(self.stems)
        for found in self._pattern.finditer(text):
            last[found[found.lastindex or 0]] = found.start()
            since = found.start() - self._window
            if len(last) >= enough and sum(at >= since for at in last.values()) >= enough:
                return True
        return False

    def _is_quoted(self, text: str) -> bool:
        """Whether most runs of its words stand in the text."""
        words = self.words
        length = min(_RUN, len(words))
        runs = {f" {' '.join(words[at : at + length])} " for at in range(len(words) - length + 1)}
        there = _spaced_words(text)
        return sum(run in there for run in runs) >= self._measure.share * len(runs)

    def _has_run(self, text: str, run: tuple[str, ...]) -> bool:
        if not all(word in text for word in run):
            return False
        return re.search(r"\W+".join(map(re.escape, run)), text) is not None


def _telling_runs(words: list[str]) -> list[tuple[str, ...]]:
    """Three words in a row that all say something, or four of which three do."""
    telling = [_says_something(word) and not terms.unspaced().match(word) for word in words]
    found = []
    for at in range(len(words)):
        for length in (3, 4):
            if at + length <= len(words) and sum(telling[at : at + length]) >= _IN_RUN:
                found.append(tuple(words[at : at + length]))
                break
    return found


def _words(text: str) -> list[str]:
    """The words of a text in small letters; of scripts without spaces, pairs of characters."""
    if text.isascii():
        return text.translate(_TO_BLANKS).split()
    found: list[str] = []
    for word in terms.words(terms.spaced(text)):
        found += terms.pairs(word) if terms.unspaced().match(word) else [word]
    return found


@lru_cache(maxsize=1)
def _spaced_words(text: str) -> str:
    """The words of a text with a blank around each; many pieces ask for those of one text."""
    return f" {' '.join(_words(text))} "


def _says_something(word: str) -> bool:
    long = len(word) > 3 or any(char.isdigit() for char in word) or not word.isascii()
    return long and len(word) > 1 and word not in COMMON_WORDS


def _compare(asked: Sequence[_Question], given: Iterable[Given]) -> None:
    """Look for all that is asked about in each text."""
    plain, others = _by_script(frozenset().union(*(each.stems for each in asked)))
    askers: dict[str, list[int]] = {}
    for place, question in enumerate(asked):
        for stem in question.stems:
            askers.setdefault(stem, []).append(place)
    for each in given:
        text = replace(each, text=each.text.lower(), own=each.own.lower())
        there = _stems_in(text.text, plain, others)
        shared = Counter(place for stem in there for place in askers[stem])
        for place, count in shared.items():
            if count >= asked[place].least:  # as in hardly any text
                asked[place].look(text, there)


class _HeldTexts:
    """Texts that were given. Asked more than once, they know in which of them each stem is."""

    def __init__(self) -> None:
        self.size = 0
        self._given: list[Given] = []
        self._places: dict[str, list[int]] = {}
        self._indexed = 0
        self._is_asked_again = False

    def add(self, given: Given) -> None:
        """Hold one more."""
        self._given.append(replace(given, text=given.text.lower(), own=given.own.lower()))
        self.size += len(given.text) + len(given.own)

    def compare(self, asked: Sequence[_Question]) -> None:
        """Look for all that is asked about in each text that may hold it."""
        stems = frozenset().union(*(each.stems for each in asked))
        if not stems:
            return
        if not (self._is_asked_again and all(map(str.isascii, stems))):
            self._is_asked_again = True
            _compare(asked, self._given)
            return
        for place in range(self._indexed, len(self._given)):
            for stem in _ascii_stems(self._given[place].text):
                self._places.setdefault(stem, []).append(place)
            self._indexed = place + 1
        for question in asked:
            there: dict[int, set[str]] = {}
            for stem in question.stems:
                for place in self._places.get(stem, ()):
                    there.setdefault(place, set()).add(stem)
            for place, found in there.items():
                if len(found) >= question.least:
                    question.look(self._given[place], found)


def _by_script(stems: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Stems in ASCII, and the others."""
    plain = frozenset(filter(str.isascii, stems))
    return plain, stems - plain


def _stems_in(text: str, plain: frozenset[str], others: frozenset[str]) -> set[str]:
    """Those of some stems that words of a text begin with; beyond ASCII, that are in it at all."""
    return {*plain.intersection(_ascii_stems(text)), *(stem for stem in others if stem in text)}


def _ascii_stems(text: str) -> set[str]:
    """What words of a text begin with."""
    blanked = text.encode("ascii", "replace").decode("ascii").translate(_TO_BLANKS)
    return {word[:_STEM] for word in set(blanked.split())}


def _any_of(stems: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds these at the beginning of words, of scripts without spaces anywhere."""
    longest = sorted(stems, key=len, reverse=True)
    spaced = "|".join(re.escape(stem) for stem in longest if not terms.unspaced().match(stem))
    pairs = "|".join(re.escape(stem) for stem in longest if terms.unspaced().match(stem))
    parts = (rf"\b({spaced})" if spaced else "", f"(?=({pairs}))" if pairs else "")
    return re.compile("|".join(filter(None, parts)))
