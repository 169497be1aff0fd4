"""A home of every former version opens here with nothing lost; dev/former-home makes them."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runner import Ltm

HOMES = sorted((Path(__file__).parent / "homes").glob("*.tar.gz"))
SAME = ("kind", "content", "tags", "scope", "impact", "status", "created", "pinned", "reason")
"""What no version may change by opening; titles and summaries may follow from the text."""


@pytest.fixture
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Ltm:
    with tarfile.open(request.param) as packed:
        # Modes are kept, as later Pythons do; before 3.11.4 there is no filter, and none is needed.
        packed.extraction_filter = getattr(tarfile, "tar_filter", None)
        packed.extractall(tmp_path)
    (tmp_path / "user").mkdir()
    env = {"LTM_HOME": str(tmp_path / "home"), "LTM_AGENT": "claude"}
    return Ltm(tmp_path / "user", tmp_path / "shop", env)


def memory_files(top: Path) -> dict[str, bytes]:
    found = {
        str(path.relative_to(top)): path.read_bytes()
        for path in (top / "home").rglob("*.md")
        if path.parent.name in ("memories", "archives")
    }
    assert len(found) >= 5
    return found


def by_id(export: Any) -> dict[str, dict[str, Any]]:
    return {each["id"]: each for each in export["memories"]}


@pytest.mark.parametrize("opened", HOMES, ids=lambda path: path.name[:7], indirect=True)
def test_a_former_home_opens_and_nothing_is_lost(opened: Ltm) -> None:
    top = opened.project.parent
    files = memory_files(top)
    former = by_id(json.loads((top / "export.json").read_text(encoding="utf-8")))
    now = by_id(opened.json("export"))
    assert set(former) <= set(now)
    for name, memory in former.items():
        fields = [field for field in SAME if field in memory]
        assert {each: now[name][each] for each in fields} == {each: memory[each] for each in fields}
        for version in memory.get("versions", ()):
            assert version["content"] in [each["content"] for each in now[name]["versions"]]
    assert memory_files(top) == files, "to open a home changes none of its files"
    health = json.loads(opened.run("doctor", "--json").stdout)
    assert (health["healthy"], health["problems"]) == (True, [])
    assert "VPN" in opened.ok("recall", "deploy staging")
    (gone,) = [name for name, each in former.items() if "old logo" in each["title"]]
    assert opened.json("restore", gone)["status"] == "active"
    assert "logo was green" in opened.ok("show", gone)
    edited = next(each for each in former.values() if "blue key" in each["content"])
    assert "Deploys need the VPN" in json.dumps(opened.json("export")["memories"])
    assert opened.json("edit", edited["id"], "--tags", "kept")["tags"] == ["kept"]
    start = {"session_id": "new", "hook_event_name": "SessionStart", "source": "startup"}
    told = opened.ok("hook", stdin=json.dumps({**start, "cwd": str(opened.project)}))
    assert "VPN" in told
    opened.ok("drain")
    assert opened.json("status")["problems"] == 0


def test_there_are_homes_of_former_versions() -> None:
    assert len(HOMES) >= 5
