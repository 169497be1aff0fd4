"""`ltm friction` as a person or a script runs it."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm.state.corrections import opened
from tests.cli.runner import Ltm
from tests.friction.samples import Talk, talk


@pytest.fixture
def ltm(tmp_path: Path) -> Ltm:
    """The command line in a fresh project with an empty home."""
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    return Ltm(tmp_path / "home", tmp_path / "project")


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    """Five sessions in which the same had to be said, and a good one."""
    folder = tmp_path / "sessions"
    for number in range(6):
        made = session(folder, number)
        if number < 5:
            made.user("no, use pnpm and not npm")
            made.runs("pnpm test", "green")
    return folder


def session(folder: Path, number: int, day: int = 1) -> Talk:
    made = talk(folder, f"{number:08d}-2222-4333-8444-555555555555")
    made.user(f"please add page {number}", timestamp=f"2026-11-{day + number:02d}T09:00:00Z")
    made.runs("make", "green")
    return made


def test_a_person_sees_a_summary_a_trend_and_where_the_files_are(ltm: Ltm, sessions: Path) -> None:
    done = ltm.run("friction", str(sessions))
    assert done.returncode == 0, done.stderr
    assert "6 sessions, 0 of them bad" in done.stdout
    assert any(block in done.stdout for block in "▁▂▃▄▅▆▇█")
    assert "user_correction\t5\t40" in done.stdout
    assert "ag-001\t5\thigh\tobserving\tno, use pnpm and not npm" in done.stdout
    folder = ltm.project / ".claude" / "friction"
    assert str(folder) in done.stderr
    assert ".gitignore" in done.stderr
    assert (folder / ".gitignore").read_text().endswith("*\n")
    assert (folder / "report.md").exists()


def test_a_script_gets_the_summary(ltm: Ltm, sessions: Path) -> None:
    answer = ltm.json("friction", str(sessions))
    written = json.loads((ltm.project / ".claude/friction/friction_summary.json").read_text())
    assert {key: answer[key] for key in written} == written
    assert answer["sessions_analyzed"] == 6


def test_running_it_twice_writes_the_same_and_counts_nothing_twice(
    ltm: Ltm, sessions: Path
) -> None:
    folder = ltm.project / ".claude" / "friction"
    ltm.ok("friction", str(sessions))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = ltm.run("friction", str(sessions))
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    timed = {"friction_summary.json", "report.md", "antigen_review.md"}
    assert {k: v for k, v in before.items() if k not in timed} == {
        k: v for k, v in after.items() if k not in timed
    }
    assert set(before) == set(after)
    assert "ag-001\t5\thigh" in done.stdout
    assert ".gitignore" not in done.stderr


def test_a_dry_run_writes_and_keeps_nothing(ltm: Ltm, sessions: Path) -> None:
    ltm.ok("friction", str(sessions), "--dry-run")
    assert not (ltm.project / ".claude").exists()
    assert not (ltm.home / ".ltm" / "friction.db").exists()


@pytest.mark.parametrize("option", ["--out", "--output"])
def test_the_files_can_go_elsewhere(ltm: Ltm, sessions: Path, option: str, tmp_path: Path) -> None:
    ltm.ok("friction", str(sessions), option, str(tmp_path / "out"))
    assert (tmp_path / "out" / "friction_raw.jsonl").exists()
    assert not (ltm.project / ".claude").exists()


def test_classic_rules_teach_nothing(ltm: Ltm, sessions: Path) -> None:
    answer = ltm.json("friction", str(sessions), "--classic")
    assert answer["config_used"]["rules"] == "classic"
    assert answer["config_used"]["weights"]["request_interrupted"] == 2.5
    assert not (ltm.home / ".ltm" / "friction.db").exists()


def test_weights_and_thresholds_are_options(ltm: Ltm, sessions: Path) -> None:
    """traps 2.2 #5: the config overrides weights and thresholds, in both rule sets."""
    ltm.ok("config", "friction.weights.user_correction", "2.5")
    ltm.ok("config", "friction.weights.exit_success", "0.5")
    ltm.ok("config", "friction.thresholds.friction_peak", "3")
    answer = ltm.json("friction", str(sessions), "-n")
    assert answer["config_used"]["weights"]["user_correction"] == 2.5
    assert answer["worst_session"]["peak_friction"] == 3.5
    assert answer["correlations"]["high_friction_sessions"] == 5
    classic = ltm.json("friction", str(sessions), "-n", "--classic")
    assert classic["config_used"]["weights"]["exit_success"] == 0.5
    assert classic["config_used"]["weights"]["user_curse"] == 5.0


def test_since_leaves_out_what_ended_before(ltm: Ltm, sessions: Path) -> None:
    old = talk(sessions, "00000099-2222-4333-8444-555555555555")
    old.user("please add a page", timestamp="2026-11-14T23:59:00Z")
    answer = ltm.json("friction", str(sessions), "-n", "--since", "2026-11-15")
    assert answer["sessions_analyzed"] == 6  # these go on until the 15th
    assert answer["input"]["before_since"] == 1
    assert ltm.json("friction", str(sessions), "-n", "--since", "9000d")["sessions_analyzed"] == 7
    assert ltm.run("friction", str(sessions), "--since", "soon").returncode == 2


def test_an_empty_folder_is_an_error_and_writes_nothing(ltm: Ltm, tmp_path: Path) -> None:
    """traps 2.2 #9: no input stops it."""
    (tmp_path / "empty").mkdir()
    done = ltm.run("friction", str(tmp_path / "empty"))
    assert done.returncode == 1
    assert "there are no transcripts" in done.stderr
    assert done.stdout == ""
    assert ltm.run("friction", str(tmp_path / "missing")).returncode == 1
    assert not (ltm.project / ".claude").exists()


def test_without_a_path_this_projects_sessions_are_read(ltm: Ltm) -> None:
    """Its folder, parts of it and parts that are gone; not another project, also not inside."""
    subprocess.run(["git", "init", "-q", "."], cwd=ltm.project, check=True)
    inner = ltm.project / "inner"
    inner.mkdir()
    subprocess.run(["git", "init", "-q", "."], cwd=inner, check=True)
    (ltm.project / "src").mkdir()
    client = ltm.home / ".claude" / "projects"
    folders = (ltm.project, ltm.project / "src", ltm.project / "gone", ltm.home, inner)
    for number, cwd in enumerate(folders):
        made = talk(client / f"folder-{number}", f"{number:08d}-2222-4333-8444-555555555555")
        made.add("user", message={"role": "user", "content": "add a page"}, cwd=str(cwd))
    assert ltm.json("friction", "-n")["sessions_analyzed"] == 3
    assert ltm.json("friction", "-n", "--project", str(inner))["sessions_analyzed"] == 1


def test_bad_lines_and_unreadable_files_are_told(ltm: Ltm, sessions: Path) -> None:
    (sessions / "broken.jsonl").write_text("{\n")
    (sessions / "broken.jsonl.gz").write_bytes(b"no archive")
    done = ltm.run("friction", str(sessions))
    assert done.returncode == 0
    assert "1 line could not be read" in done.stderr
    assert f"Could not read {sessions / 'broken.jsonl.gz'}" in done.stderr


def test_evidence_belongs_to_the_project_of_its_session(ltm: Ltm, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for number in range(3):
        made = session(tmp_path / "in", number)
        made.add("user", message={"role": "user", "content": "hi there"}, cwd=str(other))
    text = (tmp_path / "in").iterdir()
    for path in text:
        path.write_text(path.read_text().replace('"cwd":"/p"', f'"cwd":"{other}"'))
        made = Talk(path, path.stem + "x")
        made.user("no, use pnpm and not npm", cwd=str(other), uuid=f"{path.stem}-last")
    assert "ag-001" not in ltm.ok("friction", str(tmp_path / "in"))
    assert "ag-001\t3" in ltm.ok("friction", str(tmp_path / "in"), cwd=other)


def test_the_effect_of_a_promoted_rule_is_shown(ltm: Ltm, sessions: Path) -> None:
    assert "No rule has become a memory yet" in ltm.run("friction", "--effect").stderr
    assert ltm.json("friction", "--effect") == {"effects": [], "total": 0}
    ltm.ok("friction", str(sessions))
    project = ltm.json("status")["project"]["id"]
    with opened(str(ltm.home / ".ltm")) as ledger:
        ledger.promoted(project, "ag-001", "mem_x", datetime(2026, 11, 8, tzinfo=UTC))
    for number in range(10, 14):
        session(sessions, number)
    ltm.ok("friction", str(sessions))
    (effect,) = ltm.json("friction", "--effect")["effects"]
    assert effect["before"] == {"seen": 5, "conversations": 6, "rate": 0.833}
    assert effect["after"] == {"seen": 0, "conversations": 4, "rate": 0.0}
    assert (effect["verdict"], effect["memory"], effect["status"]) == ("stopped", "mem_x", "hot")
    shown = ltm.ok("friction", "--effect")
    assert "ag-001\t2026-11-08\t5 of 6\t0 of 4\tstopped\thot\tno, use pnpm and not npm" in shown


def test_effect_takes_no_other_words(ltm: Ltm, sessions: Path) -> None:
    assert ltm.run("friction", str(sessions), "--effect").returncode == 2


def test_hostile_words_do_not_steer_the_terminal(ltm: Ltm, tmp_path: Path) -> None:
    made = session(tmp_path / "in", 1)
    made.user("no, \x1b[2Juse pnpm\x07 \u202eand not npm")
    done = ltm.run("friction", str(tmp_path / "in"))
    assert not set("\x1b\x07\u202e") & set(done.stdout + done.stderr)
    assert "use pnpm" in done.stdout
