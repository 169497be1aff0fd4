"""A session's memory is in the next one, whatever happens in between: seen in real requests."""

from __future__ import annotations

import fcntl
import json
import signal
import sys
import threading
from pathlib import Path

import pytest

from ltm.kinds import Kinds
from ltm.model import Impact, Memory, new_id, now
from ltm.project.layout import places
from ltm.vault import codec
from ltm.vault.vault import Vault

from .client import Harness, Reply, Script, use, wait_until
from .conftest import InstallPlugin, MakeHarness
from .product import (
    MARK,
    assert_quiet,
    logged,
    ltm,
    memories,
    memory_home,
    told,
    waiting_events,
)

PORT = "We chose port 8081 because 8080 belongs to the proxy"


@pytest.mark.every_client
def test_what_was_stored_in_one_session_is_in_the_request_of_the_next(product: Harness) -> None:
    today = product.print_session(
        "remember the port", [use("*store_memory", content=PORT), "Stored {{re:mem_[0-9a-z]+}}."]
    )
    tomorrow = product.print_session("hello", ["Hi."])

    assert today.mcp_calls("store_memory")[0].failed is False
    assert today.result.startswith("Stored mem_")
    assert_quiet(today)
    assert PORT in told(tomorrow.requests[0])[0]
    assert [hook.event for hook in tomorrow.hooks()] == ["SessionStart", "Stop", "SessionEnd"]
    assert [hook.rc for hook in tomorrow.hooks()] == [0, 0, 0]
    assert_quiet(tomorrow)
    assert memories(product)[0]["source"]["session"] == today.session_id
    assert list(product.project.iterdir()) == []


def test_the_next_session_is_told_the_users_rules_and_where_the_last_one_stopped(
    product: Harness,
) -> None:
    ltm(product, "remember", "--kind", "preference", "Use pnpm, never npm")
    failing = use("Bash", command="echo 'Error: got 500'; exit 3", description="run the tests")
    state = "The cookie is set now, but the redirect still answers with a 500."
    first = product.print_session(
        "Fix the login of the shop, it fails since Monday.", [failing, state], allowed=["Bash"]
    )
    wait_until(lambda: "Still failing" in ltm(product, "inject"), "the note of the first session")

    session = product.print_session("go on", ["Yes."])
    lines = told(session.requests[0])[0].split("\n")

    rules = lines.index("## Rules: what the user asked for")
    assert lines[rules + 1].endswith("| Use pnpm, never npm")
    assert lines[rules + 2].startswith("## Where the last session stopped (20")
    assert lines[rules + 3] == "- Asked: Fix the login of the shop, it fails since Monday."
    assert lines[rules + 4] == "- Still failing: `echo 'Error: got 500'; exit 3`."
    assert state not in "\n".join(lines)  # the agent's words may be a page's
    assert_quiet(session)
    wait_until(lambda: not waiting_events(product), "a drain")
    [given] = json.loads(ltm(product, "sessions", "told", session.session_id, "--json"))["texts"]
    assert given["event"] == "SessionStart"
    assert given["text"].startswith("\n".join(lines))
    assert first.session_id != session.session_id


@pytest.mark.every_client
def test_what_is_remembered_comes_back_after_compact_clear_and_resume(product: Harness) -> None:
    ltm(product, "remember", PORT)

    with product.tui_session(["First. " * 40, "Second. " * 40, "Third.", "Fourth."]) as session:
        session.wait_tools("ltm")
        session.ask("the first question")
        session.ask("the second question")
        session.command("/compact", until="PostCompact")
        session.ask("after the compaction")
        session.command("/clear", until="SessionStart")
        session.ask("after the clearing")
        assert "hook error" not in session.screen

    sources = [event["source"] for event in session.fired("SessionStart")]
    assert sources == ["startup", "compact", "clear"]
    for request in session.requests:
        assert len(told(request)) == 1, request.number
        assert PORT in told(request)[0]
    assert "SCRIPTED-SUMMARY" in session.requests[2].text
    assert "first question" not in session.requests[3].text
    before, after = session.fired("SessionEnd")
    assert logged(product, before["session_id"]).compactions == 1
    assert logged(product, after["session_id"]).compactions == 0

    again = product.print_session("go on", ["Yes."], resume=after["session_id"])

    assert again.fired("SessionStart")[0]["source"] == "resume"
    assert len(told(again.requests[0])) == 1
    assert_quiet(again)


def test_a_failing_tool_counts_as_a_failure_and_a_resumed_session_keeps_its_counts(
    product: Harness,
) -> None:
    first = product.print_session(
        "try it",
        [
            use("Bash", command="exit 3", description="fail"),
            use("Bash", command="echo fine", description="succeed"),
            "It failed, then worked.",
        ],
    )
    assert_quiet(first)
    session = logged(product, first.session_id)
    assert (session.failed, session.ok) == (1, 1)
    assert session.difficulty > 0

    product.print_session(
        "once more",
        [use("Bash", command="exit 4", description="fail"), "No."],
        resume=first.session_id,
    )

    session = logged(product, first.session_id)
    assert (session.failed, session.ok, session.number) == (2, 1, 1)


def test_a_stop_hook_costs_no_request_and_no_tool_call_runs_a_hook(product: Harness) -> None:
    session = product.print_session(
        "work", [use("Bash", command="true"), use("Bash", command="false"), "Done."]
    )

    assert len(session.requests) == 3
    assert [request.kind for request in session.channel.requests if request.tools] == ["main"] * 3
    assert len(session.fired("PostToolUse") + session.fired("PostToolUseFailure")) == 2
    assert {hook.event for hook in session.hooks()} == {"SessionStart", "Stop", "SessionEnd"}
    assert all(hook.stdout == "" for hook in session.hooks("Stop"))


def test_after_a_kill_the_next_session_knows_what_the_killed_one_stored_and_suffered(
    product: Harness,
) -> None:
    script = Script(
        [
            use("*store_memory", content=PORT),
            use("Bash", command="exit 3", description="fail"),
            Reply("never finished", hold=threading.Event()),
        ]
    )
    killed = product.start_print("begin", script)
    killed.channel.wait_held()
    wait_until(
        lambda: any("Exit code 3" in path.read_text() for path in product.transcripts()),
        "the failure in the transcript",
    )

    assert killed.kill() == -signal.SIGKILL
    wait_until(lambda: not product.running(), "everything the client started to end")
    after = product.print_session("again", ["yes"])

    assert PORT in told(after.requests[0])[0]
    assert_quiet(after)
    logged(product, after.session_id)
    died = logged(product, killed.session_id)
    assert (died.failed, died.ended) == (1, "")


def test_two_sessions_at_once_keep_what_each_of_them_stored(product: Harness) -> None:
    go_on = threading.Event()
    first = "The left service writes its log to stderr because journald collects it"
    second = "Deploys happen on Tuesdays since the on-call rota starts then"
    left = product.start_print(
        "left", [use("*store_memory", content=first), Reply("left", hold=go_on)]
    )
    right = product.start_print("right", [use("*store_memory", content=second), "right"])
    right.finish()
    left.channel.wait_held()
    go_on.set()
    left.finish()

    both = product.print_session("what do we know?", ["Two things."])

    assert first in told(both.requests[0])[0]
    assert second in told(both.requests[0])[0]
    assert_quiet(both)
    sources = {each["content"]: each["source"]["session"] for each in memories(product)}
    assert sources == {first: left.session_id, second: right.session_id}
    assert logged(product, left.session_id).project == logged(product, right.session_id).project


def test_of_three_hundred_memories_the_right_ones_are_told_and_whole(product: Harness) -> None:
    environ = {"HOME": str(product.home)}
    vault = Vault("private", places(str(product.project), environ=environ).private)
    vault.prepare()
    kinds = [kind.name for kind in Kinds() if not kind.fades_days][:6]
    for number in range(300):
        text = f"Rule {number:03d}: module m{number} keeps its table t{number} sorted by name."
        memory = Memory(
            id=new_id(now()),
            kind=kinds[number % len(kinds)],
            title=f"Rule {number:03d}",
            summary=text,
            content=text + f" It took a day to find out number {number}. " * 4,
            created=now(),
            updated=now(),
            confirmed=now(),
            impact=Impact.CRITICAL if number % 60 == 7 else Impact.LOW,
        )
        Path(vault.path(codec.file_name(memory))).write_bytes(codec.to_bytes(memory))
    assert json.loads(ltm(product, "list", "--json"))["total"] == 300

    inject = json.loads(ltm(product, "inject", "--json"))
    text = inject["text"]

    session = product.print_session("hello", ["Hi."])

    assert "persisted-output" not in session.requests[0].text
    assert text in session.requests[0].text
    assert 8_000 < len(text) <= 10_000
    for number in (7, 67, 127, 187, 247):
        assert f"Rule {number:03d}" in text
    shown = text.count("| Rule ")
    assert f"{300 - shown} more" in text
    assert len(inject["shown"]) == shown
    assert_quiet(session)


def test_a_newcomer_who_trusts_the_team_is_told_what_it_shares(
    make_harness: MakeHarness, install_plugin: InstallPlugin
) -> None:
    team = make_harness(git=True)
    ltm(team, "init")
    ltm(team, "remember", PORT)
    shared = Path(".claude") / "ltm" / "memories"
    files = {
        str(shared / path.name): path.read_text() for path in (team.project / shared).iterdir()
    }
    newcomer = install_plugin(make_harness(files=files, git=True))
    ltm(newcomer, "trust")

    # A busy machine may not have read the files when the first session begins.
    sessions = [newcomer.print_session("hello", ["Hi."]) for _ in range(2)]

    assert PORT in told(sessions[-1].requests[0])[0]
    for session in sessions:
        assert_quiet(session)


def test_a_subagent_is_nobodys_second_session(product: Harness) -> None:
    look = use("Agent", description="look", prompt="look around", subagent_type="general-purpose")
    script = Script([look], subagent_replies=[use("Bash", command="exit 5"), "Nothing to see."])

    session = product.print_session("send someone", script)

    assert_quiet(session)
    assert logged(product, session.session_id).failed == 1
    count = json.loads(ltm(product, "status", "--json"))["sessions"]
    assert count == 1


@pytest.mark.every_client
def test_without_the_plugin_setup_does_the_same_and_leaves_to_the_byte(
    make_harness: MakeHarness,
) -> None:
    harness = make_harness(settings={"permissions": {"allow": ["mcp__ltm"]}})
    settings = harness.home / ".claude" / "settings.json"
    before = settings.read_bytes()
    ltm(harness, "setup")

    today = harness.print_session("remember", [use("*store_memory", content=PORT), "Stored."])
    tomorrow = harness.print_session("hello", ["Hi."])

    assert "mcp__ltm__store_memory" in today.requests[0].tools
    assert PORT in told(tomorrow.requests[0])[0]
    assert_quiet(today)
    assert_quiet(tomorrow)
    assert logged(harness, tomorrow.session_id).ended

    ltm(harness, "uninstall")

    assert settings.read_bytes() == before
    assert "mcpServers" not in json.loads((harness.home / ".claude.json").read_text())
    gone = harness.print_session("hello", ["Hi."])
    assert told(gone.requests[0]) == []
    assert_quiet(gone)


def test_the_projects_own_settings_work_for_those_who_have_ltm_and_bother_no_one_else(
    harness: Harness,
) -> None:
    ltm(harness, "remember", PORT)
    ltm(harness, "setup", "--project-scope")
    venv = str(Path(sys.executable).parent)

    set_up = harness.print_session("hi", env={"PATH": "/usr/bin:/bin"})
    (memory_home(harness) / "bin" / "ltm-hook").unlink()
    installed = harness.print_session("hi", env={"PATH": f"{venv}:{harness.env()['PATH']}"})
    without = harness.print_session("hi", env={"PATH": "/usr/bin:/bin"})

    assert PORT in told(set_up.requests[0])[0]
    assert PORT in told(installed.requests[0])[0]
    assert told(without.requests[0]) == []
    for session in (set_up, installed, without):
        assert_quiet(session)


def test_with_the_plugin_and_setup_together_everything_happens_once(
    harness: Harness, install_plugin: InstallPlugin
) -> None:
    ltm(harness, "remember", PORT)
    ltm(harness, "setup")
    install_plugin(harness)
    with (memory_home(harness) / "drain.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # so that every event can be counted afterwards

        session = harness.print_session("hello", [use("Bash", command="true"), "Hi."])

        assert waiting_events(harness) == ["SessionStart", "Stop", "SessionEnd"]
    assert session.requests[0].text.count(MARK) == 1
    offered = [name for name in session.requests[0].tools if name.endswith("__recall")]
    assert offered == ["mcp__plugin_ltm_ltm__recall"]
    assert_quiet(session)
