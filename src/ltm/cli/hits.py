"""What `ltm recall` answers: hits for a person, or as JSON.

Apart from the command itself, so that a question in plain words is answered without the command
line library, in a quarter of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ltm.cli import output
from ltm.cli.context import Work
from ltm.errors import WrongUsage
from ltm.model import Filter, Hit, Memory, Status
from ltm.recall.passages import Quote, quote_record, quote_title
from ltm.recall.search import recall
from ltm.text.display import counted, estimate, one_line
from ltm.text.sentences import shortened
from ltm.text.terms import matches, query_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 200
"""Hits that can be asked for at once."""

WEAK_SHOWN = 3
"""Weak matches that a person is shown; JSON has them all."""

_NO_FILTER = Filter(teams=True)
_LONG = 300


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
        hint = "type: ltm recall WORDS; without any, it needs a terminal"
        raise WrongUsage("there is nothing to look for", hint=hint)
    most = limit or work.config.get("recall.limit")
    said = work.said if sessions else None
    found = recall(work.store, question, wanted, most, said=said, as_of=as_of)
    if work.as_json:
        output.emit({"hits": [hit_record(hit) for hit in found.hits], "total": found.total})
        return
    if not found.hits:
        nothing_found(work, question, wanted)
        return
    with output.paged():
        shown = say_hits(work, found.hits, question)
    left = found.total - shown
    if left and len(found.hits) == most and shown == most < MOST:
        output.note(f"{left:,} more; see more with --limit {min(found.total, MOST)}")
    elif left:  # no single session fills an answer, however long it may be
        output.note(f"{left:,} more with a lower rank; around a hit: ltm timeline --around ID")


def say_hits(work: Work, hits: Sequence[Hit | Quote], question: str) -> int:
    """Print hits, the first few weak ones in a section of their own; how many were printed."""
    mark = output.marker(work.places.home)
    words = frozenset(query_terms(question))
    good = [hit for hit in hits if not hit.weak]
    weak = [hit for hit in hits if hit.weak][:WEAK_SHOWN]
    told: set[str] = set()
    for place, hit in enumerate((*good, *weak)):
        if place == len(good):
            output.say("Weak matches:" if good else "Only weak matches:")
        if isinstance(hit, Quote):
            waits = output.WAITS if hit.waits else ""
            output.say(f"{one_line(hit.id)}  {waits}{one_line(quote_title(hit))}")
            for role, text in hit.exchange:
                output.say_looks((f"    {role}: ", ""), *matches(one_line(text), words))
            _say_why(f"why: {one_line(hit.why)}", hit.tokens)
            continue
        memory = hit.stored.memory
        title, text = output.title_and_text(memory, memory.summary or memory.text, _LONG)
        output.say_looks(
            (f"{output.shown_id(memory.id)}  {mark(hit.stored)}", ""),
            (f"{memory.kind}, {memory.impact}: ", ""),
            *matches(title, words, "strong"),
        )
        if text:
            output.say_looks(("    ", ""), *matches(text, words))
        say_rivals(work, memory, told)
        _say_why(f"{memory.day}; why: {one_line(hit.why)}", estimate(memory.text))
    return len(good) + len(weak)


def _say_why(text: str, tokens: int) -> None:
    output.say_looks((f"    {text}; {counted(tokens, 'token')}", "faint"))


def say_rivals(work: Work, memory: Memory, told: set[str]) -> None:
    """Print the memories in force that say otherwise, but for those that were told already."""
    names = [name for name in memory.conflicts if name not in told]
    for stored in work.store.list(Filter(ids=tuple(names))).items if names else ():
        output.say_looks(
            ("    contradicts ", "warning"),
            (f"{output.shown_id(stored.memory.id)}: ", ""),
            (shortened(one_line(stored.memory.title), 80), ""),
            (" (decide with: ltm settle)", "faint"),
        )
    told.add(memory.id)


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
    for team in () if work.team else work.places.teams:
        if team.trusted is None:
            output.note(
                f"Not searched: memories of the team {team.name};"
                f" if you trust it, type: ltm trust team:{team.name}"
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
        "conflicts": list(memory.conflicts),
        "quarantined": memory.status is Status.QUARANTINED,
        "source": output.source(hit.stored),
    }
