"""The MCP server: the SDK's protocol, the table of tools, and the lifetime of the process.

The event loop only carries messages. Calls run in worker threads, one at a time in each lane, so
that a slow disk delays no message and a slow model no recall. What a tool raises becomes a tool
error, which the agent can act on.

The process ends when its client closes the input, sends a signal, or is no longer the parent: a
process the client started may still hold the pipe. It can end at any moment, since every change of
the store is whole or not made. Events of hooks are drained in a background thread while no call
runs.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from ltm import __version__
from ltm.errors import LtmError, NotFound, WrongUsage
from ltm.mcp.tools import (
    MEMORY_URI,
    RESOURCES,
    SLOW,
    TOOLS,
    Call,
    Tool,
    checked,
    later,
    tools,
)
from ltm.plugin.stand_in import INSTRUCTIONS
from ltm.project.home import home as find_home
from ltm.spool import events, hook_log
from ltm.text.display import visible

_READING = {RESOURCES, *(tool.name for tool in TOOLS if tool.effect.reads_only)}


PATIENCE = 2.0
"""Seconds a client has to name its roots; one that announces them and does not answer has none."""


class Whereabouts:
    """The folder of the agent's project, found when it is first needed.

    In this order: the folder given to `ltm mcp --project`, the environment's CLAUDE_PROJECT_DIR,
    the first root the client names, the current folder.
    """

    def __init__(self, project: str | None = None) -> None:
        self._project = project
        self._roots: list[str] | None = None

    async def folder(self, context: ServerRequestContext[Any, Any]) -> str:
        """The folder whose project a request is about."""
        given = self._project or os.environ.get("CLAUDE_PROJECT_DIR", "")
        if self._project or os.path.isdir(given):
            return given
        if self._roots is None:
            self._roots = await _roots(context)
        return next((root for root in self._roots if os.path.isdir(root)), None) or _here()

    async def changed(self, context: ServerRequestContext[Any, Any], params: Any) -> None:
        """The client has other roots now: ask again at the next call."""
        self._roots = None


async def _roots(context: ServerRequestContext[Any, Any]) -> list[str]:
    session = context.session
    capabilities = session.client_capabilities
    if capabilities is None or capabilities.roots is None or not session.can_send_request:
        return []
    try:
        answer = await session.send_request(
            types.ListRootsRequest(), types.ListRootsResult, request_read_timeout_seconds=PATIENCE
        )
    except (MCPError, ValidationError) as error:
        _log.warning("the client does not name its roots: %s", error)
        return []
    return [_path(str(root.uri)) for root in answer.roots]


def _path(uri: str) -> str:
    path = unquote(urlsplit(uri).path)
    # On Windows a file's address is file:///C:/…, whose path begins with a slash too many.
    return path[1:] if os.name == "nt" and path[2:3] == ":" else path


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.environ.get("PWD", "")


GRACE = 1.0
"""Seconds that running calls have to finish when the process is to end."""

_INTERVAL = 1.0


class Lifetime:
    """When this process ends, and who is at work until then."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._calls = 0
        self._parent = os.getppid()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Count a running call, which the end of the process waits for."""
        with self._change:
            self._calls += 1
        try:
            yield
        finally:
            with self._change:
                self._calls -= 1
                self._change.notify_all()

    @property
    def is_idle(self) -> bool:
        """Whether no call is running."""
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
            os._exit(0)


FIRST = 1.0
"""Seconds until the first look: the client is busy asking for tools, and it shall not wait."""

INTERVAL = 3.0


class Background:
    """A thread that drains, started once and ended with the process."""

    def __init__(self, lifetime: Lifetime) -> None:
        self._lifetime = lifetime
        self._thread = threading.Thread(target=self._run, name="ltm-drain", daemon=True)

    def begin(self) -> None:
        """Start, unless it runs already."""
        if self._thread.ident is None:
            self._thread.start()

    def _run(self) -> None:
        waiting = threading.Event()
        waiting.wait(FIRST)
        while True:
            if self._lifetime.is_idle:
                drain_once()
            waiting.wait(INTERVAL)


def drain_once() -> None:
    """Drain what waits, if anything does. Never raises."""
    try:
        home = find_home(os.environ)
    except LtmError:
        return  # every call of a tool says so
    try:
        if events.is_waiting(home):
            from ltm.hook.receive import start_drain
            from ltm.worker.drain import drain
            from ltm.worker.model_queue import is_due

            # Events that never cease to come would keep it going for ever, a few at a time.
            drain(home, again=False)
            if is_due(home):
                # A model may take longer than this server lives: that is for a process of its own.
                start_drain(home)
    except Exception as error:
        hook_log.note(home, "drain in the server", error)


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt: its name, what it does, its argument, and the text with a place for it."""

    name: str
    description: str
    argument: str
    text: str


PROMPTS = (
    Prompt(
        "recall",
        "Find what is remembered about something",
        "query",
        "Call the recall tool with this query, open what matters with get_memory, and tell me what"
        " is known, citing the ids: {}",
    ),
    Prompt(
        "remember",
        "Keep something for later sessions",
        "content",
        "Call the store_memory tool with this content, in full sentences, and tell me what was"
        " stored or confirmed: {}",
    ),
)


def prompt_text(name: str, arguments: Mapping[str, str]) -> str:
    """The text of a prompt with its argument filled in."""
    for prompt in PROMPTS:
        if prompt.name == name:
            said = arguments.get(prompt.argument, "").strip()
            if not said:
                raise WrongUsage(f"the prompt {name} needs {prompt.argument}")
            return prompt.text.format(said)
    known = ", ".join(prompt.name for prompt in PROMPTS)
    raise NotFound(f"there is no prompt '{name[:80]}'", hint=f"there are: {known}")


_T = TypeVar("_T")
_Context = ServerRequestContext[Any, Any]

_RESOURCE_NOT_FOUND = -32002

_log = logging.getLogger(__name__)


def serve(project: str | None = None) -> None:
    """Answer the client on stdin and stdout until it is gone."""
    lifetime = Lifetime()
    lifetime.end_with_client()
    anyio.run(_serve, Answers(project, lifetime), lifetime)
    lifetime.leave()


async def _serve(answers: Answers, lifetime: Lifetime) -> None:
    server = build(answers)
    async with stdio_server() as (incoming, outgoing):
        try:
            await server.run(incoming, outgoing, server.create_initialization_options())
        except anyio.get_cancelled_exc_class():
            # The client reads no more answers. The SDK would go on waiting for its next question.
            lifetime.leave()


def build(answers: Answers) -> Server[Any]:
    """The SDK's server with our handlers."""
    server: Server[Any] = Server(
        "ltm",
        version=__version__,
        title="LTM long-term memory",
        instructions=INSTRUCTIONS,
        on_list_tools=answers.list_tools,
        on_call_tool=answers.call_tool,
        on_list_resources=answers.list_resources,
        on_list_resource_templates=answers.list_resource_templates,
        on_read_resource=answers.read_resource,
        on_list_prompts=answers.list_prompts,
        on_get_prompt=answers.get_prompt,
    )
    # Roots are on their way out of the protocol, and the clients of today still have them.
    server.add_notification_handler(
        "notifications/roots/list_changed", types.NotificationParams, answers.where.changed
    )
    server.add_notification_handler(
        "notifications/initialized", types.NotificationParams, answers.initialized
    )
    return server


class Answers:
    """What this server answers to each request."""

    def __init__(self, project: str | None, lifetime: Lifetime) -> None:
        self.where = Whereabouts(project)
        self._lifetime = lifetime
        self.background = Background(lifetime)
        self._lanes = {name: anyio.CapacityLimiter(1) for name in ("read", "write", "slow")}

    async def initialized(self, context: _Context, params: types.NotificationParams) -> None:
        """The client is served: what can wait may begin."""
        self.background.begin()

    async def list_tools(
        self, context: _Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Every tool, as short as it can be said."""
        known = await anyio.to_thread.run_sync(tools)  # other packages' tools may be slow to load
        return types.ListToolsResult(tools=[_described(each) for each in known.by_name.values()])

    async def call_tool(
        self, context: _Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """The text of a tool's result, or a tool error that says what to do next."""
        answer = partial(_answer, name=params.name, given=params.arguments or {})
        try:
            text = await self._work(context, params.name, answer)
        except LtmError as error:
            return _failure(error)
        except Exception as error:
            _log.exception("the tool %s failed", params.name)
            return _failure(_unexpected(error))
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    async def list_resources(
        self, context: _Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """The newest memories; none rather than an error, since clients ask on their own."""
        try:
            entries = await self._work(context, RESOURCES, later("recall", "listed"))
        except LtmError as error:
            _log.warning("no resources are listed: %s", error)
            entries = []
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=each.uri,
                    name=each.name,
                    description=each.description,
                    mime_type="text/plain",
                )
                for each in entries
            ]
        )

    async def list_resource_templates(
        self, context: _Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """How the address of any memory is made."""
        template = types.ResourceTemplate(
            uri_template=f"{MEMORY_URI}{{id}}", name="memory", mime_type="text/plain"
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, context: _Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """One memory as get_memory shows it."""
        uri = str(params.uri)
        try:
            text = await self._work(context, RESOURCES, partial(later("recall", "read"), uri=uri))
        except LtmError as error:
            code = _RESOURCE_NOT_FOUND if isinstance(error, NotFound) else types.INTERNAL_ERROR
            raise MCPError(code, _told(error)) from error
        text = visible(text, keep_newlines=True)
        content = types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)
        return types.ReadResourceResult(contents=[content])

    async def list_prompts(
        self, context: _Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """The prompts a person can call."""
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=each.name,
                    description=each.description,
                    arguments=[types.PromptArgument(name=each.argument, required=True)],
                )
                for each in PROMPTS
            ]
        )

    async def get_prompt(
        self, context: _Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """The text of a prompt."""
        try:
            text = prompt_text(params.name, params.arguments or {})
        except LtmError as error:
            raise MCPError(types.INVALID_PARAMS, _told(error)) from error
        content = types.TextContent(type="text", text=text)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])

    async def _work(self, context: _Context, tool: str, function: Callable[[Call], _T]) -> _T:
        """Run a function on this project's store, after the calls of its lane before it."""
        self.background.begin()  # a client of the newer protocol has no handshake
        folder = await self.where.folder(context)

        def work() -> _T:
            with self._lifetime.at_work(), Call(tool, folder) as call:
                return function(call)

        # Tools of other packages may write, as far as we know.
        lane = "slow" if tool in SLOW else "read" if tool in _READING else "write"
        return await anyio.to_thread.run_sync(work, limiter=self._lanes[lane])


def _described(tool: Tool) -> types.Tool:
    """A tool as the protocol has it. Annotations cost tokens, so only those that differ from the
    defaults: whether a tool destroys or can be repeated means nothing for one that only reads."""
    effect = tool.effect
    if effect.reads_only:
        hints = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    else:
        hints = types.ToolAnnotations(
            destructive_hint=effect.destroys,
            idempotent_hint=effect.repeatable or None,
            open_world_hint=False,
        )
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.schema,
        annotations=hints,
    )


def _answer(call: Call, name: str, given: Mapping[str, Any]) -> str:
    """What a tool says to these arguments, as long as a client passes on."""
    known = tools().by_name
    tool = known.get(name)
    if tool is None:
        raise NotFound(f"there is no tool '{name[:80]}'", hint=f"there are: {', '.join(known)}")
    text = tool.function(call, **checked(tool, given))
    if not isinstance(text, str):
        raise TypeError(f"{name} gave no text but {type(text).__name__}")
    # Ours are safe already; a path may hold bytes that no JSON can carry, and so may others' texts.
    return str(later("result", "cut")(visible(text, keep_newlines=True)))


def _failure(error: LtmError) -> types.CallToolResult:
    content = types.TextContent(type="text", text=_told(error))
    return types.CallToolResult(content=[content], is_error=True)


def _told(error: LtmError) -> str:
    text = visible(str(error))[:2_000]
    return f"{text}\nNext: {visible(error.hint)[:1_000]}" if error.hint else text


def _unexpected(error: Exception) -> LtmError:
    from ltm.store.open import as_refusal

    refusal = as_refusal(error)
    if refusal is not None:
        return refusal
    where = traceback.extract_tb(error.__traceback__)
    at = f" ({where[-1].name}, line {where[-1].lineno})" if where else ""
    return LtmError(
        f"this should not have happened: {type(error).__name__}: {error}{at}",
        hint="try again; if it happens again, run 'ltm doctor'",
    )
