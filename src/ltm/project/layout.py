"""Where everything lies for one project and one agent, whether it is trusted, and who the agent is.

A shared vault never leads out of its repository, is used only where a person said that they trust
it, and is never the folder of another tool. Nothing here makes a folder or writes a file.

The answer is in `<home>/projects/<id>/trust.json`: for each shared vault `true` or `false`, under a
name made of the repository's place on this machine and the vault's place in it. So all work trees
share the answer, and another copy of the repository is asked about again.

The agent is named by AGENT.md, else by `.claude/agents/*.md`; those of a project are believed only
where a person trusts it. Two keys count, `ltm: {id: …}` and `name`. A file in `.claude/agents` with
a `description` is a sub-agent, which counts only if its `ltm` block says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from ltm.config.config import CONFIG_FILE, Config, load
from ltm.config.options import agent_name
from ltm.errors import WrongUsage
from ltm.files.atomic import is_inside, names_in, read_plain
from ltm.files.fastjson import read_object
from ltm.model import Problem
from ltm.project.home import client_folder, home
from ltm.project.identity import Project, as_path, identify, is_claude_ltm_store
from ltm.record import NamedTuple

SHARED = os.path.join(".claude", "ltm")
"""The shared vault's folder inside a repository."""

SESSIONS = "sessions.db"
"""A project's sessions word for word, in the project's own folder outside the repository."""

STATE = "state.db"
"""Usage and sessions of this machine, in the home folder."""

TRUST_FILE = "trust.json"
ASIDE = "untrusted-"
"""Prefix of the folders, next to that file, with the indexes of untrusted vaults."""

TEAMS = "teams"
"""The folder in LTM_HOME with a folder for each team: its replica vault, and what waits for it."""

TEAM_FILE = "team.json"

AGENT_FILE = "AGENT.md"
_AGENTS = os.path.join(".claude", "agents")
_LIMIT = 64 * 1024
_MOST = 200  # files of a folder that are looked at
_TRUE = frozenset(("true", "yes", "on", "1"))


class TeamPlace(NamedTuple):
    """A team this machine belongs to, or more exactly one project of it."""

    name: str
    """What it is called on this machine."""
    folder: str
    address: str
    trusted: bool | None = None
    """What a person said about its memories; None when they have not been asked."""
    project: str = ""
    """The id of the only project here that its memories hold for; '' when it is all of them."""


class Places(NamedTuple):
    """The folders and files of one project and one agent; most need not exist yet."""

    home: str
    project: Project
    shared: str
    """The vault inside the repository."""
    shared_exists: bool
    """Whether `ltm init` was run there and it may be used."""
    private: str
    agent: str
    agent_folder: str
    """The vault of what the agent knows across projects."""
    state_db: str
    problems: tuple[Problem, ...] = ()
    trusted: bool | None = None
    """What a person said about the shared vault; None when they have not been asked."""
    claude_ltm: str = ""
    """The nearest folder that is claude-ltm's, in a place where a shared vault would be."""
    untrusted_agent: str = ""
    """The agent that the project's files name, while those are not trusted yet."""
    teams: tuple[TeamPlace, ...] = ()
    """The teams whose memories hold for the project, trusted or not."""

    @property
    def shares(self) -> bool:
        """Whether the shared vault takes part: it is there, and a person said they trust it."""
        return self.shared_exists and self.trusted is True

    @property
    def sessions_db(self) -> str:
        return os.path.join(self.private, SESSIONS)

    @property
    def own(self) -> str:
        """The vault of what only this agent is to know of the project; most have none."""
        return os.path.join(self.agent_folder, "projects", self.project.id)

    @property
    def settings(self) -> str:
        """The folder whose config holds for this repository; '' while it is not trusted yet."""
        return self.shared if self.shares else ""


def places(
    start: str,
    agent: str | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    user: Config | None = None,
) -> Places:
    """Where things are for the project that `start` belongs to; `user` are the user's own options.

    The agent is the one named here, else by LTM_AGENT, else in the user's config, else in AGENT.md
    or `.claude/agents` of a project that a person trusts, else in the user's own.
    """
    environ = os.environ if environ is None else environ
    top = home(environ)
    project = identify(start, top)
    # A part of a repository may have a vault of its own, and the nearest counts.
    candidates, folder = [], os.path.realpath(as_path(start))
    while folder != project.root and is_inside(folder, project.root):
        candidates.append(os.path.join(folder, SHARED))
        folder = os.path.dirname(folder)
    candidates.append(os.path.join(project.root, SHARED))
    shared = next(filter(_is_initialised, candidates), candidates[-1])
    problem = leads_out(shared)
    private = os.path.join(top, "projects", project.id)
    exists = problem is None and _is_initialised(shared)
    given = agent or environ.get("LTM_AGENT")
    name, untrusted = _agent(given, user or load(top), private, project, client_folder(environ))
    return Places(
        home=top,
        project=project,
        shared=shared,
        shared_exists=exists,
        private=private,
        agent=name,
        agent_folder=os.path.join(top, "agents", name),
        state_db=os.path.join(top, STATE),
        problems=(problem,) if problem else (),
        trusted=trust_answer(private, project, shared) if exists else None,
        claude_ltm=next(filter(is_claude_ltm_store, candidates), ""),
        untrusted_agent=untrusted,
        teams=tuple(each for each in teams_in(top) if each.project in ("", project.id)),
    )


def teams_in(home: str) -> Iterator[TeamPlace]:
    """The teams this machine belongs to, by name."""
    folder = os.path.join(home, TEAMS)
    for name in sorted(names_in(folder)):
        place = os.path.join(folder, name)
        try:
            said = read_object(read_plain(os.path.join(place, TEAM_FILE)).decode("utf-8"))
        except (OSError, ValueError):
            continue
        address, trusted, project = (said.get(key) for key in ("address", "trusted", "here"))
        if isinstance(address, str) and isinstance(project, str):
            answer = trusted if isinstance(trusted, bool) else None
            yield TeamPlace(name, place, address, answer, project)


def sessions_file(home: str, project: str) -> str:
    """Where what was said in a project is kept, by the project's id."""
    return os.path.join(home, "projects", project, SESSIONS)


def leads_out(shared: str) -> Problem | None:
    """A vault whose folders lead out of the repository would show or overwrite other files."""
    root = os.path.realpath(os.path.dirname(os.path.dirname(shared)))
    folders = ("", "memories", "archives") if os.path.isdir(shared) else ("",)
    for path in (os.path.join(shared, folder) if folder else shared for folder in folders):
        real = os.path.realpath(path)
        if real != root and not real.startswith(root.rstrip(os.sep) + os.sep):
            return Problem(
                path,
                f"leads out of the repository, to {real}, so the shared vault is not used (replace"
                " the link with a folder)",
            )
    return None


def _is_initialised(shared: str) -> bool:
    # git keeps no empty folders, so a fresh clone may have the config only.
    return os.path.isfile(os.path.join(shared, CONFIG_FILE)) or (
        os.path.isdir(os.path.join(shared, "memories")) and not is_claude_ltm_store(shared)
    )


def _agent(
    given: str | None, config: Config, private: str, project: Project, clients: str
) -> tuple[str, str]:
    """The agent, and the one that is not believed until a person says so."""
    if given or config.origin("agent") != "default":
        return agent_name(given or config.get("agent")), ""
    named = agent_of(project.root)
    # Trust in any vault of a repository is trust in those who can commit to it.
    place, kept = trust_key(project, ""), trust_answers(private) if named else {}
    answers = [each for name, each in kept.items() if name.startswith(place)]
    if any(answers):
        return named, ""
    files = _markdown(os.path.join(clients, "agents")) if clients else []
    own = _first_name(files) or agent_name(config.get("agent"))
    return own, named if not answers and named != own else ""


# -- trust -----------------------------------------------------------------------------------------


def trust_answer(private: str, project: Project, shared: str) -> bool | None:
    """What a person said about a vault; None when not asked yet, or the file is not readable."""
    return trust_answers(private).get(trust_key(project, shared))


def trust_answers(private: str) -> dict[str, bool]:
    """The answers about the vaults of a project, by `trust_key`."""
    try:
        found = read_object(read_plain(os.path.join(private, TRUST_FILE)).decode("ascii"))
    except (OSError, ValueError):
        return {}
    return {name: value for name, value in found.items() if isinstance(value, bool)}


def trust_key(project: Project, shared: str) -> str:
    """The name of a vault in the file of answers; '' as vault gives what all of them begin with."""
    place = os.path.realpath(project.common_dir or project.root)
    return f"{place}: {os.path.relpath(shared, project.root) if shared else ''}"


# -- the files that name the agent -----------------------------------------------------------------


def agent_of(root: str) -> str:
    """The name that the files of a project give the agent; '' if none."""
    return _first_name([os.path.join(root, AGENT_FILE), *_markdown(os.path.join(root, _AGENTS))])


def _first_name(files: list[str]) -> str:
    return next(filter(None, map(_name_in, files)), "")


def watched(root: str, client_folder: str = "") -> Iterator[str]:
    """Every file and folder whose change may change the answer, there or not."""
    yield os.path.join(root, AGENT_FILE)
    folders = [os.path.join(root, _AGENTS)]
    if client_folder:
        folders.append(os.path.join(client_folder, "agents"))
    for folder in folders:
        yield folder
        yield from _markdown(folder)


def _markdown(folder: str) -> list[str]:
    names = sorted(name for name in names_in(folder) if name.endswith(".md"))
    return [os.path.join(folder, name) for name in names[:_MOST]]


def _name_in(path: str) -> str:
    try:
        text = read_plain(path, limit=_LIMIT).decode("utf-8-sig")
    except (OSError, ValueError):
        return ""
    keys = front_matter(text)
    if keys.get("ltm.subagent", "").lower() in _TRUE:
        return ""
    given = keys.get("ltm.id", "")
    # Whatever has a description is a sub-agent to its client, unless it speaks to LTM as well.
    if not given and (
        os.path.basename(path) == AGENT_FILE or "description" not in keys or "ltm" in keys
    ):
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
        value = value.strip()
        if value.startswith("{") and "}" in value:  # the pairs of `{a: b, c: d}`
            for pair in value[1 : value.rindex("}")].split(","):
                inner, colon, text = pair.partition(":")
                if colon:
                    found[f"{name}.{_plain(inner)}"] = _plain(text)
    return {}  # never closed: not front matter


def _plain(value: str) -> str:
    """A value without quotes, or without the remark after it."""
    value = value.strip()
    if value[:1] in ("'", '"') and value.find(value[0], 1) > 0:
        return value[1 : value.find(value[0], 1)]
    return value.split(" #", 1)[0].strip()
