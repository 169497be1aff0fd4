"""A command fails, something is changed, the command passes: what was wrong is remembered."""

from __future__ import annotations

import json

import pytest

from ltm.capture.decide import Candidate
from ltm.capture.extract import Listener
from ltm.model import Trust
from tests.capture.samples import KINDS, agent, edits, fails, heard, ran, texts, user

ERROR = "E   OSError: port 5432 refused the connection"


def only(found: list[Candidate]) -> Candidate:
    assert len(found) == 1, texts(found)
    return found[0]


def test_a_change_of_a_file_that_made_a_command_pass_is_a_trap_and_its_way_out() -> None:
    found = only(
        heard(
            fails("pytest tests", ERROR),
            edits("/srv/app/config/test.toml", "port = 5432", "port = 5433"),
            ran("pytest tests", "12 passed"),
        )
    )
    assert found.kind == "gotcha"
    assert "OSError: port 5432 refused the connection" in found.text
    assert "app/config/test.toml" in found.text
    assert "`port = 5432` became `port = 5433`" in found.text
    assert found.source.trust is Trust.ASSISTANT
    first, last = map(int, found.source.lines.split("-"))
    assert first < last


def test_what_the_agent_said_was_wrong_is_the_title() -> None:
    found = only(
        heard(
            fails("pytest tests", ERROR),
            agent("The database of the tests listens on another port."),
            edits("config/test.toml", "a", "b"),
            ran("pytest tests", "ok"),
        )
    )
    assert found.title == "The database of the tests listens on another port"


@pytest.mark.parametrize(
    "said",
    [
        "Let me look at the config.",
        "I'll change the port.",
        "Maybe the port is wrong.",
        "Is the database up?",
        "Now the tests again:",
    ],
)
def test_announcements_and_guesses_are_no_diagnosis(said: str) -> None:
    found = only(
        heard(fails("pytest", ERROR), agent(said), edits("conf.toml"), ran("pytest", "ok"))
    )
    assert found.title.startswith("OSError")


def test_a_command_that_made_another_pass_is_the_way_out() -> None:
    found = only(
        heard(
            fails("cargo test", "error: connection refused (os error 111)"),
            ran("just db-up", "ready"),
            ran("cargo test", "ok. 88 passed"),
        )
    )
    assert "Fixed by running `just db-up`." in found.text


@pytest.mark.parametrize(
    ("failing", "passing"),
    [
        ("./gradlew test", "JAVA_HOME=/opt/jdk21 ./gradlew test"),
        ("bundle exec fastlane beta", "cd ios && bundle exec fastlane beta"),
        ("bitbake image", "source oe-init && bitbake image"),
    ],
)
def test_what_has_to_stand_before_a_command_is_the_way_out(failing: str, passing: str) -> None:
    found = only(heard(fails(failing, "error: wrong setup"), ran(passing, "ok")))
    assert f"It works as `{passing}`." in found.text


def test_another_number_in_an_argument_is_the_way_out() -> None:
    found = only(
        heard(
            fails("emulator -avd 'Pixel 8'", "error: unknown device"),
            ran("emulator -avd 'Pixel 9'", "booted"),
        )
    )
    assert "It works as `emulator -avd 'Pixel 9'`." in found.text


def test_the_right_command_instead_of_one_that_is_not_there_is_told() -> None:
    found = only(
        heard(
            fails("npm test", 'npm error Missing script: "test"'),
            ran("pnpm run check", "ok"),
            ran("make test", "ok"),
        )
    )
    assert found.title == 'Missing script: "test": run `pnpm run check`'
    assert found.text.endswith("It works as `pnpm run check`.")


def test_every_obstacle_on_the_way_is_told_once_the_command_passes() -> None:
    found = heard(
        fails("mix test a.exs", "** (RuntimeError) no secret_key_base"),
        agent("The endpoint has no settings for tests."),
        edits("config/test.exs"),
        fails("mix test a.exs", "** (RuntimeError) lazy_html is required"),
        agent("The package lazy_html is needed for tests."),
        edits("mix.exs"),
        ran("mix test a.exs", "ok"),
    )
    assert [each.title for each in found] == [
        "The endpoint has no settings for tests",
        "The package lazy_html is needed for tests",
    ]


def test_nothing_is_told_while_it_still_fails() -> None:
    assert heard(fails("pytest", ERROR), edits("a.toml"), fails("pytest", ERROR)) == []


@pytest.mark.parametrize(
    "session",
    [
        # the same again, with nothing changed in between
        [fails("pytest", ERROR), ran("pytest", "ok")],
        # a typing error
        [
            fails("pytest tests/test_prase.py", "ERROR: file not found: tests/test_prase.py"),
            ran("pytest tests/test_parse.py", "8 passed"),
        ],
        # fetching what the project says it needs
        [
            fails("python plot.py", "ModuleNotFoundError: No module named 'numpy'"),
            ran("pip install -r requirements.txt", "ok"),
            ran("python plot.py", "saved"),
        ],
        # looking, formatting, linting
        [fails("grep x a", "no"), edits("a"), ran("grep x a", "x")],
        [fails("ruff check", "E501 Line too long"), edits("a.py"), ran("ruff check", "")],
        # another part of the tests
        [fails("pytest a.py", ERROR), edits("c.toml"), ran("pytest b.py", "ok")],
        # a slip in what the agent has just written
        [
            edits("new.py"),
            fails("pytest", "NameError: name 'x' is not defined"),
            edits("new.py"),
            ran("pytest", "ok"),
        ],
    ],
)
def test_what_teaches_nothing_is_not_told(session: list[list[object]]) -> None:
    assert heard(*session) == []  # type: ignore[arg-type]


def test_a_failure_that_a_pipe_hid_is_not_a_pass() -> None:
    failing = ran("mix test | tail -3", "** (RuntimeError) no key\n3 tests, 1 failure")
    again = ran("mix test | tail -3", "3 tests, 1 failure")
    assert heard(failing, edits("config/test.exs"), again) == []
    passing = ran("mix test | tail -3", "3 tests, 0 failures")
    assert len(heard(failing, edits("config/test.exs"), passing)) == 1


def test_what_the_user_stopped_is_nobodys_failure() -> None:
    refused = fails("pytest", ERROR)
    result = refused[1]
    stopped = type(result)(id=result.id, text="", refused=True, line=result.line)  # type: ignore[union-attr, call-arg]
    assert heard([refused[0], stopped], edits("a.toml"), ran("pytest", "ok")) == []


def test_what_fails_in_one_stretch_and_passes_in_the_next_is_told() -> None:
    first = Listener("s", KINDS)
    first.hear([*fails("pytest", ERROR), *edits("conf.toml")])
    assert first.candidates() == []
    second = Listener("s", KINDS, first.state())
    second.hear(ran("pytest", "ok"))
    assert "conf.toml" in only(second.candidates()).text


@pytest.mark.parametrize(
    "state", ["", "no json", "[]", '{"fixes": 3}', '{"fixes": [{"command": 1}]}', '{"runs": [1]}']
)
def test_a_state_that_cannot_be_read_is_none(state: str) -> None:
    assert heard(user("hi"), state=state) == []


def test_the_state_stays_small() -> None:
    listener = Listener("s", KINDS)
    for number in range(500):
        listener.hear(fails(f"tool{number} run", f"error: {number}"))
    assert len(json.loads(listener.state())["fixes"]) <= 20
    assert len(listener.state()) < 20_000


def test_secrets_never_leave_it() -> None:
    token = "ghp_" + "a1B2" * 9
    listener = Listener("s", KINDS)
    listener.hear(fails(f"TOKEN={token} make test", f"error: {token} was denied"))
    assert token not in listener.state()
    listener.hear([*edits("conf.toml", f'token = "{token}"', "token = 1")])
    listener.hear(ran(f"TOKEN={token} make test", "ok"))
    assert token[:12] not in str(listener.candidates())


def test_a_secret_is_taken_out_before_a_line_is_cut() -> None:
    """A cut through a secret would leave half of one that no rule knows."""
    token = "ghp_" + "a1B2" * 9
    error = "error: " + "x" * 130 + f" {token} was denied"
    found = heard(fails("make test", error), edits("conf.toml"), ran("make test", "ok"))
    assert found
    assert "ghp_" not in str(found)


@pytest.mark.parametrize(
    "error",
    [
        "src/App.tsx(3,10): error TS2304: Cannot find name 'useState'.",
        "Module not found: Error: Can't resolve './Nav'",
        "NameError: name 'totals' is not defined",
        "SyntaxError: invalid syntax",
    ],
)
def test_a_slip_in_the_code_that_one_edit_mends_teaches_nothing(error: str) -> None:
    work = [fails("npm run build", error), edits("src/App.tsx", "a", "b")]
    assert heard(user("go"), *work, ran("npm run build", "ok")) == []
    long = agent("The build only sees files whose names have the same case as on the server.")
    assert len(heard(user("go"), work[0], long, work[1], ran("npm run build", "ok"))) == 1


@pytest.mark.parametrize(
    ("failing", "passing"),
    [
        ("rake import", "docker compose exec web rake import"),
        ("bundle exec rake seed", "op run -- bundle exec rake seed"),
        ("node build.mjs", "node --max-old-space-size=4096 build.mjs"),
        ("npm ci", "npm ci --legacy-peer-deps"),
        ("alembic upgrade head", "alembic upgrade head --sql 1"),
    ],
)
def test_running_it_inside_something_or_with_an_option_is_the_way_out(
    failing: str, passing: str
) -> None:
    found = only(heard(fails(failing, ERROR), ran(passing, "ok")))
    assert f"It works as `{passing}`" in found.text


@pytest.mark.parametrize("passing", ["jest -- --update", "jest run -v", "jest run --force"])
def test_an_option_that_talks_more_or_takes_whatever_comes_is_none(passing: str) -> None:
    assert not heard(fails(passing.rsplit(" -", 1)[0], ERROR), ran(passing, "ok"))


def test_what_the_agent_just_broke_itself_teaches_nothing() -> None:
    def session(said: str) -> list[Candidate]:
        return heard(
            edits("lib/slice.rb", "a", "b"),
            fails("rspec spec", "RuntimeError: index 4 outside of array"),
            agent(said),
            edits("lib/slice.rb", "b", "c"),
            ran("rspec spec", "ok"),
        )

    assert not session("That is a typo in my last edit.")
    assert session("The array is shared by all threads of the pool.")


def test_adapting_what_a_test_expects_teaches_nothing() -> None:
    def session(error: str) -> list[Candidate]:
        return heard(
            fails("mocha", error),
            agent("The page has a third row now."),
            edits("test/page.test.js", "equal(2)", "equal(3)"),
            ran("mocha", "ok"),
        )

    assert not session("AssertionError: expected 3 to equal 2")
    assert session("Error: navigation needs a window")
