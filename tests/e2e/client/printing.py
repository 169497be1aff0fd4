"""A session in print mode: `claude -p PROMPT`, started, waited for or killed.

Imports: deadline, records, session.
"""

from __future__ import annotations

import signal
import subprocess
from typing import Any

from .deadline import PATIENCE, DeadlineError
from .records import read_jsonl
from .session import Launch, Session

FORMAT = ("--output-format", "stream-json", "--verbose", "--include-hook-events")
STDOUT = "stdout.jsonl"
STDERR = "stderr.txt"


class PrintSession(Session):
    """A run of `claude -p`. Its output goes to files, so it never waits for a reader."""

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch)
        with launch.log(STDOUT).open("wb") as out, launch.log(STDERR).open("wb") as err:
            self.process = subprocess.Popen(
                launch.argv,
                cwd=launch.folder,
                env=dict(launch.env),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    @property
    def rc(self) -> int | None:
        """The client's exit code, None while it runs; negative: the signal that ended it."""
        return self.process.poll()

    @property
    def stderr(self) -> str:
        """What the client told the user on the error stream."""
        return self.launch.log(STDERR).read_text("utf-8", "replace")

    @property
    def events(self) -> list[dict[str, Any]]:
        """The client's own report of the session (stream-json)."""
        return read_jsonl(self.launch.log(STDOUT))

    @property
    def result(self) -> str:
        """The final answer, as the user gets it."""
        results = [event for event in self.events if event.get("type") == "result"]
        return str(results[-1].get("result", "")) if results else ""

    @property
    def hook_problems(self) -> list[dict[str, Any]]:
        """Hooks of any kind that the client says did not succeed."""
        responses = [e for e in self.events if e.get("subtype") == "hook_response"]
        return [e for e in responses if e.get("outcome") not in (None, "success")]

    def finish(self, timeout: float = 2 * PATIENCE) -> PrintSession:
        """Wait for the end of the session."""
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise DeadlineError(f"waited {timeout:g} s for the end\n{self.describe()}") from None
        self.check_script()
        return self

    def kill(self, how: signal.Signals = signal.SIGKILL) -> int:
        """End the client by a signal."""
        self.process.send_signal(how)
        return self.process.wait(PATIENCE)

    def describe(self) -> str:
        """How the session stands, for the one who reads a failure."""
        return f"{super().describe()}\nstderr: {self.stderr[-2000:]}"
