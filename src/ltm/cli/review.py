"""`ltm review`: decide about statements of sessions that wait for confirmation."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from ltm.capture.remember import drop_candidates, keep_candidate
from ltm.capture.statements import AGENT, USER
from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.cli.remember import tell_result
from ltm.errors import WrongUsage
from ltm.model import Trust
from ltm.state.candidates import DAYS, CandidateRecord, Candidates, named
from ltm.text.display import counted, one_line
from ltm.text.judge import judge

_BY = "ltm review"


@command("review")
@click.argument("action", type=click.Choice(["keep", "drop"]), required=False)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="All that wait.")
@click.option("--why", is_flag=True, help="Show the words that counted most.")
def review_command(
    work: Work, action: str | None, ids: tuple[str, ...], everything: bool, why: bool
) -> None:
    """Keep or drop statements found in sessions; without an action, list them.

    \b
    ltm review
    ltm review keep 4kqtx
    ltm review drop --all

    These are statements of yours or of the agent that may be worth keeping. One that you keep
    becomes a memory; one that you drop does not come back. The rest is shown to the agent once, for
    confirmation, and expires 30 days after it was made.
    """
    candidates = Candidates(work.places.private)
    waiting = candidates.waiting()
    if action is None and everything:
        raise WrongUsage("--all goes with keep or drop", hint="try: ltm review keep --all")
    if action is not None and bool(ids) == everything:
        raise WrongUsage("name candidates, or give --all", hint=f"try: ltm review {action} --all")
    chosen = waiting if everything else named(waiting, ids)
    kept = []
    if action == "keep":
        tag = bool(work.config.get("auto_tag"))
        for each in chosen:
            done = keep_candidate(
                work.store, candidates, each, by=_BY, auto_tag=tag, by_person=True
            )
            kept.append((each, done))
            if not work.as_json:
                tell_result(done)
    elif action == "drop":
        drop_candidates(candidates, chosen)
    left = candidates.waiting()
    if work.as_json:
        output.emit(
            {
                "kept": [
                    {
                        "id": each.id,
                        "memory": done.applied.stored.memory.id,
                        "action": str(done.outcome),
                    }
                    for each, done in kept
                ],
                "dropped": [each.id for each in chosen] if action == "drop" else [],
                "waiting": [_as_json(each) | ({"why": _why(each)} if why else {}) for each in left],
            }
        )
        return
    if action is None:
        _show(left, why=why)
        return
    if action == "drop":
        output.say(f"Dropped {', '.join(each.id for each in chosen) or 'nothing'}")
    if left:
        output.note(f"{len(left)} still waiting; for the list: ltm review")


def _show(waiting: list[CandidateRecord], *, why: bool) -> None:
    if not waiting:
        output.note("Nothing to review.")
        return
    output.table(
        ("id", "said", "by", "kind", *(["why"] if why else []), "statement"),
        [
            (
                each.id,
                f"{_said(each):%Y-%m-%d}",
                each.trust,
                each.kind,
                *([_why(each)] if why else []),
                one_line(each.text),
            )
            for each in waiting
        ],
    )
    output.note(
        f"{counted(len(waiting), 'candidate')}. Keep one with 'ltm review keep ID', drop one with"
        f" 'ltm review drop ID', all with --all. They expire after {DAYS} days."
    )


def _why(record: CandidateRecord) -> str:
    """How probable it is that a statement is worth keeping, and the words that say so."""
    words = judge()[USER if record.trust == Trust.USER else AGENT].telling(record.text, "keep")
    return f"{record.weight / 10:.0f} %: {', '.join(words) or 'where it stands'}"


def _as_json(record: CandidateRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "text": record.text,
        "kind": record.kind,
        "impact": record.impact,
        "scope": record.scope,
        "source": {"trust": record.trust, "session": record.session, "lines": record.lines},
        "said": output.moment(_said(record)),
        "offered": output.moment(datetime.fromtimestamp(record.offered, UTC))
        if record.offered
        else None,
    }


def _said(record: CandidateRecord) -> datetime:
    return datetime.fromtimestamp(record.said, UTC)
