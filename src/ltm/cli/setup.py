"""`ltm setup` and `ltm uninstall`: register ltm in the settings of clients, and remove it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from glob import escape as glob_escape
from glob import glob

import click

from ltm import __version__
from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.clients.clients import (
    CLAUDE_CODE,
    CLIENTS,
    Client,
    find,
    hook_entries,
    hooks_file,
    launcher_path,
    new_launcher,
    no_launcher,
    server_entry,
    servers_file,
)
from ltm.clients.diagnose import older_hooks
from ltm.clients.settings import FileChange, SettingsEntry, carry_out, entering, leaving
from ltm.clients.wire import PLUGIN, is_plugin_active
from ltm.errors import LtmError, Refused, WrongUsage
from ltm.files.atomic import is_inside, make_folder
from ltm.project.layout import STATE
from ltm.spool.hook_log import note_runtime
from ltm.state.corrections import FILE as LEDGER
from ltm.store.share import remove_local, this_command


@command("setup")
@click.option(
    "--client",
    "name",
    default=CLAUDE_CODE.name,
    show_default=True,
    metavar="NAME",
    help=f"One of: {', '.join(client.name for client in CLIENTS)}.",
)
@click.option(
    "--user/--project-scope",
    "for_user",
    default=True,
    help="In your own settings (default), or in this project's, for everyone who uses it.",
)
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would happen.")
def setup_command(work: Work, name: str, for_user: bool, dry_run: bool) -> None:
    """Register the hooks and the MCP server in a client's settings, and change nothing else there.

    \b
    ltm setup
    ltm setup --dry-run
    ltm setup --client cursor

    Claude Code gets both; other clients get the server. Run it again after an update, or when you
    switch on an option that needs another hook (hooks.tools, recall.per_prompt, inject.subagents).
    `ltm uninstall` restores the settings.
    """
    client = find(name)
    root = work.places.project.root
    plugin = client is CLAUDE_CODE and is_plugin_active(os.environ, root)
    # All is planned before anything is written: a file that cannot be read stops it all.
    changes = _planned(work, client, "" if for_user else root, plugin=plugin)
    if not dry_run:
        for change in changes:
            carry_out(change, work.places.home)
        # Hooks need to know which Python can do what they leave for later.
        make_folder(work.places.home)
        note_runtime(work.places.home, __version__, work.config.own("hooks.save_interval"))
    if work.as_json:
        output.emit(
            {
                "client": client.name,
                "plugin": plugin,
                "dry_run": dry_run,
                "changed": [as_record(change) for change in changes],
            }
        )
        return
    if plugin:
        output.note(f"The plugin is active in {client.title} and has what it needs.")
    for change in changes:
        output.say("\n".join(described(change, whole=dry_run)))
    if dry_run:
        output.note("Nothing was written." if changes else "Nothing would change.")
    elif changes:
        output.note(f"{client.title} is set up. It works from the next session on.")
    elif not plugin:
        output.note(f"{client.title} was already set up.")
    if client is CLAUDE_CODE and not dry_run:
        for problem in older_hooks(work.places):
            output.note(f"{problem.path}: {problem.message}")


def described(change: FileChange, *, whole: bool) -> list[str]:
    """What happens to a file, entry by entry; `whole` shows the entries before they are written."""

    def shown(entry: SettingsEntry) -> str:
        return str(entry) if whole else ".".join(entry.steps)

    lines = [change.path]
    if not change.added and not change.removed:
        lines.append(f"  {'-' if change.after is None else '+'} the program that hooks run")
    lines += [f"  - {shown(entry)}" for entry in change.removed if entry not in change.added]
    lines += [f"  + {shown(entry)}" for entry in change.added if entry not in change.removed]
    return lines


def as_record(change: FileChange) -> dict[str, object]:
    """The same for scripts."""
    return {
        "path": change.path,
        "new": change.before is None,
        "deleted": change.after is None,
        "added": [str(entry) for entry in change.added],
        "removed": [str(entry) for entry in change.removed],
    }


def _planned(work: Work, client: Client, project: str, *, plugin: bool) -> Sequence[FileChange]:
    shared = bool(project)
    home = work.places.home
    planned: list[FileChange | None] = []
    hooks = hooks_file(client, project, os.environ)
    servers = servers_file(client, project, os.environ)
    for file in filter(None, (hooks, servers)):
        # A clone can bring a link to a file of the person's own, which is not the project's.
        if project and not is_inside(file.path, project):
            raise Refused(
                f"leads out of the project, to {os.path.realpath(file.path)}, so nothing was"
                " written",
                path=file.path,
                hint="replace the link with a file, or use your own settings: ltm setup",
            )
    if hooks is not None:
        entries = hook_entries(work.config, home, plugin=plugin, shared=shared)
        if entries and os.name != "nt":
            planned.append(new_launcher(home))
        planned.append(entering(hooks, entries, home))
    # A path of this machine would be wrong for everyone else who reads a project's settings.
    words = ("ltm", "mcp") if shared else (*this_command(), "mcp")
    planned.append(entering(servers, [] if plugin else [server_entry(client, words)], home))
    return [change for change in planned if change is not None]


# By name, never the folder as a whole: LTM_HOME may have been pointed at anything. Keys stay even
# when memories go: they cannot be made again.
_LOCKS = (".lock", "drain.lock", "import.lock", "llm.lock", "server.lock")
_OURS = (*_LOCKS, "briefs", "told", "hook.log", "hook.log.1", "runtime.json", "setup")
_DATABASES = (STATE, LEDGER)
_MEMORIES = ("agents", "config.toml", "foreign.json", "projects", "spool")


@command("uninstall")
@click.option("--client", "name", metavar="NAME", help="Only this client, instead of all.")
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would happen.")
@click.option(
    "--purge-memories", is_flag=True, help="Also delete every memory kept outside repositories."
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask before deleting memories.")
def uninstall_command(
    work: Work, name: str | None, dry_run: bool, purge_memories: bool, yes: bool
) -> None:
    """Remove the hooks, servers and merge settings of ltm, from this project and your settings.

    A file that has not changed since `ltm setup` is restored byte for byte; from any other only
    the entries of ltm are removed. Memories stay unless you give --purge-memories; those in
    repositories always stay.
    """
    if name and purge_memories:
        raise WrongUsage("--purge-memories goes without --client", hint="leave --client out")
    clients = [find(name)] if name else list(CLIENTS)
    home = work.places.home
    changes, troubles = _planned_removal(work, clients)
    launcher = None if name else no_launcher(home)
    changes += [launcher] if launcher else []
    merge: list[str] = []
    if purge_memories and not dry_run:
        _ask(home, yes)
    if not dry_run:
        for change in changes:
            carry_out(change, home)
        if not name:
            merge = remove_local(work.places.project.root)
            _clear(home, _OURS)
            _remove_if_empty(os.path.dirname(launcher_path(home)))
        if purge_memories:
            files = os.listdir(home) if os.path.isdir(home) else ()
            _clear(home, (*_MEMORIES, *(each for each in files if each.startswith(_DATABASES))))
            _remove_if_empty(home)
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
            output.note(f"not changed: {trouble}")
    if troubles:
        click.get_current_context().exit(1)


def _planned_removal(work: Work, clients: list[Client]) -> tuple[list[FileChange], list[LtmError]]:
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


def _remove_if_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        pass  # it holds what is not ours


def _tell(
    work: Work, changes: list[FileChange], merge: list[str], *, dry_run: bool, purged: bool
) -> None:
    for change in changes:
        output.say("\n".join(described(change, whole=dry_run)))
    for path in merge:
        output.say(f"{path}\n  - merge settings")
    if dry_run:
        output.note("Nothing was written." if changes else "There is nothing to remove.")
    elif purged:
        output.note("Everything was removed, with all memories outside repositories.")
        left = sorted(os.listdir(work.places.home)) if os.path.isdir(work.places.home) else []
        if left:
            output.note(f"Left in {work.places.home}: {', '.join(left)}")
    else:
        home = work.places.home
        output.note(f"Done. Memories are still in {home} and in the repositories that share them.")
    if is_plugin_active(os.environ, work.places.project.root):
        output.note(
            f"The plugin is still installed; remove it with: claude plugin uninstall {PLUGIN}"
        )
