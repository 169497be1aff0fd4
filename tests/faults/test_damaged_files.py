"""Memory files that were damaged: each is named and left alone, and all others work (R11).

What a single file may hold is tried in `tests/vault/test_hostile_files`; here it lies in a vault
among others, and everything that happens to a vault happens.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm.config.config import load
from ltm.errors import LtmError
from ltm.inject.memory_md import write_views
from ltm.kinds import Kinds
from ltm.model import Filter, Memory, Status
from ltm.project.layout import Places, places
from ltm.store.file_store import FileStore
from ltm.store.open import open_files, vaults_of
from ltm.upkeep import consolidate
from ltm.upkeep.doctor import examine, mend
from ltm.upkeep.plan import run
from ltm.vault import codec, frontmatter
from tests.figures import count
from tests.stores import make

SEED = 11
DAMAGES = 300 if os.environ.get("LTM_FAULTS") == "all" else 48
MEMORIES = 12
ANY = Filter(statuses=tuple(Status))

Damage = Callable[[bytes, bytes, random.Random], bytes]
"""The bytes of a file, those of its neighbour, and chance make something else."""


def bad_yaml(data: bytes, other: bytes, chance: random.Random) -> bytes:
    line = chance.choice((b"title: 'open", b"tags: [a, b", b"\t- x", b"own: {a: b", b"x: &a *a"))
    return data.replace(b"kind:", line + b"\nkind:", 1)


def doubled_keys(data: bytes, other: bytes, chance: random.Random) -> bytes:
    return data.replace(b"kind:", chance.choice((b"title: again", b"tags: []")) + b"\nkind:", 1)


def markers(data: bytes, other: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    place = chance.randrange(len(lines))
    lines[place:place] = [b"<<<<<<< HEAD", b"a", b"=======", b"b", b">>>>>>> other"]
    return b"\n".join(lines)


def nul(data: bytes, other: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + bytes(chance.choice((1, 512))) + data[place:]


def empty(data: bytes, other: bytes, chance: random.Random) -> bytes:
    return chance.choice((b"", b"\n", b"---\n", b"\xef\xbb\xbf"))


def wrong_id(data: bytes, other: bytes, chance: random.Random) -> bytes:
    return chance.choice((other, data.replace(b"id: mem_", b"id: ../mem_", 1)))


def not_utf8(data: bytes, other: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + chance.choice((b"\xff\xfe", b"\xed\xa0\x80", b"\xc3")) + data[place + 1 :]


def torn(data: bytes, other: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def flipped(data: bytes, other: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 4, 32))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def noise(data: bytes, other: bytes, chance: random.Random) -> bytes:
    return chance.randbytes(chance.randrange(1, 5_000))


KINDS: tuple[Damage, ...] = (
    *(bad_yaml, doubled_keys, markers, nul, empty, wrong_id, not_utf8, torn, flipped, noise),
)


def saved() -> dict[str, bytes]:
    """The files of some memories of which no two say the same."""
    texts = [f"amber{n} basil{n} cedar{n} delta{n}" for n in range(MEMORIES)]
    made = [make(text, text, id=f"mem_{n:017d}") for n, text in enumerate(texts)]
    return {codec.file_name(memory): codec.to_bytes(memory) for memory in made}


@pytest.fixture
def where(tmp_path: Path) -> Places:
    """A project with these memories."""
    (tmp_path / "project").mkdir()
    environ = {"HOME": str(tmp_path), "LTM_HOME": str(tmp_path / "home")}
    found = places(str(tmp_path / "project"), environ=environ)
    folder = Path(found.private) / "memories"
    folder.mkdir(parents=True)
    for name, data in saved().items():
        (folder / name).write_bytes(data)
    return found


@pytest.mark.parametrize("number", range(DAMAGES))
def test_a_damaged_file_is_named_and_left_and_all_others_work(number: int, where: Places) -> None:
    chance = random.Random(f"{SEED} {number}")
    damage = KINDS[number % len(KINDS)]
    store = open_files(where, load(where.home))
    before = {each.memory.id: each.memory for each in store.list(ANY).items}
    assert len(before) == MEMORIES
    paths = sorted((Path(where.private) / "memories").glob("*.md"))
    victim, neighbour = chance.sample(paths, 2)
    data = damage(victim.read_bytes(), neighbour.read_bytes(), chance)
    victim.write_bytes(data)
    others = {name: memory for name, memory in before.items() if name not in victim.name}
    wrong = ["it crashed"]
    try:
        wrong = list(after(store, where, victim, data, others))
    finally:
        store.close()
        count("R11", damages=1, crashes=wrong.count("it crashed"), wrong=len(wrong))
    assert not wrong, (damage.__name__, SEED, number, wrong)


def after(
    store: FileStore, where: Places, victim: Path, data: bytes, others: dict[str, Memory]
) -> Iterator[str]:
    """What is wrong after a damage."""
    readable = can_be_read(data, victim)
    now = datetime.now(UTC)

    def look(when: str) -> Iterator[str]:
        found = {each.memory.id: each.memory for each in store.list(ANY).items}
        for name, memory in others.items():
            if found.get(name) != memory:
                yield f"{when}: another memory is not as it was: {name}"
        named = {each.path for each in store.problems()}
        if not readable and str(victim) not in named:
            yield f"{when}: it is not named"

    yield from look("at first")
    report = examine(store, where, load(where.home))
    if not readable and str(victim) not in {each.path for each in report.problems}:
        yield "check does not list it"
    if not store.search(next(iter(others.values())).title, ANY, 5).items:
        yield "what is not damaged is not found"
    store.create(make("A memory that is new", "harbour lantern quay"))
    consolidate.run(store, now)
    run(store, now=now)
    write_views(store, vaults_of(where), where.project.root, now=now)
    store.rebuild()
    yield from look("after all of it")
    if not readable:
        mend(store, where, load(where.home))
        if not victim.exists() or victim.read_bytes() != data:
            yield "it was rewritten or deleted"


def can_be_read(data: bytes, path: Path) -> bool:
    """Whether a file is still a memory, perhaps another one."""
    try:
        codec.decode(frontmatter.parse(data, str(path)), str(path), Kinds())
    except LtmError:
        return False
    return True
