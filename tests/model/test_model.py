"""Ids, moments, choices, and the few values a field may take."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.errors import WrongUsage
from ltm.model import (
    Impact,
    Memory,
    Phase,
    Scope,
    Status,
    Trust,
    as_record,
    choice,
    from_record,
    is_id,
    iso,
    new_id,
    now,
    short_record,
    utc,
)
from tests.stores import make
from tests.vault.strategies import memories

MOMENTS = st.datetimes(
    min_value=datetime(1970, 1, 2), max_value=datetime(2900, 1, 1), timezones=st.just(UTC)
)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def memory(summary: str, content: str) -> Memory:
    return Memory("mem_1", "fact", "t", summary, content, NOON, NOON, NOON)


def test_ten_thousand_ids_of_one_moment_are_different() -> None:
    assert len({new_id(NOON) for _ in range(10_000)}) == 10_000


@given(MOMENTS, MOMENTS)
def test_ids_sort_by_age(one: datetime, other: datetime) -> None:
    first, second = sorted((one, other))
    if second - first >= timedelta(milliseconds=2):
        assert new_id(first) < new_id(second)


@given(MOMENTS)
def test_an_id_has_its_form_and_a_fixed_length(moment: datetime) -> None:
    made = new_id(moment)
    assert is_id(made)
    assert len(made) == len("mem_") + 17


@pytest.mark.parametrize(
    "text",
    [
        "",
        "mem_",
        "mem_../x",
        "mem_a/b",
        "mem_ABCDEF",
        "note_abcdef",
        "mem_abc\n",
        "mem_abc.md",
        "mem_é12",
    ],
)
def test_what_would_be_unsafe_in_a_file_name_is_not_an_id(text: str) -> None:
    assert not is_id(text)


@pytest.mark.parametrize("text", ["mem_1a2b3c4d", "mem_1700000000000_ab12cd"])
def test_ids_of_the_united_designs_are_ids(text: str) -> None:
    assert is_id(text)


@pytest.mark.parametrize("values", [Impact, Scope, Status, Trust])
def test_a_choice_is_understood_in_any_case(values: type[Impact]) -> None:
    for value in values:
        assert choice(values, f" {value.value.upper()} ") is value


def test_a_wrong_choice_is_refused_with_the_words_to_use() -> None:
    with pytest.raises(WrongUsage, match="'huge' is not a valid impact") as no:
        choice(Impact, "huge")
    assert no.value.hint == "use one of: low, medium, high, critical"
    assert no.value.exit_code == 2


def test_impacts_are_ranked_from_low_to_critical() -> None:
    assert sorted(Impact, key=lambda impact: impact.rank) == [
        Impact.LOW,
        Impact.MEDIUM,
        Impact.HIGH,
        Impact.CRITICAL,
    ]


def test_a_moment_is_written_in_utc_and_read_back() -> None:
    here = datetime(2026, 3, 1, 13, 30, tzinfo=timezone(timedelta(hours=2)))
    assert iso(here) == "2026-03-01T11:30:00Z"
    assert utc(iso(here)) == here
    assert utc(" 2026-03-01T11:30:00 ") == utc("2026-03-01T13:30:00+02:00")
    assert now().microsecond == 0
    assert now().tzinfo is UTC


@given(MOMENTS)
def test_a_written_moment_keeps_its_second(moment: datetime) -> None:
    assert utc(iso(moment)) == moment.replace(microsecond=0)


@pytest.mark.parametrize(
    ("summary", "content", "text"),
    [
        ("One.", "", "One."),
        ("One.", "One.", "One."),
        ("One.", "One. Two.", "One. Two."),
        ("One.", "Two.", "One.\n\nTwo."),
        ("", "Two.", "Two."),
        ("One two. Three.", "One\ntwo.\n Three.\nFour.", "One\ntwo.\n Three.\nFour."),
        ("One two.", "# Head\n\n- One\n  two.", "# Head\n\n- One\n  two."),
        ("One two…", "One\ntwo, three.", "One\ntwo, three."),
        ("no", "We know.", "no\n\nWe know."),
    ],
)
def test_the_text_of_a_memory_says_nothing_twice(summary: str, content: str, text: str) -> None:
    assert memory(summary, content).text == text


# -- a memory as JSON values and back, and what is no memory


@given(memories)
def test_a_memory_comes_back_from_json_as_it_was(memory: Memory) -> None:
    assert from_record(json.loads(json.dumps(as_record(memory)))) == memory


@given(memories)
def test_a_short_record_leaves_out_only_what_is_as_usual(memory: Memory) -> None:
    short = json.loads(json.dumps(short_record(memory)))
    assert from_record(short) == memory
    assert short.items() <= as_record(memory).items()


def test_a_short_record_of_an_ordinary_memory_is_its_words_and_its_dates() -> None:
    assert list(short_record(make())) == [
        *("id", "kind", "title", "summary", "content"),
        *("created", "updated", "confirmed"),
    ]


def test_what_a_record_leaves_out_is_as_usual() -> None:
    record = as_record(make())
    needed = ("id", "kind", "title", "summary", "content", "created", "updated", "confirmed")
    memory = from_record({name: record[name] for name in needed} | {"unknown": 1})
    assert (memory.scope, memory.impact, memory.status, memory.phase) == (
        Scope.PROJECT,
        Impact.MEDIUM,
        Status.ACTIVE,
        Phase.FULL,
    )
    assert (memory.source.trust, memory.source.session, memory.tags) == (Trust.USER, "", ())


@pytest.mark.parametrize(
    "change",
    [
        {"created": None},
        {"created": "some day"},
        {"tags": 3},
        {"source": "me"},
        {"source": {"trust": "nobody"}},
        {"phase": 17},
        {"status": "unheard of"},
    ],
)
def test_what_is_not_a_memory_is_told_in_one_way(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_record(as_record(make()) | change)


@given(st.dictionaries(st.sampled_from(list(as_record(make()))), st.none() | st.integers()))
def test_whatever_a_record_holds_it_is_a_memory_or_a_value_error(record: dict[str, Any]) -> None:
    try:
        found = from_record(record)
    except ValueError:
        return
    assert isinstance(found, Memory)
