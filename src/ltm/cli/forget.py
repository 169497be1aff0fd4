"""`ltm forget` and `ltm restore`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import click

from ltm.cli import output
from ltm.cli.command import Number, Work, command, filter_options, wanted
from ltm.decisions import Forget, Restore
from ltm.errors import WrongUsage
from ltm.model import Filter, Scope, Status, Stored, Usage, now
from ltm.remote.contents import is_set_up
from ltm.text.dates import day_span
from ltm.text.display import counted, one_line
from ltm.upkeep.purge import purge_memories

_LISTED = 20  # memories a person is shown before many are forgotten


@command("forget")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="All memories of this project.")
@click.option(
    "--older-than",
    metavar="DAYS",
    type=Number(1),
    help="Only what was neither said, confirmed nor used for so many days.",
)
@filter_options
@click.option("--purge", is_flag=True, help="Erase it everywhere: no archive, no undo.")
@click.option("--dry-run", "-n", is_flag=True, help="Only show what would happen.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask; --json never asks.")
def forget_command(
    work: Work,
    ids: tuple[str, ...],
    everything: bool,
    older_than: int | None,
    purge: bool,
    dry_run: bool,
    yes: bool,
    **filters: Any,
) -> None:
    """Forget the memory ID, or several. `ltm restore` brings them back, unless they were purged.

    \b
    ltm forget 4kqtxqcl
    ltm forget 4kqtxqcl --purge
    ltm forget --all                   every memory of this project
    ltm forget --kind issue --state resolved
    ltm forget --older-than 30

    Before it forgets many it asks. Those for all projects are among them only with --scope agent.
    --purge also erases what ltm kept about a memory from this project's sessions, notes, stashes
    and corrections, and does not learn it again from the same messages.
    """
    everything = everything or any(filters.values()) or older_than is not None
    if bool(ids) == everything:
        raise WrongUsage(
            "name memories, or give --all" if ids else "there is nothing to forget",
            hint="try: ltm forget ID, or: ltm forget --all --dry-run",
        )
    if ids:
        found = [work.memory(each) for each in dict.fromkeys(ids)]
    else:
        found = _matching(work, older_than, filters)
    if dry_run or not found:
        _tell_plan(work, found, purge=purge)
        return
    if not yes and not work.as_json:
        if purge and len(found) == 1:
            confirm(f"Erase '{found[0].memory.title}' for good?")
        elif purge or everything:
            _list(found)
            verb, end = ("Erase", " for good") if purge else ("Forget", "")
            confirm(f"{verb} {_counts(found)}{end}?")
    passages = 0
    transcripts: list[str] = []
    if purge:
        passages, transcripts = purge_memories(work, found)
    else:
        with work.store.in_a_row():
            for stored in found:
                work.store.apply(Forget(stored.memory.id))
    if work.as_json:
        _emit(found, purge, passages)
        return
    word = "Purged" if purge else "Forgot"
    if len(found) == 1 and not everything:
        memory = found[0].memory
        output.say(f"{word} {memory.id}" + ("" if purge else f" ({memory.title})"))
    else:
        output.say(f"{word} {_counts(found)}")
    if passages:
        output.say(f"  and {counted(passages, 'passage')} of sessions that said it")
    if not purge:
        names = " ".join(each.memory.id for each in found[:3])
        undo = f"restore {names}" if len(found) <= 3 else "restore --since today"
        output.say(f"  undo with: {output.typed(undo, found[0])}")
    if purge and not work.team and is_set_up(work.places.home):
        output.note(
            "Your other machines and the history of the remote lose it with the next sync (at once:"
            " ltm remote now). The server may keep deleted history for weeks, and copies made by"
            " hand stay."
        )
    for transcript in transcripts:
        output.note(
            f"The client's own transcript still has it, until the client deletes it: {transcript}"
        )
    if any(stored.vault == "shared" for stored in found):
        if purge:
            output.note("What was committed before stays in git's history until you rewrite it.")
        elif everything:
            output.note("They are shared: once you commit this, your team forgets them too.")


def _matching(work: Work, older_than: int | None, filters: dict[str, Any]) -> list[Stored]:
    """The memories that --all means, oldest last."""
    asked = wanted(work, **filters)
    if not asked.scopes:
        asked = asked._replace(scopes=(Scope.PROJECT,))
    found = [each for each in work.store.list(asked).items if each.trusted]
    if older_than is None:
        return found
    since = now() - timedelta(days=older_than)
    usage = work.store.usage(each.memory.id for each in found)
    return [
        each
        for each in found
        if max(each.memory.created, each.memory.confirmed) < since
        and (usage.get(each.memory.id, Usage()).last_used or each.memory.created) < since
    ]


def _emit(found: Sequence[Stored], purge: bool, passages: int) -> None:
    value = {**_named(found), "status": "purged" if purge else "forgotten"}
    output.emit({**value, "passages": passages} if purge else value)


def _named(found: Sequence[Stored]) -> dict[str, Any]:
    """`id` for one memory, `ids` for any other number."""
    ids = [each.memory.id for each in found]
    return {"id": ids[0]} if len(ids) == 1 else {"ids": ids}


def _tell_plan(work: Work, found: Sequence[Stored], *, purge: bool) -> None:
    if work.as_json:
        output.emit({**_named(found), "status": "unchanged"})
        return
    if not found:
        output.note("No memory fits. All that are in use: ltm list")
        return
    _list(found)
    word = "erased for good" if purge else "forgotten"
    output.note(f"{_counts(found)} would be {word}. Nothing was changed.")


def _list(found: Sequence[Stored]) -> None:
    for each in found[:_LISTED]:
        output.say(f"{output.shown_id(each.memory.id)}  {output.memory_headline(each.memory)}")
    if len(found) > _LISTED:
        output.say(f"… and {len(found) - _LISTED:,} more")


def _counts(found: Sequence[Stored]) -> str:
    """`12 memories (8 decisions, 4 progress)`."""
    kinds = Counter(each.memory.kind for each in found).most_common()
    said = ", ".join(
        counted(count, kind, kind if kind.endswith("s") else "") for kind, count in kinds
    )
    return f"{counted(len(found), 'memory')} ({said})"


def confirm(question: str) -> None:
    """Ask before something is erased; without a terminal, name the option that confirms."""
    asked = one_line(question)
    if not sys.stdin.isatty():
        raise WrongUsage(f"no terminal to ask: {asked}", hint="to confirm, add --yes")
    click.confirm(asked, abort=True, err=True)


@command("restore")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--version",
    metavar="N",
    type=Number(1),
    default=None,
    help="An earlier version; `ltm show ID` lists them.",
)
@click.option("--since", metavar="DAY", help="All that was forgotten since: today, 2026-03-01, 2w.")
@click.option("--phase", type=click.Choice(["0"]), default="0", help="0: the full text.")
def restore_command(
    work: Work, ids: tuple[str, ...], version: int | None, since: str | None, phase: str
) -> None:
    """Bring the memory ID back, active and with its full text, or several.

    \b
    ltm restore 4kqtxqcl                it was forgotten, replaced or shortened
    ltm restore 4kqtxqcl --version 1    what it said before it was changed
    ltm restore --since today           all that was forgotten today
    """
    if bool(ids) == bool(since) or (version and len(ids) != 1):
        raise WrongUsage(
            "name the memories to bring back", hint="try: ltm restore ID, or --since today"
        )
    forgotten = Filter(statuses=(Status.FORGOTTEN,))
    if since:
        first = day_span(since, now().date()).start
        listed = work.store.list(forgotten).items
        names = [each.memory.id for each in listed if each.memory.updated.date() >= first]
    else:
        names = [work.memory(each, forgotten).memory.id for each in dict.fromkeys(ids)]
    with work.store.in_a_row():
        done = [work.store.apply(Restore(each, version=version or 0)).stored for each in names]
    if work.as_json:
        status = str(done[0].memory.status) if len(done) == 1 else str(Status.ACTIVE)
        output.emit({**_named(done), "status": status})
        return
    if not done:
        output.note("Nothing was forgotten since then.")
    for stored in done:
        output.say(f"Restored {stored.memory.id} ({output.memory_headline(stored.memory)})")
