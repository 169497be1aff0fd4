"""What a transcript's entries mean: only what a person typed is the user's words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.sessions.claude_code import holds_nothing, turns_of
from ltm.sessions.transcript import read
from ltm.sessions.turns import (
    Aside,
    AssistantText,
    Command,
    Commit,
    Compaction,
    Interruption,
    Summary,
    ToolResult,
    ToolUse,
    UserText,
)
from tests.sessions.writing import Transcript


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    return Transcript(tmp_path / "t.jsonl")


def turns(transcript: Transcript) -> list[Any]:
    return list(read(str(transcript.path)))


def words(transcript: Transcript) -> list[str]:
    return [turn.text for turn in turns(transcript) if isinstance(turn, UserText)]


def test_a_typed_prompt_is_the_users_words(transcript: Transcript) -> None:
    uuid = transcript.user("Use port 8082, please.")
    (turn,) = turns(transcript)
    assert turn == UserText(
        text="Use port 8082, please.", uuid=uuid, at="2026-11-15T10:00:01.000Z", line=1
    )


@pytest.mark.parametrize("fields", [{}, {"promptSource": "sdk", "origin": None}])
def test_older_clients_and_print_mode_say_less_about_a_prompt(
    transcript: Transcript, fields: dict[str, Any]
) -> None:
    transcript.user("hello", **{"promptSource": None, "origin": None, **fields})
    assert words(transcript) == ["hello"]


def test_a_prompt_with_a_picture_is_its_text(transcript: Transcript) -> None:
    transcript.user([{"type": "text", "text": "what is this"}, {"type": "image", "source": {}}])
    assert words(transcript) == ["what is this"]


def test_a_prompt_typed_while_the_agent_works_is_the_users_words(transcript: Transcript) -> None:
    transcript.line("queue-operation", operation="enqueue", content="no, the other one")
    transcript.attachment(
        "queued_command",
        prompt="no, the other one",
        commandMode="prompt",
        origin={"kind": "human"},
    )
    (turn,) = turns(transcript)
    assert (turn.text, turn.queued) == ("no, the other one", True)


NOT_THE_USER = [
    ("output", "<local-command-stdout>Bye!</local-command-stdout>", {}),
    ("output", "<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>", {}),
    ("shell", "<bash-input>always use tabs</bash-input>", {}),
    ("output", "<local-command-caveat>Caveat: always</local-command-caveat>", {"isMeta": True}),
    ("notice", "<task-notification>\n<task-id>b1</task-id>\n</task-notification>", {}),
    ("notice", "done", {"origin": {"kind": "task-notification"}, "promptSource": "system"}),
    ("notice", "done", {"promptSource": "system", "origin": None}),
    ("notice", "Stop hook feedback:\nalways run the tests", {}),
    ("notice", "[SYSTEM NOTIFICATION - NOT USER INPUT] remember this", {}),
    ("notice", "<future-thing>never do that</future-thing>", {}),
    ("reminder", "<system-reminder>\nalways be kind\n</system-reminder>", {}),
    ("reminder", "[LTM:default@p]\n~PREF:HIGH| always use tabs\n[/LTM]", {}),
    ("meta", "Base directory for this skill: /x. Always do y.", {"isMeta": True}),
    ("meta", "shown only", {"isVisibleInTranscriptOnly": True}),
    ("agent", "look around", {"isSidechain": True, "agentId": "a1"}),
]


@pytest.mark.parametrize(("what", "text", "fields"), NOT_THE_USER)
def test_what_a_client_says_in_the_users_name_is_not_the_users(
    transcript: Transcript, what: str, text: str, fields: dict[str, Any]
) -> None:
    """Traps 2.2 #7: bodies, output, reminders and notices must not be taken for user text."""
    transcript.user(text, **fields)
    (turn,) = turns(transcript)
    assert isinstance(turn, Aside)
    assert (turn.what, turn.text) == (what, text)


@pytest.mark.parametrize(("what", "text", "fields"), NOT_THE_USER)
def test_nor_is_it_when_it_comes_as_a_block(
    transcript: Transcript, what: str, text: str, fields: dict[str, Any]
) -> None:
    transcript.user([{"type": "text", "text": text}], **fields)
    assert words(transcript) == []


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("hook_success", 0),
        ("skill_listing", 0),
        ("hook_additional_context", 1),
        ("file", 1),
        ("future_attachment", 1),
    ],
)
def test_what_hooks_and_clients_attach_is_nobodys_words(
    transcript: Transcript, kind: str, found: int
) -> None:
    """What we injected ourselves is recorded as an attachment: learning from it would be a loop."""
    transcript.attachment(kind, content=["[LTM:a@p] always use tabs [/LTM]"], stdout="always")
    assert words(transcript) == []
    assert [each.what for each in turns(transcript)] == ["attachment"] * found


def test_reminders_are_cut_out_of_the_users_words(transcript: Transcript) -> None:
    transcript.user(
        "<ide_opened_file>a.py</ide_opened_file>use tabs\n"
        "<system-reminder>never</system-reminder>[LTM:a@p]\nx\n[/LTM] everywhere"
    )
    assert words(transcript) == ["use tabs\n everywhere"]


def test_markup_a_person_pastes_stays_theirs(transcript: Transcript) -> None:
    transcript.user("why does <my-button>x</my-button> not render?")
    transcript.user("<div>what is this</div>")
    assert len(words(transcript)) == 2


def test_a_command_is_told_by_name_and_arguments(transcript: Transcript) -> None:
    text = (
        "<command-message>ltm:remember</command-message>\n"
        "<command-name>/ltm:remember</command-name>\n<command-args>the port\nis 1</command-args>"
    )
    transcript.user(text, promptSource=None, origin=None)
    transcript.add("system", subtype="local_command", content="<command-name>/model</command-name>")
    first, second = turns(transcript)
    assert isinstance(first, Command)
    assert (first.name, first.arguments) == ("/ltm:remember", "the port\nis 1")
    assert isinstance(second, Command)
    assert (second.name, second.arguments) == ("/model", "")


def test_the_models_words_and_not_its_thoughts(transcript: Transcript) -> None:
    transcript.assistant(
        {"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "text", "text": "Done. "}
    )
    transcript.says("\n\n")
    (turn,) = turns(transcript)
    assert isinstance(turn, AssistantText)
    assert (turn.text, turn.model, turn.broken_off) == ("Done.", "claude-opus-4-8", False)


def test_an_answer_the_user_broke_off(transcript: Transcript) -> None:
    transcript.says("this is a lo", model="<synthetic>")
    transcript.user([{"type": "text", "text": "[Request interrupted by user]"}])
    answer, stop = turns(transcript)
    assert answer.broken_off
    assert isinstance(stop, Interruption)
    assert not stop.in_tool


@pytest.mark.parametrize("text", ["API Error: 400 bad request", "No response requested."])
def test_what_the_client_says_in_the_models_name_is_not_the_models(
    transcript: Transcript, text: str
) -> None:
    transcript.says(text, model="<synthetic>", isApiErrorMessage=text.startswith("API") or None)
    (turn,) = turns(transcript)
    assert (type(turn), turn.what) == (Aside, "error")


def test_a_tools_call_and_result_belong_together(transcript: Transcript) -> None:
    transcript.calls("Bash", command="ls", description="look")
    transcript.result("a.py", error=False)
    use, result = turns(transcript)
    assert isinstance(use, ToolUse)
    assert (use.tool, dict(use.input)) == ("Bash", {"command": "ls", "description": "look"})
    assert isinstance(result, ToolResult)
    assert (result.tool, result.text, result.failed) == ("Bash", "a.py", False)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}], "a\nb"),
        (["a", "b"], "a\nb"),
        ([], ""),
        (None, ""),
        ({"odd": 1}, ""),
    ],
)
def test_a_result_is_text_whatever_its_shape(
    transcript: Transcript, content: Any, text: str
) -> None:
    """Traps 2.1 #4, 2.2 #3: results are strings or lists."""
    transcript.result(content, error=True)
    (turn,) = turns(transcript)
    assert (turn.text, turn.failed) == (text, True)


def test_a_result_fails_by_its_mark_and_not_by_its_words(transcript: Transcript) -> None:
    """Traps 2.1 #4, 2.2 #2: `error` in an output, or a page that says `Exit code 1`, is none."""
    transcript.result("0 errors found. Exit code 1 means failure. Traceback", error=False)
    transcript.result("error: no such option")  # Edit and Read leave the mark out when all is well
    transcript.result("fine", error=True)
    assert [turn.failed for turn in turns(transcript)] == [False, False, True]


def test_a_call_the_user_refused_is_nobodys_failure(transcript: Transcript) -> None:
    said = "The user doesn't want to proceed with this tool use. The tool use was rejected"
    transcript.result(said, error=True, about="User rejected tool use")
    transcript.user([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
    result, stop = turns(transcript)
    assert (result.failed, result.refused) == (False, True)
    assert stop.in_tool


def test_a_compaction_and_its_summary(transcript: Transcript) -> None:
    transcript.compacted("manual")
    transcript.user(
        "This session is being continued from a previous conversation that ran out of context.",
        isCompactSummary=True,
        isVisibleInTranscriptOnly=True,
    )
    boundary, summary = turns(transcript)
    assert isinstance(boundary, Compaction)
    assert (boundary.trigger, boundary.tokens) == ("manual", 1234)
    assert isinstance(summary, Summary)


def test_commits_are_told_when_a_commit_command_made_them(transcript: Transcript) -> None:
    out = "hook ok\n[main (root-commit) 1a2b3c4] Add the parser\n 1 file changed"
    transcript.calls("Bash", "t1", command="git add . && git commit -m x")
    transcript.result(out, "t1", error=False)
    transcript.calls("Bash", "t2", command="git -C x commit -m y")
    transcript.result("[detached HEAD 0f0f0f0f] Fix: it", "t2", error=False)
    transcript.calls("Bash", "t3", command="cat notes.txt")
    transcript.result(out, "t3", error=False)
    transcript.calls("Bash", "t4", command="git commit -m z")
    transcript.result(out, "t4", error=True)
    made = [turn for turn in turns(transcript) if isinstance(turn, Commit)]
    assert [(each.branch, each.hash, each.subject) for each in made] == [
        ("main", "1a2b3c4", "Add the parser"),
        ("detached HEAD", "0f0f0f0f", "Fix: it"),
    ]


def test_what_a_subagent_does_is_marked(transcript: Transcript) -> None:
    transcript.add(
        "assistant",
        isSidechain=True,
        agentId="a1",
        message={"model": "m", "content": [{"type": "text", "text": "I looked."}]},
    )
    (turn,) = turns(transcript)
    assert (turn.sidechain, turn.agent) == (True, "a1")


@pytest.mark.parametrize(
    "kind", ["progress", "ai-title", "custom-title", "summary", "agent-name", "type-of-2030"]
)
def test_other_entries_hold_no_turn(transcript: Transcript, kind: str) -> None:
    transcript.add(kind, message={"content": "always use tabs"}, data={"type": "user"})
    assert turns(transcript) == []


@pytest.mark.parametrize("kind", ["mode", "last-prompt", "queue-operation", "api-request-blob"])
def test_lines_in_between_hold_no_turn(transcript: Transcript, kind: str) -> None:
    transcript.line(kind, content="always use tabs", lastPrompt="never")
    assert turns(transcript) == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
names = st.sampled_from(
    ["message", "content", "type", "uuid", "attachment", "origin", "compactMetadata", "isMeta"]
)


@given(
    st.sampled_from(["user", "assistant", "system", "attachment"]),
    st.dictionaries(names, json_values, max_size=6),
    st.dictionaries(names, json_values, max_size=6),
)
def test_no_shape_of_an_entry_is_an_error(
    kind: str, entry: dict[str, Any], message: dict[str, Any]
) -> None:
    for value in ({**entry}, {**entry, "message": message}, {"attachment": message}):
        turns_of(json.loads(json.dumps({**value, "type": kind})), 1)
    blocks = [{"type": name, **message} for name in ("text", "tool_use", "tool_result")]
    turns_of({"type": kind, "message": {"content": blocks}, "isSidechain": True}, 1)


_ENTRY = {
    "message": {"role": "user", "type": "message", "content": 'always "type":"progress" tabs'},
    "attachment": {"type": "queued_command", "prompt": "never use spaces"},
    "data": {"type": "progress"},
    "subtype": "compact_boundary",
}


@given(
    st.sampled_from(["user", "assistant", "system", "attachment", "progress", "mode", ""]),
    st.permutations(["type", *_ENTRY]),
    st.sampled_from([(",", ":"), (", ", ": ")]),
)
def test_no_line_with_a_turn_is_passed_over_however_it_is_written(
    kind: str, order: list[str], separators: tuple[str, str]
) -> None:
    entry = {name: {"type": kind, **_ENTRY}[name] for name in order}
    line = json.dumps(entry, separators=separators).encode()
    assert not (holds_nothing(line) and turns_of(entry, 1))


def test_lines_as_clients_write_them_are_passed_over_unparsed(transcript: Transcript) -> None:
    transcript.add("progress", data={"type": "hook", "message": {"type": "user"}})
    transcript.attachment("prompt_snapshot", systemPrompt="x")
    transcript.line("file-history-snapshot", snapshot={"type": "user"})
    transcript.attachment("queued_command", prompt="and add a test")
    transcript.user("fix it")
    lines = transcript.path.read_bytes().splitlines()
    assert [holds_nothing(line) for line in lines] == [True, True, True, False, False]
    assert words(transcript) == ["and add a test", "fix it"]
