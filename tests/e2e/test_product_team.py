"""The real client over a team's remote MCP server: with a token, and signed in by OAuth."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres.cluster import new_cluster
from tests.team.issuer import Issuer
from tests.team.world import TeamServer, TeamWorld, team_world

from .client import Harness, use
from .client.deadline import PATIENCE
from .conftest import MakeHarness

PATIENT = {"MCP_CONNECTION_NONBLOCKING": "0"}
"""Has the client wait for its servers before the first request."""

TEXT = "The release train leaves on Wednesdays because support is staffed then"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamWorld]:
    with (
        new_cluster(18) as cluster,
        team_world(tmp_path_factory.mktemp("team"), cluster) as made,
    ):
        machine = made.machine("ben")
        machine.remember(TEXT)
        machine.sync()
        yield made


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    made = Issuer()
    yield made
    made.close()


@pytest.fixture
def signing(world: TeamWorld, issuer: Issuer, tmp_path: Path) -> Iterator[TeamServer]:
    """A server of the same database that accepts tokens of the issuer."""
    server = TeamServer(tmp_path, world.cluster.url(world.name), ["--issuer", issuer.url])
    yield server
    server.stop()


def add(harness: Harness, url: str, *more: str) -> None:
    harness.cli("mcp", "add", "--transport", "http", "acme", f"{url}/t/acme/p/main/mcp", *more)


def test_an_agent_with_a_token_recalls_and_stores_for_a_curator(
    make_harness: MakeHarness, world: TeamWorld
) -> None:
    harness = make_harness(env=PATIENT)
    token = world.tokens["ben"]
    add(harness, world.server.url, "--header", f"Authorization: Bearer {token}")
    session = harness.print_session(
        "when is the release",
        [
            use("mcp__acme__recall", query="release train"),
            use("mcp__acme__store_memory", content="The train is called Orient Express"),
            "On Wednesdays.",
        ],
        allowed=["mcp__acme"],
    )
    assert session.rc == 0
    texts = [request.text for request in session.requests]
    assert any(TEXT in text for text in texts)
    assert any("until a curator of the team approves it" in text for text in texts)


@pytest.mark.every_client
def test_an_agent_that_signs_in_uses_the_team_with_the_scopes_it_was_given(
    make_harness: MakeHarness, world: TeamWorld, issuer: Issuer, signing: TeamServer
) -> None:
    harness = make_harness(env=PATIENT)
    subject = f"person-{harness.client.label}"
    issuer.subject = subject
    named = ("--issuer", issuer.url, "--subject", subject)
    world.server.admin("invite", subject, "--team", "acme", *named)
    add(harness, signing.url)
    sign_in(harness)
    assert issuer.resources[-1] == f"{signing.url}/t/acme/p/main/mcp"
    session = harness.print_session(
        "when is the release",
        [use("mcp__acme__recall", query="release train"), "On Wednesdays."],
        allowed=["mcp__acme"],
    )
    assert any(TEXT in request.text for request in session.requests)


def sign_in(harness: Harness) -> None:
    """Sign in to the server `acme`: what a person does in the browser is asked for here."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [str(harness.client.binary), "mcp", "login", "acme", "--no-browser"],
        cwd=harness.project,
        env=harness.env(COLUMNS="2000"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    said = ""
    visited = False
    try:
        while select.select([ours], [], [], PATIENCE)[0]:
            said += os.read(ours, 65536).decode("utf-8", "replace")
            found = re.search(r"http://127\.0\.0\.1:\d+/authorize\?[^\s\x1b\x07]+", said)
            if found and not visited and "Waiting" in said:
                visited = True
                # The identity provider sends the browser back to the client, which listens.
                with urllib.request.urlopen(found[0], timeout=PATIENCE) as page:
                    assert page.status == 200
    except OSError:
        pass  # the client has ended
    finally:
        os.close(ours)
        if not visited:
            process.kill()
    assert process.wait(PATIENCE) == 0, said
