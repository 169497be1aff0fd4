"""kill -9 at every system call with which `ltm export` writes: nothing is left next to its file."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter
from pathlib import Path

import pytest

from ltm.transfer.export import export_file
from tests.faults.scene import Scene
from tests.faults.tracing import Starter
from tests.figures import count


def points(log: str, folder: Path) -> list[tuple[str, int]]:
    """The calls from the first that names the folder on, each by its name and number."""
    met: Counter[str] = Counter()
    found: list[tuple[str, int]] = []
    for line in log.splitlines():
        call = re.match(r"\d+ +(\w+)\(", line)
        if call is None:
            continue
        met[call[1]] += 1
        if found or str(folder) in line:
            found.append((call[1], met[call[1]]))
    return found


@pytest.mark.parametrize("name", ["all.json", "all.json.gz"])
@pytest.mark.parametrize("former", [False, True], ids=["new", "replaced"])
def test_a_killed_export_leaves_nothing_next_to_its_file(
    scene: Scene, starter: Starter, tmp_path: Path, name: str, former: bool
) -> None:
    at_work = scene.copied(tmp_path / "scene")
    folder = tmp_path / "backup"
    folder.mkdir()
    path = folder / name
    words = ("export", str(path), "--json")
    assert starter.run(words, at_work.project, at_work.env).status == 0
    before = path.read_bytes()
    if not former:
        path.unlink()
    traced = starter.run(words, at_work.project, at_work.env)
    places = points(traced.log, folder)
    assert len(places) >= 3, traced.log
    for call, number in places:
        path.write_bytes(before) if former else path.unlink(missing_ok=True)
        inject = f"{call}:signal=SIGKILL:when={number}"
        starter.run(words, at_work.project, at_work.env, inject=inject)
        left = os.listdir(folder)
        count("R26", exports_killed=1, left_behind=len(set(left) - {name}))
        assert left in ([name], [] if not former else [name]), inject
        if left:
            packed = path.read_bytes()
            text = gzip.decompress(packed) if name.endswith(".gz") else packed
            assert json.loads(text)["count"] == len(scene.before)
    path.unlink(missing_ok=True)
    assert starter.run(words, at_work.project, at_work.env).status == 0
    assert at_work.temporary() == []


def test_where_every_file_has_a_name_the_next_export_removes_what_a_killed_one_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a network disk. What another export is at work on stays, and so do strange files."""
    monkeypatch.delattr(os, "O_TMPFILE")
    path = tmp_path / "all.json"
    dead = tmp_path / ".all.json.0123456789ab.tmp"
    strange = [tmp_path / name for name in (".all.json.tmp", ".other.json.0123456789ab.tmp")]
    for each in (dead, *strange):
        each.write_bytes(b"half")
    with export_file(str(path)) as first:
        first.write('{"format":"ltm","number":1}')
        with export_file(str(path)) as second:
            second.write('{"format":"ltm","number":2}')
        assert json.loads(path.read_text())["number"] == 2
    assert json.loads(path.read_text())["number"] == 1
    assert sorted(tmp_path.iterdir()) == sorted([path, *strange])
