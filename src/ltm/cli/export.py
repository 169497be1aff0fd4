"""`ltm export`: write memories to a file that can be imported anywhere."""

from __future__ import annotations

import io
import os
import sys

import click

from ltm.cli import output
from ltm.cli.command import Work, kind_option
from ltm.cli.command import command as make
from ltm.model import Filter, Scope, Status, choice, now
from ltm.text.display import counted
from ltm.transfer.export import ExportHeader, export, export_file


@make("export")
@click.argument("file", required=False, type=click.Path())
@kind_option
@click.option("--scope", metavar="SCOPE", help="Only this scope: project or agent.")
@click.option(
    "--status",
    metavar="STATUS",
    help="active, superseded, forgotten, quarantined or all (default).",
)
@click.option(
    "--versions/--no-versions",
    default=True,
    help="With or without the texts they had before, from the archive (default: with).",
)
def command(
    work: Work,
    file: str | None,
    kinds: tuple[str, ...],
    scope: str | None,
    status: str | None,
    versions: bool,
) -> None:
    """Write every field of every memory to FILE as JSON, or to standard output.

    \b
    ltm export memories.json
    ltm export memories.json.gz
    ltm export | jq '.memories | length'

    Superseded and forgotten ones are among them, and every text they had before; keys never are. A
    FILE that ends in .gz is packed. `ltm import FILE` brings all of it back, exactly.
    """
    wanted = Filter(
        kinds=tuple(work.config.kinds.parse(kind).name for kind in kinds),
        statuses=() if not status or status.lower() == "all" else (choice(Status, status),),
        scopes=(choice(Scope, scope),) if scope else (),
    )
    project = work.places.project
    header = ExportHeader(work.places.agent, project.id, project.name, now())
    if file is None or file == "-":
        text = io.TextIOWrapper(sys.stdout.buffer, "utf-8", newline="\n")
        try:
            export(work.store, text, header, wanted, versions=versions)
            text.flush()
        finally:
            text.detach()
        return
    path = os.path.abspath(file)
    with export_file(path, work.places.home) as out:
        done = export(work.store, out, header, wanted, versions=versions)
    if work.as_json:
        output.emit(
            {
                "memories": done.memories,
                "versions": done.versions,
                "path": path,
                "bytes": os.path.getsize(path),
                "agent": header.agent,
                "project": project.name,
            }
        )
        return
    output.say(f"Wrote {counted(done.memories, 'memory')} to {path}")
    if done.without:
        output.note(
            f"Not in it: the texts that {done.without:,} of them had before being changed,"
            " shortened or forgotten. Leave out --no-versions to take those along."
        )
