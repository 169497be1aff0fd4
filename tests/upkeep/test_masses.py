"""What would put most memories out of use waits for a person, who is asked (reliability R21)."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from ltm.model import Filter, Impact, Phase, Scope, Status, iso
from ltm.policy import Limits
from ltm.project.layout import places
from ltm.state.session_log import SessionLog
from ltm.upkeep import consolidate, plan
from ltm.upkeep.plan import ACTIVE, FEW, Mass, masses, run
from ltm.vault import codec
from tests.cli.runner import Ltm
from tests.figures import count
from tests.stores import START, make
from tests.upkeep.conftest import World
from tests.worker.test_drain import Desk

LONG_AGO = START - timedelta(days=2000)


def fill(folder: Path, *, resolved: int = 40, facts: int = 20) -> None:
    """Put memories where they belong, most of them issues that were resolved long ago."""
    folder.mkdir(parents=True, exist_ok=True)
    kinds = [{"kind": "issue", "state": "resolved", "updated": LONG_AGO}] * resolved
    for n, fields in enumerate([*kinds, *[{}] * facts]):
        text = f"amber{n} basil{n} cedar{n} delta{n}"  # no two say the same
        memory = make(text, text, **fields)
        (folder / codec.file_name(memory)).write_bytes(codec.to_bytes(memory))


@pytest.fixture
def crowded(ltm: Ltm) -> Ltm:
    ltm.ok("remember", "Builds run on two cores only")
    (folder,) = ltm.home.glob(".ltm/projects/*/memories")
    fill(folder)
    return ltm


def files(ltm: Ltm) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in ltm.home.rglob("*.md")}


def test_upkeep_asks_before_it_archives_most_of_a_store(crowded: Ltm) -> None:
    before = files(crowded)
    planned = crowded.json("upkeep", "--dry-run")
    assert len(planned["actions"]) == 40
    assert planned["held"] == [{"scope": "project", "leaving": 40, "active": 61}]
    asked = crowded.run("upkeep")
    assert asked.returncode == 1
    assert "40 of 61 active memories of scope project" in asked.stderr
    assert "ltm upkeep --yes" in asked.stderr
    assert files(crowded) == before
    assert json.loads(crowded.run("upkeep", "--json").stdout)["actions"] == []
    told = crowded.run("status")
    assert "40 of 61 active memories" in told.stderr
    assert "ltm upkeep --yes" in told.stderr
    assert len(crowded.json("upkeep", "--yes")["actions"]) == 40
    assert crowded.json("status")["held"] == {}
    assert crowded.json("status")["by_phase"]["3"] == 40
    count("R21", masses_held=1, memories_saved=40)


def test_consolidation_asks_before_it_merges_most_of_a_store(ltm: Ltm) -> None:
    ltm.ok("remember", "Builds run on two cores only")
    (folder,) = ltm.home.glob(".ltm/projects/*/memories")
    said = "Uploads above ten megabytes are refused by the proxy in front"
    for _ in range(15):
        memory = make(said, said)
        (folder / codec.file_name(memory)).write_bytes(codec.to_bytes(memory))
    for words in (("consolidate",), ("consolidate", "--all")):
        asked = ltm.run(*words)
        assert asked.returncode == 1
        assert "ltm consolidate --yes" in asked.stderr
        assert json.loads(ltm.run(*words, "--json").stdout)["held"][0]["leaving"] == 14
    assert ltm.json("status")["active"] == 16
    assert "ltm consolidate --yes" in ltm.run("status").stderr
    ltm.ok("consolidate", "--yes")
    assert ltm.json("status")["active"] == 2
    assert ltm.json("status")["held"] == {}
    count("R21", masses_held=2, memories_saved=28)


def test_the_end_of_a_session_leaves_a_mass_alone_and_status_tells(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    where = places(str(desk.hooks.project), environ=desk.environ)
    fill(Path(where.private) / "memories")
    before = {path: path.read_bytes() for path in Path(where.private).rglob("*.md")}
    transcript = desk.transcript("s1")
    transcript.user("What is the time?")
    transcript.says("Noon.")
    desk.tell("SessionStart")
    desk.tell("SessionEnd")
    assert desk.drain().errors == 0
    after = {path: path.read_bytes() for path in Path(where.private).rglob("*.md")}
    assert before.items() <= after.items()
    assert plan.waiting_masses(where) == {"upkeep": "40 of 60 active memories of scope project"}
    # Once nothing is too much, nothing is told any more.
    log = SessionLog(where.state_db)
    plan.note_masses(log, where.project.id, plan.UPKEEP, ())
    log.close()
    assert plan.waiting_masses(where) == {}
    count("R21", masses_held=1, memories_saved=40)


def test_an_export_in_which_most_was_forgotten_needs_consent(ltm: Ltm, tmp_path: Path) -> None:
    kept = ltm.json("remember", "Builds run on two cores only")
    (folder,) = ltm.home.glob(".ltm/projects/*/memories")
    fill(folder, resolved=0, facts=30)
    path = tmp_path / "export.json"
    ltm.ok("export", str(path))
    value = json.loads(path.read_text())
    for each in value["memories"]:
        if each["id"] != kept["id"]:
            each.update(status=str(Status.FORGOTTEN), updated=iso(START + timedelta(days=1)))
    path.write_text(json.dumps(value))
    before = files(ltm)
    refused = ltm.run("import", str(path), "--merge")
    assert refused.returncode == 1
    assert "30 of 31 active memories of scope project" in refused.stderr
    assert "--yes" in refused.stderr
    assert files(ltm) == before
    assert ltm.json("import", str(path), "--merge", "--dry-run")["updated"] == 30
    assert ltm.json("import", str(path), "--merge", "--yes")["updated"] == 30
    assert ltm.json("status")["active"] == 1
    count("R21", masses_held=1, memories_saved=30)


DECADE = timedelta(days=3653)


@pytest.mark.parametrize(
    ("leaving", "active", "held"),
    [
        *((10, 10, False), (11, 11, True), (11, 36, True), (11, 37, False), (30, 100, False)),
        *((31, 100, True), (300, 1000, False), (301, 1000, True)),
    ],
)
def test_ten_may_always_go_and_of_more_three_in_ten(leaving: int, active: int, held: bool) -> None:
    assert bool(masses({Scope.AGENT: leaving}, {Scope.AGENT: active})) is held


def test_each_scope_is_judged_by_its_own_memories() -> None:
    active = {Scope.PROJECT: 1000, Scope.AGENT: 20}
    assert masses({Scope.PROJECT: 20, Scope.AGENT: 20}, active) == (Mass(Scope.AGENT, 20, 20),)
    # What is not counted at all is nothing, so that more than a few of it are a mass.
    assert masses({Scope.AGENT: 11}, {}) == (Mass(Scope.AGENT, 11, 0),)


def test_a_mass_is_told_in_words_and_in_fields() -> None:
    mass = Mass(Scope.PROJECT, 40, 50)
    assert str(mass) == "40 of 50 active memories of scope project"
    assert mass.as_record() == {"scope": "project", "leaving": 40, "active": 50}


@pytest.fixture
def decided(world: World) -> World:
    """Forty issues that were resolved, and ten facts."""
    world.session()
    for n in range(40):
        world.remember(f"The {n}th gauge leaks", kind="issue", state="resolved")
    for n in range(10):
        world.remember(f"Hall {n} has {n} doors")
    return world


def files_of(world: World) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in world.folder.rglob("*.md")}


def test_a_clock_that_jumps_by_ten_years_archives_nothing_by_itself(decided: World) -> None:
    before = files_of(decided)
    decided.now += DECADE
    outcome = run(decided.store, now=decided.now)
    assert outcome.held == (Mass(Scope.PROJECT, 40, 50),)
    assert outcome.done == ()
    assert files_of(decided) == before
    count("R21", masses_held=len(outcome.held), memories_saved=40)
    # With consent it is done, and all of it can be undone.
    outcome = run(decided.store, now=decided.now, consent=True)
    assert (len(outcome.done), outcome.held) == (40, ())
    assert decided.store.list(ACTIVE).total == 10


def test_what_is_not_a_mass_goes_on_while_one_waits(decided: World) -> None:
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


def test_a_few_and_a_share_need_no_consent(world: World) -> None:
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
    before = files_of(world)
    done, held = consolidate.run(world.store, world.now)
    assert (done, held) == ([], (Mass(Scope.PROJECT, 19, 40),))
    assert files_of(world) == before
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
    before = files_of(world)
    gone = sorted(before)[:16]
    for path in gone:
        Path(path).unlink()
    assert world.store.list(ACTIVE).total == 4
    run(world.store, now=world.now)
    consolidate.run(world.store, world.now)
    assert files_of(world) == {path: before[path] for path in sorted(before)[16:]}
    for path in gone:
        Path(path).write_bytes(before[path])
    assert {each.memory for each in world.store.list(ACTIVE).items} == set(made)
    uses = world.store.usage([each.id for each in made])
    lost = sum(each.id not in uses or uses[each.id].uses != 1 for each in made)
    count("R21", pulled_away=len(gone), lost_with_them=lost)
    assert lost == 0


def test_a_full_vault_still_gives_way_while_a_mass_waits(decided: World) -> None:
    """Else it would grow for as long as no one looks."""
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
