"""Several memories that say the same become one, and nothing is lost; a model may only propose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ltm.decisions import Reduce, Restore
from ltm.errors import BadAnswer
from ltm.model import Filter, Impact, Memory, Phase, Scope, Source, Status, Stored, Trust
from ltm.store.file_store import FileStore
from ltm.upkeep.consolidate import SHARE, apply, partition, plan, propose
from tests.figures import count
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
    """A long consolidation must not undo what is written while it thinks."""
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


@pytest.fixture
def group(store: FileStore) -> list[Stored]:
    texts = [f"rule number{n} about subject{n} holds" for n in range(10)]
    return [store.create(make(text, text, id=f"mem_rule{n}")) for n, text in enumerate(texts)]


def answer(**value: Any) -> str:
    return json.dumps(value)


MERGED = "rule number0 about subject0 and number1 about subject1 holds"


def test_a_sound_merge_is_taken(store: FileStore, group: list[Stored]) -> None:
    steps = partition(
        answer(
            keep=[],
            merge=[{"content": MERGED, "tags": [], "sources": ["mem_rule0", "mem_rule1"]}],
            drop=["mem_rule2"],
        ),
        group,
        3,
    )
    assert [step.action for step in steps] == ["merge", "archive"]
    assert sum(1 + len(step.ids) for step in steps) == 3
    assert len(apply(store, steps)) == 2
    assert store.read(steps[0].id).memory.content == MERGED
    assert store.list(Filter()).total == 9, "archived, not destroyed"


@pytest.mark.parametrize(
    ("texts", "merged"),
    [
        (("The pool has 10 connections", "The pool is shared"), "The pool is shared"),
        (("Never deploy on Friday", "Deploy with make"), "Deploy on Friday with make"),
        (("Use BuildKit to build", "Pass --no-cache to build"), "Use a cache to build"),
    ],
)
def test_a_merge_that_loses_a_number_a_name_or_a_denial_is_refused(
    store: FileStore, texts: tuple[str, str], merged: str
) -> None:
    known = [store.create(make(text, text)) for text in texts]
    ids = [each.memory.id for each in known]
    said = answer(keep=[], merge=[{"content": merged, "tags": [], "sources": ids}], drop=[])
    assert partition(said, known, 5) == []
    whole = " and ".join(texts)
    said = answer(keep=[], merge=[{"content": whole, "tags": [], "sources": ids}], drop=[])
    assert len(partition(said, known, 5)) == 1
    apart = [known[0], known[1]._replace(memory=known[1].memory._replace(distinct=(ids[0],)))]
    assert partition(said, apart, 5) == []


@pytest.mark.parametrize(
    "value",
    [
        {"drop": ["mem_unknown", "mem_rule99"]},
        {"merge": [{"content": MERGED, "sources": ["mem_rule0"]}]},
        {"merge": [{"content": MERGED, "sources": ["mem_rule0", "mem_unknown"]}]},
        {
            "merge": [
                {"content": "buy bitcoin now quickly please", "sources": ["mem_rule0", "mem_rule1"]}
            ]
        },
        {"merge": [{"content": "", "sources": ["mem_rule0", "mem_rule1"]}]},
        {"merge": [{"content": MERGED * 40, "sources": ["mem_rule0", "mem_rule1"]}]},
        {"merge": [{"sources": ["mem_rule0", "mem_rule1"]}]},
        {"keep": ["mem_rule0"], "drop": ["mem_rule0"]},
        {"merge": "all", "drop": 7, "keep": None},
        {},
    ],
)
def test_what_does_not_hold_is_kept(group: list[Stored], value: dict[str, Any]) -> None:
    assert partition(json.dumps(value), group, 10) == []


def test_no_answer_touches_more_than_it_may(group: list[Stored]) -> None:
    everything = [each.memory.id for each in group]
    assert len(partition(answer(drop=everything), group, 2)) == 2
    assert partition(answer(merge=[{"content": MERGED, "sources": everything}]), group, 2) == []
    pair = [{"content": MERGED, "sources": ["mem_rule0", "mem_rule1"]}]
    assert partition(answer(merge=pair), group, 1) == [], "a pair is two: reworded and taken in"
    assert len(partition(answer(merge=pair, drop=["mem_rule2"]), group, 2)) == 1


class Ruinous:
    """A model that wants all gone, or all of it made one, whatever it is asked about."""

    def __init__(self, way: str) -> None:
        self.way = way

    def ask(self, system: str, prompt: str) -> str:
        lines = [line.split(" ", 1) for line in prompt.split("\n")[1:-2]]
        ids = [name for name, _ in lines]
        if self.way == "drop":
            return answer(drop=ids)
        pairs = zip(lines[::2], lines[1::2], strict=False)
        merges = [{"content": f"{a[1]} {b[1]}", "sources": [a[0], b[0]]} for a, b in pairs]
        return answer(merge=merges, drop=ids[len(merges) * 2 :])


@pytest.mark.parametrize("way", ["drop", "merge"])
@pytest.mark.parametrize("kinds", [1, 4])
def test_no_run_drops_or_rewords_more_than_a_fifth_of_all_there_is(
    store: FileStore, way: str, kinds: int
) -> None:
    """Reliability R18: whatever kinds a model is asked about, one after the other."""
    names = ("fact", "pattern", "decision", "preference")[:kinds]
    for number in range(40):
        text = f"rule number{number} about subject{number} holds"
        store.create(make(text, text, id=f"mem_rule{number}", kind=names[number % kinds]))
    before = {each.memory.id: each.memory for each in store.list(Filter()).items}
    apply(store, propose(store, Ruinous(way)))  # type: ignore[arg-type]
    after = {each.memory.id: each.memory for each in store.list(Filter()).items}
    touched = [name for name in before if before[name] != after.get(name)]
    count("R18", memories_at_stake=len(before), changed_by_a_ruinous_model=len(touched))
    assert 0 < len(touched) <= len(before) // SHARE


def test_what_is_pinned_is_never_dropped(store: FileStore, group: list[Stored]) -> None:
    pinned = store.update("mem_rule0", {"pinned": True})
    assert partition(answer(drop=["mem_rule0"]), [pinned, *group[1:]], 2) == []


@pytest.mark.parametrize(
    "text", ["I cannot do that.", "[]", '{"keep": [', "You hit your limit", ""]
)
def test_an_answer_of_another_form_is_refused(group: list[Stored], text: str) -> None:
    with pytest.raises(BadAnswer):
        partition(text, group, 2)


def test_a_fenced_answer_is_read(group: list[Stored]) -> None:
    assert len(partition('```json\n{"drop": ["mem_rule3"]}\n```', group, 2)) == 1
