"""What a plain text says about itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.kinds import Kinds
from ltm.model import Impact, Scope
from ltm.text.infer import auto_tags, infer, infer_impact, infer_kind, infer_scope
from ltm.text.sentences import sentences

KINDS = Kinds()
MARKDOWN = st.text(alphabet="aB.!? #->*=`~\n\t1()…。我\u2028", max_size=120)
TEXT = st.one_of(st.text(max_size=400), MARKDOWN)


@pytest.mark.parametrize(
    "text",
    [
        "The monkey sat there",
        "Mustard on the shelf",
        "It will likely rain",
        "Paris is the capital",
        "The general store opens at nine",
    ],
)
def test_parts_of_words_tell_nothing(text: str) -> None:
    """traps 2.3 #6: monkey, mustard, likely, capital and general store once told a lot."""
    guess = infer(text, KINDS)
    assert guess.kind == KINDS.default.name
    assert guess.impact is Impact.MEDIUM
    assert guess.scope is Scope.PROJECT


@pytest.mark.parametrize(
    ("text", "impact"),
    [
        ("Never push to main", Impact.CRITICAL),
        ("Tests MUST pass.", Impact.CRITICAL),
        ("**Always** use tabs", Impact.CRITICAL),
        ("This is an important detail", Impact.HIGH),
        ("(key) point", Impact.HIGH),
        ("Remember: port 5433", Impact.HIGH),
        ("A minor thing", Impact.LOW),
        ("It might help", Impact.LOW),
        ("Never mind the minor key", Impact.CRITICAL),
        ("Uses port 5433", Impact.MEDIUM),
        ("This is not important", Impact.MEDIUM),
        ("It isn't critical", Impact.MEDIUM),
        ("The `key` column, never_fail() and docs/must/read.md", Impact.MEDIUM),
        ("```\nalways()\n```\nsee above", Impact.MEDIUM),
        ("the key-value store", Impact.MEDIUM),
    ],
)
def test_impact_comes_from_whole_spoken_words(text: str, impact: Impact) -> None:
    assert infer_impact(text) is impact


@pytest.mark.parametrize("word", ["always", "general", "in general", "as a rule", "all"])
def test_words_of_frequency_do_not_send_a_memory_to_every_project(word: str) -> None:
    """traps 2.3 #6, 2.6 #4: "always" and "general" leaked memories into all projects."""
    assert infer_scope(f"We {word} do it like this") is Scope.PROJECT


@pytest.mark.parametrize(
    "text",
    [
        "Use British spelling in all projects",
        "Across all projects, sign commits",
        "Use tabs EVERYWHERE!",
        "In every\nproject run the linter first",
        "as a rule in general I want short answers",
        "This holds universally",
        "for all my projects: no force push",
    ],
)
def test_an_explicit_phrase_makes_the_scope_agent(text: str) -> None:
    assert infer_scope(text) is Scope.AGENT


@pytest.mark.parametrize(
    "text",
    [
        "This helper is used everywhere in the codebase",
        "All tables have universally unique ids",
        "In all projects of this monorepo we use pnpm",
        "It is not everywhere",
        "Fix it in all. Projects come later",
    ],
)
def test_a_phrase_that_names_its_place_or_means_something_else_does_not(text: str) -> None:
    assert infer_scope(text) is Scope.PROJECT


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We decided to use Postgres", "decision"),
        ("Chose tabs instead of spaces", "decision"),
        ("Watch\n  out: the cache is stale", "gotcha"),
        ("I prefer short answers", "preference"),
        ("Known issues: the build is flaky", "issue"),
        ("Working on the parser", "progress"),
        ("Naming: tables are plural", "pattern"),
        ("Services talk over HTTP", "architecture"),
        ("We use dependency-injection", "architecture"),
        ("Shipped version 2", "achievement"),
        ("The port is 5433", "fact"),
        ("Watch. Out of disk", "fact"),
    ],
)
def test_the_kind_comes_from_the_words_of_the_table(text: str, kind: str) -> None:
    assert infer_kind(text, KINDS) == kind


def test_every_word_of_the_table_suggests_its_kind_or_one_tried_before() -> None:
    rank = {row.name: row.inferred for row in KINDS}
    for row in KINDS:
        for word in row.words:
            assert 0 < rank[infer_kind(f"so: {word}, yes", KINDS)] <= row.inferred


def test_words_and_order_of_kinds_can_be_overridden() -> None:
    table = KINDS.override({"context": {"words": ["background story"], "inferred": 1}})
    assert infer_kind("The background  story is long", table) == "context"


def test_the_inference_says_what_it_took_from_which_word() -> None:
    guess = infer("We decided: never use Redis in all projects", KINDS)
    assert guess.said == (
        "kind=decision (decided)",
        "impact=critical (never)",
        "scope=agent (in all projects)",
        "tags=redis (words of the text)",
    )
    assert infer("hm", KINDS).said[0] == "kind=fact (the default)"


def test_tags_in_use_are_recognised_as_whole_words() -> None:
    known = ["code-review", "billing", "art", "node.js"]
    assert infer("Billing needs a code review.", KINDS, known).tags == ("code-review", "billing")
    assert infer("Start node.js.", KINDS, known).tags == ("node.js", "nodejs")


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("PostgreSQL and psql", ("postgres",)),
        ("Node.js, C++, C# and .NET.", ("nodejs", "cpp", "csharp", "dotnet")),
        ("fails in src/app/main.py", ("python",)),
        ("Python3.11 on K8s", ("python", "kubernetes")),
        ("see `.ts` files", ("typescript",)),
        ("redis-client and redis_pool", ("redis",)),
        ("GOLANG", ("golang",)),
        ("run tests on CI/CD", ("testing", "ci")),
        ("a javascripty thing, pythonic, gitting", ()),
        ("let us go and rest; the next node is an express train", ()),
        ("capital rustic maker", ()),
    ],
)
def test_tags_are_whole_technology_words(text: str, tags: tuple[str, ...]) -> None:
    """traps 2.3 #6 and SPEC §2: whole words, not substrings."""
    assert auto_tags(text) == tags


def test_there_are_at_most_ten_tags_in_order_of_speaking() -> None:
    text = "rust java ruby php sql redis kafka docker aws azure nginx linux git"
    assert auto_tags(text) == tuple(text.split()[:10])
    assert auto_tags(text, limit=2) == ("rust", "java")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "See foo.py, e.g. line 3. Then 1.10 works.",
            ["See foo.py, e.g. line 3.", "Then 1.10 works."],
        ),
        ("Go to https://a.b/c?d=e.f. Wait! Why?", ["Go to https://a.b/c?d=e.f.", "Wait!", "Why?"]),
        ("We use npm. pnpm is faster.", ["We use npm.", "pnpm is faster."]),
        (
            "J. Smith vs. Jones, cf. fig. 3 etc. and no. 4",
            ["J. Smith vs. Jones, cf. fig. 3 etc. and no. 4"],
        ),
        ("The answer is no. Then stop.", ["The answer is no.", "Then stop."]),
        ("Wait... what? Hm... Yes", ["Wait... what?", "Hm...", "Yes"]),
        ("1. First do this. 2 is later.", ["1. First do this.", "2 is later."]),
        ('He said "stop." Then left.', ['He said "stop."', "Then left."]),
        ("我们用它。因为快！对吗？", ["我们用它。", "因为快！", "对吗？"]),
        ("a\n\tb.\nC", ["a b.", "C"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(TEXT)
def test_splitting_into_sentences_loses_nothing_but_blanks(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@given(TEXT, st.lists(st.text(max_size=8), max_size=3))
def test_any_text_can_be_read(text: str, known: list[str]) -> None:
    guess = infer(text, KINDS, known)
    assert guess.kind in KINDS
    assert len(guess.tags) <= 10
    assert guess.kind == infer_kind(text, KINDS)
    assert guess.impact is infer_impact(text)
    assert guess.scope is infer_scope(text)
    assert infer(text, KINDS, known) == guess


def test_a_title_counts_for_the_kind_and_the_tags_and_for_nothing_else() -> None:
    guess = infer("Two workers write at once.", KINDS, title="We decided on PostgreSQL everywhere")
    assert guess.kind == infer_kind("We decided on it", KINDS) == "decision"
    assert guess.tags == ("postgres",)
    assert (guess.impact, guess.scope) == (Impact.MEDIUM, Scope.PROJECT)
