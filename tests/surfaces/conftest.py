"""What the tests of surfaces share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surfaces.cli_runner import Ltm


@pytest.fixture
def ltm(tmp_path: Path) -> Ltm:
    """The command line in a fresh project with an empty home."""
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    return Ltm(tmp_path / "home", tmp_path / "project")
