"""Open the configured store; what goes with it: vaults, moving memories, refused writes.

`move_all` never has fewer than one copy of a memory: a file is on the disk in its new place before
it leaves the old one, so a crash leaves at most a copy, and running it again finishes the move.
"""

from __future__ import annotations

import os
import sqlite3
from binascii import crc32
from collections.abc import Collection
from contextlib import ExitStack

from ltm.errors import BadFile, Busy, LtmError, NotFound, StorageFailed
from ltm.files.atomic import failed, is_refusal, make_folder, remove_file, sweep, write_file
from ltm.files.lock import ADVICE
from ltm.files.sqlite import is_busy, is_unwritable
from ltm.model import Scope, Trust
from ltm.project.home import home
from ltm.project.identity import record
from ltm.project.layout import ASIDE
from ltm.state.usage import State
from ltm.store.file_store import FileStore
from ltm.vault import key_file
from ltm.vault.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ltm.config.config import Config
    from ltm.project.layout import Places
    from ltm.store.store import Store


BUILT_IN = "files"

HOLDS = {
    "tools": (Trust.TOOL,),
    "agent": (Trust.TOOL, Trust.ASSISTANT),
    "all": (Trust.TOOL, Trust.ASSISTANT, Trust.USER),
}
"""Whose words wait for approval, by the value of the option `trust.hold`."""


def open_store(
    places: Places, config: Config, *, state: State | None = None, answers_first: bool = False
) -> Store:
    """The store of a project and agent, on the backend the user's config names.

    A backend of another package is a callable `(places, config) -> Store`, offered in the entry
    point group `ltm.stores` and chosen with `ltm config store NAME`.
    """
    name = config.get("store")
    if name != BUILT_IN:
        from ltm.config.config import CONFIG_FILE
        from ltm.config.options import extension

        try:
            open_named = extension("ltm.stores", name)
        except NotFound as error:
            # Not the built-in one in its place: what is kept there would be missed in the other.
            hint = f"install it, or type: ltm config store {BUILT_IN} ({error.hint})"
            path = os.path.join(places.home, CONFIG_FILE)
            raise NotFound(error.message, path=path, hint=hint) from error
        store: Store = open_named(places, config)
    else:
        store = open_files(places, config, state=state, answers_first=answers_first)
    store.hold = HOLDS[config.get("trust.hold")]
    return store


def vaults_of(places: Places) -> tuple[Vault, ...]:
    """The vaults a project and agent see; new memories of the project go to the first.

    A project's memories go where the team sees them once a person ran `ltm init` there or said
    that they trust it, and stay private until then; both are read, so that nothing disappears at
    the moment of the change. What an import brought for this agent alone is in a vault of its own.
    A vault that is not trusted yet comes last.
    """
    private = Vault("private", places.private)
    own = (Vault("own", places.own),) if os.path.isdir(places.own) else ()
    agent = Vault("agent", places.agent_folder)
    if places.shares:
        return Vault("shared", places.shared, shared=True), private, *own, agent
    if places.shared_exists:
        return private, *own, agent, _untrusted(places)
    return private, *own, agent


def teams_of(places: Places) -> tuple[Vault, ...]:
    """The replicas of the teams whose memories are told and found in a project: only looked at, and
    changed by way of the team alone."""
    return tuple(Vault(f"team:{each.name}", each.folder) for each in places.teams if each.trusted)


def _untrusted(places: Places) -> Vault:
    # Each checkout of the project may bring along something else.
    name = f"{ASIDE}{crc32(os.fsencode(places.shared)):08x}"
    aside = os.path.join(places.private, name)
    return Vault("shared", places.shared, shared=True, aside=aside)


def open_files(
    places: Places,
    config: Config,
    *,
    readonly: bool = False,
    state: State | None = None,
    own: bool = False,
    answers_first: bool = False,
) -> FileStore:
    """The file-backed store of a project and agent; `readonly` is for a hook, which only looks.

    `state` is the state database, where it is open already. With `own`, new memories of the project
    are for this agent alone. `answers_first` says that `finish` is called after each answer.
    """
    if own:
        make_folder(places.own)
    vaults = vaults_of(places)
    project = next((vault for vault in vaults if own and vault.name == "own"), vaults[0])
    if not readonly:
        sweep(places.home)  # what a killed command left of the settings next to the vaults
    agent = next(vault for vault in vaults if vault.name == "agent")
    return FileStore(
        vaults,
        {Scope.PROJECT: project, Scope.AGENT: agent},
        state or State(places.state_db, readonly=readonly),
        config.kinds,
        project=places.project.id,
        introduce=lambda: record(places.project, places.home),
        readonly=readonly,
        key=key_file.load(places.home, places.agent),
        teams=teams_of(places),
        answers_first=answers_first,
    )


def move_all(
    source: Vault, target: Vault, kept: Collection[str] = ()
) -> tuple[list[str], list[str]]:
    """Move every memory and kept version but the `kept` ones; the names moved, and the names that
    had to stay."""
    moved: list[str] = []
    stayed: list[str] = []
    if not source.exists():
        return moved, stayed
    target.prepare()
    with ExitStack() as stack:
        for vault in sorted((source, target), key=lambda each: each.folder):
            stack.enter_context(vault.lock)
        for name in sorted(set(source.names()).difference(kept)):
            try:
                data = source.read(name)
                if os.path.lexists(target.path(name)) and target.read(name) != data:
                    stayed.append(name)
                    continue
            except BadFile:
                stayed.append(name)
                continue
            target.write(name, data)
            remove_file(source.path(name))
            moved.append(name)
        _move_archives(source, target, [*stayed, *kept])
    return moved, stayed


def _move_archives(source: Vault, target: Vault, stayed: list[str]) -> None:
    try:
        names = sorted(os.listdir(source.archives))
    except OSError:
        return
    make_folder(target.archives, target.folder_mode)
    for name in names:
        old, new = os.path.join(source.archives, name), os.path.join(target.archives, name)
        if not name.endswith(".md") or any(name.split(".v")[0] in each for each in stayed):
            continue  # what belongs to a memory that stayed stays with it
        if not os.path.lexists(new):
            data = source.read_archive(old)
            write_file(new, data, mode=target.file_mode, staging=target.folder)
        remove_file(old)


def as_refusal(error: Exception) -> LtmError | None:
    """The error to show for one with which the system refused; None for another."""
    if isinstance(error, OSError) and is_refusal(error):
        path = error.filename if isinstance(error.filename, str) else home()
        return failed(error, "finish", path)
    if isinstance(error, sqlite3.Error) and is_busy(error):
        return Busy("another process is at work on its databases", path=home(), hint=ADVICE)
    if isinstance(error, sqlite3.Error) and is_unwritable(error):
        hint = "check the disk and the room on it, then run the same command again"
        return StorageFailed(f"could not write its databases: {error}", path=home(), hint=hint)
    return None
