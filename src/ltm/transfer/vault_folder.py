"""Read a vault that lies somewhere else: a backup, or another machine's folder.

Owns the way from such a folder to copies, for `bring_export`, which takes them like those of an
export. The folder is only read. Imports core, storage's codec and this package.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ltm.decisions import Copy
from ltm.errors import LtmError
from ltm.kinds import Kinds
from ltm.model import Memory
from ltm.transfer.own_export import ExportEntry
from ltm.transfer.source import Origin
from ltm.vault import codec, frontmatter

_KEYS = re.compile(rb"\A(?:\xef\xbb\xbf)?---\r?\n(?:.*\n)*?id: *mem_(?:.*\n)*?kind: ")
_ARCHIVED = re.compile(r"(mem_.+)\.v\d+\.[0-9a-f]{12}\.md\Z")


def finds(origin: Origin) -> bool:
    """Whether a folder is a vault of ltm."""
    memories = origin.folder("memories")
    paths = origin.files(memories, ".md") if memories else []
    return any(_KEYS.match(origin.head(path)) for path in paths)


class VaultFolder:
    """A vault to be read, more than once if need be."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        folder = origin.path
        # `<home>/agents/<agent>`: what lies there is that agent's own.
        of_agent = os.path.basename(os.path.dirname(folder)) == "agents"
        self.agent = os.path.basename(folder) if of_agent else ""
        """The agent whose own memories are in it; '' when it is a project's."""

    def entries(self, kinds: Kinds, *, telling: bool) -> Iterator[ExportEntry]:
        """Every memory with its kept versions; with `telling`, what is wrong is noted."""
        seen: set[str] = set()
        archives = self._archives()
        for path in self._origin.files(os.path.join(self._origin.path, "memories"), ".md"):
            memory = self._read(path, kinds, telling)
            if memory is None or memory.id in seen:
                continue
            seen.add(memory.id)
            kept = [self._read(each, kinds, telling) for each in archives.get(memory.id, ())]
            whole = tuple(each for each in kept if each is not None and each.id == memory.id)
            yield ExportEntry(0, Copy(memory, whole))

    def _read(self, path: str, kinds: Kinds, telling: bool) -> Memory | None:
        data = self._origin.data(path, counted=telling)
        if data is None:
            return None
        try:
            document = frontmatter.parse(data, path)
            return codec.decode(document, path, kinds, seen=self._origin.modified(path))
        except LtmError as error:
            if telling:
                self._origin.problem(path, error.message, error.line or 0)
            return None

    def _archives(self) -> dict[str, list[str]]:
        folder = os.path.join(self._origin.path, "archives")
        found: dict[str, list[str]] = {}
        for path in self._origin.files(folder, ".md") if os.path.isdir(folder) else ():
            archived = _ARCHIVED.match(os.path.basename(path))
            if archived:
                found.setdefault(archived[1], []).append(path)
        return found
