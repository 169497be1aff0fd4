"""The options a person can set: one table, from which everything about them is taken.

Reading, checking, `ltm config` and the reference page all use this table. `repo` says whether the
config in a repository may set an option: that file comes from other people, so it may only tune how
this project's memories are kept and shown, never choose code, commands, places or who an agent is.
Imports core and `option`.
"""

from __future__ import annotations

from ltm.core.signals import SIGNALS, THRESHOLDS
from ltm.storage.option import Option, agent_name, base_url, extension_name, model_name

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
        "eviction",
        "lowest-priority",
        "The strategy that picks them: a built-in or installed one, by name.",
        check=extension_name,
        group="ltm.eviction",
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
