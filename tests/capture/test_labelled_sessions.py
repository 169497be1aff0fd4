"""The labelled sessions of the benchmark are sound, and what is heard in them is good enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.capture.__main__ import measured, parts, rules
from benchmarks.capture.score import Heard, Placed, Score, bad_title
from benchmarks.capture.script import Label, Script, read, read_all, split
from ltm.kinds import Kinds


def test_there_are_enough_of_them() -> None:
    scripts = read_all()
    labels = [label for script in scripts for step in script.steps for label in step.labels]
    assert len(scripts) >= 48
    assert sum(label.wanted for label in labels) >= 180
    assert sum(script.mechanical for script in scripts) >= 12
    assert {kind for label in labels for kind in label.kinds} <= {row.name for row in Kinds()}


def test_the_split_is_the_same_every_time_and_leaves_nothing_out() -> None:
    scripts = read_all()
    one, two = split(scripts), split(list(reversed(scripts)))
    assert {script.name for script in one[0]} == {script.name for script in two[0]}
    assert len(one[0]) + len(one[1]) == len(scripts)


@pytest.mark.parametrize("part", ["tuned on", "held out", "written later", "unseen"])
def test_what_is_heard_in_them_is_good(part: str, tmp_path: Path) -> None:
    score = measured(parts()[part], rules, tmp_path)
    assert score.noisy <= score.silent / 10, score.notes
    assert score.precision >= 0.85, score.notes
    assert score.recall >= 0.50, score.notes
    assert score.titles_good >= 0.95 * score.titles, score.notes


def test_a_script_that_cannot_be_read_says_where(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("== a | web | terse\n> hi\n= nonsense\n")
    with pytest.raises(ValueError, match=r"x\.txt:3"):
        list(read(path))


LABEL = Label("order", ("preference",), (("tabs",),))


def scored(*memories: Heard, label: Label = LABEL) -> Score:
    score = Score()
    score.add("s", memories, [Placed(label, 3, 4)])
    return score


def test_a_memory_is_right_when_kind_words_and_place_agree() -> None:
    right = Heard("preference", "Use tabs", "Use tabs", 3, 3)
    assert scored(right).precision == scored(right).recall == 1.0
    assert scored(Heard("fact", "Use tabs", "Use tabs", 3, 3)).misfits == 1
    assert scored(Heard("preference", "Use blanks", "Use blanks", 3, 3)).wrong == 1
    assert scored(Heard("preference", "Use tabs", "Use tabs", 9, 9)).wrong == 1
    assert scored(right, right).repeated == 1
    maybe = Label("order", ("preference",), (("tabs",),), wanted=False)
    assert scored(right, label=maybe).neither == 1


def test_a_session_that_must_be_silent_is_counted_when_it_is_not() -> None:
    score = Score()
    score.add("s", [Heard("fact", "X", "x", 1, 1)], [])
    assert (score.silent, score.noisy) == (1, 1)
    assert Script("a", "b", "c").mechanical


@pytest.mark.parametrize(
    ("title", "problem"),
    [
        ("Use tabs", ""),
        ("`make` builds it", ""),
        ("iOS 15 is the minimum", ""),
        ("two\nlines", "not one line"),
        ("x" * 81, "too long"),
        ("Use `tabs", "cut in code"),
        ("ok so use tabs", "filler"),
        ("$ make", "paste"),
        ("I prefer tabs", ""),
        ("use tabs", "small letter"),
    ],
)
def test_titles_are_judged(title: str, problem: str) -> None:
    assert bad_title(title) == problem
