"""The Messages API: what it is asked, and what each way of failing is to us."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ltm.errors import BadAnswer, ModelBusy, ModelFailed
from ltm.llm.backend import Answer
from ltm.llm.http_api import LARGEST, MODEL, MessagesApi
from tests.llm.scripted import Reply, ScriptedApi

KEY = "sk-ant-api03-not-a-real-key-but-long-enough"


def ask(url: str, *, key: str = KEY, model: str = "", timeout: float = 10.0) -> Answer:
    return MessagesApi(url, key, model).ask("be brief", "what is it?", most=50, timeout=timeout)


def test_a_question_is_one_message_with_the_key_in_its_header(server: ScriptedApi) -> None:
    server.say(Reply("It is.", usage={"input_tokens": 12, "output_tokens": 3}))
    assert ask(server.url) == Answer("It is.", 15)
    (request,) = server.requests
    assert request["path"] == "/v1/messages"
    assert request["headers"]["x-api-key"] == KEY
    assert request["headers"]["anthropic-version"] == "2023-06-01"
    assert request["body"] == {
        "model": MODEL,
        "max_tokens": 50,
        "system": "be brief",
        "messages": [{"role": "user", "content": "what is it?"}],
    }


def test_half_a_character_does_not_cost_the_question(server: ScriptedApi) -> None:
    """A transcript holds texts that were cut inside a pair; such JSON is refused as a whole."""
    MessagesApi(server.url, KEY, "").ask("", "a 🦊 and half \ud83e of one", most=5, timeout=10.0)
    (request,) = server.requests
    assert request["body"]["messages"][0]["content"] == "a 🦊 and half ? of one"


def test_a_server_of_ones_own_is_asked_without_a_key_for_its_own_model(server: ScriptedApi) -> None:
    """Traps 2.4 #10: neither the model nor the address is fixed."""
    ask(f"{server.url}/v1/", key="", model="qwen3:8b")
    (request,) = server.requests
    assert request["path"] == "/v1/messages"
    assert "x-api-key" not in request["headers"]
    assert request["body"]["model"] == "qwen3:8b"


def test_only_what_is_said_counts_and_tokens_from_a_cache_cost_too(server: ScriptedApi) -> None:
    usage = {"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 40, "x": "y"}
    thought = b'{"type":"thinking","thinking":"hm"}'
    body = b'{"content":[' + thought + b',{"type":"text","text":"a"},{"type":"text","text":"b"}]'
    server.say(Reply(body=body + b',"usage":' + repr(usage).replace("'", '"').encode() + b"}"))
    assert ask(server.url) == Answer("ab", 43)


def test_an_answer_that_does_not_say_what_it_cost_is_of_unknown_cost(server: ScriptedApi) -> None:
    server.say(Reply("x", usage=None), Reply("y", usage={"input_tokens": "many"}))
    assert ask(server.url).tokens is None
    assert ask(server.url).tokens is None


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413])
def test_a_refusal_is_a_failure_that_cost_nothing(server: ScriptedApi, status: int) -> None:
    server.say(Reply("because", status=status))
    with pytest.raises(ModelFailed, match=f"refused with {status}: because") as caught:
        ask(server.url)
    assert not isinstance(caught.value, ModelBusy)
    assert caught.value.cost == 0


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_a_server_that_is_busy_may_answer_later(server: ScriptedApi, status: int) -> None:
    server.say(Reply(status=status))
    with pytest.raises(ModelBusy):
        ask(server.url)


def test_a_server_that_is_not_there_may_be_there_later() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(ModelBusy, match="cannot be reached"):
        ask(f"http://127.0.0.1:{port}")


def test_a_redirect_is_not_followed_so_the_key_goes_nowhere_else(server: ScriptedApi) -> None:
    with ScriptedApi() as other:
        moved = {"location": f"{other.url}/v1/messages"}
        for status in (301, 302, 307, 308):
            server.say(Reply(status=status, headers=moved))
            with pytest.raises(ModelFailed, match=f"refused with {status}"):
                ask(server.url)
        assert other.requests == []


def test_the_key_is_in_no_error_even_if_the_server_repeats_it(server: ScriptedApi) -> None:
    server.say(Reply(f"invalid x-api-key {KEY}", status=401))
    with pytest.raises(ModelFailed) as caught:
        ask(server.url)
    assert "invalid x-api-key [key]" in str(caught.value)
    assert KEY not in repr(caught.value) + str(caught.value.hint)


def test_a_key_is_not_sent_in_the_clear_to_another_machine() -> None:
    with pytest.raises(ModelFailed, match=r"not sent to models\.example over plain http"):
        MessagesApi("http://models.example", KEY, "")
    MessagesApi("http://models.example", "", "")
    MessagesApi("https://models.example", KEY, "")


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "ftp://x.example", "x.example", "http://"]
)
def test_an_address_of_no_server_is_refused(address: str) -> None:
    with pytest.raises(ModelFailed, match="none of http or https"):
        MessagesApi(address, "", "")


def test_what_is_on_this_machine_is_not_asked_for_through_a_proxy(
    server: ScriptedApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedApi() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        ask(server.url)
        assert (len(server.requests), len(proxy.requests)) == (1, 0)


@pytest.mark.parametrize(
    "body",
    [b"", b"quota exceeded", b"[]", b"{}", b'{"content":null}', b'{"content":[1]}', b"\xff\xfe"],
)
def test_what_is_not_a_message_is_a_bad_answer(server: ScriptedApi, body: bytes) -> None:
    server.say(Reply(body=body))
    with pytest.raises(BadAnswer):
        ask(server.url)


def test_ten_megabytes_are_not_read(server: ScriptedApi) -> None:
    """Reliability R18."""
    server.say(Reply("x" * 10_000_000))
    with pytest.raises(BadAnswer, match=f"more than {LARGEST:,} bytes"):
        ask(server.url)


def test_a_server_that_hangs_is_left_after_the_time_it_was_given(server: ScriptedApi) -> None:
    """Reliability R18. What it may have cost nobody can tell."""
    answered = threading.Event()
    server.say(Reply("late", before=answered.wait))
    with pytest.raises(ModelFailed, match=r"no answer within 0\.3 seconds") as caught:
        ask(server.url, timeout=0.3)
    assert not isinstance(caught.value, ModelBusy)
    assert caught.value.cost is None
    answered.set()


@contextmanager
def trickle() -> Iterator[str]:
    """A server that never ends: a byte of a header again and again."""
    over = threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            try:
                connection.sendall(b"HTTP/1.1 200 OK\r\nx-slow: ")
                while not over.wait(0.02):
                    connection.sendall(b"z")
            except OSError:
                pass

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    over.set()
    thread.join()
    listening.close()


def test_a_server_that_sends_a_byte_now_and_then_has_no_more_time_than_others() -> None:
    with trickle() as url, pytest.raises(ModelFailed, match="no answer within"):
        ask(url, timeout=0.3)
