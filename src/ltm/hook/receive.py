"""Receive one event of a client: from stdin into the spool, and the answer to stdout.

The order: read what is there, keep the event, answer it, leave the rest to the drain, a process of
its own. No network, no waiting for a lock, and nothing loaded that this event does not need: most
events are done with in a few milliseconds. `ltm serve` calls `keep` and `answer` too.

The drain outlives the hook and its client: it has a session of its own and none of the hook's
pipes. At most one runs: while its lock is held there is nothing to start.
"""

from __future__ import annotations

import os
import select
import sys
import time
from _thread import allocate_lock

from ltm.clients.table import CLAUDE_CODE, EVENT_OPTION, NESTED, UNLESS_PLUGIN, Client
from ltm.clients.wire import (
    PLUGIN_EVENTS,
    TOOL_EVENTS,
    answer_line,
    client_of,
    is_plugin_active,
    option,
    understand,
)
from ltm.errors import LtmError
from ltm.files.atomic import read_plain, write_file
from ltm.files.fastjson import is_whole, read_object, write
from ltm.hook.deadline import OUT_OF_TIME, START
from ltm.project.home import INSTRUCTIONS
from ltm.project.home import home as find_home
from ltm.spool import events, hook_log
from ltm.spool.hook_log import ltm_command, runtime

TYPE_CHECKING = False  # without `typing`, which alone costs a hook half its time
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


MOST = 32 * 1024 * 1024
"""Bytes of a message that are read. What we need of a longer one stands at its beginning."""

PATIENCE = 0.7
"""Seconds in which a message must arrive; then what is there counts."""

_QUIET = 0.04  # a whole message with silence after it is taken as such, though stdin stays open

_DRAINED = ("SessionStart", "PreCompact", "Stop", "SubagentStop", "SessionEnd")
_SWITCHES = {"SubagentStart": b"subagents", "UserPromptSubmit": b"per_prompt"}
"""Events answered only if an option says so, and a word without which no config can say it."""

_KEY = "key"  # the field of the line for `tell` that holds the event's key

_printing = allocate_lock()  # taken once, by the answer or by the message that there is none

ANSWERED = ("SessionStart", *_SWITCHES)
"""Events that may have an answer at all."""


def receive(environ: Mapping[str, str], tell: Callable[[str], None]) -> None:
    """Read an event from stdin, keep it, and print the answer if it has one.

    `tell` is given the event as a line, and an empty line when it is kept: when a session ends,
    time is shorter than usual.
    """
    payload = read_object(_read(0))
    client = client_of(sys.argv, environ)
    record = understand(payload, client, option(sys.argv, EVENT_OPTION))
    if record is None:
        return
    if folder := str(record.get("cwd") or _folder(environ)):
        record["cwd"] = folder
    event = str(record["event"])
    if UNLESS_PLUGIN in sys.argv and event in PLUGIN_EVENTS and client.has_registry:
        project = environ.get("CLAUDE_PROJECT_DIR") or str(record.get("cwd", ""))
        if is_plugin_active(environ, project):
            return  # this event also reaches a hook of our plugin, and must not happen twice
    key = events.new_key()
    # What begins with the event has words for a person when time is up, if the client shows them.
    tell(write({**record, _KEY: key} if client.told == NESTED else {_KEY: key, **record}))
    home = _home(environ)
    if event == "SessionStart" and home and not _is_first(home, record):
        return
    keep(record, home, environ, key=key)
    tell("")
    if not home:
        return
    if client.instructions:
        os.environ[INSTRUCTIONS] = " ".join(client.instructions)
    try:
        line = answer(payload, record, home, environ, client)
        if line and _printing.acquire(False):
            _print(line)
        if _is_due(event, home):
            # A plugin begins its server with the session, and that drains. One of a session that
            # ends is gone before it looks again, maybe while it drains.
            begins = event == "SessionStart" and _is_in_plugin(client, environ)
            served = begins or _is_held(home, SERVED)
            if event == "SessionEnd" or not served:
                start_drain(home, queued=served)
    except Exception as error:
        hook_log.note(home, event, error)


def give_up(environ: Mapping[str, str], told: str) -> None:
    """Print that time is up to a person whose session starts, and leave a line in the log."""
    if told.startswith(START) and _printing.acquire(False):
        _print(OUT_OF_TIME)
    note_late(environ, told)


def note_late(environ: Mapping[str, str], told: str) -> None:
    """Leave a line in the log: time was up, and this event, as far as it is known, is not done."""
    event = str(read_object(told).get("event", "hook"))
    hook_log.note(find_home(environ), event, TimeoutError("time was up before it was done"))


def keep_told(environ: Mapping[str, str], told: str, *, outside: bool = False) -> None:
    """Keep an event that `receive` passed to `tell` and did not keep; `outside` of home only."""
    record = read_object(told)
    key = str(record.pop(_KEY))
    home = _home(environ)
    if outside:
        events.put_outside(home, record, environ, key=key)
    else:
        keep(record, home, environ, key=key)


def keep(
    record: dict[str, object], home: str, environ: Mapping[str, str], *, key: str = ""
) -> bool:
    """Put an event into the spool; False, and a line in the log, when there is no room for it."""
    try:
        events.put(home, record, environ, key=key)
    except LtmError as error:
        hook_log.note(home, str(record["event"]), error)
        return False
    return True


def answer(
    payload: dict[str, object],
    record: dict[str, object],
    home: str,
    environ: Mapping[str, str] = os.environ,
    client: Client = CLAUDE_CODE,
) -> str:
    """What the hook of an event prints, in the form of its client; or nothing."""
    event, nested = str(record["event"]), client.told == NESTED
    try:
        text, message = _answer_to(event, payload, record, home) if client.told else ("", "")
    except TimeoutError as error:
        hook_log.note(home, event, error)
        return OUT_OF_TIME if nested else ""
    plugin = event == "SessionStart" and _is_in_plugin(client, environ)
    if plugin:
        memories, end, notice = text.rpartition("[/LTM]")
        text = f"{memories}{end}{in_plugin(notice)}"
    line = answer_line(client, str(payload.get(client.event_field) or event), text)
    if record.get("source") == "startup" and event == "SessionStart" and nested:
        said = filter(None, (in_plugin(message) if plugin else message, _notice(environ)))
        if shown := "\n".join(said):
            line = write({"systemMessage": shown, **read_object(line)}) + "\n"
    return line


def _is_first(home: str, record: dict[str, object]) -> bool:
    """Whether a session's start has not reached us by another hook."""
    from ltm.spool.session_text import is_first

    door = " ".join(sys.argv)
    return is_first(home, str(record["session"]), door)


def _folder(environ: Mapping[str, str]) -> str:
    """The project's folder, for clients that do not say it: they run hooks there."""
    try:
        return environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()
    except OSError:
        return ""


def _home(environ: Mapping[str, str]) -> str:
    try:
        return find_home(environ)
    except LtmError:
        return ""  # a session whose home is unknown is kept all the same


def _read(handle: int) -> str:
    """What the client wrote, to its end; or as far as it came, if the other end stays open."""
    chunks: list[bytes] = []
    size = 0
    until = time.monotonic() + PATIENCE
    try:
        while size < MOST:
            left = until - time.monotonic()
            if left <= 0:
                break
            if os.name != "nt" and not select.select([handle], [], [], min(left, _QUIET))[0]:
                if chunks and is_whole(_text(chunks)):
                    break
                continue
            chunk = os.read(handle, 1 << 16)
            if not chunk:
                break
            chunks.append(chunk)
            size += len(chunk)
    except (OSError, ValueError):
        pass  # closed or not readable: what came before counts
    return _text(chunks)


def _text(chunks: list[bytes]) -> str:
    # A path that is not valid UTF-8 must come back as it was when it is used.
    return b"".join(chunks).decode("utf-8", "surrogateescape").lstrip("\ufeff")


def _answer_to(
    event: str, payload: dict[str, object], record: dict[str, object], home: str
) -> tuple[str, str]:
    """What the session is told, and at its start what the person is."""
    if event != "SessionStart" and not (event in _SWITCHES and _may_be_on(home, _SWITCHES[event])):
        return "", ""
    from ltm.hook import answer as answers

    if event == "SubagentStart":
        return answers.at_subagent(record), ""
    if event == "UserPromptSubmit":
        return answers.at_prompt(record, str(payload.get("prompt", ""))), ""
    text, message = answers.at_start(record)
    if text and _may_be_on(home, _SWITCHES["UserPromptSubmit"]):
        answers.note_start(home, str(record.get("session", "")), text)
    return text, message


def _is_in_plugin(client: Client, environ: Mapping[str, str]) -> bool:
    """Whether the plugin's hook runs where the plugin brings commands and a server too: other
    clients set the same variable for hooks of their plugins."""
    return client.has_registry and bool(environ.get("CLAUDE_PLUGIN_ROOT"))


_PLUGIN_COMMANDS = (
    ("(ltm consolidate --all)", "(/ltm:remember)"),
    ("(ltm import ", "(/ltm:memory-import "),
    ("(ltm ", "(/ltm:"),
)
"""Commands as a message or a notice names them, and what a user of the plugin types instead."""


def in_plugin(message: str) -> str:
    """A message with its commands as a user of the plugin types them."""
    for typed, instead in _PLUGIN_COMMANDS:
        message = message.replace(typed, instead)
    return message


def _notice(environ: Mapping[str, str]) -> str:
    """What a person is told once: that the plugin's environment is ready, or why it could not be
    built."""
    data = environ.get("CLAUDE_PLUGIN_DATA", "")
    if not data:
        return ""
    path = os.path.join(data, "environment.json")
    try:
        state = read_object(read_plain(path).decode())
    except (OSError, ValueError):
        return ""
    message = str(state.get("message", ""))
    if state.get("state") not in ("ready", "failed") or state.get("told") or not message:
        return ""
    write_file(path, write({**state, "told": True}).encode())
    return message


def _may_be_on(home: str, word: bytes) -> bool:
    """Whether the user's config mentions an option at all: reading it properly costs far more."""
    try:
        return word in read_plain(os.path.join(home, "config.toml"))
    except OSError:
        return False


def _print(line: str) -> None:
    data = memoryview(line.encode("utf-8", "replace"))
    while data:
        data = data[os.write(1, data) :]


def _is_due(event: str, home: str) -> bool:
    """Whether there is work to start: always at the ends of things, now and then at tool calls."""
    if event not in TOOL_EVENTS:
        return event in _DRAINED
    waiting = sum(events.count(home, each) for each in TOOL_EVENTS)
    return waiting > 1 and waiting >= hook_log.save_interval(runtime(home))


LOCK = "drain.lock"
SERVED = "served.lock"
"""Held, together, by the servers of a home that drain it every few seconds."""


def start_drain(home: str, *, queued: bool = False) -> bool:
    """Start a drain of this home, if anything here can run one.

    While another one runs there is nothing to start, unless it is to be `queued` behind that.
    """
    command = ltm_command(home)
    if not command or (is_draining(home) and not queued) or not hasattr(os, "posix_spawn"):
        return False
    _share_no_handles()
    command.append("drain")
    program = command[0]
    nothing = [(os.POSIX_SPAWN_OPEN, each, os.devnull, os.O_RDWR, 0) for each in (0, 1, 2)]
    environ = {**os.environ, "LTM_HOME": home}
    # SIGHUP, SIGINT, SIGQUIT and SIGTERM, which the hook or its shell ignores for its short life.
    heard = [1, 2, 3, 15]
    try:
        os.posix_spawn(
            program, command, environ, file_actions=nothing, setsid=True, setsigdef=heard
        )
    except NotImplementedError:  # a system that cannot do this in one step: a group must do
        os.posix_spawn(
            program, command, environ, file_actions=nothing, setpgroup=0, setsigdef=heard
        )
    return True


def is_draining(home: str) -> bool:
    """Whether a drain of this home is running. Never waits."""
    return _is_held(home, LOCK)


def _is_held(home: str, name: str) -> bool:
    """Whether a living process holds a lock."""
    try:
        import fcntl

        handle = os.open(os.path.join(home, name), os.O_RDWR)
    except (ImportError, OSError):
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _share_no_handles() -> None:
    """Let no child inherit open files: a pipe that it keeps open makes its reader wait."""
    try:
        names = os.listdir("/dev/fd")
    except OSError:
        return
    for name in names:
        if name.isdigit() and int(name) > 2:
            try:
                os.set_inheritable(int(name), False)
            except OSError:
                continue
