"""The importers: one row for each tool whose memories can be imported.

`--from`, detection and the documentation are made from this table.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ltm.errors import Refused, WrongUsage
from ltm.kinds import Kinds
from ltm.transfer import own_format
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


@dataclass(frozen=True, slots=True)
class Importer:
    """One tool: its name, where it keeps its memories, and how they are found and read."""

    name: str
    keeps: str
    finds: Callable[[Origin], bool]
    read: Callable[[Origin, Kinds], Iterator[Item]]
    reuses_ids: bool = False
    """Its ids can mean another memory later on, so that the day counts too."""
    broad: bool = False
    """It can read nearly any folder, so it is asked only when no other knows it."""


IMPORTERS: tuple[Importer, ...] = (
    Importer(
        "claude-ltm",
        "`.claude/ltm/` with index.json, memories/ and archives/",
        claude_ltm.finds,
        claude_ltm.read,
    ),
    Importer(
        "memory-md",
        "`.claude/memory/MEMORY.md`, `.claude/stash/` and the block in CLAUDE.md",
        memory_md.finds,
        memory_md.read,
    ),
    Importer(
        "anima",
        "`~/.ltm/memories.db` or `ltm.db`, and its JSON export",
        anima.finds,
        anima.read,
    ),
    Importer("memory-mcp", "`.memory/state.json`", memory_mcp.finds, memory_mcp.read),
    Importer(
        "memory-keeper",
        "`.claude/memory/` with facts.json, memory.md and sessions/",
        memory_keeper.finds,
        memory_keeper.read,
        reuses_ids=True,
    ),
    Importer(
        "claude-code",
        "`~/.claude/projects/<project>/memory/`",
        claude_code.finds,
        claude_code.read,
    ),
    Importer("claude-mem", "`~/.claude-mem/claude-mem.db`", claude_mem.finds, claude_mem.read),
    Importer(
        "server-memory",
        "the MCP reference server's `memory.jsonl`",
        server_memory.finds,
        server_memory.read,
    ),
    Importer(
        "basic-memory",
        "a folder of notes with a permalink",
        basic_memory.finds,
        basic_memory.read,
        broad=True,
    ),
    Importer(
        "markdown",
        "any Markdown file, or a folder of them",
        markdown_files.finds,
        markdown_files.read,
        broad=True,
    ),
)

NAMES = (own_format.NAME, *(importer.name for importer in IMPORTERS))
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
    found = [each for each in IMPORTERS if not each.broad and each.finds(origin)]
    if not found and not os.path.exists(os.path.join(origin.path, ".git")):
        found = [each for each in IMPORTERS if each.broad and each.finds(origin)][:1]
    if found:
        return found
    told = origin.problems[0].message if origin.problems else "holds no memories that ltm knows"
    raise Refused(
        told,
        path=origin.shown(origin.path),
        hint=f"say what it is with --from: {', '.join(NAMES)}",
    )
