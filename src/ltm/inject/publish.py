"""The views on the disk: MEMORY.md in each vault, and the block in files that ask for one.

Owns which files are looked at and that nothing is written that does not change. Imports core, the
store's port, the vaults' folders and the durable write.
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ltm.core.errors import LtmError
from ltm.core.model import Filter, Problem, Stored
from ltm.inject import markers
from ltm.inject.views import MAX_LINES, block, memory_md
from ltm.storage.durable import write_file
from ltm.storage.plainfile import is_inside, read_plain
from ltm.storage.store import Store
from ltm.storage.vault import Vault

NAME = "MEMORY.md"

TARGETS = (
    "CLAUDE.md",
    os.path.join(".claude", "CLAUDE.md"),
    "CLAUDE.local.md",
    "AGENTS.md",
)
"""Files of a project that may hold the block."""

_PASSES = 4


@dataclass(frozen=True, slots=True)
class Published:
    """The files that were changed, and what kept others from it."""

    written: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


def write_views(
    store: Store,
    vaults: Sequence[Vault],
    root: str,
    *,
    now: datetime,
    max_lines: int = MAX_LINES,
    imports: bool = False,
) -> Published:
    """Bring MEMORY.md of each vault and the marked blocks in the project `root` up to date.

    The block shows the first vault only, the one the project's new memories go to: what is private
    or an agent's own never gets into a file that others may read. With `imports` the block is the
    line that loads that vault's MEMORY.md, instead of a copy. Where a vault came with the
    repository and nobody said they trust it, neither it nor the block is touched.
    """
    written: dict[str, None] = {}
    problems: tuple[Problem, ...] = ()
    for _ in range(_PASSES):
        done = _write_once(store, vaults, root, now, max_lines, imports)
        problems = done.problems
        if not done.written:
            break
        # Somebody may have changed a memory meanwhile and written before us: look again until
        # there is nothing left to write, so that whoever comes last leaves the newest state.
        written |= dict.fromkeys(done.written)
    return Published(tuple(written), problems)


def _write_once(
    store: Store,
    vaults: Sequence[Vault],
    root: str,
    now: datetime,
    max_lines: int,
    imports: bool,
) -> Published:
    of_vault: defaultdict[str, list[Stored]] = defaultdict(list)
    for each in store.list(Filter()).items:
        of_vault[each.vault].append(each)
    done = []
    for vault in (each for each in vaults if each.trusted):
        path = os.path.join(vault.folder, NAME)
        if of_vault[vault.name] or os.path.exists(path):
            text = memory_md(of_vault[vault.name], store.kinds, now)
            done.append(_put(path, text.encode(), vault.file_mode))
    if not all(vault.trusted for vault in vaults):
        return _together(done)
    home = vaults[0]
    inline = block(of_vault[home.name], store.kinds, now, max_lines)
    for path in dict.fromkeys(os.path.realpath(os.path.join(root, name)) for name in TARGETS):
        line = markers.import_line(os.path.join(home.folder, NAME), path)
        text = markers.import_block(line) if imports else inline
        done.append(_mark(path, root, text, other_way="" if imports else line))
    return _together(done)


def _together(done: Sequence[Published]) -> Published:
    return Published(
        tuple(path for each in done for path in each.written),
        tuple(problem for each in done for problem in each.problems),
    )


def _mark(path: str, root: str, text: str, other_way: str) -> Published:
    """Write the block into a file whose marks ask for it."""
    try:
        existing = read_plain(path)
    except (FileNotFoundError, NotADirectoryError):
        return Published()
    except OSError as error:
        reason = error.strerror or str(error)
        return Published(
            problems=(Problem(path, f"cannot be read, so it gets no block: {reason}"),)
        )
    wanted = markers.with_block(existing, text)
    if wanted is None:
        return Published()
    if not is_inside(path, root):
        return Published(problems=(Problem(path, "lies outside the project, so it gets no block"),))
    found = markers.problems(existing, path)
    if other_way and other_way.encode() in markers.without_block(existing):
        message = f"also loads all memories with '{other_way}'; take that line or the block out"
        found = (*found, Problem(path, message))
    done = _put(path, wanted, stat.S_IMODE(os.stat(path).st_mode))
    return Published(done.written, (*found, *done.problems))


def _put(path: str, data: bytes, mode: int) -> Published:
    """Write a file unless it has these bytes already."""
    try:
        if read_plain(path, limit=len(data), follow=False) == data:
            return Published()
    except OSError:
        pass  # not there, longer, or not a plain file: it is replaced in any case
    try:
        write_file(path, data, mode=mode)
    except LtmError as error:
        return Published(problems=(Problem(path, error.message),))
    return Published(written=(path,))
