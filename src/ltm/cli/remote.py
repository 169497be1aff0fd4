"""`ltm remote`: the same memories on all machines of one person, through a git repository."""

from __future__ import annotations

import os
from typing import Any

import click

from ltm.cli import output
from ltm.cli.command import Work, command, group
from ltm.remote import remote
from ltm.remote.contents import load_settings
from ltm.remote.sync import SyncReport, unsent
from ltm.text.display import counted
from ltm.worker.remote_sync import sync_home


@command("remote")
def showing(work: Work) -> None:
    """Keep the same memories on all your machines, through a private git repository of yours.

    \b
    ltm remote add git@github.com:YOU/memories.git   on each machine
    ltm remote now                                   at once
    ltm remote status

    It holds what belongs to you: memories for all projects, and those of projects that are not in
    a repository. Machines are brought together at the beginning and end of sessions, in the
    background; without a network everything works as before, and is caught up on later.

    Memories are stored there as plain text: use a private repository. To encrypt them, install
    git-remote-gcrypt and put gcrypt:: before the address. What you purge goes from all machines
    and from the repository's history; what its server keeps of deleted history is up to the server.
    """
    _status(work)


@command("add")
@click.argument("address")
@click.option("--public", is_flag=True, help="Even if anyone can read that repository.")
def add(work: Work, address: str, public: bool) -> None:
    """Use the private git repository at ADDRESS from now on.

    \b
    ltm remote add git@github.com:YOU/memories.git
    ltm remote add /media/stick/memories.git

    On the first machine it must be empty. Your git must be able to log in there without asking.
    """
    settings = remote.add(work.places.home, address, os.getcwd(), public=public)
    report = sync_home(settings)
    if work.as_json:
        output.emit({"address": settings.address, **_record(report)})
        return
    output.say(f"Memories are kept in step with {settings.address}")
    _tell(report)
    _tell_elsewhere(work)
    for line in remote.warnings(settings.address):
        output.note(line)
    output.note("From now on this happens with each session; at once: ltm remote now")


@command("now")
def now_(work: Work) -> None:
    """Bring this machine and the remote together now, and wait for it."""
    report = sync_home(remote.required(work.places.home))
    if work.as_json:
        output.emit(_record(report))
        return
    _tell(report)


@command("status")
def status(work: Work) -> None:
    """Show the remote, how the last sync went, and what waits."""
    _status(work)


@command("join")
@click.argument("name")
def join(work: Work, name: str) -> None:
    """Say that this folder is the project NAME of another machine.

    \b
    ltm remote join notes

    Needed only for folders without a git remote: all others are recognised. `ltm remote status`
    lists the names.
    """
    home, project = work.places.home, work.places.project
    found = remote.join(home, project, name)
    report = sync_home(remote.required(home))
    if work.as_json:
        output.emit({"name": found.name, "key": found.key, **_record(report)})
        return
    output.say(f"{project.root} is the project {found.name} from now on")
    _tell(report)


@command("remove")
def remove(work: Work) -> None:
    """Stop: nothing is sent or received any more. Memories stay here, and there."""
    address, doomed = remote.remove(work.places.home)
    if work.as_json:
        output.emit({"address": address, "status": "removed", "purged_in_history": doomed})
        return
    output.say(f"No longer kept in step with {address}")
    output.note("Memories stay on this machine, and those in that repository stay there.")
    if doomed:
        output.note(
            f"Its history still has {counted(doomed, 'memory')} that you purged: delete it there."
        )


def _status(work: Work) -> None:
    home = work.places.home
    settings = load_settings(home)
    last = remote.last_sync(home)
    if work.as_json:
        value: dict[str, Any] = {"address": settings.address if settings else ""}
        if settings:
            value |= last._asdict() | {"unsent": unsent(settings)}
            value["elsewhere"] = [
                {"name": each.name, "key": each.key}
                for each in remote.elsewhere(settings, work.places.project.id)
            ]
        output.emit(value)
        return
    if settings is None:
        output.say("There is no remote: memories of this home are on this machine only.")
        output.note("Make an empty private git repository, then type: ltm remote add ADDRESS")
        return
    output.say(f"remote    {settings.address}")
    done = output.since(last.done) if last.done else "never"
    output.say(f"in step   {done}" + ("" if last.error else _figures(last.sent, last.received)))
    output.say(f"to send   {counted(unsent(settings), 'memory')}")
    if last.error:
        output.note(f"The last attempt, {output.since(last.tried)}: {last.error}")
        if last.hint:
            output.note(f"  {last.hint}")
    _tell_waiting(dict(last.held), last.waiting, last.in_history, last.why_in_history)
    _tell_elsewhere(work)


def _record(report: SyncReport) -> dict[str, Any]:
    return {
        "sent": report.sent,
        "received": report.received,
        "purged": list(report.erased),
        "held": report.held,
        "waiting": list(report.waiting),
        "in_history": report.in_history,
    }


def _figures(sent: int, received: int) -> str:
    return f" (sent {counted(sent, 'memory')}, received {received:,})"


def _tell(report: SyncReport) -> None:
    if report.sent or report.received:
        output.say(
            f"  sent {counted(report.sent, 'memory')},"
            f" received {counted(report.received, 'memory')}"
        )
    elif not report.erased:
        output.say("  nothing new on either side")
    if report.erased:
        output.say(f"  purged {counted(len(report.erased), 'memory')}, as on another machine")
    _tell_waiting(report.held, report.waiting, report.in_history, report.why_in_history)


def _tell_waiting(held: dict[str, str], waiting: tuple[str, ...], left: int, why: str) -> None:
    for path, reason in held.items():
        output.note(f"Stays here: {path} {reason}")
    for name in waiting:
        output.note(
            f"{name} says to be a project that your other machines know, but has none of its"
            " commits yet, so its memories wait: type 'git pull' there"
        )
    if left:
        output.note(
            f"The remote's history still has {counted(left, 'memory')} that you purged: {why}."
        )
        output.note("  Allow it to be replaced ('force push'), or delete that repository.")


def _tell_elsewhere(work: Work) -> None:
    found = remote.elsewhere(remote.required(work.places.home), work.places.project.id)
    if not found:
        return
    names = ", ".join(each.name for each in found)
    output.note(f"Projects of your other machines that are not on this one: {names}")
    output.note(
        "  One with a git remote is found when you clone it. If a folder here is one without, type"
        " in that folder: ltm remote join NAME"
    )


remote_command = group(showing, [add, now_, status, join, remove])
