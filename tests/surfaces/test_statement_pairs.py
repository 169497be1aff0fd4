"""Two statements one after the other, through each surface: the right outcome, and nothing lost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from ltm.capture.pipeline import capture
from ltm.core.model import Filter
from ltm.storage.sessionlog import SessionLog
from ltm.surfaces.cli.app import app
from tests import figures
from tests.capture.pairs import ENOUGH, Pair, judged, on_the_disk, pairs
from tests.sessions.writing import Transcript
from tests.stores import file_store
from tests.surfaces.mcp_wire import Wire

NOW = datetime(2026, 11, 16, tzinfo=UTC)


def test_the_table_is_large_and_speaks_six_languages() -> None:
    assert len(pairs()) >= 250
    assert len({pair.lang for pair in pairs()}) >= 6


def test_the_command_line_keeps_every_statement_and_says_what_became_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = CliRunner()

    def outcome(number: int, pair: Pair) -> str:
        home, project = tmp_path / f"h{number}", tmp_path / f"p{number}"
        project.mkdir()
        monkeypatch.setenv("LTM_HOME", str(home))
        monkeypatch.chdir(project)
        for text in (pair.first, pair.second):
            done = runner.invoke(app, ["remember", "--json", "--", text], catch_exceptions=False)
            assert done.exit_code == 0, (pair, done.output)
        for text in (pair.first, pair.second):
            assert on_the_disk(home, text), pair
        return str(json.loads(done.stdout)["action"])

    share, weak = judged(pairs(), outcome)
    figures.count("R25", pairs=len(pairs()), lost=0)
    assert share >= ENOUGH
    assert not weak


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Wire, Path]]:
    base = tmp_path_factory.mktemp("base")
    (base / "home").mkdir()
    with Wire(base, base / "home") as wire:
        wire.initialize({"roots": {}})
        yield wire, base / "home"


_ANSWERS = (
    ("Known already", "confirmed"),
    ("replaced by this fuller text: ", "extended"),
    ("replaced: ", "replaced"),
    ("conflicts with ", "conflict"),
    ("similar to ", "similar"),
)


def test_the_mcp_server_keeps_every_statement_and_says_what_became_of_it(
    server: tuple[Wire, Path], tmp_path: Path
) -> None:
    wire, home = server

    def outcome(number: int, pair: Pair) -> str:
        project = tmp_path / str(number)
        project.mkdir()
        wire.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
        wire.roots = [project.as_uri()]
        for text in (pair.first, pair.second):
            answer = wire.call("store_memory", content=text)
        (folder,) = (home / ".ltm" / "projects").glob(f"{number}-*")
        for text in (pair.first, pair.second):
            assert on_the_disk(folder, text), pair
        for words, name in _ANSWERS:
            if re.search(f"^{words}", answer, re.MULTILINE):
                return name
        return "added"

    share, weak = judged(pairs()[::3], outcome)
    assert share >= ENOUGH
    assert not weak


def test_captured_sessions_keep_every_statement(tmp_path: Path) -> None:
    def outcome(number: int, pair: Pair) -> str:
        folder = tmp_path / str(number)
        store = file_store(folder / "store")
        log = SessionLog(str(folder / "log.db"))
        for name, text in (("one", pair.first), ("two", pair.second)):
            transcript = Transcript(folder / f"{name}.jsonl", name)
            transcript.user(f"Please remember this:\n\n- {text}")
            done = capture(store, log, name, str(transcript.path), now=NOW)
        memories = store.list(Filter(statuses=())).items
        log.close()
        store.close()
        for each in memories:
            assert on_the_disk(folder, each.memory.text), pair
        if done.reinforced:
            return "confirmed"
        if done.superseded:
            return "replaced" if pair.expect == "change" else "extended"
        disputed = any(each.memory.conflicts for each in memories)
        return "conflict" if disputed else "added"

    english = [pair for pair in pairs("en") if len(pair.first.split()) > 3]
    share, _ = judged(english[::2], outcome)
    assert share >= 0.85
