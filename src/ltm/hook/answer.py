"""The text a hook answers with: at the start of a session or a sub-agent, and for a prompt.

Memories are read without writing, refreshing or waiting. The text of a session's start is kept
ready (see `session_text`) and composed only when something it depends on has changed. A session
gets nothing twice, at its start and with its prompts, also after it was resumed. Loaded only for
events that are answered; what most of these do not need is imported where it is used.
"""

from __future__ import annotations

import os
import sys
import time

from ltm.clients.table import BY_NAME, CLAUDE_CODE
from ltm.project.home import INSTRUCTIONS, instruction_names, loads_agents_md
from ltm.project.home import home as find_home
from ltm.spool import session_text
from ltm.spool.session_text import mark_of, note_told, told

TYPE_CHECKING = False  # without `typing`, which alone costs a hook half its time
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ltm.model import Stored
    from ltm.project.layout import Places
    from ltm.store.project import OpenProject


_PART = 1024 * 1024  # of a transcript, at each end, in which an earlier answer is looked for
_FIRST_LOOK = 0.6  # seconds a process has to read what is in no index yet


def at_start(
    record: Mapping[str, object], environ: Mapping[str, str] = os.environ
) -> tuple[str, str]:
    """The text for the start of a session, and the message for the person.

    A resumed session carries in its transcript what it was told, and its client tells it again:
    then there is nothing to say.
    """
    if record.get("source") == "resume" and _was_told(record):
        return "", ""
    folder = folder_of(record)
    kept = session_text.load(find_home(environ), folder, environ, _client(environ))
    if kept is not None:
        return kept
    with _open(folder, environ) as project:
        return compose_brief(project, folder, environ)


def at_subagent(record: Mapping[str, object], environ: Mapping[str, str] = os.environ) -> str:
    """A short text for a sub-agent, if the user wants that."""
    with _open(folder_of(record), environ) as project:
        if not project.config.get("inject.subagents") or not project.is_built_in:
            return ""
        from ltm.inject.session_start import tell
        from ltm.model import now

        return tell(project.store, project.places, project.config, now(), short=True).text


def _open(folder: str, environ: Mapping[str, str]) -> OpenProject:
    """A folder's project, only to be looked at."""
    try:
        # What Python 3.11 defines in Python first, in 1 ms, and then takes from here all the same.
        import _datetime  # type: ignore[import-not-found]

        sys.modules.setdefault("datetime", _datetime)
    except ImportError:
        pass
    from ltm.store.project import OpenProject

    return OpenProject(folder, environ=environ, readonly=True)


def compose_brief(project: OpenProject, folder: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """Compose the text for sessions in a folder of a project and the message for the person, and
    keep both if they are up to date."""
    from ltm.config.config import CONFIG_FILE
    from ltm.inject.instruction_files import differs_for
    from ltm.inject.session_start import tell
    from ltm.model import now
    from ltm.store.file_store import FileStore
    from ltm.store.project import OpenProject

    where, config = project.places, project.config
    if not project.is_built_in:
        # It may be at the other end of a network, where a hook must not look.
        return "" if project.readonly else tell(project.store, where, config, now()).text, ""
    watched = session_text.stamps(_watched(where, folder))
    store = project.store
    assert isinstance(store, FileStore)
    if not project.readonly:
        store.check()
    files: dict[str, bool] = {}
    told = tell(store, where, config, now(), files=files)
    text, current = told.text, store.is_current()
    # What changed after the project was opened and before the stamps were taken is in neither.
    meanwhile = OpenProject(folder, environ=environ, readonly=True, user=project.user)
    is_same = (
        meanwhile.places == where
        and meanwhile.config.values == config.values
        and watched[os.path.join(where.home, CONFIG_FILE)] == project.user.seen
    )
    if current and is_same:
        client = differs_for(where.project.root, _client(environ))
        session_text.save(
            where.home,
            folder,
            environ,
            text,
            watched,
            client,
            files=files,
            shown=told.shown,
            message=told.message,
        )
    if text or current or not project.readonly:
        return text, told.message
    return _first_look(where.home, folder), ""


def _client(environ: Mapping[str, str]) -> str:
    """The variant of the text a client gets where there are instruction files."""
    names = environ.get(INSTRUCTIONS, "")
    if names:
        return names.replace(" ", "+")
    return "CLAUDE.md with AGENTS.md" if loads_agents_md(environ) else "CLAUDE.md only"


def _first_look(home: str, folder: str) -> str:
    """What memories say that came with a clone and are in no index yet.

    Reading them may take longer than a hook has, so a process of its own does. If it is not quick
    enough, that is a `TimeoutError`: it goes on without us, and the next session finds everything
    ready.
    """
    import select
    import time

    from ltm.files.fastjson import is_whole, read_object
    from ltm.spool.hook_log import ltm_command

    command = ltm_command(home)
    if not command or not hasattr(os, "posix_spawn"):
        return ""
    reading, writing = os.pipe()
    child = os.posix_spawn(
        command[0],
        [*command, "inject", "--json", "--project", folder],
        {**os.environ, "LTM_HOME": home},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, writing, 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ],
    )
    os.close(writing)
    said = b""
    until = time.monotonic() + _FIRST_LOOK
    try:
        while select.select([reading], [], [], max(0.0, until - time.monotonic()))[0]:
            chunk = os.read(reading, 1 << 16)
            if not chunk:
                answer = said.decode("utf-8", "replace")
                text = read_object(answer).get("text")
                return text if is_whole(answer) and isinstance(text, str) else ""
            said += chunk
    finally:
        os.close(reading)
        CHILDREN.add(child)
        _reap()
    raise TimeoutError(f"the first reading of {folder} took more than {_FIRST_LOOK} s")


CHILDREN: set[int] = set()
"""Processes still at work. A hook ends before they do; in a server they would pile up."""


def _reap() -> None:
    """Reap child processes that have ended since."""
    for child in list(CHILDREN):
        try:
            ended, _ = os.waitpid(child, os.WNOHANG)
        except ChildProcessError:
            ended = child  # another thread was quicker
        if ended:
            CHILDREN.discard(child)


def settings_stamps(places: Places, folder: str) -> dict[str, str]:
    """How the files look that say where a folder's project keeps what, and with which options."""
    return session_text.stamps(_settings(places, folder))


def _settings(places: Places, folder: str) -> Iterator[str]:
    """Every file that has a say in layout and options, there or not."""
    from ltm.config.config import CONFIG_FILE
    from ltm.inject.session_start import client_folder
    from ltm.project import layout
    from ltm.vault import key_file

    yield os.path.join(places.home, CONFIG_FILE)
    for agent in ("", places.agent):
        yield key_file.path_in(places.home, agent)
    yield os.path.join(places.private, layout.TRUST_FILE)
    yield from layout.watched(places.project.root, client_folder())
    if places.project.common_dir:
        yield os.path.join(places.project.common_dir, "config")
    for place in _upwards(folder):
        yield os.path.join(place, ".git")
        yield os.path.join(place, ".claude", "ltm", CONFIG_FILE)


def _watched(places: Places, folder: str) -> Iterator[str]:
    """Every file and folder that has a say in what is told, there or not."""
    from ltm.inject.instruction_files import AGENTS, FILES, has_agents_md, settings_files
    from ltm.inject.session_start import client_folder
    from ltm.inject.session_start import watched as watched_work
    from ltm.model import now
    from ltm.notes import stash
    from ltm.project import layout
    from ltm.state.candidates import CANDIDATES_FILE
    from ltm.store import other_tools
    from ltm.store.open import teams_of, vaults_of

    yield from _settings(places, folder)
    yield os.path.join(places.home, layout.TEAMS)
    for team in places.teams:
        yield os.path.join(team.folder, layout.TEAM_FILE)
    for vault in (*vaults_of(places), *teams_of(places)):
        yield vault.memories
    yield places.own
    yield from other_tools.watched(places)
    yield os.path.join(places.private, "project.json")
    if places.project.claimed:
        yield os.path.join(places.home, "projects", places.project.claimed, "project.json")
    yield os.path.join(places.project.root, stash.FOLDER)
    yield os.path.join(places.private, stash.MANIFEST)
    yield os.path.join(places.private, CANDIDATES_FILE)
    yield from watched_work(places, now())
    if client_folder():
        yield os.path.join(client_folder(), FILES[0])
    if has_agents_md(places.project.root):
        yield from settings_files(places.project.root, client_folder())
    for place in _upwards(folder):
        yield os.path.join(place, ".claude", "ltm", "memories")
        for name in (*FILES, *AGENTS, *instruction_names()):
            yield os.path.join(place, name)


def _upwards(folder: str) -> Iterator[str]:
    """A folder and all those above it."""
    place = os.path.abspath(folder)
    while True:
        yield place
        above = os.path.dirname(place)
        if above == place:
            return
        place = above


def folder_of(record: Mapping[str, object]) -> str:
    folder = record.get("cwd") or os.environ.get("CLAUDE_PROJECT_DIR")
    if isinstance(folder, str) and folder:
        return folder
    try:
        return os.getcwd()
    except OSError:
        return os.sep


def _was_told(record: Mapping[str, object]) -> bool:
    """Whether a transcript's beginning or end shows that the session was told memories."""
    client = BY_NAME.get(str(record.get("client")), CLAUDE_CODE)
    mark = client.told_in.encode()
    try:
        transcript = str(record.get("transcript", "")) if mark else ""
        handle = os.open(transcript, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return False
    try:
        size = os.fstat(handle).st_size
        parts = [os.read(handle, _PART)]
        if size > _PART:
            os.lseek(handle, max(_PART, size - _PART), os.SEEK_SET)
            parts.append(os.read(handle, _PART))
    except OSError:
        return False
    finally:
        os.close(handle)
    return any(mark in line and b"[LTM:" in line for part in parts for line in part.split(b"\n"))


_CHARS = 1_500
_NEWS = 20  # memories, the newest, that are looked at
_BEGAN = "began-"
_NO_PROMPT = ("/", "<", "!")  # how commands, notices of the client and shell lines begin


def at_prompt(
    record: Mapping[str, object], prompt: str, environ: Mapping[str, str] = os.environ
) -> str:
    """The memories that fit a prompt, or that another session learned meanwhile, and were not told
    yet; mostly none."""
    if not prompt.strip() or prompt.lstrip().startswith(_NO_PROMPT):
        return ""
    with _open(folder_of(record), environ) as project:
        from ltm.model import Filter, now

        found, config = project.places, project.config
        recalls, news = config.get("recall.per_prompt"), config.get("inject.news_per_prompt")
        if not (recalls or news) or not project.is_built_in:
            return ""
        session = str(record.get("session", ""))
        known = told(found.home, session) if session else set()
        at = now()
        fit: list[Stored] = []
        if recalls:
            from ltm.recall.for_prompt import fitting

            fit += fitting(project.store, prompt, at.date(), known)
        if news and (began := _began(known)):
            fit += [
                each
                for each in project.store.list(Filter(), _NEWS).items
                if each.memory.created.timestamp() >= began and each not in fit
                if each.memory.source.session not in ("", session) and each.memory.id not in known
            ]
    if not fit:
        return ""  # as mostly: what composes a text is not loaded then
    from ltm.inject.render import find_format
    from ltm.inject.session_start import SHORT_TOKENS, composed, context_of

    context = context_of(found, config, at)._replace(budget_tokens=SHORT_TOKENS, max_chars=_CHARS)
    items = {each: context.item(each.memory, config.kinds[each.memory.kind]) for each in fit}
    write = find_format(context.format).line
    fresh = [each for each, item in items.items() if mark_of(write(item, item.said)) not in known]
    if not fresh:
        return ""
    injection = composed(fresh, {}, config.kinds, context)
    if not injection.shown:
        return ""
    if session:
        note_told(found.home, session, injection.shown)
    return injection.text


def note_start(home: str, session: str, text: str) -> None:
    """Note what a session is told at its start."""
    if session and text:
        began = f"{_BEGAN}{int(time.time())}"
        note_told(home, session, [began, *map(mark_of, text.split("\n"))])


def _began(noted: set[str]) -> int:
    """When a session began, by what was noted then; 0 if that is not known."""
    moments = [each[len(_BEGAN) :] for each in noted if each.startswith(_BEGAN)]
    return min(map(int, moments), default=0)
