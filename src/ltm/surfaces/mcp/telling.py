"""What was said in sessions, as results of tools: a hit, a line, a timeline.

Owns how passages look to an agent. They are data twice over: what a person typed, an agent wrote or
a tool printed, in that order of trust, and each says which it is. What a tool printed is not
verified.
"""

from __future__ import annotations

from datetime import date

from ltm.core.counting import counted
from ltm.core.errors import WrongUsage
from ltm.core.model import Stored
from ltm.core.passage import ASSISTANT, TOOL, USER, Header, Passage
from ltm.core.tokens import estimate
from ltm.inject.fence import harmless
from ltm.inject.said import shorten
from ltm.recall.quote import Quote
from ltm.recall.retell import TimelineEvent, retell
from ltm.recall.retell import around as told_around
from ltm.surfaces.mcp import page
from ltm.surfaces.mcp.call import Call

_BY = {USER: "typed by the user", ASSISTANT: "written by the agent", TOOL: "printed by a tool"}
_LINE = 200


def quoted_hit(quote: Quote, why: str = "", most: int = 280) -> str:
    """A passage that answers a question: where it stands, who said it, and what it costs."""
    told = "; ".join(each for each in (why, f"{counted(quote.tokens, 'token')} to open") if each)
    return f"{passage_head(quote.passage)}\n  {shorten(harmless(quote.excerpt), most)}\n  {told}"


def quoted_line(passage: Passage, most: int = _LINE) -> str:
    """A passage on one line."""
    price = f"{counted(estimate(passage.text), 'token')} to open"
    return f"{passage_head(passage)}: {shorten(harmless(passage.text[: most * 8]), most)} ({price})"


def memory_timeline(
    call: Call,
    around: str = "",
    query: str = "",
    since: str = "",
    until: str = "",
    limit: int = 30,
) -> str:
    """What was said around a hit, or what happened when, in the order of time."""
    if around.strip() and query.strip():
        raise WrongUsage("memory_timeline takes around or query", hint="give one of them")
    if around.strip():
        told = told_around(call.store, call.said, around.strip())
        about = f"Around {shorten(harmless(around), 80)}"
    else:
        told = retell(
            call.store,
            call.said,
            limit,
            words=query,
            since=_day(since, "since"),
            until=_day(until, "until"),
        )
        about = "Sessions and memories"
    if not told.events:
        return "Nothing is known of that time. Without arguments the newest is shown."
    left = told.total - len(told.events)

    def last(shown: int) -> str:
        unseen = len(told.events) - shown
        more = f"{unseen} later did not fit; ask with since. " if unseen else ""
        earlier = f"{left} earlier: ask with until, or a higher limit. " if left else ""
        return f"{more}{earlier}get_memory(id) opens one."

    return page.fitted(
        f"{about}, in the order of time. {page.NOTICE}",
        [_event(call, each) for each in told.events],
        last,
    )


def _event(call: Call, event: TimelineEvent) -> str:
    what = event.what
    when = event.at[:16].replace("T", " ") or "some time"
    if isinstance(what, Header):
        title = shorten(harmless(what.title), _LINE)
        return f"{when} session {harmless(what.id)}: {title} ({counted(what.turns, 'turn')})"
    if isinstance(what, Stored):
        return f"{when} memory {call.headline(what.memory)}"
    return f"{when} {quoted_line(what)}"


def passage_head(passage: Passage) -> str:
    """Where a passage stands, who said it, and when."""
    by = _BY.get(passage.role, passage.role)
    day = passage.at[:10] or "at an unknown time"
    return f"{harmless(passage.citation)} [session, {by}] {day}"


def _day(said: str, name: str) -> date | None:
    if not said.strip():
        return None
    try:
        return date.fromisoformat(said.strip()[:10])
    except ValueError:
        raise WrongUsage(f"{name} is not a day: '{said}'", hint="write it as 2026-03-01") from None
