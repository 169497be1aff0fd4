"""What a session was about, in an outline: what was asked, where it stands, what it taught.

Besides its single lessons, these of a session are worth keeping: the goal, the last words, the
plan, files, commits, and commands that still fail. What it taught is what the rules extract.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, islice

from ltm.capture.commands import EDITORS
from ltm.capture.decide import Candidate, Certainty
from ltm.capture.extract import Listener
from ltm.capture.message import opening, said, told
from ltm.capture.provenance import Evidence
from ltm.capture.statements import is_complete, is_reported
from ltm.history.ingest import Unpurged
from ltm.kinds import Kinds
from ltm.model import Source, Trust
from ltm.redact.redact import redacted
from ltm.sessions.transcript import Lines, LineSource, origin, read
from ltm.sessions.turns import AssistantText, Command, Commit, ToolResult, ToolUse, Turn, UserText
from ltm.state.session_log import SessionLog
from ltm.text.display import one_line
from ltm.text.sentences import is_filler, letters, shortened

_LOOKED_AT = 20_000
_LINE, _STATE, _PLAN = 300, 700, 3_000
_STATES = 3
_ASKED, _FILES, _COMMITS, _FAILING = 8, 20, 10, 5
_REQUEST = 120
_LATEST = 2
"""Messages of the user one of which is the last request."""
_BACK_QUESTION = 5  # words
_FEWEST = 3  # words from which a message asks for something
_PLACE = re.compile(r"\A(?:cd \S+ (?:&&|;) )+")
_MARKUP = re.compile(r"\*\*|__")
_BRANCH = re.compile(rb'"gitBranch":\s?"([^"\\]+)"')
_END = 40  # lines at the end of a transcript that are looked at for the branch
_QUOTED = re.compile(r"[\"“„«»‚‘'`「『]([^\"“”„«»‚‘’'`「」『』]{3,400})[\"”“»«’‘'`」』]")
_FOREIGN = re.compile(
    r"[\"“”„«»「」『』<>]|(?<!\w)['‘].{3,}['’](?!\w)|[:：]\s*\S+\s+\S+\s+\S|//|\[\w+ \d"
)
"""What a quotation, a pasted line or an address has in it."""
_FORGETS = re.compile(
    r"\b(?:forget|ignore|disregard|vergiss|vergesst|ignorier|oublie|olvid|ignora|esque[cç]|dimentic"
    r"|vergeet|negeer|zapomni|zignoruj|zapome|забудь|игнорируй|ігноруй|unut|yok say|görmezden|glöm"
    r"|glem|unohda|felejts|uit[aă]|ξέχνα|quên|lupakan|تجاهل|انس)|忘|無視|忽略|잊|무시|भूल",
    re.IGNORECASE,
)
"""What asks to forget names what is not to be told."""
_ADDRESS = re.compile("://")
_COMMIT = re.compile(r"\A[\da-f]+ (?:\w+(?:\([\w./-]+\))?!?: )?")
"""What stands before the words of a commit: its hash, which no call has, and its type."""
_LONG_WORD = re.compile(r"[^\W\d_]{5,}")
_FILE_KEYS = ("file_path", "path", "notebook_path")


@dataclass(frozen=True, slots=True)
class Outline:
    """A session in a few lines. All texts are redacted, one line each except the plan."""

    session: str
    started: str = ""
    """When its first turn was, as the transcript says; '' when it has none."""
    last: str = ""
    turns: int = 0
    lines: str = ""
    asked: tuple[str, ...] = ()
    """What the user asked for: the first is the goal, the others the latest."""
    state: str = ""
    """The agent's last words."""
    done: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    """What is to be done next."""
    failing: tuple[str, ...] = ()
    """Commands that failed and did not pass since."""
    plan: str = ""
    files: tuple[str, ...] = ()
    """Files that were changed, the latest last."""
    commits: tuple[str, ...] = ()
    branch: str = ""
    """The git branch at its end, as the transcript says."""
    stopped: tuple[str, ...] = ()
    """Where it stopped, for the next session: the user's words and the work's own facts."""
    found: tuple[Candidate, ...] = field(default=())
    """What it taught, without where the work stands."""


class Outliner:
    """Follows a session from its first turn; `outline` gives what is known so far."""

    def __init__(
        self,
        session: str,
        kinds: Kinds,
        cwd: str = "",
        transcript: str = "",
        lines: LineSource = Lines,
    ) -> None:
        self._session = session
        self._kinds = kinds
        self._cwd = cwd
        self._evidence = Evidence(transcript, folder=cwd, lines=lines)
        self._listener = Listener(session, kinds, evidence=self._evidence)
        self._found: list[Candidate] = []
        self._asked: list[tuple[int, Sequence[str]]] = []
        # The lines of requests that were answered with words, and of those that were worked on.
        self._answered: set[int] = set()
        self._worked: set[int] = set()
        self._states: list[Sequence[str]] = []
        self._complete = False
        self._plan = ""
        self._files: dict[str, None] = {}
        self._commits: list[str] = []
        self._running: dict[str, str] = {}
        self._failing: dict[str, str] = {}
        self._first = self._last = ""
        self._lines = [0, 0]
        self._turns = 0

    def hear(self, turns: Sequence[Turn]) -> None:
        """Take more turns into account."""
        self._listener.hear(turns)
        self._found += self._listener.candidates(at_end=False)
        for turn in turns:
            if turn.sidechain:
                continue
            self._turns += 1
            self._first = self._first or turn.at
            self._last = turn.at or self._last
            self._lines = [self._lines[0] or turn.line, turn.line]
            self._note(turn)

    def outline(self) -> Outline:
        """What the session was about so far."""
        found = [*self._found, *self._listener.candidates(at_end=True)]
        taught, asked, given = self._judged(found)
        latest = {each.kind: each for each in taught if self._kinds[each.kind].single}
        # A task list not ticked off says less than the agent's word that all is done.
        done, steps = ((), ()) if self._complete else _steps(each.text for each in latest.values())
        states = (
            " ".join(each for each in sentences if each not in given)
            for sentences in reversed(self._states)
        )
        state = next(filter(None, (one_line(_MARKUP.sub("", each)) for each in states)), "")
        return Outline(
            session=self._session,
            started=self._first,
            last=self._last,
            turns=self._turns,
            lines=f"{self._lines[0]}-{self._lines[1]}" if self._turns else "",
            asked=tuple(filter(None, map(_in_a_line, asked))),
            state=shortened(state, _STATE),
            done=done,
            steps=steps,
            failing=tuple(
                f"`{command}`: {error}" if error else f"`{command}`"
                for command, error in self._still_failing()
            ),
            plan=self._plan,
            files=tuple(self._files)[-_FILES:],
            commits=tuple(self._commits[-_COMMITS:]),
            stopped=tuple(self._stopped(steps, found, asked, given)),
            found=tuple(each for each in taught if not self._kinds[each.kind].single),
        )

    def _judged(
        self, found: Sequence[Candidate]
    ) -> tuple[list[Candidate], list[list[str]], frozenset[str]]:
        """What the session taught, what the user asked for in own words, and the texts that only
        repeat what the session was given; asked about at once, since a transcript may be long."""
        sure = [each for each in found if each.tier is Certainty.SURE]
        asked = [
            [
                Candidate("", each, 0.0, Source(Trust.USER, self._session, str(line)))
                for each in sentences
            ]
            for line, sentences in self._asked
        ]
        texts = [
            *(each for sentences in self._states for each in sentences),
            *(sentences[0] for _, sentences in self._asked),
            *(command for command, _ in self._still_failing()),
            *(_COMMIT.sub("", each) for each in self._commits[-_COMMITS:]),
            *_steps(each.text for each in sure if self._kinds[each.kind].single)[1],
        ]
        agents = [
            Candidate("", each, 0.0, Source(Trust.ASSISTANT), fleeting=True) for each in texts
        ]
        judged = iter(self._evidence.judged([*sure, *chain(*asked), *agents]))
        taught = [each for each in islice(judged, len(sure)) if each.source.trust is not Trust.TOOL]
        own = [
            [each.text for each in islice(judged, len(row)) if each.source.trust is Trust.USER]
            for row in asked
        ]
        return taught, own, frozenset(e.text for e in judged if e.source.trust is Trust.TOOL)

    def _still_failing(self) -> list[tuple[str, str]]:
        return list(self._failing.items())[-_FAILING:]

    def _stopped(
        self,
        steps: Sequence[str],
        found: Sequence[Candidate],
        asked: Sequence[Sequence[str]],
        given: Collection[str],
    ) -> Iterator[str]:
        """Where the session stopped, without what anything else than the user may have put in.

        The agent's last words are left out, however true they look: they may repeat a page in other
        words. So is a request that taught something, asks to forget, reports or quotes, what names
        something quoted, and all but the first sentence of a request: what follows may be a mail. A
        few words that ask back ("who is Serra?") say nothing by themselves, and often name what was
        read. Nor is what was answered with words alone work that goes on.
        """
        quoted = {
            word
            for _, sentences in self._asked
            for each in sentences
            for part in _QUOTED.findall(each)
            for word in _LONG_WORD.findall(part.lower())
        }

        def is_own(text: str, foreign: re.Pattern[str] = _FOREIGN) -> bool:
            words = set(_LONG_WORD.findall(text.lower()))
            return not (foreign.search(text) or words & quoted or text in given)

        taught = [letters(each.text) for each in found]
        talk = self._answered - self._worked
        requests = [
            (place, _in_a_line(sentences[:1]))
            for place, ((line, sentences), own) in enumerate(zip(self._asked, asked, strict=True))
            if len(sentences[0]) <= _REQUEST
            and not (_FORGETS.search(sentences[0]) or is_reported(sentences[0]))
            and not (place and (_is_back_question(sentences[0]) or line in talk))
            and not sentences[0].endswith((":", "："))
            and is_own(sentences[0])
            and own[:1] == list(sentences[:1])
            and not any(each in letters(sentences[0]) for each in taught if each)
        ]
        # What was asked long before the end is not where the session stopped.
        latest = [each for each in requests[1:] if each[0] >= len(self._asked) - _LATEST][-1:]
        for label, (_, text) in zip(
            ("Asked", "Last asked"), (*requests[:1], *latest), strict=False
        ):
            yield f"{label}: {text}"
        failing = [f"`{each}`" for each, _ in self._still_failing() if is_own(each, _ADDRESS)]
        commits = [each for each in self._commits[-_COMMITS:] if is_own(_COMMIT.sub("", each))]
        following = [each for each in steps if is_own(each)]
        for label, each in (("Still failing", failing), ("Commits", commits), ("Next", following)):
            if each:
                yield f"{label}: {'; '.join(each)}."

    def _note(self, turn: Turn) -> None:
        match turn:
            case UserText(text=text):
                self._ask(turn.line, _opening_of(text, _FEWEST if self._asked else 2))
            case Command(name=name, arguments=words) if words and "ltm" not in name:
                self._ask(turn.line, [redacted(f"{name} {words[:_LOOKED_AT]}")])
            case AssistantText(broken_off=False, text=text):
                last = [each.text for each in told(redacted(opening(text, _LOOKED_AT)))][:6]
                self._states = [*self._states, last][-_STATES:]
                self._complete = is_complete(text)
                self._answered.update(line for line, _ in self._asked[-1:])
            case ToolUse():
                self._worked.update(line for line, _ in self._asked[-1:])
                self._note_call(turn)
            case ToolResult(refused=False):
                command = self._running.pop(turn.id, "")
                if command and turn.failed:
                    self._failing[command] = _error_in(turn.text)
                elif command:
                    passed = _program(command)
                    failing = self._failing.items()
                    self._failing = {each: e for each, e in failing if _program(each) != passed}
            case Commit(own=True):
                self._commits.append(redacted(one_line(f"{turn.hash[:8]} {turn.subject}"))[:_LINE])

    def _ask(self, line: int, asked: Sequence[str]) -> None:
        """Keep the first thing that was asked, and the latest few."""
        if asked:
            self._asked = [*self._asked[:1], *self._asked[1:][-_ASKED + 2 :], (line, asked)]

    def _note_call(self, turn: ToolUse) -> None:
        plan, command = turn.input.get("plan"), turn.input.get("command")
        if isinstance(plan, str) and plan.strip():
            self._plan = shortened(redacted(opening(plan, _LOOKED_AT)).strip(), _PLAN)
        if isinstance(command, str):
            self._running[turn.id] = shortened(redacted(one_line(command[:_LOOKED_AT])), 120)
        if turn.tool in EDITORS:
            path = next((str(turn.input[key]) for key in _FILE_KEYS if turn.input.get(key)), "")
            if self._cwd and path.startswith(self._cwd.rstrip(os.sep) + os.sep):
                path = os.path.relpath(path, self._cwd)
            if path:
                name = redacted(one_line(path))[:_LINE]
                self._files.pop(name, None)
                self._files[name] = None


def _is_back_question(text: str) -> bool:
    ends = text.endswith(("?", "？", "؟"))
    return ends and len(text) <= 40 and len(text.split()) <= _BACK_QUESTION


def outline_of(
    messages: Iterable[Sequence[Turn]],
    session: str,
    kinds: Kinds,
    cwd: str = "",
    transcript: str = "",
    lines: LineSource = Lines,
) -> Outline:
    """The outline of a session from the turns of its messages; `transcript` is their file."""
    outliner = Outliner(session, kinds, cwd, transcript, lines)
    for turns in messages:
        outliner.hear(turns)
    return outliner.outline()


def outline_in(
    path: str, session: str, kinds: Kinds, log: SessionLog, *, lines: LineSource = Lines
) -> Outline:
    """The outline of a session from its transcript, without what was purged since."""
    reading = read(path, seen=Unpurged(log, datetime.now(UTC)), lines=lines)
    began = origin(path, lines)
    outline = outline_of(reading.messages(), session, kinds, began.cwd, path, lines)
    return replace(outline, branch=_branch_at_end(path, lines) or began.branch)


def _branch_at_end(path: str, lines: LineSource) -> str:
    """The branch that the last lines of a transcript name; '' if they name none."""
    found = [each for line in deque(lines(path, None), _END) for each in _BRANCH.findall(line)]
    name = found[-1].decode("utf-8", "replace") if found else ""
    return redacted(one_line(name))[:_LINE] if name != "HEAD" else ""


def _opening_of(text: str, fewest: int) -> list[str]:
    """What a message asks for: the first sentences its writer wrote; none for a mere yes.

    Thanks and agreement in front are left out as long as the line goes on with what is asked.
    """
    text = redacted(opening(text, _LOOKED_AT))
    spoken = [each.text for each in said(text)]
    line = text.strip().partition("\n")[0]
    while len(spoken) > 1 and is_filler(spoken[0]) and spoken[1] in line:
        del spoken[0]
    asks = sum(len(each.split()) for each in spoken) >= fewest
    return spoken[:3] if asks and not is_filler(spoken[0]) else []


def _in_a_line(sentences: Sequence[str]) -> str:
    return shortened(one_line(" ".join(sentences)), _LINE)


def _program(command: str) -> str:
    """What a command runs, without where and with which options: `git push`, `npm test`."""
    return " ".join(_PLACE.sub("", command).split()[:2])


def _error_in(text: str) -> str:
    lines = [line for line in redacted(text[:_LOOKED_AT]).split("\n") if line.strip()]
    telling = (line for line in lines if "error" in line.lower() or "fail" in line.lower())
    return shortened(one_line(next(telling, lines[-1] if lines else "")), 160)


def _steps(texts: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is done and what is next, from the words that say where the work stands."""
    done: list[str] = []
    steps: list[str] = []
    for text in texts:
        before, mark, after = text.partition("Next: ")
        if before.startswith("Done: "):
            done += before.removeprefix("Done: ").rstrip(". ").split("; ")
        steps += after.rstrip(". ").split("; ") if mark else [text]
    return tuple(filter(None, done)), tuple(filter(None, steps))
