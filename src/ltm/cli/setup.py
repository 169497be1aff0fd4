"""`ltm setup` and `ltm uninstall`: register ltm in the settings of clients, and remove it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from glob import escape as glob_escape
from glob import glob

import click

from ltm import __version__
from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.cli.forget import confirm
from ltm.clients.clients import (
    find,
    has_plugin,
    hook_entries,
    hook_events,
    installed,
    launcher_path,
    new_launcher,
    no_launcher,
    own_change,
    own_files,
    own_paths,
    server_entry,
    settings_files_of,
    status_line_entry,
)
from ltm.clients.command_files import command_files, without_command_files
from ltm.clients.diagnose import older_hooks
from ltm.clients.former_tools import (
    TOOLS,
    FormerTool,
    former_entries,
    former_tool,
    removals,
    remove,
)
from ltm.clients.settings import FileChange, SettingsEntry, carry_out, entering, leaving
from ltm.clients.table import CLAUDE_CODE, CLIENTS, ONLY_READ, Client
from ltm.clients.wire import PLUGIN, is_plugin_active
from ltm.errors import LtmError, Refused, WrongUsage
from ltm.files.atomic import is_inside, make_folder
from ltm.project.home import path_of
from ltm.project.layout import STATE
from ltm.remote.contents import is_set_up
from ltm.spool.hook_log import note_runtime
from ltm.state.corrections import FILE as LEDGER
from ltm.store.share import remove_local, this_command


@dataclass(frozen=True, slots=True)
class _SetupPlan:
    """What is to be done for one client."""

    client: Client
    plugin: bool
    """Whether its own plugin does it already."""
    changes: Sequence[FileChange] = ()
    trouble: LtmError | None = None


@command("setup")
@click.option(
    "--client",
    "name",
    metavar="NAME",
    help=f"Only this one: {', '.join(client.name for client in CLIENTS)}.",
)
@click.option("--all", "every", is_flag=True, help="Every client found here, without asking.")
@click.option(
    "--user/--project-scope",
    "for_user",
    default=True,
    help="In your own settings (default), or in this project's, for everyone who uses it.",
)
@click.option(
    "--commands", is_flag=True, help="Also enter /stash, /friction and /remember, without a prefix."
)
@click.option("--statusline", is_flag=True, help="Also show memory in the client's status line.")
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would happen.")
def setup_command(
    work: Work,
    name: str | None,
    every: bool,
    for_user: bool,
    commands: bool,
    statusline: bool,
    dry_run: bool,
) -> None:
    """Register the hooks and the MCP server in the settings of clients, and change nothing else.

    \b
    ltm setup
    ltm setup --dry-run
    ltm setup --client codex

    It finds the clients you have, says what it would do, and asks; without a terminal it sets up
    the first of them, which is Claude Code if you have it, and names the others. Run it again after
    an update, or when you switch on an option that needs another hook (hooks.tools,
    recall.per_prompt, inject.subagents). `ltm uninstall` restores the settings.
    """
    if name and every:
        raise WrongUsage("--client and --all exclude each other", hint="leave one of them out")
    found = [] if name else installed(os.environ)
    if not for_user:  # the others know no settings for one project
        found = [each for each in found if each.project_servers or each.project_hooks]
    if not (name or found):
        found = [CLAUDE_CODE]
        if not work.as_json:
            output.note("No client was found on this machine. For Claude Code, once you have it:")
    asks = sys.stdin.isatty() and sys.stdout.isatty() and not work.as_json
    all_of_them = every or (asks and not name)
    chosen = [find(name)] if name else found if all_of_them else found[:1]
    if commands and not any(client.project_files for client in chosen):
        raise WrongUsage(f"{chosen[0].title} has no such commands", hint="leave --commands out")
    if statusline and not any(client.has_status_line for client in chosen):
        raise WrongUsage(f"{chosen[0].title} has no status line", hint="leave --statusline out")
    root = "" if for_user else work.places.project.root
    # All is planned before anything is written: a file that cannot be read stops its client.
    plans = _once(
        [_plan(work, client, root, commands=commands, statusline=statusline) for client in chosen]
    )
    if len(chosen) == 1 and plans[0].trouble is not None:
        raise plans[0].trouble
    due = any(plan.changes for plan in plans)
    shown = not work.as_json
    if due and asks and not (name or every or dry_run):
        _tell_plans(plans, whole=False)
        if len(plans) > 1:
            output.note("To set up only one of them: ltm setup --client NAME")
        if not click.confirm("Do this?", default=True, err=True):
            raise click.Abort
        shown = False
    if not dry_run:
        for plan in plans:
            for change in plan.changes:
                carry_out(change, work.places.home)
        # Hooks need to know which Python can do what they leave for later.
        make_folder(work.places.home)
        note_runtime(work.places.home, __version__, work.config.own("hooks.save_interval"))
    left = [client for client in found if client not in chosen]
    further = [_plan(work, client, root, commands=False, statusline=False) for client in left]
    others = [plan.client for plan in further if plan.changes or plan.trouble]
    if shown:
        _tell_plans(plans, whole=dry_run)
    if work.as_json:
        records = [_plan_record(plan, dry_run) for plan in plans]
        first = {} if all_of_them else records[0]
        more = {"clients": records} if all_of_them else {}
        output.emit({**first, **more, "found": [client.name for client in found]})
    else:
        if dry_run and not any(plan.trouble for plan in plans):
            output.note("Nothing was written." if due else "Nothing would change.")
        for plan in plans if not dry_run else ():
            _tell_done(plan, for_user=for_user)
        if others:
            output.note(f"Also found: {', '.join(client.title for client in others)}.")
            output.note("To set them up as well: ltm setup --all")
        if not dry_run and any(plan.client.has_registry for plan in plans):
            for problem in older_hooks(work.places):
                output.note(f"{problem.path}: {problem.message}")
    if any(plan.trouble for plan in plans):
        click.get_current_context().exit(1)


def _tell_plans(plans: Sequence[_SetupPlan], *, whole: bool) -> None:
    """What is to be done for each client, with a heading unless it is said next that it was done
    for the only one."""
    for plan in plans:
        is_read = plan.client.checked == ONLY_READ
        if plan.changes and (whole or is_read or len(plans) > 1):
            read = " (by its documents: not tried with the client itself)"
            output.say(f"{plan.client.title}{read if is_read else ''}:")
        if plan.plugin and (plan.client.plugin_serves or not plan.changes):
            output.note(f"The plugin is active in {plan.client.title} and has what it needs.")
        for change in plan.changes:
            output.say("\n".join(described(change, whole=whole)))
        if plan.trouble is not None:
            output.note(f"{plan.client.title} was left as it is: {plan.trouble}")


def _tell_done(plan: _SetupPlan, *, for_user: bool) -> None:
    client, changes = plan.client, plan.changes
    if plan.trouble is not None:
        return
    if changes:
        output.note(f"{client.title} is set up. It works from the next session on.")
    elif not plan.plugin:
        output.note(f"{client.title} was already set up.")
    if changes and client.trust:
        output.note(f"  Before its hooks run: {client.trust}.")
    if changes and for_user and client.project_hooks and not client.hooks:
        output.note("  Its hooks have a place in projects only. To enter them in this one:")
        output.note(f"  ltm setup --client {client.name} --project-scope")
    if changes and client.instructions and not (client.told and client.events):
        output.note("  It cannot be told memories at the start of a session. To show them in the")
        output.note("  AGENTS.md it reads: ltm sync --agents-md")


def _plan_record(plan: _SetupPlan, dry_run: bool) -> dict[str, object]:
    return {
        "client": plan.client.name,
        "plugin": plan.plugin,
        "dry_run": dry_run,
        "changed": [as_record(change) for change in plan.changes],
        **({"problem": str(plan.trouble)} if plan.trouble else {}),
    }


def _top(client: Client, project: str) -> str:
    """The folder of the client's own files: the person's, or that in the project."""
    if project:
        return os.path.join(project, client.project_files)
    return path_of(client.user_files, os.environ)


def described(change: FileChange, *, whole: bool) -> list[str]:
    """What happens to a file, entry by entry; `whole` shows the entries before they are written."""

    def shown(entry: SettingsEntry) -> str:
        return str(entry) if whole else ".".join(entry.steps)

    lines = [change.path]
    if not change.added and not change.removed:
        is_launcher = os.path.basename(change.path) == os.path.basename(launcher_path(""))
        what = "the program that hooks run" if is_launcher else "a file of ltm"
        lines.append(f"  {'-' if change.after is None else '+'} {what}")
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


def _plan(
    work: Work, client: Client, project: str, *, commands: bool, statusline: bool
) -> _SetupPlan:
    plugin = has_plugin(client, work.places.project.root, os.environ)
    try:
        changes = [*_planned(work, client, project, plugin=plugin, statusline=statusline)]
        if commands and client.project_files:
            # A path of this machine would be wrong for everyone else who reads a project's files.
            words = ("ltm",) if project else this_command()
            changes += command_files(_top(client, project), words, project)
        return _SetupPlan(client, plugin, changes)
    except LtmError as trouble:
        return _SetupPlan(client, plugin, trouble=trouble)


def _once(plans: Sequence[_SetupPlan]) -> list[_SetupPlan]:
    """The same, without what an earlier one does: all hooks run one program."""
    done: set[tuple[str, str | None]] = set()
    found = []
    for plan in plans:
        left = [each for each in plan.changes if (each.path, each.after) not in done]
        done |= {(each.path, each.after) for each in plan.changes}
        found.append(replace(plan, changes=left))
    return found


def _planned(
    work: Work, client: Client, project: str, *, plugin: bool, statusline: bool
) -> Sequence[FileChange]:
    shared = bool(project)
    home = work.places.home
    planned: list[FileChange | None] = []
    settings = settings_files_of(client, project, os.environ)
    events = hook_events(client, work.config, plugin=plugin)
    own = list(own_files(client, events, home, project, os.environ))
    if not (settings or own):
        raise WrongUsage(
            f"{client.title} knows no settings for one project",
            hint=f"enter it for yourself: ltm setup --client {client.name}",
        )
    for path in (*(file.path for file in settings), *(each[0] for each in own)):
        # A clone can bring a link to a file of the person's own, which is not the project's.
        if project and not is_inside(path, project):
            raise Refused(
                f"leads out of the project, to {os.path.realpath(path)}, so nothing was written",
                path=path,
                hint="replace the link with a file, or use your own settings: ltm setup",
            )
    if events and (own or any(file.hooks for file in settings)) and os.name != "nt":
        planned.append(new_launcher(home))
    planned += [own_change(*each) for each in own]
    # A path of this machine would be wrong for everyone else who reads a project's settings.
    words: tuple[str, ...] = ("ltm",) if shared else this_command()
    is_served = plugin and client.plugin_serves
    server = [] if is_served else [server_entry(client, (*words, "mcp"), shared=shared)]
    for file in settings:
        entries = hook_entries(client, events, home, shared=shared) if file.hooks else []
        if file.hooks and client.has_status_line:
            entries += status_line_entry(file, words, wanted=statusline)
        planned.append(entering(file, [*entries, *(server if file.servers else ())], home))
    return [change for change in planned if change is not None]


# By name, never the folder as a whole: LTM_HOME may have been pointed at anything. Keys stay even
# when memories go: they cannot be made again.
_LOCKS = (".lock", "drain.lock", "import.lock", "llm.lock", "server.lock")
_OURS = (*_LOCKS, "briefs", "doors", "told", "hook.log", "hook.log.1", "runtime.json", "setup")
_DATABASES = (STATE, LEDGER)
_MEMORIES = ("agents", "config.toml", "foreign.json", "projects", "remote", "spool")


@command("uninstall")
@click.option("--client", "name", metavar="NAME", help="Only this client, instead of all.")
@click.option(
    "--tool",
    metavar="NAME",
    help="Instead of ltm, take out another memory tool's hooks and servers: "
    f"{', '.join(tool.name for tool in TOOLS)}.",
)
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would happen.")
@click.option(
    "--purge-memories", is_flag=True, help="Also delete every memory kept outside repositories."
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask before deleting memories.")
def uninstall_command(
    work: Work,
    name: str | None,
    tool: str | None,
    dry_run: bool,
    purge_memories: bool,
    yes: bool,
) -> None:
    """Remove the hooks, servers and merge settings of ltm, from this project and your settings.

    A file that has not changed since `ltm setup` is restored byte for byte; from any other only
    the entries of ltm are removed. Memories stay unless you give --purge-memories; those in
    repositories always stay.
    """
    if name and purge_memories:
        raise WrongUsage("--purge-memories goes without --client", hint="leave --client out")
    if tool:
        if name or purge_memories:
            raise WrongUsage("--tool goes with --dry-run only", hint="leave the other options out")
        _remove_tool(work, former_tool(tool), dry_run)
        return
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
            if change.after is None and change.path.endswith(".md"):
                _remove_if_empty(os.path.dirname(change.path))
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


def _remove_tool(work: Work, tool: FormerTool, dry_run: bool) -> None:
    """Take out what another memory tool entered; its memories and programs stay."""
    changes = removals(tool, work.places)
    for change in () if dry_run else changes:
        remove(change)
    left = [each for each in former_entries(work.places) if each.tool is tool]
    if work.as_json:
        changed = [as_record(change) for change in changes]
        further = [each.remedy for each in left]
        output.emit({"dry_run": dry_run, "tool": tool.name, "changed": changed, "left": further})
        return
    for change in changes:  # whole, so that it can be put back
        output.say("\n".join(described(change, whole=True)))
    if dry_run or not changes:
        output.note("Nothing was written." if changes else f"No hook or server of {tool.title}.")
    for each in left if not dry_run else ():
        output.note(f"Still there: {each.what}. Take it out with: {each.remedy}")


def _planned_removal(work: Work, clients: list[Client]) -> tuple[list[FileChange], list[LtmError]]:
    """What to change; a file that cannot be read must not keep us from leaving the others."""
    changes: list[FileChange] = []
    troubles: list[LtmError] = []
    home = work.places.home
    for client in clients:
        for project in ("", work.places.project.root):
            # The file that was entered first knows which folders were made for all of them.
            for file in reversed(settings_files_of(client, project, os.environ)):
                try:
                    change = leaving(file, home)
                except Refused as trouble:
                    troubles.append(trouble)
                    continue
                if change is not None:
                    changes.append(change)
            own = reversed(list(own_paths(client, project, os.environ)))
            gone = (own_change(path, None) for path in own)
            changes += [change for change in gone if change is not None]
    for client in clients:
        for project in ("", work.places.project.root):  # first, so that folders are empty by then
            if client.project_files:
                changes[:0] = without_command_files(_top(client, project))
    return changes, troubles


def _ask(home: str, yes: bool) -> None:
    count = len(glob(os.path.join(glob_escape(home), "*", "*", "memories", "*.md")))
    output.note(f"All memories in {home} would be deleted, of every project and agent: {count:,}.")
    if is_set_up(home):
        output.note("What is at the remote (ltm remote) stays there: delete that repository too.")
    if not yes:
        # A "y" that comes through a pipe was meant for something else more often than for this.
        confirm("Delete them for good?")


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
