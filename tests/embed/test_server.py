"""A server of embeddings: whatever it answers, a search goes on."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from ltm.embed.server import LONGEST, EmbeddingsApi
from ltm.errors import BadAnswer, ModelBusy, ModelFailed
from tests.embed.scripted import answer
from tests.llm.scripted import Reply, ScriptedApi


@pytest.fixture
def server() -> Iterator[ScriptedApi]:
    with ScriptedApi() as scripted:
        yield scripted


def api(server: ScriptedApi, key: str = "", timeout: float = 30.0) -> EmbeddingsApi:
    return EmbeddingsApi(server.url, key, "nomic-embed-text", timeout)


def sent(server: ScriptedApi) -> list[list[str]]:
    return [request["body"]["input"] for request in server.requests]


def test_each_text_gets_its_vector_at_unit_length_in_whatever_order_they_come(
    server: ScriptedApi,
) -> None:
    server.say(answer([1.0, 0.0]), answer([0.0, 2.0], [3.0, 0.0], order=[1, 0]))
    found = api(server).embed(["one", "two"])
    assert found.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert found.dtype == np.float32
    assert server.requests[-1]["path"] == "/v1/embeddings"
    assert server.requests[-1]["body"]["model"] == "nomic-embed-text"


def test_how_long_vectors_are_is_asked_once(server: ScriptedApi) -> None:
    server.say(answer([1.0, 0.0, 0.0]), answer([0.0, 1.0, 0.0]))
    embedder = api(server)
    assert (embedder.dimensions, embedder.dimensions) == (3, 3)
    embedder.embed(["one"])
    assert len(server.requests) == 2


def test_a_text_of_nothing_is_not_sent(server: ScriptedApi) -> None:
    server.say(answer([1.0, 0.0]), answer([0.0, 1.0]))
    found = api(server).embed(["", "one", "  "])
    assert found.tolist() == [[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    assert sent(server)[-1] == ["one"]


def test_no_secret_and_no_endless_text_leaves(server: ScriptedApi) -> None:
    server.say(answer([1.0, 0.0]), answer([0.0, 1.0], [1.0, 1.0]))
    secret = "ghp_" + "a1B2" * 9
    api(server).embed([f"the token is {secret}", "x" * 100_000])
    assert secret not in json.dumps(sent(server))
    assert len(sent(server)[-1][1]) <= LONGEST


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=b"not json"),
        Reply(body=b"[" * 100_000),
        Reply(body=b'{"data": 1}'),
        Reply(body=b'{"data": [{"embedding": "text"}]}'),
        answer([1.0], [1.0]),
        answer(),
        answer([1.0, 2.0], order=[5]),
        answer([]),
        answer([float("nan"), 1.0]),
        answer([1.0] * 5_000),
    ],
    ids=[
        *("no json", "deep", "no list", "no numbers", "too many", "too few", "of no text"),
        *("empty", "not a number", "too long"),
    ],
)
def test_an_answer_in_another_form_is_refused(server: ScriptedApi, reply: Reply) -> None:
    server.say(reply)
    with pytest.raises(BadAnswer):
        api(server).embed(["one"])


def test_vectors_that_change_their_length_are_no_answer(server: ScriptedApi) -> None:
    server.say(answer([1.0, 0.0]), answer([1.0, 0.0, 0.0]))
    with pytest.raises(BadAnswer):
        api(server).embed(["one"])


@pytest.mark.parametrize(
    ("status", "kind"), [(500, ModelBusy), (429, ModelBusy), (404, ModelFailed)]
)
def test_a_refusal_is_an_error_of_ltm(
    server: ScriptedApi, status: int, kind: type[ModelFailed]
) -> None:
    server.say(Reply(status=status))
    with pytest.raises(kind):
        api(server).embed(["one"])


def test_a_server_that_is_not_there_or_too_slow_is_an_error_of_ltm(server: ScriptedApi) -> None:
    with pytest.raises(ModelBusy):
        EmbeddingsApi("http://127.0.0.1:9", "", "m", 5.0).embed(["one"])
    go_on = threading.Event()
    server.say(Reply(before=go_on.wait))
    try:
        with pytest.raises(ModelFailed, match="gave no answer") as raised:
            api(server, timeout=0.05).embed(["one"])
        assert "ltm config embed.timeout" in raised.value.hint
    finally:
        go_on.set()


def test_a_server_that_failed_is_left_alone_for_a_while(server: ScriptedApi) -> None:
    """Every search would wait for it otherwise."""
    clock = [100.0]
    server.say(Reply(status=500), answer([1.0, 0.0]), answer([1.0, 0.0]))
    embedder = EmbeddingsApi(server.url, "", "m", 30.0, clock=lambda: clock[0])
    for _ in range(3):
        with pytest.raises(ModelFailed):
            embedder.embed(["one"])
    assert len(server.requests) == 1
    clock[0] += 60
    assert embedder.embed(["one"]).any()


def test_a_key_goes_to_the_server_and_never_over_plain_http_elsewhere(server: ScriptedApi) -> None:
    server.say(answer([1.0]), answer([1.0]))
    api(server, "sesame").embed(["one"])
    assert server.requests[-1]["headers"]["authorization"] == "Bearer sesame"
    with pytest.raises(ModelFailed, match="plain http"):
        EmbeddingsApi("http://embeddings.example", "sesame", "m", 5.0)
