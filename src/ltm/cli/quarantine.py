"""`ltm approve` and `ltm trust`: memories from untrusted sources, and those of a repository."""

from __future__ import annotations

import os
import shlex
from contextlib import closing

import click

from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.errors import NotFound, Refused, WrongUsage
from ltm.model import Filter, Status, Stored
from ltm.project import layout
from ltm.project.identity import join
from ltm.store.revision import approve, check_waits
from ltm.store.trust import record_trust, waiting
from ltm.team.replica import open_replica
from ltm.team.teams import note, team_named, teams
from ltm.text.display import counted
from ltm.vault.vault import Vault

_LONG = 500


@command("approve")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="Approve all.")
def approve_command(work: Work, ids: tuple[str, ...], everything: bool) -> None:
    """Approve memories from untrusted sources; without ID, list those that wait.

    \b
    ltm approve
    ltm approve 4kqtxqcl

    They came from the output of a tool, a fetched page or the like, or the option trust.hold makes
    them wait. Sessions and searches do not get them until you approve them. `ltm forget ID`
    refuses one.
    """
    if ids and everything:
        raise WrongUsage("name memories, or give --all", hint="try: ltm approve --all")
    listed = work.store.list(Filter(statuses=(Status.QUARANTINED,))).items
    chosen = [_waiting(work, each) for each in ids] if ids else list(listed if everything else ())
    for stored in chosen:
        approve(work.store, stored)
    done = {stored.memory.id for stored in chosen}
    left = [stored for stored in listed if stored.memory.id not in done]
    untrusted = waiting(work.store, work.places).untrusted
    if work.as_json:
        output.emit(
            {
                "approved": sorted(done),
                "waiting": [
                    {
                        "id": stored.memory.id,
                        "title": stored.memory.title,
                        "text": stored.memory.text,
                        "source": output.source(stored),
                    }
                    for stored in left
                ],
                "untrusted": untrusted,
            }
        )
        return
    for stored in chosen:
        output.say(f"Approved {stored.memory.id} ({output.memory_headline(stored.memory)})")
    if not chosen:
        _show(left)
        _tell_teams(work)
    elif left:
        listing = output.typed("approve", left[0]).rstrip()
        output.note(f"{len(left)} still waiting; for the list: {listing}")
    if untrusted:
        output.note(
            f"{counted(untrusted, 'memory')} came with this repository;"
            " if you trust it, type: ltm trust"
        )


def _waiting(work: Work, memory_id: str) -> Stored:
    stored = work.store.read(memory_id)
    check_waits(stored)
    return stored


def _tell_teams(work: Work) -> None:
    """Say where more waits for this person: in teams of which they are a curator."""
    for team in () if work.team else teams(work.places.home):
        if team.may_approve:
            with closing(open_replica(team, work.places, work.config)) as store:
                waits = store.list(Filter(statuses=(Status.QUARANTINED,)), 0).total
            if waits:
                typed = f"ltm approve --team {team.name}"
                output.note(f"{counted(waits, 'memory')} of the team {team.name} waiting: {typed}")


def _show(memories: list[Stored]) -> None:
    if not memories:
        output.note("Nothing waits for approval.")
        return
    for stored in memories:
        memory, source = stored.memory, stored.memory.source
        title, text = output.title_and_text(memory, memory.text, _LONG)
        output.say(f"{output.shown_id(memory.id)}  {memory.kind}, {memory.impact}: {title}")
        if text:
            output.say(f"    {text}")
        tool = f" ({source.tool})" if source.tool else ""
        session = f", session {source.session}" if source.session else ""
        lines = f" lines {source.lines}" if source.lines else ""
        output.say(f"    from {source.trust}{tool}{session}{lines}")
    approving, refusing = (
        output.typed(f"{verb} ID", memories[0]) for verb in ("approve", "forget")
    )
    output.note(f"Approve one with '{approving}', all with --all; refuse one with: {refusing}")


@command("trust")
@click.argument("what", default="", metavar="[team:NAME]")
@click.option("--no", "refused", is_flag=True, help="Never use its memories, and stop asking.")
@click.option("--forget", "undecided", is_flag=True, help="Withdraw your answer.")
@click.option(
    "--same-project",
    "same",
    is_flag=True,
    help="This folder is a copy of a project you know: use that project's memories.",
)
def trust_command(work: Work, what: str, refused: bool, undecided: bool, same: bool) -> None:
    """Trust this repository: use and extend the memories in its .claude/ltm, and let its AGENT.md
    or .claude/agents name the agent.

    Look at the memories first: `ltm list` shows them marked. Your answer is stored on this machine,
    for all work trees of the repository, and covers what you pull later.

    A folder with the remote of a project you know, but without its history, has its own memories
    until you confirm with --same-project that it is the same project.

    `ltm trust team:NAME` is about the memories of a team: to find them and have sessions told.
    """
    if what:
        _trust_team(work, what, None if undecided else not refused)
        return
    if same:
        _join(work)
        return
    places = work.places
    named = layout.agent_of(places.project.root)
    if not places.shared_exists and places.claude_ltm:
        raise Refused(
            "is the store of claude-ltm, which ltm does not use",
            path=places.claude_ltm,
            hint=f"take its memories in with: ltm import {shlex.quote(places.claude_ltm)}",
        )
    if not places.shared_exists and not named:
        raise NotFound(
            "this repository has no memories to trust",
            path=places.shared,
            hint="to share memories from here yourself: ltm init",
        )
    answer = None if undecided else not refused
    record_trust(places.private, places.project, places.shared, answer)
    after = work.again(os.path.dirname(os.path.dirname(places.shared)))
    count = after.store.list(Filter(untrusted=True)).total
    if work.as_json:
        output.emit({"path": places.shared, "trusted": answer, "memories": count})
        return
    what = f"memories in {places.shared}" if places.shared_exists else "files that name the agent"
    if answer:
        output.say(f"The {what} are trusted.")
    elif refused:
        output.say(f"The {what} are not used, and you will not be asked again.")
    else:
        output.say(f"Your answer about the {what} is withdrawn.")
    if named and answer:
        output.say(f"The agent here is {after.places.agent}.")


def _trust_team(work: Work, what: str, answer: bool | None) -> None:
    """Keep the answer about a team's memories."""
    kind, _, name = what.partition(":")
    if kind != "team" or not name:
        raise WrongUsage(f"'{what}' cannot be trusted", hint="type: ltm trust team:NAME")
    team = note(team_named(work.places.home, name), trusted=answer)
    if work.as_json:
        output.emit({"team": name, "path": team.folder, "trusted": answer})
    elif answer:
        output.say(f"The memories of the team {name} are found, and told to sessions.")
    elif answer is None:
        output.say(f"Your answer about the team {name} is withdrawn.")
    else:
        output.say(
            f"The memories of the team {name} are not used, and you will not be asked again."
        )


def _join(work: Work) -> None:
    """Use the memories of the project a folder says to be."""
    places = work.places
    claimed = places.project.claimed
    if not claimed:
        raise NotFound(
            f"this folder does not claim to be another project than {places.project.name}"
            f" ({places.project.id})",
            path=places.project.root,
        )
    own = len(Vault("private", places.private).names())
    name = join(places.project, places.home)
    if work.as_json:
        output.emit({"path": places.project.root, "project": claimed, "name": name})
        return
    output.say(f"{places.project.root} is part of the project {name} ({claimed}).")
    if own:
        output.note(
            f"It had {counted(own, 'memory')} of its own; import them with:"
            f" ltm import {shlex.quote(places.private)}"
        )
