"""The MCP reference server's knowledge graph: `memory.jsonl`, a line per entity or relation."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from ltm.kinds import Kinds
from ltm.transfer.item import Item
from ltm.transfer.parse import kind_by_heading, listed, mapping, text_of
from ltm.transfer.source import Origin

_FILES = ("memory.jsonl", "memory.json")
_TYPES = ("entity", "relation")


def finds(origin: Origin) -> str | None:
    path = origin.find(*_FILES) if origin.is_folder else origin.path
    lines = origin.head(path, 65_536).splitlines()[:20] if path else ()
    return path if any(_record(line).get("type") in _TYPES for line in lines) else None


def read(origin: Origin, kinds: Kinds) -> Iterator[Item]:
    path = finds(origin)
    if path is None:
        return
    entities: dict[str, tuple[int, str, list[str]]] = {}
    relations: list[tuple[str, str, str]] = []
    for number, line in origin.lines(path):
        if not line.strip():
            continue
        record = _record(line)
        name = text_of(record.get("name"))
        if record.get("type") == "entity" and name.strip():
            known = entities.setdefault(name, (number, text_of(record.get("entityType")), []))
            known[2].extend(listed(record.get("observations")))
        elif record.get("type") == "relation" and record.get("from") and record.get("to"):
            ends = text_of(record["from"]), text_of(record["to"])
            relations.append((*ends, text_of(record.get("relationType")) or "related to"))
        else:
            origin.problem(path, "is neither an entity nor a relation", number)
    said: dict[str, list[str]] = defaultdict(list)
    links: dict[str, list[str]] = defaultdict(list)
    for start, end, how in relations:
        links[start].append(end)
        for name in {start, end}:
            said[name].append(f"{start} {how.replace('_', ' ')} {end}")
        for name in {start, end} - entities.keys():
            origin.problem(path, f"a relation names '{name}', which is not an entity")
    at = origin.modified(path)
    for name, (number, word, observations) in entities.items():
        lines = dict.fromkeys((*observations, *said[name]))
        yield Item(
            text="\n".join(f"- {each}" for each in lines) or name,
            path=path,
            line=number,
            kind=kind_by_heading(word, kinds) or kinds.default.name,
            word=word or "entity",
            title=name,
            legacy_id=name,
            created=at,
            tags=(word,) if word else (),
            links=tuple(dict.fromkeys(links[name])),
        )


def _record(line: bytes) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return mapping(record)
