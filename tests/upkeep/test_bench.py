"""`ltm bench`: what it measures, and that it leaves everything as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ltm.cli import demo
from ltm.model import Memory
from ltm.upkeep.bench import bm25, grep, questions
from tests.cli.runner import Ltm
from tests.stores import make

DEMO = str(Path(demo.__file__).with_name("demo.jsonl"))


def tree(top: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in top.rglob("*") if path.is_file()}


def figures(said: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {f"{each['part']}: {each['measure']}": each for each in said["figures"]}


def some(number: int) -> list[Memory]:
    animals = "zebra lion otter heron badger lynx ibex stoat raven adder".split()  # noqa: SIM905
    return [
        make(
            id=f"mem_{each:017d}",
            title=f"{animals[each]} service",
            content=f"The {animals[each]} service listens on port 8{each:03d} behind the gateway"
            f" owned by team {animals[-1 - each]}-{each}, on host{each}-a, host{each}-b,"
            f" rack{each}, in cell{each}",
        )
        for each in range(number)
    ]


def test_questions_ask_for_a_memory_by_its_own_rarest_words() -> None:
    memories = some(10)
    single, double = questions(memories)
    assert len(single) == 20
    assert len(double) == 5
    texts = {each.id: f"{each.title} {each.content}".lower() for each in memories}
    for question in (*single, *double):
        assert all(any(word in texts[name] for name in question.meant) for word in question.words)
        assert "service" not in question.words, "every memory has it"
    assert not {*single[0].words} & {*single[10].words}, "roughly means other words"


@pytest.mark.parametrize("ask", [grep, bm25])
def test_what_it_is_compared_with_finds_words_too(ask: Any) -> None:
    memories = some(10)
    assert ask(memories)(["otter", "8002"])[0] == memories[2].id
    assert ask(memories)(["walrus"]) == []


def test_bench_measures_on_a_copy_and_changes_nothing(ltm: Ltm) -> None:
    ltm.ok("capture", DEMO)
    made = ltm.json("list")["memories"]
    ltm.ok("forget", made[0]["id"])
    ltm.ok("edit", made[1]["id"], "--content", "Said in other words by a person entirely")
    before = tree(ltm.home)
    kept = ltm.home.parent / "before.json"
    kept.write_text(ltm.ok("bench", "--json"))
    assert tree(ltm.home) == before
    found = figures(json.loads(kept.read_text()))
    assert found["recall: it is among the first five"]["value"] > 90
    assert set(found["recall: it is among the first five"]["others"]) == {"BM25", "grep"}
    assert found["hooks: Stop, median"]["others"]["python alone"] > 0
    assert found["mcp: the list of tools, once a session"]["value"] > 100
    many = len(made)
    for name, share in (("kept: not forgotten", many - 1), ("edited", 1), ("forgotten", 1)):
        assert found[f"capture: {name}"]["value"] == pytest.approx(100 * share / many, abs=0.01)
    table = ltm.ok("bench", "capture", "--compare", str(kept))
    then = f"{100 / many:.1f} %"
    assert f"capture\tforgotten\t{then}\t{then}\t" in table, "now and before"
    assert "recall" not in table


def test_sessions_that_were_told_something_count_what_was_used_later(ltm: Ltm) -> None:
    for text in ("Use port 8080", "Blue is the logo"):
        ltm.ok("remember", text)
    start = {"session_id": "s1", "hook_event_name": "SessionStart", "source": "startup"}
    ltm.run("hook", stdin=json.dumps({**start, "cwd": str(ltm.project)}))
    ltm.ok("drain")
    found = figures(ltm.json("bench", "told"))
    assert found["told: memories a session, mean"]["value"] == 2
    assert found["told: looked up or opened since"]["value"] == 0
    ltm.ok("recall", "port 8080")
    found = figures(ltm.json("bench", "told"))
    assert found["told: looked up or opened since"]["value"] == 50


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "there are no memories here to measure with"),
        (("speed",), "'speed' is not one of"),
        (("--compare", "FILE"), "these are not figures of ltm bench"),
    ],
)
def test_what_cannot_be_measured_is_said(ltm: Ltm, words: tuple[str, ...], said: str) -> None:
    file = ltm.home / "figures.json"
    file.write_text('{"figures": [1]}')
    done = ltm.run("bench", *(str(file) if word == "FILE" else word for word in words))
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert done.stdout == ""
