"""Command lines are read well enough to know what matters in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.capture.commands import (
    core_of,
    covers,
    hides_failure,
    is_installing,
    is_particular,
    parse,
    purpose,
    replaced,
    stem_of,
    teaches,
)


@pytest.mark.parametrize(
    ("command", "core"),
    [
        ("pytest -q", "pytest -q"),
        ("cd /srv/app && pytest -q", "pytest -q"),
        ("cd ios && bundle exec fastlane beta", "bundle exec fastlane beta"),
        ("CI=1 NODE_ENV=test npm test", "npm test"),
        ("sudo make install", "make install"),
        ("timeout 60 cargo test", "cargo test"),
        ("mix test 2>&1 | tail -20", "mix test"),
        ("make build > /dev/null 2>&1 &", "make build"),
        ("pytest -q; echo done", "pytest -q"),
        ("git add -A && make check", "make check"),
        ("cat <<'EOF' > a.py\nprint(1)\nEOF", "cat"),
        ("python a.py --name 'x && y; z'", "python a.py --name 'x && y; z'"),
        ("", ""),
        ("&& ; ||", ""),
        ("'unclosed", "'unclosed"),
    ],
)
def test_the_command_that_matters_is_found(command: str, core: str) -> None:
    assert core_of(command) == core


def test_what_stands_before_it_is_kept() -> None:
    line = parse("source env.sh && KEY=1 make test")
    assert (line.setup, line.variables, line.core) == (("source env.sh",), ("KEY=1",), "make test")
    assert line.whole() == "source env.sh && KEY=1 make test"


def test_where_the_agent_stands_is_its_own_affair() -> None:
    assert parse("cd /home/me/app && make").setup == ()
    assert parse("cd web && make").setup == ("cd web",)


@pytest.mark.parametrize(
    "command",
    [
        "ls src",
        "grep -rn x .",
        "git status",
        "ruff check",
        "npm run lint",
        "mix format",
        "cat a.py",
    ],
)
def test_looking_formatting_and_git_teach_nothing(command: str) -> None:
    assert not teaches(command)


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("pytest tests", "test"),
        ("npm run test -- --watch", "test"),
        ("docker compose run --rm web pytest", "test"),
        ("cargo build --release", "build"),
        ("make", "build"),
        ("terraform plan", ""),
    ],
)
def test_purposes(command: str, what: str) -> None:
    assert purpose(command) == what


@pytest.mark.parametrize(
    ("later", "earlier", "does"),
    [
        ("pytest", "pytest", True),
        ("pytest -q", "pytest -x", True),
        ("pytest", "pytest tests/test_a.py", True),
        ("pytest tests/test_a.py", "pytest", False),
        ("pytest tests/test_b.py", "pytest tests/test_a.py", False),
        ("pytest tests/a.py tests/b.py", "pytest tests/a.py::test_x", True),
        ("A=1 make test", "make test", True),
        ("cargo test", "cargo build", False),
        ("npm test", "pytest", False),
    ],
)
def test_whether_one_command_does_what_another_did(later: str, earlier: str, does: bool) -> None:
    assert covers(later, earlier) is does


def test_the_one_argument_in_which_two_commands_differ() -> None:
    assert replaced("x --device 'Pixel 9'", "x --device 'Pixel 8'") == ("'Pixel 8'", "'Pixel 9'")
    assert replaced("pytest tests/parse.py", "pytest tests/prase.py") is None
    assert replaced("x a b", "x c d") is None


def test_fetching_what_a_project_needs_is_known_to_everybody() -> None:
    assert is_installing("npm ci", "")
    assert is_installing("pip install -r requirements.txt", "")
    assert not is_installing("pip install numpy==1.26", "")


def test_fetching_what_an_error_names_teaches_nothing_unless_it_goes_by_another_name() -> None:
    assert is_installing("pip install httpx", "ModuleNotFoundError: No module named 'httpx'")
    assert is_installing("npm install --save-dev zod", "Error: Cannot find module 'zod'")
    assert not is_installing("pip install pyyaml", "ModuleNotFoundError: No module named 'yaml'")
    assert not is_installing("apt install libpq-dev", "fatal error: 'libpq-fe.h' file not found")


def test_what_one_would_not_guess_is_particular() -> None:
    assert is_particular("docker compose run --rm web pytest -q")
    assert is_particular("source env.sh && make test")
    assert not is_particular("pytest -q")
    assert not is_particular("docker build -t app .")
    assert (
        stem_of("docker compose run --rm web pytest -q -x") == "docker compose run --rm web pytest"
    )


def test_a_filter_hides_how_a_command_ended() -> None:
    assert hides_failure("mix test | tail -5")
    assert hides_failure("make || true")
    assert not hides_failure("make || make clean")
    assert not hides_failure("make && make test")


@given(st.text(alphabet="ab '\"&|;><=$\\\n-/.", max_size=300))
def test_any_command_line_can_be_read(command: str) -> None:
    line = parse(command)
    assert "\n" not in line.core
    teaches(command), purpose(command), stem_of(command)
