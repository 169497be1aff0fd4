"""The kinds table: names, aliases, overrides."""

from __future__ import annotations

from typing import Any

import pytest

from ltm.errors import WrongUsage
from ltm.kinds import Kinds

KINDS = Kinds()
IN_ORDER = (
    *("relationship", "preference", "architecture", "decision", "pattern", "gotcha", "fact"),
    *("progress", "context", "episode", "issue", "achievement"),
)
SEED_WORDS = {
    "relationship": "EMOTIONAL EMOT",
    "preference": "preferences",
    "architecture": "architecture ARCHITECTURAL ARCH",
    "decision": "decision decisions",
    "pattern": "pattern patterns",
    "gotcha": "gotcha LEARNINGS LEARN",
    "fact": "facts",
    "progress": "progress",
    "context": "context",
    "episode": "episodes sessions",
    "issue": "issues",
    "achievement": "ACHIEVEMENTS ACHV",
}


def test_the_kinds_stand_in_injection_order() -> None:
    assert tuple(row.name for row in KINDS) == IN_ORDER
    assert [KINDS.order(name) for name in IN_ORDER] == list(range(len(IN_ORDER)))


@pytest.mark.parametrize(
    ("word", "kind"),
    [(word, kind) for kind, words in SEED_WORDS.items() for word in words.split()],
)
def test_every_word_of_the_united_designs_is_understood_in_any_case(word: str, kind: str) -> None:
    for form in (word, word.lower(), word.upper(), f" {word.title()} "):
        assert KINDS.parse(form).name == kind


def test_every_name_alias_and_dsl_code_means_exactly_one_kind() -> None:
    words = [word.lower() for row in KINDS for word in {row.name, row.dsl.lower(), *row.aliases}]
    assert len(words) == len(set(words))
    for row in KINDS:
        for word in (row.name, row.dsl, *row.aliases):
            assert KINDS.parse(word) is row


def test_an_unknown_word_is_refused_with_the_names_to_use() -> None:
    with pytest.raises(WrongUsage, match="'opinion' is not a kind of memory") as caught:
        KINDS.parse("opinion")
    assert all(name in caught.value.hint for name in IN_ORDER)


def test_headings_and_codes_are_unique_and_every_share_is_positive() -> None:
    rows = list(KINDS)
    assert len({row.heading for row in rows}) == len({row.dsl for row in rows}) == len(rows)
    assert all(row.lines > 0 and 0 < row.duplicate <= 1 for row in rows)


@pytest.mark.parametrize(
    ("cells", "kind", "column", "value"),
    [
        ({"progress": {"fades_days": 14}}, "progress", "fades_days", 14.0),
        ({"PROG": {"fades_days": 0.5}}, "progress", "fades_days", 0.5),
        ({"issues": {"states": ["open", "blocked"]}}, "issue", "states", ("open", "blocked")),
        ({"preference": {"tiers": [2, 4]}}, "preference", "tiers", (2, 4)),
        ({"fact": {"heading": "What is so"}}, "fact", "heading", "What is so"),
        ({"fact": {"lines": 3}}, "fact", "lines", 3),
    ],
)
def test_any_cell_can_be_overridden(
    cells: dict[str, dict[str, Any]], kind: str, column: str, value: object
) -> None:
    changed = KINDS.override(cells)
    assert getattr(changed[kind], column) == value
    assert type(getattr(changed[kind], column)) is type(getattr(KINDS[kind], column))
    assert [row.name for row in changed] == list(IN_ORDER)
    assert [row for row in changed if row.name != kind] == [r for r in KINDS if r.name != kind]
    assert changed.default.name == KINDS.default.name


def test_an_override_leaves_the_built_in_table_alone() -> None:
    KINDS.override({"progress": {"fades_days": 99}})
    assert KINDS["progress"].fades_days == 7


def test_an_overridden_alias_is_understood() -> None:
    assert KINDS.override({"fact": {"aliases": ["truth"]}}).parse("Truth").name == "fact"


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"opinion": {"lines": 3}}, "'opinion' is not a kind"),
        ({"fact": {"colour": "red"}}, "kinds.fact.colour is not a cell"),
        ({"fact": {"name": "truth"}}, "kinds.fact.name is not a cell"),
        ({"facts": {"lines": "many"}}, "kinds.fact.lines cannot be 'many'"),
        ({"fact": {"lines": 2.5}}, "kinds.fact.lines cannot be 2.5"),
        ({"fact": {"fades_days": True}}, "kinds.fact.fades_days cannot be True"),
        ({"fact": {"heading": None}}, "kinds.fact.heading cannot be None"),
        ({"issue": {"states": "open"}}, "kinds.issue.states cannot be 'open'"),
    ],
)
def test_a_wrong_override_is_a_usage_error_that_says_what_would_do(
    cells: dict[str, dict[str, Any]], message: str
) -> None:
    with pytest.raises(WrongUsage) as caught:
        KINDS.override(cells)
    assert message in str(caught.value)
    assert caught.value.hint
