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


@pytest.mark.parametrize("word", ["always", "general", "in general", "as a rule", "all"])
def test_words_of_frequency_do_not_send_a_memory_to_every_project(word: str) -> None:
    """traps 2.3 #6, 2.6 #4: "always" and "general" leaked memories into all projects."""
    assert infer_scope(f"We {word} do it like this") is Scope.PROJECT


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("In all my projects I want British spelling", Scope.AGENT),
        ("Whatever repo we are in, answer me in English", Scope.AGENT),
        ("in all my repos I want 2 spaces in YAML files", Scope.AGENT),
        ("Use conventional commits in every repository of mine", Scope.AGENT),
        ("no matter which project: never push to main", Scope.AGENT),
        ("My name is Sam and I work in Berlin", Scope.AGENT),
        ("I am a bit confused by the login", Scope.PROJECT),
        ("All projects under packages/ use vitest", Scope.PROJECT),
        ("The billing service is used by all our projects", Scope.PROJECT),
        ("In this repo we want the same linter for all projects", Scope.PROJECT),
        ("Use tabs in this project", Scope.PROJECT),
        ("This helper is used everywhere in the codebase", Scope.PROJECT),
        ("All tables have universally unique ids", Scope.PROJECT),
        ("The staging database is on port 5433", Scope.PROJECT),
    ],
)
def test_a_memory_leaves_its_project_only_when_the_text_says_so(text: str, scope: Scope) -> None:
    assert infer_scope(text) is scope


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We decided to use Postgres", "decision"),
        ("let's go with Redis, Postgres LISTEN was too flaky", "decision"),
        ("Never commit to main", "preference"),
        ("I prefer short answers", "preference"),
        ("Always run make fmt before committing", "preference"),
        ("Order numbers look like ORD-12345", "pattern"),
        ("each service has its own database", "architecture"),
        ("The port is 5433", "fact"),
        ("Known bug: the CSV export drops the last row", "issue"),
        ("Code freeze until June 3", "context"),
        ("nie direkt auf main pushen", "preference"),
        ("We shipped dark mode last week", "achievement"),
        ("Released v2.0 yesterday", "achievement"),
        ("We shipped with debug on and users complained", "decision"),
        ("Shipped orders cannot be changed", "fact"),
        ("test", "fact"),
    ],
)
def test_the_kind_is_what_a_reader_would_call_it(text: str, kind: str) -> None:
    assert infer_kind(text, KINDS) == kind


def test_the_inference_says_which_words_it_took_it_from() -> None:
    kind, impact, scope, tags = infer("Never push to the Redis branch", KINDS).said
    assert kind.startswith("kind=preference (never")
    assert impact.startswith("impact=")
    assert scope.startswith("scope=project (")
    assert tags == "tags=redis (words of the text)"
    assert infer("zzz", KINDS).said[1].endswith("(the default)")


def test_tags_in_use_are_recognised_as_whole_words() -> None:
    known = ["code-review", "billing", "art", "node.js"]
    assert infer("Billing needs a code review.", KINDS, known).tags == ("code-review", "billing")
    assert infer("Start node.js.", KINDS, known).tags == ("node.js", "nodejs")


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("PostgreSQL and psql", ("postgres", "database")),
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
    assert guess.tags == ("postgres", "database")
    assert guess.impact in Impact
    assert guess.scope is Scope.PROJECT
