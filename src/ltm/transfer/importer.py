"""The importers: one row for each tool whose memories can be imported.

`--from`, detection and the documentation are made from this table. Each is a module with two
functions: `finds` looks whether a source is of its tool, and `read` gives what it holds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from ltm.errors import Refused, WrongUsage
from ltm.kinds import Kinds
from ltm.transfer.export import NAME
from ltm.transfer.importers import (
    anima,
    basic_memory,
    claude_code,
    claude_ltm,
    claude_mem,
    markdown_files,
    memory_keeper,
    memory_mcp,
    memory_md,
    server_memory,
)
from ltm.transfer.item import Item
from ltm.transfer.source import Origin


class _ImportModule(Protocol):
    def finds(self, origin: Origin) -> object: ...

    def read(self, origin: Origin, kinds: Kinds) -> Iterator[Item]: ...


@dataclass(frozen=True, slots=True)
class Importer:
    """One tool: its name, where it keeps its memories, and the module that reads them."""

    name: str
    keeps: str
    module: _ImportModule
    reuses_ids: bool = False
    """Its ids can mean another memory later on, so that the day counts too."""
    broad: bool = False
    """It can read nearly any folder, so it is asked only when no other knows it."""


IMPORTERS: tuple[Importer, ...] = (
    Importer("claude-ltm", "`.claude/ltm/` with index.json, memories/ and archives/", claude_ltm),
    Importer(
        "memory-md",
        "`.claude/memory/MEMORY.md`, `.claude/stash/` and the block in CLAUDE.md",
        memory_md,
    ),
    Importer("anima", "`~/.ltm/memories.db` or `ltm.db`, and its JSON export", anima),
    Importer("memory-mcp", "`.memory/state.json`", memory_mcp),
    Importer(
        "memory-keeper",
        "`.claude/memory/` with facts.json, memory.md and sessions/",
        memory_keeper,
        reuses_ids=True,
    ),
    Importer("claude-code", "`~/.claude/projects/<project>/memory/`", claude_code),
    Importer("claude-mem", "`~/.claude-mem/claude-mem.db`", claude_mem),
    Importer("server-memory", "the MCP reference server's `memory.jsonl`", server_memory),
    Importer("basic-memory", "a folder of notes with a permalink", basic_memory, broad=True),
    Importer("markdown", "any Markdown file, or a folder of them", markdown_files, broad=True),
)

NAMES = (NAME, *(importer.name for importer in IMPORTERS))
"""What `--from` accepts; the first is our own export."""


def named(name: str) -> Importer:
    """The importer of that name."""
    for importer in IMPORTERS:
        if importer.name == name.strip().lower():
            return importer
    raise WrongUsage(f"'{name}' is not a known source", hint=f"use one of: {', '.join(NAMES)}")


def detect(origin: Origin) -> list[Importer]:
    """The tools whose memories a source holds; a project may have had several of them.

    A repository is not searched for just any Markdown: that has to be asked for.
    """
    found = [each for each in IMPORTERS if not each.broad and each.module.finds(origin)]
    if not found and not os.path.exists(os.path.join(origin.path, ".git")):
        found = [each for each in IMPORTERS if each.broad and each.module.finds(origin)][:1]
    if found:
        return found
    raise Refused(
        origin.problems[0].message if origin.problems else "holds no memories that ltm knows",
        path=origin.shown(origin.path),
        hint=f"say what it is with --from: {', '.join(NAMES)}",
    )
