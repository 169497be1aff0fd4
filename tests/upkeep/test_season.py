"""A whole season of sessions: what upkeep leaves after many small steps."""

from __future__ import annotations

import random

from ltm.decisions import Restore
from ltm.model import Filter, Impact, Memory, Phase, Scope
from ltm.policy import Limits
from ltm.upkeep.plan import ACTIVE, run
from tests.upkeep.conftest import World

MOST = 30


def test_a_season_leaves_what_is_needed_whole_and_loses_nothing(world: World) -> None:
    chance = random.Random(11)
    limits = {scope: Limits(max_memories=MOST) for scope in Scope}
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
    assert len(made) > 4 * MOST
    assert max(sizes) < 3 * MOST
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
