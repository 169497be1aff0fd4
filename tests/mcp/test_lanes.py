"""A call waits for its like and for no other: a slow one keeps no recall waiting."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ltm.mcp.server import Lifetime
from ltm.mcp.tools import SLOW, TOOLS
from ltm.project.layout import places
from ltm.vault.vault import Vault
from tests.llm.scripted import Reply, ScriptedApi
from tests.mcp.wire import PATIENCE, Wire, environment

FACT = "The parser stays pure because the tests replay it."
QUESTION = "why is the parser pure?"
REPLIED = "The model's answer cited no memory"


class Thinking:
    """A model that answers when it is told to."""

    def __init__(self, api: ScriptedApi) -> None:
        self.api = api
        self.asked = threading.Semaphore(0)
        self.told = threading.Event()

    def think(self) -> None:
        self.asked.release()
        assert self.told.wait(PATIENCE)


@pytest.fixture
def model() -> Iterator[Thinking]:
    with ScriptedApi() as api:
        thinking = Thinking(api)
        api.say(*(Reply("It is replayed.", before=thinking.think) for _ in range(3)))
        yield thinking
        thinking.told.set()


@pytest.fixture
def wire(tmp_path: Path, model: Thinking) -> Iterator[Wire]:
    home = tmp_path / "home"
    (home / ".ltm").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    (home / ".ltm" / "config.toml").write_text(
        f'[llm]\nbackend = "api"\nbase_url = "{model.api.url}"\n'
    )
    key = {"ANTHROPIC_API_KEY": "sk-ant-api03-" + "k7Q" * 20}
    with Wire(tmp_path / "project", home, env=key) as wire:
        wire.initialize()
        wire.call("store_memory", content=FACT)
        yield wire
        model.told.set()


def start(wire: Wire, tool: str, **arguments: Any) -> int:
    return wire.start("tools/call", {"name": tool, "arguments": arguments})


def text(answer: dict[str, Any]) -> str:
    assert not answer["result"].get("isError"), answer
    said: str = answer["result"]["content"][0]["text"]
    return said


def test_all_else_is_answered_while_a_model_thinks(wire: Wire, model: Thinking) -> None:
    asking = start(wire, "memory_ask", question=QUESTION)
    assert model.asked.acquire(timeout=PATIENCE)
    found = re.search(r"mem_\w+", wire.call("recall", query="parser"))
    assert found
    assert "parser" in wire.call("get_memory", id=found[0])
    assert wire.call("store_memory", content="Bread needs salt and time.")
    assert "Bread" in wire.call("list_memories")
    assert wire.ask("resources/read", {"uri": f"ltm://memory/{found[0]}"})["result"]["contents"]
    assert not wire.is_answered(asking)
    model.told.set()
    assert REPLIED in text(wire.answer(asking))


def test_what_is_known_is_found_while_a_change_waits_for_the_vault(
    wire: Wire, tmp_path: Path
) -> None:
    environ = environment(tmp_path / "home")
    vault = Vault("private", places(str(tmp_path / "project"), environ=environ).private)
    with vault.lock:
        storing = start(wire, "store_memory", content="Bread needs salt and time.")
        assert "parser" in wire.call("recall", query="parser")
        assert "parser" in wire.call("list_memories")
        assert not wire.is_answered(storing)
    assert "Bread" in text(wire.answer(storing))


def test_changes_are_made_in_the_order_they_were_asked_for(wire: Wire) -> None:
    asked = []
    for number in range(12):
        asked.append(start(wire, "store_memory", content=f"Berth{number} has {number} bollards."))
        start(wire, "recall", query="parser")
    answered = [wire.receive()["id"] for _ in range(24)]
    assert [each for each in answered if each in asked] == asked


def test_only_one_model_is_asked_at_a_time(wire: Wire, model: Thinking) -> None:
    one, two = (start(wire, "memory_ask", question=QUESTION) for _ in range(2))
    assert model.asked.acquire(timeout=PATIENCE)
    assert wire.call("recall", query="parser")
    assert len(model.api.requests) == 1
    model.told.set()
    for asking in (one, two):
        assert REPLIED in text(wire.answer(asking))


def test_a_question_that_was_called_off_is_not_answered_and_one_that_waited_not_asked(
    wire: Wire, model: Thinking
) -> None:
    gone = [start(wire, "memory_ask", question=QUESTION) for _ in range(2)]
    assert model.asked.acquire(timeout=PATIENCE)
    for number in reversed(gone):  # the one that waits first, before it can have its turn
        wire.send(
            {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": number},
            }
        )
    assert "parser" in wire.call("recall", query="parser")
    model.told.set()
    assert REPLIED in wire.call("memory_ask", question=QUESTION)
    assert not any(wire.is_answered(number) for number in gone)
    assert len(model.api.requests) == 2


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_it_ends_at_a_signal_while_a_model_thinks(wire: Wire, model: Thinking) -> None:
    start(wire, "memory_ask", question=QUESTION)
    assert model.asked.acquire(timeout=PATIENCE)
    wire.process.send_signal(signal.SIGTERM)
    assert wire.process.wait(PATIENCE) == 0
    assert "Traceback" not in wire.errors()


def test_someone_is_at_work_until_the_last_call_is_done() -> None:
    lifetime = Lifetime()
    assert lifetime.is_idle
    with lifetime.at_work():
        with lifetime.at_work():
            assert not lifetime.is_idle
        assert not lifetime.is_idle
    assert lifetime.is_idle


def test_slow_tools_only_read() -> None:
    assert {tool.name for tool in TOOLS if tool.effect.reads_only} >= SLOW
