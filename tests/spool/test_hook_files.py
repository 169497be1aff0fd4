"""The small files around hooks: the noted Python, the log of errors, the text kept ready."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from ltm.errors import NotFound
from ltm.spool import hook_log, session_text
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

    def test_the_number_of_tool_calls_is_noted_beside_it(self, tmp_path: Path) -> None:
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
        assert "Stop: NotFound /x: number 2 (test_hook_files.py:" in line
        assert line[:2] == "20"

    def test_begins_anew_only_when_it_is_full(self, tmp_path: Path) -> None:
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


class TestTheTextKeptReady:
    ENVIRON = {"HOME": "/h"}

    def keep(self, home: Path, watched: list[Path], text: str = "told") -> None:
        stamps = session_text.stamps(str(path) for path in watched)
        session_text.save(str(home), "/p", self.ENVIRON, text, stamps)

    def test_holds_while_nothing_changes(self, tmp_path: Path) -> None:
        self.keep(tmp_path, [tmp_path / "absent", tmp_path])
        session_text.save(str(tmp_path), "/q", self.ENVIRON, "", {})
        assert (
            session_text.load(str(tmp_path), "/p", self.ENVIRON) is None
        )  # the folder itself changed
        self.keep(tmp_path, [tmp_path / "absent"], "tøld\n\udcff")
        assert session_text.load(str(tmp_path), "/p", self.ENVIRON) == "tøld\n\udcff"
        assert session_text.load(str(tmp_path), "/q", self.ENVIRON) == ""

    def test_holds_only_for_its_folder_and_environment(self, tmp_path: Path) -> None:
        self.keep(tmp_path, [])
        assert session_text.load(str(tmp_path), "/other", self.ENVIRON) is None
        assert session_text.load(str(tmp_path), "/p", {**self.ENVIRON, "LTM_AGENT": "bob"}) is None

    def test_ends_when_a_file_comes_goes_or_changes(self, tmp_path: Path) -> None:
        file = tmp_path / "file"
        for change in (
            lambda: file.write_text("new"),
            lambda: file.write_text("longer"),
            lambda: os.replace(tmp_path / "other", file),
            file.unlink,
        ):
            (tmp_path / "other").write_text("longer")
            self.keep(tmp_path, [file])
            assert session_text.load(str(tmp_path), "/p", self.ENVIRON) == "told"
            change()
            assert session_text.load(str(tmp_path), "/p", self.ENVIRON) is None

    def test_is_not_disturbed_by_what_git_does_in_its_folder(self, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()
        self.keep(tmp_path, [tmp_path / ".git"])
        (tmp_path / ".git" / "index.lock").write_text("")
        assert session_text.load(str(tmp_path), "/p", self.ENVIRON) == "told"

    def test_ends_after_half_a_day(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.keep(tmp_path, [])
        for later, text in (
            (session_text.HOLDS - 60, "told"),
            (session_text.HOLDS + 60, None),
            (-3600, None),
        ):
            now = time.time() + later
            with monkeypatch.context() as patch:
                patch.setattr(time, "time", lambda now=now: now)
                assert session_text.load(str(tmp_path), "/p", self.ENVIRON) == text

    @pytest.mark.parametrize("content", ["", "{", "[]", '{"text": 1}', '{"text": "x", "made": 1}'])
    def test_a_damaged_one_is_made_anew(self, tmp_path: Path, content: str) -> None:
        self.keep(tmp_path, [])
        (file,) = (tmp_path / "briefs").iterdir()
        file.write_text(content)
        assert session_text.load(str(tmp_path), "/p", self.ENVIRON) is None

    def test_is_gone_when_cleared(self, tmp_path: Path) -> None:
        self.keep(tmp_path, [])
        session_text.clear(str(tmp_path), days=1)
        assert session_text.load(str(tmp_path), "/p", self.ENVIRON) == "told"
        session_text.clear(str(tmp_path))
        assert list((tmp_path / "briefs").iterdir()) == []
        session_text.clear(str(tmp_path / "none"))

    def test_is_gone_when_cleared_though_the_clock_was_set_back(self, tmp_path: Path) -> None:
        """A purge clears them all: one that was written tomorrow may quote it as well."""
        self.keep(tmp_path, [])
        (file,) = (tmp_path / "briefs").iterdir()
        os.utime(file, (time.time() + 86_400, time.time() + 86_400))
        session_text.clear(str(tmp_path))
        assert list((tmp_path / "briefs").iterdir()) == []

    def test_goes_where_it_cannot_be_kept_without_a_word_and_leaves_nothing(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "briefs").write_text("no folder")
        self.keep(tmp_path, [])
        assert session_text.load(str(tmp_path), "/p", self.ENVIRON) is None
        (tmp_path / "briefs").unlink()
        self.keep(tmp_path, [])
        (file,) = (tmp_path / "briefs").iterdir()
        file.unlink()
        file.mkdir()
        self.keep(tmp_path, [])
        assert session_text.load(str(tmp_path), "/p", self.ENVIRON) is None
        assert list((tmp_path / "briefs").iterdir()) == [file]  # and no unfinished one beside it

    def test_what_cannot_be_cleared_is_not_in_the_way_of_the_others(self, tmp_path: Path) -> None:
        (tmp_path / "briefs" / "0").mkdir(parents=True)
        self.keep(tmp_path, [])
        (tmp_path / "briefs" / "zzz").mkdir()
        session_text.clear(str(tmp_path))
        assert sorted(os.listdir(tmp_path / "briefs")) == ["0", "zzz"]

    def test_only_what_is_older_than_so_many_days_is_cleared(self, tmp_path: Path) -> None:
        folder = tmp_path / "briefs"
        folder.mkdir()
        for name, days in (("young", 6.9), ("old", 7.1)):
            then = time.time() - days * 86_400
            (folder / name).write_text("{}")
            os.utime(folder / name, (then, then))
        session_text.clear(str(tmp_path), days=7)
        assert os.listdir(folder) == ["young"]

    def test_is_read_by_nobody_else_and_there_is_one_a_folder(self, tmp_path: Path) -> None:
        self.keep(tmp_path, [], "one")
        self.keep(tmp_path, [], "two")
        (file,) = (tmp_path / "briefs").iterdir()
        assert file.stat().st_mode & 0o777 == 0o600
        assert (tmp_path / "briefs").stat().st_mode & 0o777 == 0o700
        assert file.suffix == ".json"
