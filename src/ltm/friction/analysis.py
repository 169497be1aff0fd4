"""Analyse transcripts: everything that is known about their friction.

Each conversation is streamed once, through the detector of the rules in force, and only its signals
are kept. Sub-agents' own transcripts hold no word of a user and are passed over.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ltm.friction.antigens import AntigenCandidate, Cluster, candidates, clusters
from ltm.friction.classic import ClassicDetector
from ltm.friction.detect import Detector
from ltm.friction.score import Scored, score, summarise
from ltm.friction.signals import Heard, Rules
from ltm.friction.sources import Sources, TranscriptFile
from ltm.model import iso, utc
from ltm.sessions.claude_code import NOISE
from ltm.sessions.transcript import Lines, Recent, read, unpacked

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
        """Whether this message is met for the first time, and may be read."""
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
                else:
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
