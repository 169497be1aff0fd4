"""No machine puts most of a store out of use without asking a person (reliability R21)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.model import Filter, Impact, Phase, Scope, Status
from ltm.policy import FEW, SHARE, Limits, Mass, masses
from ltm.upkeep import consolidate
from ltm.upkeep.plan import ACTIVE, run
from tests.figures import count
from tests.upkeep.conftest import World

DECADE = timedelta(days=3653)


@given(st.integers(0, 400), st.integers(0, 400))
def test_a_mass_is_more_than_a_few_and_more_than_the_share(leaving: int, active: int) -> None:
    found = masses({Scope.PROJECT: leaving}, {Scope.PROJECT: active, Scope.AGENT: 1000})
    mass = Mass(Scope.PROJECT, leaving, active)
    assert found == ((mass,) if leaving > FEW and leaving > SHARE * active else ())


@pytest.fixture
def decided(world: World) -> World:
    """Forty issues that were resolved, and ten facts."""
    world.session()
    for n in range(40):
        world.remember(f"The {n}th gauge leaks", kind="issue", state="resolved")
    for n in range(10):
        world.remember(f"Hall {n} has {n} doors")
    return world


def files(world: World) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in world.folder.rglob("*.md")}


def test_a_clock_that_jumps_by_ten_years_archives_nothing_by_itself(decided: World) -> None:
    before = files(decided)
    decided.now += DECADE
    outcome = run(decided.store, now=decided.now)
    assert outcome.held == (Mass(Scope.PROJECT, 40, 50),)
    assert outcome.done == ()
    assert files(decided) == before
    count("R21", masses_held=len(outcome.held), memories_saved=40)
    # With consent it is done, and all of it can be undone.
    outcome = run(decided.store, now=decided.now, consent=True)
    assert (len(outcome.done), outcome.held) == (40, ())
    assert decided.store.list(ACTIVE).total == 10


def test_what_is_no_mass_goes_on_beside_one_that_waits(decided: World) -> None:
    faded = decided.remember("A note of little weight", impact=Impact.LOW)
    run(decided.store, now=decided.now)
    decided.sessions(2)
    decided.now += DECADE
    outcome = run(decided.store, now=decided.now, limits={each: Limits() for each in Scope})
    assert [each.leaving for each in outcome.held] == [40]
    assert [each.id for each in outcome.done] == [faded.id]
    assert decided.read(faded.id).phase is Phase.HINT


def test_each_scope_is_counted_by_itself(decided: World) -> None:
    for n in range(200):
        decided.remember(f"Everywhere {n}", scope=Scope.AGENT)
    outcome = run(decided.store, now=decided.now + DECADE)
    assert outcome.held == (Mass(Scope.PROJECT, 40, 50),)


def test_a_few_and_a_share_need_nobody(world: World) -> None:
    world.session()
    for n in range(FEW):
        world.remember(f"The {n}th gauge leaks", kind="issue", state="resolved")
    outcome = run(world.store, now=world.now + DECADE)
    assert (len(outcome.done), outcome.held) == (FEW, ())
    for n in range(30):
        world.remember(f"The {n}th valve leaks", kind="issue", state="resolved")
    for n in range(70):
        world.remember(f"Hall {n} has {n} doors")
    outcome = run(world.store, now=world.now + DECADE)
    assert (len(outcome.done), outcome.held) == (30, ())


def test_repetitions_that_are_most_of_a_store_are_not_merged_by_themselves(world: World) -> None:
    said = "Uploads above ten megabytes are refused by the proxy in front"
    for _ in range(20):
        world.remember(said, content=said, summary=said)
    for n in range(20):
        other = f"amber{n} basil{n} cedar{n} delta{n}"
        world.remember(other, content=other, summary=other)
    before = files(world)
    done, held = consolidate.run(world.store, world.now)
    assert (done, held) == ([], (Mass(Scope.PROJECT, 19, 40),))
    assert files(world) == before
    count("R21", masses_held=1, memories_saved=19)
    done, held = consolidate.run(world.store, world.now, consent=True)
    assert (len(done), held) == (1, ())
    assert world.store.list(Filter(statuses=(Status.SUPERSEDED,))).total == 19


def test_fading_kinds_are_not_all_let_go_after_a_jump_of_the_clock(world: World) -> None:
    for n in range(25):
        text = f"amber{n} basil{n} cedar{n} delta{n}"
        world.remember(text, content=text, summary=text, kind="progress")
    done, held = consolidate.run(world.store, world.now + DECADE)
    assert (done, [each.leaving for each in held]) == ([], [25])
    count("R21", masses_held=1, memories_saved=25)


def test_a_pull_that_deletes_most_files_takes_nothing_else_with_it(world: World) -> None:
    """What git deletes is git's to bring back: then it is in use as it was, with its uses."""
    world.session()
    made = [world.remember(f"amber{n} basil{n} cedar{n}") for n in range(20)]
    world.store.used([each.id for each in made])
    before = files(world)
    gone = sorted(before)[:16]
    for path in gone:
        Path(path).unlink()
    assert world.store.list(ACTIVE).total == 4
    run(world.store, now=world.now)
    consolidate.run(world.store, world.now)
    assert files(world) == {path: before[path] for path in sorted(before)[16:]}
    for path in gone:
        Path(path).write_bytes(before[path])
    assert {each.memory for each in world.store.list(ACTIVE).items} == set(made)
    uses = world.store.usage([each.id for each in made])
    lost = sum(each.id not in uses or uses[each.id].uses != 1 for each in made)
    count("R21", pulled_away=len(gone), lost_with_them=lost)
    assert lost == 0


def test_a_full_vault_still_gives_way_while_a_mass_waits(decided: World) -> None:
    """Else it would grow for as long as nobody looks."""
    short = [decided.remember(f"amber{n} basil{n}", phase=Phase.ABSTRACT).id for n in range(30)]
    run(decided.store, now=decided.now)
    decided.session()
    others = [each.memory.id for each in decided.store.list(ACTIVE).items]
    decided.store.used([each for each in others if each not in short])
    limits = {each: Limits(max_memories=20, eviction_batch_size=25) for each in Scope}
    outcome = run(decided.store, now=decided.now + DECADE, limits=limits)
    assert outcome.held == (Mass(Scope.PROJECT, 65, 80),)
    assert {each.action for each in outcome.done} == {"evict"}
    assert len(outcome.done) == FEW
    assert {each.id for each in outcome.done} <= set(short)
