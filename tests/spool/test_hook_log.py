"""The small files around hooks: the noted Python and the log of errors."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ltm.errors import NotFound
from ltm.spool import hook_log
from ltm.spool.hook_log import note_runtime, python, runtime, save_interval


@pytest.fixture(autouse=True)
def no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)


class TestTheNotedPython:
    def test_is_the_one_that_runs(self, tmp_path: Path) -> None:
        note_runtime(str(tmp_path), "1.0.0")
        assert python(runtime(str(tmp_path))) == sys.executable

    def test_stays_while_it_is_there_and_not_older(self, tmp_path: Path) -> None:
        (tmp_path / "runtime.json").write_text('{"python":"/bin/sh","version":"1.10.0"}')
        note_runtime(str(tmp_path), "1.9.0")
        note_runtime(str(tmp_path), "1.10.0")
        assert python(runtime(str(tmp_path))) == "/bin/sh"

    def test_gives_way_to_a_newer_version(self, tmp_path: Path) -> None:
        (tmp_path / "runtime.json").write_text('{"python":"/bin/sh","version":"1.9.0"}')
        note_runtime(str(tmp_path), "1.10.0")
        assert python(runtime(str(tmp_path))) == sys.executable

    def test_gives_way_when_it_is_gone(self, tmp_path: Path) -> None:
        (tmp_path / "runtime.json").write_text('{"python":"/gone/python","version":"9.0.0"}')
        assert python(runtime(str(tmp_path))) == ""
        note_runtime(str(tmp_path), "1.0.0")
        assert python(runtime(str(tmp_path))) == sys.executable

    def test_is_not_noted_when_its_path_is_only_in_the_environment(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PYTHONPATH", "src")
        note_runtime(str(tmp_path), "1.0.0")
        assert os.listdir(tmp_path) == []

    def test_is_not_noted_where_there_is_no_home(self, tmp_path: Path) -> None:
        note_runtime(str(tmp_path / "none"), "1.0.0")
        assert not (tmp_path / "none").exists()

    @pytest.mark.parametrize("content", ["", "nonsense", '{"python": 7}', '{"python": "sh"}'])
    def test_a_damaged_note_names_none(self, tmp_path: Path, content: str) -> None:
        (tmp_path / "runtime.json").write_text(content)
        assert python(runtime(str(tmp_path))) == ""

    def test_the_number_of_tool_calls_is_noted_next_to_it(self, tmp_path: Path) -> None:
        assert save_interval(runtime(str(tmp_path))) == 5
        note_runtime(str(tmp_path), "1.0.0", 12)
        assert save_interval(runtime(str(tmp_path))) == 12


class TestTheLogOfErrors:
    def test_its_last_line_says_what_kind_of_error_and_where(self, tmp_path: Path) -> None:
        for n in range(3):
            try:
                raise NotFound(f"number {n}", path="/x")
            except NotFound as error:
                hook_log.note(str(tmp_path), "Stop", error)
        line = hook_log.last(str(tmp_path))
        assert "Stop: NotFound /x: number 2 (test_hook_log.py:" in line
        assert line[:2] == "20"

    def test_begins_again_only_when_it_is_full(self, tmp_path: Path) -> None:
        for word in ("one", "two"):
            hook_log.note(str(tmp_path), word, OSError("x"))
        assert os.listdir(tmp_path) == ["hook.log"]
        assert (tmp_path / "hook.log").stat().st_mode & 0o777 == 0o600
        lines = (tmp_path / "hook.log").read_text().splitlines()
        assert [line.split()[1] for line in lines] == ["one:", "two:"]
        (tmp_path / "hook.log").write_bytes(b"x" * hook_log.LIMIT)
        hook_log.note(str(tmp_path), "three", OSError("x"))
        assert os.listdir(tmp_path) == ["hook.log"]
        hook_log.note(str(tmp_path), "four", OSError("x"))
        assert (tmp_path / "hook.log").read_text().count("\n") == 1
        assert (tmp_path / "hook.log.1").stat().st_size > hook_log.LIMIT

    def test_never_quotes_what_may_come_from_a_client(self, tmp_path: Path) -> None:
        hook_log.note(str(tmp_path), "Stop", ValueError("sk-ant-secret"))
        assert "secret" not in hook_log.last(str(tmp_path))

    def test_is_one_line_each_and_kept_small(self, tmp_path: Path) -> None:
        for _ in range(2500):
            hook_log.note(str(tmp_path), "Stop", OSError("a\nb" + "x" * 1000))
        sizes = [os.stat(tmp_path / name).st_size for name in os.listdir(tmp_path)]
        assert sorted(os.listdir(tmp_path)) == ["hook.log", "hook.log.1"]
        assert max(sizes) < hook_log.LIMIT + 1000
        assert "\n" not in hook_log.last(str(tmp_path))

    def test_is_nowhere_without_a_home(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        hook_log.note("", "Stop", OSError("x"))
        hook_log.note(str(tmp_path / "none"), "Stop", OSError("x"))
        assert os.listdir(tmp_path) == []
        assert hook_log.last(str(tmp_path)) == ""
