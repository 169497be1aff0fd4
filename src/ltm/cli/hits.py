"""What `ltm recall` answers: hits for a person, or as JSON.

Apart from the command itself, so that a question in plain words is answered without the command
line library, in a quarter of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ltm.cli import output
from ltm.cli.context import Work
from ltm.errors import WrongUsage
from ltm.model import Filter, Hit, Status
from ltm.recall.passages import Quote, quote_record, quote_title
from ltm.recall.search import recall
from ltm.text.display import counted, estimate, one_line

MOST = 200
"""Hits that can be asked for at once."""

WEAK_SHOWN = 3
"""Weak matches that a person is shown; JSON has them all."""

_NO_FILTER = Filter()


def answer(
    work: Work,
    question: str,
    wanted: Filter,
    limit: int | None = None,
    *,
    sessions: bool = True,
    as_of: datetime | None = None,
) -> None:
    """Print what answers a question, as on a day where one is given."""
    if not question.strip():
        raise WrongUsage("there is nothing to look for", hint="type: ltm recall WORDS")
    most = limit or work.config.get("recall.limit")
    said = work.said if sessions else None
    found = recall(work.store, question, wanted, most, said=said, as_of=as_of)
    if work.as_json:
        output.emit({"hits": [hit_record(hit) for hit in found.hits], "total": found.total})
        return
    if not found.hits:
        nothing_found(work, question, wanted)
        return
    shown = say_hits(work, found.hits)
    left = found.total - shown
    if left and len(found.hits) == most and shown == most < MOST:
        output.note(f"{left:,} more; see more with --limit {min(found.total, MOST)}")
    elif left:  # no single session fills an answer, however long it may be
        output.note(f"{left:,} more with a lower rank; around a hit: ltm timeline --around ID")


def say_hits(work: Work, hits: Sequence[Hit | Quote]) -> int:
    """Print hits, the first few weak ones in a section of their own; how many were printed."""
    mark = output.marker(work.places.home)
    good = [hit for hit in hits if not hit.weak]
    weak = [hit for hit in hits if hit.weak][:WEAK_SHOWN]
    for place, hit in enumerate((*good, *weak)):
        if place == len(good):
            output.say("Weak matches:" if good else "Only weak matches:")
        if isinstance(hit, Quote):
            waits = output.WAITS if hit.waits else ""
            output.say(f"{one_line(hit.id)}  {waits}{one_line(quote_title(hit))}")
            for role, text in hit.exchange:
                output.say(f"    {role}: {one_line(text)}")
            output.say(f"    why: {one_line(hit.why)}; {counted(hit.tokens, 'token')}")
            continue
        memory = hit.stored.memory
        headline = f"{mark(hit.stored)}{output.memory_headline(memory)}"
        output.say(f"{output.shown_id(memory.id)}  {headline}")
        text = one_line(memory.summary or memory.text)[:300]
        if text != one_line(memory.title):  # a short memory stands in its headline already
            output.say(f"    {text}")
        price = counted(estimate(memory.text), "token")
        output.say(f"    {memory.day}; why: {hit.why}; {price}")
    return len(good) + len(weak)


def nothing_found(work: Work, question: str, wanted: Filter = _NO_FILTER) -> None:
    """Say that nothing answers a question, and what may be the reason."""
    from ltm.store.trust import waiting

    if wanted != _NO_FILTER:
        left = recall(work.store, question, _NO_FILTER, 1, counts=False).total
        if left:
            others = f"{counted(left, 'memory')} {'matches' if left == 1 else 'match'}"
            output.note(
                f"Nothing found for '{question}' with {_options(wanted)}; without that, {others}."
            )
            return
    output.note(f"Nothing found for '{question}'. Try other words, or 'ltm list'.")
    untrusted = waiting(work.store, work.places).untrusted
    if untrusted:
        output.note(
            f"Not searched: {counted(untrusted, 'memory')} that came with this repository;"
            " if you trust it, type: ltm trust"
        )


def _options(wanted: Filter) -> str:
    """A filter as it is typed."""
    words: list[tuple[str, object]] = [("--kind", each) for each in wanted.kinds]
    words += [("--tag", each) for each in wanted.tags]
    words += [("--phase", int(each)) for each in wanted.phases]
    words += [("--scope", each) for each in wanted.scopes]
    words += [("--state", wanted.state)] if wanted.state else []
    words += [("--status", each) for each in wanted.statuses if each is not Status.ACTIVE]
    return " ".join(f"{option} {value}" for option, value in words)


def hit_record(hit: Hit | Quote) -> dict[str, Any]:
    """A hit as JSON."""
    if isinstance(hit, Quote):
        return quote_record(hit)
    memory = hit.stored.memory
    return {
        "id": memory.id,
        "title": memory.title,
        "kind": memory.kind,
        "score": round(hit.score, 4),
        "why": hit.why,
        "weak": hit.weak,
        "text": memory.text,
        "created": output.moment(memory.created),
        "tokens": estimate(memory.text),
        "quarantined": memory.status is Status.QUARANTINED,
        "source": output.source(hit.stored),
    }
