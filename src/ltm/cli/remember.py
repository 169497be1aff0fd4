"""`ltm remember`: keep something."""

from __future__ import annotations

import sys

import click

from ltm.capture.decide import Outcome
from ltm.capture.remember import RememberRequest, RememberResult, remember
from ltm.cli import output
from ltm.cli.command import KINDS, Work
from ltm.cli.command import command as make
from ltm.model import Stored
from ltm.text.display import counted, one_line
from ltm.text.sentences import shortened


@make("remember")
@click.argument("text", nargs=-1)
@click.option("--title", help="One line; taken from the text if not given.")
@click.option("--kind", "-k", metavar="KIND", help=f"{KINDS}; inferred if not given.")
@click.option(
    "--impact", "-i", metavar="IMPACT", help="low, medium, high or critical; inferred if not given."
)
@click.option(
    "--scope", metavar="SCOPE", help="project, or agent: for all projects; inferred if not given."
)
@click.option("--tags", metavar="A,B", help="Comma-separated; found in the text if not given.")
@click.option(
    "--difficulty", type=float, metavar="X", help="How hard it was to learn, from 0 to 1."
)
@click.option("--pin", is_flag=True, help="Never let it fade.")
@click.option("--reason", default="", help="Why it was decided so.")
@click.option("--state", default="", metavar="STATE", help="For an issue: open or resolved.")
@click.option(
    "--replaces", default="", metavar="ID", help="The memory this one takes the place of."
)
@click.option("--new", "apart", is_flag=True, help="Keep it apart from whatever it resembles.")
def command(
    work: Work,
    text: tuple[str, ...],
    title: str | None,
    kind: str | None,
    impact: str | None,
    scope: str | None,
    tags: str | None,
    difficulty: float | None,
    pin: bool,
    reason: str,
    state: str,
    replaces: str,
    apart: bool,
) -> None:
    """Keep TEXT as a memory; `-` or nothing reads it from standard input.

    \b
    ltm remember "We chose Postgres over Redis because jobs must survive a crash"
    ltm remember --kind preference --scope agent "Run the tests before you commit"
    git log -1 --format=%B | ltm remember -

    What you do not say (kind, impact, scope, tags) is inferred from the words, and said. The same
    said again confirms what is known; the same and more, or a change ("from now on …", "moved from
    A to B"), replaces it; a memory that differs in a value, a name or a denial is kept with it, and
    you are told how to settle which one holds. Nothing that was replaced is lost: `ltm restore`.
    Secrets in the text, and what stands in <private>…</private>, are never kept.
    """
    done = remember(
        work.store,
        RememberRequest(
            text=_text(text),
            title=title,
            kind=kind,
            impact=impact,
            scope=scope,
            tags=tags.split(",") if tags else (),
            auto_tag=work.config.get("auto_tag"),
            difficulty=difficulty,
            pinned=pin,
            reason=reason,
            state=state,
            replaces=replaces,
            apart=apart,
        ),
    )
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
            }
        )
        return
    tell_result(done)


def tell_result(done: RememberResult) -> None:
    """Say which outcome it was, and what one can do about it."""
    applied, memory, outcome = done.applied, done.applied.stored.memory, done.outcome
    begin = "Known already, now confirmed:" if outcome is Outcome.CONFIRMED else "Remembered"
    output.say(f"{begin} {memory.id} ({output.memory_headline(memory)})")
    output.say(f"  in {applied.stored.path}")
    if outcome is Outcome.CONFIRMED:
        output.say(f"  seen {counted(memory.observations, 'time')}")
    elif done.inferred:
        output.say(f"  inferred: {', '.join(done.inferred)}")
    if done.redacted:
        output.say(f"  redacted: {', '.join(done.redacted)} (not kept anywhere)")
    why = {Outcome.EXTENDED: ", which says less", Outcome.REPLACED: ""}.get(outcome, "")
    for old in done.choice.others if applied.superseded else ():
        output.say(f"  replaced{why}: {_line(old)}")
        output.say(f"    bring it back with: ltm restore {old.memory.id}")
    for each in done.similar:
        output.say(f"  similar to: {_line(each)}")
        output.say(f"    if this one takes its place: ltm settle {memory.id} {each.memory.id}")
    if outcome is Outcome.CONFLICT:
        for each in done.choice.others:
            output.say(f"  does not agree with: {_line(each)}")
        all_ = "Both" if len(done.choice.others) == 1 else "All of them"
        output.say(f"  {all_} are kept, and told with a question mark, until you settle it:")
        output.say(f"    ltm settle {memory.id}  (this one holds)")
        for each in done.choice.others:
            output.say(f"    ltm settle {each.memory.id}  (that one holds)")
        output.say(f"    ltm settle {memory.id} --both  ({all_.lower()} hold)")


def _line(stored: Stored) -> str:
    memory = stored.memory
    return f"{memory.id} of {memory.created:%Y-%m-%d}: {shortened(one_line(memory.text), 100)}"


def _text(words: tuple[str, ...]) -> str:
    if words and words != ("-",):
        return " ".join(words)
    if not words and sys.stdin.isatty():
        return ""
    return sys.stdin.read()
