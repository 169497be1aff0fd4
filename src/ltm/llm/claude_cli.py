"""The user's own Claude Code, asked with `claude -p`: no key, the login that is there.

It is started without side effects: without the user's hooks, plugins, servers and CLAUDE.md
(`--safe-mode`, which leaves login and model settings alone), without tools, without a trace in the
list of sessions, with `GUARD` in its environment, and with an end. What it is asked about goes
through stdin, since every user of the machine can read a command line.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping

from ltm.errors import BadAnswer, ModelBusy, ModelFailed
from ltm.llm.backend import GUARD, Answer
from ltm.llm.http_api import tokens_in
from ltm.project.home import scratch_folder
from ltm.redact.redact import redacted

PROGRAM = "claude"
MODEL = "haiku"
"""The client's own name for its small model."""

LARGEST = 1024 * 1024
"""Bytes of its output that are read."""

FLAGS = (
    "--print",
    "--output-format=json",
    "--no-session-persistence",
    "--safe-mode",
    "--strict-mcp-config",
    "--tools=",
    "--effort=low",
)
_GRACE = 2.0
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
_PLACES = (os.path.join(".local", "bin"), os.path.join(".claude", "local"))
_SESSION = (
    *("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION"),
    *("CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"),
    *("CLAUDE_ENV_FILE", "CLAUDE_JOB_DIR", "CLAUDE_CODE_SESSION_NAME", "AI_AGENT"),
)
"""Variables that a client sets for the programs it starts: LTM may be one."""


class Claude:
    """Asks with `claude -p`, in the folder `home`, where no project is."""

    overhead = 1_500

    def __init__(self, home: str, environ: Mapping[str, str], model: str) -> None:
        self._home = home
        self._environ = environ
        self._model = model or MODEL

    def ask(self, system: str, prompt: str, *, most: int, timeout: float) -> Answer:
        """One run of the client, and what it printed."""
        command = [self._program(), *FLAGS, f"--model={self._model}", f"--system-prompt={system}"]
        with tempfile.TemporaryFile(dir=scratch_folder()) as errors:
            try:
                process = subprocess.Popen(
                    command,
                    cwd=self._home,
                    env=self._environment(most),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=True,  # so that all it starts can be ended with it
                )
            except OSError as error:
                raise ModelFailed(f"{command[0]} cannot be run: {error.strerror}", cost=0) from None
            with process:
                printed = _conversation(process, prompt.encode("utf-8", "replace"), timeout)
            errors.seek(max(0, errors.tell() - 2_000))
            return _answer(printed, process.returncode, errors.read())

    def _program(self) -> str:
        user = self._environ.get("USERPROFILE" if os.name == "nt" else "HOME", "")
        folders = [self._environ.get("PATH", os.defpath)]
        folders += [os.path.join(user, place) for place in _PLACES if os.path.isabs(user)]
        found = shutil.which(PROGRAM, path=os.pathsep.join(folders))
        if found is None:
            raise ModelFailed(
                "there is no program 'claude'",
                hint="install Claude Code, or use a key: ltm config llm.backend api",
                cost=0,
            )
        return os.path.abspath(found)

    def _environment(self, most: int) -> dict[str, str]:
        kept = {name: value for name, value in self._environ.items() if name not in _SESSION}
        return kept | {
            GUARD: "1",
            "CLAUDE_CODE_SESSION_KIND": "daemon-worker",  # which no list of sessions shows
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(most),
            "CLAUDE_CODE_MAX_RETRIES": "0",  # asking again is for `Model` to decide, and to count
            "MAX_THINKING_TOKENS": "0",
            "DISABLE_AUTOUPDATER": "1",
        }


def _conversation(process: subprocess.Popen[bytes], said: bytes, timeout: float) -> bytes:
    """Give the client the prompt and read its answer; it is ended when it takes too long."""
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None
    over, late = threading.Event(), threading.Event()

    def watch() -> None:
        if over.wait(timeout):
            return
        late.set()
        _signal(process, signal.SIGTERM)  # it has files to put away
        if not over.wait(_GRACE):
            _signal(process, _KILL)

    def send() -> None:
        try:
            stdin.write(said)
            stdin.close()
        except OSError:
            pass  # it ended without reading; its answer says why

    sender = threading.Thread(target=send, daemon=True)
    threading.Thread(target=watch, daemon=True).start()
    sender.start()
    try:
        printed = stdout.read(LARGEST + 1)
        if len(printed) > LARGEST:
            raise BadAnswer(f"claude printed more than {LARGEST:,} bytes")
        process.wait()
    finally:
        over.set()
        if process.returncode is None:
            _signal(process, _KILL)
        sender.join(1.0)
    if late.is_set():
        raise ModelFailed(
            f"claude gave no answer within {timeout:g} seconds",
            hint="ltm config llm.timeout SECONDS gives it more time",
        )
    return printed


def _signal(process: subprocess.Popen[bytes], what: int) -> None:
    """Tell the client and whatever it started to end."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, what)
        else:
            process.kill()
    except OSError:
        pass  # it is gone already


def _answer(printed: bytes, code: int, errors: bytes) -> Answer:
    try:
        result = json.loads(printed)
        said, failed = result["result"], result["is_error"]
    except (ValueError, RecursionError, KeyError, TypeError):
        reason = _short(errors.decode("utf-8", "replace"))
        if code:
            raise ModelFailed(
                f"claude ended with {code}{f': {reason}' if reason else ''}",
                hint="run 'claude --version': it must be 2.1.197 or newer",
            ) from None
        raise BadAnswer("the output of claude is not a result") from None
    cost = tokens_in(result.get("usage"))
    if failed or not isinstance(said, str):
        status = result.get("api_error_status")
        busy = type(status) is int and (status in (408, 429) or status >= 500)
        raise (ModelBusy if busy else ModelFailed)(f"claude said: {_short(str(said))}", cost=cost)
    return Answer(said, cost)


def _short(text: str) -> str:
    return " ".join(redacted(text).split())[:200]
