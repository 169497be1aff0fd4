"""What the tests of moving share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.transfer.importing import Machine
from tests.transfer.importing import machine as made


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """A machine with an empty LTM_HOME and a project called `app`."""
    monkeypatch.setenv("LTM_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("LTM_AGENT", raising=False)
    yield from made(tmp_path)
