"""`ltm uninstall`: take out of this machine what `ltm setup` and `ltm init` put there."""

from __future__ import annotations

import os
import shutil
import sys
from glob import escape as glob_escape
from glob import glob

import click

from ltm.clients.hooks import launcher_path, no_launcher
from ltm.clients.settings import FileChange, carry_out, leaving
from ltm.clients.table import CLIENTS, Client, find, hooks_file, servers_file
from ltm.core.errors import LtmError, Refused, WrongUsage
from ltm.storage.ledger import FILE as LEDGER
from ltm.storage.places import STATE
from ltm.surfaces.cli import output
from ltm.surfaces.cli.setup import as_record, described
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make

# By name, never the folder as a whole: LTM_HOME may have been pointed at anything. Keys stay even
# when memories go: they cannot be made again.
_LOCKS = (".lock", "drain.lock", "import.lock", "llm.lock", "server.lock")
_OURS = (*_LOCKS, "briefs", "told", "hook.log", "hook.log.1", "runtime.json", "setup")
_MEMORIES = ("agents", "config.toml", "foreign.json", "projects", "spool")


@make("uninstall")
@click.option("--client", "name", metavar="NAME", help="Only this client; else all there are.")
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would happen.")
@click.option(
    "--purge-memories", is_flag=True, help="Also delete every memory kept outside repositories."
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask before deleting memories.")
def command(work: Work, name: str | None, dry_run: bool, purge_memories: bool, yes: bool) -> None:
    """Take our hooks, servers and merge settings out again, here and in your own settings.

    A file that is unchanged since `ltm setup` gets every byte back; from any other only our
    entries go. Memories stay, unless you ask otherwise; those in repositories stay in any case.
    """
    if name and purge_memories:
        raise WrongUsage("--purge-memories is for leaving altogether", hint="leave --client out")
    clients = [find(name)] if name else list(CLIENTS)
    changes, troubles = _planned(work, clients)
    launcher = None if name else no_launcher(work.places.home)
    changes += [launcher] if launcher else []
    merge: list[str] = []
    if purge_memories and not dry_run:
        _ask(work.places.home, yes)
    if not dry_run:
        for change in changes:
            carry_out(change, work.places.home)
        if not name:
            from ltm.storage.gitfiles import remove_local

            merge = remove_local(work.places.project.root)
            _clear(work.places.home, _OURS)
            _remove_if_empty(os.path.dirname(launcher_path(work.places.home)))
        if purge_memories:
            _purge(work.places.home)
    if work.as_json:
        output.emit(
            {
                "dry_run": dry_run,
                "changed": [as_record(change) for change in changes],
                "merge_settings": merge,
                "problems": [str(trouble) for trouble in troubles],
                "memories": "deleted" if purge_memories and not dry_run else "kept",
            }
        )
    else:
        _tell(work, changes, merge, dry_run=dry_run, purged=purge_memories)
        for trouble in troubles:
            output.note(f"left as it is: {trouble}")
    if troubles:
        click.get_current_context().exit(1)


def _planned(work: Work, clients: list[Client]) -> tuple[list[FileChange], list[LtmError]]:
    """What to change; a file that cannot be read must not keep us from leaving the others."""
    changes: list[FileChange] = []
    troubles: list[LtmError] = []
    for client in clients:
        for project in ("", work.places.project.root):
            if project and not client.project:
                continue
            for find_file in (hooks_file, servers_file):
                try:
                    file = find_file(client, project, os.environ)
                    change = leaving(file, work.places.home) if file else None
                except Refused as trouble:
                    troubles.append(trouble)
                    continue
                if change is not None:
                    changes.append(change)
    return changes, troubles


def _ask(home: str, yes: bool) -> None:
    count = len(glob(os.path.join(glob_escape(home), "*", "*", "memories", "*.md")))
    output.note(f"All memories in {home} would be deleted, of every project and agent: {count:,}.")
    if not yes:
        try:
            agreed = click.confirm("Delete them for good?", err=True)
        except click.Abort:
            if sys.stdin.isatty():
                raise
            raise WrongUsage("no terminal to confirm", hint="to delete them, add --yes") from None
        if not agreed:
            raise click.Abort


def _clear(home: str, names: tuple[str, ...]) -> None:
    for name in names:
        path = os.path.join(home, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        elif os.path.lexists(path):
            os.unlink(path)


def _purge(home: str) -> None:
    databases = [
        name
        for name in (os.listdir(home) if os.path.isdir(home) else ())
        if name.startswith((STATE, LEDGER))
    ]
    _clear(home, (*_MEMORIES, *databases))
    _remove_if_empty(home)


def _remove_if_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        pass  # it holds what is not ours


def _tell(
    work: Work, changes: list[FileChange], merge: list[str], *, dry_run: bool, purged: bool
) -> None:
    from ltm.clients.plugin import NAME, is_active

    for change in changes:
        output.say("\n".join(described(change, whole=dry_run)))
    for path in merge:
        output.say(f"{path}\n  - merge settings")
    if dry_run:
        output.note("Nothing was written." if changes else "There is nothing to take out.")
    elif purged:
        output.note("Everything was taken out, and the memories outside repositories are gone.")
        left = sorted(os.listdir(work.places.home)) if os.path.isdir(work.places.home) else []
        if left:
            output.note(f"Left in {work.places.home}: {', '.join(left)}")
    else:
        home = work.places.home
        output.note(f"Done. Memories stay in {home} and in repositories you shared them in.")
    if is_active(os.environ, work.places.project.root):
        output.note(f"The plugin is still there; remove it with: claude plugin uninstall {NAME}")
