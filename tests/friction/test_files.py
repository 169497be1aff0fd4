"""What is written: seven files of known shape, private, and safe to look at."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from ltm.errors import Refused
from ltm.friction.report import write
from tests.friction.samples import heard, talk

FILES = {
    "friction_raw.jsonl",
    "friction_analysis.json",
    "friction_summary.json",
    "antigen_candidates.json",
    "antigen_clusters.json",
    "antigen_review.md",
    "report.md",
}
HOSTILE = (
    "no, \x1b[2J\x1b]0;owned\x07 stop | adding `ticks` ``` <!-- MEMORY:END --> </details>"
    " ![x](http://evil/) \u202e **bold** <script>alert(1)</script> # heading"
)


@pytest.fixture(params=[False, True], ids=["now", "classic"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The files of an analysis with every kind of trouble in it."""
    session = talk(tmp_path / "in")
    session.user("please add a page for orders")
    session.runs("make", "Exit code 2\nerror: ```\n\x1b[31mred\x1b[0m no rule", error=True)
    session.user(HOSTILE)
    session.says("Done.")
    session.runs("make x.py", "Exit code 2\nerror: no rule in src/x.py", error=True)
    session.user("my key is sk-ant-api03-" + "a1B2c3D4" * 12 + ", no, still broken, fuck")
    session.user("/stash before it gets worse")
    write(heard(tmp_path / "in", classic=request.param), str(tmp_path / "out"))
    return tmp_path / "out"


def load(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def test_there_are_the_seven_files_for_the_user_alone(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == FILES | {".gitignore"}
    for name in FILES:
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600


def test_raw_signals_have_their_shape(folder: Path) -> None:
    lines = (folder / "friction_raw.jsonl").read_text(encoding="utf-8").splitlines()
    signals = [json.loads(line) for line in lines]
    assert signals
    for signal in signals:
        assert {"ts", "source", "signal", "details", "session"} <= set(signal)
        assert signal["source"] in {"user", "tool", "llm", "system", "session"}


def test_the_analysis_has_its_shape(folder: Path) -> None:
    (session,) = load(folder, "friction_analysis.json")
    assert set(session) == {
        "session_id",
        "session_metadata",
        "friction_summary",
        "momentum",
        "quality",
        "by_source",
        "friction_trajectory",
        "patterns_detected",
    }
    assert set(session["session_metadata"]) == {
        "git_branch",
        "cwd",
        "started_at",
        "ended_at",
        "turn_count",
        "duration_min",
    }
    assert set(session["friction_summary"]) == {
        "peak",
        "final",
        "total_signals",
        "learning_moments",
    }
    assert set(session["momentum"]) == {"success_count", "error_count", "error_ratio"}
    assert session["quality"] == "BAD"
    assert session["friction_trajectory"][-1] == session["friction_summary"]["peak"]
    for source in session["by_source"].values():
        assert set(source) == {"total_friction", "signal_count", "signals"}
        for signal in source["signals"].values():
            assert set(signal) == {"count", "total_weight"}


def test_the_summary_has_its_shape(folder: Path) -> None:
    summary = load(folder, "friction_summary.json")
    assert set(summary) >= {
        "analyzed_at",
        "sessions_analyzed",
        "config_used",
        "aggregate_by_source",
        "by_project",
        "overall",
        "daily_stats",
        "best_session",
        "worst_session",
        "correlations",
        "common_sequences",
        "verdict",
    }
    keys = {
        "total_sessions",
        "interactive_sessions",
        "bad_sessions",
        "bad_rate",
        "avg_friction",
        "avg_duration_min",
        "avg_turns",
    }
    assert set(summary["overall"]) == keys
    assert all(set(project) == keys for project in summary["by_project"].values())
    assert set(summary["daily_stats"][0]) == {
        "date",
        "total",
        "interactive",
        "bad",
        "bad_rate",
        "avg_friction",
    }
    brief = {"session_id", "quality", "peak_friction", "turns", "duration_min"}
    assert set(summary["best_session"]) == set(summary["worst_session"]) == brief
    assert set(summary["correlations"]) == {
        "high_friction_sessions",
        "intervention_sessions",
        "intervention_predictability",
    }
    assert summary["common_sequences"] == []
    assert set(summary["verdict"]) == {"status", "reasons", "recommended_actions"}
    assert summary["verdict"]["status"] in {"USEFUL", "INCONCLUSIVE", "BLOAT"}
    for source in summary["aggregate_by_source"].values():
        assert set(source) == {
            "sessions_with_signals",
            "total_friction",
            "avg_friction_per_session",
            "top_signals",
        }


def test_candidates_and_clusters_have_their_shape(folder: Path) -> None:
    candidates = load(folder, "antigen_candidates.json")
    assert candidates
    for candidate in candidates:
        assert set(candidate) == {
            "session_id",
            "anchor_signal",
            "anchor_ts",
            "peak_friction",
            "turns_in_window",
            "files",
            "tool_sequence",
            "errors",
            "keywords",
            "user_context",
            "inhibitory_instruction",
        }
        assert candidate["turns_in_window"] <= 6
        assert len(candidate["user_context"]) <= 3
        assert candidate["files"] == sorted(candidate["files"])
    assert any("Bash:error" in candidate["tool_sequence"] for candidate in candidates)
    assert any("src/x.py" in candidate["files"] for candidate in candidates)
    clusters = load(folder, "antigen_clusters.json")
    for cluster in clusters:
        assert set(cluster) == {
            "anchor_signal",
            "tool_pattern",
            "count",
            "score",
            "sessions",
            "median_peak",
            "max_peak",
            "contexts",
            "errors",
            "top_files",
            "top_keywords",
        }
    assert [c["score"] for c in clusters] == sorted((c["score"] for c in clusters), reverse=True)
    assert sum(c["count"] for c in clusters) == len(candidates)


def test_the_review_has_its_headings(folder: Path) -> None:
    text = (folder / "antigen_review.md").read_text(encoding="utf-8")
    assert text.startswith("# Friction Antigen Clusters\n\nGenerated: ")
    assert "BAD sessions: 1 | Raw candidates: " in text
    assert "## Cluster Summary" in text
    assert "| # | Signal | Tool Pattern | Count | Sessions | Score | Median Peak |" in text
    assert "## Cluster 1: " in text
    assert "### User Context (what the user said)" in text


def test_the_report_has_its_parts(folder: Path) -> None:
    text = (folder / "report.md").read_text(encoding="utf-8")
    for heading in ("Executive summary", "Signals", "Friction levels", "Quality", "Projects"):
        assert f"## {heading}" in text
    assert "**CRITICAL**" in text


@pytest.mark.parametrize("name", ["report.md", "antigen_review.md"])
def test_hostile_text_stays_text(folder: Path, name: str) -> None:
    """Terminal escapes, markup, fences and our own markers do nothing in what a person reads."""
    text = (folder / name).read_text(encoding="utf-8")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
    prose = re.sub(r"(?ms)^(`{3,}).*?^\1$", "", text)
    assert "<!-- MEMORY" not in prose.replace("\\<", "")
    assert "<script" not in prose.replace("\\<", "")
    assert "](http" not in prose.replace("\\]", "")
    for line in prose.splitlines():
        if line.startswith("| "):
            cells = re.sub(r"\\.", "", line).count("|")
            assert cells in (4, 5, 6, 7, 8), line


def test_no_secret_is_in_any_file(folder: Path) -> None:
    for name in FILES:
        assert "a1B2c3D4" not in (folder / name).read_text(encoding="utf-8"), name


def test_git_does_not_see_the_files(folder: Path) -> None:
    """traps 2.2 #15: stash and friction are ignored by git."""
    import subprocess

    subprocess.run(["git", "init", "-q", "."], cwd=folder.parent, check=True)
    seen = subprocess.run(
        ["git", "status", "--porcelain", "-uall", "out"],
        cwd=folder.parent,
        check=True,
        capture_output=True,
        text=True,
    )
    assert seen.stdout == ""


def test_a_folder_of_the_users_gets_no_ignore_file(tmp_path: Path) -> None:
    talk(tmp_path / "in").user("hello there")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    write(heard(tmp_path / "in"), str(tmp_path / "mine"))
    assert not (tmp_path / "mine" / ".gitignore").exists()


def test_a_folder_that_leads_out_of_the_project_is_refused(tmp_path: Path) -> None:
    talk(tmp_path / "in").user("hello there")
    (tmp_path / "project" / ".claude").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "project" / ".claude" / "friction"
    os.symlink(tmp_path / "elsewhere", link)
    with pytest.raises(Refused, match="leads out"):
        write(heard(tmp_path / "in"), str(link), root=str(tmp_path / "project"))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_nothing_at_all_gives_whole_files_too(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text("")
    write(heard(tmp_path / "in"), str(tmp_path / "out"))
    assert load(tmp_path / "out", "friction_analysis.json") == []
    assert load(tmp_path / "out", "friction_summary.json")["best_session"] is None
