"""The importers: one row for each tool whose memories can be imported.

`--from`, detection and the documentation are made from this table.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from ltm.errors import Refused, WrongUsage
from ltm.kinds import Kinds
from ltm.project.home import client_folder
from ltm.record import NamedTuple
from ltm.transfer.export import NAME
from ltm.transfer.importers import (
    anima,
    basic_memory,
    claude_code,
    claude_ltm,
    claude_mem,
    client_notes,
    markdown_files,
    memory_keeper,
    memory_mcp,
    memory_md,
    server_memory,
)
from ltm.transfer.item import Item
from ltm.transfer.parse import mapping
from ltm.transfer.source import Origin


class _ImportModule(Protocol):
    def finds(self, origin: Origin) -> object: ...

    def read(self, origin: Origin, kinds: Kinds) -> Iterator[Item]: ...


class FormerOption(NamedTuple):
    """An option of a tool, and the one that means the same here."""

    key: str
    """The way to it in the tool's file, with dots."""
    usual: float | str
    """The tool's own default, which is not taken over: no one chose it."""
    option: str
    times: int = 1

    def value(self, settings: object) -> str:
        """What it is set to, as a person would type it for ours; '' if they left it alone."""
        found = settings
        for step in self.key.split("."):
            found = mapping(found).get(step)
        if isinstance(found, str) and isinstance(self.usual, str):
            return found if found.strip().lower() not in ("", self.usual.lower()) else ""
        if isinstance(found, bool) or not isinstance(found, int | float):
            return ""
        return f"{round(found * self.times)}" if found != self.usual else ""


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
    settings: tuple[str, ...] = ()
    """Where its options may be: below the source, next to it, or `~` in the client's folder."""
    options: tuple[FormerOption, ...] = ()

    def options_of(self, origin: Origin) -> tuple[str, dict[str, str]]:
        """The file with the options that a person set there, and these, by our names."""
        for name in self.settings:
            top = client_folder() if name.startswith("~/") else origin.path
            top = top if os.path.isdir(top) else os.path.dirname(top)
            path = os.path.join(top, name.removeprefix("~/"))
            if os.path.isfile(path) and not os.path.islink(path):
                settings = origin.json(path)
                found = {each.option: each.value(settings) for each in self.options}
                return path, {option: value for option, value in found.items() if value}
        return "", {}


IMPORTERS: tuple[Importer, ...] = (
    Importer(
        "claude-ltm",
        "`.claude/ltm/` with index.json, memories/ and archives/",
        claude_ltm,
        settings=(".claude/ltm/state.json", "state.json"),
        options=(
            FormerOption("config.max_memories", 100, "max_memories"),
            FormerOption("config.memories_to_load", 10, "inject.memories"),
            FormerOption("config.eviction_batch_size", 10, "eviction_batch_size"),
        ),
    ),
    Importer(
        "memory-md",
        "`.claude/memory/MEMORY.md`, `.claude/stash/` and the block in CLAUDE.md",
        memory_md,
    ),
    Importer(
        "anima",
        "`~/.ltm/memories.db` or `ltm.db`, and its JSON export",
        anima,
        settings=("config.json",),
        options=(
            FormerOption("agent.name", "Anima", "agent"),
            FormerOption("budget.context_percent", 0.1, "inject.budget_percent", 100),
            FormerOption("budget.context_size", 200_000, "inject.context_window"),
            FormerOption("decay.low_days", 1, "fade_days.low"),
            FormerOption("decay.medium_days", 7, "fade_days.medium"),
            FormerOption("decay.high_days", 30, "fade_days.high"),
        ),
    ),
    Importer("memory-mcp", "`.memory/state.json`", memory_mcp),
    Importer(
        "memory-keeper",
        "`.claude/memory/` with facts.json, memory.md and sessions/",
        memory_keeper,
        reuses_ids=True,
        settings=(".claude/memory/config.json", "config.json", "~/memory-keeper/config.json"),
        options=(FormerOption("saveInterval", 5, "hooks.save_interval"),),
    ),
    Importer("claude-code", "`~/.claude/projects/<project>/memory/`", claude_code),
    Importer("codex", "`~/.codex/memories/`", client_notes.CODEX),
    Importer("gemini", "what Gemini CLI added to `~/.gemini/GEMINI.md`", client_notes.GEMINI),
    Importer("claude-mem", "`~/.claude-mem/claude-mem.db`", claude_mem),
    Importer("server-memory", "the MCP reference server's `memory.jsonl`", server_memory),
    Importer("basic-memory", "a folder of notes with a permalink", basic_memory, broad=True),
    Importer("markdown", "any Markdown file, or a folder of them", markdown_files, broad=True),
)

NAMES = (NAME, *(importer.name for importer in IMPORTERS))
"""What `--from` accepts; the first is our own export."""


def named(name: str) -> Importer:
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
