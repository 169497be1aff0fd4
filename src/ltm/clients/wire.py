"""What hooks need to know of a client: its events and fields, and whether it runs the plugin.

Everything else a client sends (prompts, tool inputs and outputs) is dropped here, before anything
is written, so that no secret can get into the spool. Hooks load this: it imports next to nothing.
"""

from __future__ import annotations

import os

from ltm.clients.table import (
    BY_NAME,
    CLAUDE_CODE,
    CLIENT_OPTION,
    CLIENTS,
    NESTED,
    PLAIN,
    Client,
)
from ltm.files.atomic import read_plain
from ltm.files.fastjson import read_object, write
from ltm.project.home import client_folder

TYPE_CHECKING = False  # without `typing`, which alone costs a hook half its time
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

GUARD = "LTM_INSIDE"
"""Set in the environment of a client we start ourselves, so that its hooks do nothing."""

TOOL_EVENTS = ("PostToolUse", "PostToolUseFailure")
"""Those that are only sent when the user switched them on: they are optional."""

PLUGIN = "ltm"
"""The plugin's name, and that of its marketplace."""

PLUGIN_EVENTS = ("SessionStart", "PreCompact", "Stop", "SubagentStop", "SessionEnd")
"""The events the plugin's own hooks listen to; a test compares them with its `hooks.json`."""

NAMESAKE = "ltm@claude-ltm"
"""Another tool's plugin of the same name."""

_MARK = f'"{PLUGIN}@'.encode()
_LIMIT = 4 * 1024 * 1024
_LONGEST = 4096  # what a path may have; names and ids are far shorter
_PATHS = ("transcript", "cwd", "agent_transcript")
# A reason is one word, such as `prompt_input_exit`: a sentence could hold a secret.
_LONGEST_REASON = 40

FIELDS: dict[str, dict[str, str]] = {
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
"""The fields of each event: our names to Claude Code's. `*` holds for all events."""


def client_of(words: Sequence[str], environ: Mapping[str, str]) -> Client:
    """The client that runs a hook: the one its command names, else the one whose marks are there.

    A client may run hooks that were written for another: then only its marks tell.
    """
    given = BY_NAME.get(option(words, CLIENT_OPTION))
    if given is not None:
        return given
    for client in CLIENTS:
        if any(environ.get(mark) for mark in client.marks):
            return client
    return CLAUDE_CODE


def option(words: Sequence[str], name: str) -> str:
    """What stands behind an option in a hook's command; '' if it is not there."""
    return words[words.index(name) + 1] if name in words[:-1] else ""


def understand(
    payload: dict[str, object], client: Client = CLAUDE_CODE, named: str = ""
) -> dict[str, object] | None:
    """The event in a message, with the few fields that are kept; None if it does not concern us.

    `named` is the client's name of the event where messages do not hold it.
    """
    theirs = payload.get(client.event_field, named)
    event = client.events.get(theirs) if isinstance(theirs, str) else ""
    if not event:
        return None
    record: dict[str, object] = {"event": event}
    for ours, field in {**FIELDS["*"], **FIELDS[event], **client.fields}.items():
        outer, _, inner = field.rpartition(".")
        place = payload.get(outer) if outer else payload
        value = place.get(inner) if isinstance(place, dict) else None
        if isinstance(value, list) and value and ours in client.fields:
            value = value[0]  # of several folders the first is the project's
        if not isinstance(value, str) or not _makes_sense(value, is_path=ours in _PATHS):
            continue
        letters = value.replace("_", "")
        is_word = letters.isascii() and letters.isalpha() and letters.islower()
        if ours != "reason" or (is_word and len(value) <= _LONGEST_REASON):
            record[ours] = value
    if "session" not in record:
        return None
    if CLIENT_OPTION in client.hook_words:  # one that no command names is Claude Code
        record["client"] = client.name
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


def answer_line(client: Client, event: str, text: str) -> str:
    """A text in the form in which a client takes it in; '' where it takes in none."""
    if not text or not client.told:
        return ""
    if client.told == PLAIN:
        return text + "\n"
    if client.told == NESTED:
        nested = {"hookEventName": event, "additionalContext": text}
        return write({"hookSpecificOutput": nested}) + "\n"
    return write({client.told: text}) + "\n"


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
    named = {key for key, value in on.items() if key.startswith(f"{PLUGIN}@") and value is True}
    return bool(named - {NAMESAKE})


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
