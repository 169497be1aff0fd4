"""`ltm keygen`, `ltm sign` and `ltm verify`: detect changes that were not made by ltm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click

from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.config.options import agent_name
from ltm.decisions import Sign
from ltm.errors import NotFound, Refused, WrongUsage
from ltm.model import Filter, Status, Stored
from ltm.store.apply import state_of
from ltm.text.display import counted
from ltm.vault import key_file, signing
from ltm.vault.signing import Key, SignatureState


@command("keygen")
@click.argument("agent", default="")
def keygen_command(work: Work, agent: str) -> None:
    """Create the key that memories are signed with from now on. An existing key is kept.

    \b
    ltm keygen

    With the name of an AGENT, only that agent signs with it; all of yours accept what it signed.

    It is one file under LTM_HOME that only you can read. It is never in a repository or an export.
    Anyone who has it can sign in your name.
    """
    agent = agent_name(agent) if agent else ""
    key = signing.make(work.places.home, agent)
    path = key_file.path_in(work.places.home, agent)
    if work.as_json:
        output.emit({"path": path, "key": key.id})
        return
    whose = f"Memories of the agent {agent}" if agent else "Memories"
    output.say(f"{whose} are signed from now on, with the key {key.id} in {path}")
    if agent and agent != work.places.agent:
        output.note(
            f"You are the agent {work.places.agent} here; for a key of your own: ltm keygen"
        )
    else:
        output.note("Sign existing ones with: ltm sign")


@command("sign")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="Also those that were changed outside ltm.")
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would happen.")
def sign_command(work: Work, ids: tuple[str, ...], everything: bool, dry_run: bool) -> None:
    """Sign the memories named, or all that are not signed yet.

    \b
    ltm sign
    ltm sign 4kqtxqcl

    A memory that was changed outside ltm is signed only if you name it or give --all; look at it
    first with `ltm show ID`.
    """
    if ids and everything:
        raise WrongUsage("name memories, or give --all", hint="try: ltm sign --all")
    key = key_of(work)
    if not key.secret:
        raise Refused("the key cannot be used", path=f"{work.places.home}", hint="see: ltm doctor")
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


@command("verify")
@click.argument("memory_id", metavar="[ID]", required=False)
def verify_command(work: Work, memory_id: str | None) -> None:
    """Check the signatures of the memory ID, or of all, and of the originals in the archive.

    \b
    ltm verify
    ltm verify 4kqtxqcl

    ok: as signed; unsigned: not signed with your key; changed: changed outside ltm. Exit code 1
    means that not all are ok.
    """
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
        output.note(f"{signed:,} of {counted(len(found), 'memory')} ok.")
        if wrong:
            output.note("Look at one with 'ltm show ID'; if it is right: ltm sign ID")
    if wrong:
        click.get_current_context().exit(1)


def key_of(work: Work) -> Key:
    """The key that is set; without one there is nothing to check or sign with."""
    key = key_file.load(work.places.home, work.places.agent)
    if key is None:
        raise NotFound(
            "there is no key yet. A signature shows whether a memory was changed outside ltm, and"
            " needs one",
            path=key_file.path_in(work.places.home),
            hint="make one with 'ltm keygen', then sign what is here with: ltm sign",
        )
    return key


def states(
    work: Work, key: Key, memories: Iterable[Stored]
) -> Iterator[tuple[Stored, SignatureState]]:
    """How each memory stands, its original and its file included."""
    for stored in memories:
        yield stored, state_of(key, stored, work.store)
