"""Fixtures of the tests that run the real client.

Those that are marked `every_client` run on each supported version, the others on the newest;
LTM_FAULTS=all runs all on each. Without the client they are skipped, with the reason; in CI, or
with LTM_E2E_REQUIRED=1, a missing client is a failure.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from .client import Client, ClientMissing, Harness
from .client.binary import GIVEN, find, labels, required
from .product import provide_python, ship, warm_up

MakeHarness = Callable[..., Harness]


def client_or_outcome(label: str, environ: Mapping[str, str]) -> Client:
    """The client, or the test's outcome without it: skipped, or failed where it must be there.

    A binary that somebody named must always be there.
    """
    try:
        return find(label, environ)
    except ClientMissing as missing:
        if label == GIVEN or required(environ):
            pytest.fail(str(missing), pytrace=False)
        pytest.skip(str(missing))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Choose the versions that a test runs on."""
    if "client_binary" in metafunc.fixturenames:
        every = metafunc.definition.get_closest_marker("every_client")
        known = labels(os.environ)
        chosen = known if every or os.environ.get("LTM_FAULTS") == "all" else known[-1:]
        metafunc.parametrize("client_binary", chosen, indirect=True, scope="session")


@pytest.fixture(scope="session")
def client_binary(request: pytest.FixtureRequest) -> Client:
    """The real client in the version that the test is run for."""
    return client_or_outcome(request.param, os.environ)


@pytest.fixture
def make_harness(client_binary: Client, tmp_path: Path) -> Iterator[MakeHarness]:
    """A function that makes harnesses with the options of `Harness`; all are closed at the end."""
    made: list[Harness] = []

    def make(**options: Any) -> Harness:
        made.append(Harness(client_binary, tmp_path / f"world-{len(made) + 1}", **options))
        return made[-1]

    yield make
    for harness in made:
        harness.close()


@pytest.fixture
def harness(make_harness: MakeHarness) -> Harness:
    """A fresh HOME and an empty project."""
    return make_harness()


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout as it is shipped: a marketplace, with the plugin in a folder of it."""
    return ship(tmp_path_factory.mktemp("shipped"))


InstallPlugin = Callable[[Harness], Harness]


@pytest.fixture
def install_plugin(shipped: Path, tmp_path: Path) -> InstallPlugin:
    """A function that gives a user the plugin, recorded, and an `ltm` that is installed."""

    def install(harness: Harness) -> Harness:
        add_plugin(harness, shipped, tmp_path)
        return harness

    return install


def add_plugin(harness: Harness, shipped: Path, elsewhere: Path) -> None:
    """Install the plugin for a user who has an `ltm`, and let its hook run once."""
    provide_python(harness)
    name = harness.install(shipped / "src")
    warm_up(harness.stage / "plugins" / name, elsewhere)


@pytest.fixture(scope="session")
def installed() -> dict[str, Harness]:
    """By client, a user with the plugin and nothing else; none of them ever runs a session."""
    return {}


@pytest.fixture
def product(
    harness: Harness,
    installed: dict[str, Harness],
    shipped: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Harness:
    """A user with the plugin."""
    client = harness.client
    if client.label not in installed:
        first = Harness(client, tmp_path_factory.mktemp(f"installed-{client.label}"))
        add_plugin(first, shipped, first.logs)
        first.close()
        installed[client.label] = first
    harness.take_over(installed[client.label])
    return harness
