"""The tools there are, one row each, and those of other packages behind them.

A new tool is a new row and a function. The functions' modules are loaded when one of their tools is
called, never for the list. Imports core and `tool`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from ltm.core.errors import LtmError
from ltm.core.kinds import Kinds
from ltm.core.model import Impact, Scope
from ltm.surfaces.mcp.tool import MENDS, READS, REMOVES, Tool

GROUP = "ltm.tools"

_log = logging.getLogger(__name__)


def _later(module: str, name: str) -> Callable[..., str]:
    """A function of this package, whose module is loaded when it is called."""

    def function(*args: Any, **arguments: Any) -> str:
        found = getattr(import_module(f"ltm.surfaces.mcp.{module}"), name)
        result: str = found(*args, **arguments)
        return result

    return function


def _text(description: str = "") -> Mapping[str, Any]:
    return {"type": "string", "description": description} if description else {"type": "string"}


def _number(least: int, most: int, description: str = "") -> Mapping[str, Any]:
    schema: dict[str, Any] = {"type": "integer", "minimum": least, "maximum": most}
    return schema | ({"description": description} if description else {})


_TAGS: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}
_KIND = _text(f"One of: {', '.join(kind.name for kind in Kinds())}")
_ID = _text("Whole id, or its end")
_NAMED = {"memory_id": "id"}
_OFFSET = _number(0, 1_000_000)

TOOLS: tuple[Tool, ...] = (
    Tool(
        name="store_memory",
        description=(
            "Keep a decision and its reason, a lesson, pitfall, fix, preference, fact or state of"
            " work for later sessions, once it is known. One self-contained point per call,"
            " no secrets. Known points are confirmed, changes replace, conflicts are named."
        ),
        function=_later("remembering", "store_memory"),
        properties={
            "content": _text("The point, why and where (files, commands)"),
            "title": _text("One line"),
            "kind": _KIND,
            "impact": {"type": "string", "enum": [str(each) for each in Impact]},
            "scope": {
                "type": "string",
                "enum": [str(each) for each in Scope],
                "description": "agent: holds in all projects",
            },
            "tags": _TAGS,
            "auto_tag": {"type": "boolean"},
            "difficulty": {
                "type": "number",
                "minimum": 0,
                "maximum": 1,
                "description": "How hard to learn; else computed",
            },
            "reason": _text("Why, if content does not say"),
            "state": _text("Of an issue: open or resolved"),
            "replaces": _text("Id of the memory this corrects"),
            "new": {"type": "boolean", "description": "Keep apart"},
        },
        required=("content",),
        aliases={"topic": "title", "type": "kind", "region": "scope", "supersedes": "replaces"},
    ),
    Tool(
        name="update_memory",
        description=(
            "Correct a memory, or settle a conflict. restore brings the former text back."
        ),
        function=_later("remembering", "update_memory"),
        properties={
            "id": _ID,
            "content": _text("The whole text"),
            "title": _text(),
            "kind": _text(),
            "impact": _text(),
            "tags": _TAGS,
            "pinned": {"type": "boolean"},
            "reason": _text(),
            "state": _text(),
            "settles": {
                "type": "string",
                "enum": ["this", "both"],
                "description": "In a conflict, which hold",
            },
        },
        required=("id",),
        aliases=_NAMED | {"topic": "title", "type": "kind", "text": "content"},
        effect=MENDS,
    ),
    Tool(
        name="recall",
        description=(
            "Find what earlier sessions learned or decided, before redoing work, on an error, or"
            " before a design choice. Any words, path, identifier or error text. Shows the best"
            " few memories and lines of sessions, why they match, and what opening one costs."
        ),
        function=_later("looking", "recall"),
        properties={
            "query": _text(),
            "limit": _number(1, 50),
            "tokens": _number(100, 4_000, "Most to spend on the list"),
        },
        required=("query",),
        effect=READS,
    ),
    Tool(
        name="get_memory",
        description=(
            "Open one memory: whole text, where it came from, what it replaces. Or the lines of a"
            " session that a hit or a source cites."
        ),
        function=_later("opening", "get_memory"),
        properties={"id": _text("Whole id, or its end, or session:lines"), "offset": _OFFSET},
        required=("id",),
        aliases=_NAMED,
        effect=READS,
    ),
    Tool(
        name="list_memories",
        description="List memories, newest first, one line each.",
        function=_later("looking", "list_memories"),
        properties={
            "kind": _text(),
            "tag": _text(),
            "keyword": _text("In the title"),
            "phase": _number(0, 3, "0 full, 1 hint, 2 abstract, 3 archived"),
            "limit": _number(1, 100),
            "offset": _OFFSET,
        },
        aliases={"type": "kind"},
        effect=READS,
    ),
    Tool(
        name="memory_search",
        description="Search wider than recall: more hits, one line each, also replaced ones.",
        function=_later("looking", "memory_search"),
        properties={"query": _text(), "limit": _number(1, 100)},
        required=("query",),
        effect=READS,
    ),
    Tool(
        name="memory_related",
        description=(
            "What belongs to a memory (replaces, follows, links, same subject), or has these tags."
        ),
        function=_later("looking", "memory_related"),
        properties={"id": _ID, "tags": _TAGS, "kind": _text(), "limit": _number(1, 50)},
        aliases=_NAMED | {"type": "kind"},
        effect=READS,
    ),
    Tool(
        name="memory_timeline",
        description=("What was said before and after a hit (around), or what happened when."),
        function=_later("telling", "memory_timeline"),
        properties={
            "around": _text("A hit's id"),
            "query": _text(),
            "since": _text("2026-03-01"),
            "until": _text(),
            "limit": _number(1, 100),
        },
        aliases={"id": "around"},
        effect=READS,
    ),
    Tool(
        name="memory_ask",
        description=(
            "Answer a question and cite ids, if a model is configured; else up to 30 memories,"
            " ranked, to answer from."
        ),
        function=_later("looking", "memory_ask"),
        properties={"question": _text()},
        required=("question",),
        aliases={"query": "question"},
        effect=READS,
    ),
    Tool(
        name="forget",
        description="Forget a memory that is wrong or unwanted. restore undoes it.",
        function=_later("remembering", "forget"),
        properties={"id": _ID},
        required=("id",),
        aliases=_NAMED,
        effect=REMOVES,
    ),
    Tool(
        name="restore",
        description="Bring back a forgotten, replaced or shortened memory, or an older version.",
        function=_later("remembering", "restore"),
        properties={"id": _ID, "version": _number(1, 1_000_000)},
        required=("id",),
        aliases=_NAMED,
        effect=MENDS,
    ),
    Tool(
        name="ltm_status",
        description="How many memories there are, and where.",
        function=_later("tending", "ltm_status"),
        effect=READS,
    ),
    Tool(
        name="ltm_check",
        description="Look for damaged memory files; changes nothing.",
        function=_later("tending", "ltm_check"),
        effect=READS,
    ),
    Tool(
        name="ltm_fix",
        description="Mend what ltm_check found; deletes nothing.",
        function=_later("tending", "ltm_fix"),
        effect=MENDS,
    ),
)

SLOW = frozenset({"memory_ask", "ltm_check"})
"""Those that read and may take long: a model has a minute to answer, a check reads every file."""


@dataclass(frozen=True, slots=True)
class Tools:
    """Every tool by name, and what is wrong with those that could not be had."""

    by_name: Mapping[str, Tool]
    problems: tuple[str, ...] = ()


@cache
def tools() -> Tools:
    """The built-in tools and those other packages offer; a bad one is told and left out."""
    from ltm.storage.extensions import named, names

    found = {tool.name: tool for tool in TOOLS}
    problems: list[str] = []
    for name in names(GROUP):
        try:
            offered = named(GROUP, name)
        except LtmError as error:
            problems.append(f"{error} ({error.hint})")
            continue
        except SystemExit:
            problems.append(f"the extension '{name}' of {GROUP} wanted to end the program")
            continue
        if not isinstance(offered, Tool):
            problems.append(f"the extension '{name}' of {GROUP} is not a Tool, so it is left out")
        elif offered.name in found:
            problems.append(
                f"the extension '{name}' of {GROUP} brings a tool '{offered.name}', which is there"
                " already, so it is left out"
            )
        else:
            found[offered.name] = offered
    for problem in problems:
        _log.warning("%s", problem)
    return Tools(found, tuple(problems))
