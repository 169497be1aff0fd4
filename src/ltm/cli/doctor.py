"""`ltm doctor`: find problems and repair them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import click

from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.clients.clients import launcher_trouble, new_launcher
from ltm.clients.connections import ClientState, client_health, connections
from ltm.clients.former_tools import former_entries
from ltm.clients.settings import carry_out
from ltm.clients.table import CLIENTS
from ltm.embed.embedder import numpy_fault, standing
from ltm.errors import LtmError
from ltm.model import Problem, now
from ltm.text.display import counted
from ltm.upkeep.doctor import audit, examine, mend
from ltm.worker.steps import SEEN


@command("doctor")
@click.option("--fix", is_flag=True, help="Repair what can be repaired; deletes no text.")
@click.option(
    "--audit", "audited", is_flag=True, help="Also count junk, duplicates, stale, unused, secrets."
)
def doctor_command(work: Work, fix: bool, audited: bool) -> None:
    """Find broken files, dangling links, wrong file modes and a stale index, and say what to do.

    Where a client is set up, this also checks that its sessions get memories. Exit code 1 means
    that something is still wrong.
    """
    report = (mend if fix else examine)(work.store, work.places, work.config)
    found = _connections(work)
    runs_launcher = any(each.hooks and not each.plugin for each in found)
    if fix and runs_launcher and launcher_trouble(work.places.home):
        report = replace(report, problems=(*report.problems, *_new_launcher(work.places.home)))
        found = _connections(work)
    former = (each.problem for each in former_entries(work.places))
    report = replace(report, problems=(*report.problems, *former))
    clients = client_health(work.places, found)
    if clients.connected:
        report = replace(report, problems=(*report.problems, *clients.trouble))
        report = replace(report, healthy=report.healthy and clients.is_sound)
    if audited:
        report = replace(report, audit=audit(work.store, now()))
    if work.as_json:
        output.emit({**report.as_record(), "clients": [each.as_record() for each in found]})
    else:
        for problem in report.problems:
            output.say(output.problem(problem))
        for name, figure in report.audit.items():
            if isinstance(figure, dict):
                output.say(f"{name:10} {figure['count']:5}  {figure['rate']:.1%}")
        for connection in found:
            _tell(connection)
        if report.healthy:
            what = "Everything is" if clients.connected else "The memories are"
            output.say(f"{what} in order.")
        elif not fix and any(problem.ill for problem in report.problems):
            output.note("Repair what can be repaired with: ltm doctor --fix")
        vectors = standing(work.config)
        if vectors.hint:
            output.note(f"Vectors are {vectors.said}. To search by meaning too, type:")
            output.note(f"  {vectors.hint}")
        elif fault := numpy_fault():
            output.note(f"numpy cannot be loaded, so search goes by words only: {fault}")
        if not clients.connected:  # not a fault for those who only use the command line
            more = ":" if clients.trouble else ". To connect those you have: ltm setup"
            output.note(f"No client is connected yet, so sessions get no memories{more}")
            for problem in clients.trouble:
                output.note(f"  {problem.message}")
    if not report.healthy:
        click.get_current_context().exit(1)


def _connections(work: Work) -> list[ClientState]:
    try:
        seen = {client.name: work.log.cursor("", SEEN, client.name) for client in CLIENTS}
    except LtmError:  # what is wrong with it is in the report
        seen = {}
    return connections(work.places, work.config, seen)


def _tell(connection: ClientState) -> None:
    """What a client has of us, in a line, and what is missing in one line each."""
    parts = ["its plugin"] if connection.plugin else []
    parts += ["our server"] if connection.server else []
    parts += [counted(len(connection.hooks), "hook")] if connection.hooks else []
    if not connection.is_entered:
        return output.say(f"{connection.client.title}: {connection.missing[-1]}")
    last = connection.last_event
    if connection.hooks:
        parts.append(f"last event {last[:16].replace('T', ' ')}" if last else "no event seen yet")
    client = connection.client
    output.say(f"{client.title}: {', '.join(parts)}")
    # Its files do not say whether that was done; that nothing was heard of it is the only hint.
    is_noted = client.trust_noted and not connection.plugin
    if connection.hooks and not last and client.trust and not is_noted:
        output.say(f"  before its hooks run: {client.trust}")
    for each in connection.missing if not connection.is_diagnosed else ():
        output.say(f"  {each}")
    return None


def _new_launcher(home: str) -> Iterator[Problem]:
    """Write the program that hooks run; where that cannot be done, its trouble is still there."""
    try:
        change = new_launcher(home)
        if change:
            carry_out(change, home)
            yield Problem(change.path, "hooks could not run it; written again", fixed=True)
    except LtmError:
        return
