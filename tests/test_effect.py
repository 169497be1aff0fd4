"""The benchmark of what memory saves: its sessions are fair, and it counts what happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.effect.__main__ import PROJECTS, START, WITHOUT, Need, Project, read, work

FILES = sorted(PROJECTS.glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_without_memory_everything_is_said_each_time(path: Path) -> None:
    project = read(path)
    steps = [line for session in project.sessions for line in session["steps"]]
    wanted = [line.removeprefix("need ") for line in steps if line.startswith("need ")]
    assert set(wanted) == set(project.needs), "each need occurs, and none is unknown"
    done = work(project, WITHOUT)
    assert done.first.total() == len(set(wanted))
    assert done.repeated.total() == len(wanted) - len(set(wanted))
    assert done.tokens == [0] * len(project.sessions)


def test_no_sentence_of_it_was_learned_from() -> None:
    training = Path(__file__).parents[1] / "training" / "corpus"
    corpus = "\n".join(
        path.read_text(encoding="utf-8") for path in training.rglob("*.*") if path.is_file()
    )
    assert len(corpus) > 100_000
    said = [
        need.given["said"]
        for path in FILES
        for need in read(path).needs.values()
        if "said" in need.given
    ]
    assert len(said) >= 15
    assert [each for each in said if each[:60] in corpus] == []


def test_what_was_told_once_is_not_asked_again() -> None:
    given = {
        "asks": "Which port does staging use?",
        "said": "Staging always listens on port 5499, please remember that.",
    }
    need = Need("port", "explanation", "where does staging listen", ("5499",), given)
    sessions = [{"steps": ["> Look at staging.", "need port"]} for _ in range(2)]
    project = Project("shop", {"port": need}, sessions)
    assert work(project, WITHOUT).repeated.total() == 1
    done = work(project, START)
    assert (done.first.total(), done.repeated.total()) == (1, 0)
    assert done.tokens[0] < done.tokens[1]
