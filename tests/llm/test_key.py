"""The key: found where people keep it, in a fixed order, and never taken from an open file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ltm.errors import ModelFailed
from ltm.llm.http_api import find_key


class Keys:
    """A user's home with keys in it."""

    def __init__(self, top: Path) -> None:
        self.home = top / ".ltm"
        self.top = top
        self.environ = {"HOME": str(top), "USERPROFILE": str(top)}

    def put(self, name: str, text: str, mode: int = 0o600) -> None:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def find(self) -> str:
        return find_key(str(self.home), self.environ)


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(tmp_path)


def test_the_key_is_looked_for_in_a_fixed_order(keys: Keys) -> None:
    assert keys.find() == ""
    keys.put(".anthropic/api_key", "fifth\n")
    assert keys.find() == "fifth"
    keys.put(".config/anthropic/api_key", "fourth\n")
    assert keys.find() == "fourth"
    keys.put(".memory-mcp/config.json", json.dumps({"apiKey": "third"}))
    assert keys.find() == "third"
    keys.put(".ltm/api_key", "second\n")
    assert keys.find() == "second"
    keys.environ["ANTHROPIC_API_KEY"] = " first "
    assert keys.find() == "first"


def test_our_own_key_file_must_be_private(keys: Keys) -> None:
    """Traps 2.4 #11: a key in a file that everybody can read."""
    keys.put(".ltm/api_key", "secret-key", mode=0o644)
    with pytest.raises(ModelFailed, match="others can read") as caught:
        keys.find()
    assert caught.value.hint.startswith("type: chmod 600 ")
    assert "secret-key" not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize("text", ["", "   \n", "{}", "[1", '{"apiKey": 5}', "two\nlines"])
def test_a_file_without_a_key_has_none(keys: Keys, text: str) -> None:
    keys.put(".memory-mcp/config.json", text)
    keys.put(".ltm/api_key", "" if text.startswith("{") else "\n".join(["a", "b"]))
    assert keys.find() == ""


def test_a_user_without_a_home_has_no_key(keys: Keys) -> None:
    keys.environ = {}
    assert keys.find() == ""
