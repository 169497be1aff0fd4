"""What a client says, in our words: the few fields we keep, and nothing that could be a secret."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.clients.table import CLAUDE_CODE
from ltm.clients.wire import understand
from ltm.worker.steps import Event, from_record

COMMON = {
    "session_id": "b362d409-0000-4000-8000-000000000000",
    "transcript_path": "/home/u/.claude/projects/-p/b362d409.jsonl",
    "cwd": "/p",
    "permission_mode": "default",
}
SECRET = "sk-ant-api03-canary"

EVENTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "SessionStart": ({"source": "startup", "model": SECRET}, {"source": "startup"}),
    "UserPromptSubmit": ({"prompt": SECRET}, {}),
    "PreCompact": ({"trigger": "auto", "custom_instructions": SECRET}, {"trigger": "auto"}),
    "Stop": ({"stop_hook_active": True, "last_assistant_message": SECRET}, {}),
    "SubagentStart": (
        {"agent_id": "a1", "agent_type": "Explore", "prompt": SECRET},
        {"agent": "a1", "agent_type": "Explore"},
    ),
    "SubagentStop": (
        {
            "agent_id": "a1",
            "agent_type": "Explore",
            "agent_transcript_path": "/t/a1.jsonl",
            "last_assistant_message": SECRET,
        },
        {"agent": "a1", "agent_type": "Explore", "agent_transcript": "/t/a1.jsonl"},
    ),
    "PostToolUse": (
        {"tool_name": "Bash", "tool_input": {"command": SECRET}, "tool_response": [SECRET]},
        {"tool": "Bash", "ok": True},
    ),
    "PostToolUseFailure": (
        {"tool_name": "Bash", "tool_input": {"command": SECRET}, "error": SECRET},
        {"tool": "Bash", "ok": False},
    ),
    "SessionEnd": ({"reason": "clear"}, {"reason": "clear"}),
}


@pytest.mark.parametrize("event", EVENTS)
def test_every_event_is_kept_as_its_few_fields(event: str) -> None:
    sent, kept = EVENTS[event]
    assert understand({**COMMON, "hook_event_name": event, **sent}) == {
        "event": event,
        "session": COMMON["session_id"],
        "transcript": COMMON["transcript_path"],
        "cwd": "/p",
        **kept,
    }


@pytest.mark.parametrize("event", EVENTS)
def test_prompts_inputs_and_outputs_are_dropped(event: str) -> None:
    record = understand({**COMMON, "hook_event_name": event, **EVENTS[event][0]})
    assert "canary" not in json.dumps(record)


def test_the_table_knows_exactly_these_events() -> None:
    assert set(CLAUDE_CODE.events) == set(EVENTS)


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"hook_event_name": "Stop"},
        {"hook_event_name": "Stop", "session_id": 7},
        {"hook_event_name": "Stop", "session_id": ""},
        {"hook_event_name": ["Stop"], "session_id": "s"},
        {"hook_event_name": "*", "session_id": "s"},
        {"hook_event_name": "TeammateIdle", "session_id": "s"},
        {"hook_event_name": "EventOf2030", "session_id": "s"},
        {"hook_event_name": "SubagentStop", "session_id": "s", "agent_type": ""},
    ],
)
def test_unknown_events_and_odd_messages_are_ignored(payload: dict[str, Any]) -> None:
    assert understand(payload) is None


@pytest.mark.parametrize(
    ("response", "ok"),
    [
        ({"stdout": "error: all good", "interrupted": False}, True),
        ("Error: something", True),
        ([{"type": "text", "text": "error"}], True),
        (None, True),
        ({"success": False}, False),
        ({"isError": True}, False),
        ({"is_error": True}, False),
        ({"success": True, "error": "no"}, True),
    ],
)
def test_a_tool_fails_by_a_field_and_never_by_a_word(response: Any, ok: bool) -> None:
    """Traps 2.1 #4: dict, list and string responses; `error` inside a text is no failure."""
    payload = {**COMMON, "hook_event_name": "PostToolUse", "tool_response": response}
    record = understand(payload)
    assert record is not None
    assert record["ok"] is ok


@pytest.mark.parametrize("value", ["x" * 100_000, "a\0b", "a\ud800", 7, None, ["/p"], {}])
def test_a_field_that_makes_no_sense_costs_that_field_only(value: Any) -> None:
    record = understand({**COMMON, "hook_event_name": "Stop", "transcript_path": value})
    assert record == {"event": "Stop", "session": COMMON["session_id"], "cwd": "/p"}


@pytest.mark.parametrize(
    ("reason", "kept"),
    [
        *(("clear", True), ("prompt_input_exit", True), ("a" * 40, True)),
        *(("a" * 41, False), ("password=hunter2", False), ("two words", False), ("Other", False)),
    ],
)
def test_a_reason_is_kept_if_it_is_one_short_word(reason: str, kept: bool) -> None:
    record = understand({**COMMON, "hook_event_name": "SessionEnd", "reason": reason})
    assert record is not None
    assert record.get("reason") == (reason if kept else None)


def test_a_path_of_any_bytes_is_kept_and_a_name_of_any_bytes_is_not() -> None:
    odd = b"caf\xe9".decode("utf-8", "surrogateescape")
    record = understand({**COMMON, "hook_event_name": "SessionEnd", "cwd": odd, "reason": odd})
    assert record is not None
    assert (record["cwd"], record.get("reason")) == (odd, None)
    assert understand({**COMMON, "hook_event_name": "Stop", "session_id": odd}) is None


@given(st.dictionaries(st.sampled_from([*COMMON, "hook_event_name"]), st.text() | st.integers()))
def test_no_message_is_an_error(payload: dict[str, Any]) -> None:
    understand(payload)
    understand({**payload, "hook_event_name": "PostToolUse", "tool_response": payload})


def test_an_event_of_the_spool_knows_its_key_and_moment() -> None:
    event = from_record("01794762695913159452-0000001-aa", {"event": "Stop", "session": "s"})
    assert event == Event(
        key="01794762695913159452-0000001-aa", event="Stop", session="s", at=1794762695.9131594
    )


@pytest.mark.parametrize(
    "record", [{}, {"event": "Stop"}, {"session": "s"}, {"event": 1, "session": "s"}]
)
def test_a_record_that_lacks_what_makes_an_event_is_ignored(record: dict[str, Any]) -> None:
    assert from_record("1-1-1", record) is None


def test_fields_we_do_not_know_or_of_odd_types_are_ignored() -> None:
    record = {"event": "Stop", "session": "s", "home": "/h", "cwd": 7, "future": "x", "key": "y"}
    assert from_record("1-1-1", record) == Event(key="1-1-1", event="Stop", session="s", at=1e-9)
