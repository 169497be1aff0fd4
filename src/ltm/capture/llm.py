"""A session read by a model: part by part, each kept before the next is asked about.

Owns the model's own place in a transcript, apart from that of the rules, and what happens when it
cannot be asked or answers nonsense: its place stays, the failure is noted, and after too many a
part that no answer fits is set aside, visibly, so that the rest goes on. The prompt is made before
a call and every decision after it, against the memories as they are then. Imports core, the store's
port, the logs, `sessions`, `llm` and this package.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ltm.capture.candidate import Candidate
from ltm.capture.contract import ask_about, candidates_in
from ltm.capture.decide import Choice, decide_warily
from ltm.capture.evidence import Evidence
from ltm.capture.pipeline import Captured, Choose, Unread, keep
from ltm.core.decision import Supersede
from ltm.core.errors import BadAnswer, CapReached, ModelFailed
from ltm.core.kinds import Kinds
from ltm.core.model import Filter, Memory, Stored
from ltm.core.redact import redacted
from ltm.llm.form import array_in
from ltm.llm.model import Model
from ltm.sessions.digest import CHUNK, OVERLAP, Chunk, DigestLine, chunks, digest
from ltm.sessions.lines import cursor_of
from ltm.sessions.transcript import TranscriptReader, read
from ltm.sessions.turns import AssistantText, Commit, ToolResult, ToolUse, Turn, UserText
from ltm.storage.modellog import ModelLog, Unheard
from ltm.storage.sessionlog import Session, SessionLog
from ltm.storage.store import Store

READER = "model"

LEAST = 200
"""Characters below which there is nothing to ask about; they wait until there are more."""

NONSENSE = 3
"""Failures after which a part that gets no usable answer is set aside."""

_FULL = CHUNK - OVERLAP
_SANITY = "Answer with an empty JSON array, [], and nothing else."
_SPEAKERS = ("USER: ", "CLAUDE: ")
_KNOWN = 12
_READ = 20_000
_TOLD = ("file_path", "path", "notebook_path", "command")
"""What of a tool's input may be told."""

_REWRITTEN = 5
"""Of so many memories a run may replace one, and one at least."""


class Replaceable:
    """How many memories of each project a run of readings may still replace."""

    def __init__(self) -> None:
        self._left: dict[str, int] = {}

    def left(self, project: str, memories: int) -> int:
        """How many, of a project that had so many memories when the run came to it."""
        return self._left.setdefault(project, max(1, memories // _REWRITTEN))

    def take(self, project: str) -> None:
        """One was replaced."""
        self._left[project] -= 1


@dataclass(frozen=True, slots=True)
class _Part:
    """What is asked about before the place in the transcript moves on."""

    chunks: tuple[Chunk, ...]
    at: str
    before: str
    """The place where it begins, as a text."""

    @property
    def lines(self) -> str:
        return f"{self.chunks[0].first}-{self.chunks[-1].last}"


def hear(
    store: Store,
    log: SessionLog,
    models: ModelLog,
    model: Model,
    session: Session,
    *,
    now: datetime,
    again: bool = False,
    replaceable: Replaceable | None = None,
) -> Captured:
    """Keep what a model finds in a session since it last read there.

    Never raises for a model: `llm_error` says why not everything was read. With `again`, parts that
    were set aside are asked about once more. `replaceable` is shared by the readings of one run.
    """
    done, before = Captured(), model.calls
    hearing = _Hearing(store, model, session, now, done, replaceable or Replaceable())
    try:
        _hear_on(hearing, log, models, session, now)
        if again:
            _hear_aside(hearing, models, session)
    except ModelFailed as error:
        done.llm_error = str(error)
    finally:
        done.llm_calls = model.calls - before
    return done


def _hear_on(
    hearing: _Hearing, log: SessionLog, models: ModelLog, session: Session, now: datetime
) -> None:
    path = session.transcript
    models.note_unheard(session.id)
    unread = Unread(log, now, READER)
    reading = read(path, cursor_of(log.cursor(session.id, READER, path)), unread)
    for part in _parts(reading):
        try:
            hearing.keep(part)
        except CapReached:
            raise  # not a failure: it goes on when there is a new allowance
        except BadAnswer as error:
            note = _noted(models, session.id)
            tries = models.note_failure(note, now, str(error), all_wait=False)
            if tries < NONSENSE or not hearing.is_sane():
                raise
            aside = Unheard(session.id, part.before, part.lines)
            models.set_aside(aside, str(error))
        except ModelFailed as error:
            models.note_failure(_noted(models, session.id), now, str(error), all_wait=True)
            raise
        with log.transaction():
            unread.mark()
            log.keep_cursor(session.id, READER, path, reading.cursor.text())
        models.note_progress(session.id)
    models.forget_unheard(Unheard(session.id))


def _hear_aside(hearing: _Hearing, models: ModelLog, session: Session) -> None:
    for note in models.unheard():
        if note.session != session.id or not note.cursor:
            continue
        last = int(note.lines.rpartition("-")[2] or 0)
        for part in _parts(read(session.transcript, cursor_of(note.cursor)), last):
            hearing.keep(part)
        models.forget_unheard(note)


def _noted(models: ModelLog, session: str) -> Unheard:
    notes = (note for note in models.unheard() if note.session == session and not note.cursor)
    return next(notes, Unheard(session))


class _Hearing:
    """One reading of a session: what it asks and keeps, and how much it may replace."""

    def __init__(
        self,
        store: Store,
        model: Model,
        session: Session,
        now: datetime,
        done: Captured,
        replaceable: Replaceable,
    ) -> None:
        self._store = store
        self._model = model
        self._session = session
        self._now = now
        self._done = done
        self._replaceable = replaceable
        self._memories = store.list(Filter(), 1).total
        self._evidence = Evidence(session.transcript, begun=True, folder=session.cwd)
        self._shown: dict[str, str] = {}
        """What the memories said that the model saw, by id."""

    def keep(self, part: _Part) -> None:
        """Ask about a part and keep what comes of it."""
        for chunk in part.chunks:
            found, wrong = self._answered(chunk, part.at)
            self._done.skipped += wrong
            keep(
                self._store,
                found,
                self._done,
                evidence=self._evidence,
                now=self._now,
                difficulty=self._session.difficulty,
                choose=self._choice(),
            )

    def is_sane(self) -> bool:
        """Whether the model does as it is told at all: what it cannot answer may not be its fault.

        One that is out of quota says so in prose, whatever it is asked.
        """
        try:
            return array_in(self._model.ask(_SANITY, "Go on.", most=50)) == []
        except BadAnswer:
            return False

    def _answered(self, chunk: Chunk, at: str) -> tuple[list[Candidate], int]:
        kinds = self._store.kinds
        known = self._known(chunk)
        self._shown = {each.id: each.text for each in known}
        asked = ask_about(chunk, known, kinds)
        for last in (False, True):
            answer = self._model.ask(asked.system, asked.prompt)
            try:
                return candidates_in(answer, chunk, kinds, self._session.id, at)
            except BadAnswer:
                if last:
                    raise
        raise AssertionError  # the loop returned or raised

    def _known(self, chunk: Chunk) -> list[Memory]:
        """The memories the part may be about: what is near the user's words, then the agent's."""
        found: dict[str, Memory] = {}
        for speaker in _SPEAKERS:
            words = [line for line in chunk.text.split("\n") if line.startswith(speaker)]
            question = " ".join(line.removeprefix(speaker) for line in words)
            for each in self._store.search(question, Filter(), _KNOWN).items:
                found[each.stored.memory.id] = each.stored.memory
        return list(found.values())

    def _choice(self) -> Choose:
        project = self._session.project

        def choose(
            memory: Memory, peers: Sequence[Stored], kinds: Kinds, said: Candidate
        ) -> Choice | None:
            left = self._replaceable.left(project, self._memories)
            choice = decide_warily(memory, peers, replaces=said.replaces if left > 0 else "")
            decision = choice.decision if choice else None
            if isinstance(decision, Supersede) and not self._saw(decision.ids, peers):
                # It was changed while the model thought: that stands.
                choice = decide_warily(memory, peers)
                decision = choice.decision if choice else None
            if isinstance(decision, Supersede):
                self._replaceable.take(project)
            return choice

        return choose

    def _saw(self, ids: Collection[str], peers: Iterable[Stored]) -> bool:
        """Whether the model was shown these memories, and they still say what it was shown."""
        texts = {each.memory.id: each.memory.text for each in peers}
        return all(self._shown.get(each) == texts[each] for each in ids)


def _parts(reading: TranscriptReader, last: int = 0) -> Iterator[_Part]:
    """A transcript in parts that fit a question; when one is handed out, `cursor` is behind it.

    With `last`, up to that line.
    """
    held: list[DigestLine] = []
    tail: list[DigestLine] = []
    at, before = "", reading.cursor.text()
    for stretch in reading.messages():
        if last and stretch[0].line > last:
            break
        held += digest(_clean(turn) for turn in stretch if not turn.sidechain)
        at = at or (stretch[0].at if held else "")
        if _length(held) >= _FULL:
            yield _Part(tuple(chunks([*tail, *held])), at, before)
            tail, held = _end_of(held), []
            at, before = "", reading.cursor.text()
    if _length(held) >= LEAST and any(line.text.startswith(_SPEAKERS) for line in held):
        yield _Part(tuple(chunks([*tail, *held])), at, before)


def _clean(turn: Turn) -> Turn:
    """A turn without secrets, before it is shortened: half a secret looks like none."""
    match turn:
        case UserText() | AssistantText() | ToolResult():
            return replace(turn, text=redacted(turn.text[:_READ]))
        case ToolUse():
            told = {key: turn.input[key] for key in _TOLD if turn.input.get(key)}
            return replace(
                turn, input={key: redacted(str(value)[:_READ]) for key, value in told.items()}
            )
        case Commit():
            return replace(turn, subject=redacted(turn.subject))
        case _:
            return turn


def _length(lines: list[DigestLine]) -> int:
    return sum(len(line.text) + 1 for line in lines)


def _end_of(lines: list[DigestLine]) -> list[DigestLine]:
    """The last lines, as a reminder of where the talk was."""
    room, kept = OVERLAP, 0
    for line in reversed(lines):
        room -= len(line.text) + 1
        if room < 0:
            break
        kept += 1
    return lines[len(lines) - kept :]
