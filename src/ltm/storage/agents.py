"""Which agent works in a project, as files say: AGENT.md, else `.claude/agents/*.md`.

Owns finding and reading those files, and nothing ever writes to them. Those of a project may have
come with a clone, so `places` believes them only where a person trusts it. Of their front matter
two keys count, `ltm: {id: …}` and `name`, read by a small reader that knows no more of YAML than
that. A file in `.claude/agents` describes a sub-agent to most clients (it then has a
`description`), and a sub-agent's name is not the name of the agent at work: such a file counts only
if its `ltm` block says so. Imports the standard library and storage's small readers; hooks use it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from ltm.core.errors import WrongUsage
from ltm.storage.option import agent_name
from ltm.storage.plainfile import read_plain

FILE = "AGENT.md"
FOLDER = os.path.join(".claude", "agents")

_LIMIT = 64 * 1024
_MOST = 200  # files of a folder that are looked at
_TRUE = frozenset(("true", "yes", "on", "1"))


def agent_of(root: str) -> str:
    """The name that the files of a project give the agent; '' if none."""
    return next(filter(None, map(_name_in, _files(root))), "")


def agent_of_user(client_folder: str) -> str:
    """The name that the user's own files give the agent; '' if none."""
    return next(filter(None, map(_name_in, _user_files(client_folder))), "")


def _files(root: str) -> Iterator[str]:
    """The files of a project that may name the agent, the one to be believed first."""
    yield os.path.join(root, FILE)
    yield from _markdown(os.path.join(root, FOLDER))


def _user_files(client_folder: str) -> Iterator[str]:
    if client_folder:
        yield from _markdown(os.path.join(client_folder, "agents"))


def watched(root: str, client_folder: str = "") -> Iterator[str]:
    """Every file and folder whose change may change the answer, there or not."""
    yield os.path.join(root, FOLDER)
    if client_folder:
        yield os.path.join(client_folder, "agents")
    yield from _files(root)
    yield from _user_files(client_folder)


def _markdown(folder: str) -> Iterator[str]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".md"))
    except OSError:
        return
    yield from (os.path.join(folder, name) for name in names[:_MOST])


def _name_in(path: str) -> str:
    try:
        text = read_plain(path, limit=_LIMIT).decode("utf-8-sig")
    except (OSError, ValueError):
        return ""
    keys = front_matter(text)
    if keys.get("ltm.subagent", "").lower() in _TRUE:
        return ""
    given = keys.get("ltm.id", "")
    # Whatever has a description is a sub-agent to its client, unless it speaks to us as well.
    if not given and (os.path.basename(path) == FILE or "description" not in keys or "ltm" in keys):
        given = keys.get("name", "")
    try:
        return agent_name("-".join(given.split())) if given else ""
    except WrongUsage:
        return ""


def front_matter(text: str) -> dict[str, str]:
    """The plain `key: value` lines between the two `---`, those below a key as `key.below`.

    All other lines are skipped.
    """
    lines = text.splitlines()
    found: dict[str, str] = {}
    if not lines or lines[0].rstrip() != "---":
        return found
    above = ""
    for line in lines[1:]:
        if line.rstrip() in ("---", "..."):
            return found
        key, colon, value = line.partition(":")
        if not colon or not key.strip() or key.lstrip().startswith(("#", "-")):
            continue
        indented = key[0] in " \t"
        name = f"{above}.{key.strip()}" if indented else key.strip()
        if not indented:
            above = name
        found[name] = _plain(value)
        found |= _inline(name, value.strip())
    return {}  # never closed: not front matter


def _inline(name: str, value: str) -> dict[str, str]:
    """The pairs of `{a: b, c: d}`."""
    if not (value.startswith("{") and "}" in value):
        return {}
    pairs = (part.partition(":") for part in value[1 : value.rindex("}")].split(","))
    return {f"{name}.{_plain(key)}": _plain(text) for key, colon, text in pairs if colon}


def _plain(value: str) -> str:
    """A value without quotes, or without the remark after it."""
    value = value.strip()
    if value[:1] in ("'", '"') and value.find(value[0], 1) > 0:
        return value[1 : value.find(value[0], 1)]
    return value.split(" #", 1)[0].strip()
