"""Analyse transcripts for friction, and keep what users said in corrections as evidence of rules.

Each conversation is streamed once, through the detector of the rules in force, and only its signals
are kept. Sub-agents' own transcripts hold no word of a user and are passed over. Only words of a
user become evidence, and only if they name a matter: "no, stop" is friction and teaches nothing.
What is known already is not counted again, whichever copy of a conversation it is read from.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from ltm.friction.classic import ClassicDetector
from ltm.friction.ruleset import Heard, Rules
from ltm.friction.score import (
    AntigenCandidate,
    Cluster,
    Scored,
    candidates,
    clusters,
    score,
    summarise,
)
from ltm.friction.signals import Detector
from ltm.friction.sources import Sources, TranscriptFile
from ltm.model import iso, utc
from ltm.project.identity import identify
from ltm.sessions.claude_code import NOISE
from ltm.sessions.transcript import Lines, Recent, read, unpacked
from ltm.state.corrections import Conversation, Ledger, RuleEvidence
from ltm.text.sameness import says_otherwise
from ltm.text.similarity import alike, most_typical, overlap, phrases, says_something

_SHORTEST = 8
"""Characters of a uuid that names a message; what is shorter names nothing."""
_DECODE = json.JSONDecoder(strict=False).decode


@dataclass(slots=True)
class Analysis:
    """What was found in all conversations."""

    rules: Rules
    sessions: list[Scored] = field(default_factory=list)
    bad_lines: int = 0
    unreadable: list[str] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    candidates: list[AntigenCandidate] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=list)


def analyse(
    sources: Sources,
    rules: Rules,
    now: datetime,
    *,
    since: datetime | None = None,
    tick: Callable[[int], None] = lambda files: None,
    is_unsaid: Callable[[str], bool] = lambda message: False,
) -> Analysis:
    """Look through these conversations; `tick` is called with how many files each of them was.

    Messages of which `is_unsaid` holds are left out: what they say was purged.
    """
    found = Analysis(rules, unreadable=list(sources.unreadable))
    heard: list[Heard] = []
    outside = empty = 0
    for files in sources.conversations:
        each = _looked_through(files, found, _ConversationMessages(is_unsaid))
        if not each.messages:
            empty += 1
        elif since is not None and _moment(each.ended) < since:
            outside += 1
        else:
            heard.append(each)
        tick(len(files))
    _name(heard)
    found.sessions = [score(each, rules) for each in heard]
    input_ = {
        "files": sources.files,
        "forks": sources.forks,
        "without_messages": empty,
        "before_since": outside,
        "bad_lines": found.bad_lines,
        "unreadable_files": len(found.unreadable),
        "since": iso(since) if since is not None else None,
    }
    found.summary = summarise(found.sessions, rules, iso(now), input_)
    found.candidates = candidates(found.sessions, rules)
    found.clusters = clusters(found.candidates, rules)
    return found


class _ConversationMessages:
    """Which messages of a conversation were heard: a fork says them again."""

    def __init__(self, is_unsaid: Callable[[str], bool]) -> None:
        self._recent = Recent()
        self._is_unsaid = is_unsaid

    def is_new(self, uuid: str) -> bool:
        if len(uuid) < _SHORTEST:
            return True
        return self._recent.is_new(uuid) and not self._is_unsaid(uuid)


def _looked_through(
    files: Sequence[TranscriptFile], found: Analysis, seen: _ConversationMessages
) -> Heard:
    """What one conversation holds, by the rules in force."""
    first = files[0]
    heard = Heard(
        first.session,
        first.first or first.session,
        cwd=next((each.cwd for each in files if each.cwd), ""),
        branch=next((each.branch for each in files if each.branch), ""),
    )
    detector = (ClassicDetector if found.rules.classic else Detector)(heard, found.rules)
    for source in files:
        try:
            with unpacked(source.path) as plain:
                if isinstance(detector, ClassicDetector):
                    found.bad_lines += _read_entries(plain, detector, seen)
                    continue
                reading = read(plain, None, seen)
                for message in reading.messages():
                    detector.hear(message)
                found.bad_lines += reading.unreadable
        except OSError:
            found.unreadable.append(source.path)
    return detector.finish()


def _read_entries(path: str, detector: ClassicDetector, seen: _ConversationMessages) -> int:
    """Pass a transcript's entries to the classic detector; how many lines cannot be read."""
    lines, bad = Lines(path), 0
    for line in lines:
        if line.startswith(NOISE):
            continue
        try:
            entry = _DECODE(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            bad += 1
            continue
        if isinstance(entry, dict) and seen.is_new(str(entry.get("uuid") or "")):
            detector.hear(entry, lines.number)
    return bad + lines.too_long


def _name(heard: Sequence[Heard]) -> None:
    """Give sessions their names; two folders of one name keep their whole paths."""
    folders: dict[str, set[str]] = {}
    for each in heard:
        folders.setdefault(os.path.basename(each.cwd.rstrip("/\\")), set()).add(each.cwd)
    for each in heard:
        short = os.path.basename(each.cwd.rstrip("/\\"))
        each.project = (short if len(folders[short]) == 1 else each.cwd) or "unknown"
        moment = _moment(each.started)
        each.name = f"{each.project}/{moment:%m%d-%H%M}-{each.session}"


def _moment(text: str) -> datetime:
    """A moment of a transcript; the beginning of time for what is none."""
    try:
        return utc(text)
    except (ValueError, OverflowError):
        return datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Learned:
    """What a run added to the ledger."""

    evidence: int = 0
    projects: tuple[str, ...] = ()


def learn(
    ledger: Ledger,
    heard: Iterable[Heard],
    rules: Rules,
    project_of: Callable[[str], str],
) -> Learned:
    """Keep the evidence of these conversations, each in the project its folder belongs to."""
    by_project: dict[str, list[Heard]] = {}
    for each in heard:
        by_project.setdefault(project_of(each.cwd), []).append(each)
    added = sum(_learn(ledger, project, each, rules) for project, each in by_project.items())
    return Learned(added, tuple(sorted(by_project)))


def _learn(ledger: Ledger, project: str, heard: Sequence[Heard], rules: Rules) -> int:
    former = ledger.evidence(project)
    known = {each.message: each.conversation for each in former}
    talks: list[Conversation] = []
    new: list[RuleEvidence] = []
    for each in sorted(heard, key=lambda each: (each.started, each.session)):
        seen = [
            RuleEvidence(
                project, each.conversation, each.session,
                signal.message or f"{each.session}@{signal.at}", _iso(signal.at),
                signal.name, rules.weight(signal.name), signal.statement,
            )
            for signal in each.signals
            if signal.is_reaction and says_something(signal.statement)
        ]  # fmt: skip
        # A conversation that was noted under another name keeps it, or it would count twice.
        name = next((known[e.message] for e in seen if e.message in known), each.conversation)
        talks.append(Conversation(project, name, each.session, _iso(each.started)))
        new += [replace(e, conversation=name) for e in seen if e.message not in known]
    said: dict[str, Counter[str]] = {}
    for found in former:
        said.setdefault(found.rule, Counter())[found.statement] += 1
    gathered: list[RuleEvidence] = []
    for found in new:  # to the rule that says the same, else to a new one
        rule = _best(found.statement, said) or f"ag-{len(said) + 1:03d}"
        said.setdefault(rule, Counter())[found.statement] += 1
        gathered.append(replace(found, rule=rule))
    texts: dict[str, list[str]] = {}
    for found in (*former, *gathered):
        if found.statement:  # those of what was purged are gone
            texts.setdefault(found.rule, []).append(found.statement)
    changed = {e.rule for e in gathered}
    wordings = {(project, rule): most_typical(texts[rule]) for rule in changed}
    return ledger.note(talks, gathered, wordings)


def _best(statement: str, said: dict[str, Counter[str]]) -> str:
    """The rule a correction belongs to: half of its evidence is about the same, none against it."""
    words = phrases(statement)
    best, rule = 0.0, ""
    for name, texts in said.items():
        total = texts.total()
        sets = {text: phrases(text) for text in texts}
        near = [text for text in texts if alike(words, sets[text])]
        if 2 * sum(texts[text] for text in near) < total:
            continue
        shared = sum(overlap(words, sets[text]) * times for text, times in texts.items())
        if shared / total > best and not any(says_otherwise(statement, text) for text in near):
            best, rule = shared / total, name
    return rule


def project_finder(here: str, home: str, own: str) -> Callable[[str], str]:
    """Which project a session's folder belongs to; one whose folder is gone counts for `own`.

    Transcripts that were brought from elsewhere are about what the person looks at here.
    """
    found: dict[str, str] = {here: own}

    def project_of(cwd: str) -> str:
        if cwd not in found:
            there = bool(cwd) and os.path.isabs(cwd) and os.path.isdir(cwd)
            found[cwd] = identify(cwd, home).id if there else own
        return found[cwd]

    return project_of


def _iso(text: str) -> str:
    try:
        return iso(utc(text))
    except (ValueError, OverflowError):
        return ""
