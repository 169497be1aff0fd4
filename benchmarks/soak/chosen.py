"""A pytest plugin of `mutants`: which test runs which line, and running chosen tests in order.

With LTM_TRACED naming a folder, each test's lines go into a coverage file there and its time into
a file beside it; so do the lines of processes it starts, under the name pytest gives them in
PYTEST_CURRENT_TEST. With LTM_CHOSEN naming a file, only the tests it lists are run, in its order.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

PARTS = (
    *("model.py", "kinds.py", "policy.py", "decisions.py", "text/*", "redact/*", "files/*"),
    *("config/*", "project/*", "vault/*", "index/*", "spool/*", "state/*", "store/*", "history/*"),
    "http/app.py",
    "http/guard.py",
)
"""Where faults are put in: what a memory is, how it is kept, and who may ask for it."""
TRACED, CHOSEN = "LTM_TRACED", "LTM_CHOSEN"
_CHILDREN = """[run]
branch = true
parallel = true
include = {include}
data_file = {folder}/lines-child
context = ${{PYTEST_CURRENT_TEST-}}
"""


def nodeid(context: str) -> str:
    """The test that lines were noted for, here or in a process it started."""
    return re.sub(r" \((setup|call|teardown)\)$", "", context)


class _Trace:
    """Lines by test, in this process."""

    def __init__(self, folder: Path) -> None:
        # Only where lines are asked for: it lies in a folder of its own.
        coverage: Any = importlib.import_module("coverage")
        self._times = folder / f"times-{os.getpid()}.jsonl"
        self._coverage = coverage.Coverage(
            data_file=str(folder / f"lines-{os.getpid()}"),
            include=[f"*/src/ltm/{part}" for part in PARTS],
            branch=True,
            config_file=False,
        )
        self._coverage.start()
        parts = ", ".join(f"*/src/ltm/{part}" for part in PARTS)
        told = folder / "children.ini"
        told.write_text(_CHILDREN.format(folder=folder, include=parts))
        # Only now: the process that starts this one notes nothing, and this one not twice.
        os.environ["COVERAGE_PROCESS_START"] = str(told)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._coverage.switch_context(item.nodeid)
        done = yield
        self._coverage.switch_context("")
        return done

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # What does not pass without a fault says nothing about one.
        seconds = report.duration if report.passed else math.inf
        with self._times.open("a") as out:
            out.write(json.dumps([report.nodeid, seconds]) + "\n")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        self._coverage.save()


# Begun here, and not when pytest is ready: by then it has loaded modules of the product.
_TRACE = (
    _Trace(Path(os.environ[TRACED]))
    if TRACED in os.environ and "PYTEST_XDIST_WORKER" in os.environ
    else None
)


def pytest_configure(config: pytest.Config) -> None:
    """Note lines test by test, in the processes that run tests."""
    if _TRACE is not None:
        config.pluginmanager.register(_TRACE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep what was chosen."""
    path = os.environ.get(CHOSEN)
    if path:
        order = {name: at for at, name in enumerate(json.loads(Path(path).read_text()))}
        items[:] = sorted(
            (item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid]
        )
