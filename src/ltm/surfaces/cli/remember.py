"""`ltm remember`: keep something."""

from __future__ import annotations

import sys

import click

from ltm.capture.remember import Wish, remember
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import KINDS, Work
from ltm.surfaces.cli.work import command as make


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
) -> None:
    """Keep TEXT as a memory; `-` or nothing reads it from standard input.

    \b
    ltm remember "We chose Postgres over Redis because jobs must survive a crash"
    ltm remember --kind preference --scope agent "Run the tests before you commit"
    git log -1 --format=%B | ltm remember -

    What you do not say (kind, impact, scope, tags) is inferred from the words, and said. If the
    same is known already, it is confirmed, or replaced by your newer wording. Secrets in it, and
    what stands in <private>…</private>, are never kept.
    """
    done = remember(
        work.store,
        Wish(
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
        ),
    )
    applied, memory = done.applied, done.applied.stored.memory
    if work.as_json:
        output.emit(
            {
                "id": memory.id,
                "action": applied.action,
                "title": memory.title,
                "kind": memory.kind,
                "impact": str(memory.impact),
                "scope": str(memory.scope),
                "tags": list(memory.tags),
                "path": applied.stored.path,
                "inferred": list(done.inferred),
                "superseded": list(applied.superseded),
                "redacted": list(done.redacted),
            }
        )
        return
    words = {
        "added": "Remembered",
        "superseded": "Remembered, replacing an older wording,",
        "reinforced": "Known already, now confirmed:",
    }
    output.say(f"{words[applied.action]} {memory.id} ({output.headline(memory)})")
    output.say(f"  in {applied.stored.path}")
    if applied.action != "reinforced" and done.inferred:
        output.say(f"  inferred: {', '.join(done.inferred)}")
    if done.redacted:
        output.say(f"  redacted: {', '.join(done.redacted)} (not kept anywhere)")
    for old in applied.superseded:
        output.say(f"  replaced: {old} (bring it back with: ltm restore {old})")


def _text(words: tuple[str, ...]) -> str:
    if words and words != ("-",):
        return " ".join(words)
    if not words and sys.stdin.isatty():
        return ""
    return sys.stdin.read()
