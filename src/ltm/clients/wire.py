"""What a client tells us, turned into our own words: one row of a table per client.

Owns the names of events and fields on the wire and the list of fields that are kept. Everything
else a client sends (prompts, tool inputs and outputs) is dropped here, before anything is written,
so that no secret can get into the spool. Standard library only, and none of it: hooks load this.
"""

from __future__ import annotations

GUARD = "LTM_INSIDE"
"""Set in the environment of a client we start ourselves, so that its hooks do nothing."""

CLAUDE_CODE = "claude-code"

TOOL_EVENTS = ("PostToolUse", "PostToolUseFailure")
"""Those that are only sent when the user switched them on: they are optional."""

_LONGEST = 4096  # what a path may have; names and ids are far shorter
_PATHS = ("transcript", "cwd", "agent_transcript")
# A reason is one word of the client's; a sentence could hold anything, also a secret.
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
    """The event a message tells of, as our few fields of it; None when it does not concern us."""
    name_field, table = CLIENTS[client]
    event = payload.get(name_field)
    if not isinstance(event, str) or event not in table or event == "*":
        return None
    record: dict[str, object] = {"event": event}
    for ours, theirs in (table["*"] | table[event]).items():
        value = payload.get(theirs)
        if not isinstance(value, str) or not _makes_sense(value, is_path=ours in _PATHS):
            continue
        if ours != "reason" or _is_word(value):
            record[ours] = value
    if "session" not in record:
        return None
    if event == "SubagentStop" and "agent_type" not in record:
        return None  # the client's own summariser at work, not a sub-agent
    if event in TOOL_EVENTS:
        record["ok"] = event == "PostToolUse" and not _says_failed(payload.get("tool_response"))
    return record


def _makes_sense(value: str, *, is_path: bool) -> bool:
    """Whether a text can be used: a path may be of any bytes, a name is one in UTF-8."""
    try:
        value.encode("utf-8", "surrogateescape" if is_path else "strict")
    except UnicodeEncodeError:
        return False
    return 0 < len(value) <= _LONGEST and "\0" not in value


def _is_word(value: str) -> bool:
    """Whether this is one word of small letters, such as `prompt_input_exit`."""
    letters = value.replace("_", "")
    return (
        len(value) <= _LONGEST_REASON
        and letters.isascii()
        and letters.isalpha()
        and letters.islower()
    )


def _says_failed(response: object) -> bool:
    """Whether a tool's answer says by itself, in a field and not in its words, that it failed."""
    if not isinstance(response, dict):
        return False
    return (
        response.get("success") is False
        or response.get("isError") is True
        or response.get("is_error") is True
    )
