"""What a tool is: one row. The built-in ones are in `table`; other packages bring more.

A package offers a `Tool` in the entry point group `ltm.tools`; see `docs/guides/extending.md`.
Imports `core.errors` only, so that an extension can afford it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ltm.core.errors import WrongUsage

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}\Z")


@dataclass(frozen=True, slots=True)
class ToolEffect:
    """What calling a tool does to memories; a client decides by it what it asks a person first."""

    reads_only: bool = False
    destroys: bool = False
    repeatable: bool = False
    """Whether calling it again with the same arguments changes nothing more."""


READS = ToolEffect(reads_only=True, repeatable=True)
ADDS = ToolEffect()
MENDS = ToolEffect(repeatable=True)
REMOVES = ToolEffect(destroys=True, repeatable=True)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its name, what it is for, what it takes, what it does, and the function."""

    name: str
    description: str
    function: Callable[..., str]
    """Gets a `Call` and the arguments by name; its text is the result. An `LtmError` it raises is
    told to the agent as a tool error."""
    properties: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Its arguments in JSON Schema; `type`, `enum`, `minimum`, `maximum` and the type of an array's
    `items` are checked before the function is called."""
    required: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other names an argument is accepted under, which the schema does not show."""
    effect: ToolEffect = ADDS

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise WrongUsage(
                f"'{self.name}' cannot be the name of a tool",
                hint="use letters, digits, '_' and '-', at most 64, a letter first",
            )

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
