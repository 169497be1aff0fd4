"""Clocks that are wrong by decades, jump, go back, or show another zone's time (reliability R19).

No age is negative, ids stay unique, the newer version wins, and who gives way in a full vault does
not depend on what the clock says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm.kinds import Kinds
from ltm.model import Filter, Impact, Scope, new_id
from ltm.policy import Limits, confidence
from ltm.store.file_store import FileStore
from ltm.upkeep.plan import EVICT, run
from tests.faults.person import Person
from tests.figures import count
from tests.stores import begin, file_store, make
from tests.upkeep.conftest import DAY, START, World

YEAR = timedelta(days=365)


@pytest.fixture
def person(tmp_path: Path) -> Person:
    project = tmp_path / "project"
    project.mkdir()
    return Person(tmp_path / "user" / "home", project)


class Clock:
    """A clock that somebody sets as they like."""

    def __init__(self) -> None:
        self.at = datetime(2026, 3, 29, 0, 59, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[FileStore]:
    opened = file_store(tmp_path, clock)
    yield opened
    opened.close()


MOMENTS = (
    datetime(1969, 12, 31, tzinfo=UTC),
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(2024, 2, 29, tzinfo=UTC),
    datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC),
    datetime(9999, 12, 31, tzinfo=UTC),
)


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda each: str(each.year))
def test_a_clock_that_is_wrong_by_decades_disturbs_nothing(
    store: FileStore, clock: Clock, moment: datetime
) -> None:
    kept = store.create(
        make("before the jump", created=clock(), updated=clock(), confirmed=clock())
    )
    clock.at = moment
    other = make("after it", created=moment, updated=moment, confirmed=moment, id=new_id(moment))
    store.create(other)
    store.update(kept.memory.id, {"content": "changed after the jump"})
    store.used([kept.memory.id, other.id])
    assert store.read(other.id).memory.created == moment
    assert store.read(kept.memory.id).memory.version == 2
    assert store.list(Filter()).total == 2
    usage = store.usage([kept.memory.id])[kept.memory.id]
    count("R19", clocks=1)
    assert (usage.uses, usage.sessions_since, usage.idle_days) == (1, 0, 0)


def test_ids_are_unique_however_the_clock_jumps(store: FileStore, clock: Clock) -> None:
    ids = []
    for number in range(200):
        clock.at += timedelta(seconds=(7, -3600, 0, 86400, -86400)[number % 5])
        ids.append(new_id(clock()))
    count("R19", ids=len(ids), ids_twice=len(ids) - len(set(ids)))
    assert len(set(ids)) == len(ids)


def test_a_newer_version_wins_although_the_clock_went_back(store: FileStore, clock: Clock) -> None:
    """Order is told by versions and not by moments."""
    memory = store.create(make(content="first", created=clock(), updated=clock())).memory
    clock.at -= timedelta(days=800)
    store.update(memory.id, {"content": "second"})
    clock.at -= timedelta(days=800)
    after = store.update(memory.id, {"content": "third"}).memory
    assert (after.content, after.version) == ("third", 3)
    assert [each.memory.content for each in store.versions(memory.id)] == ["first", "second"]


def test_a_memory_from_the_future_is_not_of_negative_age(person: Person) -> None:
    kept = person.value("remember", "Builds run on two cores only")
    path = Path(kept["path"])
    year = str(datetime.now(UTC).year)
    path.write_text(path.read_text().replace(f"created: {year}", "created: 2999"))
    listed = person.run("list")
    assert listed.returncode == 0
    age = listed.stdout.split("\t")[5]
    count("R19", ages=1, negative_ages=int("-" in age))
    assert "-" not in age


def test_whatever_the_clock_says_no_age_is_negative() -> None:
    wrong = 0
    for kind in Kinds():
        for made in MOMENTS:
            for at in MOMENTS:
                memory = make(kind=kind.name, created=made, updated=made, confirmed=made)
                wrong += not 0 <= confidence(memory, kind, at) <= memory.confidence
    count("R19", ages=len(list(Kinds())) * len(MOMENTS) ** 2, negative_ages=wrong)
    assert wrong == 0


SHIFTS: dict[str, Callable[[int], timedelta]] = {
    "2 years behind": lambda n: -2 * YEAR,
    "10 years ahead": lambda n: 10 * YEAR,
    "in 1969": lambda n: datetime(1969, 12, 20, tzinfo=UTC) - START,
    "over the end of 2038": lambda n: datetime(2038, 1, 14, tzinfo=UTC) - START,
    "over the change of the hour": lambda n: timedelta(hours=n // 6),
    "back by 2 years on the way": lambda n: -2 * YEAR * (n >= 6),
    "ahead by 10 years on the way": lambda n: 10 * YEAR * (n >= 6),
    "ahead for one session": lambda n: 10 * YEAR * (n == 6),
    "back by an hour in each": lambda n: timedelta(hours=-n),
}


def gave_way(folder: Path, shift: Callable[[int], timedelta]) -> list[set[str]]:
    """Who gave way in each session of a crowded project, whose clock is off."""
    limits = {scope: Limits(max_memories=10, eviction_batch_size=4) for scope in Scope}
    world = World(folder)
    titles: dict[str, str] = {}
    found = []
    for n in range(12):
        world.now = START + n * DAY + shift(n)
        begin(world.state, f"session {n}", world.project, world.now)
        for place in range(3):
            title = f"memory {n}.{place}"
            memory = world.remember(title, impact=Impact.HIGH, difficulty=(n * 3 + place) % 7 / 10)
            titles[memory.id] = title
        world.store.used(sorted(titles, key=lambda each: titles[each])[n % 5 :: 5])
        done = run(world.store, now=world.now, limits=limits).done
        found.append({titles[each.id] for each in done if each.action == EVICT})
    world.close()
    return found


@pytest.mark.parametrize("name", SHIFTS)
def test_who_gives_way_does_not_depend_on_the_clock(name: str, tmp_path: Path) -> None:
    right = gave_way(tmp_path / "right", lambda n: timedelta())
    wrong = gave_way(tmp_path / "wrong", SHIFTS[name])
    different = sum(one != other for one, other in zip(right, wrong, strict=True))
    count("R19", clocks=1, evicted=sum(map(len, right)), evicted_otherwise=different)
    assert sum(map(len, right)) >= 20
    assert wrong == right


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/St_Johns", "Pacific/Kiritimati", "???"])
def test_a_clock_of_any_zone_gives_the_same_moments(person: Person, zone: str) -> None:
    abroad = Person(person.home, person.project, {"TZ": zone})
    kept = abroad.value("remember", "Builds run on two cores only")["id"]
    made = datetime.fromisoformat(abroad.value("show", kept)["created"])
    count("R19", clocks=1)
    assert abs(datetime.now(UTC) - made) < timedelta(minutes=30)
