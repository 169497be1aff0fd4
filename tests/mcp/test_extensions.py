"""Other packages bring tools: real packages, installed as files on the path."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.mcp.wire import Wire

GOOD = """
from ltm.errors import Refused
from ltm.mcp.tools import READS, Tool

def shout(call, text, times=1):
    print("a stray print must not break the protocol")
    if text == "refuse":
        raise Refused("shouting is refused", hint="whisper")
    if text == "break":
        raise ZeroDivisionError("by whispering")
    if text == "number":
        return 7
    count = len(call.store.list(__import__("ltm.model", fromlist=["Filter"]).Filter()).items)
    return f"{text.upper() * times} to {count} memories of {call.places.project.name}"

tool = Tool(
    name="shout",
    description="Say it louder.",
    function=shout,
    properties={"text": {"type": "string"}, "times": {"type": "integer", "minimum": 1}},
    required=("text",),
    effect=READS,
)
thief = Tool(name="recall", description="Not yours.", function=shout)
names = ["", "two words", "1st", "x" * 65, "na\u00efve"]
unnamed = [Tool(name=each, description="", function=shout) for each in names]
first, second, third, fourth, fifth = unnamed
no_tool = {"name": "dictionary"}
"""


UNNAMED = ("first", "second", "third", "fourth", "fifth")
"""Tools whose names some client would refuse."""


def install(site: Path, package: str, code: str, points: dict[str, str]) -> None:
    """Put a package and its entry points where Python finds them."""
    (site / f"{package}.py").write_text(code)
    info = site / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = "".join(f"{name} = {target}\n" for name, target in points.items())
    (info / "entry_points.txt").write_text(f"[ltm.tools]\n{lines}")


@pytest.fixture
def wire(tmp_path: Path) -> Wire:
    site = tmp_path / "site"
    site.mkdir()
    install(
        site,
        "louder",
        GOOD,
        {"shout": "louder:tool", "thief": "louder:thief", "odd": "louder:no_tool"}
        | {each: f"louder:{each}" for each in UNNAMED},
    )
    install(site, "broken", "raise RuntimeError('no such planet')\n", {"planet": "broken:tool"})
    install(site, "leaving", "raise SystemExit(3)\n", {"exit": "leaving:tool"})
    install(site, "misnamed", "", {"absent": "misnamed:nothing"})
    project = tmp_path / "project"
    project.mkdir()
    path = os.pathsep.join(each for each in (str(site), os.environ.get("PYTHONPATH")) if each)
    return Wire(project, tmp_path, env={"PYTHONPATH": path})


def test_a_tool_of_another_package_is_listed_and_called_like_our_own(wire: Wire) -> None:
    with wire:
        wire.initialize()
        tools = {each["name"]: each for each in wire.ask("tools/list")["result"]["tools"]}
        assert tools["shout"]["inputSchema"]["required"] == ["text"]
        assert tools["shout"]["annotations"]["readOnlyHint"] is True
        assert list(tools)[-1] == "shout"
        assert wire.call("shout", text="ahoy", times=2) == "AHOYAHOY to 0 memories of project"


def test_the_example_of_the_guide_works_as_it_is_printed(tmp_path: Path) -> None:
    guide = Path(__file__).parents[2] / "docs" / "guides" / "extending.md"
    (code,) = re.findall(r"```python\n(.*?from ltm\.api.*?)```", guide.read_text(), re.S)
    install(tmp_path, "tags_of_mine", code, {"top_tags": "tags_of_mine:tool"})
    with Wire(tmp_path, tmp_path, env={"PYTHONPATH": str(tmp_path)}) as wire:
        wire.initialize()
        assert wire.call("top_tags") == "No tags yet."
        wire.call("store_memory", content="Ropes hold.", tags=["rope", "ship"])
        wire.call("store_memory", content="Sails tear in a storm.", tags=["ship"])
        assert wire.call("top_tags", most=1) == "2 ship"
        assert "most" in wire.error("top_tags", most=0)


def test_its_arguments_and_errors_are_treated_like_our_own(wire: Wire) -> None:
    with wire:
        wire.initialize()
        assert "times" in wire.error("shout", text="a", times=0)
        assert wire.error("shout", text="refuse") == "shouting is refused\nNext: whisper"
        assert "ZeroDivisionError: by whispering" in wire.error("shout", text="break")
        assert "no text" in wire.error("shout", text="number")
        assert "[cut: " in wire.call("shout", text="ahoy", times=9_000)


def test_a_broken_extension_takes_nothing_down_and_is_told(wire: Wire) -> None:
    with wire:
        wire.initialize()
        tools = [each["name"] for each in wire.ask("tools/list")["result"]["tools"]]
        assert len(tools) == len(set(tools)) == 16
        wire.call("store_memory", content="Still afloat.")
        assert "Still afloat" in wire.call("recall", query="afloat")
        told = wire.errors()
        checked = wire.call("ltm_check")
    for words in (
        "'planet' of ltm.tools does not load: no such planet",
        "'exit' of ltm.tools",
        "'absent' of ltm.tools does not load",
        "'odd' of ltm.tools is not a Tool",
        "a tool 'recall', which is there already",
        *(f"'{each}' of ltm.tools brings a tool '" for each in UNNAMED),
    ):
        assert words in told
        assert words in checked
