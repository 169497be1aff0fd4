"""The remote of a home: adding and removing it, and how the last sync with it went."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from ltm.errors import Ambiguous, LtmError, NotFound, Refused
from ltm.files.atomic import failed, read_plain, remove_file, write_file
from ltm.files.lock import Lock
from ltm.model import iso
from ltm.project.identity import Project, record, records
from ltm.record import NamedTuple
from ltm.remote import contents
from ltm.remote.contents import Settings, SharedProject, load_settings
from ltm.remote.repository import (
    BareRepository,
    checked_address,
    host_of,
    is_encrypted,
    open_address,
)
from ltm.remote.sync import LOCK, SyncReport, read_projects, repository_of

_LAST = "last.json"
_FORMER = "former.json"


class LastSync(NamedTuple):
    """How the last attempts went."""

    tried: str = ""
    """When the remote was last asked."""
    done: str = ""
    """When a sync was last finished."""
    error: str = ""
    """Why the last attempt failed; '' when it did not."""
    hint: str = ""
    sent: int = 0
    received: int = 0
    held: Mapping[str, str] = {}
    """Files that stay here, by their path, and why."""
    waiting: tuple[str, ...] = ()
    """Names of projects that wait for a proof of what they say to be."""
    in_history: int = 0
    """Purged memories that are still in the remote's history."""
    why_in_history: str = ""


def add(home: str, address: str, here: str, *, public: bool = False) -> Settings:
    """Make a repository the remote of a home, after looking at it; nothing is sent yet.

    With `public` also one that anyone can read.
    """
    address = checked_address(address, here)
    there = load_settings(home)
    if there is not None and there.address != address:
        raise Refused(
            f"there is a remote already: {there.address}",
            hint="to use another one, type 'ltm remote remove' first",
        )
    settings = there or _former(home, address)
    is_new = not os.path.isdir(repository_of(settings).path)
    try:
        repository = repository_of(settings)
        repository.prepare()
        _refuse_public(repository, public)
        _refuse_other(repository)
        settings.save()
    except LtmError:
        if is_new:
            shutil.rmtree(repository_of(settings).path, ignore_errors=True)
            with suppress(OSError):  # it may hold what was there before
                os.rmdir(settings.folder)
        raise
    return settings


def _former(home: str, address: str) -> Settings:
    """Settings for an address; a machine that had a remote before is still the same machine."""
    try:
        data = read_plain(os.path.join(home, contents.FOLDER, _FORMER), follow=False)
    except OSError:
        return Settings(home, address, os.urandom(8).hex())
    former = contents.settings_in(home, data)
    machine = former.machine or os.urandom(8).hex()
    return Settings(home, address, machine, former.keys, former.joined)


def _refuse_public(repository: BareRepository, public: bool) -> None:
    anyone = open_address(repository.address)
    if anyone and not public and repository.is_public(anyone):
        raise Refused(
            "anyone can read this repository, and memories are private",
            path=repository.address,
            hint="make it private; if no one but you can reach that server, add --public",
        )


def _refuse_other(repository: BareRepository) -> None:
    """Refuse a repository that holds something else."""
    if repository.branches():
        remote = repository.fetch()
        tree = repository.tree(remote)
        if contents.MARK not in tree:
            raise Refused(
                "this repository holds something else, so it is not used",
                path=repository.address,
                hint="make an empty private one for your memories, without a README",
            )


def remove(home: str) -> tuple[str, int]:
    """Remove the remote of a home; what is on the remote stays there.

    The address it had, and how many purged memories are still in the remote's history.
    """
    settings = _settings(home)
    doomed = len(contents.purged_here(home))
    with Lock(os.path.join(settings.folder, LOCK)):
        path = os.path.join(settings.folder, contents.SETTINGS)
        try:
            os.replace(path, os.path.join(settings.folder, _FORMER))
        except OSError as error:
            raise failed(error, "put aside the settings", path) from error
        shutil.rmtree(repository_of(settings).path, ignore_errors=True)
        for name in (_LAST, contents.DUE, contents.PURGED):
            remove_file(os.path.join(settings.folder, name))
    return settings.address, doomed


def join(home: str, project: Project, name: str) -> SharedProject:
    """Make a folder's project the one that another machine knows by this name or key."""
    settings = _settings(home)
    record(project, home)
    with Lock(os.path.join(settings.folder, LOCK)):
        found = _choose(_elsewhere(settings, project.id), name)
        ids = {key: project_id for project_id, key in settings.keys.items()}
        orphan, former = ids.get(found.key, ""), settings.keys.get(project.id, "")
        if former and former != found.key:
            settings.joined[former] = found.key
        if orphan:
            contents.take_over(settings, orphan, project.id, found.key)
        settings.keys[project.id] = found.key
        settings.save()
    return found


def elsewhere(settings: Settings, project_id: str = "") -> list[SharedProject]:
    """The projects of the remote of which this machine has no folder, by their names.

    The one that is open has one, whether anything was kept in it or not.
    """
    return sorted(
        _elsewhere(settings, project_id), key=lambda each: (each.name.casefold(), each.key)
    )


def _elsewhere(settings: Settings, project_id: str) -> list[SharedProject]:
    ids = {key: each for each, key in settings.keys.items()}
    folders = {each.id: each.folders for each in records(settings.home)}
    return [
        each
        for each in read_projects(settings).values()
        if not each.same_as
        and ids.get(each.key) != project_id
        and not folders.get(ids.get(each.key, ""))
    ]


def _choose(projects: list[SharedProject], name: str) -> SharedProject:
    found = [each for each in projects if each.key == name] or [
        each for each in projects if each.name == name
    ]
    if len(found) == 1:
        return found[0]
    if found:
        keys = ", ".join(each.key for each in found)
        raise Ambiguous(f"'{name}' fits several projects: {keys}", hint="type one of these")
    names = ", ".join(sorted(each.name for each in projects)) or "none"
    raise NotFound(
        f"there is no project '{name}' that only your other machines have",
        hint=f"there are: {names}; see 'ltm remote status'",
    )


def _settings(home: str) -> Settings:
    settings = load_settings(home)
    if settings is None:
        raise NotFound(
            "there is no remote yet",
            hint="make an empty private git repository, then type: ltm remote add ADDRESS",
        )
    return settings


def required(home: str) -> Settings:
    return _settings(home)


# -- how it went -----------------------------------------------------------------------------------


def last_sync(home: str) -> LastSync:
    try:
        found = json.loads(read_plain(_path(home, _LAST), follow=False))
    except (OSError, ValueError):
        return LastSync()
    if not isinstance(found, dict):
        return LastSync()
    known = {name: found[name] for name in LastSync._fields if name in found}
    return LastSync(**{**known, "waiting": tuple(known.get("waiting", ()))})


def figures(home: str) -> dict[str, str]:
    """Where the remote of a home is and how it went, for people; empty when there is none."""
    if not contents.is_set_up(home):
        return {}
    try:
        address = _settings(home).address
    except LtmError as error:
        return {"address": "", "done": "", "error": str(error)}
    last = last_sync(home)
    return {"address": address, "done": last.done, "error": last.error}


def note_done(home: str, report: SyncReport, at: datetime) -> None:
    """Note a sync that was finished."""
    moment = iso(at)
    _note(
        home,
        LastSync(
            moment,
            moment,
            "",
            "",
            report.sent,
            report.received,
            report.held,
            report.waiting,
            report.in_history,
            report.why_in_history,
        ),
    )


def note_failed(home: str, error: LtmError, at: datetime) -> None:
    """Note an attempt that failed, next to what is known of the last that did not."""
    former = last_sync(home)
    _note(home, former._replace(tried=iso(at), error=str(error), hint=error.hint))


def _note(home: str, last: LastSync) -> None:
    value: dict[str, Any] = last._asdict()
    write_file(_path(home, _LAST), (json.dumps(value, indent=2) + "\n").encode())


def _path(home: str, name: str) -> str:
    return os.path.join(home, contents.FOLDER, name)


def warnings(address: str) -> list[str]:
    """What a person should know about an address."""
    host = host_of(address)
    if is_encrypted(address):
        return []
    if host:
        return [
            f"Those who run {host} can read your memories: the repository must be private"
            " (to encrypt them: ltm help remote)."
        ]
    return []
