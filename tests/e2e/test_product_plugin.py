"""The plugin comes, works on any machine, is updated and goes again, on the real client."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ltm import __version__

from .client import Harness, Script, use, wait_until
from .client.binary import labels
from .conftest import client_or_outcome
from .product import (
    assert_quiet,
    ltm,
    memories,
    memory_home,
    path_without_python,
    provide_python,
    ship,
    told,
    waiting_events,
    warm_up,
)

PORT = "We chose port 8081 because 8080 belongs to the proxy"
LONG = f"{PORT}, which cannot be moved before the contract ends"
OURS = "mcp__plugin_ltm_ltm"
PLUGIN = "ltm@ltm"
BUILD_PATIENCE = 300.0


def data_folder(harness: Harness, market: str = "ltm") -> Path:
    return harness.home / ".claude" / "plugins" / "data" / f"ltm-{market}"


def cached(harness: Harness, version: str = __version__) -> Path:
    """Where the client keeps its copy of a plugin from git."""
    return harness.home / ".claude" / "plugins" / "cache" / "ltm" / "ltm" / version


def store(harness: Harness, content: str) -> None:
    harness.print_session(
        "remember it", [use("*store_memory", content=content), "Stored."], allowed=[OURS]
    )


@pytest.mark.every_client
def test_the_checkout_is_valid_as_plugin_and_as_marketplace(
    harness: Harness, shipped: Path
) -> None:
    for folder in (shipped, shipped / "src"):
        said = harness.cli("plugin", "validate", str(folder), "--strict").stdout
        assert "Validation passed" in said
        assert "warning" not in said.lower()


def test_the_folder_of_a_checkout_is_a_marketplace_and_uninstalling_leaves_only_memories(
    harness: Harness, tmp_path: Path
) -> None:
    comes_and_goes(harness, tmp_path, git=False)


@pytest.mark.every_client
def test_a_repository_is_a_marketplace_and_uninstalling_leaves_only_memories(
    harness: Harness, tmp_path: Path
) -> None:
    comes_and_goes(harness, tmp_path, git=True)


def comes_and_goes(harness: Harness, tmp_path: Path, *, git: bool) -> None:
    """Install the plugin from a checkout, use it, and uninstall it."""
    checkout = ship(tmp_path / 'it\'s "a" $(touch X)')  # a shell must not read it as its own
    for name in (".venv/lib/big.so", "tests/test_it.py", "benchmarks/it.py"):
        (checkout / name).parent.mkdir(parents=True)
        (checkout / name).write_bytes(bytes(1_000_000))
    source = harness.publish(checkout, "ltm") if git else str(checkout)
    provide_python(harness)
    settings = harness.home / ".claude" / "settings.json"
    before = json.loads(settings.read_text())
    harness.cli("plugin", "marketplace", "add", source)
    harness.cli("plugin", "install", PLUGIN)
    copied = [path for path in cached(harness).rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in copied) < 3_250_000
    assert not [path for path in copied if path.name in ("big.so", "test_it.py", "it.py")]
    warm_up(cached(harness) if git else checkout / "src", tmp_path)
    store(harness, PORT)

    session = harness.print_session("hello $(touch X)", ["Hi `touch X`."])

    assert PORT in told(session.requests[0])[0]
    assert f"{OURS}__recall" in session.requests[0].tools
    assert_quiet(session)
    assert list(tmp_path.rglob("X")) == []

    harness.cli("plugin", "uninstall", PLUGIN)
    harness.cli("plugin", "marketplace", "remove", "ltm")
    after = harness.print_session("hello", ["Hi."])

    assert told(after.requests[0]) == []
    assert not any(OURS in name for name in after.requests[0].tools)
    assert_quiet(after)
    left = json.loads(settings.read_text())
    assert {key: value for key, value in left.items() if value} == before
    assert not data_folder(harness).exists()
    listed = (harness.home / ".claude" / "plugins" / "installed_plugins.json").read_text()
    assert "ltm" not in listed
    assert list(harness.project.iterdir()) == []
    wait_until(lambda: not harness.running(), "every process of ours to end")
    assert [each["content"] for each in memories(harness)] == [PORT]


def test_an_update_keeps_everything(harness: Harness, tmp_path: Path) -> None:
    checkout = ship(tmp_path / "checkout")
    provide_python(harness)
    harness.cli("plugin", "marketplace", "add", harness.publish(checkout, "ltm"))
    harness.cli("plugin", "install", PLUGIN)
    store(harness, PORT)
    newer = f"{__version__}.1"
    manifest = checkout / "src" / ".claude-plugin" / "plugin.json"
    manifest.write_text(manifest.read_text().replace(f'"{__version__}"', f'"{newer}"'))
    harness.publish(checkout, "ltm")

    harness.cli("plugin", "marketplace", "update", "ltm")
    harness.cli("plugin", "update", PLUGIN)
    warm_up(cached(harness, newer), tmp_path)

    session = harness.print_session("hello", ["Hi."])
    assert PORT in told(session.requests[0])[0]
    assert f"{OURS}__recall" in session.requests[0].tools
    assert_quiet(session)
    plugins = json.loads((harness.home / ".claude/plugins/installed_plugins.json").read_text())
    assert plugins["plugins"][PLUGIN][0]["version"] == newer


def test_each_slash_command_does_its_job_and_needs_no_further_permission(
    product: Harness,
) -> None:
    """Names several tools want for different things stand under ours (traps 2.6 #8)."""
    rules = ["Skill"]
    kept = product.print_session(
        f"/ltm:remember {PORT}",
        [use("*store_memory", content=PORT), "Kept as a decision."],
        allowed=rules,
    )
    found = product.print_session(
        "/ltm:recall which port",
        [use("*recall", query="which port"), use("*get_memory", id="{{re:mem_[0-9a-z]+}}"), "8081"],
        allowed=rules,
    )
    counted = product.print_session("/ltm:memory-stats", ["One memory."], allowed=rules)
    loaded = product.print_session("/ltm:load-memory", ["Noted."], allowed=rules)
    drawn = product.print_session("/ltm:memory-graph", ["```\n...```"], allowed=rules)
    consolidate = r"{{re:(sh \"[^\"]*/run.sh\" consolidate --all)}}"
    tidied = product.print_session(
        "/ltm:remember", [use("Bash", command=consolidate), "Nothing changed."], allowed=rules
    )
    looked = [
        product.print_session(
            f"/ltm:{name}",
            [use("Bash", command=rf'{{{{re:(sh "[^"]*/run.sh" {name})}}}}'), "Seen."],
            allowed=rules,
        )
        for name in ("doctor", "trust", "init")
    ]
    stands = product.print_session("/ltm:status", ["Seen."], allowed=rules)
    command = r"{{re:(sh \"[^\"]*/run.sh\" export) FILE}}"
    written = product.print_session(
        "/ltm:memory-export all.json",
        [use("Bash", command=f"{command} 'all.json'"), "Done."],
        allowed=rules,
    )

    cleared = product.print_session(
        "/ltm:clear-memory all",
        [
            use("Bash", command=r'{{re:(sh "[^"]*/run.sh" forget --dry-run --all)}}'),
            use("Bash", command=r'{{re:(sh "[^"]*/run.sh" forget) --dry-run}} --all --yes'),
            "You did not allow it.",
        ],
        allowed=rules,
    )

    assert "1 memory (1 decision) would be forgotten" in cleared.requests[1].text
    assert len(memories(product)) == 1  # only a person allows the real one
    assert PORT in kept.requests[0].user_text
    assert [call.failed for call in kept.mcp_calls()] == [False]
    assert PORT in found.mcp_calls("recall")[0].text
    assert "1 memory in use" in counted.requests[0].user_text
    assert len(loaded.requests) == 1
    assert PORT in loaded.requests[0].user_text
    assert "[decision] We chose port 8081" in drawn.requests[0].user_text
    assert "MEMORY.md" in tidied.requests[1].text
    assert re.search(r"(?m)^memories +1 active", stands.requests[0].user_text)
    for session, words in zip(looked, ("in order", "trust", ".claude/ltm"), strict=True):
        assert words in session.requests[1].text
    assert PORT in (product.project / "all.json").read_text()
    for session in (kept, found, counted, loaded, drawn, tidied, stands, *looked, written):
        assert_quiet(session)
        # Only a person calls them, so that they cost a session nothing until then.
        assert "ltm:forget" not in session.requests[0].text


@pytest.mark.every_client
def test_on_a_machine_without_python_a_session_says_what_to_install_and_goes_on(
    harness: Harness, shipped: Path, tmp_path: Path
) -> None:
    harness.install(shipped / "src", tapped=False)
    path = path_without_python(tmp_path / "bin")

    session = harness.print_session("hello", ["Hi."], env={"PATH": path})

    assert session.result == "Hi."
    assert_quiet(session)
    assert "Long-term memory is off in this session" in session.requests[0].text
    with harness.tui_session(["Hi."], env={"PATH": path}) as terminal:
        terminal.wait_text("LTM needs Python 3.11 or newer")
        terminal.ask("hello")
        assert "hook error" not in terminal.screen


def test_a_session_in_a_home_that_cannot_be_written_goes_on_as_always(
    product: Harness,
) -> None:
    home = memory_home(product)
    shutil.rmtree(home)
    home.write_text("a file where the folder should be")
    elsewhere = home.with_name("elsewhere")
    elsewhere.mkdir()

    session = product.print_session("hello", ["Hi."], env={"TMPDIR": str(elsewhere)})

    assert session.result == "Hi."
    assert_quiet(session)
    kept = {path.name.split(".")[1] for path in elsewhere.glob("ltm-spool-*/*.json")}
    assert {"SessionStart", "Stop", "SessionEnd"} <= kept


def test_a_client_that_we_started_ourselves_is_not_a_session(product: Harness) -> None:
    session = product.print_session("extract", ["[]"], env={"LTM_INSIDE": "1"})

    assert told(session.requests[0]) == []
    assert not (memory_home(product) / "spool").exists()


def test_options_that_need_hooks_of_their_own_get_them_from_setup(product: Harness) -> None:
    ltm(product, "remember", PORT)
    ltm(product, "config", "recall.per_prompt", "true")
    ltm(product, "config", "inject.subagents", "true")
    ltm(product, "setup")
    look = use("Agent", description="look", prompt="look around", subagent_type="general-purpose")

    session = product.print_session("which port do we use?", Script([look, "8081."]))

    assert_quiet(session)
    assert session.injections("UserPromptSubmit") == []
    assert PORT in session.channel.of_kind("subagent")[0].text
    assert len(told(session.requests[0])) == 1  # at the start, so not with the prompt again


@pytest.mark.every_client
def test_a_prompt_carries_a_memory_that_fits_it_and_carries_it_once(product: Harness) -> None:
    ltm(product, "remember", LONG)
    ltm(product, "config", "recall.per_prompt", "true")
    ltm(product, "config", "inject.max_chars", "200")  # too few to tell it at the start
    ltm(product, "setup")

    unrelated = product.print_session("write a poem about penguins on ice", ["Ice."])
    related = product.print_session("which port did we choose?", ["8081."])
    again = product.print_session(
        "so we chose which port, again?", ["8081."], resume=related.session_id
    )

    assert not [text for text in told(unrelated.requests[0]) if LONG in text]
    (carried,) = related.injections("UserPromptSubmit")
    assert LONG in carried.text
    for session in (related, again):  # the second time it is what the client repeats of the first
        assert len([text for text in told(session.requests[-1]) if LONG in text]) == 1
    for session in (unrelated, related, again):
        assert_quiet(session)


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Harness]:
    """The newest client, once: building an environment takes as long on any."""
    client = client_or_outcome(labels(os.environ)[-1], os.environ)
    with Harness(client, tmp_path / "world") as harness:
        yield harness


def path_with_bare_python(folder: Path) -> str:
    """A PATH with the usual small programs and a Python that has no package."""
    path = path_without_python(folder)
    (folder / "python3").symlink_to(os.path.realpath(sys.executable))
    return path


def test_the_first_session_of_an_empty_home_without_network_stores_recalls_and_lists(
    harness: Harness, tmp_path: Path
) -> None:
    checkout = ship(tmp_path / "checkout")
    harness.cli("plugin", "marketplace", "add", str(checkout))
    harness.cli("plugin", "install", PLUGIN)
    offline = {
        "PATH": path_with_bare_python(tmp_path / "bin"),
        "PIP_NO_INDEX": "1",
        "PIP_RETRIES": "0",
    }

    first = harness.print_session(
        "remember the port",
        [
            use("*store_memory", content=PORT),
            use("*recall", query="which port"),
            use("*list_memories"),
            "It is 8081.",
        ],
        allowed=[OURS],
        env=offline,
    )

    assert_quiet(first)
    assert f"{OURS}__store_memory" in first.requests[0].tools
    stored, recalled, listed = (request.tool_results[-1] for request in first.requests[1:4])
    assert "Remembered mem_" in str(stored)
    assert PORT in str(recalled)
    assert PORT in str(listed)
    wait_until(lambda: not waiting_events(harness), "the end of the session to be drained")
    data = data_folder(harness)

    def given_up() -> bool:
        path = data / "environment.json"
        return path.exists() and json.loads(path.read_text())["state"] == "failed"

    wait_until(given_up, "the packages to be given up", BUILD_PATIENCE)
    second = harness.print_session("hello", ["Hi."], env=offline)
    assert PORT in told(second.requests[0])[0]
    assert_quiet(second)
    assert list(data.glob("env-*")) == []
    wait_until(lambda: not harness.running(), "every process of ours to end")


def test_a_fresh_machine_gets_its_packages_while_everything_works_already(
    fresh: Harness, shipped: Path, tmp_path: Path
) -> None:
    fresh.install(shipped / "src")
    data = data_folder(fresh, "e2e-market")
    bare = {"PATH": path_with_bare_python(tmp_path / "bin")}

    def built() -> bool:
        path = data / "environment.json"
        state = json.loads(path.read_text()) if path.exists() else {}
        assert state.get("state") != "failed", (data / "environment.log").read_text()
        return state.get("state") == "ready"

    with fresh.tui_session([use("*store_memory", content=PORT), "Stored."], env=bare) as session:
        assert "store_memory" in session.wait_tools("ltm")
        session.ask("remember the port")
        assert session.mcp_calls("store_memory")[0].failed is False
        assert "hook error" not in session.screen
    wait_until(built, "the packages", BUILD_PATIENCE)

    with fresh.tui_session(["Hi."], env=bare) as tomorrow:
        tomorrow.wait_text("LTM now also searches by meaning")
        tomorrow.ask("hello")
    assert PORT in told(tomorrow.requests[0])[0]
    listed = fresh.print_session("/ltm:memory-graph", ["..."], allowed=["Skill"], env=bare)
    assert "[decision] We chose port 8081" in listed.requests[0].user_text
    assert_quiet(listed)
    wait_until(lambda: not fresh.running(), "every process of ours to end")
