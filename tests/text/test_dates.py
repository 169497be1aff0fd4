"""A question's words about time become days, seen from the day on which it is asked."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.text.dates import DateSpan, closeness, spans

TODAY = date(2026, 11, 15)  # a Sunday


def days(question: str, today: date = TODAY) -> list[tuple[str, str]]:
    """The first and the last day of each span of a question."""
    day = timedelta(days=1)
    return [(str(each.start), str(each.end - day)) for each in spans(question, today)]


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("what broke yesterday?", "2026-11-14", "2026-11-14"),
        ("the day before yesterday", "2026-11-13", "2026-11-13"),
        ("what did we do today", "2026-11-15", "2026-11-15"),
        ("who called last night", "2026-11-14", "2026-11-15"),
        ("last week", "2026-11-02", "2026-11-08"),
        ("this week", "2026-11-09", "2026-11-15"),
        ("last weekend", "2026-11-07", "2026-11-08"),
        ("last Monday", "2026-11-09", "2026-11-09"),
        ("on Tuesday", "2026-11-10", "2026-11-10"),
        ("last month", "2026-10-01", "2026-10-31"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("last summer", "2026-06-01", "2026-08-31"),
        ("in the past month", "2026-10-15", "2026-11-15"),
        ("over the last three weeks", "2026-10-25", "2026-11-15"),
        ("3 days ago", "2026-11-11", "2026-11-13"),
        ("a week ago", "2026-11-05", "2026-11-11"),
        ("two months ago", "2026-08-31", "2026-09-30"),
        ("a couple of days ago", "2026-11-12", "2026-11-14"),
        ("what did we decide about retries in March?", "2026-03-01", "2026-03-31"),
        ("in December", "2025-12-01", "2025-12-31"),
        ("in May 2024", "2024-05-01", "2024-05-31"),
        ("on March 15th", "2026-03-15", "2026-03-15"),
        ("as mentioned on 3 June, 2023", "2023-06-03", "2023-06-03"),
        ("August 3, 2023", "2023-08-03", "2023-08-03"),
        ("the log of 2023-05-03", "2023-05-03", "2023-05-03"),
        ("all of 2023-05", "2023-05-01", "2023-05-31"),
        ("in 2023", "2023-01-01", "2023-12-31"),
        ("Q3 2024", "2024-07-01", "2024-09-30"),
        ("since March", "2026-03-01", "2026-11-15"),
        ("before May 2024", "2024-02-01", "2024-04-30"),
        ("from July to October", "2026-07-01", "2026-10-31"),
        ("between 2024-01-01 and 2024-02-01", "2024-01-01", "2024-02-01"),
        ("what changed lately", "2026-10-16", "2026-11-15"),
    ],
)
def test_a_phrase_names_its_days(question: str, first: str, last: str) -> None:
    assert days(question) == [(first, last)]


@pytest.mark.parametrize(
    "question",
    [
        "may I march?",
        "how many days did it take",
        "what happened on 31 June",
        "version 1.2.3 of 10.0.0.1",
        "retry 5 times",
        "the decision about the monday.com client",
        "",
    ],
)
def test_words_that_only_look_like_time_name_none(question: str) -> None:
    assert days(question) == []


def test_two_times_in_a_question_are_two_spans_in_its_order() -> None:
    assert days("was it in March 2024 or last week?") == [
        ("2024-03-01", "2024-03-31"),
        ("2026-11-02", "2026-11-08"),
    ]


def test_a_span_fades_with_the_distance_and_never_ends_at_an_edge() -> None:
    week = DateSpan(date(2026, 3, 2), date(2026, 3, 9), "a week")
    near = [week.closeness(date(2026, 3, 8) + timedelta(days=away)) for away in (0, 1, 7, 14)]
    assert near[0] == 1.0
    assert near == sorted(near, reverse=True)
    assert near[2] == pytest.approx(0.5)
    assert near[3] == pytest.approx(0.25)
    assert closeness([], date(2026, 3, 8)) == 0.0


@given(st.text(max_size=200), st.dates(date(1980, 1, 1), date(2100, 1, 1)))
def test_any_text_is_read_without_trouble(text: str, today: date) -> None:
    for span in spans(text, today):
        assert span.start < span.end


_UNITS = {"day": 1, "week": 7, "month": 31, "year": 366}


@given(
    st.integers(1, 60),
    st.sampled_from(sorted(_UNITS)),
    st.dates(date(2000, 1, 1), date(2100, 1, 1)),
)
def test_so_long_ago_lies_in_the_past_and_near_to_what_was_said(
    count: int, unit: str, today: date
) -> None:
    (span,) = spans(f"what was it {count} {unit}s ago", today)
    middle = span.start + (span.end - span.start) / 2
    away = (today - middle).days
    assert span.start <= today
    assert 0.9 * (count * _UNITS[unit]) - 3 <= away <= count * _UNITS[unit] + 3


@given(st.dates(date(1950, 1, 1), date(2049, 12, 31)))
def test_a_day_is_found_however_it_is_written(day: date) -> None:
    month = day.strftime("%B")
    for written in (
        day.isoformat(),
        f"{month} {day.day}, {day.year}",
        f"{day.day} {month} {day.year}",
        f"the {day.day}th of {month}, {day.year}",
    ):
        assert [(each.start, each.end) for each in spans(f"on {written}?", TODAY)] == [
            (day, day + timedelta(days=1))
        ], written


@pytest.mark.parametrize(
    ("today", "question", "first", "last"),
    [
        ("2026-01-15", "last month", "2025-12-01", "2025-12-31"),
        ("2026-12-15", "next month", "2027-01-01", "2027-01-31"),
        ("2026-11-15", "next week", "2026-11-16", "2026-11-22"),
        ("2026-11-15", "this year", "2026-01-01", "2026-12-31"),
        ("2026-11-15", "this weekend", "2026-11-14", "2026-11-15"),
        ("2026-11-16", "this weekend", "2026-11-21", "2026-11-22"),
        ("2026-11-15", "last evening", "2026-11-14", "2026-11-15"),
        ("2026-11-15", "last sunday", "2026-11-08", "2026-11-08"),
        ("2026-11-15", "on sunday", "2026-11-08", "2026-11-08"),
        ("2026-01-15", "last winter", "2024-12-01", "2025-02-28"),
        ("2026-01-15", "this winter", "2025-12-01", "2026-02-28"),
        ("2026-03-15", "last winter", "2025-12-01", "2026-02-28"),
        ("2026-02-15", "last summer", "2025-06-01", "2025-08-31"),
        ("2026-07-15", "this summer", "2026-06-01", "2026-08-31"),
        ("2026-07-15", "last summer", "2025-06-01", "2025-08-31"),
        ("2026-11-15", "on December 24", "2025-12-24", "2025-12-24"),
        ("2026-11-15", "on 15 November", "2026-11-15", "2026-11-15"),
        ("2026-11-15", "q1", "2026-01-01", "2026-03-31"),
        ("2026-02-15", "q4", "2025-10-01", "2025-12-31"),
        ("2026-11-15", "q4 of 2024", "2024-10-01", "2024-12-31"),
        ("2026-11-15", "a day ago", "2026-11-14", "2026-11-14"),
        ("2026-11-15", "7 days ago", "2026-11-07", "2026-11-09"),
        ("2026-11-15", "20 days ago", "2026-10-24", "2026-10-28"),
        ("2026-03-31", "the past month", "2026-02-28", "2026-03-31"),
        ("2024-02-29", "the past year", "2023-02-28", "2024-02-29"),
        ("2026-11-15", "the other day", "2026-11-08", "2026-11-14"),
        ("2026-11-15", "this morning", "2026-11-15", "2026-11-15"),
        ("2026-11-15", "in October", "2026-10-01", "2026-10-31"),
        ("2026-11-15", "in November", "2026-11-01", "2026-11-30"),
        ("2026-11-15", "after 2024-05-06", "2024-05-06", "2026-11-15"),
        ("2026-11-15", "after 2027-05-06", "2027-05-06", "2027-05-06"),
        ("2026-11-15", "until 2023", "2022-01-01", "2022-12-31"),
        ("2026-11-15", "before 2023", "2022-01-01", "2022-12-31"),
        ("2026-11-15", "since 2023", "2023-01-01", "2026-11-15"),
        ("2026-11-15", "the whole year 2023", "2023-01-01", "2023-12-31"),
        ("2026-11-15", "from October to July", "2026-07-01", "2026-10-31"),
    ],
)
def test_a_phrase_is_seen_from_its_day(today: str, question: str, first: str, last: str) -> None:
    assert days(question, date.fromisoformat(today)) == [(first, last)]


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ("What broke Last Week?", "last week"),
        ("a couple of days ago", "a couple of days ago"),
        ("from July to October", "july to october"),
        ("since March", "since march"),
        ("before May 2024", "before may 2024"),
        ("after 2024-05-06", "since 2024-05-06"),
    ],
)
def test_a_span_says_in_which_words_it_was_asked_for(question: str, phrase: str) -> None:
    (span,) = spans(question, TODAY)
    assert span.phrase == phrase


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("several years ago", "2020-05-19", "2021-05-14"),
        ("two weeks ago", "2026-10-29", "2026-11-04"),
        ("twelve days ago", "2026-11-01", "2026-11-05"),
        ("8 days ago", "2026-11-05", "2026-11-09"),
        ("one day ago", "2026-11-14", "2026-11-14"),
        ("ten months back", "2025-12-31", "2026-01-30"),
        ("the last few weeks", "2026-10-25", "2026-11-15"),
        ("recently", "2026-10-16", "2026-11-15"),
        ("last autumn", "2025-09-01", "2025-11-30"),
        ("last fall", "2025-09-01", "2025-11-30"),
        ("last spring", "2026-03-01", "2026-05-31"),
        ("on Saturday", "2026-11-14", "2026-11-14"),
        ("in Sept", "2026-09-01", "2026-09-30"),
        ("on 3 Feb", "2026-02-03", "2026-02-03"),
        ("the 2nd of June", "2026-06-02", "2026-06-02"),
        ("Q4", "2026-10-01", "2026-12-31"),
        ("until 2024-05-06", "2024-02-06", "2024-05-05"),
        ("before 2020", "2018-12-31", "2019-12-31"),
        ("tonight", "2026-11-15", "2026-11-15"),
    ],
)
def test_every_sort_of_phrase_has_its_days(question: str, first: str, last: str) -> None:
    assert days(question) == [(first, last)]


def test_a_short_span_fades_by_three_days_on_either_side() -> None:
    day = DateSpan(date(2026, 3, 10), date(2026, 3, 11), "a day")
    near = {away: day.closeness(date(2026, 3, 10) + timedelta(days=away)) for away in range(-6, 7)}
    assert near[0] == 1.0
    assert near[3] == near[-3] == pytest.approx(0.5)
    assert near[6] == near[-6] == pytest.approx(0.25)
    assert 0.5 < near[1] == near[-1] < 1
    other = DateSpan(date(2026, 5, 1), date(2026, 6, 1), "a month")
    assert closeness([other, day], date(2026, 3, 10)) == 1.0


@pytest.mark.parametrize("question", ["March 0", "on 32 March", "2023-13-01", "on 30 February"])
def test_a_day_no_calendar_has_is_none(question: str) -> None:
    assert all(first != last for first, last in days(question))


def test_before_the_first_year_there_is_nothing() -> None:
    assert days("900 years ago", date(500, 1, 1)) == []
