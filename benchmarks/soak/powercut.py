"""Row R3, the power goes: `python -m benchmarks.soak.powercut [--cuts 200]`.

A disk of its own (ext4 in an image, the image on btrfs) is copied in an instant while a process
writes to it: the copy is what a machine would find after its power failed at that moment. Whatever
had been acknowledged before the copy began must be there when it is mounted, nothing may be torn,
and the index must mend itself. Needs root, loop devices and `mkfs.btrfs`; a disk that reorders what
it was told to flush is not modelled.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.writers import words
from ltm.capture.remember import RememberRequest, remember
from ltm.decisions import Revise
from ltm.spool import events as spool
from ltm.state.session_log import SessionLog
from ltm.store.file_store import FileStore
from ltm.upkeep import consolidate
from ltm.worker.drain import drain
from tests.faults.scene import Scene, make_repository
from tests.figures import count

SEED = 3
BASELINE = "rename only"
_PATIENCE = 30.0


# -- what is written: each line said is something acknowledged ---------------------------------


def _keep(store: FileStore, chance: random.Random) -> Iterator[str]:
    while True:
        text = words(chance)
        wish = RememberRequest(text, kind="fact", scope="project")
        yield f"{remember(store, wish).applied.stored.memory.id} {text}"


def _change(store: FileStore, chance: random.Random) -> Iterator[str]:
    wish = RememberRequest(words(chance), kind="fact", scope="project")
    memory_id = remember(store, wish).applied.stored.memory.id
    for number in itertools.count(1):
        store.apply(Revise(memory_id, {"content": f"version {number} {words(chance)}"}))
        yield f"{memory_id} {number}"


def _merge(store: FileStore, chance: random.Random) -> Iterator[str]:
    while True:
        common = words(chance)
        for _ in range(4):
            mark = words(chance).split()[0]
            remember(store, RememberRequest(f"{common} {mark}", kind="fact", scope="project"))
            yield mark
        consolidate.apply(store, consolidate.plan(store, datetime.now(UTC)))


def _spool(scene: Scene) -> Iterator[str]:
    while True:
        yield spool.put(str(scene.home), {"event": "Stop", "session": "s"})


def _drain(scene: Scene) -> Iterator[str]:
    """Events of sessions of one tool call each, alone and together, worked off now and then."""
    common = {"event": "PostToolUse", "cwd": str(scene.project)}
    for number in itertools.count():
        told = [f"s{number}-{part}" for part in range(1 + number % 3)]
        events = [(spool.new_key(), {**common, "session": session}) for session in told]
        spool.put_all(str(scene.home), events)
        yield from told
        if number % 5 == 4:
            drain(str(scene.home), environ={}, settle=0)


def _rename_only(scene: Scene, chance: random.Random) -> Iterator[str]:
    """The baseline: a temporary file and a rename, and nobody waits for the disk."""
    for number in itertools.count():
        draft, text = scene.top / "draft", words(chance)
        draft.write_text(text)
        draft.rename(scene.top / f"{number}.md")
        yield f"{number}.md {text}"


def write(work: str, top: Path) -> None:
    """Work until killed, saying what is done once it is done."""
    scene, chance = Scene(top), random.Random()
    lines: dict[str, Callable[[], Iterator[str]]] = {
        "keep": lambda: _keep(scene.open(), chance),
        "change": lambda: _change(scene.open(), chance),
        "merge": lambda: _merge(scene.open(), chance),
        "spool": lambda: _spool(scene),
        "drain": lambda: _drain(scene),
        BASELINE: lambda: _rename_only(scene, chance),
    }
    for line in lines[work]():
        print(line, flush=True)


# -- what must be there afterwards -------------------------------------------------------------


def _kept(scene: Scene, said: list[str]) -> int:
    found = scene.memories()
    told = [line.split(" ", 1) for line in said]
    return sum(found.get(name, {}).get("content") != text for name, text in told)


def _changed(scene: Scene, said: list[str]) -> int:
    if not said:
        return 0
    name, number = said[-1].split()
    return int(int(scene.memories()[name]["content"].split()[1]) < int(number))


def _merged(scene: Scene, said: list[str]) -> int:
    scene.memories()
    files = b"\n".join(path.read_bytes() for path in scene.home.rglob("*.md"))
    return sum(mark.encode() not in files for mark in said)


def _renamed(scene: Scene, said: list[str]) -> int:
    files = {path.name: path.read_text() for path in scene.top.glob("*.md")}
    return sum(files.get(name) != text for name, text in (line.split(" ", 1) for line in said))


def _spooled(scene: Scene, said: list[str]) -> int:
    waiting = {key for key, _ in spool.waiting(str(scene.home), {})}
    return len(set(said) - waiting)


def _drained(scene: Scene, said: list[str]) -> int:
    """Events that are lost, or were counted twice."""
    drain(str(scene.home), environ={}, settle=0)
    with closing(SessionLog(str(scene.home / "state.db"))) as log:
        counted = {session.id: session.ok for session in log.sessions(limit=1_000_000)}
    return sum(each not in counted for each in said) + sum(each != 1 for each in counted.values())


LOST: dict[str, Callable[[Scene, list[str]], int]] = {
    "keep": _kept,
    "change": _changed,
    "merge": _merged,
    "spool": _spooled,
    "drain": _drained,
    BASELINE: _renamed,
}


# -- the disk ----------------------------------------------------------------------------------


@contextmanager
def mounted(image: Path, folder: Path, *options: str) -> Iterator[Path]:
    """An image as a disk."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-o", ",".join(("loop", *options)), image, folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def formatted(image: Path, size: str, *maker: str) -> Path:
    """An image with an empty file system in it."""
    subprocess.run(["truncate", "-s", size, image], check=True)
    subprocess.run([*maker, image], check=True, stdout=subprocess.DEVNULL)
    return image


def cut(top: Path, work: str, cuts: int, chance: random.Random) -> dict[str, int]:
    """Let a process work, take away its power so many times, and see what is left each time."""
    with (
        mounted(formatted(top / "outer", "3G", "mkfs.btrfs", "-q"), top / "copies") as copies,
        mounted(formatted(copies / "disk", "128M", "mkfs.ext4", "-q"), top / "disk") as disk,
    ):
        scene = Scene(disk)
        make_repository(scene.project, scene.env)
        os.sync()
        said: list[str] = []
        program = [sys.executable, "-m", __spec__.name, "--write", work, str(disk)]
        with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as writer:
            out = writer.stdout
            assert out is not None
            listener = threading.Thread(
                target=lambda: said.extend(iter(lambda: out.readline().rstrip("\n"), ""))
            )
            listener.start()
            known = [len(said) for _ in _copies(copies, cuts, said, chance)]
            assert writer.poll() is None  # it must have been at work all the time
            writer.kill()
            listener.join()
        figures = {"cuts": 0, "acknowledged": known[-1], "lost": 0, "torn": 0}
        for number, acknowledged in enumerate(known):
            with mounted(copies / f"copy-{number}", top / "after") as after:
                figures["cuts"] += 1
                try:
                    figures["lost"] += LOST[work](Scene(after), said[:acknowledged])
                except AssertionError:
                    figures["torn"] += 1
    return figures


def _copies(copies: Path, cuts: int, said: list[str], chance: random.Random) -> Iterator[int]:
    """Copy the disk again and again; what was said when one is asked for is said before it."""
    for number in range(cuts):
        so_far, begun = len(said), time.monotonic()
        while len(said) == so_far and time.monotonic() < begun + _PATIENCE:
            time.sleep(chance.random() / 50)
        yield number
        disk, copy = copies / "disk", copies / f"copy-{number}"
        subprocess.run(["cp", "--reflink=always", disk, copy], check=True)


def main() -> None:
    """Cut the power for each kind of work, print, and fail if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuts", type=int, default=200, help="for each kind of work")
    parser.add_argument("--write", nargs=2, metavar=("WORK", "DISK"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.write:
        write(given.write[0], Path(given.write[1]))
        return
    failed = False
    for work in LOST:
        with tempfile.TemporaryDirectory(prefix="ltm-power-") as folder:
            figures = cut(Path(folder), work, given.cuts, random.Random(SEED))
        print(work, figures, flush=True)
        if work == BASELINE:
            count("R3", baseline_lost=figures["lost"])
            continue
        count("R3", **figures)
        failed |= bool(figures["lost"] or figures["torn"] or figures["cuts"] < given.cuts)
    sys.exit(failed)


if __name__ == "__main__":
    main()
