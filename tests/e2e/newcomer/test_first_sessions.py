"""The first sessions of people who move in, with the real client, its plugin and an empty home."""

from __future__ import annotations

import threading

import pytest

from tests.e2e.client import Harness, Reply, use, wait_until
from tests.e2e.newcomer.stores import KEPT, WRITTEN
from tests.e2e.product import assert_quiet, ltm, memories, told
from tests.transfer.test_claude_ltm import claude_ltm


@pytest.mark.every_client
@pytest.mark.parametrize("tool", WRITTEN)
def test_the_first_session_offers_the_import_and_the_next_one_knows(
    product: Harness, tool: str
) -> None:
    """What else a tool may have left, without the client: tests/e2e/newcomer/test_rows.py."""
    path = WRITTEN[tool](product.home, product.project)

    first = product.print_session("hello", ["Hi."])
    offer = "".join(each.text for each in first.injections("SessionStart"))
    assert "(/ltm:memory-import " in offer
    assert path.name in offer
    ltm(product, "import", str(path if product.project not in path.parents else product.project))
    second = product.print_session("hello again", ["Hi."])

    (text,) = told(second.requests[0])
    assert KEPT[tool] in text
    assert "memory-import " not in text
    assert_quiet(first)
    assert_quiet(second)


def test_the_old_commands_of_claude_ltm_do_what_they_did(product: Harness) -> None:
    claude_ltm(product.project / "old")
    ltm(product, "import", "old")
    run = r'{{re:(sh "[^"]*/run.sh" %s)}}'
    looked = [
        product.print_session(
            f"/ltm:{name}", [use("Bash", command=run % words), "Seen."], allowed=["Skill"]
        )
        for name, words in (("check", "doctor"), ("fix", "doctor --fix"))
    ]
    helped = product.print_session("/ltm:help", ["Seen."], allowed=["Skill"])
    stats = product.print_session("/ltm:memory-stats", ["Seen."], allowed=["Skill"])

    for session in looked:
        assert "in order" in str(session.requests[1].tool_results[-1])
    assert "/ltm:remember TEXT" in helped.requests[0].user_text
    assert "memories  " in helped.requests[0].user_text
    assert "confidence" in stats.requests[0].user_text
    for session in (*looked, helped, stats):
        assert_quiet(session)


def test_004_a_long_turn_is_saved_at_every_so_many_tool_calls(product: Harness) -> None:
    ltm(product, "config", "hooks.tools", "true")
    ltm(product, "config", "hooks.save_interval", "3")
    ltm(product, "setup")
    going_on = threading.Event()
    calls = [use("Bash", command=f"echo {number}") for number in range(3)]
    order = "From now on, always use pnpm instead of npm in this repository."
    running = product.start_print(order, [*calls, Reply("Still at it.", hold=going_on)])
    running.channel.wait_held()
    try:
        wait_until(lambda: memories(product), "what was said to be kept while the turn goes on")
    finally:
        going_on.set()
    session = running.finish()

    assert "pnpm" in memories(product)[0]["content"]
    assert_quiet(session)


def test_commands_without_a_prefix_work_in_the_client(harness: Harness) -> None:
    ltm(harness, "setup", "--commands")
    harness.print_session("Add a test for the parser, please", ["Done."])
    stash = r"{{re:([^\s`]+ stash --session \S+)}}"
    done = harness.print_session(
        "/stash parser",
        [use("Bash", command=f"{stash} -- 'parser'"), "Stashed."],
        allowed=["Skill"],
    )

    assert "parser" in done.requests[1].text
    assert [path.name for path in (harness.project / ".claude" / "stash").glob("*.md")] == [
        "parser.md"
    ]


def test_what_agents_called_before_is_kept_by_the_tools_of_today(product: Harness) -> None:
    """A client calls only what is listed, so a prompt with an old name leads to today's tool."""
    session = product.print_session(
        "save this with memory_save: the port is 8081",
        [use("*store_memory", content="The port is 8081", type="fact"), "Kept."],
    )

    assert session.mcp_calls("store_memory")[0].failed is False
    assert [each["kind"] for each in memories(product)] == ["fact"]
