"""What can be wrong around the memories: unfinished writes, open doors, damaged databases.

Owns the checks that look at files without reading memories: leftover temporary files, modes, SQLite
files, and events that wait for another home. Imports core and storage.
"""

from __future__ import annotations

import os
import re
import shlex
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from urllib.parse import quote

from ltm.core.counting import counted
from ltm.core.errors import LtmError
from ltm.core.model import Problem
from ltm.storage import foreign, spool
from ltm.storage.database import (
    Incompatible,
    discard,
    is_busy,
    is_unwritable,
    migrate,
    naming_damage,
    set_aside,
)
from ltm.storage.durable import is_temporary
from ltm.storage.ledger import FILE as LEDGER
from ltm.storage.ledger import SCHEMA as LEDGER_SCHEMA
from ltm.storage.passagerows import SCHEMA as SESSIONS_SCHEMA
from ltm.storage.places import SESSIONS, STATE
from ltm.storage.state import SCHEMA as STATE_SCHEMA
from ltm.storage.vault import Vault
from ltm.storage.vectorfile import FILE as VECTORS
from ltm.upkeep.finding import Finding

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
# Seconds after which a write outside the vaults, where no lock tells, has surely ended.


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
            if not spool.is_event(path):  # which is for the next drain
                found.append(_leftover(path))
    return found


def modes(home: str, shared: str = "") -> list[Finding]:
    """Files under the home folder that others can reach, and a shared vault others can write."""
    if os.name == "nt":
        return []
    found = []
    theirs = _of_others(home)
    for folder, each in _by_folder(home, _is_reachable):
        paths = [path for path in each if path not in theirs]
        if not paths:
            continue
        what = "can be read or changed by other users of this machine"
        found.append(_mode_finding(folder, paths, what, _OTHERS))
    for folder, paths in _by_folder(shared, _is_writable_by_strangers) if shared else ():
        what = "can be changed by other users of this machine"
        found.append(_mode_finding(folder, paths, what, _WRITERS))
    return found


def databases(vaults: Iterable[Vault], home: str) -> list[Finding]:
    """Damaged SQLite files; an index and vectors are derived and rebuilt, any other is set
    aside. And those that cannot be used or were set aside, which is for a person to mend."""
    derived = {vault.folder for vault in vaults}
    folders = {folder for folder, _, _ in os.walk(home)} | derived
    theirs = _of_others(home)
    found: list[Finding] = []
    for folder in sorted(folders):
        for name in _databases_in(folder):
            path = os.path.join(folder, name)
            if path in theirs:
                continue
            if not name.endswith(".db"):
                found.append(Finding(Problem(path, _SET_ASIDE, ill=False)))
                continue
            damage = _damage(path)
            if not damage:
                if incompatible := _incompatible(path, name):
                    found.append(Finding(Problem(path, incompatible)))
                continue
            if folder in derived and name == "index.db":
                problem = Problem(path, f"the index is damaged: {damage}")
                # Re-indexing is part of every repair, so nothing is left to do here.
                found.append(Finding(problem, lambda: None))
            elif name.endswith(VECTORS):
                problem = Problem(path, f"the file of vectors is damaged: {damage}")
                found.append(Finding(problem, partial(discard, path)))  # rebuilt from the texts
            else:
                problem = Problem(path, f"the database is damaged: {damage}")
                found.append(Finding(problem, partial(set_aside, path)))
    return found


def _of_others(home: str) -> set[str]:
    """The files another tool keeps in the home folder, which are not ours to mend."""
    suffixes = ("", "-wal", "-shm", "-journal")
    found = {f"{path}{suffix}" for path in foreign.databases(home) for suffix in suffixes}
    return found | {os.path.join(home, "config.json")}


def stranded(home: str) -> list[Finding]:
    """Events that wait outside of another home, which could not be written when they came. For
    a home that is gone there is nothing to be done."""
    waiting: dict[str, list[str]] = {}
    for path, whose in spool.for_others(home):
        if os.path.lexists(whose):
            waiting.setdefault(os.path.dirname(path), []).append(whose)
    found: list[Finding] = []
    for folder, homes in waiting.items():
        first, *others = sorted(set(homes))
        more = f" and {counted(len(others), 'other home')}" if others else ""
        message = (
            f"{counted(len(homes), 'event')} kept here for {first}{more} that could not be written"
            f" (once it can: LTM_HOME={shlex.quote(first)} ltm drain; forgotten after"
            f" {spool.DAYS} days)"
        )
        found.append(Finding(Problem(folder, message, ill=False)))
    return found


def _leftover(path: str) -> Finding:
    return Finding(Problem(path, "is left over from an unfinished write"), partial(os.unlink, path))


def _written(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return time.time()


def _by_folder(
    top: str, is_wrong: Callable[[os.stat_result], bool]
) -> Iterator[tuple[str, list[str]]]:
    """The paths in and below a folder whose mode is wrong, by the folder they are in."""
    for folder, _, names in os.walk(top):
        wrong = [
            path
            for path in (folder, *(os.path.join(folder, name) for name in sorted(names)))
            if _has(path, is_wrong)
        ]
        if wrong:
            yield folder, wrong


def _has(path: str, is_wrong: Callable[[os.stat_result], bool]) -> bool:
    try:
        info = os.lstat(path)
    except OSError:
        return False
    return not stat.S_ISLNK(info.st_mode) and is_wrong(info)


def _is_reachable(info: os.stat_result) -> bool:
    return bool(info.st_mode & _OTHERS)


def _is_writable_by_strangers(info: os.stat_result) -> bool:
    if info.st_mode & stat.S_IWOTH:
        return True
    # Many systems give every user a group of their own and let it write: no one else is in it.
    return bool(info.st_mode & stat.S_IWGRP) and not _is_own_group(info)


def _is_own_group(info: os.stat_result) -> bool:
    import grp
    import pwd

    try:
        group, user = grp.getgrgid(info.st_gid), pwd.getpwuid(info.st_uid)
    except KeyError:
        return False
    return group.gr_name == user.pw_name and not set(group.gr_mem) - {user.pw_name}


def _mode_finding(folder: str, paths: list[str], what: str, bits: int) -> Finding:
    if len(paths) == 1:
        problem = Problem(paths[0], what)
    else:
        example = os.path.basename(paths[-1])
        problem = Problem(folder, f"{len(paths)} paths here, such as {example}, {what}")
    return Finding(problem, partial(_close, paths, bits))


def _close(paths: list[str], bits: int) -> None:
    for path in paths:
        os.chmod(path, stat.S_IMODE(os.lstat(path).st_mode) & ~bits)


def _databases_in(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if _DATABASE.search(name))
    except OSError:
        return []


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
                said = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
        finally:
            db.close()
    except sqlite3.Error as error:
        return "" if is_busy(error) or is_unwritable(error) else str(error)
    return "" if said == "ok" else said.splitlines()[-1]
