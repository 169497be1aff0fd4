"""LTM/Anima: `~/.ltm/memories.db` (or `ltm.db`), and the JSON its `/memory-export` writes.

| there                                     | here                                               |
|-------------------------------------------|----------------------------------------------------|
| EMOTIONAL, ARCHITECTURAL, LEARNINGS,      | relationship, architecture, gotcha,                |
| ACHIEVEMENTS                              | achievement                                        |
| impact, confidence, version               | the same                                           |
| region AGENT, PROJECT                     | scope agent, project                               |
| agent                                     | the agent of that name; `anima`, which is that     |
|                                           | tool's default, is the agent you are               |
| project                                   | the project in that folder, else of that name      |
| original_content                          | summary and content; what decay left is not taken  |
| created_at                                | created, updated, confirmed                        |
| previous_memory_id                        | previous                                           |
| superseded_by                             | status superseded, both ways                       |
| superseded by a `[FORGOTTEN] …` row       | status forgotten; that row itself is left out      |
| id                                        | legacy_id                                          |
| last_accessed, token_count, signature,    | left out: the first two are computed, and keys are |
| signing_key                               | never read                                         |
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ltm.kinds import Kinds
from ltm.model import Impact, Scope, Status
from ltm.transfer.item import Item
from ltm.transfer.parse import (
    BROKEN,
    count,
    is_database,
    items,
    mapping,
    open_database,
    rows,
    share,
    tables,
    text_of,
    when,
)
from ltm.transfer.source import Origin

_FILES = ("memories.db", "ltm.db", ".ltm/memories.db", ".ltm/ltm.db")
_COLUMNS = {"region", "kind", "content"}
_FORGOTTEN = "[FORGOTTEN]"
_DEFAULT_AGENT = "anima"


def finds(origin: Origin) -> bool:
    """Whether there is such a database or export."""
    return _database(origin) is not None or _is_export(origin)


def read(origin: Origin, kinds: Kinds) -> Iterator[Item]:
    """Every memory, those that were superseded or forgotten included."""
    path = _database(origin)
    if path is None and is_database(origin, origin.path):
        problem = "is a database without a table 'memories' that keeps region, kind and content"
        origin.problem(origin.path, problem)
        return
    if path is None:
        yield from _exported(origin)
        return
    found: list[Mapping[str, Any]] = []
    agents: dict[str, str] = {}
    projects: dict[str, tuple[str, str]] = {}
    try:
        with open_database(origin, path) as db:
            names = tables(origin, path)
            if "agents" in names:
                for row in rows(origin, path, db, "agents"):
                    agents[text_of(row.get("id"))] = text_of(row.get("name"))
            if "projects" in names:
                for row in rows(origin, path, db, "projects"):
                    place = text_of(row.get("path"))
                    projects[text_of(row.get("id"))] = (text_of(row.get("name")), place)
            found = list(rows(origin, path, db, "memories"))
    except BROKEN as error:
        origin.problem(path, f"cannot be read as a database: {error}")
    yield from _items(found, path, agents, projects)


def _exported(origin: Origin) -> Iterator[Item]:
    document = mapping(origin.json(origin.path))
    agent = mapping(document.get("agent"))
    agents = {text_of(agent.get("id")): text_of(agent.get("name"))}
    memories = []
    for number, each in enumerate(items(document.get("memories")), start=1):
        if isinstance(each, dict):
            memories.append({"agent_id": agent.get("id"), **each})
        else:
            origin.problem(origin.path, f"memory {number} is not an object")
    # A file is one project's, and is imported where the person says, so its project does not count.
    yield from _items(memories, origin.path, agents, {})


def _items(
    found: Iterable[Mapping[str, Any]],
    path: str,
    agents: Mapping[str, str],
    projects: Mapping[str, tuple[str, str]],
) -> Iterator[Item]:
    known = list(found)
    tombs = {_id(row) for row in known if text_of(row.get("content")).startswith(_FORGOTTEN)}
    replaced: dict[str, list[str]] = defaultdict(list)
    for row in known:
        replaced[text_of(row.get("superseded_by"))].append(_id(row))
    for row in known:
        if _id(row) in tombs:
            continue
        by = text_of(row.get("superseded_by"))
        status = Status.SUPERSEDED if by else Status.ACTIVE
        in_agent = text_of(row.get("region")).upper() == "AGENT"
        name, place = projects.get(text_of(row.get("project_id")), ("", ""))
        yield Item(
            text=text_of(row.get("original_content")) or text_of(row.get("content")),
            path=path,
            kind=text_of(row.get("kind")),
            word=text_of(row.get("kind")),
            legacy_id=_id(row),
            created=when(row.get("created_at")),
            scope=Scope.AGENT if in_agent else Scope.PROJECT,
            impact=_impact(row.get("impact")),
            confidence=share(row.get("confidence"), 1.0),
            version=count(row.get("version"), 1),
            status=Status.FORGOTTEN if by in tombs else status,
            supersedes=tuple(replaced.get(_id(row), ())),
            superseded_by="" if by in tombs else by,
            previous=text_of(row.get("previous_memory_id")),
            agent=_agent(text_of(row.get("agent_id")), agents),
            project="" if in_agent else place,
            project_name="" if in_agent else name,
        )


def _id(row: Mapping[str, Any]) -> str:
    return text_of(row.get("id"))


def _impact(value: Any) -> Impact:
    word = text_of(value).strip().lower()
    return Impact(word) if word in set(Impact) else Impact.MEDIUM


def _agent(agent_id: str, agents: Mapping[str, str]) -> str:
    name = agents.get(agent_id) or agent_id
    return "" if _DEFAULT_AGENT in (name.lower(), agent_id.lower()) else name


def _database(origin: Origin) -> str | None:
    path = origin.find(*_FILES) if origin.is_folder else origin.path
    if path is None:
        return None
    columns = tables(origin, path).get("memories", frozenset())
    return path if columns >= _COLUMNS else None


def _is_export(origin: Origin) -> bool:
    if origin.is_folder or not origin.path.endswith((".json", "stdin")):
        return False
    head = origin.head(origin.path, 65_536)
    return b'"memories"' in head and b'"region"' in head and b'"format"' not in head[:200]
