"""What a session was told is kept by its id, without a word of it, and goes when it is old."""

from __future__ import annotations

import os
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


def test_a_home_that_cannot_be_written_to_is_no_error(tmp_path: Path) -> None:
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
