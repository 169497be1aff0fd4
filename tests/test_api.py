"""The public Python API is what the guide says, and every name in it is there."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import get_args

from ltm import api, decisions

GUIDE = Path(__file__).parents[1] / "docs" / "guides" / "extending.md"


def test_every_public_name_is_there_once() -> None:
    assert len(set(api.__all__)) == len(api.__all__)
    assert [name for name in api.__all__ if not hasattr(api, name)] == []


def test_the_guide_names_nothing_of_ltm_but_the_api_and_its_entry_points() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    groups = {"ltm.tools", "ltm.stores"}
    named = set(re.findall(r"\bltm\.[a-z_]+(?:\.\w+)*", text)) - groups
    assert named
    assert all(name.split(".")[1] == "api" for name in named)
    assert {name.split(".")[2] for name in named if name.count(".") > 1} <= set(api.__all__)
    imported = re.findall(r"from ltm\.api import ([\w, ]+)", text)
    assert {name.strip() for names in imported for name in names.split(",")} <= set(api.__all__)


def test_a_store_needs_nothing_else_to_apply_a_decision() -> None:
    effects = {
        name
        for name, function in inspect.getmembers(decisions, inspect.isfunction)
        if function.__module__ == decisions.__name__ and name[0] != "_"
        if str(function.__annotations__["return"]) == "Memory" and name != "memory_from"
    }
    assert {"revised", "forgotten", "merged"} <= effects
    assert effects | {each.__name__ for each in get_args(api.Decision)} <= set(api.__all__)
