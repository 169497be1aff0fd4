"""The right memories are told first, and only those that are still in force."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm import policy
from ltm.inject.render import units
from ltm.inject.select import LEAST, Precedence, Selection, select, showable
from ltm.model import Impact, Phase, Scope, Status, Stored, Usage
from ltm.text.display import estimate
from ltm.text.sameness import Sameness, judge
from ltm.text.similarity import jaccard, tokens_of
from tests.effort import examples
from tests.inject.samples import KINDS, NOW, any_stored, stored

BIG = 1_000_000


def chosen(memories: list[Stored], **wanted: object) -> Selection:
    values: dict[str, object] = {
        "kinds": KINDS,
        "now": NOW,
        "sessions": 0,
        "budget_tokens": BIG,
        "max_chars": BIG,
        "written": lambda stored, first: stored.memory.summary,
    }
    usage = wanted.pop("usage", {})
    return select(memories, usage, **(values | wanted))  # type: ignore[arg-type]


def texts(found: tuple[Stored, ...]) -> list[str]:
    return [each.memory.summary for each in found]


@pytest.mark.parametrize("status", [each for each in Status if each is not Status.ACTIVE])
def test_what_is_not_in_force_is_never_told(status: Status) -> None:
    """traps 2.3 #3: a forgotten memory is not told; nor one in quarantine, nor a replaced one."""
    assert chosen([stored(status=status, impact=Impact.CRITICAL)]) == Selection((), ())


def test_what_is_archived_is_not_told() -> None:
    assert chosen([stored(phase=Phase.ARCHIVED)]) == Selection((), ())


def test_confidence_of_exactly_three_tenths_is_told_and_less_is_not() -> None:
    """traps 2.4 #14."""
    at, below = stored(confidence=0.3), stored(confidence=0.2999)
    assert chosen([at, below]).shown == (at,)
    aged = stored(kind="progress", created=NOW - timedelta(days=4.9))
    older = stored(kind="progress", created=NOW - timedelta(days=5))
    assert chosen([aged, older]).shown == (aged,)


def test_what_is_hidden_by_age_counts_as_something_to_ask_for() -> None:
    assert len(chosen([stored(confidence=0.1)]).left_out) == 1


def test_a_pinned_or_critical_memory_does_not_fade() -> None:
    old = NOW - timedelta(days=60)
    pinned = stored(kind="progress", created=old, pinned=True)
    critical = stored(kind="context", created=old, impact=Impact.CRITICAL)
    assert set(chosen([pinned, critical]).shown) == {pinned, critical}


def test_only_the_five_newest_episodes_are_told() -> None:
    episodes = [
        stored(f"episode {day}", kind="episode", created=NOW - timedelta(days=day))
        for day in (6, 2, 9, 1, 4, 3, 5)
    ]
    assert sorted(texts(chosen(episodes).shown)) == [f"episode {day}" for day in range(1, 6)]


def test_a_resolved_issue_is_told_for_two_weeks() -> None:
    def issue(days: int, state: str) -> Stored:
        when = NOW - timedelta(days=days)
        return stored(f"{state} {days}", kind="issue", state=state, created=when, updated=when)

    issues = [issue(13, "resolved"), issue(15, "resolved"), issue(300, "open")]
    assert sorted(texts(chosen(issues).shown)) == ["open 300", "resolved 13"]


def test_critical_and_pinned_come_first_then_impact_then_kind_then_priority_then_the_newest() -> (
    None
):
    day = timedelta(days=1)
    in_order = [
        stored("pinned relationship", kind="relationship", impact=Impact.LOW, pinned=True),
        stored("critical decision", kind="decision", impact=Impact.CRITICAL),
        stored("critical fact", impact=Impact.CRITICAL),
        stored("high architecture", kind="architecture", impact=Impact.HIGH),
        stored("high gotcha", kind="gotcha", impact=Impact.HIGH),
        stored("medium fact, hard to learn", difficulty=0.9, created=NOW - 9 * day),
        stored("medium fact, newer", created=NOW - day),
        stored("medium fact, older", created=NOW - 2 * day),
        stored("low fact", impact=Impact.LOW, difficulty=1.0),
    ]
    assert list(chosen(in_order[::-1]).shown) == in_order
    assert list(chosen(in_order[::2] + in_order[1::2]).shown) == in_order


def test_what_was_used_often_and_lately_comes_before_its_equals() -> None:
    old, new = stored("long unused"), stored("used today")
    usage = {old.memory.id: Usage(1, 2), new.memory.id: Usage(8, 40)}
    assert chosen([old, new], usage=usage, sessions=40).shown == (new, old)


def test_a_memory_nobody_used_yet_is_not_put_last() -> None:
    """traps 2.1 #15: what a teammate brings has no usage here."""
    pulled, stale = stored("pulled from a teammate"), stored("unused for long")
    usage = {stale.memory.id: Usage(0, 1)}
    assert chosen([stale, pulled], usage=usage, sessions=50).shown == (pulled, stale)


def test_one_that_does_not_fit_is_passed_over_for_the_next() -> None:
    """traps 2.3 #11."""
    first, giant, last = (
        stored("a" * 40, impact=Impact.HIGH),
        stored("b" * 900),
        stored("c" * 40, impact=Impact.LOW),
    )
    found = chosen([first, giant, last], max_chars=100)
    assert found == Selection((first, last), (giant,))


def test_the_first_of_a_kind_pays_for_its_heading() -> None:
    def written(memory: Stored, first: bool) -> str:
        return "x" * (60 if first else 20)

    facts = [stored() for _ in range(3)]
    assert len(chosen(facts, written=written, max_chars=100).shown) == 3
    assert len(chosen(facts, written=written, max_chars=99).shown) == 2


def test_the_project_beats_the_agent_on_the_same_matter() -> None:
    """traps 2.3 #15 (conflict rule)."""
    agent = stored("always indent python with four spaces", scope=Scope.AGENT)
    project = stored("always indent python with two spaces", scope=Scope.PROJECT)
    assert jaccard(tokens_of(agent.memory.text), tokens_of(project.memory.text)) >= 0.6
    assert chosen([agent, project]) == Selection((project,), (agent,))


def test_an_agent_memory_of_another_kind_or_matter_is_told_beside_the_projects() -> None:
    project = stored("always indent python with two spaces")
    other_kind = stored("always indent python with two spaces", kind="pattern", scope=Scope.AGENT)
    other_matter = stored("greet me in French every morning", scope=Scope.AGENT)
    assert len(chosen([project, other_kind, other_matter]).shown) == 3


def test_a_project_memory_no_longer_believed_beats_nobody() -> None:
    agent = stored("always indent python with four spaces", scope=Scope.AGENT)
    doubted = stored("always indent python with two spaces", confidence=0.1)
    assert chosen([agent, doubted]).shown == (agent,)


def test_a_project_memory_the_reader_has_already_still_beats_the_agents() -> None:
    agent = stored("always indent python with four spaces", scope=Scope.AGENT)
    project = stored("always indent python with two spaces")
    found = chosen([agent, project], already_shown={project.memory.id})
    assert found == Selection((), (agent,))


def test_what_the_reader_has_already_is_neither_told_nor_left_out() -> None:
    known, new = stored(), stored()
    assert chosen([known, new], already_shown={known.memory.id}) == Selection((new,), ())


words = st.lists(st.sampled_from(("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "theta")))


@given(st.lists(words, max_size=8), st.lists(words, max_size=8))
def test_the_short_cut_finds_exactly_the_overlaps_there_are(
    ours: list[list[str]], theirs: list[list[str]]
) -> None:
    project = [stored(" ".join(each)) for each in theirs]
    rule = Precedence(project, KINDS)
    for each in ours:
        memory = stored(" ".join(each), scope=Scope.AGENT).memory
        near = [
            judge(other.memory.text, memory.text).relation
            for other in project
            if jaccard(tokens_of(memory.text), tokens_of(other.memory.text)) >= 0.6
        ]
        apart = (Sameness.ALIKE, Sameness.OTHER)
        assert rule.overrules(memory) is any(found not in apart for found in near)


@settings(max_examples=examples(150))
@given(any_stored, st.integers(0, 400), st.integers(0, 2_000))
def test_any_selection_keeps_to_its_limits_its_order_and_its_rules(
    memories: list[Stored], tokens: int, chars: int
) -> None:
    def written(memory: Stored, first: bool) -> str:
        return memory.memory.text.encode("utf-8", "replace").decode()

    found = chosen(memories, budget_tokens=tokens, max_chars=chars, written=written)
    spent_chars = sum(units(written(each, False)) for each in found.shown)
    spent_tokens = sum(estimate(written(each, False)) for each in found.shown)
    assert spent_chars <= chars
    assert spent_tokens <= tokens
    ranks = [3 if each.memory.pinned else each.memory.impact.rank for each in found.shown]
    assert ranks == sorted(ranks, reverse=True)
    told = {each.memory.id for each in found.shown}
    left = {each.memory.id for each in found.left_out}
    in_force = {
        each.memory.id
        for each in memories
        if each.memory.status is Status.ACTIVE and each.memory.phase < Phase.ARCHIVED
    }
    assert told | left == in_force
    assert not told & left
    for each in found.shown:
        kind = KINDS[each.memory.kind]
        assert policy.confidence(each.memory, kind, NOW) >= 0.3
    # Whoever was left out for want of room really had no room at the end.
    room_chars, room_tokens = chars - spent_chars, tokens - spent_tokens
    if room_chars >= LEAST and room_tokens >= 1:
        for each in showable(found.left_out, KINDS, NOW):
            if each.memory.scope is Scope.PROJECT and not KINDS[each.memory.kind].newest:
                text = written(each, False)
                assert units(text) > room_chars or estimate(text) > room_tokens


@given(any_stored, st.randoms())
def test_the_order_in_which_a_store_lists_makes_no_difference(
    memories: list[Stored], random: object
) -> None:
    shuffled = list(memories)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert chosen(shuffled).shown == chosen(memories).shown


def test_the_same_memory_in_two_vaults_is_told_once() -> None:
    here = stored()
    there = here._replace(vault="shared", path="/shared/x.md")
    assert len(chosen([here, there]).shown) == 1
