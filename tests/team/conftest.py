"""One database server for the tests of teams, and a world of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres.cluster import Cluster, new_cluster
from tests.team.world import TeamWorld, team_world


@pytest.fixture(scope="session")
def newest() -> Iterator[Cluster]:
    """The newest PostgreSQL: what differs between versions is tested with the store."""
    with new_cluster(18) as made:
        yield made


@pytest.fixture
def world(newest: Cluster, tmp_path: Path) -> Iterator[TeamWorld]:
    """A server with the team `acme`, whose owner is anna."""
    with team_world(tmp_path, newest) as made:
        yield made
