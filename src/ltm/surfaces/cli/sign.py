"""`ltm sign`: vouch for memories as they are."""

from __future__ import annotations

import click

from ltm.core.counting import counted
from ltm.core.decision import Sign
from ltm.core.errors import Refused, WrongUsage
from ltm.core.model import Filter, Status, Stored
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make


@make("sign")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="Also those that were changed.")
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would happen.")
def command(work: Work, ids: tuple[str, ...], everything: bool, dry_run: bool) -> None:
    """Sign memories: those named, else all that are not signed yet.

    \b
    ltm sign
    ltm sign 4kqtxqcl

    A memory that was changed outside ltm is signed only if you name it, after a look at it with
    `ltm show ID`, or with --all.
    """
    from ltm.storage.signing import SignatureState
    from ltm.surfaces.cli.verify import key_of, states

    if ids and everything:
        raise WrongUsage("name memories, or say --all", hint="try: ltm sign --all")
    key = key_of(work)
    if not key.secret:
        raise Refused("the key cannot be used", path=f"{work.places.home}", hint="ltm doctor")
    wanted = [work.store.read(each) for each in ids]
    if not ids:
        wanted = list(work.store.every(Filter(statuses=tuple(Status))))
    due: list[tuple[Stored, str]] = []
    left: list[Stored] = []
    for stored, state in states(work, key, wanted):
        if state is SignatureState.CHANGED and not (ids or everything):
            left.append(stored)
        elif state is not SignatureState.OK:
            due.append((stored, str(state)))
    if not dry_run:
        for stored, _ in due:
            work.store.apply(Sign(stored.memory.id, expected=stored.etag))
    if work.as_json:
        output.emit(
            {
                "signed": [stored.memory.id for stored, _ in due],
                "changed": [stored.memory.id for stored in left],
                "dry_run": dry_run,
            }
        )
        return
    for stored, was in due:
        output.say(f"{output.shown_id(stored.memory.id)}  was {was}: {stored.memory.title}")
    word = "would be signed" if dry_run else "signed"
    output.note(f"{counted(len(due), 'memory')} {word}.")
    for stored in left:
        output.note(
            f"{output.shown_id(stored.memory.id)} was changed outside ltm: {stored.memory.title}"
        )
    if left:
        output.note("Look at them with 'ltm show ID', then sign them one by one: ltm sign ID")
