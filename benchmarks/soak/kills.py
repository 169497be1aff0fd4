"""Row R2, kill -9 at any moment: `python -m benchmarks.soak.kills [--kills 500]`.

Commands, hooks, MCP servers and drains work on one home at the same time, and each is killed at a
moment of chance. Whatever one of them acknowledged before it died must be there afterwards, once.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.writers import words
from ltm.spool import events
from ltm.state.session_log import SessionLog
from tests.faults.person import LTM
from tests.faults.scene import Scene
from tests.figures import count
from tests.hook.runner import PROGRAM

SEED = 2
WORKERS = 4
_STORES = 10  # what a server is given time for
_AT_FIRST = 60.0  # seconds for those that are not killed, to see how long they take
_LATER = 4.0  # killed within so many times that long: most while they are at work


@dataclass
class World:
    """A home that everybody works on, and what they were told is done."""

    scene: Scene
    kills: int
    memories: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    killed: Counter[str] = field(default_factory=Counter)
    longest: dict[str, float] = field(default_factory=dict)
    """Seconds within which each kind of process is killed."""
    errors: list[str] = field(default_factory=list)

    def begin(self, *argv: str) -> subprocess.Popen[str]:
        """Start a process in the project."""
        return subprocess.Popen(
            argv,
            cwd=self.scene.project,
            env=self.scene.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def moment(self, name: str) -> float:
        """After how many seconds to kill."""
        return random.random() * self.longest[name] if name in self.longest else _AT_FIRST

    def end(self, name: str, process: subprocess.Popen[str], said: str | None = None) -> bool:
        """Give it its input, kill it at a moment of chance; whether it had ended well before."""
        try:
            _, errors = process.communicate(said, timeout=self.moment(name))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.killed[name] += 1
            return False
        if process.returncode:
            self.errors.append(errors.strip())
        return process.returncode == 0


def command(world: World) -> None:
    """Somebody keeps a memory in the terminal."""
    text = words(random.Random())
    asked = (LTM, "remember", text, "--kind", "fact", "--scope", "project", "--json")
    if world.end("command", world.begin(*asked)):
        world.memories.append(text)


def hook(world: World) -> None:
    """A session begins."""
    session = f"session-{random.getrandbits(64):x}"
    payload = {"session_id": session, "cwd": str(world.scene.project), "source": "startup"}
    message = json.dumps({**payload, "hook_event_name": "SessionStart"})
    if world.end("hook", world.begin(sys.executable, "-I", "-S", str(PROGRAM)), message):
        world.sessions.append(session)


def drain(world: World) -> None:
    """What hooks left is worked on."""
    world.end("drain", world.begin(LTM, "drain"))


def server(world: World) -> None:
    """An agent stores one memory after the other until its server is killed."""
    process = world.begin(LTM, "mcp")
    assert process.stdin is not None
    assert process.stdout is not None
    killer = threading.Timer(world.moment("server"), process.kill)
    killer.start()
    hands = {"protocolVersion": "2025-11-25", "capabilities": {}}
    named = {**hands, "clientInfo": {"name": "soak", "version": "1"}}
    try:
        _say(process, id=0, method="initialize", params=named)
        _say(process, method="notifications/initialized")
        for number in range(1, 1_000):
            text = words(random.Random())
            given = {"content": text, "kind": "fact", "scope": "project"}
            asked = {"name": "store_memory", "arguments": given}
            _say(process, id=number, method="tools/call", params=asked)
            while (answer := json.loads(process.stdout.readline() or "{}")).get("id") != number:
                if not answer:
                    return
            if not answer["result"].get("isError"):
                world.memories.append(text)
            if "server" not in world.longest and number == _STORES:
                killer.cancel()
                process.kill()
    except (BrokenPipeError, ValueError):
        return
    finally:
        killer.join()
        process.wait()
        process.stdin = None  # what it did not read cannot be flushed any more
        process.communicate()
        world.killed["server"] += 1


def _say(process: subprocess.Popen[str], **message: object) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()


WORK: tuple[Callable[[World], None], ...] = (command, hook, server, drain)


def work(world: World, begin: int) -> None:
    """Do one thing after the other until enough were killed."""
    number = begin
    while world.killed.total() < world.kills:
        WORK[number % len(WORK)](world)
        number += 1


def examine(world: World) -> dict[str, int]:
    """What is left when all is quiet again."""
    subprocess.run([LTM, "drain"], cwd=world.scene.project, env=world.scene.env, check=True)
    held = Counter(
        each["content"] for each in world.scene.memories().values() if each["status"] == "active"
    )
    log = SessionLog(str(world.scene.home / "state.db"))
    lost_events = sum(log.get(session) is None for session in world.sessions)
    log.close()
    # An unfinished event stays for an hour: a hook in sh cannot lock it, so only its age tells.
    temporary = [path for path in world.scene.temporary() if path.parent.name != events.FOLDER]
    return {
        "kills": world.killed.total(),
        "memories_acknowledged": len(world.memories),
        "memories_lost": sum(held[text] == 0 for text in world.memories),
        "memories_twice": sum(held[text] > 1 for text in world.memories),
        "events_acknowledged": len(world.sessions),
        "events_lost": lost_events,
        "temporary_files": len(temporary),
        "errors_shown": len(world.errors),
    }


def run(top: Path, kills: int) -> dict[str, int]:
    """Kill so many, and count."""
    scene = Scene(top)
    scene.project.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(scene.project)], check=True, env=scene.env)
    world = World(scene, kills)
    for each in WORK:
        alone = time.monotonic()
        each(world)
        world.longest[each.__name__] = (time.monotonic() - alone) * _LATER
    world.killed.clear()
    workers = [threading.Thread(target=work, args=(world, number)) for number in range(WORKERS)]
    begun = time.monotonic()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    figures = examine(world)
    print(dict(world.killed), f"{time.monotonic() - begun:.0f} s", *world.errors[:5], sep="\n")
    return figures


def main() -> None:
    """Kill, examine, print; fail if anything was lost or there twice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    given = parser.parse_args()
    random.seed(SEED)
    with tempfile.TemporaryDirectory(prefix="ltm-kills-") as folder:
        figures = run(Path(folder), given.kills)
    count("R2", **figures)
    print(figures)
    wrong = ("memories_lost", "memories_twice", "events_lost", "temporary_files", "errors_shown")
    sys.exit(any(figures[name] for name in wrong) or figures["kills"] < given.kills)


if __name__ == "__main__":
    main()
