"""An import from beginning to end: look at a source, tell what it is, take it in, report.

Owns which importers read a source. Imports core, storage's places and this package.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime

from ltm.core.errors import Refused
from ltm.core.model import Memory
from ltm.storage import keyfile
from ltm.storage.durable import make_folder
from ltm.storage.githistory import CameAlong
from ltm.storage.lock import Lock
from ltm.storage.places import Places, places
from ltm.storage.store import Store
from ltm.transfer import native, vaultfolder
from ltm.transfer.bring import Bringing, bring, bring_export
from ltm.transfer.importers import claude_ltm
from ltm.transfer.limits import LARGE, USUAL
from ltm.transfer.origin import Origin
from ltm.transfer.report import ImportReport
from ltm.transfer.table import IMPORTERS, Importer, detect, named
from ltm.transfer.targets import Targets
from ltm.transfer.writing import HeldBack, Progress


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What is to be imported, and how."""

    path: str
    """A file or folder, packed or not; `-` is standard input."""
    source: str = ""
    """The tool it comes from, by the importer's name; '' to find out."""
    merge: bool = False
    dry_run: bool = False
    remap_agent: str = ""
    """The agent that gets what belongs to an agent, whichever it was."""
    source_project: str = ""
    """Only what belongs to this project of the source, taken into the current one."""
    large: bool = False
    """Lift the limits that keep bombs out, for a source the person trusts."""
    quarantine: bool = False
    """Let it all wait for a person's approval, for a source they do not trust."""
    consent: bool = False
    """Also take what puts a mass of the memories here out of use."""


def import_memories(
    wish: ImportRequest,
    store: Store,
    where: Places,
    *,
    at: datetime,
    progress: Progress = lambda done, total: None,
) -> ImportReport:
    """Take memories in; what could not be read or kept is in the report's problems."""
    with nullcontext() if wish.dry_run else _alone(where.home):
        return _imported(wish, store, where, at, progress)


def _alone(home: str) -> Lock:
    """One import at a time: two at once would both find that nothing is here yet."""
    make_folder(home)
    return Lock(os.path.join(home, "import.lock"))


def _imported(
    wish: ImportRequest, store: Store, where: Places, at: datetime, progress: Progress
) -> ImportReport:
    report = ImportReport(dry_run=wish.dry_run)
    targets = Targets(
        store,
        where,
        remap_agent=wish.remap_agent,
        source_project=wish.source_project,
        reusing=frozenset(each.name for each in IMPORTERS if each.reuses_ids),
    )
    try:
        with Origin(wish.path, LARGE if wish.large else USUAL) as origin:
            work = Bringing(
                origin,
                targets,
                store.kinds,
                report,
                progress,
                at,
                merge=wish.merge,
                consent=wish.consent,
                is_held_back=_held_back(wish, where),
            )
            if _is_ours(origin, wish.source):
                bring_export(work)
            else:
                for importer in _importers(origin, wish.source):
                    bring(work, importer)
            report.problems[:0] = origin.problems
            report.problems += targets.left_out()
    finally:
        targets.close()
    return report


def _held_back(wish: ImportRequest, where: Places) -> HeldBack:
    """A user who imports vouches for what they name, unless they say otherwise, said so about the
    repository it lies in, or never said anything about it and others put it there. What their own
    key signed is theirs in any case."""
    there = None if wish.path == "-" else places(os.path.abspath(wish.path), where.agent)
    trusted = there.trusted if there is not None else True
    everything = wish.quarantine or trusted is False
    key = keyfile.load(where.home)
    along = CameAlong()

    def is_held_back(memory: Memory, path: str) -> bool:
        doubtful = everything or (trusted is None and along.has(_on_disk(path)))
        return doubtful and (key is None or key.is_doubtful(memory))

    return is_held_back


def _on_disk(shown: str) -> str:
    """The file a shown path means: of what lies in an archive, the archive."""
    archive, mark, _ = shown.partition(": ")
    return archive if mark and not os.path.lexists(shown) else shown


def _is_ours(origin: Origin, source: str) -> bool:
    found = native.finds(origin) or vaultfolder.finds(origin)
    if source.strip().lower() != native.NAME:
        # claude-ltm uses the same folder: what it left there is taken first.
        return not source and found and not claude_ltm.finds(origin)
    if not found:
        raise Refused(
            "is neither an export nor a vault of ltm",
            path=origin.shown(origin.path),
            hint="name the file 'ltm export' wrote, or the folder with 'memories' in it",
        )
    return True


def _importers(origin: Origin, source: str) -> list[Importer]:
    return [named(source)] if source else detect(origin)
