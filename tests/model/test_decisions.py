"""What each change makes of a memory, field by field; what is not named stays as it was."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ltm.decisions import (
    DISPUTED,
    contradicted,
    forgotten,
    merged,
    reduced,
    reinforced,
    restored,
    revised,
    settled,
    superseded,
)
from ltm.errors import Refused
from ltm.model import Impact, Memory, Phase, Source, Status, Trust
from tests.stores import START, make

LEARNED = Source(Trust.USER, "session", "1-2")
NOW = START + timedelta(days=9)
OLD = make("Use ruff", "Use ruff.\n\nIt is quick.", version=3, observations=2, confidence=0.5)


def changes(before: Memory, after: Memory) -> dict[str, Any]:
    """The fields in which two memories differ, as they are afterwards."""
    return {
        name: getattr(after, name)
        for name in Memory._fields
        if getattr(before, name) != getattr(after, name)
    }


class TestRevising:
    @pytest.mark.parametrize("name", ["title", "summary", "content"])
    def test_a_changed_text_is_the_next_version(self, name: str) -> None:
        old = OLD._replace(title="Linting")
        after = revised(old, {name: "Use black"}, NOW)
        assert changes(old, after) == {name: "Use black", "updated": NOW, "version": 4}

    @pytest.mark.parametrize(
        ("before", "given", "title", "summary"),
        [
            ({}, {}, "Use black", "Use black. It is quick."),
            ({"title": "Linting"}, {}, "Linting", "Use black. It is quick."),
            ({"summary": "Mine."}, {}, "Use black", "Mine."),
            ({}, {"title": "Use ruff"}, "Use ruff", "Use black. It is quick."),
            ({"title": "Use"}, {}, "Use", "Use black. It is quick."),
            ({"title": "Use", "source": LEARNED}, {}, "Use black", "Use black. It is quick."),
        ],
        ids=["made", "title written", "summary written", "title given", "a word", "learned"],
    )
    def test_title_and_summary_follow_the_text_they_were_made_from(
        self, before: dict[str, Any], given: dict[str, Any], title: str, summary: str
    ) -> None:
        old = OLD._replace(content="Use ruff. It is quick.", summary="Use ruff. It is quick.")
        new = {"content": "Use black. It is quick.", **given}
        after = revised(old._replace(**before), new, NOW)
        assert (after.title, after.summary, after.content) == (title, summary, new["content"])

    def test_of_a_shortened_memory_the_whole_text_counts(self) -> None:
        whole = make("Use ruff", "# Use ruff\n\nIt is quick.", summary="It is quick.")
        short = whole._replace(content="", phase=Phase.ABSTRACT)
        after = revised(short, {"content": "Use black."}, NOW, whole=whole)
        assert (after.title, after.summary) == ("Use black", "Use black.")
        assert revised(whole, {"content": " "}, NOW).title == "Use ruff"

    def test_anything_else_is_the_same_version(self) -> None:
        after = revised(OLD, {"tags": ("a",), "title": OLD.title}, NOW)
        assert changes(OLD, after) == {"tags": ("a",), "updated": NOW}

    def test_what_is_so_already_changes_not_even_the_time(self) -> None:
        assert revised(OLD, {"title": OLD.title}, NOW) is OLD
        assert revised(OLD, {}, NOW) is OLD

    def test_a_newly_written_content_is_whole_unless_its_phase_is_said(self) -> None:
        short = OLD._replace(phase=Phase.HINT)
        assert revised(short, {"content": "new"}, NOW).phase is Phase.FULL
        assert revised(short, {"content": "new", "phase": Phase.ABSTRACT}, NOW).phase is (
            Phase.ABSTRACT
        )
        assert revised(short, {"title": "new"}, NOW).phase is Phase.HINT

    @pytest.mark.parametrize("name", ["id", "created", "version", "updated", "scope", "colour"])
    def test_what_is_fixed_or_no_field_is_refused(self, name: str) -> None:
        with pytest.raises(Refused, match=f"cannot change {name} of {OLD.id}"):
            revised(OLD, {name: "x", "title": "y"}, NOW)


class TestSeeingAgain:
    def test_it_is_confirmed_counted_and_sure(self) -> None:
        after = reinforced(OLD, Source(), NOW)
        wanted = {"confirmed": NOW, "updated": NOW, "observations": 3, "confidence": 1.0}
        assert changes(OLD, after) == wanted

    @pytest.mark.parametrize("trust", list(Trust))
    def test_a_source_that_is_not_a_tool_ends_quarantine_and_nothing_else(
        self, trust: Trust
    ) -> None:
        waiting = OLD._replace(status=Status.QUARANTINED)
        left = reinforced(waiting, Source(trust), NOW).status
        assert left is (Status.QUARANTINED if trust is Trust.TOOL else Status.ACTIVE)
        gone = OLD._replace(status=Status.FORGOTTEN)
        assert reinforced(gone, Source(trust), NOW).status is Status.FORGOTTEN


def test_a_superseded_memory_names_its_successor_and_keeps_its_text() -> None:
    after = superseded(OLD, "mem_new", NOW)
    wanted = {"status": Status.SUPERSEDED, "superseded_by": "mem_new", "updated": NOW}
    assert changes(OLD, after) == wanted


def test_a_disputed_memory_is_doubted_once_however_often_it_is_contradicted() -> None:
    sure = OLD._replace(confidence=1.0)
    for name in ("mem_a", "mem_b", "mem_a"):
        sure = contradicted(sure, [name], NOW)
    assert (sure.confidence, sure.conflicts) == (DISPUTED, ("mem_a", "mem_b"))
    wanted = {"conflicts": ("mem_a",), "updated": NOW}
    assert changes(OLD, contradicted(OLD, ["mem_a"], NOW)) == wanted


def test_a_settled_conflict_leaves_the_others_open() -> None:
    disputed = contradicted(OLD, ["mem_a", "mem_b"], NOW)
    one = settled(disputed, {"mem_a"}, NOW, all_hold=False)
    assert (one.conflicts, one.distinct, one.confidence) == (("mem_b",), (), OLD.confidence)
    two = settled(one, {"mem_b"}, NOW, all_hold=True)
    assert (two.conflicts, two.distinct, two.confidence) == ((), ("mem_b",), 1.0)
    assert settled(OLD, {"mem_c"}, NOW, all_hold=False) == OLD


class TestTakingOthersIn:
    OTHER = make(
        "Other",
        id="mem_other",
        tags=("b", "a"),
        links=("mem_x", OLD.id),
        impact=Impact.HIGH,
        pinned=True,
        confidence=0.9,
        difficulty=0.7,
        observations=4,
        confirmed=START + timedelta(days=2),
    )

    def test_it_gains_the_best_of_their_marks_and_all_that_was_counted(self) -> None:
        mine = OLD._replace(tags=("c", "b"), links=("mem_x", "mem_y"), merged_from=("mem_a",))
        after = merged(mine, [self.OTHER], "", NOW)
        assert changes(mine, after) == {
            "tags": ("c", "b", "a"),
            "impact": Impact.HIGH,
            "pinned": True,
            "confidence": 0.9,
            "difficulty": 0.7,
            "observations": 6,
            "confirmed": START + timedelta(days=2),
            "merged_from": ("mem_a", "mem_other"),
            "updated": NOW,
        }

    def test_what_it_has_that_is_better_stays(self) -> None:
        mine = OLD._replace(impact=Impact.CRITICAL, confidence=1.0, confirmed=NOW, difficulty=0.8)
        after = merged(mine, [self.OTHER], "", NOW)
        assert (after.impact, after.confidence) == (Impact.CRITICAL, 1.0)
        assert (after.confirmed, after.difficulty) == (NOW, 0.8)

    def test_it_never_links_to_itself(self) -> None:
        assert merged(OLD, [self.OTHER], "", NOW).links == ("mem_x",)

    def test_a_text_written_again_is_whole_and_the_next_version(self) -> None:
        short = OLD._replace(phase=Phase.HINT)
        after = merged(short, [self.OTHER], "Both.", NOW)
        assert (after.content, after.phase, after.version) == ("Both.", Phase.FULL, 4)
        same = merged(short, [self.OTHER], short.content, NOW)
        assert (same.phase, same.version) == (Phase.FULL, 3)
        left = merged(short, [self.OTHER], "", NOW)
        assert (left.content, left.phase, left.version) == (short.content, Phase.HINT, 3)


def test_a_forgotten_memory_keeps_its_name_and_not_its_text() -> None:
    after = forgotten(OLD, NOW)
    assert changes(OLD, after) == {
        **{"status": Status.FORGOTTEN, "summary": "", "content": "", "updated": NOW},
    }


class TestReducing:
    def test_it_has_the_version_of_its_original_and_its_own_time(self) -> None:
        original = OLD._replace(version=2)
        after = reduced(OLD, original, Phase.HINT)
        assert changes(OLD, after) == {"content": "Use ruff.", "phase": Phase.HINT, "version": 2}

    @pytest.mark.parametrize("status", [each for each in Status if each is not Status.ACTIVE])
    def test_only_what_is_active_is_reduced(self, status: Status) -> None:
        with pytest.raises(Refused, match=f"{OLD.id} is {status}"):
            reduced(OLD._replace(status=status), OLD, Phase.HINT)


class TestRestoring:
    TOMBSTONE = OLD._replace(status=Status.FORGOTTEN, summary="", content="")

    def test_a_tombstone_has_its_text_again_and_that_is_not_a_new_version(self) -> None:
        after = restored(self.TOMBSTONE, OLD, NOW)
        assert changes(self.TOMBSTONE, after) == {
            **{"status": Status.ACTIVE, "summary": OLD.summary, "content": OLD.content},
            **{"confirmed": NOW, "updated": NOW},
        }

    @pytest.mark.parametrize("name", ["title", "summary", "content"])
    def test_the_text_of_another_version_is_a_new_one(self, name: str) -> None:
        older = OLD._replace(version=1, **{name: "Older words"})  # type: ignore[arg-type]
        after = restored(OLD, older, NOW)
        assert (getattr(after, name), after.version) == ("Older words", 4)
        same = restored(OLD, OLD._replace(version=1), NOW)
        assert same.version == 3

    def test_without_a_kept_text_it_is_in_force_with_its_own(self) -> None:
        gone = OLD._replace(status=Status.SUPERSEDED, superseded_by="mem_new", phase=Phase.ABSTRACT)
        after = restored(gone, None, NOW)
        assert changes(gone, after) == {
            **{"status": Status.ACTIVE, "superseded_by": "", "phase": Phase.FULL},
            "distinct": ("mem_new",),
            **{"confirmed": NOW, "updated": NOW},
        }

    def test_what_was_in_quarantine_at_any_time_goes_back_there(self) -> None:
        waiting = OLD._replace(status=Status.QUARANTINED)
        for found in (
            restored(waiting, None, NOW),
            restored(self.TOMBSTONE, waiting, NOW),
            restored(self.TOMBSTONE, OLD, NOW, was=Status.QUARANTINED),
        ):
            assert found.status is Status.QUARANTINED
