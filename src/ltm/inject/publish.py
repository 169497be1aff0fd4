"""The views on the disk: MEMORY.md in each vault, and the block in files that ask for one.

Owns which files are looked at, that nothing is written that does not change, and that no text of
others is lost: what LTM did not write is replaced only when a person says so, what was typed into
something LTM wrote is replaced as its first line announces, and a copy of either is kept. Imports
core, the store's port, the vaults' folders and the durable write.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from ltm.core import markers, policy
from ltm.core.errors import Conflict, LtmError
from ltm.core.kinds import Kinds
from ltm.core.markers import END, MEMORY_MD, NOTE, START, TARGETS
from ltm.core.model import Filter, Memory, Problem, Stored
from ltm.inject.carried import TAGGED, is_current
from ltm.inject.fence import harmless_in_file
from ltm.inject.said import short_id
from ltm.inject.views import FOOTER, MAX_LINES, TITLE, block, memory_md
from ltm.storage import viewrecord
from ltm.storage.durable import write_file
from ltm.storage.foreign import foreign_block, foreign_memory_md
from ltm.storage.plainfile import is_inside, read_plain
from ltm.storage.store import Store
from ltm.storage.vault import Vault

_PASSES = 4
_FIXED = {START, END, "# Memory", TITLE, NOTE, FOOTER, f"{NOTE} {FOOTER}", ""}
_MORE = re.compile(r"- _…and \d+ more(?:: `ltm list --kind \S+`)?_\Z")


@dataclass(frozen=True, slots=True)
class Published:
    """The files that were changed, what kept others from it, and the texts that were replaced."""

    written: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()
    """Files in which something stood that LTM did not write, each with the path of a copy."""


def write_views(
    store: Store,
    vaults: Sequence[Vault],
    root: str,
    *,
    now: datetime,
    max_lines: int = MAX_LINES,
    imports: bool = False,
    take_over: bool = False,
) -> Published:
    """Bring MEMORY.md of each vault and the marked blocks in the project `root` up to date.

    The block shows the first vault only, the one the project's new memories go to: what is private
    or an agent's own never gets into a file that others may read. With `imports` the block is the
    line that loads that vault's MEMORY.md, instead of a copy. Where a vault came with the
    repository and is not trusted, neither it nor the block is touched. What LTM did not
    write stays and is told as a problem, unless a person lets us `take_over`.
    """
    written: dict[str, None] = {}
    kept: dict[tuple[str, str], None] = {}
    problems: tuple[Problem, ...] = ()
    for _ in range(_PASSES):
        writing = _Writing(store, _private(vaults), take_over)
        done = _write_once(writing, vaults, root, now, max_lines, imports)
        problems = done.problems
        kept |= dict.fromkeys(done.kept)
        if not done.written:
            break
        # Another process may have changed a memory and written before us: look again until
        # there is nothing left to write, so that the last one leaves the newest state.
        written |= dict.fromkeys(done.written)
    return Published(tuple(written), problems, tuple(kept))


def give_back(vaults: Sequence[Vault], root: str) -> Published:
    """Put the text back that another tool or a person had where LTM writes now."""
    private = _private(vaults)
    views = (os.path.join(vault.folder, MEMORY_MD) for vault in vaults if vault.trusted)
    return _together(
        [_attempted(path, partial(_give_back, private, path)) for path in (*_targets(root), *views)]
    )


def _give_back(private: str, path: str) -> Published:
    former = [data for _, data in viewrecord.former(private, path) if not markers.is_ours(data)]
    if not former:
        return Published()
    existing = _read(path, follow=False)
    view = markers.find_block(existing)
    if os.path.basename(path) == MEMORY_MD:
        view = markers.MarkedBlock(existing, 1, 0)
    if view is None or not (view.is_empty or markers.is_ours(view.data)):
        return Published()  # what stands there now is not ours to replace
    rest = existing[view.begin + len(view.data) :]
    return _put(path, existing, existing[: view.begin] + former[0] + rest)


def _write_once(
    writing: _Writing,
    vaults: Sequence[Vault],
    root: str,
    now: datetime,
    max_lines: int,
    imports: bool,
) -> Published:
    store = writing.store
    of_vault: defaultdict[str, list[Stored]] = defaultdict(list)
    for each in store.list(Filter()).items:
        of_vault[each.vault].append(each)
    done = []
    for vault in (each for each in vaults if each.trusted):
        path = os.path.join(vault.folder, MEMORY_MD)
        if of_vault[vault.name] or os.path.exists(path):
            text = memory_md(of_vault[vault.name], store.kinds, now)
            done.append(_attempted(path, partial(writing.memory_md, path, text, vault.file_mode)))
    if not all(vault.trusted for vault in vaults):
        return _together(done)
    view = os.path.join(vaults[0].folder, MEMORY_MD)
    inline = block(of_vault[vaults[0].name], store.kinds, now, max_lines)
    for path in _targets(root):
        line = markers.import_line(view, path)
        text = markers.import_block(line) if imports else inline
        write = partial(writing.block, path, root, text, view, other_way="" if imports else line)
        done.append(_attempted(path, write))
    return _together(done)


@dataclass(frozen=True, slots=True)
class _Writing:
    """The way of a view into its file, past what others wrote there."""

    store: Store
    private: str
    take_over: bool

    def memory_md(self, path: str, text: str, mode: int) -> Published:
        """Write a vault's MEMORY.md; a link in its place is not followed but replaced."""
        existing, wanted = _read(path, follow=False), text.encode()
        theirs = foreign_memory_md(existing, path)
        if theirs is not None and not self.take_over:
            return Published(problems=(theirs.problem,))
        ours = theirs is None
        return self._replace(path, existing, wanted, existing, wanted, mode=mode, ours=ours)

    def block(self, path: str, root: str, text: str, view: str, *, other_way: str) -> Published:
        """Write the block into a file whose marks ask for it."""
        existing = _read(path)
        wanted = markers.with_block(existing, text)
        if wanted is None:
            return Published()
        if not is_inside(path, root):
            problem = Problem(path, "lies outside the project, so it gets no block")
            return Published(problems=(problem,))
        found = markers.problems(existing, path)
        before, after = markers.find_block(existing), markers.find_block(wanted)
        if before is None or after is None:
            return Published(problems=found)
        theirs = foreign_block(existing, path, root, [view])
        if theirs is not None and not self.take_over:
            return Published(problems=(theirs.problem,))
        if other_way and other_way.encode() in markers.without_block(existing):
            message = f"also loads all memories with '{other_way}'; take that line or the block out"
            found = (*found, Problem(path, message))
        mode = stat.S_IMODE(os.stat(path).st_mode)
        done = self._replace(
            path, existing, wanted, before.data, after.data, mode=mode, ours=theirs is None
        )
        return Published(done.written, found, done.kept)

    def _replace(
        self,
        path: str,
        existing: bytes,
        wanted: bytes,
        before: bytes,
        after: bytes,
        *,
        mode: int,
        ours: bool,
    ) -> Published:
        """Write a file unless it has these bytes already; `before` and `after` are the view in it.

        A copy is kept of what others wrote, be it all of the view or a line in it.
        """
        if existing == wanted:
            return Published()
        kept: tuple[tuple[str, str], ...] = ()
        if not ours or (
            markers.is_ours(before)
            and not viewrecord.is_as_written(self.private, path, before)
            and _has_typed_lines(before, self.store)
        ):
            kept = ((path, viewrecord.keep(self.private, path, before)),)
        done = _put(path, existing, wanted, mode)
        viewrecord.note(self.private, path, after)
        return Published(done.written, kept=kept)


def _private(vaults: Sequence[Vault]) -> str:
    """The project's own folder outside the repository."""
    return next(vault.folder for vault in vaults if vault.name == "private")


def _targets(root: str) -> list[str]:
    return list(dict.fromkeys(os.path.realpath(os.path.join(root, name)) for name in TARGETS))


def _together(done: Sequence[Published]) -> Published:
    return Published(
        tuple(path for each in done for path in each.written),
        tuple(problem for each in done for problem in each.problems),
        tuple(copy for each in done for copy in each.kept),
    )


def _attempted(path: str, write: Callable[[], Published]) -> Published:
    """What a writer did, or why it could not."""
    for _ in range(_PASSES):
        try:
            return write()
        except Conflict:
            continue  # another program wrote the file at this moment: look at it again
        except LtmError as error:
            return Published(problems=(Problem(path, error.message),))
        except OSError as error:
            message = f"cannot be read, so it is left as it is: {error.strerror or error}"
            return Published(problems=(Problem(path, message),))
    return Published(problems=(Problem(path, "was changed by others again and again"),))


def _read(path: str, *, follow: bool = True) -> bytes:
    """A file's bytes, none where it is missing or, unless we follow it, a link."""
    try:
        return read_plain(path, follow=follow)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        if error.errno == errno.ELOOP and not follow:
            return b""
        raise


def _put(path: str, existing: bytes, wanted: bytes, mode: int = 0) -> Published:
    """Write a file in the place of one that still has these bytes."""

    def check() -> None:
        if _read(path, follow=False) != existing:
            raise Conflict("was changed by another program at this moment", path=path)

    mode = mode or stat.S_IMODE(os.stat(path).st_mode)
    write_file(path, wanted, mode=mode, check=check)
    return Published(written=(path,))


def _has_typed_lines(view: bytes, store: Store) -> bool:
    """Whether a block or MEMORY.md that LTM wrote has a line that it did not write."""
    known: dict[str, list[Memory]] = {}
    ours = _FIXED | set(_headings(store.kinds))
    for line in view.decode("utf-8", "replace").splitlines():
        if line.strip() in ours or _MORE.match(line.strip()):
            continue
        told = TAGGED.match(line)
        if told is None:
            return True
        known = known or _by_short_id(store)
        if not any(_is_of(each, told["text"], store) for each in known.get(told["id"], ())):
            return True
    return False


def _headings(kinds: Kinds) -> Iterator[str]:
    for kind in kinds:
        yield f"## {harmless_in_file(kind.heading)}"
        yield f"### {harmless_in_file(kind.heading)}"
    for tier in policy.TIERS:
        yield f"### {tier.capitalize()} confidence"


def _by_short_id(store: Store) -> dict[str, list[Memory]]:
    found: dict[str, list[Memory]] = {}
    for each in store.every(Filter(statuses=())):
        found.setdefault(short_id(each.memory), []).append(each.memory)
    return found


def _is_of(memory: Memory, line: str, store: Store) -> bool:
    """Whether a memory says this, or said it before it was changed."""
    former = (version.memory for version in store.versions(memory.id))
    return any(is_current(line, each, store.kinds) for each in (memory, *former))
