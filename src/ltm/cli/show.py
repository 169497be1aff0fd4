"""`ltm show`: one memory in full, with its source."""

from __future__ import annotations

from dataclasses import asdict

import click

from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.model import Filter, Phase, Status, Stored, Usage, now
from ltm.policy import confidence, priority
from ltm.recall.timeline import SourceLines, evidence
from ltm.store.apply import state_of
from ltm.text.display import counted, estimate, one_line
from ltm.text.sentences import opens_with, shortened
from ltm.vault import key_file

_PHASES = {
    Phase.FULL: "the full text",
    Phase.HINT: "shortened to a hint",
    Phase.ABSTRACT: "shortened to one sentence",
    Phase.ARCHIVED: "archived",
}


@command("show")
@click.argument("memory_id", metavar="ID")
def show_command(work: Work, memory_id: str) -> None:
    """Show the memory ID: its text, where it came from, its use and its earlier versions.

    \b
    ltm show 4kqtxqcl     the beginning or end of an id is enough
    """
    show(work, work.memory(memory_id))


def show(work: Work, stored: Stored) -> None:
    """Print a memory in full; that is a use of it."""
    memory = stored.memory
    if memory.status is Status.ACTIVE:
        work.store.used([memory.id])
    usage = work.store.usage([memory.id]).get(memory.id, Usage())
    versions = work.store.versions(memory.id)
    key = key_file.load(work.places.home)
    state = "" if key is None else str(state_of(key, stored, work.store))
    behind = evidence(memory.source, work.places)
    kinds = work.config.kinds
    kind = memory.kind if memory.kind in kinds else kinds.default.name
    believed = confidence(memory, kinds[kind], now())
    worth = priority(memory.difficulty, usage.sessions_since, usage.uses)
    if work.as_json:
        output.emit(
            {
                **output.record(stored),
                **({"signed": state} if state else {}),
                "text": memory.text,
                "tokens": estimate(memory.text),
                "priority": round(worth, 3),
                "confidence_now": round(believed, 3),
                "usage": {
                    "uses": usage.uses,
                    "last_session": usage.last_session,
                    "last_used": output.moment(usage.last_used),
                },
                "versions": [{"version": each.version, "path": each.path} for each in versions],
                "evidence": {
                    "lines": [asdict(each) for each in behind.lines],
                    "more": behind.more,
                    "transcript": behind.transcript,
                    "note": behind.note,
                },
            }
        )
        return
    mark = output.marker(work.places.home)(stored)
    pinned = ", pinned" if memory.pinned else ""
    output.say(
        f"{memory.id}  {mark}{memory.kind}, {memory.impact}{pinned}, {memory.scope},"
        f" {memory.status}"
    )
    if not opens_with(memory.text, memory.title) or memory.status is Status.FORGOTTEN:
        output.say(f"  title: {memory.title}")
    if memory.tags:
        output.say(f"  tags: {', '.join(memory.tags)}")
    later = memory.confirmed > memory.created
    confirmed = f", confirmed {output.moment(memory.confirmed)}" if later else ""
    output.say(f"  created {output.moment(memory.created)}{confirmed}, version {memory.version}")
    origin = memory.source
    where = f", session {origin.session} lines {origin.lines}" if origin.session else ""
    output.say(f"  said by {origin.trust}{where}; used {counted(usage.uses, 'time')}")
    output.say(
        f"  confidence {believed:.0%}, priority {worth:.2f}, difficulty {memory.difficulty:.2f},"
        f" phase {int(memory.phase)} ({_PHASES[memory.phase]})"
    )
    output.say(f"  {stored.path}")
    if not stored.trusted:
        output.say("  untrusted: it came with this repository (if you trust it: ltm trust)")
    if memory.status is Status.QUARANTINED:
        output.say(f"  waits for approval ({output.typed(f'approve {memory.id}', stored)})")
    if state and state != "ok":
        output.say(f"  ⚠ {state}: if the text is right, type: ltm sign {memory.id}")
    for name, value in (
        ("because", memory.reason),
        ("state", memory.state),
        ("replaces", ", ".join(memory.supersedes)),
        ("replaced by", memory.superseded_by),
        ("kept apart from", ", ".join(memory.distinct)),
    ):
        if value:
            output.say(f"  {name}: {value}")
    for rival in work.store.list(Filter(ids=memory.conflicts)).items:
        other = rival.memory
        output.say(f"  contradicts {other.id}: {shortened(one_line(other.title), 80)}")
        settle = output.typed(f"settle {memory.id}", stored)
        output.say(f"    the one shown here is right: {settle}")
    output.say("")
    restore = output.typed(f"restore {memory.id}", stored)
    if memory.status is Status.FORGOTTEN:
        output.note(f"It was forgotten. Bring it back with: {restore}")
        return
    output.say(memory.text)
    _tell(behind)
    # A version that only differs in its status or confidence is nothing to go back to.
    former = {each.version: each.memory for each in versions if each.memory.text != memory.text}
    if former:
        output.note(f"Earlier versions (back to one: {restore} --version N):")
    for number, each in former.items():
        output.note(f"  {number}  {each.updated.date()}  {shortened(one_line(each.text), 80)}")


def _tell(behind: SourceLines) -> None:
    """Print the lines a memory was learned from."""
    if not behind.lines and not behind.note:
        return
    output.say("")
    note = f" ({behind.note})" if behind.note else ""
    output.say(f"Learned from{note}:")
    for each in behind.lines:
        output.say(f"  {each.line:>6}  {each.at[:19].replace('T', ' ')}  {each.role}: {each.text}")
    if behind.more:
        left = counted(behind.more, "more line")
        output.say(f"  … {left} in {behind.transcript or 'what was kept'}")
