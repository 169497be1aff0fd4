"""What the tests of security share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surfaces.cli_runner import Ltm


@pytest.fixture
def ltm(tmp_path: Path) -> Ltm:
    """The command line of a person with an empty home and an empty project."""
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    return Ltm(tmp_path / "home", tmp_path / "project")
