"""`ltm team`: the teams this machine belongs to, and the commands of those who run one."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from importlib import import_module
from typing import Any

import click

from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.cli.forget import confirm
from ltm.errors import LtmError, Refused, WrongUsage
from ltm.team.outbox import Outbox
from ltm.team.replica import open_replica
from ltm.team.sync import Synced, TeamServer, synchronize
from ltm.team.teams import Team, add, check_name, parse_address, remove, team_named, teams
from ltm.text.display import counted, one_line
from ltm.text.sentences import shortened

TOKEN_VARIABLE = "LTM_TEAM_TOKEN"  # noqa: S105 - the name of a variable


@command("join")
@click.argument("address")
@click.option("--name", metavar="NAME", help="What to call it here, if not as its address does.")
@click.option("--here", is_flag=True, help="Use its memories in this folder's project only.")
def join(work: Work, address: str, name: str | None, here: bool) -> None:
    """Join a team by its address and your token.

    \b
    ltm team join https://memory.example.org/t/acme/p/main

    The token is asked for, or read from standard input or LTM_TEAM_TOKEN. The memories of the team
    are kept on this machine as files, so that sessions never wait for the server. They are told to
    sessions once you say: ltm trust team:NAME
    """
    where = parse_address(address)
    name = name or where.usual_name
    home = work.places.home
    check_name(home, name, where.url)
    if here and work.places.shares:
        raise Refused(
            "this repository shares its memories through git",
            path=work.places.shared,
            hint="leave --here out: then the team's memories are used in all your projects",
        )
    token = _token()
    about = TeamServer(where.url, token).about()
    said = {
        "person": str(about.get("person", "")),
        "role": str(about.get("role", "")),
        "here": work.places.project.id if here else "",
    }
    team = add(home, name, where.url, token, said)
    done = synchronize(home, team)
    if work.as_json:
        output.emit({**_record(work, team_named(home, name)), **done._asdict()})
        return
    output.say(f"Joined {where.url} as {team.person} ({team.role}); it is called {name} here.")
    output.say(_told(done))
    if team.place.trusted is None:
        output.note(f"To look at its memories: ltm list --team {name}")
        output.note(f"To have sessions told of them: ltm trust team:{name}")


def _token() -> str:
    token = os.environ.get(TOKEN_VARIABLE, "")
    if not token and sys.stdin.isatty():
        token = str(click.prompt("Token", hide_input=True))
    token = (token or sys.stdin.readline()).strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise WrongUsage(
            "there is no token",
            hint=f"give it when asked, on standard input, or in {TOKEN_VARIABLE}",
        )
    return token


@command("leave")
@click.argument("name")
@click.option("--yes", "-y", is_flag=True, help="Do not ask; --json never asks.")
def leave(work: Work, name: str, yes: bool) -> None:
    """Leave a team, and delete its memories from this machine.

    The token and what waits to be sent are deleted too. The team keeps its memories, and you stay a
    member until an owner removes you.
    """
    team = team_named(work.places.home, name)
    waiting = Outbox(team.folder).count()
    if waiting and not yes:
        raise Refused(
            f"{counted(waiting, 'decision')} would be lost: not sent to {name} yet",
            hint="send them with 'ltm team sync', or give --yes",
        )
    if not yes and not work.as_json:
        confirm(f"Delete the memories of the team {name} from this machine?")
    remove(team)
    if work.as_json:
        output.emit({"name": name, "left": True, "lost": waiting})
    else:
        output.say(f"Left the team {name}.")


@command("status")
@click.argument("name", default="")
@click.option("--dismiss", is_flag=True, help="Forget what the server refused.")
def status(work: Work, name: str, dismiss: bool) -> None:
    """Show your teams, and what waits to be sent."""
    home = work.places.home
    found = [team_named(home, name)] if name else teams(home)
    dismissed = sum(Outbox(team.folder).dismiss() for team in found) if dismiss else 0
    if work.as_json:
        output.emit({"teams": [_record(work, team) for team in found]})
        return
    if not found:
        output.note("This machine belongs to no team. Join one with: ltm team join ADDRESS")
    for team in found:
        _show(team, _record(work, team))
    if dismissed:
        output.note(f"{counted(dismissed, 'refused decision')} forgotten")


def _record(work: Work, team: Team) -> dict[str, Any]:
    with closing(open_replica(team, work.places, work.config)) as store:
        return store.as_record()


def _show(team: Team, said: dict[str, Any]) -> None:
    name, trusted = said["name"], said["trusted"]
    output.say(f"{name}  {said['address']}")
    output.say(f"  you are {said['person']} ({said['role']})")
    waits = said["quarantined"]
    who = f"you: ltm approve --team {name}" if team.may_approve else "a curator"
    more = f", {waits} waiting for {who}" if waits else ""
    output.say(f"  {counted(said['memories'], 'memory')}{more}")
    if said["project"]:
        output.say(f"  they are used in the project {said['project']} only")
    output.say(f"  last in touch: {said['synchronized'] or 'never'}")
    if said["unsent"]:
        output.say(f"  {counted(said['unsent'], 'decision')} not sent yet")
    if said["error"]:
        output.note(f"  the last attempt failed: {one_line(said['error'])}")
    if trusted is not True:
        why = "you have not been asked" if trusted is None else "you said no"
        output.note(f"  not told to sessions ({why}): ltm trust team:{name}")
    for each in said["refused"]:
        text = f" ({shortened(one_line(each['text']), 60)})" if each["text"] else ""
        what = f"{each['decision']} {each['id']}{text}"
        output.note(f"  the server refused: {what}: {one_line(each['message'])}")
    if said["refused"]:
        output.note(f"  to forget these: ltm team status {name} --dismiss")


@command("sync")
@click.argument("name", default="")
def sync(work: Work, name: str) -> None:
    """Send and receive what changed, now.

    This happens in the background after sessions; type it when you do not want to wait for that.
    """
    home = work.places.home
    found = [team_named(home, name)] if name else teams(home)
    if not found:
        team_named(home, name)  # says how to join one
    rows: list[dict[str, Any]] = []
    failed: LtmError | None = None
    for team in found:
        try:
            done = synchronize(home, team)
        except LtmError as error:
            failed = error
            rows.append({"name": team.name, "error": str(error)})
            if not work.as_json and len(found) > 1:
                output.note(f"{team.name}: {error}")
            continue
        rows.append({"name": team.name, **done._asdict(), "error": ""})
        if not work.as_json:
            output.say(f"{team.name}: {_told(done)}")
    if work.as_json:
        output.emit({"teams": rows})
    if failed is not None:
        raise failed


def _told(done: Synced) -> str:
    merged = f" ({done.merged} merged with what others changed)" if done.merged else ""
    parts = [f"{done.sent} sent{merged}, {done.received} received"]
    parts += [f"{done.purged} purged"] if done.purged else []
    parts += [f"{done.refused} refused (see: ltm team status)"] if done.refused else []
    return ", ".join(parts)


@command("members")
@click.argument("name", default="")
def members(work: Work, name: str) -> None:
    """List the members of a team's project, with their roles."""
    said = _ask(work, name, "/members", "members")
    if work.as_json:
        output.emit({"members": said})
        return
    output.table(("name", "role"), [(one_line(m["name"]), one_line(m["role"])) for m in said])


@command("projects")
@click.argument("name", default="")
def projects(work: Work, name: str) -> None:
    """List your projects of a team, with role and address."""
    team = team_named(work.places.home, name)
    top = team.place.address.rpartition("/p/")[0]
    said = _ask(work, name, "/projects", "projects")
    rows = [
        {"project": str(p["slug"]), "role": str(p["role"]), "address": f"{top}/p/{p['slug']}"}
        for p in said
    ]
    if work.as_json:
        output.emit({"projects": rows})
        return
    output.table(("project", "role", "address"), [tuple(map(one_line, r.values())) for r in rows])


def _ask(work: Work, name: str, path: str, key: str) -> list[dict[str, Any]]:
    team = team_named(work.places.home, name)
    said = TeamServer(team.place.address, team.token).ask(path).get(key)
    return [dict(each) for each in said] if isinstance(said, list) else []


ADMIN = {
    "create": "Create a team with its first project and an owner.",
    "invite": "Add a person to a project.",
    "token": "List, make or take back the tokens of a person.",
    "role": "Change what a person may do.",
    "project": "Create a project, or list all of them.",
    "audit": "List who did what.",
    "export": "Write every project to a file: the way out, and a backup.",
    "import": "Put such files back.",
    "check": "Compare such files with the database.",
    "migrate": "Bring the tables of the database up to date.",
    "serve": "Serve the teams of the database.",
}
"""The commands of those who run a server, which need more packages."""


class TeamCommands(click.Group):
    """A group whose commands for a server are loaded when one of them is called."""

    def list_commands(self, context: click.Context) -> list[str]:
        return [*self.commands, *ADMIN]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in ADMIN:
            return super().get_command(context, name)
        try:
            found = {
                **import_module("ltm_server.admin").ADMIN_COMMANDS,
                **import_module("ltm_server.backup").BACKUP_COMMANDS,
            }[name]
        except ImportError as error:
            raise Refused(
                f"'ltm team {name}' needs a package that is missing: {error.name}",
                hint="a plugin comes without a team's server: install ltm with the extra 'team',"
                " docs/guides/teams.md",
            ) from error
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        own = [(name, each.get_short_help_str(60)) for name, each in self.commands.items()]
        widest = max(len(name) for name in self.list_commands(context))
        for heading, rows in (("Commands", own), ("For those who run a server", ADMIN.items())):
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(widest), does) for name, does in rows])


def _group() -> click.Group:
    def call(**arguments: Any) -> None:
        """Share memories across repositories, people and machines.

        \b
        ltm team join ADDRESS
        ltm remember --team NAME "We deploy on Tuesdays"
        ltm team

        Without a command, show the teams this machine belongs to. `ltm help` lists the commands
        that take --team. Those who run a server begin with `ltm team create`.
        """
        if click.get_current_context().invoked_subcommand is None:
            assert status.callback is not None
            status.callback(**arguments, name="", dismiss=False)

    own = (join, leave, status, sync, members, projects)
    options = [each for each in status.params if each.name in ("project", "as_json")]
    return TeamCommands(
        "team",
        commands=own,
        params=options,
        callback=call,
        help=call.__doc__,
        invoke_without_command=True,
    )


team_command = _group()
