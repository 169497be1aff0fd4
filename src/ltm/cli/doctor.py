"""`ltm doctor`: find problems and repair them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import click

from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.clients.clients import new_launcher
from ltm.clients.diagnose import is_entered, launcher_trouble, why_not_working
from ltm.clients.settings import carry_out
from ltm.embed.embedder import standing
from ltm.errors import LtmError
from ltm.model import Problem, now
from ltm.upkeep.doctor import audit, examine, mend


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
    if fix and launcher_trouble(work.places):
        report = replace(report, problems=(*report.problems, *_new_launcher(work.places.home)))
    trouble = tuple(why_not_working(work.places))
    if is_entered(work.places):
        healthy = report.healthy and not trouble
        report = replace(report, problems=(*report.problems, *trouble), healthy=healthy)
        trouble = ()
    if audited:
        report = replace(report, audit=audit(work.store, now()))
    if work.as_json:
        output.emit(report.as_record())
    else:
        for problem in report.problems:
            output.say(output.problem(problem))
        for name, figure in report.audit.items():
            if isinstance(figure, dict):
                output.say(f"{name:10} {figure['count']:5}  {figure['rate']:.1%}")
        if report.healthy:
            output.say("The memories are in order." if trouble else "Everything is in order.")
        elif not fix:
            output.note("Repair what can be repaired with: ltm doctor --fix")
        vectors = standing(work.config)
        if vectors.hint:
            output.note(f"Vectors are {vectors.said}. To search by meaning too, type:")
            output.note(f"  {vectors.hint}")
        if trouble:  # not a fault for those who only use the command line
            output.note("No client is connected yet, so sessions get no memories:")
        for problem in trouble:
            output.note(f"  {problem.message}")
    if not report.healthy:
        click.get_current_context().exit(1)


def _new_launcher(home: str) -> Iterator[Problem]:
    """Write the program that hooks run; where that cannot be done, its trouble is still there."""
    try:
        change = new_launcher(home)
        if change:
            carry_out(change, home)
            yield Problem(change.path, "hooks could not run it; written again", fixed=True)
    except LtmError:
        return
