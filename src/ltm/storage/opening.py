"""From places and options to a store: the one spot that knows which backend is meant."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ltm.core.errors import NotFound
from ltm.core.model import Scope
from ltm.storage import keyfile
from ltm.storage.durable import sweep
from ltm.storage.filestore import FileStore
from ltm.storage.project import record
from ltm.storage.state import State
from ltm.storage.trust import ASIDE
from ltm.storage.vault import Vault

if TYPE_CHECKING:
    from ltm.storage.config import Config
    from ltm.storage.places import Places
    from ltm.storage.store import Store

BUILT_IN = "files"


def open_store(places: Places, config: Config) -> Store:
    """The store of a project and agent, on the backend the user's config names.

    A backend of another package is a callable `(places, config) -> Store`, offered in the entry
    point group `ltm.stores` and chosen with `ltm config store NAME`.
    """
    name = config.get("store")
    if name != BUILT_IN:
        from ltm.storage.config import FILE
        from ltm.storage.extensions import named

        try:
            open_named = named("ltm.stores", name)
        except NotFound as error:
            # Not the built-in one in its place: what is kept there would be missed in the other.
            hint = f"install it, or type: ltm config store {BUILT_IN} ({error.hint})"
            path = os.path.join(places.home, FILE)
            raise NotFound(error.message, path=path, hint=hint) from error
        store: Store = open_named(places, config)
        return store
    return open_files(places, config)


def vaults_of(places: Places) -> tuple[Vault, ...]:
    """The vaults a project and agent see; new memories of the project go to the first.

    A project's memories go where the team sees them once a person ran `ltm init` there or said
    that they trust it, and stay private until then; both are read, so that nothing disappears at
    the moment of the change. A vault that is not trusted yet comes last.
    """
    private = Vault("private", places.private)
    agent = Vault("agent", places.agent_folder)
    if places.shares:
        return Vault("shared", places.shared, shared=True), private, agent
    if places.shared_exists:
        return private, agent, _untrusted(places)
    return private, agent


def _untrusted(places: Places) -> Vault:
    from binascii import crc32

    # Each checkout of the project may bring along something else.
    name = f"{ASIDE}{crc32(os.fsencode(places.shared)):08x}"
    aside = os.path.join(places.private, name)
    return Vault("shared", places.shared, shared=True, aside=aside)


def open_files(places: Places, config: Config, *, readonly: bool = False) -> FileStore:
    """The file-backed store of a project and agent; `readonly` is for a hook, which only looks."""
    vaults = vaults_of(places)
    if not readonly:
        sweep(places.home)  # what a killed command left of the settings next to the vaults
    agent = next(vault for vault in vaults if vault.name == "agent")
    return FileStore(
        vaults,
        {Scope.PROJECT: vaults[0], Scope.AGENT: agent},
        State(places.state_db, readonly=readonly),
        config.kinds,
        project=places.project.id,
        introduce=lambda: record(places.project, places.home),
        readonly=readonly,
        key=keyfile.load(places.home),
    )
