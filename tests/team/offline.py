"""Many decisions on a replica, in one process, as a person makes them in weeks without network."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import closing

from ltm.config.config import load
from ltm.decisions import Add, Forget, Reinforce, Restore, Revise
from ltm.model import Impact, Memory, Source, Status, new_id, now
from ltm.state.usage import State
from ltm.team.replica import ReplicaStore
from ltm.team.teams import team_named


def add(home: str, texts: Sequence[str]) -> None:
    """Keep new memories."""
    with _replica(home) as store:
        for text in texts:
            store.apply(Add(_fact(text)))


def decide(home: str, who: str, shared: Sequence[str], seed: int, count: int) -> None:
    """Make so many decisions about shared memories and new ones."""
    chance = random.Random(seed)
    with _replica(home) as store:
        own: list[str] = []
        for number in range(count):
            if number % 3 == 0:
                memory = _fact(f"{who} has own fact {number}")
                store.apply(Add(memory))
                own.append(memory.id)
                continue
            name = chance.choice([*shared, *own])
            known = store.read(name).memory
            if known.status is Status.FORGOTTEN:
                store.apply(Restore(name))
            elif number % 17 == 0 and name in own:
                store.apply(Forget(name))
            elif number % 5 == 0:
                store.apply(Reinforce(name, Source()))
            elif number % 5 == 1:
                tags = (*known.tags, f"{who}{number}")
                store.apply(Revise(name, {"tags": tags}))
            elif number % 5 == 2:
                store.apply(Revise(name, {"impact": chance.choice(list(Impact))}))
            else:
                content = f"{known.content}\n\nSeen by {who} at {number}"
                store.apply(Revise(name, {"content": content}))


def _replica(home: str) -> closing[ReplicaStore]:
    team = team_named(home, "acme")
    return closing(ReplicaStore(team, State(f"{home}/state.db"), load(home).kinds))


def _fact(text: str) -> Memory:
    moment = now()
    title = text[:80]
    return Memory(new_id(moment), "fact", title, title, text, moment, moment, moment)
