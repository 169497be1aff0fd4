"""The time a question names: "last week", "in March", "two months ago", "on 3 June 2023".

Such phrases become spans of days, seen from the day on which the question is asked. A span is
evidence and not a filter: people are a little wrong about time, and what happened on a day is often
told on a later one. So `closeness` fades with the distance from a span instead of ending at its
edge. English phrases and numeric dates only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from functools import cache

from ltm.errors import WrongUsage
from ltm.record import NamedTuple

_DAY = timedelta(days=1)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_NUMBERS = {
    word: number
    for number, words in enumerate(
        (
            *("zero", "one a an", "two couple", "three few", "four", "five", "six several"),
            *("seven", "eight", "nine", "ten", "eleven", "twelve"),
        )
    )
    for word in words.split()
}
_AGO = re.compile(r"([0-9]{1,5})\s*([dwmy])")
_DAYS_IN = {"d": 1, "w": 7, "m": 30, "y": 365}
_SLACK = {"day": 1, "week": 3, "month": 15, "year": 180}

_WORD = re.compile(r"[a-z]+")
_CUES = frozenset(
    {name[:length] for name in _MONTHS for length in (3, len(name))}
    | {"sept", *_WEEKDAYS, *_SEASONS, "ago", "back", "earlier", "last", "past", "previous"}
    | {"recent", "recently", "lately", "preceding", "this", "next", "day", "yesterday", "today"}
    | {"tonight"}
)
"""Words without one of which, or a digit, a question names no time."""

_COUNT = rf"(\d{{1,3}}|(?:a )?(?:{'|'.join(_NUMBERS)})(?: of)?)"
_MONTH = rf"({'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in _MONTHS)}|sept)\.?"
_YEAR = r"((?:19|20)\d\d)"
_NTH = r"(\d{1,2})(?:st|nd|rd|th)?"


class DateSpan(NamedTuple):
    """Days from `start` up to but not including `end`, and the words that said so."""

    start: date
    end: date
    phrase: str

    def closeness(self, day: date) -> float:
        """1 inside of the span; outside, half as much for every length of it, or three days."""
        if self.start <= day < self.end:
            return 1.0
        away = (self.start - day).days if day < self.start else (day - self.end).days + 1
        fading = max(3, (self.end - self.start).days)
        return float(0.5 ** (away / fading))


def day_span(said: str, today: date) -> DateSpan:
    """The days that a date or a phrase stands for; `2w` is all days since two weeks ago."""
    ago = _AGO.fullmatch(said.strip().lower())
    try:
        if ago:
            back = timedelta(days=int(ago[1]) * _DAYS_IN[ago[2]])
            return DateSpan(today - back, today + _DAY, said)
        first = date.fromisoformat(said.strip())
        return DateSpan(first, first + _DAY, said)
    except (ValueError, OverflowError):
        found = spans(said, today)
    if not found:
        raise WrongUsage(f"'{said}' is not a day", hint="write 2026-03-01, 'last week' or 2w")
    return found[0]


def spans(question: str, today: date) -> list[DateSpan]:
    """The spans of time a question names, in its order; none when it speaks of no time.

    `today` is the day on which it is asked. A phrase that is part of a longer one counts once.
    """
    text = question.lower()
    if not any(char.isdigit() for char in text) and _CUES.isdisjoint(_WORD.findall(text)):
        return []
    found: list[tuple[int, int, DateSpan]] = []
    for pattern, read in _patterns():
        for match in pattern.finditer(text):
            if any(match.start() < end and start < match.end() for start, end, _ in found):
                continue
            try:
                days = read(match, today)
            except (ValueError, OverflowError):
                continue  # 31 June, or a thousand years ago
            if days is not None and days[0] < days[1]:
                phrase = " ".join(match[0].split())
                found.append((match.start(), match.end(), DateSpan(*days, phrase)))
    found.sort(key=lambda each: each[0])
    return list(_bounded(text, found, today))


def closeness(named: Sequence[DateSpan], day: date) -> float:
    """How near a day is to the nearest of some spans, from 0 to 1."""
    return max((span.closeness(day) for span in named), default=0.0)


_Days = tuple[date, date]
_PhraseReader = Callable[[re.Match[str], date], _Days | None]


@cache
def _patterns() -> list[tuple[re.Pattern[str], _PhraseReader]]:
    # Compiled for the first question that may name a time: most do not, and a command is young.
    return [(re.compile(pattern), read) for pattern, read in _PHRASES]


def _bounded(
    text: str, found: Sequence[tuple[int, int, DateSpan]], today: date
) -> Iterator[DateSpan]:
    """Spans as the words before them mean: since, after, before, and from one to another."""
    skip = False
    for place, (start, end, span) in enumerate(found):
        if skip:
            skip = False
            continue
        before = text[:start].rstrip()
        following = found[place + 1] if place + 1 < len(found) else None
        joined = following and text[end : following[0]].strip() in {"to", "and", "until", "-"}
        if following and joined and before.endswith(("from", "between")):
            whole = sorted((span, following[2]), key=lambda each: each.start)
            yield DateSpan(whole[0].start, whole[1].end, f"{span.phrase} to {following[2].phrase}")
            skip = True
        elif before.endswith(("since", "after")) and span.start <= today:
            yield DateSpan(span.start, today + _DAY, f"since {span.phrase}")
        elif before.endswith(("before", "until")):
            length = max(span.end - span.start, timedelta(days=90))
            yield DateSpan(span.start - length, span.start, f"before {span.phrase}")
        else:
            yield span


def _ago(match: re.Match[str], today: date) -> _Days:
    count, unit = _number(match[1]), match[2]
    slack = timedelta(days=_SLACK[unit] if count > 1 or unit != "day" else 0)
    if unit == "day" and count > 7:
        slack = timedelta(days=2)
    middle = _back(today, count, unit)
    return middle - slack, middle + slack + _DAY


def _past(match: re.Match[str], today: date) -> _Days:
    count = _number(match[1]) if match[1] else 1
    return _back(today, count, match[2]), today + _DAY


def _last_unit(match: re.Match[str], today: date) -> _Days:
    """The calendar's week, month or year before this one, or this one; the last such weekday."""
    shift = {"this": 0, "next": 1}.get(match[1], -1)
    unit = match[2]
    if unit in _WEEKDAYS:
        return _last_weekday(unit, today)
    if unit in _SEASONS:
        return _season(unit, today, current=shift == 0)
    if unit == "weekend":
        saturday = today - timedelta(days=today.weekday() + 2) + timedelta(days=7 * (shift + 1))
        return saturday, saturday + timedelta(days=2)
    if unit in ("night", "evening"):
        return today + shift * _DAY, today + _DAY
    if unit == "week":
        monday = today - timedelta(days=today.weekday()) + timedelta(days=7 * shift)
        return monday, monday + timedelta(days=7)
    if unit == "month":
        return _month(*_carried(today.year, today.month + shift))
    return date(today.year + shift, 1, 1), date(today.year + shift + 1, 1, 1)


def _last_weekday(name: str, today: date) -> _Days:
    away = (today.weekday() - _WEEKDAYS.index(name)) % 7 or 7
    day = today - timedelta(days=away)
    return day, day + _DAY


def _season(name: str, today: date, *, current: bool = False) -> _Days:
    first = _SEASONS[name]
    year = today.year
    while date(year, first, 1) > today:
        year -= 1
    start = date(year, first, 1)
    end = date(*_carried(year, first + 3), 1)
    if not current and start <= today < end:
        start, end = start.replace(year=year - 1), end.replace(year=end.year - 1)
    return start, end


def _day_of_month(match: re.Match[str], today: date) -> _Days | None:
    """As "March 15th" and "15 March, 2023"; without a year the last such day."""
    named = match.groupdict()
    month = _month_number(named["month"])
    day, said = int(named["day"]), named["year"]
    if not 1 <= day <= 31:
        return None
    if said:
        found = date(int(said), month, day)
    else:
        found = date(today.year, month, day)
        if found > today:
            found = date(today.year - 1, month, day)
    return found, found + _DAY


def _month_named(match: re.Match[str], today: date) -> _Days:
    """As "in March", "in March 2023"; without a year the last such month that has begun."""
    month, said = _month_number(match["month"]), match["year"]
    year = int(said) if said else today.year - (month > today.month)
    return _month(year, month)


def _quarter(match: re.Match[str], today: date) -> _Days:
    first = 3 * int(match[1]) - 2
    year = int(match[2]) if match[2] else today.year - (first > today.month)
    return date(year, first, 1), date(*_carried(year, first + 3), 1)


def _iso_day(match: re.Match[str], today: date) -> _Days:
    day = date(int(match[1]), int(match[2]), int(match[3]))
    return day, day + _DAY


def _iso_month(match: re.Match[str], today: date) -> _Days:
    return _month(int(match[1]), int(match[2]))


def _year(match: re.Match[str], today: date) -> _Days:
    return date(int(match[1]), 1, 1), date(int(match[1]) + 1, 1, 1)


def _fixed(first: int, last: int) -> _PhraseReader:
    """From so many days ago to so many days ago."""
    return lambda _, today: (today - first * _DAY, today - (last - 1) * _DAY)


def _month(year: int, month: int) -> _Days:
    return date(year, month, 1), date(*_carried(year, month + 1), 1)


def _carried(year: int, month: int) -> tuple[int, int]:
    years, months = divmod(month - 1, 12)
    return year + years, months + 1


def _back(today: date, count: int, unit: str) -> date:
    if unit in ("day", "week"):
        return today - timedelta(days=count * (7 if unit == "week" else 1))
    months = count * (12 if unit == "year" else 1)
    year, month = _carried(today.year, today.month - months)
    last = date(*_carried(year, month + 1), 1) - _DAY
    return date(year, month, min(today.day, last.day))


def _number(said: str) -> int:
    word = said.removeprefix("a ").removesuffix(" of")
    return int(word) if word.isdigit() else _NUMBERS[word]


def _month_number(name: str) -> int:
    return next(at for at, full in enumerate(_MONTHS, 1) if full.startswith(name[:3]))


def _pattern(text: str) -> str:
    return rf"\b{text}(?!\w)"


_UNIT = "(day|week|month|year)s?"
_PHRASES: tuple[tuple[str, _PhraseReader], ...] = (
    (rf"(?<![\w/-]){_YEAR}[-/.](\d{{1,2}})[-/.](\d{{1,2}})(?!\d)", _iso_day),
    (
        rf"(?<![\w/-]){_YEAR}-(0[1-9]|1[0-2])(?![\w-])",
        _iso_month,
    ),
    (
        _pattern(
            rf"(?P<month>{_MONTH}) {_NTH.replace('(', '(?P<day>', 1)}(?:,? (?P<year>{_YEAR}))?"
        ),
        _day_of_month,
    ),
    (
        _pattern(
            rf"(?:the )?{_NTH.replace('(', '(?P<day>', 1)}(?: of)? (?P<month>{_MONTH})"
            rf"(?:,? (?P<year>{_YEAR}))?"
        ),
        _day_of_month,
    ),
    (_pattern(rf"(?P<month>{_MONTH})(?: of)?,? (?P<year>{_YEAR})"), _month_named),
    (
        _pattern(
            rf"(?:(?<=\bin )|(?<=\bof )|(?<=\bduring )|(?<=\bsince )|(?<=\bbefore )|(?<=\bafter )"
            rf"|(?<=\buntil )|(?<=\bfrom )|(?<=\bto )|(?<=\bbetween )|(?<=\band )|(?<=\blast )"
            rf"|(?<=\bthis )|(?<=\bearly )|(?<=\blate )|(?<=\bmid-)|(?<=\bby ))"
            rf"(?P<month>{_MONTH})(?P<year>)"
        ),
        _month_named,
    ),
    (_pattern(rf"{_COUNT} {_UNIT} (?:ago|back|earlier)"), _ago),
    (_pattern(rf"(?:last|past|previous|recent) (?:{_COUNT} )?{_UNIT}(?<=s)"), _past),
    (_pattern(rf"(?:past|preceding) ()?{_UNIT}"), _past),
    (
        _pattern(
            r"(last|past|previous|this|next) (week|month|year|weekend|night|evening"
            rf"|{'|'.join(_SEASONS)}|{'|'.join(_WEEKDAYS)})"
        ),
        _last_unit,
    ),
    (_pattern(rf"on ({'|'.join(_WEEKDAYS)})"), lambda match, today: _last_weekday(match[1], today)),
    (_pattern(rf"q([1-4])(?:,? (?:of )?{_YEAR})?"), _quarter),
    (
        _pattern(
            rf"(?:(?<=\bin )|(?<=\bduring )|(?<=\bsince )|(?<=\bbefore )|(?<=\bafter )"
            rf"|(?<=\buntil )|(?<=\bof )|(?<=\byear )){_YEAR}"
        ),
        _year,
    ),
    (_pattern("the day before yesterday"), _fixed(2, 2)),
    (_pattern("yesterday"), _fixed(1, 1)),
    (_pattern("(?:today|tonight|this (?:morning|afternoon))"), _fixed(0, 0)),
    (_pattern("the other day"), _fixed(7, 1)),
    (_pattern("(?:recently|lately)"), _fixed(30, 0)),
)
