"""`ltm mcp`: MCP over standard input and output, and the lifetime of its process.

A client waits for this server before its first request to a model. So it runs on the standard
library, and loads nothing before the first call that the list of tools does not need.

The main thread reads messages and answers what opens no project. Calls run in threads, one at a
time in each lane, so that a slow disk delays no message and a slow model no recall.

The process ends when its client closes the input, sends a signal, or is no longer the parent: a
process the client started may still hold the pipe. It can end at any moment, since every change of
the store is whole or not made. Events of hooks are drained in a background thread while no call
runs.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import threading
from contextlib import contextmanager

from ltm.mcp.protocol import (
    EMPTY,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    ProtocolError,
    check,
    enveloped,
    is_enveloped,
    lane_of,
    result,
)

TYPE_CHECKING = False
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import Any

    AtEnd = Callable[[Callable[[], None]], object]
    Listen = Callable[[AtEnd], object]

GRACE = 1.0
"""Seconds that calls have to finish when the process is to end."""

PATIENCE = 2.0
"""Seconds a client has to name its roots; one that announces them and does not answer has none."""

_INTERVAL = 1.0


class Lifetime:
    """When this process ends, and what is at work until then."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._calls = 0
        self._parent = os.getppid()
        self.at_end: list[Callable[[], None]] = []
        """What is done last."""

    def begin_call(self) -> None:
        """Count a call, which the end of the process waits for."""
        with self._change:
            self._calls += 1

    def end_call(self) -> None:
        """The call is done."""
        with self._change:
            self._calls -= 1
            self._change.notify_all()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """A call from beginning to end."""
        self.begin_call()
        try:
            yield
        finally:
            self.end_call()

    @property
    def is_idle(self) -> bool:
        """Whether no call is waiting or running."""
        return not self._calls

    def end_with_client(self) -> None:
        """From now on, end on a signal and when the process that started us is gone."""
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._told)
        threading.Thread(target=self._watch, name="ltm-parent", daemon=True).start()

    def _told(self, number: int, frame: FrameType | None) -> None:
        self.leave()

    def _watch(self) -> None:
        waiting = threading.Event()
        while os.getppid() == self._parent:
            waiting.wait(_INTERVAL)
        self.leave()

    def leave(self) -> None:
        """End this process now, or as soon as the calls at work are done."""
        # Not sys.exit: it would wait for the thread that reads our input, which may never return,
        # and take the interpreter apart under a thread that drains.
        with self._change:
            self._change.wait_for(lambda: self.is_idle, GRACE)
            for each in self.at_end:
                each()
            os._exit(0)


FIRST, NOTED = 1.0, 0.1
"""Seconds until the first look, and until hooks are told of it: the client is busy asking for
tools, and it shall not wait."""

INTERVAL = 3.0


class Background:
    """A thread that drains, started once and ended with the process."""

    def __init__(
        self,
        lifetime: Lifetime,
        listen: Listen | None = None,
    ) -> None:
        """`listen` begins to answer others than the client, and says what is to be done last."""
        self._lifetime = lifetime
        self._listen = listen
        self.changed: dict[str, None] = {}
        """Folders of projects in which a tool changed memories."""
        self._thread = threading.Thread(target=self._run, name="ltm-drain", daemon=True)

    def begin(self) -> None:
        """Start, unless it runs already."""
        if self._thread.ident is None:
            self._thread.start()

    def _run(self) -> None:
        waiting = threading.Event()
        waiting.wait(NOTED)
        _note_served()
        waiting.wait(FIRST - NOTED)
        if self._listen is not None:
            self._listen(self._lifetime.at_end.append)
        while True:
            if self._lifetime.is_idle:
                drain_once()
                show(self.changed)
            waiting.wait(INTERVAL)


def _note_served() -> None:
    """Tell hooks that they need start no drain, by a lock that ends with this process.

    Not where a package is missing that another Python may have, for which hooks know the command.
    """
    from importlib.util import find_spec

    from ltm.errors import LtmError
    from ltm.hook.receive import SERVED
    from ltm.project.home import home as find_home

    if find_spec("yaml") is None:
        return
    try:
        import fcntl

        handle = os.open(os.path.join(find_home(os.environ), SERVED), os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)  # a hook that looks holds it a moment
    except (ImportError, OSError, LtmError):
        return  # a drain more is started


def drain_once() -> None:
    """Drain what waits, if anything does. Never raises."""
    from ltm.errors import LtmError
    from ltm.project.home import home as find_home
    from ltm.spool import events, hook_log

    try:
        home = find_home(os.environ)
    except LtmError:
        return  # every call of a tool says so
    try:
        if events.is_waiting(home):
            from ltm.hook.receive import start_drain
            from ltm.remote import contents
            from ltm.team.schedule import any_due
            from ltm.worker.drain import drain, is_due

            # Events that never cease to come would keep it going for ever, a few at a time.
            drain(home, again=False)
            if is_due(home) or contents.is_due(home) or any_due(home):
                # A model or a network may take longer than this server lives: that is for a process
                # of its own.
                start_drain(home)
    except Exception as error:
        hook_log.note(home, "drain in the server", error)


def show(changed: dict[str, None]) -> None:
    """Bring the block in files of these projects up to date: clients that no hook can tell anything
    know that alone. Never raises."""
    for folder in list(changed):
        from ltm.files.block import shows_block
        from ltm.model import now
        from ltm.project.home import home
        from ltm.spool import hook_log
        from ltm.store.project import OpenProject

        where = ""
        try:
            where = home(os.environ)
            with OpenProject(folder) as project:
                if shows_block(project.places.project.root):
                    from ltm.worker.session_end import refresh_views

                    refresh_views(project, now())
        except Exception as error:
            hook_log.note(where, "the block of a project", error)
        changed.pop(folder, None)


def project_folder(given: str = "", roots: list[str] | None = None) -> str:
    """The folder of the agent's project.

    In this order: the folder given to `ltm mcp --project`, the environment's CLAUDE_PROJECT_DIR,
    the first root the client names, the current folder.
    """
    named = os.environ.get("CLAUDE_PROJECT_DIR", "")
    if given or os.path.isdir(named):
        return given or named
    for root in roots or ():
        if os.path.isdir(root):
            return root
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.environ.get("PWD", "")


def serve(
    project: str = "",
    *,
    unless_plugin: bool = False,
    listen: Listen | None = None,
) -> None:
    """Answer the client on standard input and output until it is gone.

    With `unless_plugin` nothing is offered to a client that has these tools from its plugin.
    `listen` begins to answer commands of the same user as well.
    """
    lifetime = Lifetime()
    lifetime.end_with_client()
    offers = True
    if unless_plugin:
        from ltm.clients.wire import is_plugin_active

        offers = not is_plugin_active(os.environ, project_folder(project))
    background = Background(lifetime, listen)
    lifetime.at_end.append(lambda: show(background.changed))
    ClientConnection(project, lifetime, background, offers=offers).run()
    lifetime.leave()


class _Request:
    """A request that is not answered yet."""

    def __init__(self, number: Any, method: str, params: dict[str, Any]) -> None:
        self.id = number
        self.method = method
        self.params = params
        self.cancelled = False


class ClientConnection:
    """The conversation with one client."""

    def __init__(
        self, project: str, lifetime: Lifetime, background: Background, *, offers: bool = True
    ) -> None:
        self._project = project
        self._lifetime = lifetime
        self._offers = offers
        self._background = background
        self._in, self._out = _claim_streams()
        self._writing = threading.Lock()
        self._lanes: dict[str, queue.SimpleQueue[_Request]] = {}
        self._open: dict[str, _Request] = {}
        self._has_roots = False
        self._roots: list[str] | None = None
        self._asking = threading.Lock()
        self._asked: tuple[str, queue.SimpleQueue[Any]] | None = None
        self._questions = 0

    def run(self) -> None:
        """Read messages to the end of the input."""
        with open(self._in, "rb", closefd=False) as stream:
            for line in stream:
                message = _message(line)
                if message is not None:
                    self._receive(message)

    def _receive(self, message: dict[str, Any]) -> None:
        method, number = message.get("method"), message.get("id")
        if method is None:
            self._hear(number, message.get("result"))
            return
        params = message.get("params")
        is_sound = isinstance(method, str) and isinstance(params, dict | None)
        if isinstance(number, str | int) and not isinstance(number, bool):
            if is_sound:
                self._accept(_Request(number, method, params or {}))
            else:
                self._refuse(number, ProtocolError(INVALID_REQUEST, "this is not a request"))
        elif is_sound:
            self._notice(method, params or {})

    def _accept(self, request: _Request) -> None:
        """Answer a request at once, or let it wait its turn."""
        method, params = request.method, request.params
        try:
            check(method, params)
            if method == "initialize":
                self._has_roots = isinstance(params["capabilities"].get("roots"), dict)
            lane = lane_of(method, params) if self._offers else ""
        except ProtocolError as error:
            self._refuse(request.id, error)
            return
        if not lane:
            self._answer(request)
            return
        self._background.begin()  # a client of the newer era never says that it is ready
        self._lifetime.begin_call()
        self._open[str(request.id)] = request
        if lane not in self._lanes:
            self._lanes[lane] = queue.SimpleQueue()
            work = threading.Thread(target=self._work, args=(lane,), name=lane, daemon=True)
            work.start()
        self._lanes[lane].put(request)

    def _work(self, lane: str) -> None:
        """Answer the requests of a lane, one after the other."""
        from ltm.store.project import KEPT

        KEPT.answers_first = True
        while True:
            request = self._lanes[lane].get()
            try:
                if not request.cancelled:
                    self._answer(request)
                    KEPT.finish()
            finally:
                if self._open.get(str(request.id)) is request:
                    del self._open[str(request.id)]
                self._lifetime.end_call()

    def _answer(self, request: _Request) -> None:
        method, params = request.method, request.params
        try:
            if self._offers:
                lane = lane_of(method, params)
                folder = self._folder(params) if lane else ""
                answer = result(method, params, folder)
                if lane not in ("", "read"):
                    self._background.changed[folder] = None
            else:
                answer = _nothing(method, params)
        except ProtocolError as error:
            if not request.cancelled:
                self._refuse(request.id, error, newer=is_enveloped(params))
            return
        except Exception as error:
            import logging

            logging.getLogger(__name__).exception("%s failed", method)
            self._refuse(request.id, ProtocolError(INTERNAL_ERROR, type(error).__name__))
            return
        if is_enveloped(params) and method != "initialize":
            answer = enveloped(method, answer)
        if not request.cancelled:
            self._send({"id": request.id, "result": answer})

    def _refuse(self, number: str | int, error: ProtocolError, *, newer: bool = False) -> None:
        told: dict[str, Any] = {"code": error.code_in(newer), "message": error.message}
        if error.data is not None:
            told["data"] = error.data
        self._send({"id": number, "error": told})

    def _notice(self, method: str, params: dict[str, Any]) -> None:
        if method == "notifications/initialized" and self._offers:
            self._background.begin()
        elif method == "notifications/roots/list_changed":
            self._roots = None
        elif method == "notifications/cancelled":
            request = self._open.get(str(params.get("requestId")))
            if request is not None:
                request.cancelled = True

    def _folder(self, params: dict[str, Any]) -> str:
        """The folder whose project a call is about; the client is asked where it may know."""
        if self._has_roots and not is_enveloped(params) and not self._project:
            with self._asking:
                if self._roots is None:
                    self._roots = self._ask_roots()
        return project_folder(self._project, self._roots)

    def _ask_roots(self) -> list[str]:
        self._questions += 1
        asked = f"roots-{self._questions}"
        answer: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._asked = asked, answer
        self._send({"id": asked, "method": "roots/list"})
        try:
            roots = answer.get(timeout=PATIENCE).get("roots")
            return [_path(each["uri"]) for each in roots]
        except (queue.Empty, AttributeError, KeyError, TypeError, ValueError):
            return []
        finally:
            self._asked = None

    def _hear(self, number: Any, answer: Any) -> None:
        """Take what the client answers to a question."""
        if self._asked is not None and self._asked[0] == number:
            self._asked[1].put(answer)

    def _send(self, message: dict[str, Any]) -> None:
        data = memoryview(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        try:
            with self._writing:
                while data:
                    data = data[os.write(self._out, data) :]
        except OSError:
            os._exit(0)  # the client reads no more answers


def _message(line: bytes) -> dict[str, Any] | None:
    """The message in a line; None for what is none."""
    try:
        message = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    is_message = isinstance(message, dict) and message.get("jsonrpc") == "2.0"
    return message if is_message else None


def _nothing(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """What a server answers that offers nothing."""
    if method in EMPTY:
        return EMPTY[method]
    if method not in ("initialize", "server/discover", "ping"):
        raise ProtocolError(METHOD_NOT_FOUND, f"{method} is not offered here")
    answer = result(method, params, "")
    answer.pop("instructions", None)
    return answer


def _path(uri: str) -> str:
    from urllib.parse import unquote, urlsplit

    path = unquote(urlsplit(uri).path)
    # On Windows a file's address is file:///C:/…, whose path begins with a slash too many.
    return path[1:] if os.name == "nt" and path[2:3] == ":" else path


def _claim_streams() -> tuple[int, int]:
    """The input and output as handles of our own.

    What a tool prints goes to the messages instead, and what it starts reads nothing: neither may
    be taken for a part of the conversation.
    """
    claimed = os.dup(0), os.dup(1)
    for handle in claimed:
        os.set_blocking(handle, True)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(nowhere, 1)
    os.close(nowhere)
    return claimed
