"""What the user says that lasts is heard; tasks, questions, complaints and doubts are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.model import Impact, Scope
from tests.capture.samples import says, texts


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("remember: the staging box is called heron", "fact"),
        ("please keep in mind that the sandbox resets at midnight", "fact"),
        ("Could you remember that Ana owns the mobile app?", "fact"),
        ("don't forget that the vpn is needed for the mirror", "fact"),
        ("note for later: the importer needs 4 GB", "fact"),
        ("always squash before merging", "preference"),
        ("never touch the vendored code", "preference"),
        ("please don't ever push to the release branch", "preference"),
        ("from now on write the docs in British English", "pattern"),
        ("whenever you add an endpoint, update the OpenAPI file", "preference"),
        (
            "run the migrations before you start the tests, in this project they are not automatic",
            "",
        ),
        ("I prefer early returns over nested ifs", "preference"),
        ("I'd rather have three small pull requests", "preference"),
        ("i hate abbreviations in names", "preference"),
        ("prefer composition over inheritance", "preference"),
        ("avoid global state", "preference"),
        ("keep your answers short unless I ask for details", "preference"),
        ("ask me before you install anything", "preference"),
        ("please explain the steps as you go", "preference"),
        ("always answer in German", "preference"),
        ("We decided to stay on Postgres 15 because the extension is not ready", "decision"),
        ("we went with Svelte instead of React", "decision"),
        ("let's go with option B since it needs no migration", "decision"),
        ("Valkey it is then, the licence is fine", "decision"),
        ("we use conventional commits", "pattern"),
        ("in this repo snapshots are forbidden", "pattern"),
        ("migrations must be reversible in our project", "pattern"),
        ("error messages should start with a capital, that's our convention", "pattern"),
        ("fyi the build agents only have 2 cores", "fact"),
        ("heads up: the api returns 403 for unknown users", "fact"),
        ("The schemas live in packages/schemas and are shared with the mobile app.", "fact"),
        ("backups go to /mnt/vault/db every night", "fact"),
        ("careful, rerunning the seed script wipes the production data", "gotcha"),
        ("I'm a data scientist, new to TypeScript", "relationship"),
    ],
)
def test_what_is_meant_to_last_is_heard(said: str, kind: str) -> None:
    found = says(said)
    assert len(found) == 1, texts(found)
    if kind:
        assert found[0].kind == kind


@pytest.mark.parametrize(
    "said",
    [
        # tasks
        "add a dark mode toggle to the settings page",
        "we need to add a login page with email and password",
        "I want to be able to filter the table by date and status.",
        "Refactor the payment module so that it uses the new client.",
        "Use the same layout as on the profile page.",
        "Use a dropdown instead of radio buttons for the country.",
        "let's start with the database schema",
        "make sure the export contains all columns",
        "Look at how the other controllers do it.",
        "we need to move the settings in this repo to TOML",
        "Refactor the parser in this codebase so that nobody needs the old one.",
        "tell me why the test fails",
        "explain how the cache works in detail",
        "answer my question first",
        "ask Ron about the parser",
        # what the thing at hand must do
        "The new endpoint must accept POST and return 201.",
        "every row needs a checkbox and the header a select all box",
        "Only admins should see the delete button.",
        "An order must have at least one item.",
        "The job has to run every night at 2.",
        "All tests must pass before we merge this.",
        # complaints
        "it always takes forever to load",
        "the spinner never stops",
        "I get a 500 error whenever I save a post with an image",
        "We have a problem with the cache, entries are never evicted.",
        "this function always returns null when the list is empty",
        "I never saw this error before",
        "btw the build fails whenever the cache is cold",
        "fyi the login page is broken",
        # what somebody did, or is about to do
        "I added the keys to our vault, all are stored in ops/keys",
        "I always forget the flags in this repo",
        "it is only stored in our cache folder",
        # only for now
        "don't change the tests in this PR",
        "do not commit yet",
        "don't push",
        "never mind, push it",
        "leave the footer alone for now",
        "this time skip the linter",
        # questions
        "should we always validate on the server as well?",
        "why do we never close the connection",
        "do you remember what we did last week?",
        "can you remember how the parser works?",
        # doubts, what-ifs, and what others say
        "maybe we should always cache per user",
        "if we decided to use it, we would have to rewrite the auth layer",
        "the docs say you should never use autocommit",
        "we might switch to Kafka one day",
        # small talk
        "looks good to me, ship it",
        "I always forget that. Thanks!",
        "as always, great work",
        "ok",
        "",
        # quotations
        'Does the sentence "Always restart the server, and never edit by hand." make sense to you?',
        'the button says "Never ask again", rename it',
    ],
)
def test_everything_else_is_not(said: str) -> None:
    assert says(said) == []


def test_a_reason_is_kept_with_what_it_is_for() -> None:
    (found,) = says("we chose Rust over Go because the parser has to be fast")
    assert found.reason == "the parser has to be fast"
    (found,) = says("Never run it on main. Otherwise the cache is lost.")
    assert found.reason == "the cache is lost"
    (found,) = says("Hono then. Reason: it runs on the edge.")
    assert (found.kind, found.reason) == ("decision", "it runs on the edge")


def test_a_sentence_that_points_back_makes_the_one_before_it_last() -> None:
    assert says("The exporter writes to a temporary table first.", answers=False) == []
    pointed = "The exporter writes to a temporary table first. Keep that in mind."
    (found,) = says(pointed, answers=False)
    assert found.text == "The exporter writes to a temporary table first."


def test_what_is_only_understood_with_the_sentence_before_is_kept_with_it() -> None:
    (found,) = says("We use the tokens for colours. They are generated by the designers.")
    assert found.text.startswith("We use the tokens for colours. They are generated")
    (found,) = says("Biome. We moved everything else to it last year.")
    assert found.text.startswith("Biome. We moved")


def test_a_request_to_remember_that_names_nothing_points_back() -> None:
    (found,) = says("The gateway drops headers over 8 kB. Remember that.")
    assert found.text == "The gateway drops headers over 8 kB."


def test_a_text_stands_alone_without_the_words_around_it() -> None:
    (found,) = says("ok cool, and btw from now on please always use uv, thanks")
    assert found.text == "Always use uv."


def test_a_correction_weighs_more_than_the_same_words_out_of_the_blue() -> None:
    remark = "No. We have fixtures there."
    assert says(remark) != []
    assert says(remark, answers=False) == []


@pytest.mark.parametrize(
    "said",
    [
        "Tickets are cached for a day on the device.",
        "the feed from the card company pads with spaces",
        "Sampling stays at five percent.",
        "ines owns the design tokens",
    ],
)
def test_how_things_are_is_kept_unless_it_describes_the_task_at_hand(said: str) -> None:
    (found,) = says(said)
    assert found.kind in ("fact", "pattern", "decision")
    assert says(said, answers=False) == []


@pytest.mark.parametrize(
    "said",
    [
        "The font is ugly on windows.",
        "The list flickers on my phone.",
        "All buttons are green now.",
        "The job finished after two hours.",
        "I uploaded the new file to the bucket.",
        "It has fourteen columns.",
        "Could you plot the last runs?",
    ],
)
def test_reports_of_what_one_sees_are_no_facts(said: str) -> None:
    assert says(said) == []


def test_what_follows_an_order_and_only_says_how_things_are_is_its_reason() -> None:
    (found,) = says("Never merge contacts by yourself. Sales has lost customers like that.")
    assert found.text == "Never merge contacts by yourself. Sales has lost customers like that."
    assert found.reason == "Sales has lost customers like that"


def test_a_long_document_gives_only_what_one_is_asked_to_remember() -> None:
    filler = "The importer reads one row after the other and writes it to the table. " * 25
    assert says(f"{filler} Always use tabs.") == []
    (found,) = says(f"{filler} Remember that the table is dropped on Sundays.")
    assert found.text == "The table is dropped on Sundays."


def test_tasks_in_a_list_are_not_rules_but_rules_in_a_list_are() -> None:
    assert says("Please do:\n- the logo is in the header\n- never show an empty page") == []
    assert len(says("Rules for this repo:\n- never use default exports\n- we use tabs")) == 2


def test_words_in_code_and_quotations_do_not_count() -> None:
    assert says("rename `always_never_prefer` to `x`") == []
    assert says('change the text to "You must always log in here"') == []


def test_impact_and_scope_are_inferred() -> None:
    (grave,) = says("you must never log tokens in this project")
    assert grave.impact is Impact.CRITICAL
    (usual,) = says("always use tabs")
    assert usual.impact is Impact.HIGH
    (wide,) = says("in all my projects I prefer pnpm")
    assert wide.scope is Scope.AGENT
    (narrow,) = says("always use pnpm")
    assert narrow.scope is Scope.PROJECT


def test_titles_are_one_short_line_that_begins_well() -> None:
    long = "btw " + "the nightly import of the warehouse runs on the machine in the cellar and " * 2
    (found,) = says(f"{long} nobody may restart it, never touch it")
    assert len(found.title) <= 80
    assert "\n" not in found.title
    assert found.title[0].isupper()


@given(st.text(max_size=400))
def test_no_text_breaks_it(text: str) -> None:
    for each in says(text):
        assert each.text
        assert 0 < each.weight <= 1


@pytest.mark.parametrize(
    "lead", ["Rewrite this paragraph in simpler words:", "good, next one:", "Translate this:"]
)
def test_a_paragraph_handed_over_to_be_reworked_is_nobodys_word(lead: str) -> None:
    assert says(f"{lead}\n\nUsers must always save before closing.") == []


def test_what_every_one_of_them_needs_is_told_with_what_it_is_about() -> None:
    (found,) = says("you forgot the down migration. every migration needs one")
    assert found.text == "You forgot the down migration. Every migration needs one."


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("please stop summarising what you did", "preference"),
        ("flashing needs the jumper J3 closed, otherwise it times out", "gotcha"),
        ("If you bypass the repository layer, it won't be logged.", "gotcha"),
        ("patient names never appear in subjects", "pattern"),
        ("use the big runner for anything longer than ten minutes", "preference"),
    ],
)
def test_more_ways_to_say_what_lasts(said: str, kind: str) -> None:
    (found,) = says(said)
    assert found.kind == kind


@pytest.mark.parametrize(
    "said",
    [
        "take the long route for this deploy instead of the short one",
        "use 3.0.0-alpha for this upload, not 3.0.0",
        "no need to polish the labels here",
        "until Monday we use the spare key",
        "the total on my laptop is 99",
        "hold the rollout until Kim calls back",
        "in theory the lock should never be held twice",
        "if we only cached the header we'd be done",
        "my hunch is that nobody opens the second tab",
        "people in forums say you must never do that with tokens",
        "before you begin let me describe what the parser does",
        "a timer, if you really need one",
    ],
)
def test_what_holds_for_one_task_or_is_only_thought_or_told_by_others_is_not_kept(
    said: str,
) -> None:
    assert texts(says(said)) == []


@pytest.mark.parametrize(
    "said",
    [
        'make this rhyme: "Never run indoors. Guests must always sign the book."',
        "Summarise:\n“All bikes must be locked. We moved the rack because of the rain.”",
        "shorten it: Tenants must always lock the gate. The office never takes parcels.",
        "the error message is: you must always close the stream",
        "nicer version of: We never lend keys because they get lost",
    ],
)
def test_what_is_quoted_or_handed_over_in_one_line_is_nobodys_word(said: str) -> None:
    assert texts(says(said)) == []


@pytest.mark.parametrize(
    "said",
    [
        "the reply is 7 kB",
        "the label in footer.vue is grey",
        "option 3 is shorter",
        "notes.md is outdated",
        "accuracy is 90% with your patch",
        "your draft has 6 paragraphs, i need 4",
        "the banner page is live",
        "the cron entry runs every hour, make it every day",
        "the panel covers the toolbar. can you fix that",
        "you always forget the licence header",
        "the popup never leaves the corner",
        "each lookup takes ages",
        "only the lexer, nothing else",
    ],
)
def test_the_state_of_what_is_worked_on_is_no_fact(said: str) -> None:
    assert texts(says(said)) == []


@pytest.mark.parametrize(
    "said",
    [
        "Three warnings: the proxy strips cookies from every answer.",
        "About the labels: every size comes in millimetres.",
        "Memory on the small boards is 64 kB for everything.",
    ],
)
def test_what_stands_behind_a_topic_or_gives_a_figure_is_kept(said: str) -> None:
    assert len(says(said)) == 1


@pytest.mark.parametrize(
    "said",
    [
        "It should say that the pool must never be used alone and that we raised the fee.",
        "my brother always jokes that nobody opens the manual",
    ],
)
def test_what_a_text_is_to_say_and_what_somebody_jokes_is_not_kept(said: str) -> None:
    assert texts(says(said)) == []


@pytest.mark.parametrize(
    "said",
    [
        "icons must be square, the store crops them otherwise",
        "names ≤ 12 letters, they wrap otherwise",
    ],
)
def test_what_happens_otherwise_makes_it_last(said: str) -> None:
    assert len(says(said)) == 1
