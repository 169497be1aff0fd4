"""An import onto a disk that fills up keeps what it wrote, says so, and is finished later."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.cli.runner import Ltm
from tests.faults.test_disks import Mount, mount
from tests.figures import count

__all__ = ["mount"]


def test_an_import_that_fills_the_disk_is_finished_when_there_is_room(
    mount: Mount, tmp_path: Path
) -> None:
    """reliability R5"""
    disk = mount("-t", "tmpfs", "-o", "size=3m", "tmpfs")
    (tmp_path / "project").mkdir()
    ltm = Ltm(disk, tmp_path / "project")
    path = tmp_path / "memory.jsonl"
    with path.open("w") as file:
        for n in range(900):
            entity = {"type": "entity", "name": f"entity {n}", "observations": [f"says {n}"]}
            file.write(json.dumps(entity) + "\n")
    full = ltm.run("import", str(path))
    assert full.returncode == 1
    assert "the disk is full" in full.stderr
    assert "taken in before: " in full.stderr
    assert "running the import again finishes it" in full.stderr
    kept = {each: each.read_bytes() for each in disk.rglob("*.mem_*.md")}
    assert 0 < len(kept) < 900
    assert all(data.startswith(b"---\nid: mem_") and data.endswith(b"\n") for data in kept.values())
    subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
    report = ltm.json("import", str(path))
    assert (report["added"], report["skipped"]) == (900 - len(kept), len(kept))
    assert report["problems"] == []
    assert all(each.read_bytes() == data for each, data in kept.items())
    total = ltm.json("list", "--limit", "1")["total"]
    count("R5", disks=1, refused=1, partial=0, lost=900 - total)
    assert total == 900
