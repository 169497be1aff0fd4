"""`ltm import`: an export, or the memories of another tool."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.clients.former_tools import former_entries
from ltm.errors import NotFound, Refused
from ltm.files.atomic import is_inside
from ltm.model import now
from ltm.store.other_tools import answer, foreign
from ltm.text.display import counted
from ltm.transfer.export import NAME
from ltm.transfer.import_ import ImportReport, ImportRequest, import_memories
from ltm.transfer.importer import NAMES


@command("import")
@click.argument("path", type=click.Path())
@click.option(
    "--from",
    "source",
    default="",
    metavar="NAME",
    help=f"The tool it comes from; detected if not given: {', '.join(NAMES)}.",
)
@click.option("--merge", is_flag=True, help="Update memories here that are newer there.")
@click.option("--dry-run", "-n", is_flag=True, help="Only show what would happen.")
@click.option(
    "--remap-agent",
    default="",
    metavar="NAME",
    help="Import the memories of an agent for this one.",
)
@click.option(
    "--source-project",
    default="",
    metavar="NAME",
    help="Only the memories of this project of the source.",
)
@click.option("--large", is_flag=True, help="Read more than 100 MB or 100,000 entries.")
@click.option("--quarantine", is_flag=True, help="Import, but wait for 'ltm approve'.")
@click.option(
    "--yes", "-y", "consent", is_flag=True, help="Even if it puts very many memories out of use."
)
@click.option("--ignore", is_flag=True, help="Import nothing, and do not offer it again.")
def import_command(work: Work, path: str, ignore: bool, dry_run: bool, **options: Any) -> None:
    """Import memories from PATH: an export of ltm, or the files of another memory tool.

    \b
    ltm import memories.json --dry-run
    ltm import memories.json --merge
    ltm import ~/.claude-mem --from claude-mem

    PATH is a file, a folder or a project, also packed as zip, tar or gz; `-` reads standard input.
    Sources are never changed. Memories that are here already are skipped, so an import can be
    repeated or continued.
    """
    top = os.path.expanduser(path)
    offered = [each for each in foreign(work.places) if is_inside(each.path, top)]
    if ignore:
        if not offered:
            raise NotFound("nothing there is offered for import", path=path, hint="see: ltm status")
        answer(work.places.home, offered, ignored=True)
        if work.as_json:
            output.emit({"ignored": [each.path for each in offered]})
        for each in () if work.as_json else offered:
            output.say(f"{each.path} is not offered again.")
        return
    with _bar() as progress, _offering(work, top):
        report = import_memories(
            ImportRequest(path, dry_run=dry_run, **options),
            work.store,
            work.places,
            at=now(),
            progress=progress,
        )
    if not dry_run and (report.added or report.updated or report.skipped):
        answer(work.places.home, offered)
    if work.as_json:
        output.emit(report.as_record())
    else:
        _show(report)
        for entry in former_entries(work.places):
            if entry.tool.name in report.sources:
                output.note(output.problem(entry.problem))
    if report.problems and not (report.added or report.updated or report.skipped):
        click.get_current_context().exit(1)


@contextmanager
def _offering(work: Work, folder: str) -> Iterator[None]:
    """Where there is nothing in a folder that was named, name the place where there is."""
    try:
        yield
    except Refused as refused:
        offered = [each for each in foreign(work.places) if each.is_new]
        if not offered or not os.path.isdir(folder):
            raise
        hint = f"memories of another tool are elsewhere: {offered[0].remedy}"
        raise Refused(refused.message, path=refused.path, line=refused.line, hint=hint) from None


def _show(report: ImportReport) -> None:
    would = "Would import" if report.dry_run else "Imported"
    output.say(
        f"{would} from {', '.join(report.sources)}: {report.added} added,"
        f" {report.updated} updated, {report.skipped} known already"
    )
    for (source, word, kind), count in sorted(report.mapped.items()):
        if source != NAME:
            became = f"{word} → {kind}" if word not in ("", kind) else kind
            output.say(f"  {source}: {became}: {count}")
    for whose, count in sorted(report.elsewhere.items()):
        output.say(f"  kept for {whose}: {count}")
    for name, value in report.options.items():
        output.say(f"  option {name} = {value}, as you had it there")
    if report.quarantined:
        output.note(f"{counted(report.quarantined, 'memory')} to be approved by you: ltm approve")
    if report.conflicts:
        which = "disagrees" if report.conflicts == 1 else "disagree"
        output.note(
            f"{counted(report.conflicts, 'memory')} {which} with what was here; both are kept."
            " See ltm doctor, and ltm settle to end it."
        )
    if report.redacted:
        output.note(f"A secret was taken out of {counted(report.redacted, 'memory')}.")
    for problem in report.problems:
        output.note(output.problem(problem))


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    """A progress bar at a terminal, one for each source that is read."""
    bar: Any = None

    def advance(done: int, total: int) -> None:
        nonlocal bar
        if not sys.stderr.isatty():
            return
        if bar is None:
            bar = click.progressbar(length=total, label="Importing", file=sys.stderr)
        bar.update(done - bar.pos)
        if done >= total:
            bar.render_finish()
            bar = None

    try:
        yield advance
    finally:
        if bar is not None:
            bar.render_finish()
