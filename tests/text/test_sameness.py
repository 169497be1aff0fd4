"""The judge of sameness: what counts as the same, and how everything else is told apart."""

from __future__ import annotations

import pytest

from ltm.text.sameness import Sameness, announces, holds, judge, missing, opposed, same

SAME = [
    ("Never push to main", "never push to main!"),
    ("The timeout is 30 seconds", "Please remember that the timeout is 30 seconds."),
    ("Don't mock the database", "Do not mock the database"),
    ("We can't use Redis", "we cannot use redis"),
    ("Use `make check` before a push", "Use make check before a push"),
    ("**Always** run the linter", "Always run the linter"),
    ("- Logs go to stderr", "Logs go to stderr"),
    ("timeout=30", "timeout = 30"),
    ("10,000 rows per batch", "10000 rows per batch"),
    ("Retries wait 5s", "Retries wait 5 seconds"),
    ("Use pnpm rather than npm", "Use pnpm, not npm"),
    ("Prefer composition over inheritance", "Prefer composition, not inheritance"),
    ("Merk dir: Wir nutzen pnpm", "Wir nutzen pnpm"),
    ("N'oublie pas : on utilise pnpm", "On utilise pnpm"),
    ("Recuerda que usamos pnpm", "usamos pnpm"),
    ("Запомни: мы используем pnpm", "Мы используем pnpm"),
    ("请记住：我们用 pnpm", "我们用pnpm。"),
    ("覚えておいて：pnpmを使う", "pnpmを使う。"),
]

OTHERWISE = [
    ("The timeout is 30 seconds", "The timeout is 60 seconds"),
    ("We are on Postgres 16", "We are on Postgres 17"),
    ("Uploads go to S3", "Uploads go to R2"),
    ("The parser is written in C", "The parser is written in Go"),
    ("Use pnpm, not npm", "Use npm, not pnpm"),
    ("Run lint before test", "Run test before lint"),
    ("Commit to main", "Do not commit to main"),
    ("All tests need the database", "Some tests need the database"),
    ("Call it with -v", "Call it with -V"),
    ("Config is in ~/.apprc", "Config is in /.apprc"),
    ("The cap is 5 MB", "The cap is 5 GB"),
    ("Scores above >5 pass", "Scores above <5 pass"),
    ("The field is _id", "The field is id"),
    ("The release is on 10. November", "The release is on 11. November"),
    ('The label says "Save"', 'The label says "Store"'),
    ("Das Limit ist 20", "Das Limit ist 30"),
    ("超时时间是 5 秒", "超时时间是 8 秒"),
    ("We always use pnpm rather than npm", "We use yarn, not npm"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_only_the_form_may_differ_between_texts_that_say_the_same(one: str, other: str) -> None:
    assert same(one, other)
    assert judge(one, other).relation is judge(other, one).relation is Sameness.SAME


@pytest.mark.parametrize(("one", "other"), OTHERWISE)
def test_a_value_a_name_an_order_or_a_denial_is_never_the_same(one: str, other: str) -> None:
    assert not same(one, other)
    for newer, older in ((one, other), (other, one)):
        assert judge(newer, older).relation is Sameness.CONFLICT


@pytest.mark.parametrize(
    ("older", "newer", "relation"),
    [
        ("Use pnpm", "Use pnpm for all packages, because of the lock file", Sameness.MORE),
        ("Use pnpm for all packages", "Use pnpm", Sameness.LESS),
        ("We use vLLM for inference", "We moved from vLLM to SGLang", Sameness.CHANGE),
        ("Use 2 spaces in YAML", "4 spaces from now on", Sameness.CHANGE),
        ("The cache is Redis", "We no longer use Redis as the cache", Sameness.CHANGE),
        ("The port is 8080", "Correction: the port is 9090", Sameness.CHANGE),
        ("The port is 8080", "The port is now 9090", Sameness.CHANGE),
        ("From now on we deploy on Fridays", "Actually, we deploy on Mondays", Sameness.CHANGE),
        (
            "The deploy failed because the token had expired",
            "From now on we deploy on Fridays",
            Sameness.OTHER,
        ),
        ("Redis lost jobs at a restart", "We no longer use Redis", Sameness.OTHER),
        ("We use pnpm, not npm", "We always use pnpm rather than npm", Sameness.MORE),
        ("We use pnpm, not npm", "Always use pnpm", Sameness.ALIKE),
        ("The EU bucket is acme-eu", "The US bucket is acme-us", Sameness.ALIKE),
        ("Install with brew on macOS", "Install with apt on Linux", Sameness.ALIKE),
        ("Deploy to staging by hand", "Deploy to production by hand", Sameness.ALIKE),
        ("The port is 8080", "Tests are written in pytest", Sameness.OTHER),
        ("We deploy on Tuesdays", "The docs moved from Confluence to Notion", Sameness.OTHER),
    ],
)
def test_what_is_not_the_same_is_told_apart(older: str, newer: str, relation: Sameness) -> None:
    assert judge(newer, older).relation is relation


def test_an_announcement_before_a_statement_counts_as_its_own() -> None:
    older, newer = "We use Postgres 16 for billing", "We decided to use Postgres 17 for billing"
    assert judge(newer, older).relation is Sameness.CONFLICT
    assert judge(newer, older, changed=True).relation is Sameness.CHANGE
    assert announces("Change of plan.")
    assert not announces("The plan is good.")


def test_a_text_holds_another_one_only_in_one_piece() -> None:
    whole = "Run make check. Then push to the fork."
    assert holds(whole, "then push to the fork")
    assert holds(whole, whole)
    assert not holds(whole, "Run the fork")
    assert not holds("Never deploy on Friday", "Deploy on Friday")
    assert not holds("If it rains, deploy on Friday", "Deploy on Friday")


def test_opposed_statements_differ_in_a_denial_only() -> None:
    assert opposed("No, add docstrings", "don't add docstrings")
    assert not opposed("no, use pnpm", "use pnpm")
    assert not opposed("don't add docstrings", "don't use yarn")


@pytest.mark.parametrize(
    ("source", "text", "lost"),
    [
        ("The pool has 10 connections", "The pool has connections", True),
        ("Never deploy on Friday", "Deploy on Friday", True),
        ("Pass --no-cache to BuildKit", "Pass a flag to the builder", True),
        ("Use `ruff` in core", "In core, use ruff for everything", False),
    ],
)
def test_what_a_merged_text_must_not_lose(source: str, text: str, lost: bool) -> None:
    assert bool(missing(source, text)) is lost


@pytest.mark.parametrize(
    "text", ["", " ", "…", "\n\n", "??", "-", "`", "**", "*a " * 50_000, "я" * 50_000]
)
def test_any_text_can_be_compared_with_any_other(text: str) -> None:
    assert judge(text, text).relation is Sameness.SAME
    judge(text, "Use pnpm")
    judge("Use pnpm", text)


CHOSEN = "We chose PostgreSQL over SQLite because two workers write at once"
GIVEN_UP = "We use MySQL now instead of Postgres"


@pytest.mark.parametrize(
    ("older", "newer", "relation"),
    [
        (CHOSEN, "we now use MySQL instead of PostgreSQL", Sameness.CONFLICT),
        (CHOSEN, "We switched from PostgreSQL to MySQL for orders", Sameness.CONFLICT),
        ("We use Redis for sessions because it is fast", "We dropped Redis", Sameness.CONFLICT),
        (CHOSEN, "We moved the reports from SQLite to files", Sameness.OTHER),
        (CHOSEN, "The nightly dump of PostgreSQL moved to the new backup host", Sameness.OTHER),
        (GIVEN_UP, "We use Postgres for everything", Sameness.CONFLICT),
        (GIVEN_UP, "Use Postgres again", Sameness.CONFLICT),
        (GIVEN_UP, "We use Postgres for the reports", Sameness.ALIKE),
        (GIVEN_UP, "Postgres needs a vacuum each night", Sameness.OTHER),
    ],
)
def test_a_change_that_gives_up_what_was_chosen_contradicts_it_and_so_does_a_return_to_it(
    older: str, newer: str, relation: Sameness
) -> None:
    assert judge(newer, older).relation is relation
