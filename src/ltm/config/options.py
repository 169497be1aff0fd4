"""The options a person can set: one table, and what installed packages offer as further values.

Reading, checking, `ltm config` and the reference page all use the table. `repo` says whether the
config in a repository may set an option: that file comes from other people, so it may only tune how
this project's memories are kept and shown, never choose code, commands, places or who an agent is.

Packages plug in through two groups of entry points: `ltm.stores` (a storage backend) and
`ltm.tools` (a tool of the MCP server). Only a person's own environment and config choose one.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable

from ltm.errors import LtmError, NotFound, WrongUsage
from ltm.files.atomic import is_device
from ltm.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OptionValue = bool | int | float | str

OFF = "none"
"""The value that switches off what has several backends."""

_TRUE = frozenset(("true", "yes", "on", "1"))
_FALSE = frozenset(("false", "no", "off", "0"))
_AGENT = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")


def extension(group: str, name: str) -> Any:
    """The object an installed package offers under this name in a group of entry points."""
    from importlib.metadata import entry_points  # slow to load, and few people plug anything in

    points = entry_points(group=group)
    for point in points:
        if point.name == name:
            try:
                return point.load()
            except LtmError:
                raise  # it says itself what it lacks
            except Exception as error:
                raise LtmError(
                    f"the extension '{name}' of {group} does not load: {error}",
                    hint="update or uninstall the package that brings it",
                ) from error
    known = ", ".join(sorted(point.name for point in points)) or "none"
    raise NotFound(
        f"nothing installed offers '{name}' in {group}", hint=f"installed in {group}: {known}"
    )


def extension_names(group: str) -> list[str]:
    """What installed packages offer in a group, by name and without loading any of it."""
    if not _is_offered(group):
        return []
    from importlib.metadata import entry_points

    return sorted({point.name for point in entry_points(group=group)})


def _is_offered(group: str) -> bool:
    """Whether anything on the path names a group at all.

    To ask the library takes 30 ms, and a client waits for the list of tools.
    """
    mark = f"[{group}]".encode()
    for folder in sys.path:
        try:
            names = os.listdir(folder or os.curdir)
        except NotADirectoryError:
            return True  # an archive of packages: the library can look into it
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                try:
                    with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
                        if mark in file.read():
                            return True
                except OSError:
                    continue
    return False


def agent_name(text: str) -> str:
    """An agent's name as a safe folder name, in small letters; anything else is refused.

    Small letters, because on some disks `Bob` and `bob` are one folder, and two agents must never
    share one without knowing.
    """
    name = text.strip().lower()
    is_safe = 1 <= len(name) <= 64 and _AGENT.issuperset(name)
    if not is_safe or not name[0].isalnum() or name[-1] == "." or is_device(name):
        raise WrongUsage(
            f"'{text}' cannot be the name of an agent",
            hint="use letters, digits, '-', '_' and '.', at most 64, a letter or digit first",
        )
    return name


def _matching(pattern: str, what: str, hint: str) -> Callable[[str], str]:
    """A check that gives a text back if it matches, and refuses it otherwise."""

    def check(text: str) -> str:
        if not re.match(rf"(?:{pattern})\Z", text):
            raise WrongUsage(f"'{text}' cannot be {what}", hint=hint)
        return text

    return check


_extension_name = _matching(
    r"[A-Za-z0-9][A-Za-z0-9._-]*", "a name", "use letters, digits, '-', '_', '.'"
)
# What could be an option or a command is not the name of a model.
_model_name = _matching(
    r"|[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,127}", "the name of a model", "try: haiku"
)
# A login or a query has no place in a config.
_base_url = _matching(
    r"|https?://[A-Za-z0-9._\[\]:-]+(?:/[A-Za-z0-9._~/-]*)?",
    "the address of a server",
    "try: http://127.0.0.1:8080",
)


def _client_names(text: str) -> str:
    """Names of clients with a comma between them, or `all`."""
    from ltm.clients.table import CLIENTS  # few commands set an option

    readable = sorted(client.name for client in CLIENTS if client.reader)
    names = sorted({name for name in re.split(r"[\s,]+", text.lower()) if name})
    unknown = [name for name in names if name not in (*readable, "all")]
    if unknown or not names:
        raise WrongUsage(
            f"'{unknown[0]}' is not a client whose sessions ltm reads"
            if unknown
            else "it names no client",
            hint=f"it must be all, or some of: {', '.join(readable)}",
        )
    return "all" if "all" in names else ", ".join(names)


class Option(NamedTuple):
    """One option: its name, what it may be, its default, and what it does."""

    name: str
    default: OptionValue
    doc: str
    repo: bool = False
    """Whether a repository's config may set it."""
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 1_000_000
    check: Callable[[str], str] | None = None
    """Gives the value back as it is to be used, or refuses it."""
    form: str = "a name"
    """What a text may be, in words."""
    group: str = ""
    """The entry points of installed packages that offer further values, such as `ltm.stores`."""

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
        if self.choices:
            return f"one of: {', '.join(self.choices)}"
        if isinstance(self.default, bool):
            return "true or false"
        if isinstance(self.default, str):
            return self.form
        number = "a whole number" if isinstance(self.default, int) else "a number"
        return f"{number} from {self.least} to {self.most}"

    def checked(self, value: object) -> OptionValue:
        """A value from a file, if it is allowed; `WrongUsage` says what is."""
        wanted = type(self.default)
        if wanted is float and type(value) is int:
            value = float(value)
        if type(value) is wanted:
            if isinstance(value, bool):
                return value
            if isinstance(value, int | float):
                if self.least <= value <= self.most:
                    return value
            elif not self.choices or value in self.choices:
                return self.check(str(value)) if self.check else str(value)
        raise self._wrong(value)

    def parse(self, text: str) -> OptionValue:
        """A value a person typed, if it is allowed; `WrongUsage` says what is."""
        word = text.strip()
        if isinstance(self.default, bool):
            if word.lower() not in _TRUE | _FALSE:
                raise self._wrong(text)
            return word.lower() in _TRUE
        if not isinstance(self.default, str):
            digits = r"[+-]?[0-9]{1,18}" + r"(?:\.[0-9]{1,18})?" * isinstance(self.default, float)
            if not re.match(rf"{digits}\Z", word):
                raise self._wrong(text)
            return self.checked(type(self.default)(word))
        value = self.checked(word)
        if not self.is_offered(value):
            hint = f"it must be one of: {', '.join(self.offers)}"
            raise WrongUsage(f"{self.name} cannot be {value!r}: nothing offers it", hint=hint)
        return value

    @property
    def offers(self) -> tuple[str, ...]:
        """What is built in, and what installed packages offer, for an option that has a group."""
        return str(self.default), *extension_names(self.group)

    def is_offered(self, value: OptionValue) -> bool:
        """Whether a value is built in or installed. Only where packages are: a hook sees none."""
        return not self.group or value == self.default or value in self.offers

    def _wrong(self, value: object) -> WrongUsage:
        return WrongUsage(f"{self.name} cannot be {value!r}", hint=f"it must be {self.allowed}")


class SignalKind(NamedTuple):
    """A signal of friction: its name, its source, its two weights, and what it means."""

    name: str
    source: str
    """Where it comes from: `user`, `tool`, `llm`, `system` or `session`."""
    weight: float | None
    """In the present rules, which were checked on real sessions; None where they do not know it."""
    classic: float | None
    doc: str
    reaction: bool = False
    """Whether a user reacted to what the agent did: only this is evidence of a preference."""


# fmt: off
SIGNALS = (
    SignalKind("user_correction", "user", 8.0, None, "the user corrects the agent", True),
    SignalKind("user_curse", "user", 8.0, 5.0, "the user curses", True),
    SignalKind("interrupt_cascade", "user", 8.0, 5.0,
               "the user stops the agent twice in a minute", True),
    SignalKind("user_intervention", "user", 10.0, 10.0,
               "the user saves the work because of trouble"),
    SignalKind("session_abandoned", "session", 10.0, 10.0,
               "a session is left in the middle of trouble"),
    SignalKind("tool_loop", "llm", 6.0, 6.0,
               "the same call is made three times with the same result"),
    SignalKind("repeated_question", "user", 5.0, 1.0, "the user asks the same again"),
    SignalKind("request_interrupted", "user", 3.0, 2.5, "the user stops the agent"),
    SignalKind("false_success", "llm", 1.0, 8.0, "success is claimed before a failure"),
    SignalKind("no_resolution", "session", 1.0, 8.0, "failures are followed by no success"),
    SignalKind("rapid_exit", "session", 1.0, 6.0,
               "a session ends with a failure within three turns"),
    SignalKind("exit_error", "tool", 1.0, 1.0, "a tool failed"),
    SignalKind("long_silence", "user", 0.5, 0.5, "the user is silent for long"),
    SignalKind("compaction", "system", 0.5, 0.5, "the context was full"),
    SignalKind("sibling_tool_error", "system", 0.5, 0.5,
               "a call is cancelled because another failed"),
    SignalKind("user_negation", "user", None, 0.5, "a prompt says no, didn't work, still broken"),
    SignalKind("checkpoint", "user", 0.0, None, "the user saves, pauses or leaves without trouble"),
    SignalKind("exit_success", "tool", 0.0, 0.0, "a command did its work"),
)

SIGNALS_BY_NAME = {kind.name: kind for kind in SIGNALS}

REACTIONS = frozenset(kind.name for kind in SIGNALS if kind.reaction)
"""The signals by which a user reacts to what an agent did."""

THRESHOLDS = (
    ("friction_peak", 15.0, "Friction from which a session is rough."),
    ("intervention_predictability", 0.5, "Share of rough sessions that must end badly."),
    ("signal_noise_ratio", 1.5, "Friction of users and tools for one of the agent's own."),
    ("long_silence_minutes", 10.0, "Minutes between two prompts that are a long silence."),
)
"""Name, value and meaning of each threshold, the same in both rule sets."""

OPTIONS: tuple[Option, ...] = (
    Option("agent", "default", check=agent_name,
           doc="The agent whose own memories are used. Agents never see each other's."),
    Option("max_memories", 100, repo=True, least=1,
           doc="Memories a vault may hold in full before the least needed are shortened."),
    Option("eviction_batch_size", 10, repo=True, least=1,
           doc="How many memories are shortened at once when a vault holds too many."),
    Option("store", "files", check=_extension_name, group="ltm.stores",
           doc="Where memories are kept: the built-in files or an installed backend, by name."),
    *(Option(f"fade_days.{impact}", days, repo=True, least=1,
             doc=f"Active days a memory of {impact} impact may sit unused before it is shortened.")
      for impact, days in (("low", 1), ("medium", 7), ("high", 30))),
    Option("inject.format", "dsl", repo=True, choices=("dsl", "markdown"),
           doc="How memories are written at the start of a session."),
    Option("inject.context_window", 200_000, least=1_000, most=100_000_000,
           doc="Tokens the model can hold; the budget is a share of it."),
    Option("inject.budget_percent", 10, repo=True, least=1, most=50,
           doc="Share of the context window that memories may take."),
    Option("inject.max_chars", 9_800, repo=True, least=200, most=10_000,
           doc="Characters that memories may take; clients cut off a hook's output at 10,000."),
    Option("inject.memories", 0, repo=True, most=1_000,
           doc="Memories a session is told at its start, at most; 0 means as many as fit."),
    Option("sync.imports", False,
           doc="Whether the block in CLAUDE.md loads MEMORY.md (`@path`) instead of a copy of its "
               "most important lines."),
    Option("inject.message", True,
           doc="Whether you are shown a line when a session starts: how many memories it was told, "
               "and what waits for you."),
    Option("inject.subagents", False,
           doc="Whether sub-agents are told a short selection of memories too."),
    Option("inject.news_per_prompt", False,
           doc="Whether a prompt is told what other open sessions of the project learned since "
               "this one began."),
    Option("claude_md.lines", 50, repo=True, least=10, most=150,
           doc="Lines that the block of memories in CLAUDE.md or AGENTS.md may take."),
    Option("capture.offer", 3, repo=True, most=10,
           doc="Unconfirmed statements of earlier sessions that a session is offered at its start, "
               "each once; 0 offers none."),
    Option("capture.clients", "all", check=_client_names, form="all, or names of clients",
           doc="Clients whose sessions are learned from and kept. Sessions of other clients are "
               "not read, so nothing that was said in them reaches an agent."),
    Option("recall.limit", 10, repo=True, least=1, most=1_000,
           doc="Hits a search returns unless it is asked for another number."),
    Option("recall.per_prompt", False, "Whether memories that fit a prompt are added to it."),
    Option("trust.hold", "tools", choices=("tools", "agent", "all"),
           doc="Which memories wait until you approve them: those that only a tool, a file or a "
               "page vouches for; also what the agent says or stores; or all that sessions teach."),
    Option("sessions.keep", True,
           doc="Whether what is said in sessions is kept word for word, without secrets, to be "
               "searched."),
    Option("sessions.days", 0, most=36_500,
           doc="Days after which a session's words are deleted; 0 keeps them."),
    Option("sessions.megabytes", 1_000,
           doc="What the sessions of a project may take on the disk before the oldest are "
               "deleted; 0 means no limit."),
    Option("hooks.tools", False,
           doc="Whether a hook runs after every tool call. Nothing needs it; it gives live "
               "counters, and saves long turns while they go on."),
    Option("hooks.save_interval", 5, least=1,
           doc="With hooks.tools on: tool calls after which a long turn is saved."),
    Option("auto_tag", True, repo=True,
           doc="Whether tags are taken from the title and text of a new memory."),
    Option("embed.backend", "static", choices=("static", "api", "none"),
           doc="What finds memories that say the same in other words: the small model that comes "
               "with LTM's extra `vectors`, a server of embeddings, or nothing."),
    Option("embed.base_url", "http://127.0.0.1:11434", check=_base_url,
           form="an address such as http://127.0.0.1:11434",
           doc="With `api`: a server that speaks OpenAI's `/v1/embeddings`."),
    Option("embed.model", "", check=_model_name, form="the name of a model, or empty",
           doc="With `api`: the model's name there."),
    Option("embed.timeout", 5, least=1, most=3_600,
           doc="With `api`: seconds in which the server must answer; else search goes by words."),
    Option("llm.backend", "none", choices=("none", "claude", "api"),
           doc="The model that helps: none, `claude -p` with your own login, or an API."),
    Option("llm.model", "", check=_model_name, form="the name of a model, or empty",
           doc="The model's name; if empty, a small one of the backend's."),
    Option("llm.base_url", "", check=_base_url,
           form="an address such as http://127.0.0.1:8080, or empty",
           doc="With `api`: a server that speaks the Messages API; if empty, ANTHROPIC_BASE_URL or "
               "Anthropic's own."),
    Option("llm.daily_calls", 50, "Calls of the model a day (UTC), at most."),
    Option("llm.daily_tokens", 500_000, most=1_000_000_000,
           doc="Tokens a day (UTC), read and written together, at most."),
    Option("llm.timeout", 120, "Seconds in which the model must answer.", least=1, most=3_600),
    *(Option(f"friction.weights.{kind.name}",
             (kind.classic or 0.0) if kind.weight is None else kind.weight,
             f"Weight of the signal: {kind.doc}.")
      for kind in SIGNALS),
    *(Option(f"friction.thresholds.{name}", value, doc) for name, value, doc in THRESHOLDS),
)
# fmt: on

BY_NAME = {option.name: option for option in OPTIONS}
