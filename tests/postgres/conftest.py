"""Servers and databases of the tests of teams."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres.cluster import VERSIONS, Cluster, new_cluster
from tests.postgres.team import Team


@pytest.fixture(scope="session", params=VERSIONS, ids=lambda version: f"postgres{version}")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A server of each version, for the whole run of this process."""
    with new_cluster(request.param) as made:
        yield made


@pytest.fixture
def team(cluster: Cluster) -> Iterator[Team]:
    """A team with one project and a person of each role, in a database of its own."""
    name = cluster.create()
    made = Team(cluster, name)
    yield made
    made.close()
    cluster.drop(name)
