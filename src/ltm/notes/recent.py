"""The work of the last days, read from the latest session notes for the text of a session's start.

Hooks run this: it lists one folder, reads a few small files and imports nothing but the standard
library. Only the section "Stopped at" is told, which holds the user's words and the work's own
facts: an agent's last words may repeat what a page told it. A note that was edited, cleared or
purged is told as it is now, or not at all.
"""

from __future__ import annotations

import os
from datetime import datetime, timedelta

from ltm.files.atomic import names_in, read_plain
from ltm.record import NamedTuple

FOLDER = "sessions"
"""The folder of notes in a project's private folder."""

FILES, SUMMARY, STOPPED, BRANCH = "Files", "Summary", "Stopped at", "Branch: "

DAYS = 7
"""Days in which a changed file or a branch counts as recent."""

_STALE = 30  # days after which where a session stopped says nothing about the work now
_NOTES, _FILES = 8, 20
_LIMIT = 256 * 1024
_NAME = len("2026-11-15_1022")


class SessionSummary(NamedTuple):
    """Where a session stopped, as its note says."""

    began: datetime
    branch: str
    lines: tuple[str, ...]


class RecentWork(NamedTuple):
    """What the sessions of the last days were about, and the branches they were on."""

    latest: tuple[SessionSummary, ...] = ()
    """The last session, and the last one on the branch that is checked out, if that is another."""
    files: tuple[str, ...] = ()
    """Files that were changed, the latest first."""
    branches: tuple[str, ...] = ()


def recent_work(private: str, branches: tuple[str, ...], now: datetime) -> RecentWork:
    """The recent work in a project; `branches` are those of the last days, the latest first."""
    latest: list[SessionSummary] = []
    files: dict[str, None] = {}
    for began, path in _notes(private, now):
        sections = _sections(path)
        summary = [line for line in sections.get(STOPPED, ()) if not line.startswith("[")]
        branch = next((line[len(BRANCH) :] for line in summary if line.startswith(BRANCH)), "")
        lines = tuple(line for line in summary if not line.startswith(BRANCH))
        if lines and (not latest or (len(latest) < 2 and _is_on(branch, branches, latest[0]))):
            latest.append(SessionSummary(began, branch, lines))
        if now - began < timedelta(days=DAYS):
            files |= dict.fromkeys(reversed(sections.get(FILES, [])))
    return RecentWork(tuple(latest), tuple(files)[:_FILES], branches)


def watched(private: str, now: datetime) -> list[str]:
    """The files and folders that `recent_work` depends on."""
    folder = os.path.join(private, FOLDER)
    return [folder, *(path for _, path in _notes(private, now))]


def _is_on(branch: str, branches: tuple[str, ...], last: SessionSummary) -> bool:
    return bool(branches) and branch == branches[0] != last.branch


def _notes(private: str, now: datetime) -> list[tuple[datetime, str]]:
    """When the latest sessions began, and the paths of their notes; the newest first."""
    folder = os.path.join(private, FOLDER)
    found: list[tuple[datetime, str]] = []
    for name in sorted(names_in(folder), reverse=True):
        try:
            began = datetime.fromisoformat(f"{name[:10]}T{name[11:_NAME]}+00:00")
        except ValueError:
            continue  # the summary, the archive, or another file
        if len(found) == _NOTES or now - began > timedelta(days=_STALE):
            break
        if name.endswith(".md"):
            found.append((began, os.path.join(folder, name)))
    return found


def _sections(path: str) -> dict[str, list[str]]:
    """The bullets of a note under each of its headings."""
    try:
        text = read_plain(path, limit=_LIMIT, follow=False).decode("utf-8", "replace")
    except OSError:
        return {}
    here: list[str] = []
    sections: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            here = sections.setdefault(line.lstrip("#").strip(), [])
        elif line.strip() and not line.startswith("<!--"):
            here.append(line.strip().removeprefix("- "))
    return sections
