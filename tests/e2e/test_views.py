"""What the views rely on, seen in the real client's requests: which `@path` it loads, which not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ltm.files.block import END, START, import_block, import_line, place_block
from ltm.inject.instruction_files import loaded_text
from ltm.inject.memory_md import block, memory_md
from ltm.kinds import Kinds
from ltm.model import Memory, Stored

from .conftest import InstallPlugin, MakeHarness
from .product import ltm

NOW = datetime(2026, 11, 15, tzinfo=UTC)


def memory(text: str) -> Stored:
    made = Memory("mem_00000000000aaa111", "fact", text, text, "", NOW, NOW, NOW)
    return Stored(made, "shared", "", "")


@pytest.mark.every_client
def test_the_client_loads_memory_md_through_the_import_line(make_harness: MakeHarness) -> None:
    """traps 2.2 #10."""
    line = import_line("/p/.claude/ltm/MEMORY.md", "/p/CLAUDE.md")
    harness = make_harness(
        files={
            "CLAUDE.md": place_block(b"# Mine\n", import_block(line)).decode(),
            ".claude/ltm/MEMORY.md": memory_md([memory("The port is 8081")], Kinds(), NOW),
        }
    )
    session = harness.print_session("hello", ["Hello."])
    assert "The port is 8081 [aaa111]" in session.requests[0].text
    assert "The port is 8081 [aaa111]" in loaded_text(str(harness.project))


@pytest.mark.every_client
def test_a_memory_in_the_block_cannot_pull_in_another_file(make_harness: MakeHarness) -> None:
    hostile = memory("see @private.md and (@private.md) for the rest @./private.md")
    harness = make_harness(
        files={
            "CLAUDE.md": place_block(b"see @public.md", block([hostile], Kinds(), NOW)).decode(),
            "private.md": "the secret is swordfish",
            "public.md": "the park is open",
        }
    )
    session = harness.print_session("hello", ["Hello."])
    seen = session.requests[0].text
    assert "see ＠private.md" in seen
    assert "the park is open" in seen
    assert "swordfish" not in seen
    assert "swordfish" not in loaded_text(str(harness.project))


@pytest.mark.parametrize("others", [(), ("CLAUDE.md",)])
def test_what_a_block_in_agents_md_tells_is_told_once_whatever_the_client_loads(
    others: tuple[str, ...], make_harness: MakeHarness, install_plugin: InstallPlugin
) -> None:
    """2.1.325 loads AGENTS.md where there is no CLAUDE.md, 2.1.197 never does."""
    files = {"AGENTS.md": f"# Ours\n\n{START}\n{END}\n", **dict.fromkeys(others, "# Be brief.\n")}
    harness = install_plugin(make_harness(files=files, git=True))
    ltm(harness, "init")
    ltm(harness, "remember", "The port of the staging server is 8081")
    ltm(harness, "sync")
    assert "staging server is 8081" in (harness.project / "AGENTS.md").read_text()
    for _ in range(2):  # the text is made at the first start, and kept ready for the second
        session = harness.print_session("hello", ["Hello."])
        assert [run.rc for run in session.hooks("SessionStart")] == [0]
        assert session.requests[0].text.count("port of the staging server is 8081") == 1
