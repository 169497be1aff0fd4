"""From a transcript to passages: every word that was said, once, and nothing secret or injected."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm.history.db import Passages
from ltm.history.ingest import keep_verbatim, passages_behind
from ltm.history.passage import ASSISTANT, TOOL, USER, Passage
from ltm.history.split import ERROR, LONGEST, PART, failure, parts
from ltm.model import Source
from ltm.text.terms import query_terms
from tests.effort import ALL
from tests.sessions.writing import Transcript
from tests.stores import make


class Kept:
    """A project's passages, filled from transcripts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.passages = Passages(str(folder / "sessions.db"))

    def keep(self, transcript: Transcript, session: str = "one", **fields: Any) -> int:
        return keep_verbatim(self.passages, session, str(transcript.path), "/p", **fields)

    def all(self, session: str = "one") -> list[Passage]:
        return self.passages.of_session(session)

    def said(self, session: str = "one") -> list[tuple[str, str]]:
        return [(each.role, each.text) for each in self.all(session)]

    def holds(self, text: str) -> bool:
        return any(text.encode() in path.read_bytes() for path in self.folder.glob("sessions.db*"))


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    place = Kept(tmp_path / "project")
    yield place
    place.passages.close()


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    return Transcript(tmp_path / "one.jsonl", "one")


def work(transcript: Transcript) -> None:
    """A session with a failure, its repair, and all that clients write in between."""
    transcript.user("the login test fails\n<system-reminder>be brief</system-reminder>")
    transcript.says("I will run it.")
    transcript.calls("Read", "r1", file_path="/p/src/login.ts")
    transcript.result("export const cookie = 'session'", "r1")
    transcript.calls("Bash", "b1", command="npm test -- login")
    transcript.result('Exit code 1\nExpected "sid", received "session"', "b1", error=True)
    transcript.line("file-history-snapshot", snapshot={})
    transcript.says("The cookie name changed.")
    transcript.calls("Edit", "e1", file_path="/p/src/login.ts", old_string="a", new_string="b")
    transcript.result("The file was updated. " + "noise " * 500, "e1")
    transcript.calls("Bash", "b2", command="npm test -- login")
    transcript.result("5 passed", "b2", error=False)
    transcript.says("It passes now.")


# -- what is kept ------------------------------------------------------------------------------


def test_what_was_said_done_and_wrong_is_kept_and_nothing_else(
    kept: Kept, transcript: Transcript
) -> None:
    work(transcript)
    assert kept.keep(transcript) == 8
    assert kept.said() == [
        (USER, "the login test fails"),
        (ASSISTANT, "I will run it."),
        (TOOL, "$ npm test -- login"),
        (TOOL, 'failed: Exit code 1\nExpected "sid", received "session"'),
        (ASSISTANT, "The cookie name changed."),
        (TOOL, "Edit: /p/src/login.ts"),
        (TOOL, "$ npm test -- login"),
        (ASSISTANT, "It passes now."),
    ]
    assert not kept.holds("noise noise")
    assert not kept.holds("be brief")


def test_tools_belong_to_the_turn_that_used_them(kept: Kept, transcript: Transcript) -> None:
    work(transcript)
    kept.keep(transcript)
    assert [(each.turn, each.part) for each in kept.all()] == [
        (1, 0),
        (2, 0),
        (2, 1),
        (2, 2),
        (3, 0),
        (3, 1),
        (3, 2),
        (4, 0),
    ]


def test_a_passage_knows_its_lines_time_message_files_commands_and_errors(
    kept: Kept, transcript: Transcript
) -> None:
    work(transcript)
    kept.keep(transcript)
    failed, edit = kept.all()[3], kept.all()[5]
    assert (failed.first, failed.last, failed.at) == (6, 6, "2026-11-15T10:00:06Z")
    assert failed.message == "one-000006"
    assert failed.errors == ('Exit code 1\nExpected "sid", received "session"',)
    assert kept.all()[2].commands == ("npm test -- login",)
    assert edit.files == ("src/login.ts",)
    assert [each.turn for each in kept.passages.naming_file("src/login.ts")] == [3]
    header = kept.passages.header("one")
    assert header is not None
    assert (header.title, header.cwd) == ("the login test fails", "/p")
    assert header.transcript == str(transcript.path)


def test_files_that_are_only_spoken_of_are_named_too(kept: Kept, transcript: Transcript) -> None:
    transcript.user(
        "see src/pay/retry.py, ./conf/a.toml and https://example.com/x/y.py or 1.5 e.g."
    )
    kept.keep(transcript)
    assert kept.all()[0].files == ("src/pay/retry.py", "conf/a.toml")


def test_an_error_the_user_pastes_is_an_error(kept: Kept, transcript: Transcript) -> None:
    transcript.user("what is this?\nTypeError: bad operand type for unary +")
    transcript.user("why is the sky blue?")
    kept.keep(transcript)
    assert [each.errors for each in kept.all()] == [
        ("TypeError: bad operand type for unary +",),
        (),
    ]


def test_a_failure_that_a_pipe_hides_is_a_failure(kept: Kept, transcript: Transcript) -> None:
    transcript.calls("Bash", "b1", command="pytest | tail -5")
    transcript.result("E   AssertionError: 1 != 2\n1 failed, 3 passed", "b1", error=False)
    kept.keep(transcript)
    assert [each.errors != () for each in kept.all()] == [False, True]


@pytest.mark.parametrize(
    ("printed", "errors"),
    [
        ("12 passed", ()),
        (
            "10:00:01 INFO up\n10:00:02 ERROR db: relation users is missing\n10:00:03 ERROR db:"
            " relation users is missing\ncaused by java.sql.SQLException: no table",
            (
                "10:00:02 ERROR db: relation users is missing",
                "caused by java.sql.SQLException: no table",
            ),
        ),
        ("curl: (7) Connection refused", ("curl: (7) Connection refused",)),
        (
            'def f():\n    raise ValueError("x: y")\nsrc/a.py:3: except KeyError: x\n# Error: no',
            (),
        ),
        ("Error: token ghp_" + "a1B2" * 9, ("Error: token [redacted:github-token]",)),
    ],
)
def test_errors_that_a_command_printed_are_kept_though_it_ended_well(
    kept: Kept, transcript: Transcript, printed: str, errors: tuple[str, ...]
) -> None:
    transcript.calls("Bash", "b1", command="docker logs app")
    transcript.result(printed, "b1", error=False)
    kept.keep(transcript)
    assert [error for each in kept.all() for error in each.errors] == list(errors)


def test_what_the_user_answers_to_a_question_is_kept(kept: Kept, transcript: Transcript) -> None:
    transcript.calls("AskUserQuestion", "q1", questions=[{"question": "Which database?"}])
    transcript.result('The user answered: "Which database?"="SQLite"', "q1")
    kept.keep(transcript)
    assert any("SQLite" in text for _, text in kept.said())


def test_a_commit_is_found_by_its_hash(kept: Kept, transcript: Transcript) -> None:
    transcript.calls("Bash", "c1", command="git commit -m 'Rename the cookie'")
    transcript.result("[main abcdef1] Rename the cookie\n 1 file changed", "c1")
    kept.keep(transcript)
    (found,) = kept.passages.find(["abcdef1"], 5).candidates
    assert (found.turn, found.part) == (1, 1)


def test_a_call_the_user_refused_is_nobodys_failure(kept: Kept, transcript: Transcript) -> None:
    transcript.calls("Bash", "b1", command="rm -rf build")
    refused = "The user doesn't want to proceed with this tool use."
    transcript.result(refused, "b1", error=True, about="User rejected tool use")
    kept.keep(transcript)
    assert kept.said() == [(TOOL, "$ rm -rf build")]


def test_what_we_told_or_were_asked_is_never_kept(kept: Kept, transcript: Transcript) -> None:
    """What was recalled must not be found as if it had been said again."""
    block = "[LTM:default@p]\n~FACT| the mirror is in Oslo\n[/LTM]"
    transcript.user(f"{block}\nwhere is it?")
    transcript.says(f"I was told: {block} so I look.")
    transcript.calls("mcp__plugin_ltm_ltm__recall", "m1", query="mirror Oslo")
    transcript.result("the mirror is in Oslo", "m1", error=True)
    transcript.calls("Bash", "b1", command="ltm recall 'mirror Oslo'")
    transcript.result("the mirror is in Oslo", "b1", error=True)
    transcript.attachment("hook_additional_context", content=[block])
    transcript.user("<command-message>x</command-message>", isMeta=True)
    kept.keep(transcript)
    assert kept.said() == [(USER, "where is it?"), (ASSISTANT, "I was told:  so I look.")]
    assert not kept.holds("Oslo")


def test_a_summary_of_the_conversation_is_not_said_again(
    kept: Kept, transcript: Transcript
) -> None:
    transcript.user("how do we retry?")
    transcript.compacted()
    transcript.user("The user asked how to retry.", isCompactSummary=True)
    kept.keep(transcript)
    assert kept.said() == [(USER, "how do we retry?")]


def test_old_words_are_not_kept_where_days_are_set(kept: Kept, transcript: Transcript) -> None:
    transcript.user("from long ago", timestamp="2025-01-01T00:00:00.000Z")
    transcript.user("from today")
    kept.keep(transcript, since="2026-11-01T00:00:00Z")
    assert [text for _, text in kept.said()] == ["from today"]


# -- secrets -----------------------------------------------------------------------------------

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def test_no_secret_is_in_the_file_wherever_it_stood(kept: Kept, transcript: Transcript) -> None:
    """traps: secrets are taken out before anything touches a disk."""
    transcript.user(f"use {TOKEN} and <private>my own affair</private>")
    transcript.says(f"I use {TOKEN}")
    transcript.calls("Bash", "b1", command=f"curl -H 'Authorization: Bearer {TOKEN}' x")
    transcript.result(f"Exit code 1\nbad credentials {TOKEN}", "b1", error=True)
    transcript.calls("Agent", "a1", prompt=f"log in with {TOKEN}")
    transcript.result(f"logged in with {TOKEN}", "a1")
    transcript.calls("WebFetch", "w1", url=f"https://x.example/?token={TOKEN}")
    transcript.user("word " * 300 + f"password={TOKEN}")
    kept.keep(transcript)
    assert len(kept.said()) >= 8
    assert not kept.holds(TOKEN)
    assert not kept.holds(TOKEN.lower())
    assert not kept.holds("own affair")
    assert kept.passages.find(query_terms(TOKEN), 5).candidates == ()


# -- how much ----------------------------------------------------------------------------------


def test_a_long_message_is_cut_where_paragraphs_end(kept: Kept, transcript: Transcript) -> None:
    paragraphs = [f"Paragraph {number}. " + "words " * 120 for number in range(9)]
    transcript.says("\n\n".join(paragraphs))
    kept.keep(transcript)
    assert len(kept.all()) > 3
    assert {each.turn for each in kept.all()} == {1}
    assert [each.part for each in kept.all()] == list(range(len(kept.all())))
    assert all(each.text.startswith("Paragraph") for each in kept.all())


@given(st.text(alphabet="ab \n.", max_size=400), st.integers(10, 60))
def test_cutting_loses_nothing_but_blanks(text: str, size: int) -> None:
    pieces = parts(text, size)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(0 < len(piece) <= size + size // 4 for piece in pieces)


def test_a_megabyte_that_was_pasted_is_cut_off(kept: Kept, transcript: Transcript) -> None:
    transcript.user("look at this log\n" + "2026-01-01 line of a log\n" * 50_000)
    kept.keep(transcript)
    assert LONGEST // 2 < sum(len(each.text) for each in kept.all()) <= LONGEST
    assert max(len(each.text) for each in kept.all()) <= PART + PART // 4


def test_a_long_failure_keeps_its_beginning_its_end_and_its_telling_line() -> None:
    noise = "\n".join(f"step {number} done" for number in range(150))
    output = f"Exit code 2\n{noise}\nTypeError: bad operand\n{noise}\nmake: stopped"
    short = failure(output)
    assert len(short) <= ERROR + 100
    assert short.startswith("Exit code 2")
    assert "TypeError: bad operand" in short
    assert short.endswith("make: stopped")


def test_half_a_character_costs_that_character_only(kept: Kept, transcript: Transcript) -> None:
    transcript.raw(
        b'{"type":"user","uuid":"u1","timestamp":"x","message":{"role":"user",'
        b'"content":"smile \\ud83d and go on"}}\n'
    )
    kept.keep(transcript)
    assert kept.said() == [(USER, "smile ? and go on")]
    assert kept.all()[0].at == ""


# -- once, and all of it -----------------------------------------------------------------------


def test_reading_again_adds_nothing(kept: Kept, transcript: Transcript) -> None:
    work(transcript)
    kept.keep(transcript)
    before = kept.all()
    assert kept.keep(transcript) == 0
    assert kept.all() == before


def test_line_by_line_it_gives_the_same_as_at_once(
    kept: Kept, transcript: Transcript, tmp_path: Path
) -> None:
    work(transcript)
    transcript.calls("mcp__ltm__recall", "m1", query="x")
    transcript.result("no such memory", "m1", error=True)
    transcript.calls("Bash", "b9", command="pytest | tail -1")
    transcript.result("1 failed", "b9")
    transcript.calls("Bash", "c1", command="git commit -qam 'Rename the cookie'; git log | tail -1")
    transcript.result("[main abcdef1] Rename the cookie\n 1 file changed", "c1")
    kept.keep(transcript)
    growing, other = Transcript(tmp_path / "growing.jsonl"), Kept(tmp_path / "other")
    for line in transcript.path.read_bytes().splitlines(keepends=True):
        growing.raw(line[:50])
        other.keep(growing)
        growing.raw(line[50:])
        other.keep(growing)
    assert other.all() == kept.all()
    assert other.said()[-1] == (TOOL, "committed abcdef1: Rename the cookie")
    words = query_terms("npm login test failed")
    assert other.passages.find(words, 50) == kept.passages.find(words, 50)
    assert other.passages.find_views(words, 5) == kept.passages.find_views(words, 5)
    other.passages.close()


_TURN = st.tuples(
    st.sampled_from(("user", "says", "runs", "fails")),
    st.text(alphabet="abc de\n漢é", min_size=1, max_size=60),
)


@settings(max_examples=30)
@given(st.lists(_TURN, min_size=1, max_size=10), st.lists(st.integers(1, 10), max_size=3))
def test_any_session_is_found_by_its_words_in_whatever_stretches_it_was_read(
    tmp_path_factory: pytest.TempPathFactory, turns: list[tuple[str, str]], stops: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    at_once, in_parts = Kept(folder / "a"), Kept(folder / "b")
    transcript = Transcript(folder / "t.jsonl")
    for number, (what, text) in enumerate(turns, start=1):
        match what:
            case "user":
                transcript.user(text)
            case "says":
                transcript.says(text)
            case "runs":
                transcript.calls("Bash", f"c{number}", command=text)
            case _:
                transcript.result(text, f"c{number}", error=True)
        if number in stops:
            in_parts.keep(transcript)
    in_parts.keep(transcript)
    at_once.keep(transcript)
    try:
        assert at_once.all() == in_parts.all()
        for each in at_once.all():
            words = query_terms(each.text)
            found = at_once.passages.find(words, 100)
            assert found == in_parts.passages.find(words, 100)
            assert not words or each.row in [candidate.row for candidate in found.candidates]
    finally:
        at_once.passages.close()
        in_parts.passages.close()


def test_a_fork_and_a_resumed_session_repeat_nothing(
    kept: Kept, transcript: Transcript, tmp_path: Path
) -> None:
    work(transcript)
    kept.keep(transcript)
    fork = Transcript(tmp_path / "fork.jsonl", "one")
    fork.raw(transcript.path.read_bytes())
    fork.user("and now the logout test", uuid="of-the-fork")
    assert kept.keep(fork, "two") == 1
    assert kept.said("two") == [(USER, "and now the logout test")]
    assert len(kept.all("one")) == 8


def test_a_transcript_that_was_replaced_is_read_from_its_start_and_gives_only_what_is_new(
    kept: Kept, transcript: Transcript
) -> None:
    work(transcript)
    kept.keep(transcript)
    lines = transcript.path.read_bytes().splitlines(keepends=True)
    transcript.path.write_bytes(b"".join(lines[2:]))
    transcript.user("one more thing", uuid="later")
    assert kept.keep(transcript) == 1
    assert kept.said()[-1] == (USER, "one more thing")
    assert kept.all()[-1].turn == 5


def test_purged_lines_do_not_come_back_with_their_transcript(
    kept: Kept, transcript: Transcript
) -> None:
    work(transcript)
    kept.keep(transcript)
    kept.passages.purge([1])
    assert not kept.holds("the login test fails")
    transcript.path.write_bytes(b"\n" + transcript.path.read_bytes())  # read from its start
    kept.keep(transcript)
    assert (USER, "the login test fails") not in kept.said()


def test_two_readers_of_one_session_keep_it_once(kept: Kept, transcript: Transcript) -> None:
    work(transcript)
    code = (
        "import sys; from ltm.history.ingest import keep_verbatim\n"
        "from ltm.history.db import Passages\n"
        "p = Passages(sys.argv[1]); print(keep_verbatim(p, 'one', sys.argv[2], '/p')); p.close()"
    )
    argv = [sys.executable, "-c", code, kept.passages.path, str(transcript.path)]
    readers = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    counts = [int(reader.communicate()[0]) for reader in readers]
    assert sum(counts) == 8
    assert len(kept.all()) == 8


# -- what a memory came from -------------------------------------------------------------------


def test_behind_a_memory_are_its_lines_and_wherever_the_same_was_said(
    kept: Kept, transcript: Transcript
) -> None:
    transcript.user("remember: the staging mirror lives in northern Oslo")
    transcript.says("Noted: the staging mirror lives in northern Oslo.")
    transcript.user("what about the staging area?")
    transcript.user("in northern Oslo lives the staging mirror, as I said")
    kept.keep(transcript)
    memory = make(
        "The staging mirror lives in northern Oslo", source=Source(session="one", lines="1")
    )
    behind = kept.passages.read(passages_behind(kept.passages, memory))
    assert [each.turn for each in behind] == [1, 2, 4]


def test_a_memory_of_few_words_takes_only_its_lines_along(
    kept: Kept, transcript: Transcript
) -> None:
    transcript.user("use tabs")
    transcript.says("I use tabs now.")
    kept.keep(transcript)
    memory = make("Use tabs", "Use tabs.", source=Source(session="one", lines="1"))
    behind = kept.passages.read(passages_behind(kept.passages, memory))
    assert [each.turn for each in behind] == [1]


# -- size --------------------------------------------------------------------------------------


COUNT = 2_000 if ALL else 600
"""Answers, and as many outputs of 45,000 characters."""


@pytest.mark.slow
def test_a_large_transcript_is_kept_in_little_memory(tmp_path: Path) -> None:
    """Reliability R17: 30 MB of tool output and long answers (100 of all), one line of 64 MB."""
    path = tmp_path / "t.jsonl"
    with path.open("w") as file:
        for number in range(COUNT):
            said = [{"type": "text", "text": f"answer {number} " + "words of it " * 400}]
            result = [{"type": "tool_result", "tool_use_id": "x", "content": "y" * 45_000}]
            for kind, content in (("assistant", said), ("user", result)):
                entry = {
                    "type": kind,
                    "uuid": f"{kind}{number}",
                    "message": {"role": kind, "content": content},
                }
                file.write(json.dumps(entry) + "\n")
        file.write('{"type":"user","uuid":"u","message":{"content":"' + "z" * 64_000_000 + '"}}\n')
    code = (
        "import resource, sys; from ltm.history.ingest import keep_verbatim\n"
        "from ltm.history.db import Passages\n"
        "p = Passages(sys.argv[1])\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "count = keep_verbatim(p, 'one', sys.argv[2], '/p')\n"
        "after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(count, (after - before) // 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "sessions.db"), str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    count, grown = map(int, done.stdout.split())
    assert count == COUNT * 3  # 4,800 characters each
    assert grown < 80
