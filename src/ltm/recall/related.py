"""What belongs to a memory, and all memories as a graph for the terminal, DOT, Mermaid and JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ltm.errors import NotFound
from ltm.model import Filter, Memory, Status, Stored
from ltm.store.store import Store
from ltm.text.display import one_line
from ltm.text.sentences import shortened
from ltm.text.similarity import pairs, tokens_of

_AGAINST = "contradicts"
LIKE = 0.4
"""Overlap of words from which two memories are drawn as alike."""

_TITLE = 60
_COMPARED = 2_000  # memories, the newest first: comparing more takes longer than a person waits
_TOLD = tuple(status for status in Status if status is not Status.QUARANTINED)


_BACKWARDS = {
    "replaces": "is replaced by",
    "is replaced by": "replaces",
    "was merged from": "was merged into",
    "links to": "is linked from",
    "follows": "is followed by",
}


@dataclass(frozen=True, slots=True)
class Relation:
    """Another memory and how it is related."""

    stored: Stored
    how: str


def related(store: Store, memory_id: str, limit: int) -> tuple[Stored, list[Relation]]:
    """The memory, and its relatives: named ones first, then those with common tags and words."""
    centre = store.read(memory_id)
    memory = centre.memory
    found: dict[str, Relation] = {}
    for how, ids in _named(memory):
        for each in ids:
            try:
                relative = store.read(each)
            except NotFound:
                continue  # purged since, or in a vault this project cannot see
            if relative.trusted and relative.memory.status is not Status.QUARANTINED:
                found.setdefault(each, Relation(relative, how))
    for other in store.list(Filter(statuses=_TOLD, naming=memory.id)).items:
        for how, ids in _named(other.memory):
            if memory.id in ids:
                found.setdefault(other.memory.id, Relation(other, _BACKWARDS[how]))
    if len(found) < limit:
        matches = store.search(f"{memory.title} {' '.join(memory.tags)}", Filter(), limit + 1)
        for stored in (each.stored for each in matches.items):
            shared = sorted(set(stored.memory.tags) & set(memory.tags))
            how = f"shares tags: {', '.join(shared)}" if shared else "speaks of the same things"
            found.setdefault(stored.memory.id, Relation(stored, how))
    found.pop(memory.id, None)
    return centre, list(found.values())[:limit]


def _named(memory: Memory) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (
        ("replaces", memory.supersedes),
        ("is replaced by", (memory.superseded_by,) if memory.superseded_by else ()),
        ("was merged from", memory.merged_from),
        ("links to", memory.links),
        ("follows", (memory.previous,) if memory.previous else ()),
    )


@dataclass(frozen=True, slots=True)
class Edge:
    """One memory's relation to another."""

    source: str
    target: str
    how: str


@dataclass(frozen=True, slots=True)
class Graph:
    """The memories shown, and the relations between any two of them."""

    memories: Mapping[str, Memory]
    edges: tuple[Edge, ...]


def graph(memories: Iterable[Memory]) -> Graph:
    """The graph of these memories; a relation to one that is not among them is left out."""
    nodes = {memory.id: memory for memory in memories}
    edges: dict[Edge, None] = {}
    for memory in nodes.values():
        for how, targets in (
            ("replaces", memory.supersedes),
            ("merged from", memory.merged_from),
            ("links to", memory.links),
        ):
            for target in targets:
                if target in nodes:
                    edges[Edge(memory.id, target, how)] = None
        for rival in memory.conflicts:
            if rival in nodes and Edge(rival, memory.id, _AGAINST) not in edges:
                edges[Edge(memory.id, rival, _AGAINST)] = None
        # A crash may have left only one side of a replacement.
        if memory.superseded_by in nodes:
            edges[Edge(memory.superseded_by, memory.id, "replaces")] = None
    return Graph(nodes, (*edges, *_likenesses(nodes.values(), edges)))


def _likenesses(memories: Iterable[Memory], edges: Iterable[Edge]) -> Iterator[Edge]:
    """An edge from the newer to the older of two that say nearly the same, unless there is one."""
    known = {frozenset((edge.source, edge.target)) for edge in edges}
    active = [each for each in memories if each.status is Status.ACTIVE]
    active.sort(key=lambda each: (each.created, each.id))
    newest = active[-_COMPARED:]
    for older, newer in pairs([tokens_of(each.text) for each in newest], LIKE):
        source, target = newest[newer].id, newest[older].id
        if frozenset((source, target)) not in known:
            yield Edge(source, target, "is like")


def as_json(shown: Graph) -> str:
    """Nodes and edges as one JSON value."""
    return json.dumps(
        {
            "nodes": [
                {
                    "id": memory.id,
                    "title": memory.title,
                    "kind": memory.kind,
                    "status": str(memory.status),
                }
                for memory in shown.memories.values()
            ],
            "edges": [
                {"source": edge.source, "target": edge.target, "how": edge.how}
                for edge in shown.edges
            ],
        },
        ensure_ascii=False,
    )


def as_dot(shown: Graph) -> str:
    """For Graphviz: `ltm graph --format dot | dot -Tsvg`."""
    lines = ["digraph memories {", "  rankdir=LR;", "  node [shape=box];"]
    for memory in shown.memories.values():
        style = "" if memory.status is Status.ACTIVE else ", style=dashed"
        lines.append(f"  {_quoted(memory.id)} [label={_quoted(_label(memory))}{style}];")
    lines += [
        f"  {_quoted(edge.source)} -> {_quoted(edge.target)} [label={_quoted(edge.how)}];"
        for edge in shown.edges
    ]
    return "\n".join([*lines, "}"])


def as_mermaid(shown: Graph) -> str:
    """For Markdown pages that draw Mermaid."""
    lines = ["graph LR"]
    for memory in shown.memories.values():
        label = _label(memory).replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")
        lines.append(f'  {memory.id}["{label}"]')
    lines += [f"  {edge.source} -->|{edge.how}| {edge.target}" for edge in shown.edges]
    return "\n".join(lines)


def as_text(shown: Graph) -> str:
    """For the terminal: what belongs together as a tree, and trees of one subject together.

    A subject is the tag that most memories share; what shares none comes last.
    """
    below: dict[str, list[Edge]] = {}
    for edge in shown.edges:
        below.setdefault(edge.source, []).append(edge)
    pointed = {edge.target for edge in shown.edges}
    tops = [name for name in shown.memories if name not in pointed] or list(shown.memories)[:1]
    counts = Counter(tag for memory in shown.memories.values() for tag in memory.tags)
    subjects: dict[str, list[str]] = {}
    drawn: set[str] = set()
    for top in tops:
        shared = [tag for tag in shown.memories[top].tags if counts[tag] > 1]
        subject = max(shared, key=lambda tag: counts[tag], default="")
        _draw(shown, below, top, subjects.setdefault(subject, []), drawn)
    names = sorted(filter(None, subjects), key=lambda tag: (-counts[tag], tag))
    if not names:
        return "\n".join(subjects.get("", []))
    parts = [[f"{one_line(name)}:", *subjects[name]] for name in names]
    if "" in subjects:
        parts.append(["of other subjects:", *subjects[""]])
    return "\n\n".join("\n".join(part) for part in parts)


def _draw(
    shown: Graph, below: Mapping[str, Sequence[Edge]], top: str, lines: list[str], drawn: set[str]
) -> None:
    """One chain, without recursion: chains of a kind grow as long as a project lives."""
    waiting: list[tuple[str, str, str, str]] = [(top, "", "", "")]
    while waiting:
        name, lead, branch, how = waiting.pop()
        memory = shown.memories[name]
        known = name in drawn
        text = _text(memory) + (" (see above)" if known else "")
        lines.append(f"{lead}{branch}{f'{how}: ' if how else ''}{text}")
        if known:
            continue
        drawn.add(name)
        indent = lead + {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
        edges = below.get(name, ())
        for place, edge in reversed(list(enumerate(edges))):
            last = place == len(edges) - 1
            waiting.append((edge.target, indent, "└─ " if last else "├─ ", edge.how))


def _text(memory: Memory) -> str:
    title = shortened(one_line(memory.title), _TITLE)
    shown = f"~~{title}~~" if memory.status is not Status.ACTIVE else title
    return f"{memory.id[-8:]} [{memory.kind}] {shown}"


def _label(memory: Memory) -> str:
    return f"{memory.kind}: {shortened(one_line(memory.title), _TITLE)}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


FORMS: Mapping[str, Callable[[Graph], str]] = {
    "text": as_text,
    "dot": as_dot,
    "mermaid": as_mermaid,
    "json": as_json,
}
"""Every form a graph can be written in, by name."""
