"""`ltm export`: write memories to a file."""

from __future__ import annotations

import io
import os
import sys

import click

from ltm.cli import output
from ltm.cli.command import Work, command, kind_option, wanted
from ltm.model import now
from ltm.text.display import counted
from ltm.transfer.export import ExportHeader, export, export_file


@command("export")
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
    help="With or without earlier texts from the archive (default: with).",
)
def export_command(
    work: Work,
    file: str | None,
    kinds: tuple[str, ...],
    scope: str | None,
    status: str | None,
    versions: bool,
) -> None:
    """Write all memories to FILE, or to standard output, as JSON.

    \b
    ltm export memories.json
    ltm export memories.json.gz
    ltm export | jq '.memories | length'

    This includes replaced and forgotten memories and all earlier texts, but no keys. A FILE that
    ends in .gz is compressed. `ltm import FILE` restores everything exactly.
    """
    chosen = wanted(work, kinds, (), status=status or "all", scope=scope)
    project = work.places.project
    header = ExportHeader(work.places.agent, project.id, project.name, now())
    if file is None or file == "-":
        text = io.TextIOWrapper(sys.stdout.buffer, "utf-8", newline="\n")
        try:
            export(work.store, text, header, chosen, versions=versions)
            text.flush()
        finally:
            text.detach()
        return
    path = os.path.abspath(file)
    with export_file(path, work.places.home) as out:
        done = export(work.store, out, header, chosen, versions=versions)
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
            f"The earlier texts of {done.without:,} of them are not in it."
            " To include them, leave out --no-versions."
        )
