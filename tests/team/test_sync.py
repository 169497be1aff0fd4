"""Machines and the server of a team: what is kept on one arrives at all, whatever happens."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest

from tests.effort import ALL
from tests.team import offline
from tests.team.world import Machine, TeamWorld, team_world

OFFLINE = 1_000 if ALL else 150  # more than one request has
"""Decisions that each of two machines makes without a network."""


def converged(*machines: Machine) -> dict[str, str]:
    """The files of all replicas, which must be the same to the byte, after two rounds each."""
    for _ in range(2):
        for each in machines:
            assert each.sync()["error"] == ""
    first, *others = [each.files() for each in machines]
    assert all(each == first for each in others)
    return first


def test_what_one_machine_keeps_another_finds_and_is_told(world: TeamWorld) -> None:
    one, other = world.machine("ben"), world.machine("cleo")
    memory = one.remember("We deploy on Tuesdays because on-call is fresh then")
    assert one.status()["unsent"] == 1
    assert (one.sync()["sent"], other.sync()["received"]) == (1, 1)
    assert one.status()["unsent"] == 0
    hits = other.json("recall", "when do we deploy")["hits"]
    assert [hit["id"] for hit in hits] == [memory]
    assert "We deploy on Tuesdays" in other.ltm("inject")
    assert other.json("show", memory)["vault"] == "team:acme"
    assert "at once: ltm team sync" in other.run("edit", "--team", "acme", memory, "--pin").stderr
    assert "ltm team sync" not in other.run("list", "--team", "acme").stderr
    assert {each["name"] for each in one.json("team", "members")["members"]} == {
        *("anna", "ben", "cleo")
    }


def test_what_is_said_in_other_words_is_found_on_machines_and_by_agents(world: TeamWorld) -> None:
    """Without a word in common: by vectors, in the replica and in the database (pgvector)."""
    one, question = world.machine("ben"), "nightly wipe of the test db"
    memory = one.remember("The staging database is reset every evening")
    one.sync()
    for words in ((), ("--team", "acme")):
        (hit,) = one.json("recall", question, *words)["hits"]
        assert (hit["id"], hit["why"]) == (memory, "close in meaning")
    assert memory in str(world.server.call(world.tokens["ben"], "recall", query=question))
    other = world.machine("cleo", "curator")
    other.ltm("forget", "--team", "acme", memory, "--purge", "--yes")
    other.sync()
    one.sync()
    kept = b"".join(each.read_bytes() for each in one.replica.glob("vectors.db*"))
    assert kept
    assert memory.encode() not in kept


def test_a_team_that_is_not_trusted_is_neither_told_nor_found_but_may_be_looked_at(
    world: TeamWorld,
) -> None:
    world.machine("ben").remember("The bucket is called heron")
    machine = Machine(world.folder / "new")
    world.server.admin("invite", "cleo")
    world.machine("ben").sync()
    token = world.invite("dora")
    machine.ltm("team", "join", world.address, stdin=f"{token}\n")
    for each in world.folder.glob("ben-0"):
        Machine(each).sync()
    machine.sync()
    assert machine.json("recall", "bucket")["hits"] == []
    assert "heron" not in machine.ltm("inject")
    assert "ltm trust team:acme" in machine.ltm("inject")
    assert machine.json("list")["total"] == 0
    assert machine.json("list", "--team", "acme")["total"] == 1
    machine.ltm("trust", "team:acme", "--no")
    assert machine.json("recall", "bucket")["hits"] == []
    assert "team:acme" not in machine.ltm("inject")
    machine.ltm("trust", "team:acme")
    assert len(machine.json("recall", "bucket")["hits"]) == 1


def test_edits_of_two_machines_that_were_offline_are_merged_field_by_field(
    world: TeamWorld,
) -> None:
    one, other = world.machine("ben"), world.machine("cleo")
    lines = ("Releases are cut from main", "The tag is made by hand", "Notes come last")
    memory = one.remember("\n\n".join(lines))
    converged(one, other)

    def say(machine: Machine, *said: str) -> str:
        return machine.ltm("edit", "--team", "acme", memory, "--content", "\n\n".join(said))

    one.ltm("edit", "--team", "acme", memory, "--impact", "critical")
    told = say(one, lines[0], "A bot tags", lines[2])
    assert f"the former text is kept: ltm restore --team acme {memory} --version 1" in told
    assert one.sync()["merged"] == 0
    # The second edit was made on the first, a state that the server never had.
    other.ltm("edit", "--team", "acme", memory, "--tags", "release,git")
    say(other, lines[0], lines[1], "Notes come first")
    assert other.sync()["merged"] == 2
    (text,) = converged(one, other).values()
    for each in ("impact: critical", "git", "A bot tags", "Notes come first"):
        assert each in text
    assert "Notes come last" not in text


def test_hundreds_of_decisions_made_offline_arrive_in_both_directions(world: TeamWorld) -> None:
    one, other = world.machine("ben"), world.machine("cleo")
    shared = [one.remember(f"Fact {number} of the common stock") for number in range(10)]
    converged(one, other)
    for seed, (machine, name) in enumerate(((one, "ben"), (other, "cleo"))):
        offline.decide(str(machine.home), name, shared, seed, OFFLINE)
        assert machine.status()["unsent"] == OFFLINE
    files = converged(one, other)
    assert one.status()["refused"] == other.status()["refused"] == []
    assert one.status()["unsent"] == other.status()["unsent"] == 0
    own = [text for text in files.values() if "own fact" in text]
    assert len(own) == len(files) - len(shared)
    assert len(own) > OFFLINE // 5


def test_large_memories_come_in_several_answers(world: TeamWorld) -> None:
    one, other = world.machine("ben"), world.machine("cleo")
    offline.add(str(one.home), [f"Log {number} {'of the night ' * 75_000}" for number in range(7)])
    assert one.sync()["error"] == ""
    first = world.server.ask("GET", "/t/acme/p/main/changes", world.tokens["cleo"])[2]
    assert (first["more"], len(first["changes"])) == (True, 5)
    assert other.sync()["received"] == 7


@pytest.mark.parametrize("kept", [0, 3])
def test_a_purge_reaches_every_replica_and_what_waits_there(world: TeamWorld, kept: int) -> None:
    one, other = world.machine("ben"), world.machine("cleo", "curator")
    memory = one.remember("The password hint is the name of the first cat")
    converged(one, other)
    for number in range(kept):
        one.ltm("edit", "--team", "acme", memory, "--content", f"The cat, said {number} times")
    other.ltm("remember", "Payments run on port 7431")
    other.ltm("sync")
    views = {path: path.read_text() for path in other.home.glob("projects/*/MEMORY.md")}
    other.ltm("forget", "--team", "acme", memory, "--purge", "--yes")
    assert [text for text in views.values() if "7431" in text]
    assert all(path.read_text() == text for path, text in views.items())
    other.sync()
    one.sync()
    assert converged(one, other) == {}
    assert one.status()["refused"] == []
    for machine in (one, other):
        for path in machine.replica.rglob("*"):
            data = path.read_bytes() if path.is_file() else b""
            assert b" cat" not in data, path


def test_a_file_edited_by_hand_is_sent_and_a_deleted_one_comes_back(world: TeamWorld) -> None:
    one, other = world.machine("ben"), world.machine("cleo")
    one.remember("The cache is flushed at noon")
    one.remember("The queue is drained at night")
    converged(one, other)
    cache, queue = sorted((one.replica / "memories").glob("*.md"))
    token = "ghp_" + "aB3dE5" * 6
    cache.write_text(cache.read_text().replace("at noon", f"at one o'clock with {token}"))
    queue.unlink()
    files = converged(one, other)
    assert len(files) == 2
    assert sum("at one o'clock" in text for text in files.values()) == 1
    assert not any(token in text for text in files.values()), "a secret is not sent"
    assert sum("at night" in text for text in files.values()) == 1


def test_what_an_agent_stores_waits_until_a_curator_approves_it(world: TeamWorld) -> None:
    one, curator = world.machine("ben"), world.machine("cleo", "curator")
    for name in ("ben", "cleo"):  # an agent with a curator's token approves nothing either
        world.server.call(world.tokens[name], "store_memory", content="The index is rebuilt daily")
    converged(one, curator)
    assert one.json("recall", "index")["hits"] == []
    assert "2 memories of the team acme waiting" in curator.run("approve").stderr
    assert "acme" not in one.run("approve").stderr, "who may not approve is not asked"
    waiting = one.json("approve", "--team", "acme")["waiting"]
    assert len(waiting) == 2
    refused = one.run("approve", "--team", "acme", waiting[0]["id"])
    assert refused.returncode == 1
    assert "only a curator or an owner of acme may approve" in refused.stderr
    curator.ltm("approve", "--team", "acme", waiting[0]["id"])
    converged(one, curator)
    assert [hit["id"] for hit in one.json("recall", "index")["hits"]] == [waiting[0]["id"]]


def test_the_server_refuses_what_a_machine_lets_through_and_the_replica_follows_it(
    world: TeamWorld,
) -> None:
    one = world.machine("ben")
    memory = one.remember("Builds run on the blue cluster")
    one.sync()
    world.server.admin("role", "ben", "reader")
    one.ltm("edit", "--team", "acme", memory, "--content", "Builds run on the red cluster")
    assert one.sync()["refused"] == 1
    (text,) = one.files().values()
    assert "blue cluster" in text
    (refused,) = one.status()["refused"]
    assert (refused["decision"], refused["text"]) == ("revise", "Builds run on the red cluster")
    world.server.admin("role", "ben", "writer")
    one.sync()
    new = one.remember("Tests run at night")
    one.ltm("edit", "--team", "acme", new, "--tags", "night")
    world.server.admin("role", "ben", "reader")
    assert (one.sync()["refused"], len(one.files())) == (2, 1)
    told = {(each["id"], each["text"]) for each in one.status()["refused"]}
    assert told >= {(new, "Tests run at night"), (new, "")}, "what was said here is not lost"
    assert "you may read" in one.run("remember", "--team", "acme", "More").stderr
    one.ltm("team", "status", "--dismiss")
    assert one.status()["refused"] == []


def test_a_server_that_is_killed_loses_and_doubles_nothing(world: TeamWorld) -> None:
    """It is killed while decisions are on their way, at another moment each time."""
    one, other = world.machine("ben"), world.machine("cleo")
    texts: list[str] = []
    for taken in range(0, 40, 7 if ALL else 14):
        before = len(texts)
        texts += (new := [f"Lesson {number} of {before}" for number in range(40)])
        offline.add(str(one.home), new)
        rounds = one.start("team", "sync", "--json")
        while world.memories() <= before + taken and rounds.poll() is None:
            pass
        world.server.kill()
        rounds.communicate()
        world.server.start()
        files = converged(one, other)
        assert all(any(text in each for each in files.values()) for text in texts)
        assert len(files) == len(texts) == world.memories()


def test_what_only_a_newer_ltm_knows_is_told_and_waits_for_it(world: TeamWorld) -> None:
    one, other = world.machine("ben"), world.machine("cleo")
    one.remember("The gate is closed at nine")
    one.sync()
    later = "update ltm.memory set record = record || %s, seq = seq + 1"
    with psycopg.connect(world.cluster.url(world.name)) as db:
        db.execute(later, ('{"kind": "recipe"}',))
    done = other.run("team", "sync")
    assert done.returncode == 1
    assert "the server has what this ltm does not know, so update it: kind" in done.stderr
    with psycopg.connect(world.cluster.url(world.name)) as db:
        db.execute(later, ('{"kind": "fact"}',))
    assert len(converged(one, other)) == 1


def test_a_machine_that_lost_what_it_knew_takes_everything_again(world: TeamWorld) -> None:
    one = world.machine("ben")
    memory = one.remember("Tickets are closed on Fridays")
    one.sync()
    for damaged in ("", "{", json.dumps({"cursor": "x"}), json.dumps({"cursor": 99, "etags": {}})):
        (one.replica / "known.json").write_text(damaged)
        assert one.sync()["error"] == ""
        assert [each["id"] for each in one.json("list", "--team", "acme")["memories"]] == [memory]
    assert world.memories() == 1


def test_leaving_deletes_all_and_loses_no_decision_unasked(world: TeamWorld) -> None:
    one = world.machine("ben")
    one.remember("A")
    refused = one.run("team", "leave", "acme", "--json")
    assert "1 decision would be lost" in refused.stderr
    one.sync()
    one.ltm("team", "leave", "acme", "--yes")
    assert not one.replica.exists()
    assert one.json("team", "status")["teams"] == []
    assert one.json("list")["total"] == 0


def test_an_export_of_the_team_is_read_by_any_ltm_checked_and_put_back(
    world: TeamWorld, tmp_path: Path
) -> None:
    one = world.machine("ben", "curator")
    memories = [one.remember(text) for text in ("Alpha is first", "Beta is second")]
    one.sync()
    world.server.call(world.tokens["ben"], "store_memory", content="The index is rebuilt daily")
    one.sync()
    one.ltm("approve", "--team", "acme", "--all")
    one.sync()
    memories += [each["id"] for each in one.json("recall", "index rebuilt")["hits"]]
    world.server.admin("project", "web")
    folder = tmp_path / "backup"
    world.server.admin("export", str(folder))
    assert world.server.admin("check", str(folder))["projects"][0]["same"] == 3
    alone = Machine(tmp_path / "alone")
    alone.ltm("import", str(folder / "main.json.gz"))
    assert {each["id"] for each in alone.json("list")["memories"]} == set(memories)
    one.ltm("forget", "--team", "acme", memories[0], "--purge", "--yes")
    one.sync()
    assert world.server.admin("import", str(folder))["projects"] == [
        {"project": "main", "added": 0, "here": 2, "purged": 1},
        {"project": "web", "added": 0, "here": 0, "purged": 0},
    ]
    (tmp_path / "restored").mkdir()
    with team_world(tmp_path / "restored", world.cluster) as restored:
        assert restored.server.admin("import", str(folder))["projects"][0]["added"] == 3
        main, _ = restored.server.admin("check", str(folder))["projects"]
        assert (main["same"], main["missing"]) == (3, 0), "nothing waits once more"
        owned = restored.server.admin("project")["projects"]
        assert owned == [
            {"project": name, "members": {"anna": "owner"}} for name in ("main", "web")
        ]
