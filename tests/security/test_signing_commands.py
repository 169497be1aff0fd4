"""Keys and signatures as a person meets them: keygen, sign, verify, and the sign of a warning."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runner import Ltm
from tests.security.strangers import session_start

WARNED = "⚠~FACT:MED| Ports begin at 9999"


def verify(ltm: Ltm, *words: str) -> tuple[int, Any]:
    done = ltm.run("verify", *words, "--json")
    return done.returncode, json.loads(done.stdout or "null")


def tamper(path: str) -> None:
    file = Path(path)
    file.write_text(file.read_text().replace("8000", "9999"))


@pytest.fixture
def memory(ltm: Ltm) -> dict[str, str]:
    """A memory that was kept before there was a key."""
    found = ltm.json("remember", "Ports begin at 8000")
    return {"id": found["id"], "path": found["path"]}


def test_the_whole_way_of_a_key(ltm: Ltm, memory: dict[str, str]) -> None:
    assert "⚠ " not in ltm.ok("list")
    made = ltm.json("keygen")
    path = Path(made["path"])
    assert (stat.S_IMODE(path.stat().st_mode), path.parent) == (0o600, ltm.home / ".ltm")
    assert verify(ltm) == (1, [{"id": memory["id"], "state": "unsigned"}])
    would = ltm.json("sign", "--dry-run")
    assert (would["signed"], would["dry_run"]) == ([memory["id"]], True)
    assert verify(ltm)[0] == 1
    assert ltm.json("sign")["signed"] == [memory["id"]]
    assert verify(ltm) == (0, [{"id": memory["id"], "state": "ok"}])
    later = ltm.json("remember", "Never push to main")["id"]
    assert verify(ltm, later) == (0, [{"id": later, "state": "ok"}])
    assert "key " in ltm.ok("status")
    assert ltm.json("status")["signing"] == made["key"]


def test_an_edit_by_hand_is_visible_until_someone_looked(ltm: Ltm, memory: dict[str, str]) -> None:
    ltm.ok("keygen")
    ltm.ok("sign")
    tamper(memory["path"])
    assert verify(ltm, memory["id"]) == (1, [{"id": memory["id"], "state": "changed"}])
    assert WARNED in ltm.ok("inject")
    assert "- ⚠Ports begin at 9999" in ltm.ok("inject", "--format", "markdown")
    assert "⚠ Ports begin at 9999" in ltm.ok("list")
    shown = ltm.ok("show", memory["id"])
    assert "⚠ fact" in shown.splitlines()[0]
    assert f"ltm sign {memory['id']}" in shown
    assert ltm.json("show", memory["id"])["signed"] == "changed"
    report = json.loads(ltm.run("doctor", "--json").stdout)
    assert not report["healthy"]
    assert any("changed outside ltm" in each["message"] for each in report["problems"])
    ltm.run("doctor", "--fix")
    assert verify(ltm)[0] == 1, "a repair does not vouch for anything"
    left = ltm.json("sign")
    assert (left["signed"], left["changed"]) == ([], [memory["id"]])
    assert ltm.json("sign", memory["id"])["signed"] == [memory["id"]]
    assert verify(ltm)[0] == 0
    assert "⚠~" not in ltm.ok("inject")


def test_all_are_signed_when_that_is_asked_for(ltm: Ltm, memory: dict[str, str]) -> None:
    ltm.ok("keygen")
    ltm.ok("sign")
    tamper(memory["path"])
    assert ltm.json("sign", "--all")["signed"] == [memory["id"]]
    assert verify(ltm)[0] == 0


def test_unsigned_memories_carry_the_warning_too(ltm: Ltm, memory: dict[str, str]) -> None:
    """Traps 2.3 #8: a missing signature was never flagged."""
    ltm.ok("keygen")
    assert "⚠~FACT:MED| Ports begin at 8000" in ltm.ok("inject")


def test_a_text_kept_ready_is_made_again_when_the_key_changes(
    ltm: Ltm, memory: dict[str, str]
) -> None:
    assert "⚠~" not in session_start(ltm, ltm.project)
    ltm.ok("keygen")
    assert "⚠~" in session_start(ltm, ltm.project)
    ltm.ok("sign")
    assert "⚠~" not in session_start(ltm, ltm.project)
    assert "⚠~" not in session_start(ltm, ltm.project)
    key = ltm.home / ".ltm" / "signing.key"
    key.rename(key.with_name("old.key"))
    ltm.ok("keygen")
    assert "⚠~" in session_start(ltm, ltm.project)


def test_without_a_key_it_says_how_to_make_one(ltm: Ltm, memory: dict[str, str]) -> None:
    for words in (["verify"], ["sign"], ["sign", memory["id"]]):
        done = ltm.run(*words)
        assert done.returncode == 1
        assert "ltm keygen" in done.stderr


def test_a_second_key_is_refused(ltm: Ltm) -> None:
    first = ltm.json("keygen")
    done = ltm.run("keygen")
    assert done.returncode == 1
    assert "already" in done.stderr
    assert (Path(first["path"])).read_text()


def test_a_key_that_is_damaged_warns_of_everything_and_stops_nothing(
    ltm: Ltm, memory: dict[str, str]
) -> None:
    ltm.ok("keygen")
    ltm.ok("sign")
    (ltm.home / ".ltm" / "signing.key").write_text("not a key")
    ltm.ok("remember", "Never push to main")
    assert ltm.ok("inject").count("⚠~") == 2
    report = json.loads(ltm.run("doctor", "--json").stdout)
    assert any("cannot be used as a key" in each["message"] for each in report["problems"])
    assert ltm.run("sign").returncode == 1


def test_the_key_is_in_nothing_that_leaves_this_machine(ltm: Ltm, memory: dict[str, str]) -> None:
    """Traps 2.3 #7."""
    path = Path(ltm.json("keygen")["path"])
    secret = path.read_text().strip()
    ltm.ok("init")
    ltm.ok("sign", "--all")
    ltm.ok("remember", "Never push to main")
    session_start(ltm, ltm.project)
    said = [ltm.ok(*words) for words in (["export", "-"], ["status"], ["inject"], ["config"])]
    assert all(secret not in each for each in said)
    files = [each for each in (*ltm.home.rglob("*"), *ltm.project.rglob("*")) if each.is_file()]
    holding = [each for each in files if secret.encode() in each.read_bytes()]
    assert holding == [path]


def test_a_memory_that_is_forgotten_or_imported_is_signed(
    ltm: Ltm, memory: dict[str, str], tmp_path: Path
) -> None:
    """Traps 2.3 #8: forget, achievement and import rows were unsigned."""
    ltm.ok("export", str(tmp_path / "all.json"))
    ltm.ok("keygen")
    ltm.ok("forget", memory["id"])
    assert verify(ltm)[1][0]["state"] == "unsigned"
    ltm.ok("sign")
    assert verify(ltm)[0] == 0
    other = Ltm(ltm.home, tmp_path / "other")
    other.project.mkdir()
    other.ok("import", str(tmp_path / "all.json"))
    assert verify(other) == (0, [{"id": memory["id"], "state": "ok"}])
