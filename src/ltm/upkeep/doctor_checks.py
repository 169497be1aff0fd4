"""The checks of `ltm doctor`: files, databases, memories, secrets, signatures, git.

Each gives findings: the problem, and how to mend it where that can be done without a person. A file
that cannot be read is reported and never touched, and so is a memory that seems to hold a secret:
only a person knows whether it is one, and it has to be changed where it came from. Only what was
changed outside ltm is a fault; the rest is worth knowing.
"""

from __future__ import annotations

import os
import re
import shlex
import sqlite3
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from shutil import which
from urllib.parse import quote

from ltm.decisions import Revise
from ltm.errors import LtmError, StorageFailed
from ltm.files.atomic import is_temporary, names_in, read_plain
from ltm.files.block import is_ours
from ltm.files.sqlite import (
    Incompatible,
    discard,
    is_busy,
    is_unwritable,
    migrate,
    naming_damage,
    set_aside,
)
from ltm.history.tables import SCHEMA as SESSIONS_SCHEMA
from ltm.index.index import VECTORS_FILE
from ltm.inject import memory_md
from ltm.model import Filter, Memory, Problem, Scope, Status, Stored, new_id
from ltm.project.git import find
from ltm.project.layout import SESSIONS, STATE, Places
from ltm.redact.redact import redact
from ltm.remote.contents import load_settings
from ltm.remote.remote import last_sync
from ltm.spool import events
from ltm.state.corrections import FILE as LEDGER
from ltm.state.corrections import SCHEMA as LEDGER_SCHEMA
from ltm.state.usage import SCHEMA as STATE_SCHEMA
from ltm.store import other_tools, share
from ltm.store.apply import state_of
from ltm.store.file_store import Compared, FileStore
from ltm.store.other_tools import foreign
from ltm.store.store import Store
from ltm.store.trust import unproven, waiting
from ltm.text.display import counted
from ltm.vault import codec, frontmatter, key_file
from ltm.vault.signing import SignatureState
from ltm.vault.vault import Vault

_SCHEMAS = {STATE: STATE_SCHEMA, SESSIONS: SESSIONS_SCHEMA, LEDGER: LEDGER_SCHEMA}
"""What is not derived."""

_DATABASE = re.compile(r"\.db(\.damaged\d+)?$")
_SET_ASIDE = (
    "was damaged and set aside, and another was begun; 'ltm capture --all' reads again what the"
    " transcripts still have (delete this file when you no longer need it)"
)
_OTHERS = 0o077
_WRITERS = 0o022
_FINISHED = 3600.0
"""Seconds after which a write outside the vaults, where no lock tells, has surely ended."""

_ID_IN_NAME = re.compile(r"(?:.*\.)?(mem_[0-9a-z][0-9a-z_-]*)\.md\Z")
_LISTS = ("supersedes", "merged_from", "links")
_NAMES = {
    "supersedes": "replaces",
    "merged_from": "was merged from",
    "links": "links to",
    "previous": "follows",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem, and its repair if there is one."""

    problem: Problem
    mend: Callable[[], object] | None = None
    """Repairs it or raises; it never deletes what a person wrote."""


def _worth_knowing(path: str, message: str) -> Finding:
    return Finding(Problem(path, message, ill=False))


def _from_error(error: LtmError, path: str) -> Finding:
    """What is wrong, where, and what to do about it."""
    hint = f" ({error.hint})" if error.hint else ""
    return Finding(Problem(error.path or path, f"{error.message}{hint}", error.line or 0))


def leftovers(vaults: Iterable[Vault], home: str) -> list[Finding]:
    """Unfinished writes: in the vaults whatever no writer holds, elsewhere what is an hour old."""
    found: list[Finding] = []
    inside: set[str] = set()
    for vault in vaults:
        inside.update((vault.folder, vault.memories, vault.archives))
        if not vault.exists():
            continue
        try:
            # With the lock held no one else is writing, so what is there will not be finished.
            alone = vault.lock.acquire(patience=2.0)
        except LtmError:
            continue  # a disk that cannot be written has no new leftovers
        if alone:
            try:
                found += [_leftover(path) for path in vault.leftovers()]
            finally:
                vault.lock.release()
    now = time.time()
    for folder, _, names in os.walk(home):
        for name in names:
            path = os.path.join(folder, name)
            if not is_temporary(name) or folder in inside or now - _written(path) <= _FINISHED:
                continue
            if not events.is_event(path):  # which is for the next drain
                found.append(_leftover(path))
    return found


def _leftover(path: str) -> Finding:
    return Finding(Problem(path, "is left over from an unfinished write"), partial(os.unlink, path))


def _written(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return time.time()


def modes(home: str, shared: str = "") -> list[Finding]:
    """Files under the home folder that others can reach, and a shared vault others can write."""
    if os.name == "nt":
        return []
    found = []
    theirs = _of_others(home)
    for folder, each in _by_folder(home, lambda info: bool(info.st_mode & _OTHERS)):
        paths = [path for path in each if path not in theirs]
        if not paths:
            continue
        what = "can be read or changed by other users of this machine"
        found.append(_mode_finding(folder, paths, what, _OTHERS))
    for folder, paths in _by_folder(shared, _is_writable_by_strangers) if shared else ():
        what = "can be changed by other users of this machine"
        found.append(_mode_finding(folder, paths, what, _WRITERS))
    return found


def _by_folder(
    top: str, is_wrong: Callable[[os.stat_result], bool]
) -> Iterator[tuple[str, list[str]]]:
    """The paths in and below a folder whose mode is wrong, by the folder they are in."""
    for folder, _, names in os.walk(top):
        wrong = []
        for path in (folder, *(os.path.join(folder, name) for name in sorted(names))):
            with suppress(OSError):
                info = os.lstat(path)
                if not stat.S_ISLNK(info.st_mode) and is_wrong(info):
                    wrong.append(path)
        if wrong:
            yield folder, wrong


def _is_writable_by_strangers(info: os.stat_result) -> bool:
    if info.st_mode & stat.S_IWOTH or not info.st_mode & stat.S_IWGRP:
        return bool(info.st_mode & stat.S_IWOTH)
    # Many systems give every user a group of their own and let it write: no one else is in it.
    import grp
    import pwd

    try:
        group, user = grp.getgrgid(info.st_gid), pwd.getpwuid(info.st_uid)
    except KeyError:
        return True
    return group.gr_name != user.pw_name or bool(set(group.gr_mem) - {user.pw_name})


def _mode_finding(folder: str, paths: list[str], what: str, bits: int) -> Finding:
    if len(paths) == 1:
        problem = Problem(paths[0], what)
    else:
        example = os.path.basename(paths[-1])
        problem = Problem(folder, f"{len(paths)} paths here, such as {example}, {what}")

    def close() -> None:
        for path in paths:
            os.chmod(path, stat.S_IMODE(os.lstat(path).st_mode) & ~bits)

    return Finding(problem, close)


def databases(vaults: Iterable[Vault], home: str) -> list[Finding]:
    """Damaged SQLite files; an index and vectors are derived and rebuilt, any other is set
    aside. And those that cannot be used or were set aside, which is for a person to mend."""
    derived = {vault.folder for vault in vaults}
    folders = {folder for folder, _, _ in os.walk(home)} | derived
    theirs = _of_others(home)
    found: list[Finding] = []
    for folder in sorted(folders):
        for name in sorted(filter(_DATABASE.search, names_in(folder))):
            path = os.path.join(folder, name)
            if path in theirs:
                continue
            if not name.endswith(".db"):
                found.append(_worth_knowing(path, _SET_ASIDE))
                continue
            damage = _damage(path)
            if not damage:
                if incompatible := _incompatible(path, name):
                    found.append(Finding(Problem(path, incompatible)))
                continue
            what = "database"
            repair: Callable[[], object] = partial(set_aside, path)
            if folder in derived and name == "index.db":
                what, repair = "index", lambda: None  # re-indexing is part of every repair
            elif name.endswith(VECTORS_FILE):
                what, repair = "file of vectors", partial(discard, path)  # rebuilt from the texts
            found.append(Finding(Problem(path, f"the {what} is damaged: {damage}"), repair))
    return found


def _of_others(home: str) -> set[str]:
    """The files another tool keeps in the home folder, which are not ours to mend."""
    suffixes = ("", "-wal", "-shm", "-journal")
    found = {f"{path}{suffix}" for path in other_tools.databases(home) for suffix in suffixes}
    return found | {os.path.join(home, "config.json")}


def _incompatible(path: str, name: str) -> str:
    """Why a database that is not derived cannot be used; one of a former schema is migrated."""
    try:
        if name in _SCHEMAS:
            migrate(path, _SCHEMAS[name])
    except Incompatible as error:
        return f"{error}, so nothing is added to it ({error.hint})"
    except (OSError, sqlite3.Error):
        pass  # held by another process, or on a disk that refuses: not the file's fault
    return ""


def _damage(path: str) -> str:
    """What SQLite says is wrong with a file, or nothing; a file we cannot have is not damaged."""
    try:
        db = sqlite3.connect(f"file:{quote(os.fsencode(path))}?mode=rw", uri=True)
        try:
            with naming_damage():
                result = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
        finally:
            db.close()
    except sqlite3.Error as error:
        return "" if is_busy(error) or is_unwritable(error) else str(error)
    return "" if result == "ok" else result.splitlines()[-1]


def stranded(home: str) -> list[Finding]:
    """Events that wait outside of another home, which could not be written when they came. For
    a home that is gone there is nothing to be done."""
    waiting: dict[str, list[str]] = {}
    for path, whose in events.for_others(home):
        if os.path.lexists(whose):
            waiting.setdefault(os.path.dirname(path), []).append(whose)
    found: list[Finding] = []
    for folder, homes in waiting.items():
        first, *others = sorted(set(homes))
        more = f" and {counted(len(others), 'other home')}" if others else ""
        message = (
            f"{counted(len(homes), 'event')} kept here for {first}{more} that could not be written"
            f" (once it can: LTM_HOME={shlex.quote(first)} ltm drain; forgotten after"
            f" {events.DAYS} days)"
        )
        found.append(_worth_knowing(folder, message))
    return found


def records(store: FileStore, home: str) -> list[Finding]:
    """Everything that is wrong with the memories of a store."""
    compared = list(store.compare())
    held = [each.held for each in compared if each.held and isinstance(each.said, Memory)]
    lost = [each.name for each in compared if isinstance(each.said, LtmError)]
    here = {each.memory.id for each in held} | _ids_in(lost)
    found = [
        _from_error(each.said, each.vault.path(each.name))
        for each in compared
        if isinstance(each.said, LtmError) and _cannot_be_read(each)
    ]
    found += [*_out_of_step(store, compared), *_doubles(compared), *_half_done(store, held)]
    for each in held:
        if kinds := secrets_in(each.memory):  # the secret itself is not repeated
            message = (
                f"seems to hold a secret ({', '.join(kinds)}): change the secret where it is"
                f" used, then take it out with 'ltm edit {each.memory.id}'"
            )
            found.append(Finding(Problem(each.path, message)))
    elsewhere = _ids_in(name for _, _, names in os.walk(home) for name in names)
    for vault in store.vaults:
        try:
            archived = vault.archived_of()
        except LtmError as error:
            found.append(_from_error(error, vault.archives))
            lost.append(vault.archives)  # whose memories may be in it is unknown
            continue
        elsewhere |= archived.keys()
        found += _archives(store, vault, archived, here)
    # An id that is nowhere on this machine may be in a file we cannot read, or on another branch.
    sure = all(_ids_in([name]) for name in lost) and not any(each.shared for each in store.vaults)
    found += _loose_ends(store, held, here, elsewhere, sure=sure)
    return found


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
            same = True  # reported elsewhere
        elif each.held is not None:
            same = (each.held.memory, each.held.etag) == (each.said, each.etag)
        else:
            # Not held, because another file has its id: reported elsewhere.
            same = isinstance(each.said, Memory) and (each.vault.folder, each.said.id) in holders
        if not same:
            names.setdefault(each.vault.folder, []).append(each.name)
    wrong = [
        Problem(
            folder, f"the index is out of step with {counted(len(some), 'file')}, such as {some[0]}"
        )
        for folder, some in names.items()
    ]
    if not wrong and compared and _is_misfiled(store, compared):
        wrong = [Problem(compared[0].vault.folder, "the index files memories in the wrong place")]
    return [Finding(problem, lambda: None) for problem in wrong]


def _is_misfiled(store: FileStore, compared: Iterable[Compared]) -> bool:
    """Whether the index files a memory under another kind, scope, status or phase."""
    memories = [each.held.memory for each in compared if each.held]
    right = Counter(
        (each.kind, str(each.scope), str(each.status), int(each.phase)) for each in memories
    )
    filed: Counter[tuple[str, str, str, int]] = Counter()
    for kind, scope, status, phase, count in store.counts():
        filed[kind, scope, status, phase] += count
    return filed != right or not store.is_counted()


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
        mend = partial(_give_new_id, each) if other.vault is each.vault else None
        found.append(Finding(problem, mend))
    return found


def _give_new_id(double: Compared) -> None:
    if isinstance(double.said, LtmError):
        return
    vault = double.vault
    with vault.lock:
        data = vault.read(double.name)
        document = frontmatter.parse(data, vault.path(double.name))
        changed = document.with_fields({"id": new_id(double.said.created)})
        vault.write(double.name, changed.to_bytes(), over=data)


def _half_done(store: FileStore, held: Iterable[Stored]) -> list[Finding]:
    """Memories that a newer one replaced, except that the writer died before it marked them.

    One that was touched after the newer one came was brought back on purpose.
    """
    known = {each.memory.id: each for each in held}
    found: list[Finding] = []
    for newer in known.values():
        if newer.memory.status is not Status.ACTIVE:
            continue
        for each in newer.memory.supersedes:
            older = known.get(each)
            if older is None or older.memory.status is not Status.ACTIVE:
                continue
            if max(older.memory.updated, older.memory.confirmed) < newer.memory.created:
                changes = {"status": Status.SUPERSEDED, "superseded_by": newer.memory.id}
                message = f"is still active, though {newer.memory.id} replaces it"
                repair = partial(store.apply, Revise(each, changes, expected=older.etag))
                found.append(Finding(Problem(older.path, message), repair))
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
    found: list[Finding] = []
    for memory_id, kept in archived.items():
        paths = [path for _, path in kept]
        if memory_id not in known:
            kept_of = f"{counted(len(paths), 'version')} of {memory_id}"
            message = f"is kept of a memory that is not here ({kept_of})"
            found.append(_worth_knowing(paths[-1], message))
        for path in paths:
            try:
                codec.decode(frontmatter.parse(vault.read_archive(path), path), path, store.kinds)
            except LtmError as error:
                found.append(_from_error(error, path))
    return found


def _ids_in(names: Iterable[str]) -> set[str]:
    """The ids in file names, for files that cannot be asked."""
    return {match[1] for name in names if (match := _ID_IN_NAME.match(os.path.basename(name)))}


def secrets_in(memory: Memory) -> tuple[str, ...]:
    """The kinds of secrets that stand in a memory."""
    text = "\n".join((memory.title, memory.text, memory.reason, *memory.tags))
    # A memory may well speak of the tag that marks what is private.
    return tuple(kind for kind in redact(text).kinds if kind != "private")


def in_step(home: str) -> list[Finding]:
    """What keeps this machine and the person's remote from being in step."""
    path = os.path.join(home, "remote")
    try:
        settings = load_settings(home)
    except LtmError as error:
        return [_from_error(error, path)]
    if settings is None:
        return []
    last, found = last_sync(home), []
    if last.error:
        since = last.done[:10] or "it was added"
        message = f"not in step with the remote since {since}: {last.error} (look: ltm remote)"
        found.append(_worth_knowing(path, message))
    for each, why in last.held.items():
        found.append(_worth_knowing(each, f"{why}, so it is not sent to the remote"))
    if last.in_history:
        message = (
            f"the remote's history still has {counted(last.in_history, 'memory')} that you purged"
            " (look: ltm remote)"
        )
        found.append(_worth_knowing(path, message))
    return found


def trust(store: Store, places: Places) -> list[Finding]:
    """Everything about signatures, quarantine and trust that a person should know."""
    found = _signatures(store, places.home)
    quarantined, untrusted = waiting(store, places)
    if quarantined:
        message = f"{counted(quarantined, 'memory')} waiting for approval (look: ltm approve)"
        found.append(_worth_knowing(places.private, message))
    if untrusted:
        message = (
            f"{counted(untrusted, 'memory')} came with this repository, not told until you trust it"
            " (look: ltm list, then: ltm trust)"
        )
        found.append(_worth_knowing(places.shared, message))
    found += map(Finding, unproven(places))
    found += _conflicts(store)
    found += [Finding(each.problem) for each in foreign(places)]
    for path in memory_md.every(places.private):
        # What was ours but for some lines: other kept texts can be put back by a command.
        with suppress(OSError):
            if is_ours(read_plain(path, follow=False)):
                message = (
                    "is a copy of a view into which something was typed, made before ltm wrote it"
                    " again (delete it when you do not need it)"
                )
                found.append(_worth_knowing(path, message))
    return found


def _signatures(store: Store, home: str) -> list[Finding]:
    key = key_file.load(home)
    if key is None:
        return []
    path = key_file.path_in(home)
    if not key.secret:
        message = "cannot be used as a key, so nothing is signed (bring the right file back)"
        return [Finding(Problem(path, message))]
    unsigned: list[Stored] = []
    found: list[Finding] = []
    for stored in store.every(Filter(statuses=tuple(Status))):
        state = state_of(key, stored, store)
        if state is SignatureState.UNSIGNED:
            unsigned.append(stored)
        elif state is SignatureState.CHANGED:
            name = stored.memory.id
            message = f"was changed outside ltm (look: ltm show {name}, then: ltm sign {name})"
            found.append(Finding(Problem(stored.path, message)))
    if unsigned:
        are = "is" if len(unsigned) == 1 else "are"
        count = f"{counted(len(unsigned), 'memory')} {are} not signed with it"
        message = f"{count} (sign all with 'ltm sign')"
        found.append(_worth_knowing(path, message))
    return found


def _conflicts(store: Store) -> list[Finding]:
    """Memories in force that do not agree, a line for each pair or group."""
    found = {each.memory.id: each for each in store.list(Filter()).items if each.memory.conflicts}
    pairs: set[frozenset[str]] = set()
    findings: list[Finding] = []
    for name, stored in sorted(found.items()):
        for other in stored.memory.conflicts:
            if other in found and frozenset({name, other}) not in pairs:
                pairs.add(frozenset({name, other}))
                message = f"contradicts {other} (decide which is right with: ltm settle)"
                findings.append(_worth_knowing(stored.path, message))
    return findings


def sharing(places: Places) -> list[Finding]:
    """What is missing for a shared vault to be committed and merged on this machine."""
    if not places.shared_exists:
        return []
    root = os.path.dirname(os.path.dirname(places.shared))
    if which("git") is None or find(root) is None:
        return []
    found: list[Finding] = []
    init = partial(share.init_shared, root)
    for name in (".gitignore", ".gitattributes"):
        path = os.path.join(places.shared, name)
        if not os.path.isfile(path):
            found.append(Finding(Problem(path, "is missing, so git does not know our files"), init))
    if not share.driver_installed(root):
        message = "git on this machine does not merge memories with ltm (run 'ltm init')"
        found.append(Finding(Problem(places.shared, message), init))
    if share.is_vault_ignored(root):
        message = "git is told to leave this folder out, so no one else gets these memories"
        found.append(Finding(Problem(places.shared, message)))
    return found
