"""What would put most memories out of use waits for a person, who is told and asked (R21)."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from ltm.model import Status, iso
from ltm.project.layout import places
from ltm.state.session_log import SessionLog
from ltm.upkeep import plan
from ltm.vault import codec
from tests.cli.runner import Ltm
from tests.figures import count
from tests.stores import START, make
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
    assert plan.waiting(where) == {"upkeep": "40 of 60 active memories of scope project"}
    # Once nothing is too much, nothing is told any more.
    log = SessionLog(where.state_db)
    plan.note(log, where.project.id, plan.UPKEEP, ())
    log.close()
    assert plan.waiting(where) == {}
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
