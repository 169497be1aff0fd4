"""Two statements one after the other, through each surface: the right outcome, and nothing lost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from ltm.capture.pipeline import Captured, capture
from ltm.capture.remember import RememberRequest, remember
from ltm.cli.app import ltm as app
from ltm.model import Filter
from ltm.state.session_log import SessionLog
from ltm.store.file_store import FileStore
from tests import figures
from tests.capture.pairs import ENOUGH, Pair, judged, on_the_disk, pairs
from tests.effort import ALL
from tests.mcp.wire import Wire
from tests.sessions.writing import Transcript
from tests.stores import file_store

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

    share, weak = judged(pairs()[::3], outcome)
    assert share >= ENOUGH
    assert not weak


def test_what_is_remembered_is_kept_and_has_the_right_outcome(tmp_path: Path) -> None:
    def outcome(number: int, pair: Pair) -> str:
        with closing(file_store(tmp_path / str(number))) as store:
            for text in (pair.first, pair.second):
                done = remember(store, RememberRequest(text), at=NOW)
        for text in (pair.first, pair.second):
            assert on_the_disk(tmp_path / str(number), text), pair
        return str(done.outcome)

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
        for text in (pair.first, pair.second):  # "everywhere" makes it one of the agent
            assert on_the_disk(folder, text) or on_the_disk(home / ".ltm" / "agents", text), pair
        for words, name in _ANSWERS:
            if re.search(f"^{words}", answer, re.MULTILINE):
                return name
        return "added"

    share, weak = judged(pairs()[1::3], outcome)
    assert share >= ENOUGH
    assert not weak


def test_captured_sessions_keep_every_statement(tmp_path: Path) -> None:
    """Of the statements that rules take for something to keep; which those are is another test."""
    found: list[Pair] = []
    outcomes: list[str] = []
    for number, pair in enumerate(pairs("en")[:: 1 if ALL else 2]):
        folder = tmp_path / str(number)
        texts = [f"Remember that {text}" for text in (pair.first, pair.second)]
        with closing(file_store(folder)) as store, closing(SessionLog(str(folder / "l.db"))) as log:
            done = [_captured(store, log, folder, text) for text in texts]
            memories = store.list(Filter(statuses=())).items
        kept = [each.added or each.reinforced for each in done]
        for each in memories:
            assert on_the_disk(folder, each.memory.text), pair
        if not all(kept) or len(memories) > 2:
            continue
        found.append(pair)
        disputed = any(each.memory.conflicts for each in memories)
        replaced = "extended" if pair.expect == "more" else "replaced"
        if done[1].reinforced:
            outcomes.append("confirmed")
        elif done[1].superseded:
            outcomes.append(replaced)
        else:
            outcomes.append("conflict" if disputed else "added")
    share, _ = judged(found, lambda number, _: outcomes[number])
    assert len(found) >= (150 if ALL else 75)
    assert share >= ENOUGH


def _captured(store: FileStore, log: SessionLog, folder: Path, text: str) -> Captured:
    name = f"session-{len(list(folder.glob('*.jsonl')))}"
    transcript = Transcript(folder / f"{name}.jsonl", name)
    transcript.user(text)
    return capture(store, log, name, str(transcript.path), now=NOW)
