"""What was said, kept by a second process while this one looks for memories.

Owns that process. `ltm capture` has both to do with every transcript, and they share nothing but
the file; on a machine with two cores a gigabyte takes two thirds of the time. Sessions go to it
line by line, and it answers each with a line. Whatever it did not answer is done here: doing it
twice adds nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Any

from ltm.history.ingest import keep_session
from ltm.model import now
from ltm.project.home import scratch_folder
from ltm.project.layout import Places, places
from ltm.sessions.transcript import unpacked
from ltm.state.session_log import Session

LEAST = 20_000_000
"""Bytes of transcripts from which it is worth the start of a process."""


class Beside:
    """Keeps what was said in sessions; with much to read, in parallel to the caller."""

    def __init__(self, transcripts: Sequence[str]) -> None:
        self._given: list[str] = []
        self._added = 0
        # A file and no pipe: its answers are read at the end, and a pipe that is full by then
        # would have both of us wait for the other.
        self._answers = TemporaryFile("w+", dir=scratch_folder())  # noqa: SIM115  # closed when we are left
        much = sum(map(_size, transcripts)) >= LEAST
        self._process = _started(self._answers) if much else None

    def __enter__(self) -> Beside:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._answers.close()

    def keep(self, session: Session, where: Places, transcript: str) -> None:
        """Keep what was said in a session, by and by; `transcript` is its own, plain or packed."""
        about = asdict(replace(session, transcript=transcript))
        line = json.dumps({"session": about, "folder": where.project.root})
        if self._process is None or self._process.stdin is None:
            self._added += _keep(line)
            return
        self._given.append(line)
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError:
            pass  # it died; `kept` does what it did not

    def kept(self) -> int:
        """How many passages were new, once all of them are kept."""
        if self._process is not None:
            try:
                self._process.communicate()
            except OSError:
                pass  # it died; the rest is done here
            self._process = None
        self._answers.seek(0)
        counts = [int(each) for each in self._answers.read().split()]
        rest = sum(_keep(each) for each in self._given[len(counts) :])
        return self._added + sum(counts) + rest


def main() -> None:
    """Keep what is given on stdin, a session a line, and say how many passages were new."""
    for line in sys.stdin:
        print(_keep(line), flush=True)


def _keep(line: str) -> int:
    given: dict[str, Any] = json.loads(line)
    session = Session(**given["session"])
    with unpacked(session.transcript) as plain:
        return keep_session(
            replace(session, transcript=plain),
            places(given["folder"]),
            now(),
            known_as=session.transcript,
        )


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0  # its client has just deleted it


def _started(answers: IO[str]) -> subprocess.Popen[str] | None:
    # `-I`: the folder we are in must not be able to bring its own `ltm`.
    command = [sys.executable, "-I", "-m", __name__]
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=answers,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    except OSError:
        return None


if __name__ == "__main__":
    main()
