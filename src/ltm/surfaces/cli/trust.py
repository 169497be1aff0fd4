"""`ltm trust`: say whether what a repository brought along may be told."""

from __future__ import annotations

import os
import shlex

import click

from ltm.core.counting import counted
from ltm.core.errors import NotFound, Refused
from ltm.core.model import Filter
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make


@make("trust")
@click.option("--no", "refused", is_flag=True, help="Do not use its memories, and do not ask.")
@click.option("--forget", "undecided", is_flag=True, help="Take your answer back.")
@click.option(
    "--same-project",
    "same",
    is_flag=True,
    help="This folder is the project that it says to be: use that project's memories here.",
)
def command(work: Work, refused: bool, undecided: bool, same: bool) -> None:
    """Trust what is in this repository: tell the memories in its .claude/ltm, find them, add to
    them, and let its AGENT.md or .claude/agents name the agent.

    Your answer is kept on this machine, once for the repository and all its work trees; what you
    pull later is covered by it. Look first with `ltm list`, which shows them marked.

    A folder with the remote of a project you know, but without its history, has memories of its
    own, until you say with --same-project that it is the same.
    """
    if same:
        _join(work)
        return
    from ltm.storage import agents, trust

    places = work.places
    named = agents.agent_of(places.project.root)
    if not places.shared_exists and places.claude_ltm:
        raise Refused(
            "is the store of claude-ltm, which ltm does not use",
            path=places.claude_ltm,
            hint=f"take its memories in with: ltm import {shlex.quote(places.claude_ltm)}",
        )
    if not places.shared_exists and not named:
        raise NotFound(
            "this repository brought no memories along",
            path=places.shared,
            hint="to share memories from here yourself: ltm init",
        )
    answer = None if undecided else not refused
    trust.record(places.private, places.project, places.shared, answer)
    after = work.again(os.path.dirname(os.path.dirname(places.shared)))
    count = after.store.list(Filter(untrusted=True)).total
    if work.as_json:
        output.emit({"path": places.shared, "trusted": answer, "memories": count})
        return
    what = f"memories in {places.shared}" if places.shared_exists else "files that name the agent"
    if answer:
        output.say(f"The {what} are trusted.")
    elif refused:
        output.say(f"The {what} are not used, and you are not asked again.")
    else:
        output.say(f"Nothing is decided about the {what}.")
    if named and answer:
        output.say(f"The agent here is {after.places.agent}.")


def _join(work: Work) -> None:
    """Use the memories of the project a folder says to be."""
    from ltm.storage.project import join
    from ltm.storage.vault import Vault

    places = work.places
    claimed = places.project.claimed
    if not claimed:
        raise NotFound(
            f"this folder does not say to be another project than {places.project.name}"
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
            f"It had {counted(own, 'memory')} of its own; take them in with:"
            f" ltm import {shlex.quote(places.private)}"
        )
