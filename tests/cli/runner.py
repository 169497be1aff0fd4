"""Running the real `ltm` command the way a person does: own home, own folder, own process."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import forking


@dataclass
class Ltm:
    """A person at a terminal, in a project, with an empty home."""

    home: Path
    project: Path
    env: dict[str, str] = field(default_factory=dict)
    changed: dict[str, Any] = field(default_factory=dict)
    """Values of LTM's that are others for these commands, by their full names."""

    def run(
        self, *words: str, stdin: str | None = None, cwd: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        """Run `ltm` with these words and give back what it printed."""
        return forking.run(
            words,
            changed=self.changed,
            cwd=cwd or self.project,
            env={**self.environ(), **env},
            input=stdin,
            text=True,
            encoding="utf-8",
        )

    def ok(self, *words: str, **more: Any) -> str:
        """Run it, expect it to work, and give back its stdout."""
        done = self.run(*words, **more)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, *words: str, **more: Any) -> Any:
        """Run it with --json and give back the one value it printed."""
        return json.loads(self.ok(*words, "--json", **more))

    def on_a_terminal(self, *words: str, typed: str = "", **env: str) -> bytes:
        """Run it on a terminal of its own, expect it to end, and give back what is on that.

        `typed` is what a person types there.
        """
        import pty  # not on every system

        reader, writer = pty.openpty()
        process = forking.start(
            words,
            cwd=self.project,
            env={**self.environ(), "TERM": "xterm", **env},
            stdin=writer if typed else subprocess.DEVNULL,
            stdout=writer,
            stderr=writer,
        )
        os.close(writer)
        os.write(reader, typed.encode())
        said = b""
        try:
            while chunk := os.read(reader, 65536):
                said += chunk
        except OSError:
            pass  # how Linux says that the other end is closed
        process.wait()
        os.close(reader)
        return said

    def environ(self) -> dict[str, str]:
        """The environment the command runs in."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LTM_HOME": str(self.home / ".ltm"),
            "TMPDIR": str(self.home),  # where events of this machine's own sessions may wait
            **self.env,
        }
