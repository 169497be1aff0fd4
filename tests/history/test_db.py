"""What was said in sessions: kept once, found by its words, gone without a trace when purged."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm.errors import Conflict, StorageFailed
from ltm.history import tables
from ltm.history.db import Passages
from ltm.history.passage import ASSISTANT, TOOL, USER, Header, Passage
from ltm.index import full_text
from ltm.text.terms import query_terms

ONE = Header("one", "/p", "/t/one.jsonl")


def passage(turn: int, text: str, role: str = USER, **fields: object) -> Passage:
    """A passage of a message of its own, a minute after the turn before."""
    values: dict[str, object] = {
        "at": f"2026-03-01T{turn // 60:02d}:{turn % 60:02d}:00Z",
        "first": turn,
        "last": turn,
        "message": f"uuid-{turn}-{text[:20]}",
        **fields,
    }
    return Passage(turn, 0, role, text, **values)  # type: ignore[arg-type]


@pytest.fixture
def passages(tmp_path: Path) -> Iterator[Passages]:
    opened = Passages(str(tmp_path / "project" / "sessions.db"))
    yield opened
    opened.close()


def texts_found(passages: Passages, question: str, limit: int = 10, **span: str) -> list[str]:
    """The texts a question finds, the best first."""
    found = passages.find(query_terms(question), limit, **span).candidates
    return [each.text for each in passages.read(candidate.row for candidate in found)]


# -- keeping -----------------------------------------------------------------------------------


def test_what_is_kept_is_read_back_as_it_was(passages: Passages) -> None:
    said = passage(
        1,
        "TypeError in src/pay.py after `make test`",
        agent="a1",
        files=("src/pay.py",),
        commands=("make test",),
        errors=("TypeError",),
    )
    assert passages.add(ONE, [said]) == 1
    (found,) = passages.of_session("one")
    assert (found.row, found.session) == (1, "one")
    assert found == said._replace(row=1, session="one")


def test_adding_the_same_again_adds_nothing(passages: Passages) -> None:
    said = [passage(1, "how do we retry?"), passage(2, "With backoff.", ASSISTANT)]
    assert passages.add(ONE, said) == 2
    assert passages.add(ONE, said) == 0
    assert passages.size().passages == 2


def test_a_message_that_a_fork_repeats_counts_once(passages: Passages) -> None:
    first = passage(1, "how do we retry?")
    passages.add(ONE, [first])
    fork = Header("fork", "/p", "/t/fork.jsonl")
    assert passages.add(fork, [first, passage(2, "and then?")]) == 1
    assert texts_found(passages, "retry") == ["how do we retry?"]
    assert [each.text for each in passages.of_session("fork")] == ["and then?"]


def test_messages_without_a_uuid_are_told_apart_by_what_they_say(passages: Passages) -> None:
    said = [passage(1, "first words", message=""), passage(2, "second words", message="")]
    assert passages.add(ONE, said) == 2
    assert passages.add(ONE, said) == 0


def test_the_place_is_noted_with_what_was_read(passages: Passages) -> None:
    passages.add(ONE, [passage(1, "how do we retry?")], cursor="after 1")
    assert passages.cursor("one", ONE.transcript) == "after 1"
    assert passages.cursor("two", ONE.transcript) == ""


def test_who_read_from_an_old_place_is_told_and_keeps_nothing(passages: Passages) -> None:
    passages.add(ONE, [passage(1, "how do we retry?")], cursor="after 1")
    with pytest.raises(Conflict):
        passages.add(ONE, [passage(2, "and then?")], after="", cursor="after 2")
    assert passages.cursor("one", ONE.transcript) == "after 1"
    assert passages.size().passages == 1


def test_the_header_says_when_what_and_how_much(passages: Passages) -> None:
    passages.add(
        ONE,
        [
            passage(1, "Hello.", ASSISTANT),
            passage(2, "how do we\n  retry a payment? " + "x" * 500),
            passage(3, "make test", TOOL, at=""),
        ],
    )
    (header,) = passages.sessions()
    assert header == passages.header("one")
    assert (header.started, header.ended) == ("2026-03-01T00:01:00Z", "2026-03-01T00:02:00Z")
    assert header.title.startswith("how do we retry a payment? xxx")
    assert len(header.title) == 120
    assert (header.turns, header.passages) == (3, 3)


# -- finding -----------------------------------------------------------------------------------


def test_code_paths_and_scripts_without_spaces_are_found(passages: Passages) -> None:
    passages.add(
        ONE,
        [
            passage(1, "the userStore in src/app/user_store.py is slow"),
            passage(2, "支付重试最多三次"),
            passage(3, "nothing of the kind"),
        ],
    )
    assert texts_found(passages, "user store")[0].startswith("the userStore")
    assert texts_found(passages, "src/app/user_store.py")[0].startswith("the userStore")
    assert texts_found(passages, "重试") == ["支付重试最多三次"]


def test_a_candidate_says_which_words_it_has_and_how_common_they_are(passages: Passages) -> None:
    passages.add(ONE, [passage(1, "retry the payment"), passage(2, "retry the upload")])
    found = passages.find(query_terms("retry payment nowhere"), 10)
    assert found.passages == 2
    assert found.holders == {"retri": 2, "payment": 1, "nowher": 0}
    best = found.candidates[0]
    assert (best.session, best.turn, best.role) == ("one", 1, USER)
    assert best.words == "retri the payment"


def test_only_what_was_said_in_a_span_of_time_is_found(passages: Passages) -> None:
    passages.add(
        ONE,
        [
            passage(1, "retry in March", at="2026-03-31T23:59:59Z"),
            passage(2, "retry in April", at="2026-04-01T00:00:00Z"),
            passage(3, "retry some time", at=""),
        ],
    )
    assert texts_found(passages, "retry", since="2026-04-01") == ["retry in April"]
    assert texts_found(passages, "retry", since="2026-03", until="2026-04-01") == ["retry in March"]
    assert len(texts_found(passages, "retry")) == 3
    passages.purge([1])
    assert texts_found(passages, "retry", since="2026-03", until="2026-04-01") == []


def test_when_all_words_are_common_the_best_are_found_all_the_same(
    passages: Passages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search scores a bounded number of matches; what has the words together is among them."""
    monkeypatch.setattr(full_text, "POSTINGS", 20)
    said = [passage(turn, f"the build number {turn}") for turn in range(1, 100)]
    said[3] = passage(4, "the broken build of the number")
    said[50] = passage(51, "the broken release")
    said += [passage(turn, f"a broken test {turn}") for turn in range(100, 200)]
    passages.add(ONE, said)
    assert texts_found(passages, "broken build", 1) == ["the broken build of the number"]
    newest = passages.find(query_terms("broken build"), 40).candidates
    assert len(newest) > 1
    assert max(each.turn for each in newest) == 199


def test_words_too_common_bring_in_nothing_next_to_rare_ones(
    passages: Passages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_text, "POSTINGS", 5)
    said = [passage(turn, f"build number {turn}") for turn in range(1, 50)]
    said += [passage(50, "zebra crossing here"), passage(51, "zebra build here")]
    passages.add(ONE, said)
    found = passages.find(query_terms("build zebra"), 10)
    assert [each.turn for each in found.candidates] == [51, 50]
    assert {"build", "zebra"} <= set(found.candidates[0].words.split())
    assert found.holders["build"] == 50


def test_errors_are_found_apart_from_talk_about_them(passages: Passages) -> None:
    passages.add(
        ONE,
        [
            passage(1, "a TypeError is when types do not fit"),
            passage(2, "failed: TypeError: bad operand", TOOL, errors=("TypeError: bad operand",)),
        ],
    )
    found = passages.find_errors(query_terms("TypeError: bad operand"), 10).candidates
    assert [each.turn for each in found] == [2]


def test_a_file_is_found_by_any_end_of_its_path(passages: Passages) -> None:
    passages.add(
        ONE,
        [
            passage(1, "Edit", TOOL, files=("src/pay/retry.py",)),
            passage(2, "Edit", TOOL, files=("/elsewhere/pay/Retry.py",)),
            passage(3, "Edit", TOOL, files=("src/mail/retry.py",)),
        ],
    )
    assert [each.turn for each in passages.naming_file("retry.py")] == [3, 1]
    assert [each.turn for each in passages.naming_file("/repo/src/pay/retry.py")] == [1]
    assert [each.turn for each in passages.naming_file("pay/Retry.py")] == [2]
    assert passages.naming_file("other.py") == []


def test_the_turns_around_one_and_the_lines_of_a_memory_are_read(passages: Passages) -> None:
    said = [passage(turn, f"turn {turn}", first=10 * turn, last=10 * turn) for turn in range(1, 7)]
    passages.add(ONE, said)
    assert [each.turn for each in passages.around("one", 3, before=1, after=2)] == [2, 3, 4, 5]
    assert [each.turn for each in passages.at_lines("one", "20-30")] == [2, 3]
    assert [each.turn for each in passages.at_lines("one", "40")] == [4]
    assert passages.at_lines("one", "") == []
    assert passages.at_lines("two", "20-30") == []
    assert [each.turn for each in passages.after(4, 1)] == [5]


def test_sessions_are_found_by_all_words_and_by_the_users(passages: Passages) -> None:
    passages.add(ONE, [passage(1, "the payment fails"), passage(2, "Use backoff.", ASSISTANT)])
    other = Header("other", "/p", "/t/other.jsonl")
    passages.add(other, [passage(3, "write a letter"), passage(4, "Dear payment", ASSISTANT)])
    passages.add(Header("third"), [passage(5, "something else")])
    words = query_terms("payment backoff")
    assert passages.find_views(words, 5)[0].session == "one"
    assert {view.session for view in passages.find_views(words, 5)} == {"one", "other"}
    assert {view.session for view in passages.find_views(words, 5) if view.user_cost} == {"one"}


def test_a_long_session_is_looked_at_in_stretches(
    passages: Passages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "STRETCH", 100)
    passages.add(ONE, [passage(turn, f"word{turn} " + "filler " * 5) for turn in range(1, 11)])
    first, last = (passages.find_views([f"word{turn}"], 5) for turn in (1, 10))
    assert (len(first), len(last)) == (1, 1)
    assert first[0].stretch != last[0].stretch
    assert first[0].session == last[0].session == "one"


_WORDS = st.text(alphabet="abcdeé漢字 _-./", min_size=1, max_size=40)
_SAID = st.lists(st.tuples(st.sampled_from((USER, ASSISTANT, TOOL)), _WORDS), max_size=12)


@settings(max_examples=60)
@given(said=_SAID, cuts=st.lists(st.integers(0, 12), max_size=4))
def test_whatever_is_said_is_found_by_its_words_and_in_parts_as_at_once(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, str]], cuts: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("said")
    whole = [
        passage(turn, text, role, message=f"m{turn}", errors=(text,) if role == TOOL else ())
        for turn, (role, text) in enumerate(said, start=1)
    ]
    at_once, in_parts = Passages(str(folder / "a.db")), Passages(str(folder / "b.db"))
    try:
        at_once.add(ONE, whole)
        for start, end in pairwise(sorted({0, *cuts, len(whole)})):
            in_parts.add(ONE, whole[start:end])
        assert at_once.of_session("one") == in_parts.of_session("one")
        assert at_once.sessions() == in_parts.sessions()
        for each in whole:
            words = query_terms(each.text)
            found = at_once.find(words, 100)
            assert found == in_parts.find(words, 100)
            assert at_once.find_views(words, 9) == in_parts.find_views(words, 9)
            if words:
                assert each.turn in [candidate.turn for candidate in found.candidates]
                assert [view.session for view in at_once.find_views(words, 9)] == ["one"]
    finally:
        at_once.close()
        in_parts.close()


# -- letting go --------------------------------------------------------------------------------

SECRET = "zanzibarquokka"


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_purged_words_are_in_no_answer_and_in_no_byte(passages: Passages, tmp_path: Path) -> None:
    filler = [passage(turn, f"build number {turn} of the release") for turn in range(1, 300)]
    passages.add(ONE, filler)
    bad = passage(
        400,
        f"the password is {SECRET}",
        errors=(f"{SECRET} denied",),
        files=(f"src/{SECRET}.py",),
        commands=(f"login {SECRET}",),
    )
    passages.add(ONE, [bad, passage(401, "Thank you.", ASSISTANT)])
    assert SECRET.encode() in bytes_of(tmp_path)
    assert passages.purge(passages.saying(f"password is {SECRET}")) == 1
    assert SECRET.encode() not in bytes_of(tmp_path)
    assert b"quokka" not in bytes_of(tmp_path)
    assert passages.find([SECRET], 5).candidates == ()
    assert passages.find_errors([SECRET], 5).candidates == ()
    assert passages.find_views([SECRET], 5) == []
    assert passages.naming_file(f"{SECRET}.py") == []
    assert passages.add(ONE, [bad]) == 0
    assert texts_found(passages, "Thank you") == ["Thank you."]
    header = passages.header("one")
    assert header is not None
    assert (header.passages, header.ended) == (300, "2026-03-01T06:41:00Z")


def test_a_purge_that_was_cut_short_is_finished_by_the_next(
    passages: Passages, tmp_path: Path
) -> None:
    passages.add(ONE, [passage(1, f"the password is {SECRET}"), passage(2, "then build")])
    code = (
        "import os, sys; from ltm.history.tables import PassageRows\n"
        "from ltm.history.db import Passages\n"
        "PassageRows.wipe = lambda self: os._exit(9)\n"
        "Passages(sys.argv[1]).purge([1])"
    )
    died = subprocess.run([sys.executable, "-c", code, passages.path], check=False)
    assert died.returncode == 9
    assert passages.find([SECRET], 5).candidates == ()
    assert b"quokka" in bytes_of(tmp_path)
    passages.purge([])
    assert b"quokka" not in bytes_of(tmp_path)


def test_a_title_goes_with_the_words_it_was_made_of(passages: Passages, tmp_path: Path) -> None:
    passages.add(ONE, [passage(1, f"use {SECRET}"), passage(2, "then build")])
    passages.purge([1])
    header = passages.header("one")
    assert header is not None
    assert header.title == "then build"
    assert SECRET.encode() not in bytes_of(tmp_path)


def test_a_purged_session_is_gone_and_stays_gone(passages: Passages, tmp_path: Path) -> None:
    passages.add(ONE, [passage(1, f"the password is {SECRET}")], cursor="after 1")
    passages.add(Header("other"), [passage(2, "something else")])
    assert passages.purge_session("one") == 1
    assert SECRET.encode() not in bytes_of(tmp_path)
    assert passages.header("one") is None
    assert passages.is_purged("one")
    assert not passages.is_purged("other")
    with pytest.raises(Conflict):
        passages.add(ONE, [passage(3, "more")], after="after 1", cursor="after 2")


def test_rows_of_what_is_gone_are_not_given_again(passages: Passages) -> None:
    passages.add(ONE, [passage(1, "first"), passage(2, "second")])
    passages.purge([2])
    passages.add(ONE, [passage(3, "third")])
    assert [each.row for each in passages.of_session("one")] == [1, 3]


def test_old_sessions_are_let_go(passages: Passages) -> None:
    passages.add(ONE, [passage(1, "in March")])
    passages.add(Header("two"), [passage(2, "in May", at="2026-05-01T00:00:00Z")])
    passages.add(Header("three"), [passage(3, "some day", at="")])
    assert passages.prune(before="2026-04-01") == 1
    assert {header.id for header in passages.sessions()} == {"two", "three"}


def test_the_oldest_are_let_go_when_there_is_too_much_and_the_newest_stays(tmp_path: Path) -> None:
    passages = Passages(str(tmp_path / "sessions.db"))
    for number in range(20):
        at = f"2026-03-{number + 1:02d}T00:00:00Z"
        said = [passage(turn, f"{number} {turn} " + "word " * 200, at=at) for turn in range(1, 20)]
        passages.add(Header(f"s{number}"), said)
    passages.close()  # which writes the log into the file
    passages = Passages(str(tmp_path / "sessions.db"))
    before = passages.size().bytes
    assert passages.prune(most=2 * before) == 0
    assert passages.prune(most=before // 2) > 0
    left = [header.id for header in passages.sessions()]
    assert left == [f"s{number}" for number in range(19, 19 - len(left), -1)]
    assert 5 <= len(left) <= 12
    assert passages.size().bytes < 0.7 * before
    passages.prune(most=1)
    assert [header.id for header in passages.sessions()] == ["s19"]
    passages.close()


# -- the file ----------------------------------------------------------------------------------


def test_a_damaged_file_is_put_aside_and_told(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    path.write_bytes(b"this is no database" * 1000)
    passages = Passages(str(path))
    assert passages.problem is not None
    assert "ltm capture --all" in passages.problem.message
    assert passages.add(ONE, [passage(1, "how do we retry?")]) == 1
    assert (tmp_path / "sessions.db.damaged1").read_bytes().startswith(b"this is no")
    passages.close()


def test_damage_that_shows_on_the_way_breaks_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    passages = Passages(str(path))
    passages.add(ONE, [passage(turn, f"retry number {turn} " * 20) for turn in range(1, 300)])
    passages.close()
    data = bytearray(path.read_bytes())
    for start in range(8 * 4096, len(data), 4096):
        data[start : start + 2000] = os.urandom(2000)
    path.write_bytes(data)
    passages = Passages(str(path))
    assert passages.find(["retri"], 5).candidates == ()
    assert passages.problem is not None
    assert passages.add(ONE, [passage(1, "how do we retry?")]) == 1
    passages.close()


def test_trouble_that_is_not_damage_costs_an_answer_and_no_file(passages: Passages) -> None:
    """What was said cannot be had again, so only damage itself moves a file aside."""
    passages.add(ONE, [passage(1, "how do we retry?")])
    passages._db.close()
    assert passages.find(["retri"], 5).candidates == ()
    assert passages.problem is not None
    with pytest.raises(StorageFailed):
        passages.add(ONE, [passage(2, "and then?")])
    other = Passages(passages.path)
    assert other.problem is None
    assert other.size().passages == 1
    other.close()


def test_who_only_looks_leaves_a_damaged_file_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    path.write_bytes(b"this is no database" * 1000)
    passages = Passages(str(path), readonly=True)
    assert passages.sessions() == []
    assert passages.problem is not None
    passages.close()
    assert os.listdir(tmp_path) == ["sessions.db"]


def test_where_there_is_no_file_there_is_nothing_and_none_is_made(tmp_path: Path) -> None:
    passages = Passages(str(tmp_path / "no" / "sessions.db"), readonly=True)
    assert passages.find(["retri"], 5).candidates == ()
    assert passages.size().bytes == 0
    with pytest.raises(StorageFailed):
        passages.add(ONE, [passage(1, "how do we retry?")])
    passages.close()
    assert os.listdir(tmp_path) == []


def test_no_one_else_may_read_the_file(passages: Passages) -> None:
    passages.add(ONE, [passage(1, "how do we retry?")])
    assert os.stat(passages.path).st_mode & 0o077 == 0


def test_what_others_read_is_not_disturbed_by_a_purge(passages: Passages) -> None:
    passages.add(ONE, [passage(turn, f"retry {turn}") for turn in range(1, 20)])
    other = Passages(passages.path, readonly=True)
    assert len(other.find(["retri"], 50).candidates) == 19
    passages.purge([1, 2])
    assert len(other.find(["retri"], 50).candidates) == 17
    other.close()


def test_who_looks_for_long_sees_what_comes_later(tmp_path: Path) -> None:
    path = str(tmp_path / "sessions.db")
    writer = Passages(path)
    writer.add(ONE, [passage(1, "retry once")])
    writer.close()
    reader = Passages(path, readonly=True)
    assert texts_found(reader, "retry") == ["retry once"]
    writer = Passages(path)
    writer.add(ONE, [passage(turn, f"retry {turn}") for turn in range(2, 200)])
    assert len(texts_found(reader, "retry", 500)) == 199
    writer.close()
    assert len(texts_found(reader, "retry", 500)) == 199
    reader.close()


def test_where_nothing_can_be_written_what_is_there_is_found(tmp_path: Path) -> None:
    path = tmp_path / "project" / "sessions.db"
    writer = Passages(str(path))
    writer.add(ONE, [passage(1, "retry once")])
    writer.close()
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        for readonly in (True, False):
            reader = Passages(str(path), readonly=readonly)
            assert texts_found(reader, "retry") == ["retry once"]
            reader.close()
    finally:
        path.parent.chmod(0o700)


def test_a_write_that_is_refused_changes_nothing(tmp_path: Path) -> None:
    passages = Passages(str(tmp_path / "sessions.db"))
    passages.add(ONE, [passage(1, "how do we retry?")], cursor="after 1")
    holder = sqlite3.connect(passages.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    passages._db.execute("PRAGMA busy_timeout = 0")
    with pytest.raises(StorageFailed):
        passages.add(ONE, [passage(2, "and then?")], after="after 1", cursor="after 2")
    holder.execute("ROLLBACK")
    assert passages.cursor("one", ONE.transcript) == "after 1"
    assert passages.add(ONE, [passage(2, "and then?")], after="after 1", cursor="after 2") == 1
    holder.close()
    passages.close()
