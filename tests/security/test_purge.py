"""A purged memory is in no file of ours, and none writes it down again (reliability S14).

The words go into everything that keeps words: files, archives, the index with its search tables and
its log, prepared texts, sessions word for word, notes, their archives and summary, stashes, the
ledger of corrections, vectors, logs. After the purge the session goes on and ends, and everything
that reads its transcript reads it again.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ltm.spool import events, hook_log
from tests.cli.runner import Ltm
from tests.figures import count
from tests.security.strangers import session_start
from tests.sessions.writing import Transcript

WORD = "zanzibarquokka"
RULE = f"no, always build with the {WORD} compiler flag and not without it"
ASKED = f"Always build the parser with the {WORD} compiler flag, please do so today."
AGAIN = f"as said, always build with the {WORD} compiler flag and not without it"


class Person:
    """Somebody whose sessions the hooks tell of."""

    def __init__(self, ltm: Ltm) -> None:
        self.ltm = ltm
        self.home = ltm.home / ".ltm"

    def tell(self, event: str, name: str) -> None:
        record = {
            "event": event,
            "session": name,
            "cwd": str(self.ltm.project),
            "transcript": str(self.path(name)),
        }
        environ = {"HOME": str(self.ltm.home), "LTM_HOME": str(self.home)}
        events.put(str(self.home), record, environ)

    def path(self, name: str) -> Path:
        return self.ltm.home / ".claude" / "projects" / "p" / f"{name}.jsonl"

    def session(self, name: str, *said: str, ended: bool) -> Transcript:
        log = Transcript(self.path(name), name)
        cwd = str(self.ltm.project)
        if not said[0].startswith("Always"):
            log.user("Please make the build of the parser faster, it takes minutes.", cwd=cwd)
        for text in said:
            log.says("I built it without any flags.", cwd=cwd)
            log.user(text, cwd=cwd)
        log.says("Understood, the build runs now.", cwd=cwd)
        for event in ("SessionStart", "Stop", *(["SessionEnd"] if ended else [])):
            self.tell(event, name)
        self.ltm.ok("drain")
        return log

    def memories(self) -> list[str]:
        """The ids of those that say it."""
        shown: list[dict[str, Any]] = self.ltm.json("list", "--status", "all")["memories"]
        return [each["id"] for each in shown if WORD in json.dumps(each)]

    def hits(self) -> list[str]:
        """Every file of ours with the word in it, whatever it is written as."""
        forms = (WORD.encode(), WORD.encode("utf-16-le"), WORD.upper().encode())
        tops = (self.home, self.ltm.project)
        return [
            str(path.relative_to(top))
            for top in tops
            for path in top.rglob("*")
            if path.is_file() and any(form in path.read_bytes() for form in forms)
        ]


@pytest.fixture
def person(ltm: Ltm) -> Person:
    return Person(ltm)


def test_a_purged_text_is_nowhere_and_nothing_writes_it_down_again(person: Person) -> None:
    ltm = person.ltm
    for name in ("one", "two"):
        person.session(name, RULE, ended=True)
    person.session("four", ASKED, ended=True)
    running = person.session("three", RULE, ended=False)
    ltm.ok("friction")
    ltm.ok("consolidate", "--all")
    ltm.ok("stash", "build", "--transcript", str(running.path))
    ltm.ok("sync")
    made = ltm.json("remember", f"Always build with the {WORD} compiler flag", "--kind", "pattern")
    Path(made["path"]).write_text(Path(made["path"]).read_text() + f"\nSince {WORD} it is quick.\n")
    ltm.ok("forget", made["id"])
    ltm.ok("restore", made["id"])
    ltm.ok("recall", "compiler flag")  # vectors, where a model for them is installed
    assert WORD in session_start(ltm, ltm.project)
    hook_log.note(str(person.home), "Stop", ValueError("something else went wrong"))
    before = {os.path.basename(name) for name in person.hits()}
    for sink in ("index.db", "sessions.db", "friction.db", "summary.md", "build.md"):
        assert any(name.startswith(sink) for name in before), f"{sink} never had it"
    sinks = len(person.hits())
    # What was said while nobody has read it yet is known to nobody but the client.
    running.user(AGAIN)
    running.says(f"I will always build with the {WORD} compiler flag, and not without it.")

    purged = 0
    while ids := person.memories():
        purged += 1
        ltm.ok("forget", ids[0], "--purge", "--yes")
    assert purged > 0
    left = person.hits()
    count("S14", files_that_had_it=sinks, memories_purged=purged, hits_after_purge=len(left))
    assert left == []

    running.says("The build is quick now.")
    for event in ("Stop", "PreCompact", "SessionEnd"):
        person.tell(event, "three")
    ltm.ok("drain")
    ltm.ok("capture", *(str(person.path(name)) for name in ("one", "two", "three")))
    ltm.ok("capture", "--all")
    ltm.ok("consolidate", "--all")
    ltm.ok("stash", "later", "--transcript", str(running.path))
    ltm.ok("sync")
    shown = "".join(
        (
            ltm.ok("sessions"),
            json.dumps(ltm.json("sessions")),
            ltm.ok("sessions", "summary"),
            ltm.ok("recall", "compiler", "flag"),
            ltm.ok("friction"),
            ltm.ok("timeline"),
            session_start(ltm, ltm.project),
        )
    )
    left = person.hits()
    count("S14", hits_after_reading_again=len(left) + shown.count(WORD))
    assert left == []
    assert WORD not in shown
    assert any("parser faster" in path.read_text() for path in person.home.rglob("sessions/2*.md"))
