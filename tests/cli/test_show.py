"""`ltm show` prints what a memory was learned from, in whatever state that is."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runner import Ltm
from tests.sessions.writing import Transcript

TOKEN = "ghp_" + "a1B2" * 9
ORDER = "Always deploy from the release branch in this project."


@pytest.fixture
def told(ltm: Ltm, tmp_path: Path) -> Path:
    """A session with an order on its third line, captured."""
    path = tmp_path / "told.jsonl"
    written = Transcript(path)
    written.user("hello")
    written.says("Hello.")
    written.user(f"{ORDER} The old token was {TOKEN} \x1b[31mred")
    written.says("Noted.")
    ltm.ok("capture", str(path))
    return path


def only(ltm: Ltm) -> dict[str, Any]:
    (memory,) = ltm.json("list")["memories"]
    shown: dict[str, Any] = ltm.json("show", memory["id"])
    return shown


def test_the_lines_are_shown_with_who_and_when_without_secrets_and_control_bytes(
    ltm: Ltm, told: Path
) -> None:
    shown = only(ltm)
    (line,) = shown["evidence"]["lines"]
    assert (line["line"], line["role"]) == (3, "user")
    assert line["at"].startswith("20")
    assert line["text"].startswith(ORDER)
    assert shown["evidence"]["transcript"] == str(told)
    for printed in (ltm.ok("show", shown["id"]), str(shown)):
        assert TOKEN not in printed
        assert "\x1b" not in printed
    assert f"user: {ORDER}" in ltm.ok("show", shown["id"])


def test_when_the_transcript_is_gone_what_was_kept_of_it_is_shown(ltm: Ltm, told: Path) -> None:
    told.unlink()
    behind = only(ltm)["evidence"]
    assert "is gone" in behind["note"]
    assert any(ORDER in line["text"] for line in behind["lines"])


def test_when_nothing_is_left_it_says_so(ltm: Ltm, told: Path) -> None:
    told.unlink()
    for path in (ltm.home / ".ltm").rglob("sessions*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    behind = only(ltm)["evidence"]
    assert behind["lines"] == []
    assert "nothing was kept" in behind["note"]


def test_a_packed_transcript_is_read_too(ltm: Ltm, told: Path) -> None:
    packed = told.with_suffix(".jsonl.gz")
    packed.write_bytes(gzip.compress(told.read_bytes()))
    told.unlink()
    ltm.ok("capture", str(packed))
    behind = only(ltm)["evidence"]
    assert behind["transcript"] == str(packed)
    assert behind["lines"][0]["text"].startswith(ORDER)


def test_long_stretches_are_cut_and_the_rest_is_counted(ltm: Ltm, tmp_path: Path) -> None:
    written = Transcript(tmp_path / "long.jsonl")
    written.user("make the tests pass")
    written.calls("Bash", "c1", command="make test")
    written.result("Exit code 1\nValueError: 12", "c1", error=True)
    for number in range(30):
        written.says(f"Looking at part {number}.")
    written.calls("Edit", "c2", file_path="prices.py", old_string="1.2", new_string="1.1")
    written.result("ok", "c2")
    written.calls("Bash", "c3", command="make test")
    written.result("ok", "c3")
    ltm.ok("capture", str(tmp_path / "long.jsonl"))
    shown = only(ltm)
    assert len(shown["evidence"]["lines"]) == 20
    assert shown["evidence"]["more"] > 0
    assert f"{shown['evidence']['more']} more lines" in ltm.ok("show", shown["id"])


def test_what_a_person_typed_has_no_lines(ltm: Ltm) -> None:
    made = ltm.json("remember", "The invoices are archived for ten years.")
    assert ltm.json("show", made["id"])["evidence"]["lines"] == []
    assert "Learned from" not in ltm.ok("show", made["id"])
