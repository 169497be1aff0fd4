"""Hits come ranked and say why."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from ltm.model import Filter, Scope, Status
from ltm.recall.related import related
from ltm.recall.search import recall
from ltm.store.file_store import FileStore
from tests.stores import START, file_store, make


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FileStore]:
    opened = file_store(tmp_path)
    yield opened
    opened.close()


def titles(store: FileStore, question: str) -> list[str]:
    return [hit.stored.memory.title for hit in recall(store, question, Filter(), 10).memories]


def test_a_hit_names_the_askers_own_words_where_they_matched(store: FileStore) -> None:
    store.create(make("Retry policy", "backoff doubles each time", tags=("http",)))
    (hit,) = recall(store, "Which retries and backoffs, over HTTP?", Filter(), 5).hits
    assert hit.why == "title: retries; tags: HTTP; text: retries, backoffs"


def test_words_everybody_uses_do_not_explain_a_hit(store: FileStore) -> None:
    store.create(make("The cache", "it is the cache of the server"))
    (hit,) = recall(store, "what is the cache", Filter(), 5).hits
    assert hit.why == "title: cache; text: cache"


@pytest.mark.parametrize(
    ("question", "found", "why"),
    [
        ("what did we decide?", ["Keep Redis"], "kind: decision"),
        ("our decisions of last week", ["Keep Redis"], "kind: decision"),
        ("Decisions", ["Keep Redis"], "kind: decision"),
        ("what are our rules", ["Use pnpm", "Log with structlog"], "kind: preference"),
        ("show me all preferences", ["Use pnpm", "Log with structlog"], "kind: preference"),
        ("what did we decide about logging", ["Log with structlog"], "title: log"),
        ("which rules are there for pnpm", ["Use pnpm"], "title: pnpm"),
        ("what do you know", [], ""),
    ],
)
def test_a_question_that_names_a_kind_and_nothing_else_is_answered_by_that_kind(
    store: FileStore, question: str, found: list[str], why: str
) -> None:
    store.create(make("Log with structlog", "print is for scripts", kind="preference"))
    store.create(make("Use pnpm", "npm is for the docs", kind="preference"))
    store.create(make("Keep Redis", "for another year", kind="decision"))
    hits = recall(store, question, Filter(), 10).memories
    assert sorted(hit.stored.memory.title for hit in hits) == sorted(found)
    assert all(hit.why.startswith(why) and not hit.weak for hit in hits)


def test_memories_of_a_small_vault_compete_with_those_of_a_large_one(store: FileStore) -> None:
    for n in range(30):
        store.create(make(f"note {n}", f"the kafka topic number{n} and its consumers"))
    store.create(make("Kafka retention", "kafka retention is seven days", scope=Scope.AGENT))
    assert titles(store, "kafka retention")[0] == "Kafka retention"


def test_more_of_the_asked_words_rank_higher(store: FileStore) -> None:
    for text in ("alpha here", "alpha and beta here", "alpha and beta and gamma here"):
        store.create(make(text))
    assert [len(each.split()) for each in titles(store, "alpha beta gamma")] == [6, 4, 2]


def test_asking_counts_as_use_and_looking_up_does_not(store: FileStore) -> None:
    memory = store.create(make("alpha")).memory
    recall(store, "alpha", Filter(), 5, counts=False)
    assert [each.uses for each in store.usage([memory.id]).values()] in ([], [0])
    recall(store, "alpha", Filter(), 5)
    assert store.usage([memory.id])[memory.id].uses == 1


def test_the_limit_is_kept_and_the_total_told(store: FileStore) -> None:
    for n in range(120):
        store.create(make(f"alpha {n}"))
    found = recall(store, "alpha", Filter(), 7)
    assert (len(found.hits), found.total) == (7, 120)


def test_relatives_are_named_ones_first(store: FileStore) -> None:
    centre = store.create(make("Redis cache", tags=("redis",))).memory
    linked = store.create(make("About links", kind="gotcha", links=(centre.id,))).memory
    tagged = store.create(make("Redis is slow", kind="pattern", tags=("redis",))).memory
    follower = store.create(make("A later fact")).memory
    found, relations = related(store, centre.id, 10)
    assert found.memory == centre
    how = {each.stored.memory.id: each.how for each in relations}
    assert how[linked.id] == "is linked from"
    assert how[follower.id] == "is followed by"
    assert how[tagged.id] == "shares tags: redis"
    assert list(how)[-1] == tagged.id
    assert len(related(store, centre.id, 1)[1]) == 1


def test_a_relative_that_was_purged_is_left_out(store: FileStore) -> None:
    gone = store.create(make("gone")).memory
    centre = store.create(make("centre", kind="gotcha", links=(gone.id,))).memory
    store.delete(gone.id, purge=True)
    assert related(store, centre.id, 5)[1] == []


def test_a_relative_that_waits_for_approval_is_left_out(store: FileStore) -> None:
    named = store.create(make("named", status=Status.QUARANTINED)).memory
    centre = store.create(make("centre", kind="gotcha", links=(named.id,))).memory
    store.create(make("naming", kind="issue", links=(centre.id,), status=Status.QUARANTINED))
    assert related(store, centre.id, 5)[1] == []


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        ("We use vLLM", "We moved from vLLM to SGLang", "vLLM"),
        ("The port is 8080", "The port is 9090", "which port is 8080"),
        ("Deploys go through Jenkins", "Deploys no longer go through Jenkins", "Jenkins deploys"),
    ],
)
def test_of_two_that_do_not_agree_the_newer_comes_first(
    store: FileStore, older: str, newer: str, question: str
) -> None:
    later = START + timedelta(days=30)
    store.create(make(older, older, summary=older))
    store.create(make(newer, newer, summary=newer, created=later, confirmed=later))
    assert titles(store, question) == [newer, older]
