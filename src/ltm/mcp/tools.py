"""The table of tools, those other packages offer, the check of arguments.

Descriptions say all that must be known, because some clients drop a server's instructions, and
hold the words by which clients that hide tools behind a search find them.

A new tool is a new row and a function, whose module is loaded when one of its tools is called,
because a client waits for this one; and rows are named tuples, which load faster than data classes.
Packages offer a `Tool` in the entry point group `ltm.tools`
(see `docs/guides/extending.md`). A model's arguments are often nearly right: an alias, a null for
"not given", a word in capitals. Those are accepted; others are refused with the argument's name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module

from ltm.errors import LtmError, WrongUsage
from ltm.kinds import Kinds
from ltm.model import Impact, Scope
from ltm.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}\Z")


class ToolEffect(NamedTuple):
    """What calling a tool does to memories; a client decides by it what it asks a person first."""

    reads_only: bool = False
    destroys: bool = False
    repeatable: bool = False
    """Whether calling it again with the same arguments changes nothing more."""


READS = ToolEffect(reads_only=True, repeatable=True)
ADDS = ToolEffect()
MENDS = ToolEffect(repeatable=True)
REMOVES = ToolEffect(destroys=True, repeatable=True)


class Tool(NamedTuple):
    """One tool: its name, what it is for, what it takes, what it does, and the function."""

    name: str
    description: str
    function: Callable[..., str]
    """Gets a `Call` and the arguments by name; its text is the result. An `LtmError` it raises is
    shown to the agent as a tool error."""
    properties: Mapping[str, Mapping[str, Any]] = {}
    """Its arguments in JSON Schema; `type`, `enum`, `minimum`, `maximum` and the type of an array's
    `items` are checked before the function is called."""
    required: tuple[str, ...] = ()
    aliases: Mapping[str, str] = {}
    """Other names an argument is accepted under, which the schema does not show."""
    effect: ToolEffect = ADDS
    accepted: Mapping[str, Mapping[str, Any]] = {}
    """Further arguments, which agents know from other servers and the schema does not show."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments, as short as it can be."""
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: dict(each) for name, each in self.properties.items()},
        }
        if self.required:
            schema["required"] = list(self.required)
        return schema

    @property
    def described(self) -> dict[str, Any]:
        """What `tools/list` says of it.

        Annotations cost tokens, so only those that differ from the protocol's defaults: whether a
        tool destroys or can be repeated means nothing for one that only reads.
        """
        effect = self.effect
        hints = {"openWorldHint": False}
        if effect.reads_only:
            hints["readOnlyHint"] = True
        else:
            hints["destructiveHint"] = effect.destroys
            if effect.repeatable:
                hints["idempotentHint"] = True
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.schema,
            "annotations": hints,
        }


GROUP = "ltm.tools"


def later(module: str, name: str) -> Callable[..., Any]:
    """A function of this package, whose module is loaded when it is called."""

    def function(*args: Any, **arguments: Any) -> Any:
        return getattr(import_module(f"ltm.mcp.{module}"), name)(*args, **arguments)

    return function


def _text(description: str = "") -> Mapping[str, Any]:
    return {"type": "string", "description": description} if description else {"type": "string"}


def _number(least: int, most: int, description: str = "") -> Mapping[str, Any]:
    schema: dict[str, Any] = {"type": "integer", "minimum": least, "maximum": most}
    return schema | ({"description": description} if description else {})


_WORDS: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}
_KIND = _text(f"One of: {', '.join(kind.name for kind in Kinds())}")
_ID = _text("Whole id, or its end")
_NAMED = {"memory_id": "id"}
_OFFSET = _number(0, 1_000_000)

TOOLS: tuple[Tool, ...] = (
    Tool(
        name="store_memory",
        description=(
            "Remember for later sessions: save a decision and its reason, a lesson, pitfall, fix,"
            " preference, fact or state of work, once it is known or the user says remember."
            " Instead of notes in memory files. One self-contained point per call, no secrets."
            " Known points are confirmed, changes replace, conflicts are named."
        ),
        function=later("change", "store_memory"),
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
            "tags": _WORDS,
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
        function=later("change", "update_memory"),
        properties={
            "id": _ID,
            "content": _text("The whole text"),
            "title": _text(),
            "kind": _text(),
            "impact": _text(),
            "tags": _WORDS,
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
            "Search long-term memory and past conversations: what earlier sessions learned or"
            " decided. Before redoing work, on an error, or before a design choice. Any words,"
            " path, identifier or error text. Shows the best few, why they match, and what opening"
            " one costs."
        ),
        function=later("recall", "recall"),
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
        function=later("recall", "get_memory"),
        properties={"id": _text("Whole id, or its end, or session:lines"), "offset": _OFFSET},
        required=("id",),
        aliases=_NAMED,
        effect=READS,
    ),
    Tool(
        name="list_memories",
        description="List memories, newest first, one line each.",
        function=later("recall", "list_memories"),
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
        function=later("recall", "memory_search"),
        properties={"query": _text(), "limit": _number(1, 100)},
        required=("query",),
        effect=READS,
    ),
    Tool(
        name="memory_related",
        description=(
            "What belongs to a memory (replaces, follows, links, same subject), or has these tags."
        ),
        function=later("recall", "memory_related"),
        properties={"id": _ID, "tags": _WORDS, "kind": _text(), "limit": _number(1, 50)},
        aliases=_NAMED | {"type": "kind"},
        effect=READS,
    ),
    Tool(
        name="memory_timeline",
        description="History: what was said before and after a hit (around), or happened when.",
        function=later("recall", "memory_timeline"),
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
        function=later("recall", "memory_ask"),
        properties={"question": _text()},
        required=("question",),
        aliases={"query": "question"},
        effect=READS,
    ),
    Tool(
        name="review_candidates",
        description=(
            "Keep or drop unconfirmed statements of earlier sessions; without ids, list them."
        ),
        function=later("change", "review_candidates"),
        properties={"keep": _WORDS, "drop": _WORDS},
        effect=MENDS,
    ),
    Tool(
        name="forget",
        description="Forget, delete a memory that is wrong or unwanted. restore undoes it.",
        function=later("change", "forget"),
        properties={"id": _ID},
        required=("id",),
        aliases=_NAMED,
        effect=REMOVES,
    ),
    Tool(
        name="restore",
        description="Undo: bring back a forgotten, replaced or shortened memory or version.",
        function=later("change", "restore"),
        properties={"id": _ID, "version": _number(1, 1_000_000)},
        required=("id",),
        aliases=_NAMED,
        effect=MENDS,
    ),
    Tool(
        name="ltm_status",
        description="How many memories there are, and where.",
        function=later("change", "ltm_status"),
        effect=READS,
    ),
    Tool(
        name="ltm_check",
        description="Look for damaged memory files; changes nothing.",
        function=later("change", "ltm_check"),
        effect=READS,
    ),
    Tool(
        name="ltm_fix",
        description="Mend what ltm_check found; deletes nothing.",
        function=later("change", "ltm_fix"),
        effect=MENDS,
        accepted={
            "archive_orphans": {"type": "boolean"},
            "clean_orphaned_archives": {"type": "boolean"},
        },
    ),
)

_LISTED = {tool.name: tool for tool in TOOLS}

FORMER: tuple[Tool, ...] = (
    _LISTED["store_memory"]._replace(name="memory_save"),
    _LISTED["forget"]._replace(name="memory_delete"),
    _LISTED["ltm_status"]._replace(name="memory_stats"),
    Tool(
        name="memory_recall",
        description="All memories, or those of a kind or with a tag.",
        function=later("recall", "memory_recall"),
        properties={"kind": _text(), "tags": _WORDS},
        aliases={"type": "kind"},
        effect=READS,
    ),
    Tool(
        name="memory_consolidate",
        description="Merge what says the same.",
        function=later("change", "memory_consolidate"),
        effect=MENDS,
    ),
    Tool(
        name="memory_consciousness",
        description="What a session is told at its start.",
        function=later("change", "memory_consciousness"),
        effect=READS,
    ),
    Tool(
        name="memory_init",
        description="Keep what the project is about.",
        function=later("change", "memory_init"),
        properties={"name": _text(), "description": _text()},
        effect=MENDS,
    ),
)
"""Tools by the names of memory-mcp: they answer and are not listed."""

_BY_FORMER_NAME = {tool.name: tool for tool in FORMER}


def tool_named(name: str) -> Tool | None:
    """The tool an agent means; one that is listed goes before another of a former name."""
    return tools().by_name.get(name) or _BY_FORMER_NAME.get(name)


RESOURCES = "resources"
"""What a call for resources is named, where the others have the name of their tool."""

MEMORY_URI = "ltm://memory/"

SLOW = frozenset({"memory_ask", "ltm_check"})
"""Those that read and may take long: a model has a minute to answer, a check reads every file."""


class Tools(NamedTuple):
    """Every tool by name, and what is wrong with those that could not be had."""

    by_name: Mapping[str, Tool]
    problems: tuple[str, ...] = ()


@cache
def tools() -> Tools:
    """The built-in tools and those other packages offer; a bad one is reported and left out."""
    from ltm.config.options import extension, extension_names

    found = {tool.name: tool for tool in TOOLS}
    problems: list[str] = []
    for name in extension_names(GROUP):
        try:
            offered = extension(GROUP, name)
        except LtmError as error:
            problems.append(f"{error} ({error.hint})")
            continue
        except SystemExit:
            problems.append(f"the extension '{name}' of {GROUP} wanted to end the program")
            continue
        if not isinstance(offered, Tool):
            problems.append(f"the extension '{name}' of {GROUP} is not a Tool, so it is left out")
        elif not _NAME.match(offered.name):
            problems.append(
                f"the extension '{name}' of {GROUP} brings a tool '{offered.name[:80]}', whose name"
                " must be letters, digits, '_' and '-', at most 64, a letter first"
            )
        elif offered.name in found:
            problems.append(
                f"the extension '{name}' of {GROUP} brings a tool '{offered.name}', which is there"
                " already, so it is left out"
            )
        else:
            found[offered.name] = offered
    if problems:
        import logging

        for problem in problems:
            logging.getLogger(__name__).warning("%s", problem)
    return Tools(found, tuple(problems))


_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "a text"),
    "integer": ((int,), "a whole number"),
    "number": ((int, float), "a number"),
    "boolean": ((bool,), "true or false"),
    "array": ((list,), "a list"),
    "object": ((dict,), "an object"),
}


def checked(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by the names the tool's function knows; `WrongUsage` names the one that is off.

    An argument that is null counts as not given.
    """
    arguments: dict[str, Any] = {}
    for sent, value in given.items():
        name = tool.aliases.get(sent, sent)
        schema = tool.properties.get(name) or tool.accepted.get(name)
        if schema is None:
            known = ", ".join(tool.properties) or "none"
            shown = sent[:80].encode("utf-8", "replace").decode()
            raise WrongUsage(
                f"{tool.name} has no argument '{shown}'", hint=f"its arguments: {known}"
            )
        if value is None:
            continue
        if name in arguments and arguments[name] != value:
            raise WrongUsage(
                f"'{sent}' says something else than '{name}', and both mean the same",
                hint=f"give {name} only",
            )
        arguments[name] = _checked(sent, value, schema)
    missing = [name for name in tool.required if name not in arguments]
    if missing:
        raise WrongUsage(
            f"{tool.name} needs {' and '.join(missing)}", hint=f"call it again with {missing[0]}"
        )
    return arguments


def _checked(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    wanted = schema.get("type")
    if wanted == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    # Only Python takes true for a number.
    is_typed = wanted not in _TYPES or (
        wanted == "boolean" if isinstance(value, bool) else isinstance(value, _TYPES[wanted][0])
    )
    if not is_typed:
        raise _wrong(name, value, schema)
    if "enum" in schema:
        for option in schema["enum"]:
            if value == option or (isinstance(value, str) and value.strip().lower() == option):
                return option
        raise _wrong(name, value, schema)
    if isinstance(value, int | float) and not isinstance(value, bool):
        least, most = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
        inside = least <= value <= most  # false for not-a-number too, which compares to nothing
        if not inside:
            raise _wrong(name, value, schema)
    if isinstance(value, str) and _has_half_characters(value):
        raise _wrong(name, value, schema)
    if isinstance(value, list) and "items" in schema:
        return [
            _checked(f"{name}[{place}]", each, schema["items"]) for place, each in enumerate(value)
        ]
    return value


def _has_half_characters(text: str) -> bool:
    """Whether a text holds what JSON can write and no file can: one of a pair of surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _wrong(name: str, value: Any, schema: Mapping[str, Any]) -> WrongUsage:
    shown = repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:60]}…"
    return WrongUsage(f"{name} cannot be {shown}", hint=f"{name} must be {_allowed(schema)}")


def _allowed(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return f"one of: {', '.join(str(each) for each in schema['enum'])}"
    words = _TYPES[schema["type"]][1] if schema.get("type") in _TYPES else "something else"
    if isinstance(schema.get("items"), Mapping) and schema["items"].get("type") in _TYPES:
        words = f"a list, each of it {_TYPES[schema['items']['type']][1]}"
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        return f"{words} from {least} to {most}"
    if least is not None:
        return f"{words}, at least {least}"
    return f"{words}, at most {most}" if most is not None else words
