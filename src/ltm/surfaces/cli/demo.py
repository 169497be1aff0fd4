"""`ltm demo`: the whole round in a folder that is gone afterwards."""

from __future__ import annotations

import os
import tempfile
import time

from ltm.capture.remember import Wish, remember
from ltm.core.model import Filter, now
from ltm.inject.tell import tell
from ltm.recall.search import recall
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make

_SAID = (
    "We chose PostgreSQL over SQLite for the job queue because two workers write at once.",
    "Never run the migrations against production from a laptop; the deploy job does it.",
    "I prefer small commits with a message that says why.",
    "Watch out: the e2e suite fails with ECONNREFUSED :6379 when Redis is not started first.",
    "Retries use exponential backoff with jitter, at most 5 attempts, in src/http/retryClient.ts.",
)
_ASKED = "why does the e2e suite say ECONNREFUSED?"


@make("demo")
def command(work: Work) -> None:
    """Play it through: remember, tell the next session, answer. Leaves nothing behind."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="ltm-demo-") as folder:
        value = _play(folder, quiet=work.as_json)
    if work.as_json:
        output.emit(value)
        return
    output.say("")
    output.say(
        f"Done in {time.perf_counter() - started:.1f} s; nothing was left behind. Your turn:"
        ' ltm remember "something worth keeping"'
    )


def _play(folder: str, *, quiet: bool) -> dict[str, object]:
    from ltm.storage.config import load
    from ltm.storage.opening import open_store
    from ltm.storage.places import places

    def say(text: str) -> None:
        if not quiet:
            output.say(text)

    project = os.path.join(folder, "shop")
    os.mkdir(project)
    where = places(project, environ={"LTM_HOME": os.path.join(folder, "home"), "HOME": folder})
    config = load(where.home, where.shared)
    store = open_store(where, config)
    try:
        say("1. A session teaches something, and it is remembered:\n")
        kept = [remember(store, Wish(text)) for text in _SAID]
        for done in kept:
            memory = done.applied.stored.memory
            say(f"   {memory.kind:12} {memory.impact:9} {memory.title}")
        say(f"\n   Each is a Markdown file, such as {_name(kept[0].applied.stored.path)}\n")
        say("2. The next session is told at its start:\n")
        told = tell(store, where, config, now())
        say("\n".join(f"   {line}" for line in told.text.splitlines()))
        say(f"\n3. Later somebody asks: {_ASKED}\n")
        found = recall(store, _ASKED, Filter(), 1)
        for hit in found.hits:
            say(f"   {hit.stored.memory.text}\n   (why: {hit.why})")
        return {
            "remembered": [done.applied.stored.memory.id for done in kept],
            "told": {"text": told.text, "tokens": told.tokens},
            "asked": _ASKED,
            "answer": [hit.stored.memory.text for hit in found.hits],
        }
    finally:
        store.close()


def _name(path: str) -> str:
    return os.path.join("memories", os.path.basename(path))
