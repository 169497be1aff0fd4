"""LTM/Anima: `~/.ltm/memories.db` (or `ltm.db`), and the JSON its `/memory-export` writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from ltm.kinds import Kinds
from ltm.model import Scope, Status
from ltm.transfer.item import Item
from ltm.transfer.parse import (
    Row,
    count,
    impact_of,
    is_database,
    items,
    mapping,
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
    if _database(origin) is not None:
        return True
    if origin.is_folder or not origin.path.endswith((".json", "stdin")):
        return False
    head = origin.head(origin.path, 65_536)
    return b'"memories"' in head and b'"region"' in head and b'"format"' not in head[:200]


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
    found: list[Row] = []
    agents: dict[str, str] = {}
    projects: dict[str, tuple[str, str]] = {}
    for table, row in rows(origin, path, "agents", "projects", "memories"):
        if table == "agents":
            agents[_id(row)] = text_of(row.get("name"))
        elif table == "projects":
            projects[_id(row)] = (text_of(row.get("name")), text_of(row.get("path")))
        else:
            found.append(row)
    yield from _items(found, path, agents, projects)


def _exported(origin: Origin) -> Iterator[Item]:
    document = mapping(origin.json(origin.path))
    agent = mapping(document.get("agent"))
    agents = {text_of(agent.get("id")): text_of(agent.get("name"))}
    memories: list[Row] = []
    for number, each in enumerate(items(document.get("memories")), start=1):
        if isinstance(each, dict):
            memories.append({"agent_id": agent.get("id"), **each})
        else:
            origin.problem(origin.path, f"memory {number} is not an object")
    # A file is one project's, and is imported where the person says, so its project does not count.
    yield from _items(memories, origin.path, agents, {})


def _items(
    known: list[Row],
    path: str,
    agents: Mapping[str, str],
    projects: Mapping[str, tuple[str, str]],
) -> Iterator[Item]:
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
        agent = text_of(row.get("agent_id"))
        agent_name = agents.get(agent) or agent
        name, place = projects.get(text_of(row.get("project_id")), ("", ""))
        yield Item(
            text=text_of(row.get("original_content")) or text_of(row.get("content")),
            path=path,
            kind=text_of(row.get("kind")),
            word=text_of(row.get("kind")),
            legacy_id=_id(row),
            created=when(row.get("created_at")),
            scope=Scope.AGENT if in_agent else Scope.PROJECT,
            impact=impact_of(text_of(row.get("impact"))),
            confidence=share(row.get("confidence"), 1.0),
            version=count(row.get("version"), 1),
            status=Status.FORGOTTEN if by in tombs else status,
            supersedes=tuple(replaced.get(_id(row), ())),
            superseded_by="" if by in tombs else by,
            previous=text_of(row.get("previous_memory_id")),
            agent="" if _DEFAULT_AGENT in (agent.lower(), agent_name.lower()) else agent_name,
            project="" if in_agent else place,
            project_name="" if in_agent else name,
        )


def _id(row: Row) -> str:
    return text_of(row.get("id"))


def _database(origin: Origin) -> str | None:
    path = origin.find(*_FILES) if origin.is_folder else origin.path
    found = tables(origin, path) if path else {}
    return path if found.get("memories", frozenset()) >= _COLUMNS else None
