"""`ltm remember`: keep a text as a memory."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from ltm.capture.decide import Outcome
from ltm.capture.provenance import evidence_of
from ltm.capture.remember import RememberRequest, RememberResult, remember
from ltm.cli import output
from ltm.cli.command import KINDS, Work, command
from ltm.model import Source, Status, Stored
from ltm.text.display import counted, one_line
from ltm.text.sentences import shortened


@command("remember")
@click.argument("text", nargs=-1)
@click.option("--title", help="One line; taken from the text if not given.")
@click.option("--kind", "-k", metavar="KIND", help=f"{KINDS}; inferred if not given.")
@click.option(
    "--impact", "-i", metavar="IMPACT", help="low, medium, high or critical; inferred if not given."
)
@click.option(
    "--scope", metavar="SCOPE", help="project, or agent (all projects); inferred if not given."
)
@click.option("--tags", metavar="A,B", help="Comma-separated; found in the text if not given.")
@click.option(
    "--difficulty", type=float, metavar="X", help="How hard it was to learn, from 0 to 1."
)
@click.option("--pin", "pinned", is_flag=True, help="Never let it fade.")
@click.option("--reason", default="", help="Why it was decided.")
@click.option("--state", default="", metavar="STATE", help="For an issue: open or resolved.")
@click.option("--replaces", default="", metavar="ID", help="The memory that this one replaces.")
@click.option("--new", "apart", is_flag=True, help="Do not merge it with similar memories.")
def remember_command(work: Work, text: tuple[str, ...], tags: str | None, **options: Any) -> None:
    """Keep TEXT as a memory; `-` or nothing reads it from standard input.

    \b
    ltm remember "We chose Postgres over Redis because jobs must survive a crash"
    ltm remember --kind preference --scope agent "Run the tests before you commit"
    git log -1 --format=%B | ltm remember -

    Kind, impact, scope and tags are inferred from the text unless you give them. The same statement
    again confirms the memory; a fuller one, or a change ("from now on …", "moved from A to B"),
    replaces it. If it contradicts a memory, both are kept, and you are shown how to settle it.
    Replaced memories come back with `ltm restore`. Secrets, and text in <private>…</private>, are
    not kept.
    """
    words = " ".join(text)
    if words == "-" or not (text or sys.stdin.isatty()):
        words = sys.stdin.read()
    tagged = {"tags": tags.split(",") if tags else (), "auto_tag": work.config.get("auto_tag")}
    # In the shell of an agent no one can tell who typed it: what it read may have told it to.
    session = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    evidence = evidence_of(work.log, session) if session else None
    wish = RememberRequest(
        words,
        by_person=True,
        source=Source(session=session),
        evidence=evidence,
        **tagged,
        **options,
    )
    done = remember(work.store, wish)
    applied, memory = done.applied, done.applied.stored.memory
    if work.as_json:
        output.emit(
            {
                "id": memory.id,
                "action": str(done.outcome),
                "title": memory.title,
                "kind": memory.kind,
                "impact": str(memory.impact),
                "scope": str(memory.scope),
                "tags": list(memory.tags),
                "path": applied.stored.path,
                "inferred": list(done.inferred),
                "superseded": list(applied.superseded),
                "conflicts": list(memory.conflicts),
                "similar": [each.memory.id for each in done.similar],
                "redacted": list(done.redacted),
                "status": str(memory.status),
            }
        )
        return
    tell_result(done)


def tell_result(done: RememberResult) -> None:
    applied, memory, outcome = done.applied, done.applied.stored.memory, done.outcome
    begin = "Known already, now confirmed:" if outcome is Outcome.CONFIRMED else "Remembered"
    output.say(f"{begin} {memory.id} ({output.memory_headline(memory)})")
    if memory.status is Status.QUARANTINED:
        output.say("  not told or found until you approve it: the text repeats word for word what")
        output.say("  a tool, a file or a page said in the session this was typed in")
        output.say(f"    approve it with: ltm approve {memory.id}")
    output.say(f"  in {applied.stored.path}")
    if outcome is Outcome.CONFIRMED:
        output.say(f"  seen {counted(memory.observations, 'time')}")
    elif done.inferred:
        # Why stands in the JSON: three words of a model tell a person little.
        inferred = ", ".join(each.partition(" (")[0] for each in done.inferred)
        output.say(f"  inferred: {inferred}")
    if done.redacted:
        output.say(f"  redacted: {', '.join(done.redacted)} (not kept anywhere)")
    why = {Outcome.EXTENDED: " (it said less)", Outcome.REPLACED: ""}.get(outcome, "")
    for old in done.choice.others if applied.superseded else ():
        output.say(f"  replaced{why}: {_line(old)}")
        output.say(f"    bring it back with: {output.typed(f'restore {old.memory.id}', old)}")
    for each in done.similar:
        output.say(f"  similar to: {_line(each)}")
        settle = output.typed(f"settle {memory.id} {each.memory.id}", each)
        output.say(f"    if this one takes its place: {settle}")
    if outcome is Outcome.CONFLICT:
        for each in done.choice.others:
            output.say(f"  contradicts: {_line(each)}")
        all_ = "Both" if len(done.choice.others) == 1 else "All of them"
        output.say(f"  {all_} are kept, and marked as uncertain, until you settle it:")
        settle = output.typed(f"settle {memory.id}", applied.stored)
        output.say(f"    {settle}  (this one is right)")
        for each in done.choice.others:
            output.say(f"    {output.typed(f'settle {each.memory.id}', each)}  (that one is right)")
        output.say(f"    {settle} --both  ({all_.lower()} are right)")


def _line(stored: Stored) -> str:
    memory = stored.memory
    return f"{memory.id} of {memory.created:%Y-%m-%d}: {shortened(one_line(memory.text), 100)}"
