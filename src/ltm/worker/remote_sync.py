"""Sync a home with its remote: after sessions in the background, or because a person asked.

`ltm drain` does it last, in its own process and under a lock of its own: no hook, no server and no
event waits for a network.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from ltm.config.config import load
from ltm.embed.update import embed_new
from ltm.errors import Busy, LtmError
from ltm.files.lock import PATIENCE
from ltm.hook.answer import compose_brief
from ltm.index.index import Index
from ltm.project.identity import known
from ltm.remote import remote
from ltm.remote.contents import Settings, clear_due, is_due, vaults_here
from ltm.remote.sync import SyncReport, sync
from ltm.spool import hook_log
from ltm.store.open import vaults_of
from ltm.store.project import OpenProject
from ltm.upkeep.purge import purge_in_vaults


def sync_due(home: str, environ: Mapping[str, str] = os.environ) -> None:
    """Sync if a session began or ended since the last time. Never raises."""
    while is_due(home):
        try:
            settings = remote.required(home)
            clear_due(home)
            sync_home(settings, environ, patience=0.2)
        except Busy:
            return  # the one who is at it looks once more
        except (OSError, sqlite3.Error, LtmError) as error:
            hook_log.note(home, "remote", error)
            return


def sync_home(
    settings: Settings, environ: Mapping[str, str] = os.environ, *, patience: float = PATIENCE
) -> SyncReport:
    """Sync a home, note how it went, and let the next session know what came."""
    home = settings.home
    try:
        report = sync(settings, purge_in_vaults, patience=patience)
    except Busy:
        raise
    except LtmError as error:
        remote.note_failed(home, error, datetime.now(UTC))
        raise
    remote.note_done(home, report, datetime.now(UTC))
    if report.vaults:
        _refresh(settings, report.vaults, {**environ, "LTM_HOME": home})
    return report


def _refresh(settings: Settings, changed: Collection[str], environ: Mapping[str, str]) -> None:
    """Bring up to date what hooks read: indexes, and the texts for the next sessions."""
    home = settings.home
    try:
        for _, vault in vaults_here(settings):
            if vault.folder in changed and vault.exists():
                index = Index(vault, load(home).kinds)
                index.refresh()
                index.close()
        for project in known(home):
            with OpenProject(project.root, environ=environ) as opened:
                if any(vault.folder in changed for vault in vaults_of(opened.places)):
                    compose_brief(opened, project.root, environ)
                    embed_new(opened, environ)
    except (OSError, sqlite3.Error, LtmError) as error:
        hook_log.note(home, "remote, refresh", error)
