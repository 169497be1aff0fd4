"""A pytest plugin of `mutants`: which test runs which line, and running chosen tests in order.

With LTM_TRACED naming a folder, each test's lines go into a coverage file there and its time into
a file beside it. With LTM_CHOSEN naming a file, only the tests it lists are run, in its order.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TRACED, CHOSEN = "LTM_TRACED", "LTM_CHOSEN"


class _Trace:
    """Lines by test, in this process."""

    def __init__(self, folder: Path) -> None:
        # Only where lines are asked for: it lies in a folder of its own.
        coverage: Any = importlib.import_module("coverage")
        self._times = folder / f"times-{os.getpid()}.json"
        self._seconds: dict[str, float] = {}
        self._coverage = coverage.Coverage(
            data_file=str(folder / f"lines-{os.getpid()}"),
            source=["ltm.core", "ltm.storage", "ltm.surfaces.http"],
            branch=True,
            config_file=False,
        )
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(item.nodeid)
        yield
        self._coverage.switch_context("")
        return None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self._seconds[report.nodeid] = float("inf")  # says nothing about a fault
        else:
            self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0) + report.duration

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        self._coverage.save()
        self._times.write_text(json.dumps(self._seconds))


def pytest_configure(config: pytest.Config) -> None:
    """Begin to note lines before any module of the product is loaded."""
    folder = os.environ.get(TRACED)
    spread: Any = config.getoption("numprocesses", None)
    if folder and not spread:  # of many processes, those that run tests
        config.pluginmanager.register(_Trace(Path(folder)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep what was chosen."""
    path = os.environ.get(CHOSEN)
    if path:
        order = {name: at for at, name in enumerate(json.loads(Path(path).read_text()))}
        items[:] = sorted(
            (item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid]
        )
