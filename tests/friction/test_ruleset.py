"""What is a signal of friction, and what only looks like one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.friction.samples import Talk, only, signals, talk


@pytest.fixture
def session(tmp_path: Path) -> Talk:
    """A session in which some work went well already."""
    session = talk(tmp_path)
    session.user("please add a page for orders")
    session.runs("make test", "12 passed")
    session.says("The page is there.")
    return session


class TestHealthySessions:
    def test_a_healthy_session_is_ok(self, session: Talk) -> None:
        """traps 4.1: healthy → OK."""
        session.user("great, the same for invoices now")
        session.runs("make test", "13 passed")
        assert (only(session.path).quality, only(session.path).peak) == ("OK", 0)

    @pytest.mark.parametrize("how", ["typed", "command", "plugin command"])
    def test_a_stash_after_success_is_a_checkpoint(self, session: Talk, how: str) -> None:
        """traps 2.2 #1, 4.1: saving one's work is a habit and not trouble."""
        session.user("great, the same for invoices now")
        if how == "typed":
            session.user("/stash invoices")
        else:
            name = "/stash" if how == "command" else "/ltm:stash"
            session.user(f"<command-name>{name}</command-name>")
        assert signals(session.path) == {"checkpoint": 1}
        assert only(session.path).quality == "OK"

    def test_a_path_with_stash_in_it_is_nothing(self, session: Talk) -> None:
        """traps 2.2 #1, 4.1: `src/stash/` → nothing."""
        session.user("please fix src/stash/index.py")
        assert signals(session.path) == {}

    def test_a_stash_out_of_trouble_is_an_intervention(self, session: Talk) -> None:
        session.user("no, use pnpm and not npm")
        session.user("/stash before it gets worse")
        assert signals(session.path) == {"user_correction": 1, "user_intervention": 1}
        assert only(session.path).quality == "BAD"

    def test_trouble_long_ago_does_not_make_a_stash_one(self, session: Talk) -> None:
        session.user("no, use pnpm and not npm")
        for number in range(9):
            session.runs(f"make {number}", "Exit code 1", error=True)
        session.runs("make test", "all green")
        session.user("/stash all is well")
        assert signals(session.path)["checkpoint"] == 1

    def test_one_failing_grep_and_then_green_is_ok(self, session: Talk) -> None:
        """traps 2.2 #2, 4.1."""
        session.runs("grep -rn price src", "Exit code 1", error=True)
        session.user("then look in lib")
        session.runs("make test", "12 passed")
        assert (only(session.path).quality, only(session.path).peak) == ("OK", 1)
        assert signals(session.path) == {"exit_error": 1}

    def test_documents_that_speak_of_exit_codes_are_no_failure(self, session: Talk) -> None:
        """traps 2.2 #2, 4.1: reading about "Exit code 1" → no signal."""
        session.uses("Read", "1\tExit code 1 means that a test failed", file_path="/p/doc.md")
        session.runs("cat doc.md", "Exit code 1 means that a test failed")
        session.user("thanks, go on then")
        assert signals(session.path) == {}


class TestFailures:
    def test_tracebacks_in_lists_are_failures(self, session: Talk) -> None:
        """traps 2.2 #3, 4.1: list-content tracebacks → exit_error."""
        for number in range(2):
            text = f"Traceback (most recent call last):\n  line {number}\nKeyError: 'x'"
            session.runs(f"python x{number}.py", [{"type": "text", "text": text}], error=None)
        assert signals(session.path)["exit_error"] == 2

    def test_a_result_without_verdict_and_call_is_judged_by_its_beginning(
        self, session: Talk
    ) -> None:
        session.result("Exit code 2\nmake: no rule", "unknown_1")
        session.result("The manual says: Exit code 2 means no rule", "unknown_2")
        assert signals(session.path)["exit_error"] == 1

    def test_the_clients_verdict_beats_the_words(self, session: Talk) -> None:
        session.runs("./check", "Exit code 3 was expected, ok", error=False)
        session.runs("./check", "all fine here", error=True)
        session.runs("make", "green")
        assert signals(session.path) == {"exit_error": 1}

    def test_claimed_success_before_a_failure_is_told_by_any_word_of_success(
        self, session: Talk
    ) -> None:
        """traps 2.2 #4: ✅, completed and fixed count too."""
        for number, claim in enumerate(("All good ✅", "I have completed it", "It is fixed")):
            session.says(claim)
            session.runs(f"make {number}", "Exit code 1", error=True)
            session.runs("make", f"green {number}")
        assert signals(session.path)["false_success"] == 3

    def test_failures_without_any_success_after_them_stay_unresolved(self, session: Talk) -> None:
        session.user("and the invoices?")
        session.runs("make", "Exit code 1", error=True)
        assert signals(session.path)["no_resolution"] == 1
        session.uses("Read", "text", file_path="/p/a")
        assert signals(session.path)["no_resolution"] == 1
        session.runs("make", "green")
        assert signals(session.path)["no_resolution"] == 0

    def test_a_failed_edit_is_made_good_by_going_on(self, session: Talk) -> None:
        session.user("and the invoices?")
        session.uses("Edit", "String to replace not found", error=True, file_path="/p/a")
        session.uses("Read", "text", file_path="/p/a")
        assert signals(session.path) == {"exit_error": 1}

    def test_a_call_the_user_refused_is_not_a_failure(self, session: Talk) -> None:
        session.runs("rm -rf /", "The user doesn't want to proceed with this tool use.", error=True)
        assert signals(session.path) == {}

    def test_calls_cancelled_together_are_one_signal(self, session: Talk) -> None:
        when = "2026-11-15T10:30:00.000Z"
        for number in range(3):
            session.calls("Read", f"s{number}", file_path=f"/p/{number}")
        for number in range(3):
            text = "<tool_use_error>Sibling tool call errored</tool_use_error>"
            session.result(text, f"s{number}", error=True, timestamp=when)
        (signal,) = [s for s in only(session.path).heard.signals if s.name == "sibling_tool_error"]
        assert signal.more == {"batch_size": 3, "tools_affected": ["Read"] * 3}


class TestLoops:
    def test_the_same_call_with_the_same_result_is_one_loop(self, session: Talk) -> None:
        """traps 2.2 #6: one signal per loop, with its count."""
        for _ in range(6):
            session.runs("make all", "Exit code 2\nno rule", error=True)
        loops = [s for s in only(session.path).heard.signals if s.name == "tool_loop"]
        assert [s.more for s in loops] == [{"tool": "Bash", "loop_count": 6}]

    def test_two_calls_are_no_loop(self, session: Talk) -> None:
        for _ in range(2):
            session.runs("make all", "Exit code 2", error=True)
        assert signals(session.path)["tool_loop"] == 0

    def test_an_edit_in_between_begins_again(self, session: Talk) -> None:
        """traps 2.2 #6: a test that is run again after an edit is work and no loop."""
        for number in range(5):
            session.runs("make test", "Exit code 1\n1 failed", error=True)
            session.uses("Edit", f"edited {number}", file_path="/p/a.py", new_string=str(number))
        assert signals(session.path)["tool_loop"] == 0

    def test_another_result_begins_again(self, session: Talk) -> None:
        for number in range(5):
            session.runs("make test", f"{number} failed", error=True)
        assert signals(session.path)["tool_loop"] == 0

    def test_what_the_user_asks_for_again_is_not_a_loop(self, session: Talk) -> None:
        for _ in range(4):
            session.runs("git log -1", "abc Add a page")
            session.user("show it once more")
        assert signals(session.path)["tool_loop"] == 0

    @pytest.mark.parametrize(
        ("tool", "given"),
        [
            ("Bash", {"command": "sleep 5; cat log"}),
            ("Bash", {"command": "gh run view 12"}),
            ("Bash", {"command": "docker ps"}),
            ("BashOutput", {"bash_id": "1"}),
            ("TodoWrite", {"todos": []}),
        ],
    )
    def test_polling_is_not_a_loop(
        self, session: Talk, tool: str, given: dict[str, object]
    ) -> None:
        """traps 2.2 #6: polling is legitimate."""
        for _ in range(6):
            session.uses(tool, "still at it", error=False, **given)
        assert signals(session.path)["tool_loop"] == 0


class TestInterruptions:
    def test_two_within_a_minute_are_a_cascade(self, session: Talk) -> None:
        session.stopped("2026-11-15T10:20:00Z")
        session.says("I go on.", timestamp="2026-11-15T10:20:10Z")
        session.stopped("2026-11-15T10:20:30Z")
        assert signals(session.path) == {
            "request_interrupted": 2,
            "interrupt_cascade": 1,
            "rapid_exit": 1,
        }
        (cascade,) = [s for s in only(session.path).heard.signals if "cascade" in s.name]
        assert cascade.more == {"gap_seconds": 30.0}

    def test_two_further_apart_are_not_a_cascade(self, session: Talk) -> None:
        session.stopped("2026-11-15T10:20:00Z")
        session.says("I go on.", timestamp="2026-11-15T10:20:10Z")
        session.stopped("2026-11-15T10:21:01Z")
        assert signals(session.path)["interrupt_cascade"] == 0

    def test_one_key_that_is_written_twice_is_one(self, session: Talk) -> None:
        session.stopped("2026-11-15T10:20:00Z")
        session.stopped("2026-11-15T10:20:00Z")
        assert signals(session.path)["request_interrupted"] == 1

    def test_a_refusal_and_its_interruption_are_one(self, session: Talk) -> None:
        session.runs("rm x", "The user doesn't want to proceed with this tool use.", error=True)
        session.stopped()
        assert signals(session.path)["request_interrupted"] == 1

    def test_what_the_user_said_instead_is_a_correction(self, session: Talk) -> None:
        said = (
            "The user doesn't want to proceed with this tool use. The tool use was rejected."
            " To tell you how to proceed, the user said:\nuse the trash and never rm"
        )
        session.runs("rm x", said, error=True)
        (signal,) = [s for s in only(session.path).heard.signals if s.name == "user_correction"]
        assert signal.statement == "use the trash and never rm"


class TestWhatIsNotTheUsersWord:
    @pytest.mark.parametrize(
        "text",
        [
            "<task-notification>no, that is wrong, fuck</task-notification>",
            "[SYSTEM NOTIFICATION - NOT USER INPUT] no, stop that",
            "<local-command-stdout>no, still broken</local-command-stdout>",
            "<system-reminder>no, wrong, shit</system-reminder>",
            "<command-name>/review</command-name><command-message>no, wrong</command-message>",
            "$ make test\nno, wrong\nshit",
            "Traceback (most recent call last):\n  no, damn",
            "no such file or directory: why again you shit",
        ],
    )
    def test_notices_commands_and_pastes_are_no_reaction(self, session: Talk, text: str) -> None:
        """traps 2.2 #7: command bodies, output, reminders, notifications, pasted terminals."""
        session.user(text, origin=None, promptSource=None)
        assert not set(signals(session.path)) & {"user_correction", "user_curse"}

    def test_meta_and_sidechain_entries_are_no_reaction(self, session: Talk) -> None:
        """traps 2.2 #7: isMeta and isSidechain."""
        session.user("no, that is wrong", isMeta=True)
        session.user("no, that is wrong", isSidechain=True)
        assert signals(session.path) == {}

    def test_nothing_can_be_corrected_before_anything_was_done(self, tmp_path: Path) -> None:
        session = talk(tmp_path)
        session.user("don't use npm here, add a page for orders")
        assert signals(session.path) == {}


class TestTime:
    def test_a_pause_is_a_checkpoint_and_after_trouble_a_silence(self, session: Talk) -> None:
        session.user("good morning, and invoices?", timestamp="2026-11-15T11:00:00Z")
        session.says("They are there.", timestamp="2026-11-15T11:01:00Z")
        session.user("no, use pnpm and not npm", timestamp="2026-11-15T11:02:00Z")
        session.user("anybody at home there?", timestamp="2026-11-15T11:20:00Z")
        silent = [s for s in only(session.path).heard.signals if "gap_minutes" in s.more]
        assert [s.name for s in silent] == ["checkpoint", "long_silence"]
        assert silent[1].more == {"gap_minutes": 18.0}

    def test_the_end_is_judged_by_time_and_not_by_order_in_a_list(self, session: Talk) -> None:
        """traps 2.2 #6: the last signals are the last in time."""
        session.user("no, use pnpm and not npm")
        session.says("I use it now.")
        moments = [signal.at for signal in only(session.path).heard.signals]
        assert moments == sorted(moments)

    def test_a_compaction_is_a_signal(self, session: Talk) -> None:
        session.add("system", subtype="compact_boundary", compactMetadata={"trigger": "auto"})
        assert signals(session.path) == {"compaction": 1}

    def test_the_same_question_again_is_a_signal(self, session: Talk) -> None:
        for _ in range(2):
            session.user("Which pages load slowly on a phone?")
        for _ in range(2):
            session.user("go on")
        assert signals(session.path) == {"repeated_question": 1}


class TestTheEnd:
    def test_a_session_left_in_the_middle_of_trouble_is_abandoned(self, session: Talk) -> None:
        session.user("no, the basket of the guest")
        session.runs("make basket", "Exit code 1", error=True)
        session.user("still broken")
        assert signals(session.path)["session_abandoned"] == 1
        assert only(session.path).quality == "BAD"

    def test_trouble_that_was_made_good_is_not_abandoned(self, session: Talk) -> None:
        session.user("no, the basket of the guest")
        session.runs("make basket", "Exit code 1", error=True)
        session.user("still broken")
        session.runs("make basket", "all green")
        session.says("It works.")
        assert signals(session.path)["session_abandoned"] == 0
        assert only(session.path).quality == "FRICTION"

    def test_failures_alone_are_never_abandonment(self, session: Talk) -> None:
        """traps 2.2 #2: without a reaction of the user an end is a checkpoint."""
        session.user("and invoices too?")
        session.user("and receipts as well?")
        for number in range(9):
            session.runs(f"make {number}", "Exit code 1", error=True)
        assert signals(session.path)["session_abandoned"] == 0

    def test_a_correction_taken_in_is_a_learning_moment(self, session: Talk) -> None:
        session.user("no, use pnpm and not npm")
        session.runs("pnpm test", "green")
        (pattern,) = only(session.path).patterns
        assert pattern == {"type": "learning_moment", "friction_before": 8.0, "friction_after": 0.0}


class TestClassicRules:
    def test_they_stay_as_wrong_as_they_were(self, session: Talk) -> None:
        """traps 2.2 #1, #2, #4: behind `--classic`, to compare."""
        session.user("there is no problem with src/stash/index.py")
        session.uses("Read", "Exit code 1 means that a test failed", file_path="/p/doc.md")
        found = signals(session.path, classic=True)
        assert found == {
            "user_intervention": 1,
            "user_negation": 1,
            "exit_error": 1,
            "rapid_exit": 1,
        }
        assert only(session.path, classic=True).quality == "BAD"

    def test_negations_count_only_in_an_exchange(self, tmp_path: Path) -> None:
        session = talk(tmp_path)
        session.user("there is no page for orders")
        assert signals(session.path, classic=True) == {}

    def test_summaries_are_compactions(self, session: Talk) -> None:
        session.line("summary", summary="The shop got a page")
        session.line("summary", summary="The session exited")
        assert signals(session.path, classic=True) == {"compaction": 1}
