"""What upkeep does and leaves alone, on real files, real sessions and a calendar of the test's."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm.config.config import load
from ltm.decisions import Reduce, Reinforce, Restore
from ltm.model import Filter, Impact, Memory, Phase, Scope, Source, Status, Trust
from ltm.policy import Limits, priority
from ltm.upkeep.plan import ACTIVE, Action, apply, due, limits_of, plan, run
from tests.upkeep.conftest import World


def limits(**values: object) -> dict[Scope, Limits]:
    """The same limits for both scopes."""
    return {scope: Limits(**values) for scope in Scope}  # type: ignore[arg-type]


def files(world: World) -> dict[str, bytes]:
    """Every file of every vault with its bytes."""
    found = world.folder.glob("*/memories/*.md"), world.folder.glob("*/archives/*.md")
    return {str(path): path.read_bytes() for paths in found for path in paths}


def upkeep(world: World, **values: object) -> tuple[Action, ...]:
    outcome = run(world.store, now=world.now, limits=limits(**values))
    assert outcome.skipped == ()
    return outcome.done


@pytest.mark.parametrize(("impact", "allowance"), [("low", 1), ("medium", 7), ("high", 30)])
def test_a_memory_fades_on_the_day_after_its_allowance(
    world: World, impact: str, allowance: int
) -> None:
    world.session()
    memory = world.remember(impact=Impact(impact))
    upkeep(world)
    for _ in range(allowance):
        world.session()
        assert upkeep(world) == ()
    world.session()
    (step,) = upkeep(world)
    assert step.as_record() == {
        "id": memory.id,
        "action": "fade",
        "from": 0,
        "to": 1,
        "reason": f"idle for {allowance + 1} active days,"
        f" and its impact ({impact}) allows {allowance}",
    }
    assert world.read(memory.id).phase is Phase.HINT


@pytest.mark.parametrize(("wanted", "last"), [(1, 3), (100, 2)])
def test_each_phase_takes_another_full_allowance_and_a_roomy_vault_archives_nothing(
    world: World, wanted: int, last: int
) -> None:
    world.session()
    memory = world.remember()
    upkeep(world, max_memories=wanted)
    phases = []
    for _ in range(30):
        world.session()
        upkeep(world, max_memories=wanted)
        phases.append(int(world.read(memory.id).phase))
    assert phases == [0] * 7 + [1] * 8 + [2] * 8 + [last] * 7


@pytest.mark.parametrize(
    ("impact", "pinned"), [(Impact.CRITICAL, False), (Impact.LOW, True), (Impact.HIGH, True)]
)
def test_critical_and_pinned_memories_never_fade(
    world: World, impact: Impact, pinned: bool
) -> None:
    memory = world.remember(impact=impact, pinned=pinned)
    upkeep(world)
    world.sessions(200)
    assert upkeep(world) == ()
    assert world.read(memory.id) == memory


def test_a_paused_project_forgets_nothing(world: World) -> None:
    world.session()
    world.remember(impact=Impact.LOW)
    upkeep(world)
    world.session(days=400)
    assert upkeep(world) == ()


def test_many_sessions_on_one_day_are_one_active_day(world: World) -> None:
    world.session()
    world.remember(impact=Impact.LOW)
    upkeep(world)
    for _ in range(8):
        world.session(days=1 / 24)
    assert upkeep(world) == ()


def test_a_use_or_a_confirmation_starts_the_idle_days_again(world: World) -> None:
    world.session()
    used, confirmed, idle = (world.remember(name) for name in ("used", "confirmed", "idle"))
    upkeep(world)
    world.sessions(5)
    world.store.used([used.id])
    world.store.apply(Reinforce(confirmed.id))
    world.sessions(3)
    assert [step.id for step in upkeep(world)] == [idle.id]


def test_what_is_restored_stays_for_a_full_allowance(world: World) -> None:
    world.session()
    memory = world.remember()
    upkeep(world)
    world.sessions(8)
    upkeep(world)
    world.sessions(5)
    world.store.apply(Restore(memory.id))
    world.sessions(7)
    assert upkeep(world) == ()
    assert world.read(memory.id).content == memory.content


@pytest.mark.parametrize("phase", [Phase.HINT, Phase.ABSTRACT, Phase.ARCHIVED])
def test_a_memory_that_is_needed_again_gets_its_text_back(world: World, phase: Phase) -> None:
    world.session()
    memory = world.remember()
    world.store.used([memory.id])
    world.store.apply(Reduce(memory.id, phase))
    assert upkeep(world) == ()
    world.session()
    world.store.used([memory.id])
    (step,) = upkeep(world)
    assert step.as_record() == {
        "id": memory.id,
        "action": "revive",
        "from": int(phase),
        "to": 0,
        "reason": "used 1 time since it was shortened",
    }
    assert world.read(memory.id) == memory
    assert upkeep(world) == ()


@pytest.mark.parametrize("change", [{"pinned": True}, {"impact": Impact.CRITICAL}])
def test_a_memory_made_critical_or_pinned_gets_its_text_back(
    world: World, change: dict[str, object]
) -> None:
    memory = world.remember()
    world.store.apply(Reduce(memory.id, Phase.ABSTRACT))
    world.store.update(memory.id, change)
    assert [step.action for step in upkeep(world)] == ["revive"]
    assert world.read(memory.id).content == memory.content
    assert upkeep(world) == ()


def test_a_memory_that_gets_its_text_back_does_not_give_way_in_the_same_run(world: World) -> None:
    world.session()
    back, *others = (world.remember(f"memory {n}", difficulty=n / 9) for n in range(3))
    world.store.apply(Reduce(back.id, Phase.HINT))
    world.store.used([back.id])
    steps = upkeep(world, max_memories=1, eviction_batch_size=1)
    assert [(step.id, step.action) for step in steps] == [
        (back.id, "revive"),
        (others[0].id, "evict"),
    ]
    assert upkeep(world, max_memories=1, eviction_batch_size=1) == ()


def test_an_old_memory_pulled_from_a_teammate_has_its_full_allowance_here(world: World) -> None:
    """traps 2.1 #15: it counts from first sight, not from session 0."""
    world.sessions(50)
    years = timedelta(days=2000)
    then = world.now - years
    pulled = world.remember("pulled", created=then, updated=then, confirmed=then)
    own = world.remember("own")
    upkeep(world)
    world.sessions(7)
    assert upkeep(world) == ()
    world.session()
    assert {step.id for step in upkeep(world)} == {pulled.id, own.id}


def test_a_memory_pulled_late_is_not_among_the_first_to_give_way(world: World) -> None:
    """traps 2.1 #15: without usage a memory had recency 0.02 at session 50 and went first."""
    world.session()
    for n in range(8):
        world.remember(f"own {n}")
    upkeep(world)
    world.sessions(5)
    then = world.now - timedelta(days=2000)
    pulled = world.remember("pulled", created=then, updated=then, confirmed=then)
    steps = upkeep(world, max_memories=4, eviction_batch_size=8)
    assert len(steps) == 8
    assert pulled.id not in {step.id for step in steps}


def test_a_resolved_issue_is_archived_after_14_days(world: World) -> None:
    world.session()
    done = world.remember("done", kind="issue", state="resolved")
    world.remember("not done", kind="issue", state="open")
    world.remember("pinned", kind="issue", state="resolved", pinned=True)
    world.session(days=14)
    assert upkeep(world) == ()
    world.session(days=1)
    (step,) = upkeep(world)
    assert (step.id, step.action, step.to_phase) == (done.id, "archive", Phase.ARCHIVED)
    assert step.reason == "resolved more than 14 days ago"
    assert upkeep(world) == ()


def test_only_memories_in_force_are_looked_at(world: World) -> None:
    world.session()
    for status in (Status.SUPERSEDED, Status.FORGOTTEN, Status.QUARANTINED):
        world.remember(status.value, status=status, impact=Impact.LOW)
    world.remember("archived", phase=Phase.ARCHIVED, impact=Impact.LOW)
    upkeep(world)
    world.sessions(9)
    assert upkeep(world, max_memories=1) == ()


def test_of_150_memories_the_true_lowest_ten_give_way(world: World) -> None:
    """traps 2.1 #6: the lowest of all, not of the first page and not of ranks 101 to 110."""
    chance = random.Random(6)
    world.session()
    made = [world.remember(f"memory {n}", difficulty=chance.random()) for n in range(150)]
    upkeep(world, max_memories=150)
    for _ in range(6):
        world.session()
        world.store.used([each.id for each in chance.sample(made, 40)])
    usage = world.store.usage([each.id for each in made])
    worth = {
        each.id: priority(each.difficulty, usage[each.id].sessions_since, usage[each.id].uses)
        for each in made
    }
    lowest = sorted(made, key=lambda each: (worth[each.id], each.created, each.id))[:10]
    steps = upkeep(world)
    assert [step.id for step in steps] == [each.id for each in lowest]
    assert {(step.action, int(step.from_phase), int(step.to_phase)) for step in steps} == {
        ("evict", 0, 1)
    }
    assert steps[0].reason == (
        f"priority {worth[lowest[0].id]:.2f} is among the lowest of 150 memories, 100 are wanted"
    )


@pytest.mark.parametrize("sessions", [0, 1, 4])
def test_of_what_was_stored_before_the_first_session_the_unused_give_way(
    world: World, sessions: int
) -> None:
    """What upkeep meets at the end of a session was not used in it."""
    made = [world.remember(f"memory {n}") for n in range(6)]
    used = {made[0].id, made[3].id}
    world.store.used(used)
    world.sessions(sessions)
    bounds = limits(max_memories=2, eviction_batch_size=4)
    would = due(world.store, now=world.now, limits=bounds)
    steps = run(world.store, now=world.now, limits=bounds).done
    assert [step.id for step in would] == [step.id for step in steps]
    assert {step.id for step in steps} == {each.id for each in made} - used


def test_a_vault_at_its_limit_is_left_alone(world: World) -> None:
    world.session()
    for n in range(5):
        world.remember(f"memory {n}")
    assert upkeep(world, max_memories=5) == ()
    assert len(upkeep(world, max_memories=4, eviction_batch_size=2)) == 2


def test_among_equals_the_oldest_give_way_first(world: World) -> None:
    world.session()
    ages = [3, 1, 4, 2]
    made = {
        age: world.remember(f"{age} days", created=world.now - timedelta(days=age)) for age in ages
    }
    steps = upkeep(world, max_memories=1, eviction_batch_size=3)
    assert [step.id for step in steps] == [made[age].id for age in (4, 3, 2)]


def test_critical_and_pinned_memories_count_and_never_give_way(world: World) -> None:
    world.session()
    for n in range(4):
        world.remember(f"critical {n}", impact=Impact.CRITICAL)
    world.remember("pinned", pinned=True)
    plain = world.remember("plain", difficulty=1.0)
    steps = upkeep(world, max_memories=5)
    assert [step.id for step in steps] == [plain.id]


def test_a_batch_goes_once_in_a_session_until_the_vault_has_its_size(world: World) -> None:
    """traps 2.1 #7: only reaching phase 3 lowers the count, so each session takes a batch."""
    for n in range(14):
        world.remember(f"memory {n}", impact=Impact.HIGH)
    sizes = []
    for _ in range(7):
        world.session(days=0.01)
        upkeep(world, max_memories=10, eviction_batch_size=2)
        assert upkeep(world, max_memories=10, eviction_batch_size=2) == ()
        sizes.append(world.store.list(ACTIVE).total)
    assert sizes == [14, 14, 12, 12, 12, 10, 10]


def test_without_any_session_a_batch_goes_once(world: World) -> None:
    for n in range(6):
        world.remember(f"memory {n}")
    assert len(upkeep(world, max_memories=2, eviction_batch_size=3)) == 3
    assert upkeep(world, max_memories=2, eviction_batch_size=3) == ()


def test_each_vault_has_its_own_size_and_batch(world: World) -> None:
    world.session()
    for n in range(3):
        world.remember(f"project {n}")
        world.remember(f"agent {n}", scope=Scope.AGENT)
    bounds = {Scope.PROJECT: Limits(max_memories=3), Scope.AGENT: Limits(max_memories=2)}
    done = run(world.store, now=world.now, limits=bounds).done
    assert {step.vault for step in done} == {"agent"}
    assert len(done) == 3


def test_a_memory_that_fades_and_is_in_the_batch_takes_one_step(world: World) -> None:
    world.session()
    made = [world.remember(f"memory {n}", impact=Impact.LOW) for n in range(4)]
    upkeep(world)
    world.sessions(2)
    steps = upkeep(world, max_memories=3, eviction_batch_size=2)
    assert sorted(step.action for step in steps) == ["evict", "evict", "fade", "fade"]
    assert "allows 1; priority" in steps[-1].reason
    assert {world.read(each.id).phase for each in made} == {Phase.HINT}
    assert upkeep(world, max_memories=3, eviction_batch_size=2) == ()


def test_a_repository_has_no_say_over_an_agents_memories(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shared = tmp_path / "repo" / ".claude" / "ltm"
    for folder, text in (
        (home, "max_memories = 50\nfade_days.high = 60\n"),
        (shared, "max_memories = 7\n"),
    ):
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text(text, encoding="utf-8")
    assert limits_of(load(str(home), str(shared))) == {
        Scope.PROJECT: Limits(max_memories=7, high_days=60),
        Scope.AGENT: Limits(max_memories=50, high_days=60),
    }


def test_five_runs_leave_a_memory_as_the_first_one_left_it(world: World) -> None:
    """traps 2.3 #4: decay repeated on every Stop and the text grew shorter or longer each time."""
    world.session()
    for n in range(12):
        world.remember(f"memory {n}", impact=Impact.LOW)
    upkeep(world)
    world.sessions(3)
    assert upkeep(world, max_memories=5)
    first = files(world)
    for _ in range(5):
        assert upkeep(world, max_memories=5) == ()
        assert files(world) == first


def test_a_plan_changes_nothing_and_counts_as_no_use(world: World) -> None:
    """traps 2.1 #8: what upkeep reads gains no frequency."""
    world.session()
    made = [world.remember(f"memory {n}", impact=Impact.LOW) for n in range(6)]
    ids = [each.id for each in made]
    world.store.seen(ids)
    world.sessions(3)
    before, usage = files(world), world.store.usage(ids)
    planned = plan(world.store, now=world.now, limits=limits(max_memories=2))
    assert planned == plan(world.store, now=world.now, limits=limits(max_memories=2))
    assert len(planned) == 6
    assert (files(world), world.store.usage(ids)) == (before, usage)
    apply(world.store, planned)
    after = world.store.usage(ids)
    assert all(after[each].uses == 0 for each in ids)
    assert all(after[each].sessions_since == usage[each].sessions_since for each in ids)


def test_priority_falls_for_memories_left_untouched(world: World) -> None:
    """traps 2.1 #9: computed when asked for, so recency falls without anybody rewriting it."""
    memory = world.remember()
    world.store.seen([memory.id])
    worth = []
    for _ in range(3):
        world.session()
        usage = world.store.usage([memory.id])[memory.id]
        worth.append(priority(memory.difficulty, usage.sessions_since, usage.uses))
    assert worth == sorted(worth, reverse=True)
    assert len(set(worth)) == 3


def test_a_memory_changed_after_the_plan_is_left_alone_and_reported(world: World) -> None:
    world.session()
    changed, gone, still = (world.remember(name, impact=Impact.LOW) for name in "abc")
    upkeep(world)
    world.sessions(2)
    planned = plan(world.store, now=world.now)
    other = world.another_store()
    other.update(changed.id, {"content": "New words."})
    other.delete(gone.id, purge=True)
    outcome = apply(world.store, planned)
    assert [step.id for step in outcome.done] == [still.id]
    assert {step.id for step, _ in outcome.skipped} == {changed.id, gone.id}
    assert all(step.id in why for step, why in outcome.skipped)
    assert world.read(changed.id).content == "New words."


impacts = st.sampled_from(Impact)
made_up = st.lists(st.tuples(impacts, st.booleans(), st.floats(0, 1)), min_size=1, max_size=12)


@settings(max_examples=25, deadline=None)
@given(made_up, st.integers(1, 8), st.integers(1, 5), st.integers(0, 9), st.data())
def test_a_second_run_straight_after_changes_nothing(
    memories: list[tuple[Impact, bool, float]],
    most: int,
    batch: int,
    days: int,
    data: st.DataObject,
) -> None:
    with TemporaryDirectory() as folder:
        world = World(Path(folder))
        try:
            world.session()
            made = [
                world.remember(f"memory {n}", impact=impact, pinned=pinned, difficulty=difficulty)
                for n, (impact, pinned, difficulty) in enumerate(memories)
            ]
            world.store.seen([each.id for each in made])
            for short in data.draw(st.sets(st.sampled_from([each.id for each in made]))):
                world.store.apply(Reduce(short, data.draw(st.sampled_from(Phase))))
            world.sessions(days)
            world.store.used(data.draw(st.sets(st.sampled_from([each.id for each in made]))))
            upkeep(world, max_memories=most, eviction_batch_size=batch)
            left = files(world)
            assert upkeep(world, max_memories=most, eviction_batch_size=batch) == ()
            assert files(world) == left
            for each in made:
                back = world.store.apply(Restore(each.id)).stored.memory
                assert (back.summary, back.content) == (each.summary, each.content)
        finally:
            world.close()


WANTED = 30


def test_a_season_leaves_what_is_needed_whole_and_loses_nothing(world: World) -> None:
    chance = random.Random(11)
    limits = {scope: Limits(max_memories=WANTED) for scope in Scope}
    made: list[Memory] = []
    used: list[str] = []
    sizes: list[int] = []
    for session in range(45):
        world.session(days=chance.choice([0.2, 1, 1, 3]))
        for n in range(chance.randint(1, 6)):
            impact = chance.choices(list(Impact), [3, 6, 2, 0.5])[0]
            title = f"memory {session}.{n}"
            made.append(world.remember(title, impact=impact, difficulty=chance.random()))
        used = [each.id for each in chance.sample(made, min(4, len(made)))]
        world.store.used(used)
        assert run(world.store, now=world.now, limits=limits).skipped == ()
        sizes.append(world.store.list(ACTIVE).total)
    assert len(made) > 4 * WANTED
    assert max(sizes) < 3 * WANTED
    critical = {each.id for each in made if each.impact is Impact.CRITICAL}
    assert critical
    whole = {each.memory.id for each in world.store.list(Filter(phases=(Phase.FULL,))).items}
    assert critical | set(used) <= whole
    for memory in made:
        back = world.store.apply(Restore(memory.id)).stored.memory
        assert (back.title, back.summary, back.content) == (
            memory.title,
            memory.summary,
            memory.content,
        )


def test_a_rule_a_person_stated_is_kept_whole_and_so_is_what_sessions_are_told(
    world: World,
) -> None:
    rule = world.remember("Use pnpm", kind="preference", impact=Impact.LOW).id
    seen = world.remember(
        "Prefers short names",
        kind="preference",
        impact=Impact.LOW,
        source=Source(Trust.ASSISTANT),
    ).id
    told = world.remember("Port 80", impact=Impact.LOW).id
    for _ in range(6):
        world.session(3)
        world.state.shown([told])
        run(world.store, now=world.now)
    phases = {name: world.store.read(name).memory.phase for name in (rule, seen, told)}
    assert phases[rule] is phases[told] is Phase.FULL
    assert phases[seen] is Phase.ABSTRACT
    assert world.store.usage([told])[told].uses == 0


def test_a_rule_that_was_archived_comes_back_whole(world: World) -> None:
    rule = world.remember("Use pnpm", kind="preference", impact=Impact.LOW).id
    world.store.apply(Reduce(rule, Phase.ARCHIVED))
    world.session(1)
    run(world.store, now=world.now)
    assert world.store.read(rule).memory.phase is Phase.FULL
