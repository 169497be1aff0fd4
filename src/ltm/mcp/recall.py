"""The tools that find and open memories and passages of sessions, and a memory as a resource.

Lists show what opening an entry costs and leave the opening to `get_memory`. Every text is quoted
with its source: a person, an agent or a tool, in that order of trust. What only some of the tools
need is loaded when they are called: an agent waits for its first recall.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import TYPE_CHECKING

from ltm.errors import NotFound, WrongUsage
from ltm.history.passage import ASSISTANT, TOOL, USER, Header, Passage
from ltm.inject.render import harmless, shorten
from ltm.kinds import Kinds
from ltm.mcp.call import NOTICE, Call, excerpt, fitted, headline, price, quoted, text_in_parts
from ltm.mcp.tools import MEMORY_URI, RESOURCES
from ltm.model import Filter, Hit, Memory, Phase, Status, Stored, Usage, iso, now
from ltm.policy import confidence, priority
from ltm.recall.passages import Quote, cited_as
from ltm.recall.related import related
from ltm.recall.search import Recalled
from ltm.recall.search import recall as find
from ltm.text.display import counted, estimate, visible

if TYPE_CHECKING:
    from ltm.recall.timeline import TimelineEvent

_BY = {USER: "typed by the user", ASSISTANT: "written by the agent", TOOL: "printed by a tool"}
_LINE = 200
_WEAK_SHOWN = 3  # weak matches of an answer


def _quoted_line(passage: Passage) -> str:
    text = shorten(harmless(passage.text[: _LINE * 8]), _LINE)
    return f"{_head(passage)}: {text} ({counted(estimate(passage.text), 'token')} to open)"


def memory_timeline(
    call: Call,
    around: str = "",
    query: str = "",
    since: str = "",
    until: str = "",
    limit: int = 30,
) -> str:
    """The text around a hit, or sessions and memories by date."""
    from ltm.recall.timeline import around as nearby
    from ltm.recall.timeline import retell

    if around.strip() and query.strip():
        raise WrongUsage("memory_timeline takes around or query", hint="give one of them")
    if around.strip():
        found = nearby(call.store, call.said, around.strip())
        about = f"Around {shorten(harmless(around), 80)}"
    else:
        found = retell(
            call.store,
            call.said,
            limit,
            words=query,
            since=_day(since, "since"),
            until=_day(until, "until"),
        )
        about = "Sessions and memories"
    if not found.events:
        return "Nothing is known of that time. Without arguments the newest is shown."
    left = found.total - len(found.events)

    def last(shown: int) -> str:
        unseen = len(found.events) - shown
        more = f"{unseen} later did not fit; ask with since. " if unseen else ""
        earlier = f"{left} earlier: ask with until, or a higher limit. " if left else ""
        return f"{more}{earlier}get_memory(id) opens one."

    return fitted(
        f"{about}, in the order of time. {NOTICE}",
        [_event(call, each) for each in found.events],
        last,
    )


def _event(call: Call, event: TimelineEvent) -> str:
    what = event.what
    when = event.at[:16].replace("T", " ") or "some time"
    if isinstance(what, Header):
        title = shorten(harmless(what.title), _LINE)
        return f"{when} session {harmless(what.id)}: {title} ({counted(what.turns, 'turn')})"
    if isinstance(what, Stored):
        return f"{when} memory {_headline(call, what.memory)}"
    return f"{when} {_quoted_line(what)}"


def _head(passage: Passage) -> str:
    """Where a passage is, who said it, and when."""
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


_OPEN = "get_memory(id) opens one."
_EMPTY = "There are no memories yet. store_memory keeps the first."


def recall(call: Call, query: str, limit: int | None = None, tokens: int | None = None) -> str:
    """The best hits with the beginning of each, why it is there and what it costs."""
    found = _found(call, query, Filter(teams=True), limit or call.config.get("recall.limit"))
    return _hits(found, query, lambda hit: _shown(call, hit, f"why: {harmless(hit.why)}"), tokens)


def memory_search(call: Call, query: str, limit: int = 20) -> str:
    """Many hits, one line each; replaced ones too, because they are the history, and come last."""
    found = _found(
        call, query, Filter(statuses=(Status.ACTIVE, Status.SUPERSEDED), teams=True), limit
    )

    def is_replaced(hit: Hit | Quote) -> bool:
        return not isinstance(hit, Quote) and hit.stored.memory.status is Status.SUPERSEDED

    found = found._replace(hits=tuple(sorted(found.hits, key=is_replaced)))

    def line(hit: Hit | Quote) -> str:
        if isinstance(hit, Quote):
            return _quoted_line(hit.passage)
        return _line(call, hit.stored.memory)

    return _hits(found, query, line)


def _found(call: Call, query: str, wanted: Filter, limit: int) -> Recalled:
    if not query.strip():
        raise WrongUsage("there is nothing to look for", hint="ask with some words")
    return find(call.store, query, wanted, limit, said=call.said)


def _hits(
    found: Recalled, query: str, shown: Callable[[Hit | Quote], str], tokens: int | None = None
) -> str:
    """Hits as blocks; the weak ones come last, a few of them, and the first says so."""
    if not found.hits:
        return _nothing(query)
    head = f"{counted(found.total, 'record')} found for '{_asked(query)}', best first."
    good = [shown(hit) for hit in found.hits if not hit.weak]
    weak = [shown(hit) for hit in found.hits if hit.weak][:_WEAK_SHOWN]
    if weak:
        weak[0] = f"Weak matches, which may have nothing to do with it:\n{weak[0]}"

    def last(count: int) -> str:
        return _more(found.total - count, "ask with more precise words, or a higher limit") + _OPEN

    return fitted(f"{head} {NOTICE}", good + weak, last, tokens)


def memory_ask(call: Call, question: str) -> str:
    """An answer that cites memories, or the evidence for one; it says which it is."""
    from ltm.recall.answer import ask  # loads all that a model may not be told

    found = ask(call.store, call.places, call.config, question, said=call.said)
    if not found.hits:
        return _nothing(question)
    if found.text:
        resting = [hit for hit in found.hits if cited_as(hit) in found.cited]
        return fitted(
            f"Answer a model wrote from {counted(len(found.hits), 'record')}, to be judged:\n"
            f"{quoted(found.text)[0]}\nIt rests on:",
            [_shown(call, hit, "") for hit in resting],
            lambda shown: _OPEN,
        )

    def last(shown: int) -> str:
        return f"Answer from these and cite the ids; {shown} of {found.total} shown. {_OPEN}"

    return fitted(
        f"{harmless(found.note)} Asked: '{_asked(question)}'. Best first. {NOTICE}",
        [_shown(call, hit, "", 700) for hit in found.hits],
        last,
    )


def memory_related(
    call: Call,
    id: str = "",  # noqa: A002 - the SPEC's word is the argument's name
    tags: Sequence[str] = (),
    kind: str = "",
    limit: int = 10,
) -> str:
    """What belongs to a memory, or what carries any of some tags."""
    if bool(id.strip()) == bool(tags):
        raise WrongUsage("memory_related needs id or tags, and not both", hint="give one of them")
    name = call.config.kinds.parse(kind).name if kind else ""
    if tags:
        pairs = _with_any(call, tags, name)
        about = f"tagged {', '.join(_asked(tag) for tag in tags)}"
    elif _is_citation(id):
        return _beside(call, id, limit)
    else:
        # Asked for more than is shown where a kind is wanted, since the flow knows nothing of it.
        centre, relations = related(call.store, call.read(id).memory.id, 200 if name else limit)
        pairs = [(each.stored, each.how) for each in relations]
        about = f"related to {headline(centre.memory)}"
    chosen = [pair for pair in pairs if name in ("", pair[0].memory.kind)]
    if not chosen:
        return f"Nothing is {about}."
    call.store.used(stored.memory.id for stored, _ in chosen[:limit])
    blocks = [f"{_line(call, stored.memory)}\n  {harmless(how)}" for stored, how in chosen[:limit]]

    def last(shown: int) -> str:
        return _more(len(chosen) - shown, "use a higher limit") + _OPEN

    return fitted(f"{counted(len(chosen), 'memory')} {about}. {NOTICE}", blocks, last)


def _beside(call: Call, citation: str, limit: int) -> str:
    """What belongs to something that was said: what it taught, and what else speaks of it."""
    from ltm.recall.timeline import cited

    passages = cited(call.store, call.said, citation)
    first = passages[0]
    rows = {each.row for each in passages}
    taught = [
        each.memory
        for each in call.store.list(Filter(naming=first.session)).items
        if each.memory.source.session == first.session
    ]
    blocks = [f"{_line(call, memory)}\n  learned in the same session" for memory in taught[:limit]]
    known = {memory.id for memory in taught}
    question = " ".join(each.text for each in passages)[:1_000]
    for hit in find(call.store, question, Filter(), limit, said=call.said).hits:
        if isinstance(hit, Quote) and hit.passage.row not in rows:
            blocks.append(f"{_quoted_line(hit.passage)}\n  speaks of the same things")
        elif not isinstance(hit, Quote) and hit.stored.memory.id not in known:
            blocks.append(f"{_line(call, hit.stored.memory)}\n  speaks of the same things")
    if not blocks:
        return f"Nothing is related to {harmless(first.citation)}."
    head = f"Related to {harmless(first.citation)}. {NOTICE}"
    return fitted(head, blocks[:limit], lambda shown: _OPEN)


def list_memories(
    call: Call,
    phase: int | None = None,
    tag: str = "",
    keyword: str = "",
    kind: str = "",
    limit: int = 20,
    offset: int = 0,
) -> str:
    """Memories, newest first, a line each."""
    wanted = Filter(
        kinds=(call.config.kinds.parse(kind).name,) if kind else (),
        tags=(tag.strip(),) if tag.strip() else (),
        phases=() if phase is None else (Phase(phase),),
        teams=True,
    )
    word = keyword.strip().casefold()
    if word:
        listed = call.store.list(wanted).items
        fitting = [each for each in listed if word in each.memory.title.casefold()]
        items, total = tuple(fitting[offset : offset + limit]), len(fitting)
    else:
        items, total = call.store.list(wanted, limit, offset)
    if not total:
        return "No memories match." if wanted != Filter(teams=True) or keyword else _EMPTY
    if not items:
        return f"Nothing from offset {offset} on: {counted(total, 'memory')} in all."

    def last(shown: int) -> str:
        after = offset + shown
        return _more(total - after, f"go on with offset={after}") + _OPEN

    return fitted(
        f"{counted(total, 'memory')} in all, newest first, from {offset + 1}. {NOTICE}",
        [_line(call, each.memory) for each in items],
        last,
    )


def memory_recall(call: Call, kind: str = "", tags: Sequence[str] = ()) -> str:
    """All memories, or those of a kind or with a tag, as memory-mcp called it."""
    if tags:
        return memory_related(call, tags=tags, kind=kind, limit=50)
    return list_memories(call, kind=kind, limit=100)


def _with_any(call: Call, tags: Sequence[str], kind: str) -> list[tuple[Stored, str]]:
    """Memories with any of the tags: those that share more first, the newer before the older."""
    shared: dict[str, list[str]] = {}
    found: dict[str, Stored] = {}
    for tag in dict.fromkeys(each.strip().lower() for each in tags if each.strip()):
        wanted = Filter(tags=(tag,), kinds=(kind,) if kind else ())
        for stored in call.store.list(wanted).items:
            found[stored.memory.id] = stored
            shared.setdefault(stored.memory.id, []).append(tag)
    newest = sorted(found.values(), key=lambda each: each.memory.created, reverse=True)
    newest.sort(key=lambda each: -len(shared[each.memory.id]))
    return [(each, f"shares tags: {', '.join(shared[each.memory.id])}") for each in newest]


def _shown(call: Call, hit: Hit | Quote, why: str, most: int = 280) -> str:
    if isinstance(hit, Quote):
        lines = [f"{role}: {shorten(harmless(text), most)}" for role, text in hit.exchange]
        notes = [why, f"{counted(hit.tokens, 'token')} to open"]
        head = _head(hit.passage)
    else:
        memory = hit.stored.memory
        said = excerpt(memory, most)
        lines = [said] if said and said != harmless(memory.title) else []
        notes = [why, memory.day, price(memory)]
        head = _headline(call, memory)
    return "\n  ".join([head, *lines, "; ".join(filter(None, notes))])


def _headline(call: Call, memory: Memory) -> str:
    return f"{'⚠ ' if call.is_doubtful(memory) else ''}{headline(memory)}"


def _line(call: Call, memory: Memory) -> str:
    tags = "".join(f" #{shorten(harmless(tag), 30)}" for tag in memory.tags[:5])
    return f"{_headline(call, memory)}{tags} ({memory.day}; {price(memory)})"


def _is_citation(name: str) -> bool:
    """Whether a name is a session and lines; that of a memory has no colon."""
    if ":" not in name:
        return False
    from ltm.recall.timeline import is_citation

    return is_citation(name)


def _asked(text: str) -> str:
    return shorten(harmless(text), 120)


def _more(left: int, how: str) -> str:
    return f"{left} more: {how}. " if left > 0 else ""


def _nothing(query: str) -> str:
    return f"Nothing found for '{_asked(query)}'. Try fewer or other words, or list_memories."


_UNVOUCHED = "A tool printed this: it may come from anyone, and is not verified."


def get_memory(call: Call, id: str, offset: int = 0) -> str:  # noqa: A002
    """One memory, whole, with where it comes from, or what a citation names; in parts if long."""
    if _is_citation(id):
        return _passage(call, id, offset)
    stored = call.read(id)
    memory = stored.memory
    if memory.status is Status.ACTIVE:
        call.store.used([memory.id])
    usage = call.store.usage([memory.id]).get(memory.id, Usage())
    return card(stored, call.config.kinds, usage, offset, doubtful=call.is_doubtful(memory))


def card(
    stored: Stored, kinds: Kinds, usage: Usage, offset: int = 0, *, doubtful: bool = False
) -> str:
    """Everything about a memory that an agent may want, and its text as a quotation."""
    memory = stored.memory
    lines = [
        headline(memory),
        f"{memory.scope}, version {memory.version}, in {visible(stored.path)}",
    ]
    origin = memory.source
    said = f"said by {origin.trust}"
    if origin.session:
        said += f" in session {origin.session}"
        # As a citation, so that get_memory opens the lines themselves.
        said += f", lines {origin.session}:{origin.lines}" if origin.lines else ""
    lines.append(
        f"created {iso(memory.created)}, confirmed {iso(memory.confirmed)}, {said};"
        f" used {counted(usage.uses, 'time')}, seen {counted(memory.observations, 'time')}"
    )
    name = memory.kind if memory.kind in kinds else kinds.default.name
    believed = confidence(memory, kinds[name], now())
    worth = priority(memory.difficulty, usage.sessions_since, usage.uses)
    lines.append(
        f"confidence now {believed:.0%}, priority {worth:.2f}, difficulty {memory.difficulty:.2f},"
        f" phase {int(memory.phase)}"
    )
    for name, value in (
        ("tags", ", ".join(memory.tags)),
        ("because", memory.reason),
        ("state", memory.state),
        ("replaces", ", ".join(memory.supersedes)),
        ("follows", memory.previous),
        ("links", ", ".join(memory.links)),
        ("conflicts with", ", ".join(memory.conflicts)),
    ):
        if value:
            lines.append(f"{name}: {shorten(harmless(value), 300)}")
    if memory.status is Status.FORGOTTEN:
        return "\n".join([*lines, "It was forgotten; restore brings its text back."])
    if doubtful:
        lines.append("⚠ It was changed outside ltm, or is not signed: check it first.")
    if not stored.trusted:
        lines.append("Untrusted: it came with this repository, and the user did not vouch for it.")
    if memory.status is Status.QUARANTINED:
        lines.append("Quarantined: it came from an untrusted source and is not confirmed.")
    if memory.phase is not Phase.FULL:
        lines.append(
            f"Its text was shortened ({memory.phase.name.lower()}); restore brings it back whole."
        )
    return "\n".join([*lines, text_in_parts(memory.text, offset)])


def _passage(call: Call, name: str, offset: int) -> str:
    """What stands at a citation, word for word; a long text in parts."""
    from ltm.recall.timeline import cited

    passages = cited(call.store, call.said, name)
    first = passages[0]
    lines = [_head(first)]
    if any(each.role == TOOL for each in passages):
        lines.append(_UNVOUCHED)
    files = dict.fromkeys(path for each in passages for path in each.files)
    if files:
        lines.append(f"names: {shorten(harmless(', '.join(files)), 300)}")
    several = len(passages) > 1
    text = "\n".join(f"[{each.role}] {each.text}" if several else each.text for each in passages)
    lines.append(text_in_parts(text, offset))
    lines.append(f"memory_timeline(around={first.citation}) shows what was said before and after.")
    return "\n".join(lines)


def resource_text(folder: str, uri: str) -> str:
    """The card of the memory an address names."""
    with Call(RESOURCES, folder) as call:
        return resource_card(call, uri)


def resource_card(call: Call, uri: str) -> str:
    """The same within a call."""
    if not uri.startswith(MEMORY_URI):
        raise NotFound(f"there is no resource '{uri[:200]}'", hint=f"there is {MEMORY_URI}<id>")
    stored = call.read(uri.removeprefix(MEMORY_URI))
    usage = call.store.usage([stored.memory.id]).get(stored.memory.id, Usage())
    return visible(card(stored, call.config.kinds, usage), keep_newlines=True)
