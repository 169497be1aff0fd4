"""`ltm verify`: which memories are what was signed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from ltm.core.counting import counted
from ltm.core.errors import NotFound
from ltm.core.model import Filter, Status, Stored
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make

if TYPE_CHECKING:
    from ltm.storage.signing import Key, SignatureState


@make("verify")
@click.argument("memory_id", metavar="[ID]", required=False)
def command(work: Work, memory_id: str | None) -> None:
    """Check the signatures of the memory ID, or of all, and of the originals in the archive.

    \b
    ltm verify
    ltm verify 4kqtxqcl

    ok: as it was signed; unsigned: not signed with your key; changed: it was changed
    outside ltm. Exit code 1 means that one of them is not ok.
    """
    from ltm.storage.signing import SignatureState

    key = key_of(work)
    wanted: Iterable[Stored] = (
        [work.store.read(memory_id)]
        if memory_id
        else work.store.every(Filter(statuses=tuple(Status)))
    )
    found = list(states(work, key, wanted))
    wrong = [(stored, state) for stored, state in found if state is not SignatureState.OK]
    if work.as_json:
        output.emit([{"id": stored.memory.id, "state": str(state)} for stored, state in found])
    else:
        for stored, state in wrong:
            name = output.shown_id(stored.memory.id)
            output.say(f"⚠ {name}  {state}: {stored.memory.title}")
            output.say(f"    {stored.path}")
        signed = len(found) - len(wrong)
        output.note(f"Still as signed: {signed:,} of {counted(len(found), 'memory')}.")
        if wrong:
            output.note("Look at one with 'ltm show ID'; if it is right: ltm sign ID")
    if wrong:
        click.get_current_context().exit(1)


def key_of(work: Work) -> Key:
    """The key that is set; without one there is nothing to check or sign with."""
    from ltm.storage import keyfile

    key = keyfile.load(work.places.home)
    if key is None:
        raise NotFound(
            "there is no key to sign and check with",
            path=keyfile.path_in(work.places.home),
            hint="make one with: ltm keygen",
        )
    return key


def states(
    work: Work, key: Key, memories: Iterable[Stored]
) -> Iterator[tuple[Stored, SignatureState]]:
    """How each memory stands, its original and its file included."""
    from ltm.storage.checking import state_of

    for stored in memories:
        yield stored, state_of(key, stored, work.store)
