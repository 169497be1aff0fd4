"""What tests of faults begin with: programs under `strace`, and a home with memories in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.scene import Scene, make_scene
from tests.faults.tracing import Starter, strace_or_outcome


@pytest.fixture(scope="module")
def starter() -> Iterator[Starter]:
    strace_or_outcome()
    with Starter() as running:
        yield running


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """To be copied: what is done to it itself would be there in the next test."""
    return make_scene(tmp_path_factory.mktemp("scene") / "template")
