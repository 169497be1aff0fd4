"""`ltm demo`: capture, session start and recall in a temporary folder."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
import time
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from ltm.capture.pipeline import capture
from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.inject.session_start import tell
from ltm.model import Filter, iso, now
from ltm.project import installation
from ltm.project.home import scratch_folder
from ltm.recall.search import recall
from ltm.sessions.transcript import read
from ltm.sessions.turns import AssistantText, ToolUse, UserText
from ltm.store.project import OpenProject
from ltm.text.sentences import shortened

_SESSION = "demo.jsonl"  # a session of the real client in a small made-up project
_ASKED = "why did the retry test fail?"


@command("demo")
def demo_command(work: Work) -> None:
    """Play a recorded session: what it taught, what the next one starts with, and a question."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="ltm-demo-", dir=scratch_folder()) as folder:
        value = _play(folder, output.say if not work.as_json else lambda text: None)
    if work.as_json:
        output.emit(value)
        return
    took = time.perf_counter() - started
    output.say(f"\nDone in {took:.1f} s; nothing was left behind. Now you:")
    command = installation.typed()
    if command != "ltm":
        where = shlex.quote(installation.source())
        output.say(f"  uv tool install {where}   (or pipx install …: then it is just 'ltm')")
    output.say(f'  {command} remember "something worth keeping"')
    output.say(f"  {command} setup   (sessions of your agents teach it, and are told)")


def _play(folder: str, say: Callable[[str], None]) -> dict[str, Any]:
    project = os.path.join(folder, "shop")
    os.mkdir(project)
    environ = {"LTM_HOME": os.path.join(folder, "home"), "HOME": folder}
    transcript = _recorded(folder)
    say("1. A session, as it was recorded:\n")
    for turn in read(transcript):
        match turn:
            case UserText(text=text):
                say(f"   you:    {_short(text)}")
            case AssistantText(text=text):
                say(f"   agent:  {_short(text)}")
            case ToolUse(tool=tool, input=given):
                file = os.path.basename(str(given.get("file_path", "")))
                say(f"   {tool.lower()}:{' ' * (7 - len(tool))}{file or given.get('command', '')}")
    with OpenProject(project, environ=environ) as opened:
        store = opened.store
        done = capture(store, opened.log, "demo", transcript, now=now(), difficulty=0.3)
        kept = [store.read(each).memory for each in done.added]
        say("\n2. What it taught, found without a model, one Markdown file each:\n")
        for memory in kept:
            say(f"   {memory.kind:12} {memory.impact:9} {memory.title}")
        say("\n3. The next session starts with:\n")
        start = tell(store, opened.places, opened.config, now())
        say("\n".join(f"   {line}" for line in start.text.splitlines()))
        say(f"\n4. Later, a question: {_ASKED}\n")
        found = recall(store, _ASKED, Filter(), 1)
        for hit in found.memories:
            say("\n".join(f"   {line}" for line in hit.stored.memory.text.splitlines() if line))
            say(f"   (why: {hit.why})")
        return {
            "remembered": [memory.id for memory in kept],
            "told": {"text": start.text, "tokens": start.tokens},
            "asked": _ASKED,
            "answer": [hit.stored.memory.text for hit in found.memories],
        }


def _recorded(folder: str) -> str:
    """The recorded session, as if it had been held today."""
    path = os.path.join(folder, _SESSION)
    today = iso(now())
    with open(path, "w", encoding="utf-8") as file:
        for line in files(__package__).joinpath(_SESSION).read_text("utf-8").splitlines():
            file.write(json.dumps({**json.loads(line), "timestamp": today}) + "\n")
    return path


def _short(text: str) -> str:
    return shortened(" ".join(text.split()), 110)
