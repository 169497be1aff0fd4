"""A process that changes a store, for tests that run several: `python writer.py JOB FOLDER TIMES`.

It says "ready" and waits for a line before it begins, so that all begin together. It prints one
JSON value for each change that was acknowledged, as soon as it was.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections.abc import Callable
from typing import Any

from ltm.decisions import Forget, Reinforce, Restore, Revise, Supersede
from ltm.errors import Busy, Conflict
from ltm.files import lock
from ltm.kinds import Kinds
from ltm.model import Filter, Memory, Scope, new_id, now
from ltm.state.usage import State
from ltm.store.file_store import FileStore
from ltm.vault.vault import FileStat, Vault

EVERYTHING = Filter()


def memory(title: str, content: str) -> Memory:
    """A memory to keep."""
    at = now()
    return Memory(new_id(at), "fact", title, title, content, at, at, at)


def open_store(folder: str, vault: type[Vault] = Vault) -> FileStore:
    """The store all writers share."""
    kept = vault("private", os.path.join(folder, "vault"))
    homes = {Scope.PROJECT: kept, Scope.AGENT: kept}
    return FileStore((kept,), homes, State(os.path.join(folder, "state.db")), Kinds())


def told(**value: Any) -> None:
    """Acknowledge."""
    print(json.dumps(value), flush=True)


def mixed(store: FileStore, times: int) -> None:
    """Keep, change, forget and restore memories of its own, and use them."""
    chance = random.Random(os.getpid())
    mine: list[str] = []
    for number in range(times):
        step = number % 5 if mine else 0
        text = f"text {number} of {os.getpid()}"
        if step in (0, 1):
            stored = store.create(memory(text, text))
            mine.append(stored.memory.id)
        elif step == 2:
            stored = store.update(chance.choice(mine), {"content": text})
        elif step == 3:
            stored = store.apply(Forget(mine[-1])).stored
        else:
            stored = store.apply(Restore(mine[-1])).stored
        store.used([stored.memory.id])
        kept = stored.memory
        told(id=kept.id, content=kept.content, status=kept.status, version=kept.version)


def endless(store: FileStore, times: int) -> None:
    """Keep a memory and change it, again and again, until somebody ends it."""
    while True:
        kept = store.create(memory("a counter", "0")).memory.id
        told(id=kept, count=0)
        for count in range(1, times):
            store.update(kept, {"content": str(count)})
            told(id=kept, count=count)


def counting(store: FileStore, times: int) -> None:
    """Add to the number that the only memory holds, never from an older number."""
    (each,) = store.list(EVERYTHING).items
    done = 0
    while done < times:
        seen = store.read(each.memory.id)
        higher = {"content": str(int(seen.memory.content) + 1)}
        try:
            store.apply(Revise(each.memory.id, higher, expected=seen.etag))
        except Conflict:
            continue
        done += 1
    told(done=done)


def reinforcing(store: FileStore, times: int) -> None:
    """See the only memory again so many times."""
    (each,) = store.list(EVERYTHING).items
    for _ in range(times):
        store.apply(Reinforce(each.memory.id))
    told(done=times)


def superseding(store: FileStore, times: int) -> None:
    """Replace the only memory, as it is now, with another."""
    (each,) = store.list(EVERYTHING).items
    told(seen=each.etag)
    sys.stdin.readline()
    try:
        newer = memory("a newer one", f"by {os.getpid()}")
        store.apply(Supersede((each.memory.id,), newer, expected=each.etag))
    except Conflict:
        told(lost=True)
    else:
        told(won=newer.id)


def once(store: FileStore, times: int) -> None:
    """Keep one memory in a vault that nobody has made yet."""
    told(id=store.create(memory("the only one", str(os.getpid()))).memory.id)


def hurried(store: FileStore, times: int) -> None:
    """Try to keep a memory, without patience."""
    lock.PATIENCE = 0.2
    try:
        store.create(memory("too busy", "to wait"))
    except Busy as error:
        told(busy=str(error), hint=error.hint)


class Freezing(Vault):
    """A vault whose writer is stopped when its file is in place and the index knows nothing yet."""

    def write(self, name: str, data: bytes, *, over: bytes | None = None) -> FileStat:
        seen = super().write(name, data, over=over)
        os.kill(os.getpid(), signal.SIGSTOP)
        return seen


JOBS: dict[str, Callable[[FileStore, int], None]] = {
    job.__name__: job for job in (mixed, endless, counting, reinforcing, superseding, once, hurried)
}


def main() -> None:
    """Wait for the start, then do a job so many times."""
    job, folder, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
    print("ready", flush=True)
    sys.stdin.readline()
    frozen = job == "frozen"
    store = open_store(folder, Freezing if frozen else Vault)
    JOBS["once" if frozen else job](store, times)
    store.close()


if __name__ == "__main__":
    main()
