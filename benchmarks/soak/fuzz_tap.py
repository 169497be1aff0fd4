"""Stands between an MCP client and a server and notes every line: `fuzz_tap.py LOG COMMAND...`.

Each line of the log is JSON: the way (`>` to the server, `<` from it, `!` its end), the moment and
the text. So a fuzzer's own judgement of an answer is not needed. Standard library only: it is run
as a file.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from typing import IO, TextIO


class Log:
    """The file with what was said."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._lock = threading.Lock()

    def note(self, way: str, line: bytes) -> None:
        text = line.decode("utf-8", "surrogateescape")
        with self._lock:
            self._file.write(json.dumps([way, time.monotonic(), text]) + "\n")
            self._file.flush()


def _pass_on(source: IO[bytes], sink: IO[bytes], way: str, log: Log) -> None:
    for line in source:
        log.note(way, line)
        try:
            sink.write(line)
            sink.flush()
        except BrokenPipeError:
            return


def main() -> None:
    """Pass everything on until the server ends."""
    with open(sys.argv[1], "a", encoding="utf-8") as file:
        log = Log(file)
        server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert server.stdin
        assert server.stdout
        told = server.stdin

        def down() -> None:
            _pass_on(sys.stdin.buffer, told, ">", log)
            log.note(">", b"")  # the client is gone, so the server may end
            told.close()

        threading.Thread(target=down, daemon=True).start()
        _pass_on(server.stdout, sys.stdout.buffer, "<", log)
        log.note("!", str(server.wait()).encode())


if __name__ == "__main__":
    main()
