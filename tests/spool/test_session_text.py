"""What a session was told is kept without a word of it; its text is ready while nothing changes."""

from __future__ import annotations

import os
import time
from contextlib import closing
from pathlib import Path

import pytest

from ltm.config.config import load
from ltm.decisions import Purge
from ltm.project.layout import places
from ltm.spool import session_text
from ltm.spool.session_text import TOLD_FOLDER, mark_of, note_told, told
from ltm.store.open import open_store
from ltm.vault.vault import Vault
from tests.cli.runner import Ltm


def test_each_session_has_its_own(tmp_path: Path) -> None:
    home = str(tmp_path)
    note_told(home, "one", ["mem_a"])
    note_told(home, "one", ["mem_b"])
    note_told(home, "two", ["mem_c"])
    assert told(home, "one") == {"mem_a", "mem_b"}
    assert told(home, "two") == {"mem_c"}
    assert told(home, "three") == set()


def test_no_word_of_a_line_is_kept(tmp_path: Path) -> None:
    line = "~DECI:HIGH| the password is zanzibar"
    note_told(str(tmp_path), "one", [mark_of(line)])
    (file,) = (tmp_path / TOLD_FOLDER).iterdir()
    assert b"zanzibar" not in file.read_bytes()
    assert mark_of(f"{line}\n") in told(str(tmp_path), "one")
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("session", ["../../evil", "a/b", "x" * 5_000, "", "\udce4\x00"])
def test_no_name_of_a_session_leads_out_of_the_folder(tmp_path: Path, session: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    note_told(str(home), session, ["mem_a"])
    assert told(str(home), session) == {"mem_a"}
    assert [each.name for each in tmp_path.iterdir()] == ["home"]
    assert [each.name for each in home.iterdir()] == [TOLD_FOLDER]


def test_sessions_of_long_ago_are_let_go_of_when_another_begins(tmp_path: Path) -> None:
    home = str(tmp_path)
    note_told(home, "old", ["mem_a"])
    (file,) = (tmp_path / TOLD_FOLDER).iterdir()
    os.utime(file, (0, 0))
    note_told(home, "new", ["mem_b"])
    assert told(home, "old") == set()
    assert told(home, "new") == {"mem_b"}


def test_a_home_that_cannot_be_written_to_is_not_an_error(tmp_path: Path) -> None:
    (tmp_path / TOLD_FOLDER).write_text("a file in the way")
    note_told(str(tmp_path), "one", ["mem_a"])
    assert told(str(tmp_path), "one") == set()


def test_a_text_of_what_has_changed_since_it_was_read_is_not_kept(tmp_path: Path) -> None:
    """Such as one that a background process made while its memory was purged."""
    memory = tmp_path / "memory.md"
    memory.write_text("zanzibar")
    seen = session_text.stamps([str(memory)])
    memory.unlink()
    session_text.save(str(tmp_path), "/p", {}, "zanzibar", seen)
    assert list((tmp_path / session_text.TEXTS_FOLDER).iterdir()) == []


def test_a_text_that_is_kept_while_its_memory_is_purged_goes_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ltm: Ltm
) -> None:
    made = ltm.json("remember", "The key to the shed is called zanzibar")
    home = str(ltm.home / ".ltm")

    class Slow(Vault):
        def purge(self, name: str, memory_id: str) -> None:
            session_text.save(home, "/p", {}, "zanzibar", session_text.stamps([made["path"]]))
            super().purge(name, memory_id)

    monkeypatch.setattr("ltm.store.open.Vault", Slow)
    where = places(str(ltm.project), environ={"LTM_HOME": home, "HOME": home})
    with closing(open_store(where, load(where.home, where.settings))) as store:
        store.apply(Purge(made["id"]))
    assert list((ltm.home / ".ltm" / session_text.TEXTS_FOLDER).iterdir()) == []


class TestTheTextKeptReady:
    ENVIRON = {"HOME": "/h"}

    def keep(self, home: Path, watched: list[Path], text: str = "told") -> None:
        stamps = session_text.stamps(str(path) for path in watched)
        session_text.save(str(home), "/p", self.ENVIRON, text, stamps, message="LTM: 1")

    def test_holds_while_nothing_changes(self, tmp_path: Path) -> None:
        self.keep(tmp_path, [tmp_path / "absent", tmp_path])
        session_text.save(str(tmp_path), "/q", self.ENVIRON, "", {}, message="LTM: 1")
        assert (
            session_text.load(str(tmp_path), "/p", self.ENVIRON) is None
        )  # the folder itself changed
        self.keep(tmp_path, [tmp_path / "absent"], "tøld\n\udcff")
        assert session_text.load(str(tmp_path), "/p", self.ENVIRON) == ("tøld\n\udcff", "LTM: 1")
        assert session_text.load(str(tmp_path), "/q", self.ENVIRON) == ("", "LTM: 1")

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
            assert session_text.load(str(tmp_path), "/p", self.ENVIRON) == ("told", "LTM: 1")
            change()
            assert session_text.load(str(tmp_path), "/p", self.ENVIRON) is None

    def test_is_not_disturbed_by_what_git_does_in_its_folder(self, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()
        self.keep(tmp_path, [tmp_path / ".git"])
        (tmp_path / ".git" / "index.lock").write_text("")
        assert session_text.load(str(tmp_path), "/p", self.ENVIRON) == ("told", "LTM: 1")

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
                assert session_text.load(str(tmp_path), "/p", self.ENVIRON) == (
                    text and (text, "LTM: 1")
                )

    @pytest.mark.parametrize("content", ["", "{", "[]", '{"text": 1}', '{"text": "x", "made": 1}'])
    def test_a_damaged_one_is_made_again(self, tmp_path: Path, content: str) -> None:
        self.keep(tmp_path, [])
        (file,) = (tmp_path / "briefs").iterdir()
        file.write_text(content)
        assert session_text.load(str(tmp_path), "/p", self.ENVIRON) is None

    def test_is_gone_when_cleared(self, tmp_path: Path) -> None:
        self.keep(tmp_path, [])
        session_text.clear(str(tmp_path), days=1)
        assert session_text.load(str(tmp_path), "/p", self.ENVIRON) == ("told", "LTM: 1")
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

    def test_is_read_by_no_other_user_and_there_is_one_a_folder(self, tmp_path: Path) -> None:
        self.keep(tmp_path, [], "one")
        self.keep(tmp_path, [], "two")
        (file,) = (tmp_path / "briefs").iterdir()
        assert file.stat().st_mode & 0o777 == 0o600
        assert (tmp_path / "briefs").stat().st_mode & 0o777 == 0o700
        assert file.suffix == ".json"
