"""The tools that find memories and what was said: recall, search, ask, related, list.

Each asks a flow and writes down what it found. A list shows what opening a memory would cost and
leaves the opening to `get_memory`, so that an agent pays for what it needs.
"""

from __future__ import annotations

from collections.abc import Sequence

from ltm.core.counting import counted
from ltm.core.errors import WrongUsage
from ltm.core.model import Filter, Hit, Memory, Phase, Status, Stored
from ltm.inject.fence import harmless
from ltm.inject.said import shorten
from ltm.recall.quote import Quote, cited_as
from ltm.recall.related import related
from ltm.recall.retell import cited, is_citation
from ltm.recall.search import Recalled
from ltm.recall.search import recall as find
from ltm.surfaces.mcp import page
from ltm.surfaces.mcp.call import Call
from ltm.surfaces.mcp.telling import quoted_hit, quoted_line

_OPEN = "get_memory(id) opens one."


def recall(call: Call, query: str, limit: int | None = None, tokens: int | None = None) -> str:
    """The best hits with the beginning of each, why it is there and what it costs."""
    found = _found(call, query, Filter(), limit or call.config.get("recall.limit"))
    if not found.hits:
        return _nothing(query)

    def last(shown: int) -> str:
        return _more(found.total - shown, "ask with more precise words, or a higher limit") + _OPEN

    return page.fitted(
        f"{counted(found.total, 'record')} found for '{_asked(query)}', best first. {page.NOTICE}",
        [_shown(call, hit, f"why: {harmless(hit.why)}") for hit in found.hits],
        last,
        tokens,
    )


def memory_search(call: Call, query: str, limit: int = 20) -> str:
    """Many hits, one line each; replaced ones too, because they are the history."""
    wanted = Filter(statuses=(Status.ACTIVE, Status.SUPERSEDED))
    found = _found(call, query, wanted, limit)
    if not found.hits:
        return _nothing(query)

    def last(shown: int) -> str:
        return _more(found.total - shown, "ask with more precise words, or a higher limit") + _OPEN

    return page.fitted(
        f"{counted(found.total, 'record')} found for '{_asked(query)}', best first. {page.NOTICE}",
        [_short(call, hit) for hit in found.hits],
        last,
    )


def memory_ask(call: Call, question: str) -> str:
    """An answer that cites memories, or the evidence for one; it says which it is."""
    from ltm.surfaces.ask import ask

    found = ask(call.store, call.places, call.config, question, said=call.said)
    if not found.hits:
        return _nothing(question)
    if found.text:
        resting = [hit for hit in found.hits if cited_as(hit) in found.cited]
        return page.fitted(
            f"Answer a model wrote from {counted(len(found.hits), 'record')}, to be judged:\n"
            f"{page.quoted(found.text)[0]}\nIt rests on:",
            [_shown(call, hit, "") for hit in resting],
            lambda shown: _OPEN,
        )

    def last(shown: int) -> str:
        return f"Answer from these and cite the ids; {shown} of {found.total} shown. {_OPEN}"

    return page.fitted(
        f"{harmless(found.note)} Asked: '{_asked(question)}'. Best first. {page.NOTICE}",
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
    elif is_citation(id):
        return _beside(call, id, limit)
    else:
        # Asked for more than is shown where a kind is wanted, since the flow knows nothing of it.
        centre, relations = related(call.store, call.read(id).memory.id, 200 if name else limit)
        pairs = [(each.stored, each.how) for each in relations]
        about = f"related to {page.headline(centre.memory)}"
    chosen = [pair for pair in pairs if name in ("", pair[0].memory.kind)]
    if not chosen:
        return f"Nothing is {about}."
    call.store.used(stored.memory.id for stored, _ in chosen[:limit])
    blocks = [f"{_line(call, stored.memory)}\n  {harmless(how)}" for stored, how in chosen[:limit]]

    def last(shown: int) -> str:
        return _more(len(chosen) - shown, "use a higher limit") + _OPEN

    return page.fitted(f"{counted(len(chosen), 'memory')} {about}. {page.NOTICE}", blocks, last)


def _beside(call: Call, citation: str, limit: int) -> str:
    """What belongs to something that was said: what it taught, and what else speaks of it."""
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
            blocks.append(f"{quoted_line(hit.passage)}\n  speaks of the same things")
        elif not isinstance(hit, Quote) and hit.stored.memory.id not in known:
            blocks.append(f"{_line(call, hit.stored.memory)}\n  speaks of the same things")
    if not blocks:
        return f"Nothing is related to {harmless(first.citation)}."
    head = f"Related to {harmless(first.citation)}. {page.NOTICE}"
    return page.fitted(head, blocks[:limit], lambda shown: _OPEN)


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
    )
    items, total = _listed(call, wanted, keyword.strip().casefold(), limit, offset)
    if not total:
        return "No memories match." if wanted != Filter() or keyword else _EMPTY
    if not items:
        return f"Nothing from offset {offset} on: {counted(total, 'memory')} in all."

    def last(shown: int) -> str:
        after = offset + shown
        return _more(total - after, f"go on with offset={after}") + _OPEN

    return page.fitted(
        f"{counted(total, 'memory')} in all, newest first, from {offset + 1}. {page.NOTICE}",
        [_line(call, each.memory) for each in items],
        last,
    )


_EMPTY = "There are no memories yet. store_memory keeps the first."


def _found(call: Call, query: str, wanted: Filter, limit: int) -> Recalled:
    if not query.strip():
        raise WrongUsage("there is nothing to look for", hint="ask with some words")
    return find(call.store, query, wanted, limit, said=call.said)


def _listed(
    call: Call, wanted: Filter, keyword: str, limit: int, offset: int
) -> tuple[Sequence[Stored], int]:
    """A stretch of the memories that fit, and how many fit in all."""
    if not keyword:
        listing = call.store.list(wanted, limit, offset)
        return listing.items, listing.total
    fitting = [
        each for each in call.store.list(wanted).items if keyword in each.memory.title.casefold()
    ]
    return fitting[offset : offset + limit], len(fitting)


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
        return quoted_hit(hit, why, most)
    return _entry(call, hit.stored.memory, why, most)


def _short(call: Call, hit: Hit | Quote) -> str:
    if isinstance(hit, Quote):
        return quoted_line(hit.passage)
    return _line(call, hit.stored.memory)


def _entry(call: Call, memory: Memory, why: str, most: int = 280) -> str:
    parts = [call.headline(memory)]
    said = page.excerpt(memory, most)
    if said and said != harmless(memory.title):
        parts.append(f"  {said}")
    parts.append("  " + "; ".join(each for each in (why, memory.day, page.price(memory)) if each))
    return "\n".join(parts)


def _line(call: Call, memory: Memory) -> str:
    tags = f" #{' #'.join(shorten(harmless(tag), 30) for tag in memory.tags[:5])}"
    told = f"{memory.day}; {page.price(memory)}"
    return f"{call.headline(memory)}{tags if memory.tags else ''} ({told})"


def _asked(text: str) -> str:
    return shorten(harmless(text), 120)


def _more(left: int, how: str) -> str:
    return f"{left} more: {how}. " if left > 0 else ""


def _nothing(query: str) -> str:
    return f"Nothing found for '{_asked(query)}'. Try fewer or other words, or list_memories."
