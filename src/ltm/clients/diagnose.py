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

from ltm.clients.clients import launcher_path, launcher_trouble, servers_file
from ltm.clients.environment import FAILED, LOG, data_folder, state
from ltm.clients.settings import (
    STATUS_LINE,
    SettingsEntry,
    SettingsFile,
    hook_words,
    is_older_hook,
    our_entries,
    settings_in,
    settings_text_in,
)
from ltm.clients.settings_text import Unreadable, value_of
from ltm.clients.table import CLAUDE_CODE
from ltm.clients.wire import PLUGIN, PLUGIN_EVENTS, is_plugin_active, settings_files
from ltm.model import Problem
from ltm.project.home import client_folder
from ltm.project.layout import Places
from ltm.spool import hook_log
from ltm.spool.hook_log import python, runtime

_LATELY = timedelta(days=1)
_RENEW = "run 'ltm doctor --fix'"
_Entered = list[tuple[str, SettingsEntry]]
"""The entries of LTM, each with the file it is in."""

_REMEDIES = ("run 'ltm setup'", "run 'ltm setup --project-scope'", "remove them there")
"""What to do about entries in the client's settings: yours, the project's, yours in the project."""


def is_entered(places: Places, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether LTM was ever entered into the client: by its plugin or by `ltm setup`."""
    folder, root = client_folder(environ), places.project.root
    return bool(folder) and (is_plugin_active(environ, root) or bool(_entered(folder, root)))


def why_not_working(places: Places, environ: Mapping[str, str] = os.environ) -> list[Problem]:
    """Everything that keeps the client's sessions from having a memory; nothing when all is well.

    Where we were never entered, that is the one thing to say.
    """
    folder, root = client_folder(environ), places.project.root
    if not folder:
        return [Problem("HOME", "names no folder, so there is no client to look at")]
    plugin = is_plugin_active(environ, root)
    entered = _entered(folder, root)
    found: list[Problem] = []
    ran = os.path.isdir(os.path.join(folder, "projects"))
    if not ran and not shutil.which("claude", path=environ.get("PATH")):
        message = "Claude Code was not found: it is not on the PATH and never ran"
        found.append(Problem("claude", message))
    for path in settings_files(folder, root):
        try:
            value_of(settings_text_in(path), "json")
        except Unreadable as error:
            message = f"cannot be read as JSON ({error}), so the client ignores all of it"
            found.append(Problem(path, message, error.line))
    if not plugin and not entered:
        return [*found, _not_entered(folder, root)]
    for path in settings_files(folder, root):
        if settings_in(path).get("disableAllHooks") is True:
            message = "disableAllHooks is on, so no hook runs (set it to false or remove it)"
            found.append(Problem(path, message))
    found += older_hooks(places, environ)
    found += broken_launcher(places, environ)
    found += _unable(places.home, entered)
    found += _environment(places.home, environ) if plugin else _setup(places, entered, environ)
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
        entries = _ours(SettingsFile(path, hooks=True))
        older = [each for each in entries if any(map(is_older_hook, each.value["hooks"]))]
        if older:
            events = ", ".join(dict.fromkeys(each.steps[-1] for each in older))
            message = f"hooks of an older form ({events}): other clients that read this file may"
            found.append(Problem(path, f"{message} execute what a prompt says ({remedy})"))
    return found


def broken_launcher(places: Places, environ: Mapping[str, str] = os.environ) -> list[Problem]:
    """What keeps the launcher from working, where hooks run it."""
    path = launcher_path(places.home)
    entered = _entered(client_folder(environ), places.project.root)
    programs = {word for _, hook in _hooks(entered) for word in hook_words(hook)}
    if not any(program == path or program.endswith("/bin/ltm-hook") for program in programs):
        return []
    trouble = launcher_trouble(places.home)
    # One in a project's settings may be on the PATH instead.
    if not trouble or (path not in programs and not os.path.exists(path)):
        return []
    return [Problem(path, f"{trouble} ({_RENEW})")]


def common_trouble(home: str) -> list[Problem]:
    """What keeps the work of hooks from being done, whichever client runs them."""
    return [*_runtime(home), *_last_error(home)]


def _entered(folder: str, project: str) -> _Entered:
    paths = settings_files(folder, project)
    return [(path, entry) for path in paths for entry in _ours(SettingsFile(path, hooks=True))]


def _hooks(entered: _Entered) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, entry in entered:
        for hook in entry.value["hooks"]:
            yield path, hook


def _not_entered(folder: str, project: str) -> Problem:
    for path in settings_files(folder, project):
        plugins = settings_in(path).get("enabledPlugins")
        for key, value in plugins.items() if isinstance(plugins, dict) else ():
            if key.startswith(f"{PLUGIN}@") and value is False:
                remedy = f"switch it on: claude plugin enable {PLUGIN}"
                return Problem(folder, f"the plugin is switched off ({remedy})")
    return Problem(
        os.path.join(folder, "settings.json"),
        "no hook of ltm is registered, so sessions are told nothing"
        " (install the plugin, or run 'ltm setup')",
    )


def _last_error(home: str) -> Iterator[Problem]:
    """What a hook met last, if that was lately."""
    moment, _, message = hook_log.last(home).partition(" ")
    try:
        age = datetime.now(UTC) - datetime.strptime(moment, "%Y-%m-%dT%H:%M:%S%z")
    except ValueError:
        return
    if age < _LATELY:
        path = os.path.join(home, hook_log.LOG_FILE)
        yield Problem(path, f"the last error of a hook, at {moment}: {message}")


def _unable(home: str, entered: _Entered) -> Iterator[Problem]:
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
        message = f"a hook is to run {word}, which is not there, so it does nothing"
        yield Problem(path, f"{message} (run 'ltm setup')")


def _setup(places: Places, entered: _Entered, environ: Mapping[str, str]) -> Iterator[Problem]:
    events = {entry.steps[-1] for _, entry in entered}
    lacking = [event for event in PLUGIN_EVENTS if event not in events]
    if lacking:
        yield Problem(entered[0][0], f"no hook of ltm for {', '.join(lacking)} (run 'ltm setup')")
    files = [servers_file(CLAUDE_CODE, each, environ) for each in ("", places.project.root)]
    if not any(_ours(file) for file in files if file):
        message = "our server is not entered, so agents have no tools (run 'ltm setup')"
        yield Problem(next(file.path for file in files if file), message)
    yield from _runtime(places.home)


def _environment(home: str, environ: Mapping[str, str]) -> Iterator[Problem]:
    """Why the plugin's own environment could not be built."""
    if python(runtime(home)):
        return
    data = data_folder(environ)
    how = state(data)
    if how.get("state") == FAILED:
        yield Problem(os.path.join(data, LOG), str(how.get("message", "")))
    else:
        yield from _runtime(home)


def _runtime(home: str) -> Iterator[Problem]:
    noted = runtime(home)
    if noted and not python(noted):
        yield Problem(
            str(noted.get("python")),
            "the Python noted for work in the background is not there"
            " (any 'ltm' command that reads memories notes its own)",
        )


def _ours(file: SettingsFile) -> list[SettingsEntry]:
    try:
        found = our_entries(settings_text_in(file.path), file)
        return [each for each in found if each.steps != (STATUS_LINE,)]
    except Unreadable:
        return []
