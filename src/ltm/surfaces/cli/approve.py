"""`ltm approve`: let memories out of quarantine."""

from __future__ import annotations

import click

from ltm.core.counting import counted
from ltm.core.decision import Revise
from ltm.core.errors import Refused, WrongUsage
from ltm.core.model import Filter, Source, Status, Stored
from ltm.core.screen import one_line
from ltm.core.sentences import shortened
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make

_LONG = 500


@make("approve")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="All that wait.")
def command(work: Work, ids: tuple[str, ...], everything: bool) -> None:
    """Approve memories that wait because their source is not trusted; without ID, list them.

    \b
    ltm approve
    ltm approve 4kqtxqcl

    They came from the output of a tool, a fetched page or the like. Until you approve one, or you
    say the same yourself, no session is told of it and no search finds it. `ltm forget ID` refuses
    one.
    """
    from ltm.storage.waiting import waiting

    if ids and everything:
        raise WrongUsage("name memories, or say --all", hint="try: ltm approve --all")
    listed = work.store.list(Filter(statuses=(Status.QUARANTINED,))).items
    chosen = [_waiting(work, each) for each in ids] if ids else list(listed if everything else ())
    for stored in chosen:
        change = {"status": Status.ACTIVE}
        work.store.apply(Revise(stored.memory.id, change, expected=stored.etag))
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
        output.say(f"Approved {stored.memory.id} ({output.headline(stored.memory)})")
    if not chosen:
        _show(left)
    elif left:
        output.note(f"{len(left)} still waiting; for the list: ltm approve")
    if untrusted:
        output.note(
            f"{counted(untrusted, 'memory')} came with this repository;"
            " if you trust it, type: ltm trust"
        )


def _waiting(work: Work, memory_id: str) -> Stored:
    stored = work.store.read(memory_id)
    if not stored.trusted:
        raise Refused(
            f"{stored.memory.id} came with this repository, which is not trusted yet",
            path=stored.path,
            hint="look at what it brought with 'ltm list', then type: ltm trust",
        )
    if stored.memory.status is not Status.QUARANTINED:
        raise Refused(
            f"{stored.memory.id} does not wait for approval: it is {stored.memory.status}"
        )
    return stored


def _show(memories: list[Stored]) -> None:
    if not memories:
        output.note("Nothing waits for approval.")
        return
    for stored in memories:
        memory = stored.memory
        output.say(f"{output.shown_id(memory.id)}  {output.headline(memory)}")
        output.say(f"    {shortened(one_line(memory.text), _LONG)}")
        output.say(f"    from {_origin(memory.source)}")
    output.note("Approve one with 'ltm approve ID', all with --all; refuse one with: ltm forget ID")


def _origin(source: Source) -> str:
    said = f"{source.trust}{f' ({source.tool})' if source.tool else ''}"
    where = f", session {source.session}" if source.session else ""
    return f"{said}{where}{f' lines {source.lines}' if source.lines else ''}"
