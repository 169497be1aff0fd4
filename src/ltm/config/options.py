"""The options a person can set: one table, from which everything about them is taken.

Reading, checking, `ltm config` and the reference page all use this table. `repo` says whether the
config in a repository may set an option: that file comes from other people, so it may only tune how
this project's memories are kept and shown, never choose code, commands, places or who an agent is.

The options `friction.weights.*` are made of `SIGNALS`, the table of the signals of friction.
Fourteen of them have always been scored, two help to score, and two came when the rules were
checked on real sessions: people correct an agent in words, and saving one's work is a habit and not
an alarm. Each has a weight in the present rules and one in the classic ones, None where a rule set
does not know it.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from ltm.errors import WrongUsage
from ltm.files.atomic import is_device

OptionValue = bool | int | float | str

_TRUE = frozenset(("true", "yes", "on", "1"))
_FALSE = frozenset(("false", "no", "off", "0"))
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9_-])?\Z")


def agent_name(text: str) -> str:
    """An agent's name as a safe folder name, in small letters; anything else is refused.

    Small letters, because on some disks `Bob` and `bob` are one folder, and two agents must never
    share one without knowing.
    """
    name = text.strip().lower()
    if not _NAME.match(name) or is_device(name):
        raise WrongUsage(
            f"'{text}' cannot be the name of an agent",
            hint="use letters, digits, '-', '_' and '.', at most 64, a letter or digit first",
        )
    return name


def extension_name(text: str) -> str:
    """The name of something built in or plugged in; anything else is refused."""
    if not re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z", text):
        raise WrongUsage(f"'{text}' cannot be a name", hint="use letters, digits, '-', '_', '.'")
    return text


def model_name(text: str) -> str:
    """The name of a model, or ''; what could be an option or a command is refused."""
    if text and not re.match(r"[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,127}\Z", text):
        raise WrongUsage(f"'{text}' cannot be the name of a model", hint="try: haiku")
    return text


def base_url(text: str) -> str:
    """An address of a server and nothing more: what else it may hold has no place in a config."""
    if text and not re.match(r"https?://[A-Za-z0-9._\[\]:-]+(?:/[A-Za-z0-9._~/-]*)?\Z", text):
        raise WrongUsage(
            f"'{text}' cannot be the address of a server", hint="try: http://127.0.0.1:8080"
        )
    return text


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
    def type(self) -> type[bool] | type[int] | type[float] | type[str]:
        """The type of its values."""
        return type(self.default)

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
        if self.choices:
            return f"one of: {', '.join(self.choices)}"
        if self.type is bool:
            return "true or false"
        if self.type is int:
            return f"a whole number from {self.least} to {self.most}"
        if self.type is float:
            return f"a number from {self.least} to {self.most}"
        return self.form

    def checked(self, value: object) -> OptionValue:
        """A value from a file, if it is allowed; `WrongUsage` says what is."""
        if self.type is float and type(value) is int:
            value = float(value)
        if type(value) is not self.type:
            raise self._wrong(value)
        if isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            if not self.least <= value <= self.most:
                raise self._wrong(value)
            return value
        text = str(value)
        if self.choices and text not in self.choices:
            raise self._wrong(value)
        return self.check(text) if self.check else text

    def parse(self, text: str) -> OptionValue:
        """A value a person typed, if it is allowed; `WrongUsage` says what is."""
        word = text.strip()
        if self.type is bool:
            if word.lower() not in _TRUE | _FALSE:
                raise self._wrong(text)
            return word.lower() in _TRUE
        if self.type is int:
            if not re.match(r"[+-]?[0-9]{1,18}\Z", word):
                raise self._wrong(text)
            return self.checked(int(word))
        if self.type is float:
            if not re.match(r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?\Z", word):
                raise self._wrong(text)
            return self.checked(float(word))
        value = self.checked(word)
        if not self.is_offered(value):
            hint = f"it must be one of: {', '.join(self.offers)}"
            raise WrongUsage(f"{self.name} cannot be {value!r}: nothing offers it", hint=hint)
        return value

    @property
    def offers(self) -> tuple[str, ...]:
        """What is built in, and what installed packages offer, for an option that has a group."""
        from ltm.config.extensions import names

        return str(self.default), *names(self.group)

    def is_offered(self, value: OptionValue) -> bool:
        """Whether a value is built in or installed. Only where packages are: a hook sees none."""
        return not self.group or value == self.default or value in self.offers

    def _wrong(self, value: object) -> WrongUsage:
        return WrongUsage(f"{self.name} cannot be {value!r}", hint=f"it must be {self.allowed}")


class SignalKind(NamedTuple):
    """One signal: its name, its source, its two weights, and what it means."""

    name: str
    source: str
    """Who gives it: `user`, `tool`, `llm`, `system` or `session`."""
    weight: float | None
    classic: float | None
    doc: str
    reaction: bool = False
    """Whether a user reacted to what the agent did: only this is evidence of a preference."""

    @property
    def usual(self) -> float:
        """Its weight now, or in the classic rules if only these know it."""
        return self.weight if self.weight is not None else self.classic or 0.0


SIGNALS = (
    SignalKind("user_correction", "user", 8.0, None, "the user corrects the agent", True),
    SignalKind("user_curse", "user", 8.0, 5.0, "the user curses", True),
    SignalKind(
        "interrupt_cascade", "user", 8.0, 5.0, "the user stops the agent twice in a minute", True
    ),
    SignalKind("user_intervention", "user", 10.0, 10.0, "the user saves the work out of trouble"),
    SignalKind(
        "session_abandoned", "session", 10.0, 10.0, "a session is left in the middle of trouble"
    ),
    SignalKind("tool_loop", "llm", 6.0, 6.0, "a call is made three times to no other effect"),
    SignalKind("repeated_question", "user", 5.0, 1.0, "the user asks the same again"),
    SignalKind("request_interrupted", "user", 3.0, 2.5, "the user stops the agent"),
    SignalKind("false_success", "llm", 1.0, 8.0, "success is claimed before a failure"),
    SignalKind("no_resolution", "session", 1.0, 8.0, "failures are followed by no success"),
    SignalKind(
        "rapid_exit", "session", 1.0, 6.0, "a session is over on a failure after three turns"
    ),
    SignalKind("exit_error", "tool", 1.0, 1.0, "a tool failed"),
    SignalKind("long_silence", "user", 0.5, 0.5, "the user is silent for long"),
    SignalKind("compaction", "system", 0.5, 0.5, "the context was full"),
    SignalKind("sibling_tool_error", "system", 0.5, 0.5, "a call is cancelled as another failed"),
    SignalKind("user_negation", "user", None, 0.5, "a prompt holds no, didn't work, still broken"),
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
    Option(
        "agent",
        "default",
        "The agent whose own memories are used. Agents never see each other's.",
        check=agent_name,
    ),
    Option(
        "max_memories",
        100,
        "Memories a vault may hold in full before the least needed are shortened.",
        repo=True,
        least=1,
    ),
    Option(
        "eviction_batch_size",
        10,
        "How many memories are shortened at once when a vault holds too many.",
        repo=True,
        least=1,
    ),
    Option(
        "store",
        "files",
        "Where memories are kept: the built-in files or an installed backend, by name.",
        check=extension_name,
        group="ltm.stores",
    ),
    Option(
        "fade_days.low",
        1,
        "Active days a memory of low impact may sit unused before it is shortened.",
        repo=True,
        least=1,
    ),
    Option(
        "fade_days.medium",
        7,
        "Active days a memory of medium impact may sit unused before it is shortened.",
        repo=True,
        least=1,
    ),
    Option(
        "fade_days.high",
        30,
        "Active days a memory of high impact may sit unused before it is shortened.",
        repo=True,
        least=1,
    ),
    Option(
        "inject.format",
        "dsl",
        "How memories are written at the start of a session.",
        repo=True,
        choices=("dsl", "markdown"),
    ),
    Option(
        "inject.context_window",
        200_000,
        "Tokens the model can hold; the budget is a share of it.",
        least=1_000,
        most=100_000_000,
    ),
    Option(
        "inject.budget_percent",
        10,
        "Share of the context window that memories may take.",
        repo=True,
        least=1,
        most=50,
    ),
    Option(
        "inject.max_chars",
        9_800,
        "Characters that memories may take; clients cut off a hook's output at 10,000.",
        repo=True,
        least=200,
        most=10_000,
    ),
    Option(
        "inject.subagents",
        False,
        "Whether sub-agents are told a short selection of memories too.",
    ),
    Option(
        "capture.offer",
        3,
        "Unconfirmed statements of earlier sessions that a session is offered at its start, each"
        " once; 0 offers none.",
        repo=True,
        most=10,
    ),
    Option(
        "recall.limit",
        10,
        "Hits a search returns unless it is asked for another number.",
        repo=True,
        least=1,
        most=1_000,
    ),
    Option(
        "recall.per_prompt",
        False,
        "Whether memories that fit a prompt are added to it.",
    ),
    Option(
        "sessions.keep",
        True,
        "Whether what is said in sessions is kept word for word, without secrets, to be searched.",
    ),
    Option(
        "sessions.days",
        0,
        "Days after which a session's words are deleted; 0 keeps them.",
        most=36_500,
    ),
    Option(
        "sessions.megabytes",
        1_000,
        "What the sessions of a project may take on the disk before the oldest are deleted; 0 means"
        " no limit.",
    ),
    Option(
        "hooks.tools",
        False,
        "Whether a hook runs after every tool call. Nothing needs it; it gives live counters, and"
        " saves long turns while they go on.",
    ),
    Option(
        "hooks.save_interval",
        5,
        "With hooks.tools on: tool calls after which a long turn is saved.",
        least=1,
    ),
    Option(
        "auto_tag",
        True,
        "Whether tags are taken from the title and text of a new memory.",
        repo=True,
    ),
    Option(
        "embed.backend",
        "static",
        "What finds memories that say the same in other words: the small model that comes with"
        " LTM's extra `vectors`, a server of embeddings, or nothing.",
        choices=("static", "api", "none"),
    ),
    Option(
        "embed.base_url",
        "http://127.0.0.1:11434",
        "With `api`: a server that speaks OpenAI's `/v1/embeddings`.",
        check=base_url,
        form="an address such as http://127.0.0.1:11434",
    ),
    Option(
        "embed.model",
        "",
        "With `api`: the model's name there.",
        check=model_name,
        form="the name of a model, or empty",
    ),
    Option(
        "embed.timeout",
        5,
        "With `api`: seconds in which the server must answer; else search goes by words.",
        least=1,
        most=3_600,
    ),
    Option(
        "llm.backend",
        "none",
        "The model that helps: none, `claude -p` with your own login, or an API.",
        choices=("none", "claude", "api"),
    ),
    Option(
        "llm.model",
        "",
        "The model's name; if empty, a small one of the backend's.",
        check=model_name,
        form="the name of a model, or empty",
    ),
    Option(
        "llm.base_url",
        "",
        "With `api`: a server that speaks the Messages API; if empty, ANTHROPIC_BASE_URL or"
        " Anthropic's own.",
        check=base_url,
        form="an address such as http://127.0.0.1:8080, or empty",
    ),
    Option(
        "llm.daily_calls",
        50,
        "Calls of the model a day (UTC) at the most.",
    ),
    Option(
        "llm.daily_tokens",
        500_000,
        "Tokens a day (UTC) at the most, read and written together.",
        most=1_000_000_000,
    ),
    Option(
        "llm.timeout",
        120,
        "Seconds in which the model must answer.",
        least=1,
        most=3_600,
    ),
    *(
        Option(f"friction.weights.{kind.name}", kind.usual, f"What it weighs that {kind.doc}.")
        for kind in SIGNALS
    ),
    *(Option(f"friction.thresholds.{name}", value, doc) for name, value, doc in THRESHOLDS),
)

BY_NAME = {option.name: option for option in OPTIONS}
