"""`ltm config store postgres`: the commands one knows, on a project of a team."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ltm.errors import NotFound, Refused
from ltm_server.postgres.database import database_url
from ltm_server.postgres.people import People
from ltm_server.postgres.store import PostgresStore
from tests.cli.runner import Ltm
from tests.postgres.team import Team


@pytest.fixture
def at_home(team: Team, ltm: Ltm) -> Ltm:
    """The command line on the team's project, as the writer."""
    writer = team.people["writer"]
    project = team.add_project("project")
    team.operator.set_role(project, writer.id, "writer")
    login = "create role ltm_login login in role ltm_app"
    with team.database.as_operator() as db:
        if not db.execute("select 1 from pg_roles where rolname = 'ltm_login'").fetchone():
            db.execute(login)
    ltm.env["LTM_DATABASE_URL"] = team.cluster.url(team.name, "ltm_login")
    ltm.env["LTM_TEAM_TOKEN"] = People(team.database, writer).create_token(writer)
    ltm.ok("config", "store", "postgres")
    return ltm


def test_commands_work_on_a_project_of_a_team(team: Team, at_home: Ltm) -> None:
    at_home.ok("remember", "Retries use jitter in src/app.py", "--kind", "decision")
    assert "Retries use jitter" in at_home.ok("recall", "retries")
    project = team.operator.project(team.tenant, "project")
    store = PostgresStore(team.database, team.people["writer"], project)
    assert store.counts() == [("decision", "project", "active", 0, 1)]


def test_an_unknown_token_is_refused_with_what_to_do(at_home: Ltm) -> None:
    at_home.env["LTM_TEAM_TOKEN"] = "ltm_wrong"
    refused = at_home.run("recall", "retries")
    assert refused.returncode == 1
    assert "ltm team token PERSON --new" in refused.stderr


def test_a_login_of_the_servers_own_is_told_from_the_owner(at_home: Ltm) -> None:
    found = at_home.json("team", "serve", "--check")
    assert found == {"database": "ok", "teams": None, "issuer": None}
    refused = at_home.run("team", "invite", "zed")
    assert refused.returncode == 1
    assert "the login 'ltm_owner' in LTM_DATABASE_URL" in refused.stderr


def test_the_address_lies_in_a_file_only_its_owner_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LTM_DATABASE_URL", raising=False)
    with pytest.raises(NotFound, match="no address"):
        database_url(str(tmp_path))
    path = tmp_path / "database-url"
    path.write_text("postgresql://ltm@db.example/ltm\n")
    path.chmod(0o644)
    with pytest.raises(Refused, match="read by others"):
        database_url(str(tmp_path))
    path.chmod(0o600)
    assert database_url(str(tmp_path)) == "postgresql://ltm@db.example/ltm"


def test_nothing_else_loads_the_driver_and_its_lack_is_told(tmp_path: Path) -> None:
    """In a Python that has no psycopg: everything but the team's store works."""
    (tmp_path / "psycopg.py").write_text("raise ImportError('psycopg is not here')\n")
    (tmp_path / "home").mkdir()
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "LTM_HOME": str(tmp_path / "home")}
    words = [sys.executable, "-m", "ltm"]

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*words, *more], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    assert run("remember", "Retries use jitter").returncode == 0
    assert "jitter" in run("recall", "retries").stdout
    (tmp_path / "home" / "config.toml").write_text('store = "postgres"\n')
    refused = run("recall", "retries")
    assert refused.returncode == 1
    assert "'psycopg[binary,pool]'" in refused.stderr
