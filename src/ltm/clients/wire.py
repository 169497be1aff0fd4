"""What hooks need to know of a client: its events and fields, and whether it runs the plugin.

Everything else a client sends (prompts, tool inputs and outputs) is dropped here, before anything
is written, so that no secret can get into the spool. Hooks load this: it imports next to nothing.
"""

from __future__ import annotations

import os

from ltm.files.atomic import read_plain
from ltm.files.fastjson import read_object
from ltm.project.home import client_folder

TYPE_CHECKING = False  # without `typing`, which alone costs a hook half its time
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GUARD = "LTM_INSIDE"
"""Set in the environment of a client we start ourselves, so that its hooks do nothing."""

CLAUDE_CODE = "claude-code"

TOOL_EVENTS = ("PostToolUse", "PostToolUseFailure")
"""Those that are only sent when the user switched them on: they are optional."""

PLUGIN = "ltm"
"""The plugin's name, and that of its marketplace."""

PLUGIN_EVENTS = ("SessionStart", "PreCompact", "Stop", "SubagentStop", "SessionEnd")
"""The events the plugin's own hooks listen to; a test compares them with its `hooks.json`."""

UNLESS_PLUGIN = "--unless-plugin"
"""An option of what `ltm setup` entered: it does nothing where the plugin does it."""

_MARK = f'"{PLUGIN}@'.encode()
_LIMIT = 4 * 1024 * 1024
_LONGEST = 4096  # what a path may have; names and ids are far shorter
_PATHS = ("transcript", "cwd", "agent_transcript")
# A reason is one word, such as `prompt_input_exit`: a sentence could hold a secret.
_LONGEST_REASON = 40

# Our name of a field to the client's. `*` holds for all events of the client.
_CLAUDE_CODE: dict[str, dict[str, str]] = {
    "*": {"session": "session_id", "transcript": "transcript_path", "cwd": "cwd"},
    "SessionStart": {"source": "source"},
    "UserPromptSubmit": {},
    "PreCompact": {"trigger": "trigger"},
    "Stop": {},
    "SubagentStart": {"agent": "agent_id", "agent_type": "agent_type"},
    "SubagentStop": {
        "agent": "agent_id",
        "agent_type": "agent_type",
        "agent_transcript": "agent_transcript_path",
    },
    "PostToolUse": {"tool": "tool_name", "agent": "agent_id"},
    "PostToolUseFailure": {"tool": "tool_name", "agent": "agent_id"},
    "SessionEnd": {"reason": "reason"},
}

CLIENTS = {CLAUDE_CODE: ("hook_event_name", _CLAUDE_CODE)}
"""By client: the field that names the event, and the fields of each event we know."""


def understand(payload: dict[str, object], client: str = CLAUDE_CODE) -> dict[str, object] | None:
    """The event in a message, with the few fields that are kept; None if it does not concern us."""
    name_field, table = CLIENTS[client]
    event = payload.get(name_field)
    if not isinstance(event, str) or event not in table or event == "*":
        return None
    record: dict[str, object] = {"event": event}
    for ours, theirs in (table["*"] | table[event]).items():
        value = payload.get(theirs)
        if not isinstance(value, str) or not _makes_sense(value, is_path=ours in _PATHS):
            continue
        letters = value.replace("_", "")
        is_word = letters.isascii() and letters.isalpha() and letters.islower()
        if ours != "reason" or (is_word and len(value) <= _LONGEST_REASON):
            record[ours] = value
    if "session" not in record:
        return None
    if event == "SubagentStop" and "agent_type" not in record:
        return None  # the client's own summariser at work, not a sub-agent
    if event in TOOL_EVENTS:
        # A tool's answer may say by itself, in a field and not in its words, that it failed.
        response = payload.get("tool_response")
        answer = response if isinstance(response, dict) else {}
        says_error = answer.get("isError") is True or answer.get("is_error") is True
        failed = says_error or answer.get("success") is False
        record["ok"] = event == "PostToolUse" and not failed
    return record


def _makes_sense(value: str, *, is_path: bool) -> bool:
    """Whether a text can be used: a path may be of any bytes, a name is one in UTF-8."""
    try:
        value.encode("utf-8", "surrogateescape" if is_path else "strict")
    except UnicodeEncodeError:
        return False
    return 0 < len(value) <= _LONGEST and "\0" not in value


def is_plugin_active(environ: Mapping[str, str], project: str) -> bool:
    """Whether the plugin is installed and switched on for sessions in a project's folder.

    Hooks that `ltm setup` entered ask this before each event: an event must not count twice.
    """
    folder = client_folder(environ)
    if _MARK not in _read(os.path.join(folder, "plugins", "installed_plugins.json")):
        return False
    on: dict[str, object] = {}
    for path in settings_files(folder, project):
        data = _read(path)
        if _MARK in data:
            found = read_object(data.decode("utf-8", "replace")).get("enabledPlugins")
            if isinstance(found, dict):
                on.update(found)
    return any(value is True for key, value in on.items() if key.startswith(f"{PLUGIN}@"))


def settings_files(folder: str, project: str) -> Iterator[str]:
    """The client's settings, those that are overruled first."""
    yield os.path.join(folder, "settings.json")
    if project:
        yield os.path.join(project, ".claude", "settings.json")
        yield os.path.join(project, ".claude", "settings.local.json")


def _read(path: str) -> bytes:
    try:
        return read_plain(path, limit=_LIMIT)
    except (OSError, ValueError):
        return b""
