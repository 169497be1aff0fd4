"""What a question and a text to keep cost does not grow with the memories: it is counted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.corpus import memories
from ltm.project.layout import places
from ltm.vault import codec
from ltm.vault.vault import Vault

SIZES = (1_100, 2_200)
"""Both larger than what is looked at whole, so that the same is done in both."""

COUNT = """
import collections, json, os, sqlite3, sys
from ltm.index import index
from ltm.mcp.call import tool_result

index.RACY_NS = 0  # else it is the clock that says which look counts the names again
folder, name, argument = sys.argv[1:4]
counted = collections.Counter()
real = sqlite3.connect

def connect(*given, **named):
    database = real(*given, **named)
    # What full-text search asks its own tables, one look a match, begins like a comment.
    database.set_trace_callback(lambda said: counted.update(statements=said[:2] != "--"))
    return database

sqlite3.connect = connect
words = "the class of an instance and its attributes"

def call(number):
    said = f"{words} {number}" if name == "store_memory" else words
    assert not tool_result(name, {argument: said}, folder)["isError"]

for number in range(8):  # the first of them opens everything
    call(f"first number {number * 7919}")
counted.clear()
sys.addaudithook(lambda event, given: event in ("open", "os.listdir") and counted.update([event]))
for number in range(8):
    call(f"later number {number * 104729}")
print(json.dumps(counted))
"""


def filled(folder: Path, count: int) -> dict[str, str]:
    """A home with so many memories; the environment of processes that use it."""
    project = folder / "project"
    project.mkdir(parents=True)
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "LTM_HOME": str(folder / ".ltm")}
    vault = Vault("private", places(str(project), environ=environ).private)
    vault.prepare()
    for memory in memories(count):
        Path(vault.path(codec.file_name(memory))).write_bytes(codec.to_bytes(memory))
    (folder / ".ltm" / "config.toml").write_text('[embed]\nbackend = "none"\n')
    return environ


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, dict[str, str]]:
    """A home of each size."""
    folders = {count: tmp_path_factory.mktemp(f"of-{count}") for count in SIZES}
    return {folder: filled(folder, count) for count, folder in folders.items()}


@pytest.mark.parametrize(("tool", "argument"), [("recall", "query"), ("store_memory", "content")])
def test_a_call_asks_and_opens_as_much_at_any_size(
    homes: dict[Path, dict[str, str]], tool: str, argument: str
) -> None:
    costs = []
    for folder, environ in homes.items():
        done = subprocess.run(
            [sys.executable, "-c", COUNT, str(folder / "project"), tool, argument],
            env=environ,
            capture_output=True,
            text=True,
            check=True,
        )
        costs.append(json.loads(done.stdout))
    # The files are looked at in rounds, and the smaller home begins a new one more often.
    small, large = costs
    assert all(large[what] <= small[what] <= large[what] + 2 for what in small | large)
    assert costs[0]["statements"] <= 8 * (26 if tool == "recall" else 170)


LOOKS = """
import collections, os, sys
from ltm.mcp.call import tool_result

folder, name, argument = sys.argv[1:4]
looks = collections.Counter()
real = os.stat

def stat(path, *given, dir_fd=None, **named):
    looks.update([path] if dir_fd is not None else [])
    return real(path, *given, dir_fd=dir_fd, **named)

for number in range(3):  # the first of them opens everything
    looks.clear()
    os.stat = stat
    said = f"the class of an instance {number}"
    assert not tool_result(name, {argument: said}, folder)["isError"]
    os.stat = real
print(min(looks.values()), max(looks.values()))
"""


@pytest.mark.parametrize(("tool", "argument"), [("recall", "query"), ("store_memory", "content")])
def test_a_call_looks_at_each_file_once(tmp_path: Path, tool: str, argument: str) -> None:
    environ = filled(tmp_path, 50)
    command = [sys.executable, "-c", LOOKS, str(tmp_path / "project"), tool, argument]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == "1 1\n"
