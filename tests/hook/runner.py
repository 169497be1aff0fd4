"""Running the hook as a client does: a bare Python, a message on stdin, a scrubbed environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ltm.hook import main
from ltm.spool.events import in_order
from tests import forking

PROGRAM = Path(main.__file__)
PATIENCE = 60.0
"""Seconds after which a test gives a hook up: far more than a hook allows itself, so that a slow
machine fails no test, and far less than for ever."""


@dataclass(frozen=True)
class Ran:
    """How a hook ended and what it said."""

    rc: int
    out: str
    err: str

    @property
    def told(self) -> str:
        """The text it gave the model, after checking that the client would accept it."""
        if not self.out:
            return ""
        said = json.loads(self.out)
        shown = said.pop("systemMessage", "LTM")
        assert shown.startswith("LTM")
        assert "\n" not in shown
        if not said:
            return ""  # nothing to tell, or a busy machine took longer than a hook may
        assert set(said) == {"hookSpecificOutput"}
        assert set(said["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
        text = said["hookSpecificOutput"]["additionalContext"]
        assert isinstance(text, str)
        assert 0 < len(text) <= 10_000
        return text

    @property
    def shown(self) -> str:
        """The line it gave the person."""
        said: str = json.loads(self.out or "{}").get("systemMessage", "")
        return said


@dataclass(frozen=True)
class Running:
    """A hook that has begun, and whose input stays open until it is closed."""

    process: subprocess.Popen[bytes]

    def say(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    def answer(self) -> Ran:
        """What it prints until its end; another holder of one of its pipes makes us wait."""
        assert self.process.stdout
        assert self.process.stderr
        out, err = self.process.stdout.read(), self.process.stderr.read()
        return Ran(self.process.wait(PATIENCE), out.decode(), err.decode())


@dataclass
class Hooks:
    """A session's hooks, with a home and a project of their own."""

    top: Path
    python: str = sys.executable
    env: dict[str, str] = field(default_factory=dict)
    session: str = "session-1"

    def __post_init__(self) -> None:
        for folder in (self.user_home, self.project, self.top / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def user_home(self) -> Path:
        return self.top / "user"

    @property
    def home(self) -> Path:
        return self.user_home / ".ltm"

    @property
    def project(self) -> Path:
        return self.top / "project"

    @property
    def environ(self) -> dict[str, str]:
        """What the client's environment holds for a hook."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.user_home),
            "TMPDIR": str(self.top / "tmp"),
            **self.env,
        }

    def payload(self, event: str, **fields: Any) -> dict[str, Any]:
        """A message as the client sends it."""
        return {
            "session_id": self.session,
            "transcript_path": str(self.top / f"{self.session}.jsonl"),
            "cwd": str(self.project),
            "hook_event_name": event,
            **fields,
        }

    def command(self) -> list[str]:
        """The command a client runs."""
        return [self.python, "-I", "-S", str(PROGRAM)]

    def send(self, data: bytes, *, command: list[str] | None = None, cwd: str | None = None) -> Ran:
        """Run the hook with these bytes on stdin."""
        done = subprocess.run(
            command or self.command(),
            input=data,
            capture_output=True,
            env=self.environ,
            cwd=cwd or str(self.project),
            timeout=PATIENCE,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    @contextmanager
    def running(self, **how: Any) -> Iterator[Running]:
        """Start the hook and leave what it reads, and when, to the test; `how` goes to Popen."""
        with subprocess.Popen(
            self.command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environ,
            cwd=self.project,
            **how,
        ) as process:
            try:
                yield Running(process)
            finally:
                process.kill()  # only where a test failed it still runs

    def fire(self, event: str, **fields: Any) -> Ran:
        """Run the hook for an event, and check what must hold for every one."""
        ran = self.send(json.dumps(self.payload(event, **fields)).encode())
        assert (ran.rc, ran.err) == (0, "")
        return ran

    def waiting(self) -> list[dict[str, object]]:
        """The events that wait for a drain, oldest first, each once."""
        found = in_order(str(self.home), self.environ)
        return list({each.key: dict(each.record) for each in found}.values())

    def ltm(self, *words: str, umask: int = -1) -> subprocess.CompletedProcess[str]:
        """Run `ltm` in the project, without a terminal."""
        return forking.run(
            words,
            cwd=self.project,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            text=True,
            umask=umask,
            timeout=6 * PATIENCE,
        )

    def remember(self, *texts: str) -> None:
        """Keep memories in the project, as a person would."""
        for text in texts:
            assert self.ltm("remember", text).returncode == 0
        # A home with a Python noted starts drains; a test says so if it wants that.
        (self.home / "runtime.json").unlink(missing_ok=True)
