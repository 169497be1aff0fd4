"""Several memories that say the same become one, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from ltm.decisions import Reduce, Restore
from ltm.model import Filter, Impact, Memory, Phase, Scope, Source, Status, Trust
from ltm.store.file_store import FileStore
from ltm.upkeep.consolidate import apply, plan
from tests.stores import START, file_store, make

LATER = START + timedelta(days=1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FileStore]:
    opened = file_store(tmp_path)
    yield opened
    opened.close()


def add(store: FileStore, text: str, title: str = "", **fields: object) -> Memory:
    kind = fields.pop("kind", "decision")
    fields.setdefault("summary", text)
    return store.create(make(title or text, text, kind=kind, **fields)).memory


def test_the_best_wording_takes_the_others_in(store: FileStore) -> None:
    agent = Source(Trust.ASSISTANT)
    text = "use pnpm for all packages"
    one = add(store, text, "pnpm", tags=("a",), source=agent, observations=3)
    two = add(store, f"{text}. It is quick.", "pnpm", tags=("b",), impact=Impact.HIGH)
    other = add(store, "deploy on mondays only")
    (step,) = plan(store, LATER)
    assert (step.id, step.ids) == (two.id, (one.id,))
    assert store.list(Filter()).total == 3, "planning changes nothing"
    assert apply(store, [step]) == [step]
    kept = store.read(two.id).memory
    assert kept.tags == ("b", "a")
    assert kept.observations == 4
    assert kept.impact is Impact.HIGH
    assert kept.merged_from == (one.id,)
    gone = store.read(one.id).memory
    assert (gone.status, gone.superseded_by) == (Status.SUPERSEDED, two.id)
    assert {each.memory.id for each in store.list(Filter()).items} == {two.id, other.id}
    assert store.apply(Restore(one.id)).stored.memory.content == "use pnpm for all packages"


def test_the_fullest_text_stays_under_the_best_marks(store: FileStore) -> None:
    best = add(store, "alpha beta gamma delta.", "letters", pinned=True)
    add(store, "alpha beta gamma delta. Thursday zebra.", "letters")
    apply(store, plan(store, LATER))
    kept = store.read(best.id).memory
    assert kept.text == "alpha beta gamma delta. Thursday zebra."
    assert best.content in [each.memory.content for each in store.versions(best.id)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The timeout is 30 seconds", "The timeout is 60 seconds"),
        ("Use pnpm, not npm", "Use npm, not pnpm"),
        ("Uploads go to S3", "Uploads go to R2"),
        ("Never deploy on Friday", "Deploy on Friday"),
        ("The EU bucket is acme-eu", "The US bucket is acme-us"),
        ("Run the tests before a push", "Before a push, run the tests"),
    ],
)
def test_only_what_is_said_word_for_word_is_merged(store: FileStore, one: str, other: str) -> None:
    for text in (one, other):
        add(store, text, "the same title")
    assert [step for step in plan(store, LATER) if step.action == "merge"] == []


def test_other_titles_are_other_memories(store: FileStore) -> None:
    add(store, "alpha beta gamma", "one")
    add(store, "alpha beta gamma", "two")
    assert plan(store, LATER) == []


def test_what_a_person_brought_back_or_kept_apart_is_never_merged_again(store: FileStore) -> None:
    one, two = (add(store, "alpha beta gamma") for _ in range(2))
    (step,) = plan(store, LATER)
    apply(store, [step])
    (gone,) = step.ids
    store.apply(Restore(gone))
    assert plan(store, LATER) == []
    three = add(store, "delta epsilon zeta")
    add(store, "delta epsilon zeta", distinct=(three.id,))
    assert plan(store, LATER) == []
    assert {one.id, two.id} == {step.id, gone}


def test_a_second_run_straight_after_changes_nothing(store: FileStore) -> None:
    for n in range(6):
        add(store, f"always run the linter before commit number{n % 2}")
    assert apply(store, plan(store, LATER))
    assert plan(store, LATER) == []


def test_kinds_and_scopes_are_not_mixed(store: FileStore) -> None:
    add(store, "alpha beta gamma")
    add(store, "alpha beta gamma", kind="fact")
    add(store, "alpha beta gamma", scope=Scope.AGENT)
    assert plan(store, LATER) == []


def test_without_being_asked_small_kinds_are_left_alone(store: FileStore) -> None:
    add(store, "alpha beta gamma")
    add(store, "alpha beta gamma")
    assert plan(store, LATER, least=5) == []
    assert len(plan(store, LATER)) == 1


def test_a_memory_changed_meanwhile_is_left_for_the_next_time(
    store: FileStore, tmp_path: Path
) -> None:
    """A long consolidation must not undo what somebody writes while it thinks."""
    one = add(store, "alpha beta gamma", "letters")
    two = add(store, "alpha beta gamma. delta", "letters")
    steps = plan(store, LATER)
    other = file_store(tmp_path)
    other.update(one.id, {"content": "something else entirely"})
    other.close()
    assert apply(store, steps) == []
    assert store.read(one.id).memory.content == "something else entirely"
    assert store.read(two.id).memory.status is Status.ACTIVE


def test_what_has_faded_is_merged_with_its_whole_text(store: FileStore) -> None:
    whole = "Alpha beta gamma delta.\n\nLast paragraph."
    best = add(store, whole, "letters", kind="fact", summary="Alpha beta gamma delta.")
    short = add(store, "Alpha beta gamma delta.", "letters", kind="fact", observations=3)
    for each in (best, short):
        store.apply(Reduce(each.id, Phase.HINT))
    store.update(best.id, {"pinned": True})
    (step,) = plan(store, LATER)
    apply(store, [step])
    assert store.read(short.id).memory.superseded_by == best.id
    assert store.apply(Restore(best.id)).stored.memory.content == whole


def test_what_was_needed_lately_is_not_archived_as_out_of_date(tmp_path: Path) -> None:
    late = START + timedelta(days=30)
    with closing(file_store(tmp_path, lambda: late)) as store:
        old, needed = (add(store, text, kind="progress") for text in ("half of it", "other matter"))
        store.used([needed.id])
        steps = plan(store, late)
        assert [(step.id, step.action) for step in steps] == [(old.id, "archive")]


def test_progress_long_out_of_date_is_archived_and_comes_back(store: FileStore) -> None:
    old = add(store, "halfway through the migration", kind="progress")
    (step,) = plan(store, START + timedelta(days=30))
    assert (step.action, step.id) == ("archive", old.id)
    apply(store, [step])
    assert int(store.read(old.id).memory.phase) == 3
    assert store.apply(Restore(old.id)).stored.memory.content == "halfway through the migration"


def test_what_is_pinned_is_never_archived(store: FileStore) -> None:
    add(store, "halfway through the migration", kind="progress", pinned=True)
    assert plan(store, START + timedelta(days=30)) == []
