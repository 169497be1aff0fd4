"""What can be wrong with the memories themselves: unreadable files, one id twice, loose ends.

Owns the checks that read memory files and archives, compare them with the index, and follow the ids
they name. A file that cannot be read is told and never touched. Imports core and storage.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

from ltm.core.counting import counted
from ltm.core.decision import Revise
from ltm.core.errors import LtmError, StorageFailed
from ltm.core.model import Memory, Problem, Scope, Status, Stored, new_id
from ltm.storage.filestore import Compared, FileStore
from ltm.storage.vault import Vault
from ltm.upkeep.finding import Finding, told
from ltm.upkeep.slipped import slipped

_ID_IN_NAME = re.compile(r"(?:.*\.)?(mem_[0-9a-z][0-9a-z_-]*)\.md\Z")
_LISTS = ("supersedes", "merged_from", "links")
_NAMES = {
    "supersedes": "replaces",
    "merged_from": "was merged from",
    "links": "links to",
    "previous": "follows",
}


def records(store: FileStore, home: str) -> list[Finding]:
    """Everything that is wrong with the memories of a store."""
    compared = list(store.compare())
    held = [each.held for each in compared if each.held and isinstance(each.said, Memory)]
    lost = [each.name for each in compared if isinstance(each.said, LtmError)]
    here = {each.memory.id for each in held} | _ids_in(lost)
    found = [*_unreadable(compared), *_out_of_step(store, compared), *_doubles(compared)]
    found += _half_done(store, held)
    found += slipped(held)
    elsewhere = _ids_in(name for _, _, names in os.walk(home) for name in names)
    for vault in store.vaults:
        try:
            archived = vault.archived_of()
        except LtmError as error:
            found.append(Finding(told(error, vault.archives)))
            lost.append(vault.archives)  # whose memories may be in it is unknown
            continue
        elsewhere |= archived.keys()
        found += _archives(store, vault, archived, here)
    # An id that is nowhere on this machine may be in a file we cannot read, or on another branch.
    sure = all(_ids_in([name]) for name in lost) and not any(each.shared for each in store.vaults)
    found += _loose_ends(store, held, here, elsewhere, sure=sure)
    return found


def _unreadable(compared: Iterable[Compared]) -> list[Finding]:
    return [
        Finding(told(each.said, each.vault.path(each.name)))
        for each in compared
        if isinstance(each.said, LtmError) and _cannot_be_read(each)
    ]


def _cannot_be_read(each: Compared) -> bool:
    """Whether a file is unreadable: it is not a memory, or the disk fails at the moment."""
    failed = isinstance(each.said, StorageFailed) and os.path.lexists(each.vault.path(each.name))
    return failed or (isinstance(each.said, LtmError) and each.held is None)


def _out_of_step(store: FileStore, compared: Sequence[Compared]) -> list[Finding]:
    """Where the index says something else than the files; rebuilding it is part of any repair."""
    holders = {(each.vault.folder, each.held.memory.id) for each in compared if each.held}
    names: dict[str, list[str]] = {}
    for each in compared:
        if _cannot_be_read(each):
            same = True  # told elsewhere
        elif each.held is not None:
            same = (each.held.memory, each.held.etag) == (each.said, each.etag)
        else:
            # Not held, because another file has its id: told elsewhere.
            same = isinstance(each.said, Memory) and (each.vault.folder, each.said.id) in holders
        if not same:
            names.setdefault(each.vault.folder, []).append(each.name)
    wrong = [
        Problem(
            folder, f"the index is out of step with {counted(len(some), 'file')}, such as {some[0]}"
        )
        for folder, some in names.items()
    ]
    if not wrong and compared and _counted(store) != _counts(compared):
        # Each text is right, but it is filed under another kind, status or phase.
        wrong = [Problem(compared[0].vault.folder, "the index files memories in the wrong place")]
    return [Finding(problem, lambda: None) for problem in wrong]


def _counted(store: FileStore) -> Counter[tuple[str, str, str, int]]:
    counted: Counter[tuple[str, str, str, int]] = Counter()
    for kind, scope, status, phase, count in store.counts():
        counted[kind, scope, status, phase] += count
    return counted


def _counts(compared: Iterable[Compared]) -> Counter[tuple[str, str, str, int]]:
    memories = [each.held.memory for each in compared if each.held]
    return Counter(
        (each.kind, str(each.scope), str(each.status), int(each.phase)) for each in memories
    )


def _doubles(compared: Sequence[Compared]) -> list[Finding]:
    """Files with the id of another one. In one vault the one the index leaves out gets a new id."""
    found: list[Finding] = []
    first: dict[str, Compared] = {}
    for each in sorted(compared, key=lambda each: each.held is None):
        if isinstance(each.said, LtmError):
            continue
        other = first.setdefault(each.said.id, each)
        if other is each:
            continue
        path, there = each.vault.path(each.name), other.vault.path(other.name)
        problem = Problem(path, f"has the same id {each.said.id} as {there}")
        mend = None
        if other.vault is each.vault:
            mend = partial(_give_new_id, each)
        found.append(Finding(problem, mend))
    return found


def _give_new_id(double: Compared) -> None:
    from ltm.storage import frontmatter

    if isinstance(double.said, LtmError):
        return
    vault = double.vault
    with vault.lock:
        data = vault.read(double.name)
        document = frontmatter.parse(data, vault.path(double.name))
        changed = document.with_fields({"id": new_id(double.said.created)})
        vault.write(double.name, changed.to_bytes(), over=data)


def _half_done(store: FileStore, held: Iterable[Stored]) -> list[Finding]:
    """Memories that a newer one replaced, except that the writer died before it told them.

    One that was touched after the newer one came was brought back on purpose.
    """
    known = {each.memory.id: each for each in held}
    found: list[Finding] = []
    for newer in known.values():
        if newer.memory.status is not Status.ACTIVE:
            continue
        for each in newer.memory.supersedes:
            older = known.get(each)
            if (
                older is not None
                and older.memory.status is Status.ACTIVE
                and max(older.memory.updated, older.memory.confirmed) < newer.memory.created
            ):
                changes = {"status": Status.SUPERSEDED, "superseded_by": newer.memory.id}
                found.append(
                    Finding(
                        Problem(
                            older.path, f"is still active, though {newer.memory.id} replaces it"
                        ),
                        partial(store.apply, Revise(each, changes, expected=older.etag)),
                    )
                )
    return found


def _loose_ends(
    store: FileStore, held: Iterable[Stored], here: set[str], elsewhere: set[str], *, sure: bool
) -> list[Finding]:
    """Memories that name unknown ids. An agent's may name those of any project: not checked."""
    known = here | elsewhere
    found: list[Finding] = []
    for each in held:
        memory = each.memory
        if memory.scope is Scope.AGENT:
            continue
        changes: dict[str, object] = {}
        ends: list[str] = []
        for field in _LISTS:
            ids: tuple[str, ...] = getattr(memory, field)
            gone = [name for name in ids if name not in known]
            if gone:
                changes[field] = tuple(name for name in ids if name in known)
                ends.append(f"{_NAMES[field]} {', '.join(gone)}")
        if memory.previous and memory.previous not in known:
            changes["previous"] = ""
            ends.append(f"{_NAMES['previous']} {memory.previous}")
        if ends:
            problem = Problem(each.path, f"{'; '.join(ends)}, which is not here", ill=sure)
            repair = partial(store.apply, Revise(memory.id, changes, expected=each.etag))
            found.append(Finding(problem, repair if sure else None))
        newer = memory.superseded_by
        if memory.status is Status.SUPERSEDED and newer and newer not in known:
            # Whether the older text holds again is for a person to say.
            message = (
                f"was replaced by {newer}, which is not here"
                f" (bring it back with 'ltm restore {memory.id}')"
            )
            found.append(Finding(Problem(each.path, message, ill=sure)))
    return found


def _archives(
    store: FileStore, vault: Vault, archived: dict[str, list[tuple[int, str]]], known: set[str]
) -> list[Finding]:
    """Kept versions that cannot be read, and those whose memory is gone."""
    from ltm.storage import codec, frontmatter

    found: list[Finding] = []
    for memory_id, kept in archived.items():
        paths = [path for _, path in kept]
        if memory_id not in known:
            kept_of = f"{counted(len(paths), 'version')} of {memory_id}"
            message = f"is kept of a memory that is not here ({kept_of})"
            found.append(Finding(Problem(paths[-1], message, ill=False)))
        for path in paths:
            try:
                codec.decode(frontmatter.parse(vault.read_archive(path), path), path, store.kinds)
            except LtmError as error:
                found.append(Finding(told(error, path)))
    return found


def _ids_in(names: Iterable[str]) -> set[str]:
    """The ids in file names, for files that cannot be asked."""
    return {match[1] for name in names if (match := _ID_IN_NAME.match(os.path.basename(name)))}
