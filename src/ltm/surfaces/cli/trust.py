"""`ltm trust`: say whether the memories a repository brought along may be told."""

from __future__ import annotations

import os
import shlex

import click

from ltm.core.errors import NotFound, Refused
from ltm.core.model import Filter
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make


@make("trust")
@click.option("--no", "refused", is_flag=True, help="Do not use its memories, and do not ask.")
@click.option("--forget", "undecided", is_flag=True, help="Take your answer back.")
def command(work: Work, refused: bool, undecided: bool) -> None:
    """Trust the memories in this repository's .claude/ltm: tell them, find them, add to them.

    Your answer is kept on this machine, once for the repository and all its work trees; what you
    pull later is covered by it. Look first with `ltm list`, which shows them marked.
    """
    from ltm.storage import trust

    places = work.places
    if not places.shared_exists and places.claude_ltm:
        raise Refused(
            "is the store of claude-ltm, which ltm does not use",
            path=places.claude_ltm,
            hint=f"take its memories in with: ltm import {shlex.quote(places.claude_ltm)}",
        )
    if not places.shared_exists:
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
    elif answer:
        output.say(f"The memories in {places.shared} are trusted.")
    elif refused:
        output.say(f"The memories in {places.shared} are not used, and you are not asked again.")
    else:
        output.say(f"Nothing is decided about the memories in {places.shared}.")
