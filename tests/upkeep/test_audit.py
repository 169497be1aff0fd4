"""The shares of junk, repetition, staleness, disuse and secrets, and how repetition is found."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from ltm.decisions import Forget, Reduce
from ltm.model import Phase
from ltm.text.similarity import jaccard, pairs
from ltm.upkeep.doctor import UNUSED_DAYS, audit
from tests.upkeep.conftest import World

THEN = datetime(2026, 1, 1, tzinfo=UTC)


def test_an_audit_counts_each_sort_and_names_its_members(world: World) -> None:
    world.session()
    text = "Deploys go through the staging cluster before production"
    first = world.remember("deploy", summary=text, content="")
    again = world.remember(
        "deploying", summary=f"Note: {text}!", content="", created=world.now + timedelta(hours=1)
    )
    junk = world.remember("ok", summary="ok", content="")
    stale = world.remember("writing the parser", kind="progress")
    world.store.seen([each.id for each in (first, again, junk, stale)])
    world.sessions(UNUSED_DAYS)
    world.store.used([first.id, stale.id])
    found = audit(world.store, world.now)
    assert found == {
        "memories": 4,
        "junk": {"count": 1, "rate": 0.25, "ids": [junk.id]},
        "duplicate": {"count": 1, "rate": 0.25, "ids": [again.id]},
        "stale": {"count": 1, "rate": 0.25, "ids": [stale.id]},
        "unused": {"count": 2, "rate": 0.5, "ids": found["unused"]["ids"]},
        "secret": {"count": 0, "rate": 0.0, "ids": []},
    }
    assert set(found["unused"]["ids"]) == {again.id, junk.id}


def test_an_audit_of_nothing_has_no_rates_to_divide(world: World) -> None:
    assert audit(world.store, world.now)["junk"] == {"count": 0, "rate": 0.0, "ids": []}


def test_what_is_out_of_the_active_set_is_not_audited(world: World) -> None:
    for phase in (None, Phase.ARCHIVED):
        memory = world.remember("ok", summary="ok", content="")
        world.store.apply(Forget(memory.id) if phase is None else Reduce(memory.id, phase))
    assert audit(world.store, world.now)["memories"] == 0


def test_a_memory_shortened_by_upkeep_is_still_known_for_as_long(world: World) -> None:
    memory = world.remember()
    world.store.seen([memory.id])
    world.sessions(UNUSED_DAYS)
    world.store.apply(Reduce(memory.id, Phase.HINT))
    assert audit(world.store, world.now)["unused"]["ids"] == [memory.id]


def test_a_memory_with_a_secret_in_it_is_counted(world: World) -> None:
    world.remember("How to log in", content="Ask the vault; <private> is for what stays here.")
    exposed = world.remember("Log in", content="password: " + "Tr0ub4dor" + "-and-3")
    named = world.remember("Tagged", tags=("ghp_" + "A1b2" * 9,))
    assert set(audit(world.store, world.now)["secret"]["ids"]) == {exposed.id, named.id}


def test_an_audit_is_no_use(world: World) -> None:
    memory = world.remember()
    audit(world.store, world.now)
    assert world.store.usage([memory.id]) == {}


words = st.sampled_from([f"word{n}" for n in range(14)])


@given(st.lists(st.frozensets(words, max_size=12), max_size=14), st.floats(0.05, 1.0))
def test_every_pair_that_overlaps_enough_is_found_and_no_other(
    sets: list[frozenset[str]], least: float
) -> None:
    expected = {
        (one, other)
        for one, other in combinations(range(len(sets)), 2)
        if jaccard(sets[one], sets[other]) >= least
    }
    found = list(pairs(sets, least))
    assert len(found) == len(set(found))
    assert set(found) == expected
