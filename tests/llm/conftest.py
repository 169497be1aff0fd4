"""What the tests of models share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ltm.state.model_log import ModelLog
from tests.llm.scripted import ScriptedApi


@pytest.fixture
def server() -> Iterator[ScriptedApi]:
    with ScriptedApi() as api:
        yield api


@pytest.fixture
def log(tmp_path: Path) -> Iterator[ModelLog]:
    log = ModelLog(str(tmp_path / "home" / "state.db"))
    yield log
    log.close()
