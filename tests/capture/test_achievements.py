"""Commits worth remembering, by whole words."""

from __future__ import annotations

import pytest

from ltm.capture.discoveries import MOST, achievement
from ltm.capture.extract import Listener
from ltm.model import Impact
from tests.capture.samples import BY_AGENT, KINDS, commits, heard


def impact(subject: str) -> Impact | None:
    found = achievement(subject, "0123456789abcdef", BY_AGENT)
    return found.impact if found else None


@pytest.mark.parametrize(
    ("subject", "wanted"),
    [
        ("Release 3.2.0", Impact.HIGH),
        ("release: version 2.0", Impact.HIGH),
        ("Launch the public beta", Impact.HIGH),
        ("feat: share links", Impact.MEDIUM),
        ("feat(api)!: new login", Impact.MEDIUM),
        ("Add an importer for old data, with a progress page", Impact.MEDIUM),
        ("Implement the billing module", Impact.MEDIUM),
        ("Migrate orders to Postgres", Impact.MEDIUM),
        ("Finish the offline mode", Impact.MEDIUM),
        ("Fix a critical race in the writer", Impact.HIGH),
        ("Refactor: split shipping out of orders", Impact.MEDIUM),
        ("Reach 100% coverage", Impact.MEDIUM),
    ],
)
def test_achievements(subject: str, wanted: Impact) -> None:
    assert impact(subject) is wanted


@pytest.mark.parametrize(
    "subject",
    [
        "wip",
        "WIP: half of it",
        "fixup! Add login page",
        "Merge branch 'feature/x' into develop",
        'Revert "Release 3.2.0"',
        "chore: release notes",
        "chore(deps): bump lodash to 4.17.21",
        "style: format",
        "Fix voucher rounding",
        "Rename the finish flag",
        "Fix a typo in the migration guide",
        "Use a scale of 3.5 for icons",
        "Unfinished business",
        "Show immigration forms",
        "",
    ],
)
def test_ordinary_commits(subject: str) -> None:
    """traps 2.3 #14: a bare number is no version, and only whole words count."""
    assert impact(subject) is None


def test_a_subject_may_hold_anything() -> None:
    """traps 2.3 #14: a bar in the subject broke the reading of all commits."""
    found = achievement("Add a | pipe | parser module", "0123456789abcdef", BY_AGENT)
    assert found is not None
    assert found.text == "Add a | pipe | parser module (commit 01234567)."


def test_a_commit_in_a_session_is_heard() -> None:
    (found,) = heard(commits("feat: share links", "abc1234"))
    assert (found.kind, found.title) == ("achievement", "Share links")


def test_a_feature_is_told_once_however_many_commits_it_took() -> None:
    first = commits("feat(share): links", "abc1234")
    found = heard(
        first, commits("feat(share): expiry", "abc1235"), commits("feat: login", "abc1236")
    )
    assert [each.title for each in found] == ["Links", "Login"]
    tickets = [commits(f"Add the {name} page (shop-12.{name})", name) for name in "abcd"]
    assert len(heard(*tickets)) == 1


def test_a_session_tells_few_achievements_also_stretch_by_stretch() -> None:
    listener = Listener("s", KINDS)
    told = []
    for number in range(9):
        listener = Listener("s", KINDS, listener.state())
        listener.hear(commits(f"feat: part number {number} of the work", f"abc123{number}"))
        told += listener.candidates()
    assert len(told) == MOST


def test_a_commit_that_is_printed_again_is_one_achievement() -> None:
    assert len(heard(commits("feat: login", "abc1234"), commits("feat: login", "abc1234"))) == 1
