"""The recorder between the client and a plugin, run by the client as its hook or server.

    tap.py spy                            records the payload of a hook event, does nothing
    tap.py hook EVENT -- COMMAND          runs a hook's shell command, records what it did
    tap.py hook EVENT --exec -- A B ...   the same for a hook in exec form (command and args)
    tap.py mcp SERVER -- A B ...          runs a stdio MCP server, records every line both ways

Each record is one JSON line in the file that the environment names, one file per run of the client;
without the variable nothing is recorded. A hook_start without its hook_end is a hook that was
killed. Run with -I -S, so: the standard library only, and nothing heavy.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import IO, Any

LOG_VARIABLE = "CLIENT_TAP_LOG"
SHOWN_VARIABLES = ("CLAUDE_", "MCP_", "PLUGIN_")


def record(kind: str, **fields: Any) -> None:
    """Append one record; a single write, so that lines of parallel hooks never mix."""
    path = os.environ.get(LOG_VARIABLE)
    if not path:
        return
    line = json.dumps({"record": kind, "time": time.time(), "pid": os.getpid(), **fields}) + "\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


def parsed(raw: bytes) -> Any:
    """The JSON value, or the text when it is none."""
    try:
        return json.loads(raw)
    except ValueError:
        return raw.decode("utf-8", "replace")


def environment() -> dict[str, str]:
    """What the client tells its hooks and servers through the environment, without secrets."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(SHOWN_VARIABLES) and "KEY" not in name and "TOKEN" not in name
    }


def spy() -> int:
    """Record the payload and let the client go on."""
    record("spy", payload=parsed(sys.stdin.buffer.read()), env=environment(), cwd=os.getcwd())
    return 0


def run_hook(event: str, command: list[str], exec_form: bool) -> int:
    """Run the hook, pass its streams through, and record them with its exit code and time."""
    start = time.monotonic()
    raw = sys.stdin.buffer.read()
    shown = " ".join(command)
    record("hook_start", event=event, command=shown, payload=parsed(raw), env=environment())
    process = subprocess.Popen(
        command if exec_form else ["/bin/sh", "-c", command[0]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    out, err = bytearray(), bytearray()
    threads = [
        threading.Thread(target=copy, args=(process.stdout, sys.stdout.buffer, out), daemon=True),
        threading.Thread(target=copy, args=(process.stderr, sys.stderr.buffer, err), daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        process.stdin.write(raw)
        process.stdin.close()
    except OSError:
        pass  # a hook need not read its payload
    code = process.wait()
    for thread in threads:
        thread.join(2)  # a child the hook left behind may hold the stream open
    record(
        "hook_end",
        rc=code,
        ms=round((time.monotonic() - start) * 1000, 1),
        stdout=out.decode("utf-8", "replace"),
        stderr=err.decode("utf-8", "replace"),
    )
    return exit_code(code)


def copy(source: IO[bytes], sink: IO[bytes], kept: bytearray) -> None:
    """Pass a stream through as it comes, and keep it."""
    while chunk := os.read(source.fileno(), 65536):
        kept += chunk
        try:
            sink.write(chunk)
            sink.flush()
        except OSError:
            pass  # the client no longer listens; the record still counts


def run_server(server: str, command: list[str]) -> int:
    """Run the MCP server between two recorded pipes, until either side ends."""
    record("mcp_start", server=server, command=command, cwd=os.getcwd(), env=environment())
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: process.send_signal(received))
    to_server = (sys.stdin.buffer, process.stdin, server, "client")
    threading.Thread(target=relay, args=to_server, daemon=True).start()
    relay(process.stdout, sys.stdout.buffer, server, "server")
    code = process.wait()
    record("mcp_end", server=server, rc=code)
    return exit_code(code)


def relay(source: IO[bytes], sink: IO[bytes], server: str, sender: str) -> None:
    """Pass JSON-RPC lines on and record each; the end of the source closes the server's input."""
    for line in iter(source.readline, b""):
        record("mcp", server=server, sender=sender, message=parsed(line))
        try:
            sink.write(line)
            sink.flush()
        except OSError:
            return
    if sender == "client":
        sink.close()


def exit_code(code: int) -> int:
    """A shell's way to say that a signal ended the program."""
    return code if code >= 0 else 128 - code


def main(argv: list[str]) -> int:
    """Run the recorder that the first argument names."""
    if argv[0] == "spy":
        return spy()
    cut = argv.index("--")
    head, command = argv[1:cut], argv[cut + 1 :]
    if argv[0] == "hook":
        return run_hook(head[0], command, "--exec" in head)
    return run_server(head[0], command)


if __name__ == "__main__":
    # Not sys.exit: a thread may sit in a read of a pipe that a left-behind child holds open.
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)
