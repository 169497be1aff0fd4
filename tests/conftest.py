"""Settings and fixtures of all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.cli.runner import Ltm

# How long an example takes says more about the machine than about the code.
settings.register_profile("ltm", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ltm")


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
