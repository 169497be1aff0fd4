"""The guides for people who come from another tool: each new command they name is run."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from ltm.mcp.tools import tool_named
from tests.cli.runner import Ltm
from tests.e2e.newcomer.stores import STORES
from tests.transfer.importing import write

ROOT = Path(__file__).parent.parent.parent.parent
GUIDES = ROOT / "docs" / "guides"
TOOLS = {path.stem.removeprefix("coming-from-"): path for path in GUIDES.glob("coming-from-*.md")}
_CODE = re.compile(r"`([^`]+)`")
_TOOL = re.compile(r"(?:store_memory|recall|forget|[a-z]+_[a-z_]+)\Z")


def rows(guide: Path) -> list[tuple[str, str]]:
    """(there, here) of every table."""
    lines = guide.read_text(encoding="utf-8").splitlines()
    found = [re.split(r"(?<!\\)\|", line)[1:3] for line in lines if line.startswith("| ")]
    return [(there.strip(), here.strip()) for there, here in found if here.strip() != "here"]


def commands(guide: Path) -> list[str]:
    """Every command of LTM in a guide's tables and blocks, in order, each once."""
    text = guide.read_text(encoding="utf-8")
    blocks = [
        line.strip().partition("  #")[0].strip() for line in re.findall(r"^    (\S.*)$", text, re.M)
    ]
    named = [code for _, here in rows(guide) for code in _CODE.findall(here)]
    return list(dict.fromkeys(each for each in (*blocks, *named) if each.startswith("ltm ")))


def test_there_is_a_guide_for_each_of_the_five() -> None:
    assert set(TOOLS) == set(STORES) - {"auto-memory"}
    moving = (GUIDES / "moving.md").read_text(encoding="utf-8")
    for path in TOOLS.values():
        assert f"]({path.name})" in moving


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_each_new_command_of_a_guide_works(ltm: Ltm, tool: str) -> None:
    subprocess.run(["git", "init", "-q"], cwd=ltm.project, env=ltm.environ(), check=True)
    store = STORES[tool](ltm.home, ltm.project)
    ltm.run("import", str(store) if tool == "anima" else ".")
    write(ltm.home / "seeds" / "one.md", "# Tabs\n\nWe use tabs.\n")
    note = write(ltm.project / "note.md", "## Decisions\n- Keep YAML: people read it\n")
    session = '{"type":"user","sessionId":"s1","uuid":"u1","timestamp":"2026-11-01T10:00:00Z",'
    session += '"message":{"role":"user","content":"Add a test for the parser, please"}}\n'
    transcript = write(ltm.home / "s1.jsonl", session)
    ran = commands(TOOLS[tool])
    assert len(ran) > 8
    for command in ran:
        memory = ""
        if "ID" in command:
            memory = ltm.json("remember", f"The port of {command} is 8080", "--new")["id"]
            ltm.ok("edit", memory, "--content", f"The port of {command} is 8081")
        words = [
            {"ID": memory, "N": "1", "NAME": f"n{len(command)}", "NOTE": str(note),
             "FILE": str(ltm.home / "out.json"), "FOLDER": str(ltm.home / "seeds"),
             "PATH": str(ltm.home / "seeds")}.get(word, word.replace("~", str(ltm.home)))
            for word in shlex.split(command)[1:]
        ]  # fmt: skip
        if words[:1] == ["stash"]:
            words += ["--transcript", str(transcript)]
        if words[:1] == ["friction"]:
            words[1:] = [str(transcript)]
        if words[:1] == ["restore"] and "--version" not in words:
            ltm.ok("forget", memory)
        done = ltm.run(*words)
        # What was found and cannot be mended by a command is told with exit code 1.
        told = words[0] in ("doctor", "import") and done.returncode == 1 and done.stdout
        assert done.returncode == 0 or told, f"{command}: {done.stderr}"
        if words[0] == "uninstall":
            ltm.run("setup")


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_each_slash_command_and_tool_that_a_guide_names_is_there(tool: str) -> None:
    for there, here in rows(TOOLS[tool]):
        for code in _CODE.findall(here):
            if code.startswith("/ltm:"):
                name = code.removeprefix("/ltm:").split()[0]
                assert (ROOT / "src" / "commands" / f"{name}.md").is_file(), code
        if "old name" in here or here.startswith("the same"):
            names = [code for code in _CODE.findall(there) if _TOOL.match(code)]
            for name in names:
                assert tool_named(name) is not None, name
