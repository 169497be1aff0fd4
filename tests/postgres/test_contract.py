"""The store of a team in PostgreSQL keeps the contract, and ranks as files do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from tests.contract.store_contract import Open, StoreContract
from tests.postgres.cluster import Cluster
from tests.postgres.team import Team

pytest_plugins = ()
PROJECTS = count()


@pytest.fixture(scope="module")
def shared(cluster: Cluster) -> Iterator[Team]:
    """One database for all tests: no project of it knows of another."""
    name = cluster.create()
    made = Team(cluster, name)
    yield made
    made.close()
    cluster.drop(name)


class TestPostgresStore(StoreContract):
    """Memories as rows."""

    @pytest.fixture
    def reopen(self, shared: Team) -> Open:
        """A project for each test."""
        project = shared.add_project(f"shop-{next(PROJECTS)}")
        shared.operator.set_role(project, shared.people["owner"].id, "owner")
        return lambda: shared.store(project=project)
