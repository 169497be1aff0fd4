"""The store of a team in PostgreSQL keeps the contract, and ranks as files do."""

from __future__ import annotations

import pytest

from tests.contract.store_contract import Open, StoreContract
from tests.postgres.team import Team

pytest_plugins = ()


class TestPostgresStore(StoreContract):
    """Memories as rows."""

    @pytest.fixture
    def reopen(self, team: Team) -> Open:
        return team.store
