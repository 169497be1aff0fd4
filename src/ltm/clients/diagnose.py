"""Why memory is not working in the client, as far as its own files tell.

The questions a person would ask one after the other: is the client there, are the hooks entered and
switched on, can they run, is the environment built, what went wrong last. It only looks, and every
answer says what to type next.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from ltm.clients.clients import (
    CLAUDE_CODE,
    launcher_path,
    missing_programs,
    servers_file,
)
from ltm.clients.json_text import Unreadable
from ltm.clients.settings import (
    SettingsEntry,
    SettingsFile,
    hook_words,
    is_older_hook,
    our_entries,
    value_of,
)
from ltm.clients.wire import PLUGIN, PLUGIN_EVENTS, is_plugin_active, settings_files
from ltm.errors import LtmError
from ltm.files.atomic import read_plain
from ltm.model import Problem
from ltm.plugin.environment import LOG, state
from ltm.project.home import client_folder
from ltm.project.layout import Places
from ltm.spool import hook_log
from ltm.spool.hook_log import python, runtime

_LIMIT = 64 * 1024 * 1024
_LATELY = timedelta(days=1)
_RENEW = "run 'ltm doctor --fix'"
_REMEDIES = ("run 'ltm setup'", "run 'ltm setup --project-scope'", "remove them there")
"""What to do about entries in the client's settings: yours, the project's, yours in the project."""


def is_entered(places: Places, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether LTM was ever entered into the client: by its plugin or by `ltm setup`."""
    folder, root = client_folder(environ), places.project.root
    if not folder:
        return False
    return is_plugin_active(environ, root) or any(
        list(_ours(file)) for file in _hook_files(folder, root)
    )


def why_not_working(places: Places, environ: Mapping[str, str] = os.environ) -> list[Problem]:
    """Everything that keeps the client's sessions from having a memory; nothing when all is well.

    Where we were never entered, that is the one thing to say.
    """
    folder = client_folder(environ)
    if not folder:
        return [Problem("HOME", "names no folder, so there is no client to look at")]
    files = _hook_files(folder, places.project.root)
    plugin = is_plugin_active(environ, places.project.root)
    entered = _entered(files)
    found = [*_missing_client(folder, environ), *_unreadable(files)]
    if not plugin and not entered:
        return [*found, _not_entered(folder, places.project.root)]
    found += _switched_off(files)
    found += older_hooks(places, environ)
    found += launcher_trouble(places, environ)
    found += _unable(places.home, entered)
    found += _environment(places.home, folder) if plugin else _setup(places, entered, environ)
    if plugin and {entry.steps[-1] for _, entry in entered} & set(PLUGIN_EVENTS):
        message = "hooks of 'ltm setup' are there besides the plugin, which is used"
        found.append(Problem(entered[0][0], f"{message} (run 'ltm setup' to tidy up)"))
    return [*found, *_last_error(places.home)]


def older_hooks(places: Places, environ: Mapping[str, str] = os.environ) -> list[Problem]:
    """Files with hooks as older versions wrote them, which are unsafe in other clients."""
    paths = settings_files(client_folder(environ), places.project.root)
    remedies: dict[str, str] = {}
    for path, remedy in zip(paths, _REMEDIES, strict=False):
        remedies.setdefault(path, remedy)  # in the home folder two of them are one
    found = []
    for path, remedy in remedies.items():
        entries = _entered([SettingsFile(path, hooks=True)])
        events = [entry.steps[-1] for _, entry in entries if _is_older(entry)]
        if events:
            message = f"hooks of an older form ({', '.join(dict.fromkeys(events))}): other clients"
            message += " that read this file may execute what a prompt says"
            found.append(Problem(path, f"{message} ({remedy})"))
    return found


def launcher_trouble(places: Places, environ: Mapping[str, str] = os.environ) -> list[Problem]:
    """What keeps the launcher from working, where hooks run it."""
    path = launcher_path(places.home)
    entered = _entered(_hook_files(client_folder(environ), places.project.root))
    programs = {word for _, hook in _hooks(entered) for word in hook_words(hook)}
    if path in programs and not os.access(path, os.X_OK):
        return [Problem(path, f"hooks cannot run it: it is not there or not executable ({_RENEW})")]
    if not any(program.endswith("/bin/ltm-hook") for program in programs):
        return []
    try:
        return [
            Problem(path, f"runs {missing}, which is not there, so hooks do nothing ({_RENEW})")
            for missing in missing_programs(places.home)
        ]
    except (LtmError, ValueError):
        return [Problem(path, "is another program than the one hooks are to run")]


def _hook_files(folder: str, project: str) -> list[SettingsFile]:
    return [SettingsFile(path, hooks=True) for path in settings_files(folder, project)]


def _entered(files: list[SettingsFile]) -> list[tuple[str, SettingsEntry]]:
    return [(file.path, entry) for file in files for entry in _ours(file)]


def _is_older(entry: SettingsEntry) -> bool:
    return any(is_older_hook(hook) for hook in entry.value["hooks"])


def _hooks(entered: list[tuple[str, SettingsEntry]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each hook that ltm entered, with the file it is in."""
    for path, entry in entered:
        for hook in entry.value["hooks"]:
            yield path, hook


def _missing_client(folder: str, environ: Mapping[str, str]) -> Iterator[Problem]:
    if not shutil.which("claude", path=environ.get("PATH")) and not os.path.isdir(
        os.path.join(folder, "projects")
    ):
        yield Problem("claude", "Claude Code was not found: it is not on the PATH and never ran")


def _not_entered(folder: str, project: str) -> Problem:
    if _is_off(folder, project):
        return Problem(
            folder, f"the plugin is switched off (switch it on: claude plugin enable {PLUGIN})"
        )
    return Problem(
        os.path.join(folder, "settings.json"),
        "no hook of ltm is registered, so sessions are told nothing"
        " (install the plugin, or run 'ltm setup')",
    )


def _last_error(home: str) -> Iterator[Problem]:
    """What a hook met last, if that was lately."""
    last = hook_log.last(home)
    moment, _, message = last.partition(" ")
    try:
        age = datetime.now(UTC) - datetime.strptime(moment, "%Y-%m-%dT%H:%M:%S%z")
    except ValueError:
        return
    if age < _LATELY:
        path = os.path.join(home, hook_log.LOG_FILE)
        yield Problem(path, f"the last error of a hook, at {moment}: {message}")


def _unreadable(files: list[SettingsFile]) -> Iterator[Problem]:
    for file in files:
        try:
            _value(file)
        except Unreadable as error:
            yield Problem(
                file.path,
                f"cannot be read as JSON ({error}), so the client ignores all of it",
                error.line,
            )


def _switched_off(files: list[SettingsFile]) -> Iterator[Problem]:
    for file in files:
        if _get(file).get("disableAllHooks") is True:
            yield Problem(
                file.path, "disableAllHooks is on, so no hook runs (set it to false or remove it)"
            )


def _unable(home: str, entered: list[tuple[str, SettingsEntry]]) -> Iterator[Problem]:
    """Hooks whose Python or program is not there any more."""
    launcher = launcher_path(home)
    missing: dict[str, str] = {}
    for path, hook in _hooks(entered):
        words = hook_words(hook)
        for word in words:
            if os.path.isabs(word) and word != launcher and not os.path.exists(word):
                missing.setdefault(word, path)
        # Hooks in a project's settings run the launcher, or the program on the PATH.
        if "ltm-hook" in words and not (os.path.exists(launcher) or shutil.which("ltm-hook")):
            missing.setdefault("ltm-hook", path)
    for word, path in missing.items():
        yield Problem(
            path,
            f"a hook is to run {word}, which is not there, so it does nothing (run 'ltm setup')",
        )


def _setup(
    places: Places, entered: list[tuple[str, SettingsEntry]], environ: Mapping[str, str]
) -> Iterator[Problem]:
    events = {entry.steps[-1] for _, entry in entered}
    lacking = [event for event in PLUGIN_EVENTS if event not in events]
    if lacking:
        yield Problem(entered[0][0], f"no hook of ltm for {', '.join(lacking)} (run 'ltm setup')")
    if not _servers(environ, places.project.root):
        yield Problem(
            servers_file(CLAUDE_CODE, "", environ).path,
            "our server is not entered, so agents have no tools (run 'ltm setup')",
        )
    yield from _runtime(places.home)


def _environment(home: str, folder: str) -> Iterator[Problem]:
    """How the plugin's own environment stands."""
    if python(runtime(home)):
        return
    top = os.path.join(folder, "plugins", "data")
    try:
        names = sorted(name for name in os.listdir(top) if name.startswith(f"{PLUGIN}-"))
    except OSError:
        names = []
    for name in names:
        data = os.path.join(top, name)
        how = state(data)
        if how and how.get("state") != "ready":
            yield Problem(os.path.join(data, LOG), str(how.get("message", "")))
            return
    yield from _runtime(home)


def _runtime(home: str) -> Iterator[Problem]:
    noted = runtime(home)
    if noted and not python(noted):
        yield Problem(
            str(noted.get("python")),
            "the Python noted for work in the background is not there"
            " (any 'ltm' command that reads memories notes its own)",
        )


def _servers(environ: Mapping[str, str], project: str = "") -> bool:
    """Whether our server is entered for the person or the project."""
    try:
        files = [servers_file(CLAUDE_CODE, "", environ)]
        files += [servers_file(CLAUDE_CODE, project, environ)] if project else []
    except LtmError:
        return False
    return any(list(_ours(file)) for file in files)


def _is_off(folder: str, project: str) -> bool:
    """Whether our plugin is installed and switched off."""
    for path in settings_files(folder, project):
        plugins = _get(SettingsFile(path)).get("enabledPlugins")
        for key, value in plugins.items() if isinstance(plugins, dict) else ():
            if key.startswith(f"{PLUGIN}@") and value is False:
                return True
    return False


def _ours(file: SettingsFile) -> Iterator[SettingsEntry]:
    try:
        yield from our_entries(_text(file.path), file)
    except Unreadable:
        return


def _get(file: SettingsFile) -> dict[str, Any]:
    try:
        return _value(file)
    except Unreadable:
        return {}


def _value(file: SettingsFile) -> dict[str, Any]:
    text = _text(file.path)
    return value_of(text, file) if text.strip() else {}


def _text(path: str) -> str:
    try:
        return read_plain(path, limit=_LIMIT).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
