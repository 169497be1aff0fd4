"""What commands prove about the surroundings, when one would not guess it."""

from __future__ import annotations

import pytest

from ltm.capture.extract import Listener
from tests.capture.samples import KINDS, heard, ran, texts


@pytest.mark.parametrize(
    ("output", "where"),
    [
        ("ready in 412 ms\n  ➜  Local:   http://localhost:5173/", "http://localhost:5173"),
        ("postgres ready on 127.0.0.1:5544", "127.0.0.1:5544"),
        ("Server listening on port 8080", "port 8080"),
        ("Development site started at http://localhost:8888/", "http://localhost:8888"),
    ],
)
def test_where_a_server_listens(output: str, where: str) -> None:
    assert texts(heard(ran("just up", output))) == [f"`just up` listens on {where}."]


def test_a_port_that_was_asked_for_is_not_new() -> None:
    assert heard(ran("serve --port 4310", "Local: http://localhost:4310/")) == []


def test_an_address_in_a_page_or_a_log_is_nobodys_server() -> None:
    assert heard(ran("cat notes.txt", "running at http://localhost:1234/")) == []
    assert heard(ran("curl localhost:80", "listening on port 1234")) == []
    assert heard(ran("pytest", "started at http://localhost:1234/")) == []


def test_a_test_command_that_passed_twice_and_is_not_obvious_is_how_tests_are_run() -> None:
    one = ran("docker compose run --rm web pytest -q", "ok")
    two = ran("docker compose run --rm web pytest tests/a.py", "ok")
    assert heard(one) == []
    (found,) = heard(one, two, one)
    assert found.text == "Run the tests with `docker compose run --rm web pytest`."
    assert heard(ran("pytest", "ok"), ran("pytest", "ok"), ran("npm test", "ok")) == []


def test_passes_are_counted_over_the_stretches_of_a_session() -> None:
    first = Listener("s", KINDS)
    first.hear(ran("tox -e py312", "OK"))
    assert first.candidates() == []
    second = Listener("s", KINDS, first.state())
    second.hear(ran("tox -e py312", "OK"))
    assert texts(second.candidates()) == ["Run the tests with `tox -e py312`."]
    third = Listener("s", KINDS, second.state())
    third.hear(ran("tox -e py312", "OK"))
    assert third.candidates() == []
