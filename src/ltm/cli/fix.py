"""`ltm fix`: how an error was fixed before."""

from __future__ import annotations

import sys

import click

from ltm.capture.fixes import telling_line
from ltm.cli import output
from ltm.cli.command import Work, command, limit_option
from ltm.cli.hits import MOST, hit_record, say_hits
from ltm.cli.output import memory_record, say_memory, say_passage
from ltm.errors import WrongUsage
from ltm.history.passage import Passage
from ltm.model import Filter, Hit
from ltm.recall.fix_error import Case, solve
from ltm.recall.passages import Quote, passage_record
from ltm.recall.search import recall
from ltm.text.display import one_line
from ltm.text.sentences import shortened

_MOST = 1_000_000  # bytes of an output that are read


@command("fix")
@click.argument("error", nargs=-1, required=True)
@limit_option(5, most=MOST)
def fix_command(work: Work, error: tuple[str, ...], limit: int) -> None:
    """Show how ERROR was fixed before; `-` reads the output of a failing command.

    \b
    ltm fix "connect ECONNREFUSED 127.0.0.1:5432"
    make test 2>&1 | ltm fix -

    Line numbers, addresses, times and folders are ignored. Lists memories about the error first,
    then sessions that had it: the command that failed, what was changed, and the command that
    passed. For an error that is not known, the nearest memories and sessions are listed.
    """
    text = " ".join(error)
    if text == "-":
        text = sys.stdin.buffer.read(_MOST).decode("utf-8", "replace")
    if not text.strip():
        raise WrongUsage("there is no error to look for", hint='type: ltm fix "ERROR TEXT"')
    lines = [line for line in text.splitlines() if line.strip()]
    # What an output says went wrong is its best line; a single line is asked for as it is.
    asked = lines[0].strip() if len(lines) == 1 else telling_line(text) or "\n".join(lines[-3:])
    found = solve(work.store, work.said, asked, limit)
    nearest: tuple[Hit | Quote, ...] = ()
    if not found.total:
        nearest = recall(work.store, asked, Filter(), limit, said=work.said).hits
    if work.as_json:
        output.emit(
            {
                "error": asked,
                "memories": [
                    {**memory_record(each.stored), "likeness": round(each.likeness, 3)}
                    for each in found.memories
                ],
                "cases": [_record(each) for each in found.cases],
                "total": found.total,
                "nearest": [hit_record(hit) for hit in nearest],
            }
        )
        return
    if not found.total:
        shown = shortened(one_line(asked), 120)
        output.note(f"This error is not known: {shown}")
        if nearest:
            output.say("Nearest:")
            say_hits(work, nearest, asked)
        return
    for known in found.memories:
        say_memory(work, known.stored)
    for case in found.cases:
        _say(case)
    left = found.total - len(found.memories) - len(found.cases)
    if left:
        output.note(f"{left} more; see more with --limit {min(limit + left, MOST)}")


def _say(case: Case) -> None:
    day = case.error.at[:10] or "at an unknown time"
    end = "solved" if case.passed else "not seen to pass"
    output.say(f"session {one_line(case.error.session)}  {day}, {end}")
    say_passage("", case.error)
    for label, passages in (
        ("command, ", (case.command,)),
        ("change, ", case.changes),
        ("passed, ", (case.passed,)),
        ("then ", (case.said,)),
    ):
        for passage in passages:
            if passage is not None:
                say_passage(label, passage)


def _record(case: Case) -> dict[str, object]:
    def one(passage: Passage | None) -> object:
        return None if passage is None else passage_record(passage)

    return {
        "session": case.error.session,
        "solved": case.passed is not None,
        "likeness": round(case.likeness, 3),
        "error": one(case.error),
        "command": one(case.command),
        "changes": [one(each) for each in case.changes],
        "passed": one(case.passed),
        "said": one(case.said),
    }
