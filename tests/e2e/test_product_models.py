"""The user's own client as our model: it answers, and nobody notices that it was asked."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from ltm.errors import ModelFailed
from ltm.llm.claude_cli import Claude
from tests.effort import ALL

from .client import Harness, PrintSession, Reply, Rule, Script, wait_until
from .client.api import Channel
from .client.deadline import PATIENCE
from .client.tap import LOG_VARIABLE
from .product import assert_quiet, ltm, memories, memory_home

PARSER = "The parser module must stay pure because the tests replay it"
TALK = f"{PARSER}. {'Let us build the importer now, and then the report of last month. ' * 4}"
FOUND = "The parser module stays pure, since tests replay it"
"""In words that only the model uses."""

ANSWER = json.dumps([{"kind": "architecture", "content": FOUND, "tags": ["parser"]}])


@pytest.fixture
def switched_on(product: Harness) -> Harness:
    """A user of the plugin whose own client is on the PATH, and who lets it help."""
    bin_folder = product.base / "bin"
    bin_folder.mkdir()
    (bin_folder / "claude").symlink_to(product.client.binary)
    ltm(product, "config", "llm.backend", "claude")
    return product


def path(harness: Harness) -> str:
    return f"{harness.base / 'bin'}{os.pathsep}{os.environ['PATH']}"


def traces(harness: Harness) -> dict[str, Any]:
    """Whatever a client keeps of sessions, projects and prompts, and could show in a list."""
    claude = harness.home / ".claude"
    state = json.loads((harness.home / ".claude.json").read_text("utf-8"))
    history = claude / "history.jsonl"
    return {
        "files": sorted(
            str(each)
            for each in claude.rglob("*")
            if each.is_file() and not {"plugins", "backups"} & set(each.parts)
        ),
        "transcripts": [str(each) for each in sorted(claude.glob("projects/**/*.jsonl"))],
        "folders": [each.name for each in sorted(claude.glob("projects/*"))],
        "projects": sorted(state["projects"]),
        "history": history.read_text("utf-8") if history.exists() else "",
    }


def side_requests(session: PrintSession) -> list[str]:
    return [request.text for request in session.channel.of_kind("side")]


@pytest.mark.every_client
def test_a_session_is_read_by_the_users_own_client_without_a_hook_or_a_trace(
    switched_on: Harness,
) -> None:
    """Peers: 452 of 518 entries of `--resume` were a tool's own calls; 579 child sessions."""
    script = Script(["Understood."], rules=[Rule(ANSWER, kind="side")])
    session = switched_on.print_session(TALK, script, env={"PATH": path(switched_on)})
    assert_quiet(session)
    at_end = traces(switched_on)
    found = wait_until(
        lambda: [each for each in memories(switched_on) if each["content"] == FOUND],
        "the memory that the model found",
    )

    assert found[0]["kind"] == "architecture"
    assert found[0]["source"]["trust"] == "user"
    assert found[0]["source"]["session"] == session.session_id
    assert PARSER in side_requests(session)[0]
    assert len(side_requests(session)) == 1
    # All events of all hooks, the user's and ours, are of the user's own session.
    assert {event["session_id"] for event in session.fired()} == {session.session_id}
    assert {hook.payload["session_id"] for hook in session.hooks()} == {session.session_id}
    assert traces(switched_on) == at_end
    assert [Path(each).stem for each in at_end["transcripts"]] == [session.session_id]
    status = json.loads(ltm(switched_on, "status", "--json"))["llm"]
    assert (status["calls_today"], status["waiting"], status["given_up"]) == (1, 0, [])
    assert status["tokens_today"] > 0

    again = switched_on.print_session("hello", ["Hi."])

    assert FOUND in again.requests[0].text


class Call:
    """One call of the user's client by us, with recorders for all hooks."""

    def __init__(self, harness: Harness, *rules: Rule) -> None:
        logs = harness.logs / "call"
        self.taps = Path(f"{logs}-tap.jsonl")
        self.channel: Channel = harness._api.open(Script([], rules=rules), Path(f"{logs}-api"))
        self.harness = harness
        self.environ = harness.env(
            ANTHROPIC_BASE_URL=self.channel.base_url,
            PATH=path(harness),
            **{LOG_VARIABLE: str(self.taps)},
        )

    def ask(self, timeout: float = PATIENCE) -> str:
        backend = Claude(str(memory_home(self.harness)), self.environ, "")
        return backend.ask("be brief", "what is it?", most=900, timeout=timeout).text


@pytest.mark.every_client
def test_our_call_is_bare_and_a_plain_one_would_not_be(switched_on: Harness) -> None:
    """The second half is what makes the first worth something: these recorders do record."""
    before = traces(switched_on)
    ours = Call(switched_on, Rule("It is.", kind="side"))
    assert ours.ask() == "It is."
    (request,) = ours.channel.of_kind("side")
    assert request.tools == []
    assert request.body["max_tokens"] == 900
    assert "be brief" in request.system_text
    assert not ours.taps.exists()
    assert traces(switched_on) == before

    plain = subprocess.run(
        ["claude", "-p", "what is it?"],
        cwd=memory_home(switched_on),
        env=ours.environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert plain.returncode == 0, plain.stderr
    assert '"SessionStart"' in ours.taps.read_text("utf-8")
    assert len(traces(switched_on)["transcripts"]) == len(before["transcripts"]) + 1


def test_no_list_of_sessions_shows_our_call_while_it_runs(switched_on: Harness) -> None:
    go_on = threading.Event()
    call = Call(switched_on, Rule(Reply("It is.", hold=go_on), kind="side"))
    answers: list[str] = []
    asking = threading.Thread(target=lambda: answers.append(call.ask()))
    asking.start()
    call.channel.wait_held()
    listed = switched_on.cli("agents", "--json").stdout
    go_on.set()
    asking.join()
    assert answers == ["It is."]
    assert json.loads(listed) == []


def test_a_call_that_takes_too_long_leaves_nothing_behind(switched_on: Harness) -> None:
    before = traces(switched_on)
    call = Call(switched_on, Rule(Reply("never", hold=threading.Event()), kind="side"))
    for seconds in (3, 15, 60):  # a busy machine may need longer until the client asks
        with pytest.raises(ModelFailed, match="no answer within"):
            call.ask(timeout=seconds)
        if call.channel.of_kind("side"):
            break
    assert call.channel.of_kind("side")
    assert traces(switched_on) == before


@pytest.mark.parametrize(
    ("status", "said"), [(401, "401"), (529, "529"), *([(429, "429")] if ALL else [])]
)
def test_what_the_client_says_of_a_failing_api_is_not_an_answer(
    switched_on: Harness, status: int, said: str
) -> None:
    script = Script(["Understood."], rules=[Rule(Reply(status=status), kind="side")])
    switched_on.print_session(TALK, script, env={"PATH": path(switched_on)})

    def waits() -> dict[str, Any]:
        told: dict[str, Any] = json.loads(ltm(switched_on, "status", "--json"))["llm"]
        return told if told["error"] else {}

    told = wait_until(waits, "the failure to be told")
    assert told["waiting"] == 1
    assert said in told["error"]
    assert not any("API" in each["content"] for each in memories(switched_on))


def test_a_question_is_answered_by_the_users_own_client(switched_on: Harness) -> None:
    memory = json.loads(ltm(switched_on, "remember", PARSER, "--json"))["id"]
    call = Call(switched_on, Rule(f"Because the tests replay it [{memory}].", kind="side"))
    asked = json.loads(ltm(switched_on, "ask", "why is it pure?", "--json", env=call.environ))
    assert asked["answer"] == f"Because the tests replay it [{memory}]."
    assert asked["cited"] == [memory]
