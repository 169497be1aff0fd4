"""Who is let in by a team's server, to what, and what the others learn: nothing."""

from __future__ import annotations

import base64
import hmac
import json
import re
import time
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import sentinel

import psycopg
import pytest
from cryptography.hazmat.primitives import serialization

from ltm_server.app import PROJECT, TeamSettings, routes
from ltm_server.tools import OFFERED
from tests.postgres.cluster import Cluster
from tests.team.issuer import CLIENT, SECRET, Issuer
from tests.team.world import TeamServer, TeamWorld, team_world

ROLES = ("reader", "writer", "curator", "owner")
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
HERE = "/t/acme/p/main"


@pytest.fixture(scope="module")
def acme(newest: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamWorld]:
    """Acme with a person of each role in `main`, and the project `secret` of another person."""
    with team_world(tmp_path_factory.mktemp("acme"), newest) as world:
        for role in ROLES:
            world.invite(role, role)
        world.invite("insider", "owner")
        world.server.admin("project", "secret", "--owner", "insider")
        world.server.admin("role", "insider", "none")
        say = {"content": "The vault of acme opens with the word quicksilver"}
        stored = world.server.call(world.tokens["insider"], "store_memory", "secret", **say)
        found = re.search(r"mem_\w+", str(stored))
        assert found
        world.secret = found[0]
        other = world.server.admin("create", "zenith", "--owner", "zoe")
        world.tokens["zoe"] = str(other["token"])
        yield world


def member_routes() -> list[tuple[str, str]]:
    """Every route of the application below a project, with each of its methods."""
    listed = routes(sentinel.database, TeamSettings(), sentinel.mcp)
    found = [
        (method, each.path.removeprefix(PROJECT))
        for each in listed
        if each.path.startswith(PROJECT)
        for method in sorted((each.methods or set()) - {"HEAD"})
    ]
    assert len(found) >= 6
    return found


def bodies(acme: TeamWorld, method: str, rest: str) -> list[Any]:
    """What is sent to a route: whatever could reveal a memory of another project."""
    if method == "GET":
        return [None]
    if rest == "/decisions":
        base = {"key": f"k{time.monotonic_ns()}", "base": ""}
        made = [
            {"decision": name, "id": acme.secret} for name in ("forget", "purge", "restore")
        ] + [{"decision": "revise", "id": acme.secret, "changes": {"pinned": True}}]
        return [{"decisions": [{**base, "decision": each}]} for each in made]
    calls = [
        {"name": "recall", "arguments": {"query": "quicksilver"}},
        {"name": "get_memory", "arguments": {"id": acme.secret}},
        {"name": "memory_related", "arguments": {"id": acme.secret}},
        {"name": "list_memories", "arguments": {"keyword": "quicksilver"}},
        {"name": "update_memory", "arguments": {"id": acme.secret, "title": "x"}},
        {"name": "forget", "arguments": {"id": acme.secret}},
        {"name": "restore", "arguments": {"id": acme.secret}},
    ]
    reads = {"method": "resources/read", "params": {"uri": f"ltm://memory/{acme.secret}"}}
    sent = [{"method": "tools/call", "params": each} for each in calls]
    return [{"jsonrpc": "2.0", "id": 1, **each} for each in [*sent, reads]]


def told(answer: tuple[int, dict[str, str], Any]) -> tuple[int, str, str]:
    """What of an answer could tell one case from another."""
    status, headers, said = answer
    kept = {name: value for name, value in headers.items() if name != "date"}
    return status, str(sorted(kept.items())), str(said)


@pytest.fixture(scope="module", params=["both guards", "queries alone"])
def at_acme(request: pytest.FixtureRequest, acme: TeamWorld) -> Iterator[TeamWorld]:
    """Acme as it is, and with row-level security taken away. The server is a process, from which
    the queries' own guard cannot be taken: tests/postgres does that."""

    def switch(word: str) -> None:
        with psycopg.connect(acme.cluster.url(acme.name)) as db:
            tables = "select tablename from pg_tables where schemaname = 'ltm'"
            for (table,) in db.execute(tables).fetchall():
                db.execute(f"alter table ltm.{table} {word} row level security".encode())

    if request.param == "queries alone":
        switch("disable")
    yield acme
    switch("enable")


@pytest.mark.parametrize(("method", "rest"), member_routes())
def test_a_foreign_project_is_answered_like_one_that_is_not_there(
    at_acme: TeamWorld, method: str, rest: str
) -> None:
    acme = at_acme
    for who, body in product((*ROLES, "anna", "zoe"), bodies(acme, method, rest)):
        answers = {
            told(acme.server.ask(method, f"{place}{rest}", acme.tokens[who], body))
            for place in ("/t/acme/p/secret", "/t/acme/p/unknown", "/t/nowhere/p/main")
        }
        assert len(answers) == 1, (who, body)
        ((status, _, said),) = answers
        assert status == 404
        assert "quicksilver" not in said


@pytest.mark.parametrize(("method", "rest"), member_routes())
def test_a_foreign_memory_is_answered_like_one_that_is_not_there(
    at_acme: TeamWorld, method: str, rest: str
) -> None:
    acme = at_acme
    unknown = "mem_" + "0" * 17
    body: Any
    for who, body in product(ROLES, bodies(acme, method, rest)):
        told_of = str(acme.server.ask(method, f"{HERE}{rest}", acme.tokens[who], body)[2])
        other: Any = body and json.loads(json.dumps(body).replace(acme.secret, unknown))
        expected = str(acme.server.ask(method, f"{HERE}{rest}", acme.tokens[who], other)[2])
        key = re.compile(r"'key': '\w+'")
        assert key.sub("", told_of).replace(acme.secret, unknown) == key.sub("", expected)
        assert "opens with" not in told_of


@pytest.mark.parametrize(("method", "rest"), member_routes())
def test_without_a_valid_token_every_route_answers_the_same(
    acme: TeamWorld, method: str, rest: str
) -> None:
    body: dict[str, Any] | None = {} if method == "POST" else None
    token = acme.tokens["writer"]
    for wrong in ("ltm_" + "x" * 43, token[:-1], f"{token}x", "eyJhbGciOiJub25lIn0.e30.", "ltm_"):
        places = (HERE, "/t/acme/p/secret", "/t/nowhere/p/x")
        answers = {told(acme.server.ask(method, f"{p}{rest}", wrong, body)) for p in places}
        assert len(answers) == 1
        assert {each[0] for each in answers} == {401}
    assert acme.server.ask(method, f"{HERE}{rest}", "", body)[0] == 401


def test_each_role_does_what_it_may_and_no_more(acme: TeamWorld) -> None:
    memory = {
        "id": "",
        "kind": "fact",
        "title": "t",
        "summary": "s",
        "content": "s",
        **dict.fromkeys(("created", "updated", "confirmed"), "2026-01-01T00:00:00Z"),
    }
    outcome: dict[str, list[bool]] = {}
    for number, role in enumerate(ROLES):
        name = f"mem_role{number}"
        decisions = [
            {"decision": "add", "memory": {**memory, "id": name}},
            {"decision": "revise", "id": name, "changes": {"pinned": True}},
            {"decision": "purge", "id": name},
        ]
        sent = [
            {"key": f"{role}-{at}", "base": "", "decision": each}
            for at, each in enumerate(decisions)
        ]
        path = f"{HERE}/decisions"
        said = acme.server.ask("POST", path, acme.tokens[role], {"decisions": sent})[2]
        outcome[role] = [not each["error"] for each in said["answers"]]
    assert outcome == {
        "reader": [False, False, False],
        "writer": [True, True, False],
        "curator": [True, True, True],
        "owner": [True, True, True],
    }
    listed = {
        role: {
            t["name"]
            for t in acme.server.ask("POST", f"{HERE}/mcp", acme.tokens[role], LIST)[2]["result"][
                "tools"
            ]
        }
        for role in ROLES
    }
    assert listed["writer"] == listed["owner"] == set(OFFERED)
    assert listed["reader"] == {"recall", "get_memory", "list_memories", "memory_related"}


def test_clients_of_each_revision_of_the_protocol_are_answered(acme: TeamWorld) -> None:
    def ask(method: str, params: dict[str, Any], **headers: str) -> Any:
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        place, token = f"{HERE}/mcp", acme.tokens["reader"]
        return acme.server.ask("POST", place, token, request, headers)[2]["result"]

    client, call = {"name": "x", "version": "1"}, {"name": "recall", "arguments": {"query": "x"}}
    for older in ("2025-03-26", "2025-06-18", "2025-11-25"):
        begun = {"protocolVersion": older, "capabilities": {}, "clientInfo": client}
        assert ask("initialize", begun)["protocolVersion"] == older
        assert not ask("tools/call", call, **{"MCP-Protocol-Version": older})["isError"]
    newest, prefix = "2026-07-28", "io.modelcontextprotocol"
    said = {f"{prefix}/clientInfo": client, f"{prefix}/clientCapabilities": {}}
    meta = {"_meta": {f"{prefix}/protocolVersion": newest, **said}}
    headers = {"MCP-Protocol-Version": newest, "Mcp-Method": "server/discover"}
    assert newest in ask("server/discover", meta, **headers)["supportedVersions"]
    headers |= {"Mcp-Method": "tools/call", "Mcp-Name": "recall"}
    assert ask("tools/call", {**call, **meta}, **headers)["resultType"] == "complete"


def test_a_member_who_is_taken_out_is_out_at_once(acme: TeamWorld) -> None:
    for how in ("none", "disabled"):
        token = acme.invite(f"guest-{how}")
        assert acme.server.ask("GET", HERE, token)[0] == 200
        acme.server.admin("role", f"guest-{how}", how, "--team", "acme")
        assert acme.server.ask("GET", HERE, token)[0] in (401, 404)
    token = acme.invite("loser")
    (listed,) = acme.server.admin("token", "loser", "--team", "acme")["tokens"]
    acme.server.admin("token", "loser", "--team", "acme", "--revoke", listed["id"])
    assert acme.server.ask("GET", HERE, token)[0] == 401


def test_what_an_operator_gets_wrong_changes_nothing(acme: TeamWorld) -> None:
    server, team = acme.server, ("--team", "acme")
    before = server.admin("project", *team)
    assert "there is a team 'acme' already" in server.refused("create", "acme", "--owner", "x")
    assert "needs a name" in server.refused("create", "blank", "--owner", " ")
    assert "there is no team 'blank'" in server.refused("project", "--team", "blank")
    # Invited again by mistake, a curator does not become a writer.
    assert "curator is curator of main already" in server.refused("invite", "curator", *team)
    known = ("--issuer", "https://id.example", "--subject", "77")
    again = server.admin("invite", "curator", *team, *known)
    assert (again["role"], again["token"]) == ("curator", "")
    assert server.admin("audit", *team)["audit"][0]["what"] == "identity set"
    assert server.admin("project", *team) == before
    assert "not an https address" in server.refused("serve", "--check", "--url", "http://a.example")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Length": "99999999"}, 413),
    ],
)
def test_what_a_page_could_send_is_refused_before_its_token_is_read(
    acme: TeamWorld, headers: dict[str, str], status: int
) -> None:
    answer = acme.server.ask("POST", f"{HERE}/mcp", acme.tokens["owner"], LIST, headers)
    assert answer[0] == status


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"decisions": 1},
        {"decisions": [1]},
        {"decisions": [{}] * 101},
        {"decisions": [{"key": "", "decision": {"decision": "forget", "id": "mem_x"}}]},
        {"decisions": [{"key": "a", "decision": {"decision": "drop"}}]},
        {"decisions": [{"key": "a\0", "decision": {"decision": "forget", "id": "mem_x"}}]},
        {"decisions": [{"key": "a", "decision": {"decision": "forget", "id": "'; drop table x"}}]},
    ],
)
def test_senseless_decisions_are_refused_and_change_nothing(acme: TeamWorld, body: Any) -> None:
    before = acme.memories()
    status, _, said = acme.server.ask("POST", f"{HERE}/decisions", acme.tokens["owner"], body)
    assert status == 400 or all(each["error"] for each in said["answers"])
    assert acme.memories() == before
    assert acme.server.ask("GET", "/health")[2] == {"status": "ok"}


# -- access tokens ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    made = Issuer()
    yield made
    made.close()


@pytest.fixture(scope="module", params=["signed", "introspected"])
def guarded(
    request: pytest.FixtureRequest, acme: TeamWorld, issuer: Issuer, tmp_path_factory: Any
) -> Iterator[TeamServer]:
    """A second server of the same database, which accepts tokens of the issuer."""
    words = ["--issuer", issuer.url]
    if request.param == "introspected":
        words += ["--introspect", f"{issuer.url}/introspect"]
    folder: Path = tmp_path_factory.mktemp(request.param)
    login = {"LTM_OAUTH_CLIENT_ID": CLIENT, "LTM_OAUTH_CLIENT_SECRET": SECRET}
    url = acme.cluster.url(acme.name)
    server = TeamServer(folder, url, words, login)
    acme.server.admin(
        "invite", f"sso-{request.param}", "--team", "acme", "--role", "curator",
        "--issuer", issuer.url, "--subject", f"4711-{request.param}",
    )  # fmt: skip
    issuer.subject = f"4711-{request.param}"
    yield server
    server.stop()


def test_a_client_is_told_where_tokens_come_from(guarded: TeamServer, issuer: Issuer) -> None:
    status, headers, _ = guarded.ask("POST", f"{HERE}/mcp", "", LIST)
    assert status == 401
    found = re.search(r'resource_metadata="([^"]+)"', headers["www-authenticate"])
    assert 'scope="ltm:read"' in headers["www-authenticate"]
    assert found
    place = found[1].removeprefix(guarded.url)
    assert place != found[1]
    said = guarded.ask("GET", place)[2]
    assert said["resource"] == f"{guarded.url}{HERE}/mcp"
    assert said["authorization_servers"] == [issuer.url]
    assert said["scopes_supported"] == ["ltm:read", "ltm:write", "ltm:curate"]


def test_an_issuer_is_named_as_it_names_itself(acme: TeamWorld, issuer: Issuer) -> None:
    assert acme.server.admin("serve", "--check", "--issuer", issuer.url)["issuer"] == issuer.url
    other = acme.server.refused("serve", "--check", "--issuer", f"{issuer.url}/")
    assert f"give that name: --issuer {issuer.url}\n" in other
    assert "--keys" in acme.server.refused("serve", "--check", "--issuer", acme.server.url)


def test_a_token_of_the_issuer_is_accepted_within_its_scopes(
    guarded: TeamServer, issuer: Issuer
) -> None:
    resource = f"{guarded.url}{HERE}/mcp"

    def call(scope: str, tool: str, **arguments: Any) -> tuple[int, str]:
        request = {**LIST, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        status, headers, _ = guarded.ask(
            "POST", f"{HERE}/mcp", issuer.token(resource, scope), request
        )
        return status, headers.get("www-authenticate", "")

    assert call("ltm:read", "recall", query="x")[0] == 200
    status, challenge = call("ltm:read", "store_memory", content="Scopes are ordered")
    assert status == 403
    assert 'error="insufficient_scope"' in challenge
    assert 'scope="ltm:read ltm:write"' in challenge
    assert "resource_metadata=" in challenge
    assert call("ltm:write", "store_memory", content="Scopes are ordered")[0] == 200
    assert call("openid ltm:write", "forget", id="mem_none")[0] == 403
    assert call("ltm:curate", "forget", id="mem_none")[0] == 200
    assert call("openid email", "recall", query="x")[0] == 403


def test_what_is_wrong_with_a_token_is_found(guarded: TeamServer, issuer: Issuer) -> None:
    resource, now = f"{guarded.url}{HERE}/mcp", int(time.time())
    tokens = {
        "for another resource": issuer.token("https://other.example/mcp"),
        "for another project": issuer.token(f"{guarded.url}/t/acme/p/secret/mcp"),
        "without audience": issuer.token(resource, aud=None),
        "over": issuer.token(resource, exp=now - 60),
        "not yet": issuer.token(resource, nbf=now + 600),
        "of another issuer": issuer.token(resource, iss="https://id.example"),
        "without subject": issuer.token(resource, sub=None),
    }
    for what, token in tokens.items():
        status, headers, _ = guarded.ask("POST", f"{HERE}/mcp", token, LIST)
        assert (what, status) == (what, 401)
        assert 'error="invalid_token"' in headers["www-authenticate"]
    status, _, said = guarded.ask(
        "POST", f"{HERE}/mcp", issuer.token(resource, sub="a stranger"), LIST
    )
    assert status == 403
    assert "a stranger" in said["hint"]
    assert guarded.ask("POST", f"{HERE}/mcp", issuer.token(resource), LIST)[0] == 200


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unsigned(said: Mapping[str, Any]) -> str:
    return encoded(json.dumps(said).encode())


def test_a_signature_is_checked_with_the_keys_of_the_issuer_alone(
    acme: TeamWorld, issuer: Issuer, tmp_path: Path
) -> None:
    server = TeamServer(tmp_path, acme.cluster.url(acme.name), ["--issuer", issuer.url])
    try:
        acme.server.admin(
            "invite", "signer", "--team", "acme", "--issuer", issuer.url, "--subject", "signer"
        )
        resource = f"{server.url}{HERE}/mcp"

        def status(token: str) -> int:
            return server.ask("POST", f"{HERE}/mcp", token, LIST)[0]

        def token(**said: Any) -> str:
            return issuer.token(resource, sub="signer", **said)

        assert status(token()) == 200
        public = issuer.keys[-1][1].public_key()
        pem = public.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        other = Issuer()
        other.close()
        assert status(token(key=other.keys[0][1])) == 401
        head, body, _ = token().split(".")
        head = unsigned({"alg": "HS256", "typ": "JWT", "kid": issuer.keys[-1][0]})
        forged = hmac.new(pem, f"{head}.{body}".encode(), "sha256").digest()
        assert status(f"{head}.{body}.{encoded(forged)}") == 401
        head = unsigned({"alg": "none", "kid": issuer.keys[-1][0]})
        assert status(f"{head}.{body}.") == 401
        # Tokens with unknown keys do not make the server ask the issuer each time.
        before = issuer.asked.count("/keys")
        issuer.rotate()
        assert [status(token()) for _ in range(5)] == [401] * 5
        assert issuer.asked.count("/keys") <= before + 1
    finally:
        server.stop()
