"""The right memories are told first, and only those that are still in force."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm import policy
from ltm.inject.render import units
from ltm.inject.select import LEAST, Pick, Precedence, Selection, StartSection, select, showable
from ltm.model import Impact, Memory, Phase, Scope, Source, Status, Stored, Trust, Usage
from ltm.notes.recent import RecentWork
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
        "budget_tokens": BIG,
        "max_chars": BIG,
        "written": lambda pick: ("", pick.stored.memory.summary),
    }
    usage = wanted.pop("usage", {})
    return select(memories, usage, **(values | wanted))  # type: ignore[arg-type]


def texts(found: tuple[Pick, ...]) -> list[str]:
    return [each.stored.memory.summary for each in found]


@pytest.mark.parametrize("status", [each for each in Status if each is not Status.ACTIVE])
def test_what_is_not_in_force_is_never_told(status: Status) -> None:
    """traps 2.3 #3: a forgotten memory is not told; nor one in quarantine, nor a replaced one."""
    assert chosen([stored(status=status, impact=Impact.CRITICAL)]) == Selection((), ())


def test_what_is_archived_is_not_told() -> None:
    assert chosen([stored(phase=Phase.ARCHIVED)]) == Selection((), ())


def test_confidence_of_exactly_three_tenths_is_told_and_less_is_not() -> None:
    """traps 2.4 #14."""
    at, below = stored(confidence=0.3), stored(confidence=0.2999)
    assert [each.stored for each in chosen([at, below]).shown] == [at]
    aged = stored(kind="progress", created=NOW - timedelta(days=4.9))
    older = stored(kind="progress", created=NOW - timedelta(days=5))
    assert [each.stored for each in chosen([aged, older]).shown] == [aged]


def test_what_is_hidden_by_age_counts_as_something_to_ask_for() -> None:
    assert len(chosen([stored(confidence=0.1)]).left_out) == 1


def test_a_pinned_or_critical_memory_does_not_fade() -> None:
    old = NOW - timedelta(days=60)
    pinned = stored(kind="progress", created=old, pinned=True)
    critical = stored(kind="context", created=old, impact=Impact.CRITICAL)
    assert {each.stored for each in chosen([pinned, critical]).shown} == {pinned, critical}


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


def test_rules_come_first_then_the_work_then_recent_files_then_kinds_in_their_order() -> None:
    in_order = [
        stored("pinned preference", kind="preference", impact=Impact.LOW, pinned=True),
        stored("critical preference", kind="preference", impact=Impact.CRITICAL),
        stored("preferred a little", kind="preference", impact=Impact.LOW),
        stored("Next: the rest", kind="progress"),
        stored("src/retry.ts backs off twice", impact=Impact.LOW),
        stored("The checkout-retry branch waits for QA", kind="issue", state="open"),
        stored("layers", kind="architecture"),
        stored("critical gotcha", kind="gotcha", impact=Impact.CRITICAL),
        stored("high gotcha", kind="gotcha", impact=Impact.HIGH),
        stored("hard to learn", difficulty=0.9, created=NOW - timedelta(days=9)),
        stored("newer fact", created=NOW - timedelta(days=1)),
        stored("older fact", created=NOW - timedelta(days=2)),
        stored("low fact xx", impact=Impact.LOW, difficulty=1.0),
    ]
    work = RecentWork(files=("src/retry.ts",), branches=("fix/checkout-retry", "main"))
    for memories in (in_order[::-1], in_order[::2] + in_order[1::2]):
        found = chosen(memories, work=work)
        assert texts(found.shown) == [each.memory.summary for each in in_order]
    sections = [each.section for each in found.shown]
    assert [sections.count(each) for each in StartSection] == [3, 1, 2, 7]
    assert {each.reason for each in found.shown} >= {
        "a rule the user stated",
        "names src/retry.ts, changed in the last days",
        "names the branch fix/checkout-retry",
        "critical",
    }


@pytest.mark.parametrize(
    ("kind", "trust", "is_rule"),
    [
        ("preference", Trust.USER, True),
        ("relationship", Trust.USER, True),
        ("preference", Trust.ASSISTANT, False),
        ("fact", Trust.USER, False),
    ],
)
def test_a_rule_is_what_a_person_stated_about_how_they_want_things_done(
    kind: str, trust: Trust, is_rule: bool
) -> None:
    [pick] = chosen([stored("Use pnpm", kind=kind, source=Source(trust))]).shown
    assert (pick.section is StartSection.RULES) is is_rule


def test_no_kind_starves_another() -> None:
    """With a thousand memories, each kind has a part of the room, however important others are."""
    crowd = [
        stored(f"{kind.name} number {n} " * 6, kind=kind.name, impact=impact, state="")
        for kind in KINDS
        for n in range(80)
        for impact in [Impact.CRITICAL if kind.name == "fact" else Impact.MEDIUM]
    ]
    found = chosen(crowd, max_chars=9_000)
    told = Counter(each.stored.memory.kind for each in found.shown)
    assert set(told) == {kind.name for kind in KINDS}
    assert told["gotcha"] >= 3
    assert told["preference"] <= 40


def test_room_that_others_do_not_need_goes_to_rules_that_did_not_fit_their_part() -> None:
    rules = [stored(f"rule number {n} " * 8, kind="preference") for n in range(40)]
    found = chosen([*rules, stored("a fact")], max_chars=3_000)
    assert sum(len(each) + 1 for each in texts(found.shown)) > 2_800
    assert "a fact" in texts(found.shown)


def test_of_equals_what_was_used_more_often_comes_first_and_of_two_costs_the_lower() -> None:
    old, new = stored("long unused"), stored("used often")
    usage = {old.memory.id: Usage(1, 2), new.memory.id: Usage(8, 40)}
    assert texts(chosen([old, new], usage=usage).shown) == ["used often", "long unused"]
    long, short = stored("word " * 80), stored("Use port 8082")
    assert texts(chosen([long, short]).shown)[0] == "Use port 8082"


def test_one_that_does_not_fit_is_passed_over_for_the_next() -> None:
    """traps 2.3 #11."""
    first, giant, last = (
        stored("a" * 40, impact=Impact.HIGH),
        stored("b" * 900),
        stored("c" * 40, impact=Impact.LOW),
    )
    found = chosen([first, giant, last], max_chars=100)
    assert (texts(found.shown), found.left_out) == (["a" * 40, "c" * 40], (giant,))


def test_the_first_under_a_heading_pays_for_it() -> None:
    def written(pick: Pick) -> tuple[str, str]:
        return "h" * 39, "x" * 19

    facts = [stored() for _ in range(3)]
    assert len(chosen(facts, written=written, max_chars=100).shown) == 3
    assert len(chosen(facts, written=written, max_chars=99).shown) == 2


def test_the_project_beats_the_agent_on_the_same_matter() -> None:
    """traps 2.3 #15 (conflict rule)."""
    agent = stored("always indent python with four spaces", scope=Scope.AGENT)
    project = stored("always indent python with two spaces", scope=Scope.PROJECT)
    assert jaccard(tokens_of(agent.memory.text), tokens_of(project.memory.text)) >= 0.6
    found = chosen([agent, project])
    assert (texts(found.shown), found.left_out) == ([project.memory.summary], (agent,))


def test_an_agent_memory_of_another_kind_or_matter_is_told_next_to_the_projects() -> None:
    project = stored("always indent python with two spaces")
    other_kind = stored("always indent python with two spaces", kind="pattern", scope=Scope.AGENT)
    other_matter = stored("greet me in French every morning", scope=Scope.AGENT)
    assert len(chosen([project, other_kind, other_matter]).shown) == 3


def test_a_project_memory_no_longer_believed_beats_no_one() -> None:
    agent = stored("always indent python with four spaces", scope=Scope.AGENT)
    doubted = stored("always indent python with two spaces", confidence=0.1)
    assert texts(chosen([agent, doubted]).shown) == [agent.memory.summary]


def test_a_project_memory_the_reader_has_already_still_beats_the_agents() -> None:
    agent = stored("always indent python with four spaces", scope=Scope.AGENT)
    project = stored("always indent python with two spaces")
    found = chosen([agent, project], already_shown={project.memory.id})
    assert found == Selection((), (agent,))


def test_what_the_reader_has_already_is_neither_told_nor_left_out() -> None:
    known, new = stored(), stored()
    found = chosen([known, new], already_shown={known.memory.id})
    assert ([each.stored for each in found.shown], found.left_out) == ([new], ())


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
    def text_of(memory: Memory) -> str:
        return memory.text.encode("utf-8", "replace").decode()

    def written(pick: Pick) -> tuple[str, str]:
        return "", text_of(pick.stored.memory)

    found = chosen(memories, budget_tokens=tokens, max_chars=chars, written=written)
    lines = [f"{text_of(each.stored.memory)}\n" for each in found.shown]
    spent_chars = sum(map(units, lines))
    spent_tokens = sum(map(estimate, lines))
    assert spent_chars <= chars
    assert spent_tokens <= tokens
    assert [each.section for each in found.shown] == sorted(each.section for each in found.shown)
    told = {each.stored.memory.id for each in found.shown}
    left = {each.memory.id for each in found.left_out}
    in_force = {
        each.memory.id
        for each in memories
        if each.memory.status is Status.ACTIVE and each.memory.phase < Phase.ARCHIVED
    }
    assert told | left == in_force
    assert not told & left
    for pick in found.shown:
        kind = KINDS[pick.stored.memory.kind]
        assert policy.confidence(pick.stored.memory, kind, NOW) >= 0.3
    # Whoever was left out for want of room really had no room at the end.
    room_chars, room_tokens = chars - spent_chars, tokens - spent_tokens
    if room_chars >= LEAST and room_tokens >= 1:
        for each in showable(found.left_out, KINDS, NOW):
            if each.memory.scope is Scope.PROJECT and not KINDS[each.memory.kind].newest:
                text = f"{text_of(each.memory)}\n"
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
