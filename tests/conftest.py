"""Settings and fixtures of all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.cli.runner import Ltm
from tests.effort import EXAMPLES

# How long an example takes says more about the machine than about the code.
settings.register_profile(
    "ltm",
    deadline=None,
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ltm")

LONGEST = ("tests/e2e/", "tests/faults/", "tests/security/", "tests/worker/", "tests/index/")
"""Where the tests are that take long: they go first, so that no worker is left with one alone."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


@pytest.fixture
def ltm(tmp_path: Path) -> Ltm:
    """The command line in an empty project with an empty home."""
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    return Ltm(tmp_path / "home", tmp_path / "project")


@pytest.fixture
def user_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of one's own, which the environment names."""
    home = tmp_path / "user"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home
