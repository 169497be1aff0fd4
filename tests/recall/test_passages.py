"""Memories and what was said are one list: bounded, explained, and never beside the point."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ltm.history.db import Passages
from ltm.history.passage import ASSISTANT, TOOL, USER, Header, Passage
from ltm.model import Filter, Hit, Source
from ltm.recall import passages as gathering
from ltm.recall.passages import EXCERPT, Quote, SessionSearch, cited_as, excerpt, is_small_talk
from ltm.recall.search import Recalled, recall
from ltm.store.file_store import FileStore
from tests.stores import file_store, make

NOW = datetime(2026, 11, 15, tzinfo=UTC)


class Desk:
    """A project with memories and sessions."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "sessions.db")
        self.store: FileStore = file_store(folder)
        self.said = SessionSearch(self.path)

    def keep(self, session: str, *texts: str, day: str = "2026-11-01", **fields: object) -> None:
        """Keep a session whose turns alternate between the user and the agent."""
        passages = Passages(self.path)
        passages.add(
            Header(session, "/p", f"/t/{session}.jsonl"),
            [
                Passage(
                    turn,
                    0,
                    USER if turn % 2 else ASSISTANT,
                    text,
                    at=f"{day}T10:{turn:02d}:00Z",
                    first=turn,
                    last=turn,
                    message=f"{session}-{turn}",
                    **fields,  # type: ignore[arg-type]
                )
                for turn, text in enumerate(texts, 1)
            ],
        )
        passages.close()

    def ask(self, question: str, limit: int = 10, **given: object) -> Recalled:
        return recall(
            self.store,
            question,
            Filter(),
            limit,
            counts=False,
            said=self.said,
            **given,  # type: ignore[arg-type]
        )

    def cited(self, question: str, limit: int = 10, **given: object) -> list[str]:
        return [cited_as(hit) for hit in self.ask(question, limit, **given).hits]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.said.close()
    made.store.close()


def quote(found: Recalled) -> Quote:
    (hit,) = [hit for hit in found.hits if isinstance(hit, Quote)][:1]
    return hit


def test_where_no_session_was_kept_memories_answer_alone(desk: Desk) -> None:
    kept = desk.store.create(make("Retry policy", "retries are capped at five")).memory
    assert desk.cited("retries") == [kept.id]
    assert not desk.said.anything()


def test_a_quote_says_where_it_was_said_why_and_what_it_costs(desk: Desk) -> None:
    desk.keep("s1", "how many retries do we allow?", "Five retries, then it gives up.")
    found = quote(desk.ask("which retries give up"))
    assert found.id == "s1:2"
    assert found.passage.at.startswith("2026-11-01")
    assert found.why.startswith("said: retries, give")
    assert "Five retries" in found.excerpt
    assert found.tokens > 3


def test_a_memory_comes_before_something_said_that_answers_as_well(desk: Desk) -> None:
    desk.keep("s1", "the uploader makes five retries")
    kept = desk.store.create(make("Uploader retries", "the uploader makes five retries")).memory
    assert desk.cited("uploader retries") == [kept.id, "s1:1"]


def test_something_said_that_answers_better_comes_before_a_memory(desk: Desk) -> None:
    desk.keep("s1", "the uploader makes five retries with a doubling pause")
    kept = desk.store.create(make("Uploader", "it runs at night")).memory
    assert desk.cited("uploader retries with a doubling pause") == ["s1:1", kept.id]


def test_a_memory_and_the_lines_it_came_from_are_one_hit(desk: Desk) -> None:
    desk.keep("s1", "remember: the uploader makes five retries", "Noted.")
    source = Source(session="s1", lines="1-1")
    kept = desk.store.create(make("Uploader retries", "five of them", source=source)).memory
    found = desk.ask("how many retries does the uploader make")
    assert [cited_as(hit) for hit in found.hits] == [kept.id, "s1:2"]
    assert "said in s1:1" in found.hits[0].why


def test_a_turn_is_one_hit_however_many_parts_it_has(desk: Desk) -> None:
    passages = Passages(desk.path)
    passages.add(
        Header("s1", "/p", "/t"),
        [
            Passage(1, part, USER, f"kafka part {part}", first=1, last=1, message=f"m{part}")
            for part in range(3)
        ],
    )
    passages.close()
    assert len(desk.ask("kafka part").hits) == 1


def test_one_session_does_not_fill_the_list(desk: Desk) -> None:
    desk.keep("chatty", *[f"kafka consumers lag, number {n}" for n in range(20)])
    for n in range(5):
        desk.keep(f"other{n}", f"we saw kafka consumers once, and lunch was at {n}")
    for days in range(60):  # however the scores of that day are rounded
        day = datetime(2026, 11, 2, tzinfo=UTC) + timedelta(days=days)
        found = desk.ask("kafka consumers lag", 8, as_of=day).hits
        sessions = [each.passage.session for each in found if isinstance(each, Quote)]
        assert (sessions.count("chatty"), len(set(sessions))) == (3, 6), day


def test_the_time_in_a_question_brings_the_session_of_that_time(desk: Desk) -> None:
    desk.keep("spring", "we decided on five retries", day="2026-03-10")
    desk.keep("autumn", "we decided on nine retries", day="2026-10-10")
    found = desk.ask("what did we decide about retries in March?", as_of=NOW)
    assert cited_as(found.hits[0]) == "spring:1"
    assert "march: 2026-03-10" in found.hits[0].why
    assert desk.cited("what did we decide about retries?", as_of=NOW)[0] == "autumn:1"


def test_asked_as_of_a_day_nothing_later_is_found(desk: Desk) -> None:
    desk.keep("early", "five retries", day="2026-03-10")
    desk.keep("late", "nine retries", day="2026-10-10")
    assert desk.cited("retries", as_of=datetime(2026, 3, 10, tzinfo=UTC)) == ["early:1"]
    assert len(desk.cited("retries")) == 2


def test_the_passages_of_a_file_are_found_by_its_path(desk: Desk) -> None:
    desk.keep("s1", "rounding is by bankers' rule now", files=("src/pay.py",))
    desk.keep("s2", "why so slow? because of lunch")
    found = desk.ask("why is src/pay.py so?")
    assert cited_as(found.hits[0]) == "s1:1"
    assert "names the file" in found.hits[0].why


def test_the_same_error_is_found_by_its_text(desk: Desk) -> None:
    error = "sqlite3.OperationalError: database is locked"
    desk.keep("s1", f"failed: {error}", errors=(error,))
    desk.keep("s2", "OperationalError: the database is locked, I read somewhere")
    found = desk.ask("OperationalError: database is locked")
    assert cited_as(found.hits[0]) == "s1:1"
    assert "the same error" in found.hits[0].why


def test_a_filter_asks_for_memories_only(desk: Desk) -> None:
    desk.keep("s1", "five retries")
    kept = desk.store.create(make("Retries", kind="decision")).memory
    found = recall(desk.store, "retries", Filter(kinds=("decision",)), 5, said=desk.said)
    assert [cited_as(hit) for hit in found.hits] == [kept.id]


def test_a_memory_that_may_no_longer_be_true_comes_after_one_that_is(desk: Desk) -> None:
    doubted = desk.store.create(make("Retries are five", confidence=0.1)).memory
    sure = desk.store.create(make("Retries are five", kind="gotcha", confidence=1.0)).memory
    assert desk.cited("retries are five") == [sure.id, doubted.id]


def test_who_asks_for_decisions_gets_decisions_first(desk: Desk) -> None:
    desk.store.create(make("Retries are five"))
    decided = desk.store.create(make("Retries are five", kind="decision")).memory
    desk.store.create(make("Retries are five", kind="gotcha"))
    assert desk.cited("which decisions on retries")[0] == decided.id


def test_being_found_is_a_use_of_memories(desk: Desk) -> None:
    desk.keep("s1", "five retries")
    kept = desk.store.create(make("Retries")).memory
    found = recall(desk.store, "retries", Filter(), 5, said=desk.said)
    assert [hit.stored.memory.id for hit in found.memories] == [kept.id]
    assert desk.store.usage([kept.id])[kept.id].uses == 1


def test_how_many_passages_are_looked_at_does_not_grow_with_the_project(desk: Desk) -> None:
    for n in range(30):
        desk.keep(f"s{n}", *[f"kafka consumers lag {n} {m}" for m in range(20)])
    found = desk.ask("kafka consumers lag", 200)
    beside = 2 * gathering.WIDENED * 4
    assert found.total <= gathering.BY_WORDS + gathering.BY_MEANING + beside


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
@given(st.text(max_size=120))
def test_any_text_is_a_legal_question(desk: Desk, question: str) -> None:
    if not desk.said.anything():
        desk.keep("s1", "five retries", 'a "quoted" NEAR(word) * AND - text')
    found = desk.ask(question)
    assert all(hit.why and isinstance(hit, Hit | Quote) for hit in found.hits)


def test_an_excerpt_shows_the_sentence_that_answers() -> None:
    text = f"{'Nothing of interest here. ' * 30}The uploader makes five retries. {'More. ' * 80}"
    shown = excerpt(text, {"upload", "retri"})
    assert shown.startswith("… The uploader makes five retries.")
    assert len(shown) <= EXCERPT
    assert excerpt("", {"x"}) == ""


def test_a_hit_shows_the_exchange_it_belongs_to_and_each_exchange_once(desk: Desk) -> None:
    desk.keep(
        "s1",
        "How many retries do we allow for uploads?",
        "Five retries for uploads, with a pause that doubles.",
        "Thanks!",
        "You're welcome. The retries are in uploader.py now.",
    )
    first, *others = desk.ask("retries for uploads").hits
    assert isinstance(first, Quote)
    assert first.exchange == (
        ("user", "How many retries do we allow for uploads?"),
        ("assistant", "Five retries for uploads, with a pause that doubles."),
    )
    assert [hit.exchange for hit in others if isinstance(hit, Quote)] == [
        # The last question that is not small talk stands for what was asked.
        (
            ("user", "How many retries do we allow for uploads?"),
            ("assistant", "You're welcome. The retries are in uploader.py now."),
        )
    ]


@pytest.mark.parametrize(
    ("role", "text", "small"),
    [
        (USER, "OK.", True),
        (USER, "yes, go ahead please", True),
        (USER, "👍", True),
        (USER, "ok, but keep the cache", False),
        (USER, "Let me check the deploy first.", False),
        (ASSISTANT, "Great! Thanks for that.", True),
        (ASSISTANT, "I'll look for the retry settings in the uploader.", True),
        (ASSISTANT, "Now let me run the tests:", True),
        (ASSISTANT, "I'll use a lock because two writers may meet.", False),
        (ASSISTANT, "Let me see. The cache is cold.", False),
        (ASSISTANT, "The cache is cold.", False),
        (TOOL, "Edit: src/cache.py", True),
        (TOOL, "$ make deploy", False),
    ],
)
def test_small_talk_is_not_a_hit(role: str, text: str, small: bool) -> None:
    assert is_small_talk(Passage(1, 0, role, text)) is small


def test_what_has_little_of_the_question_is_weak_and_nothing_is_better_than_that(
    desk: Desk,
) -> None:
    desk.keep("s1", "The uploader makes five retries with a doubling pause.")
    desk.keep("s2", "Lunch with the uploader team is at noon.")
    hits = desk.ask("how many retries with which pause does the uploader make").hits
    assert [(cited_as(hit), hit.weak) for hit in hits] == [("s1:1", False), ("s2:1", True)]
    (only, *_) = desk.ask("kubernetes ingress pause retries").hits
    assert only.weak
    assert desk.ask("which kubernetes ingress rotates certificates for the noon mail").hits == ()


def test_of_two_sessions_about_the_same_the_newer_is_first_unless_a_time_is_named(
    desk: Desk,
) -> None:
    desk.keep("old", "The deploy timeout is thirty seconds, set in deploy.toml.", day="2026-03-01")
    desk.keep("new", "The deploy timeout is ninety seconds, set in deploy.toml.", day="2026-10-01")
    desk.keep("more", "Deploy, deploy, deploy: the timeout of deploys is a topic", day="2026-10-02")
    cited = desk.cited("what is the deploy timeout in seconds")
    assert cited.index("new:1") < cited.index("old:1")
    assert desk.cited("what was the deploy timeout in seconds in March")[0] == "old:1"


def test_a_question_that_names_nothing_but_a_time_is_answered_by_the_sessions_of_that_time(
    desk: Desk,
) -> None:
    desk.keep("september", "Please fix the uploader", day="2026-09-10")
    desk.keep("october", "The dashboard is slow", "A view makes it quick.", day="2026-10-10")
    hits = desk.ask("what did we do in October?").hits
    assert [(cited_as(hit), hit.weak) for hit in hits] == [("october:1", False)]
    assert hits[0].why.startswith("october: 2026-10-10")


def test_words_that_fit_any_work_and_words_that_ask_how_many_do_not_make_a_match(
    desk: Desk,
) -> None:
    desk.keep("s1", "use the lock and run it", "carts expire after two weeks")
    assert not desk.ask("how long do carts live").hits[0].weak
    assert all(hit.weak for hit in desk.ask("which kafka broker should we use or run").hits)
