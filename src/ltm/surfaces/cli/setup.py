"""`ltm setup`: enter our hooks and server into a client's settings."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from ltm.clients.entries import SettingsEntry
from ltm.clients.settings import FileChange, carry_out, entering
from ltm.clients.table import CLAUDE_CODE, CLIENTS, Client, find, hooks_file, server_entry
from ltm.clients.table import servers_file as file_of
from ltm.core.errors import Refused
from ltm.storage.plainfile import is_inside
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make


@make("setup")
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
    help="For you everywhere (default), or in this project's own settings, for everybody.",
)
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would happen.")
def command(work: Work, name: str, for_user: bool, dry_run: bool) -> None:
    """Enter hooks and the MCP server into a client's settings; everything else in them stays.

    \b
    ltm setup
    ltm setup --dry-run
    ltm setup --client cursor

    Claude Code has both; other clients have the server. Run it again whenever you like: after an
    update, or when you switched on an option that needs a hook of its own (hooks.tools,
    recall.per_prompt, inject.subagents). `ltm uninstall` gives every byte back.
    """
    client = find(name)
    root = work.places.project.root
    plugin = _has_plugin(client, root)
    # All is planned before anything is written: a file that cannot be read stops it all.
    changes = _planned(work, client, "" if for_user else root, plugin=plugin)
    if not dry_run:
        for change in changes:
            carry_out(change, work.places.home)
        _note_runtime(work)
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
        output.note(f"The plugin is active in {client.title} and brings what it needs.")
    for change in changes:
        output.say("\n".join(described(change, whole=dry_run)))
    if dry_run:
        output.note("Nothing was written." if changes else "Nothing would change.")
    elif changes:
        output.note(f"{client.title} is set up. It takes effect in the next session.")
    elif not plugin:
        output.note(f"{client.title} is set up already.")
    if client is CLAUDE_CODE and not dry_run:
        from ltm.clients.trouble import older_hooks

        for problem in older_hooks(work.places):
            output.note(f"{problem.path}: {problem.message}")


def described(change: FileChange, *, whole: bool) -> list[str]:
    """What happens to a file, entry by entry; `whole` to read it before it happens."""

    def told(entry: SettingsEntry) -> str:
        return str(entry) if whole else ".".join(entry.steps)

    lines = [change.path]
    if not change.added and not change.removed:
        lines.append(f"  {'-' if change.after is None else '+'} the program that hooks run")
    lines += [f"  - {told(entry)}" for entry in change.removed if entry not in change.added]
    lines += [f"  + {told(entry)}" for entry in change.added if entry not in change.removed]
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
    from ltm.clients.hooks import hook_entries, new_launcher
    from ltm.storage.gitfiles import this_command

    shared = bool(project)
    home = work.places.home
    planned: list[FileChange | None] = []
    hooks = hooks_file(client, project, os.environ)
    servers_file = file_of(client, project, os.environ)
    if project:
        for file in (hooks, servers_file):
            if file is not None:
                _refuse_link_out(file.path, project)
    if hooks is not None:
        entries = hook_entries(work.config, home, plugin=plugin, shared=shared)
        if entries and os.name != "nt":
            planned.append(new_launcher(home))
        planned.append(entering(hooks, entries, home))
    # A path of this machine would be wrong for everybody else who reads a project's settings.
    words = ("ltm", "mcp") if shared else (*this_command(), "mcp")
    servers = [] if plugin else [server_entry(client, words)]
    planned.append(entering(servers_file, servers, home))
    return [change for change in planned if change is not None]


def _refuse_link_out(path: str, project: str) -> None:
    """A clone can bring a link to a file of the person's own, which is not the project's."""
    if not is_inside(path, project):
        raise Refused(
            f"leads out of the project, to {os.path.realpath(path)}, so nothing was written",
            path=path,
            hint="replace the link with a file of the project, or enter it for yourself: ltm setup",
        )


def _has_plugin(client: Client, root: str) -> bool:
    from ltm.clients.plugin import is_active

    return client is CLAUDE_CODE and is_active(os.environ, root)


def _note_runtime(work: Work) -> None:
    """Hooks need to know which Python can do what they leave for later."""
    from ltm import __version__
    from ltm.storage.durable import make_folder
    from ltm.storage.runtime import note_runtime

    make_folder(work.places.home)
    note_runtime(work.places.home, __version__, work.config.own("hooks.save_interval"))
