"""The programme of promises has a row for each, and each row can be tried or says why not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.soak.__main__ import run
from benchmarks.soak.programme import README, ROWS
from benchmarks.soak.row import Outcome, Part, Row, read, write
from tests import figures

NAMES = tuple([f"R{number}" for number in range(1, 28)] + [f"S{number}" for number in range(1, 23)])


def test_no_promise_is_missing() -> None:
    assert tuple(row.id for row in ROWS) == NAMES


def test_whatever_the_readme_promises_has_rows_that_prove_it() -> None:
    said = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^- \*\*(.+?)\*\*", said, re.M) == list(README)
    tried = {row.id for row in ROWS if row.parts(full=False)}
    assert all(rows and set(rows) <= tried for rows in README.values())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_promise_can_be_tried_or_says_why_not(row: Row) -> None:
    assert row.parts(full=True) or row.instead
    root = Path(__file__).parents[1]
    for part in row.parts(full=True):
        if part.is_test:
            paths = [word for word in part.words[2:] if word.startswith("tests/")]
            assert paths
            assert all((root / path.partition("::")[0]).exists() for path in paths)
        else:
            module = root / part.words[0].replace(".", "/")
            assert module.with_suffix(".py").exists() or (module / "__main__.py").exists()


def test_counts_are_added_up_and_of_sizes_the_worst_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "figures.jsonl"
    monkeypatch.setenv(figures.VARIABLE, str(path))
    figures.count("R1", points=3, lost=0)
    figures.count("R1", points=4, lost=0)
    figures.worst("R1", rss_mb=10.5)
    figures.worst("R1", rss_mb=9.5)
    assert figures.gathered(path) == {"R1": {"points": 7, "lost": 0, "rss_mb": 10.5}}


def test_without_a_file_to_keep_them_figures_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(figures.VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    figures.count("R1", points=3)
    assert list(tmp_path.iterdir()) == []


def test_what_is_on_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    outcome = Outcome("R1", False, {"lost": 1.0}, ("a", "b"), 1.5, "abc", "2026-01-01", ("b",))
    write({"R1": outcome}, ("R0", "R1"), tmp_path / "figures.json")
    assert read(tmp_path / "figures.json") == {"R1": outcome}


def test_a_promise_with_a_figure_above_its_limit_did_not_hold(tmp_path: Path) -> None:
    """Tests note how long something took and never judge it; the programme does."""
    noted = tmp_path / "R1.jsonl"
    part = Part(("timeit", "-n", "1", "pass"))  # a program that ends well
    held = run(Row("R1", "", "", (part,), most={"slowest_ms": 10}), tmp_path, full=False)
    assert (held.met, held.failed) == (True, ())
    noted.write_text('{"row": "R1", "kind": "worst", "values": {"slowest_ms": 11}}\n')
    missed = run(Row("R1", "", "", (part,), most={"slowest_ms": 10}), tmp_path, full=False)
    assert (missed.met, missed.failed) == (False, ("slowest_ms at most 10",))
