"""The harness works: what a tiny plugin does is seen, on the real client, as it happened."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path

import pytest

from .client import MARKET, Harness, Reply, Rule, Script, ScriptError, Session, use, wait_until
from .client.example import NAME, write_plugin


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    return write_plugin(tmp_path)


def injected(session: Session, hook: str) -> list[str]:
    return [injection.text for injection in session.injections(hook)]


def test_a_print_session_shows_hooks_injections_tool_calls_and_failures(
    harness: Harness, plugin: Path
) -> None:
    harness.load(plugin)

    session = harness.print_session(
        "write down the port",
        [
            use("Bash", command="exit 3", description="fail"),
            use("*write_note", note="the port is 8081"),
            use("*find_note", word="{{re:note-[0-9]+}}"),
            "Done: {{re:note-[0-9]+}}.",
        ],
    )

    assert (session.rc, session.result) == (0, "Done: note-1.")
    assert injected(session, "SessionStart") == ["The notebook is open (startup)."]
    assert injected(session, "PostToolUseFailure")[0] == "The notebook saw Bash fail."
    written, sought = session.mcp_calls()
    assert (written.name, written.arguments) == ("write_note", {"note": "the port is 8081"})
    assert (written.text, written.failed) == ("written as note-1", False)
    assert (sought.text, sought.failed) == ("no note has the word note-1", True)
    failures = [
        event["tool_name"].rpartition("__")[2] for event in session.fired("PostToolUseFailure")
    ]
    assert failures == ["Bash", "find_note"]
    assert [hook.rc for hook in session.hooks()] == [0] * len(session.hooks())
    assert len(session.hooks("SessionEnd")) == 1
    assert session.hook_problems == []
    assert "The notebook is open" in session.requests[0].text


def test_a_resumed_session_keeps_its_id_and_its_conversation(
    harness: Harness, plugin: Path
) -> None:
    harness.load(plugin)
    first = harness.print_session("the password is swordfish", ["I will remember."])

    again = harness.print_session("what is it?", ["swordfish"], resume=first.session_id)

    assert again.session_id == first.session_id != ""
    assert again.fired("SessionStart")[0]["source"] == "resume"
    assert "the password is swordfish" in again.requests[0].text
    assert len(harness.transcripts()) == 1


def test_escape_stops_the_answer_and_closing_the_terminal_ends_the_session(
    harness: Harness,
) -> None:
    held = Reply("It begins well.\n\nAnd then it stops halfway.", hold=threading.Event())

    with harness.tui_session([held]) as session:
        session.submit("tell me a long story")
        session.wait_text("It begins well")
        session.key("esc")
        session.wait_text("Interrupted")
        session.hang_up()

    assert session.fired("Stop") == []
    assert [event["reason"] for event in session.fired("SessionEnd")] == ["other"]


def test_a_killed_client_leaves_no_end_and_the_next_session_works(
    harness: Harness, plugin: Path
) -> None:
    harness.load(plugin)
    held = Reply("never finished", hold=threading.Event())
    killed = harness.start_print("begin", [held])
    killed.channel.wait_held()
    wait_until(lambda: any("begin" in t.read_text() for t in harness.transcripts()), "a transcript")

    assert killed.kill() == -signal.SIGKILL

    wait_until(lambda: not harness.running(), "the plugin's server to follow its client")
    assert killed.fired("SessionStart")
    assert killed.fired("SessionEnd") == []
    after = harness.print_session("go on", ["yes"], resume=killed.session_id)
    assert after.result == "yes"
    assert "begin" in after.requests[0].text


def test_two_sessions_at_once_keep_their_replies_and_records_apart(
    harness: Harness, plugin: Path
) -> None:
    harness.load(plugin)
    go_on = threading.Event()
    left = harness.start_print("left", [Reply("answer to the left", hold=go_on)])
    right = harness.start_print("right", [use("*write_note", note="r"), "answer to the right"])

    right.finish()
    left.channel.wait_held()
    go_on.set()
    left.finish()

    assert (left.result, right.result) == ("answer to the left", "answer to the right")
    assert (len(left.mcp_calls()), len(right.mcp_calls())) == (0, 1)
    assert [event["prompt"] for event in left.fired("UserPromptSubmit")] == ["left"]
    assert [event["prompt"] for event in right.fired("UserPromptSubmit")] == ["right"]


def test_a_plugin_from_a_git_marketplace_runs_from_the_cache_and_is_updated_and_uninstalled(
    harness: Harness, tmp_path: Path
) -> None:
    harness.install(write_plugin(tmp_path, "1.0.0"), git=True)
    first = harness.print_session("hello")
    harness.install(write_plugin(tmp_path, "1.1.0"), git=True)
    second = harness.print_session("hello")
    harness.cli("plugin", "uninstall", f"{NAME}@{MARKET}")
    third = harness.print_session("hello")

    cache = harness.home / ".claude" / "plugins" / "cache" / MARKET / NAME
    roots = [s.hooks("SessionStart")[0].env["CLAUDE_PLUGIN_ROOT"] for s in (first, second)]
    assert roots == [str(cache / "1.0.0"), str(cache / "1.1.0")]
    assert third.hooks() == []
    assert third.fired("SessionStart")


def test_a_plugin_from_a_directory_marketplace_runs_in_place(
    harness: Harness, plugin: Path
) -> None:
    harness.install(plugin)

    session = harness.print_session("hello")

    root = session.hooks("SessionStart")[0].env["CLAUDE_PLUGIN_ROOT"]
    assert Path(root) == harness.stage / "plugins" / NAME
    listed = json.loads(harness.cli("plugin", "list", "--json").stdout)
    assert [entry["id"] for entry in listed] == [f"{NAME}@{MARKET}"]


def test_an_error_of_the_api_makes_the_client_compact_by_itself(harness: Harness) -> None:
    too_long = Reply(status=400, error="prompt is too long: 215000 tokens > 200000 maximum")
    steps = [Reply(f"Step {n}.", tools=(use("Bash", command=f"echo {n}"),)) for n in (1, 2)]
    script = Script([*steps, "After the compaction."], rules=[Rule(too_long, result="2", times=1)])

    session = harness.print_session("a long job", script)

    assert session.result == "After the compaction."
    assert [event["trigger"] for event in session.fired("PreCompact")] == ["auto"]
    assert len(session.channel.of_kind("compact")) == 1


def test_a_subagent_gets_replies_of_its_own(harness: Harness) -> None:
    look = use("Agent", description="look", prompt="look around", subagent_type="general-purpose")
    script = Script([look], subagent_replies=[use("Bash", command="ls"), "Nothing to see."])

    session = harness.print_session("send someone", script)

    assert session.fired("SubagentStart")[0]["agent_type"] == "general-purpose"
    asked, answered = session.channel.of_kind("subagent")
    assert asked.user_text == "look around"
    assert [result["type"] for result in answered.tool_results] == ["tool_result"]


def test_a_script_that_calls_a_tool_no_one_offers_fails_the_test(harness: Harness) -> None:
    with pytest.raises(ScriptError, match="no offered tool ends with 'no_such_tool'"):
        harness.print_session("hello", [use("*no_such_tool"), "done"])


def test_nothing_of_the_callers_environment_reaches_the_client(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "a-real-one")
    monkeypatch.setenv("LTM_HOME", "/nowhere")

    session = harness.print_session("env", [use("Bash", command="env"), "done"])

    shown = session.requests[1].text
    assert f"HOME={harness.home}" in shown
    assert "a-real-one" not in shown
    assert "LTM_" not in shown
