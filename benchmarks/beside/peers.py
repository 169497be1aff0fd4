"""The servers that are compared: where they come from, and how each is asked to keep and to find.

Each is installed in a folder of its own by an ordinary client of its registry, without scripts of
packages, and runs in a home of its own with no way to the network: what needs a download to answer
is measured as far as it gets without.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

Arguments = Callable[[str], dict[str, Any]]

PATIENCE = 900
"""Seconds an installation may take."""


class Tool(NamedTuple):
    """A tool of a server, and its arguments for a text."""

    name: str
    arguments: Arguments


class Peer(NamedTuple):
    """A server, and how it is got and asked."""

    name: str
    source: str
    """`npm`, `pip`, or nothing for what is here already."""
    package: str
    command: tuple[str, ...]
    """Its program, in the folder it was installed to, and what follows it."""
    store: Tool | None = None
    recall: Tool | None = None


def _content(text: str) -> dict[str, Any]:
    return {"content": text}


def _query(text: str) -> dict[str, Any]:
    return {"query": text}


PEERS = (
    Peer(
        "server-memory",
        "npm",
        "@modelcontextprotocol/server-memory",
        ("mcp-server-memory",),
        Tool(
            "create_entities",
            lambda text: {
                "entities": [{"name": text[:60], "entityType": "fact", "observations": [text]}]
            },
        ),
        Tool("search_nodes", _query),
    ),
    Peer(
        "claude-mem",
        "npm",
        "claude-mem",
        ("claude-mem", "mcp"),
    ),
    # The newest needs packages that not every mirror has; this one starts its server by itself.
    Peer(
        "claude-mem-11",
        "npm",
        "claude-mem@11",
        ("../claude-mem/plugin/scripts/mcp-server.cjs",),
    ),
    Peer(
        "agentmemory",
        "npm",
        "@agentmemory/mcp",
        ("agentmemory-mcp",),
        Tool("memory_save", _content),
        Tool("memory_recall", _query),
    ),
    Peer(
        "MemPalace",
        "pip",
        "mempalace",
        ("mempalace-mcp",),
        Tool(
            "mempalace_add_drawer",
            lambda text: {"wing": "project", "room": "notes", "content": text},
        ),
        Tool("mempalace_search", lambda text: {"query": text[:250]}),
    ),
    Peer(
        "mcp-memory-service",
        "pip",
        "mcp-memory-service",
        ("memory-server",),
        Tool("memory_store", _content),
        Tool("memory_search", _query),
    ),
    Peer(
        "basic-memory",
        "pip",
        "basic-memory",
        ("basic-memory", "mcp"),
        Tool(
            "write_note",
            lambda text: {"title": text[:60], "content": text, "directory": "notes"},
        ),
        Tool("search_notes", _query),
    ),
)


class Skipped(Exception):
    """A server that cannot be measured here, and why."""


def install(peer: Peer, folder: Path) -> list[str]:
    """Install a peer, unless it is there; the command that starts it."""
    place = folder / peer.name
    if peer.source == "npm":
        if shutil.which("npm") is None:
            raise Skipped("npm is not on the PATH")
        programs = place / "node_modules" / ".bin"
        quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
        steps = [["npm", "install", *quiet, "--prefix", str(place), peer.package]]
    else:
        programs = place / ("Scripts" if os.name == "nt" else "bin")
        pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", peer.package]
        steps = [[_newest_python(), "-m", "venv", str(place)], pip]
    program = programs / peer.command[0]
    if not program.exists():
        place.mkdir(parents=True, exist_ok=True)
        for step in steps:
            _run(step, place)
    if not program.exists():
        raise Skipped(f"{peer.package} has no program {peer.command[0]}")
    return [str(program), *peer.command[1:]]


def _run(step: list[str], folder: Path) -> None:
    try:
        subprocess.run(
            step, cwd=folder, check=True, capture_output=True, text=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        raise Skipped(f"its installation took over {PATIENCE} s") from None
    except subprocess.CalledProcessError as error:
        said = [line for line in (error.stderr or error.stdout or "").splitlines() if line.strip()]
        telling = [line for line in said if "error" in line.lower()] or said or ["no word"]
        raise Skipped(f"it does not install: {telling[0].strip()[:120]}") from None


def _newest_python() -> str:
    """The newest Python here: some need one that is newer than ours."""
    for minor in (13, 12):
        found = shutil.which(f"python3.{minor}")
        if found and not subprocess.run([found, "-c", ""], capture_output=True).returncode:
            return found
    return sys.executable
