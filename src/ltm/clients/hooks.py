"""The hooks `ltm setup` enters: for which events, and how they are run.

Owns the list of further events that a person can switch on, the form of a hook, and
the launcher it runs: whichever client runs a hook, no shell interprets the event, and whatever is
missing on the machine, a hook is silent and succeeds. Imports core and storage.
"""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

from ltm.clients.entries import SettingsEntry
from ltm.clients.plugin import EVENTS, UNLESS_PLUGIN
from ltm.clients.settings import FileChange
from ltm.core.errors import Refused
from ltm.storage.plainfile import read_plain

if TYPE_CHECKING:
    from ltm.storage.config import Config

WANTED = (
    ("recall.per_prompt", "UserPromptSubmit"),
    ("inject.subagents", "SubagentStart"),
    ("hooks.tools", "PostToolUse"),
    ("hooks.tools", "PostToolUseFailure"),
)
"""Options, and the events that only matter when they are on."""

_TIMEOUT = 10
_OWNER = "Written by `ltm setup`"
_LAUNCHER = """\
#!/bin/sh
# Passes an event of a client, JSON on standard input, to LTM. {owner}, removed by
# `ltm uninstall`. If the Python named here is gone or broken, the next one is tried; if the program
# is gone, it does nothing.
python={python}
hook={hook}
pythons=${{hook%/*}}/sh/pythons.sh
if [ -r "$hook" ] && [ -r "$pythons" ]; then
  . "$pythons"
  begin_hook
  {{ [ -x "$python" ] && run_hook "$hook" "$@"; }} || each_python run_hook "$hook" "$@"
fi
exit 0
"""


def hook_entries(config: Config, home: str, *, plugin: bool, shared: bool) -> list[SettingsEntry]:
    """What belongs into a client's hooks; with the `plugin` only what it does not do itself.

    `shared` is for a file that others read too: it names no path of this machine.
    """
    events = [] if plugin else list(EVENTS)
    events += [event for option, event in WANTED if config.own(option)]
    return [
        SettingsEntry(("hooks", event), {"hooks": [_hook(event, home, shared)]}, listed=True)
        for event in events
    ]


def launcher_path(home: str) -> str:
    """The program that hooks run. Its path outlives versions of LTM: some clients ask the person
    to trust a hook again when its command changes."""
    return os.path.join(home, "bin", "ltm-hook")


def new_launcher(home: str) -> FileChange | None:
    """What it takes to have a launcher of the `ltm` that is running; None if it is there."""
    path = launcher_path(home)
    before, after = _launcher(path), _text()
    if before == after and os.access(path, os.X_OK):
        return None
    return FileChange(path, before=before, after=after, mode=0o700)


def no_launcher(home: str) -> FileChange | None:
    """What it takes to have no launcher; None if there is none, or another program in its place."""
    path = launcher_path(home)
    try:
        before = _launcher(path)
    except Refused:
        return None
    return None if before is None else FileChange(path, before=before, after=None)


def missing_programs(home: str) -> list[str]:
    """What the launcher is to run and is not there."""
    words = shlex.split(_launcher(launcher_path(home)) or "", comments=True)
    paths = [word.partition("=")[2] for word in words if word.startswith(("python=", "hook="))]
    return [path for path in paths if not os.path.exists(path)]


def _launcher(path: str) -> str | None:
    """The text of the launcher, if there is one; another program in its place is refused."""
    try:
        text = read_plain(path).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused(f"cannot be read: {error.strerror}", path=path) from error
    if _OWNER not in text:
        raise Refused(
            "another program stands where the one for hooks would be written",
            path=path,
            hint="move it, or point LTM_HOME to another folder",
        )
    return text


def _text() -> str:
    python, hook = map(shlex.quote, (sys.executable, _hook_program()))
    return _LAUNCHER.format(owner=_OWNER, python=python, hook=hook)


def _hook_program() -> str:
    import ltm

    package = os.path.dirname(os.path.abspath(ltm.__file__))
    return os.path.join(package, "surfaces", "hook.py")


def _hook(event: str, home: str, shared: bool) -> dict[str, Any]:
    hook: dict[str, Any] = {"type": "command"}
    if os.name == "nt":
        words = ["ltm-hook"] if shared else [sys.executable, "-I", "-S", _hook_program()]
        hook |= {"command": words[0], "args": [*words[1:], UNLESS_PLUGIN]}
    else:
        hook["command"] = _command(home, shared)
    # A time limit here would change how long the client waits for everybody's hooks at the end.
    return hook if event == "SessionEnd" else {**hook, "timeout": _TIMEOUT}


def _command(home: str, shared: bool) -> str:
    """The whole hook as one string.

    Some clients ignore `args` and write the event to what is left: a shell would execute it.
    Once the launcher is gone, the shell's own exit code would be shown as an error.
    """
    programs = [shlex.quote(launcher_path(home))]
    if shared:
        programs = ['"${LTM_HOME:-$HOME/.ltm}/bin/ltm-hook"', "ltm-hook"]
    tries = [f"{program} {UNLESS_PLUGIN} 2>/dev/null" for program in programs]
    return " || ".join([*tries, "exit 0"])
