"""A vault as a folder of files: what is there, what is kept, and what a strange entry is."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm.errors import BadFile, Busy, Conflict, StorageFailed
from ltm.files import lock
from ltm.files.atomic import TEMP_SUFFIX
from ltm.store.open import move_all
from ltm.vault.vault import MAX_FILE, FileStat, Vault, modified

LEFT = f".x{TEMP_SUFFIX}"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault("private", str(tmp_path / "vault"))
    made.prepare()
    return made


def known(vault: Vault) -> list[tuple[str, int, int]]:
    return [(each.name, each.mtime, each.size) for each in vault.scan()]


def test_a_vault_that_is_not_there_is_empty_and_not_made_by_looking(tmp_path: Path) -> None:
    vault = Vault("private", str(tmp_path / "none"))
    assert not vault.exists()
    assert (vault.stamp(), vault.seal(), vault.names(), vault.scan()) == ("", "", [], [])
    assert vault.archived_of() == {}
    assert list(vault.leftovers()) == []
    vault.sweep()
    assert not vault.is_as([("a.md", 1, 1)])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("shared", "modes"), [(False, (0o600, 0o700)), (True, (0o644, 0o755))])
def test_only_a_shared_vault_is_for_others_to_read(
    tmp_path: Path, shared: bool, modes: tuple[int, int]
) -> None:
    vault = Vault("any", str(tmp_path / "vault"), shared=shared)
    vault.prepare()
    vault.write("a.md", b"words")
    kept = vault.archive("mem_a", 1, b"older words")
    file_mode, folder_mode = modes
    assert [os.stat(path).st_mode & 0o777 for path in (vault.path("a.md"), kept)] == [file_mode] * 2
    folders = (vault.memories, vault.archives)
    assert [os.stat(path).st_mode & 0o777 for path in folders] == [folder_mode] * 2


def test_what_was_written_is_seen_as_it_was_said(vault: Vault) -> None:
    before = vault.stamp()
    seen = vault.write("a.md", b"words")
    assert vault.scan() == [seen]
    assert (seen.name, seen.size, vault.read("a.md")) == ("a.md", 5, b"words")
    assert vault.stamp() != before
    assert vault.is_as([seen])
    for other in (
        FileStat("a.md", seen.mtime + 1, 5),
        FileStat("a.md", seen.mtime, 6),
        FileStat("b.md", 0, 0),
    ):
        assert not vault.is_as([other])


def test_only_markdown_in_plain_sight_is_a_memory(vault: Vault) -> None:
    for name in ("a.md", ".hidden.md", "a.txt", "md", LEFT):
        Path(vault.path(name)).write_text("x")
    assert vault.names() == ["a.md"]
    assert [each.name for each in vault.scan()] == ["a.md"]


def test_a_file_that_goes_while_one_looks_is_not_there(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.write("a.md", b"words")
    seen = known(vault)
    monkeypatch.setattr(vault, "names", lambda: ["a.md", "gone.md"])
    assert known(vault) == seen


def test_a_folder_that_cannot_be_listed_is_an_error_that_names_it(tmp_path: Path) -> None:
    """Taken for empty, it would make all memories look deleted."""
    vault = Vault("private", str(tmp_path))
    Path(vault.memories).write_text("")
    Path(vault.archives).write_text("")
    for look in (vault.names, vault.scan, lambda: vault.is_as([("a.md", 0, 0)])):
        with pytest.raises(StorageFailed, match="could not list the folder") as caught:
            look()
        assert caught.value.path == vault.memories
    with pytest.raises(StorageFailed, match="could not list the folder") as caught:
        vault.archived("mem_a")
    assert caught.value.path == vault.archives


class TestWritingOver:
    def test_what_is_as_it_was_read_is_replaced(self, vault: Vault) -> None:
        vault.write("a.md", b"old")
        vault.write("a.md", b"new", over=b"old")
        assert vault.read("a.md") == b"new"

    @pytest.mark.parametrize("now", [b"saved by a person", None])
    def test_what_a_person_saved_or_deleted_meanwhile_stands(
        self, vault: Vault, now: bytes | None
    ) -> None:
        if now is not None:
            vault.write("a.md", now)
        with pytest.raises(Conflict, match="changed elsewhere") as caught:
            vault.write("a.md", b"new", over=b"old")
        assert caught.value.path == vault.path("a.md")
        assert os.path.exists(vault.path("a.md")) == (now is not None)
        assert list(vault.leftovers()) == []

    def test_what_cannot_be_read_any_more_is_not_replaced(self, vault: Vault) -> None:
        Path(vault.path("a.md")).write_bytes(b"x" * (MAX_FILE + 1))
        with pytest.raises(BadFile, match="split it"):
            vault.write("a.md", b"new", over=b"old")
        assert os.path.getsize(vault.path("a.md")) == MAX_FILE + 1


@pytest.mark.parametrize("entry", ["link", "folder", "pipe", "giant"])
def test_what_is_not_a_plain_file_of_some_size_is_a_bad_file(vault: Vault, entry: str) -> None:
    path = vault.path("a.md")
    match entry:
        case "link":
            Path(vault.folder, "b").write_text("elsewhere")
            os.symlink(os.path.join(vault.folder, "b"), path)
        case "folder":
            os.mkdir(path)
        case "pipe":
            os.mkfifo(path)
        case "giant":
            Path(path).write_bytes(b"x" * (MAX_FILE + 1))
    with pytest.raises(BadFile) as caught:
        vault.read("a.md")
    assert caught.value.path == path


def test_the_largest_file_there_may_be_is_read_and_a_missing_one_is_told(vault: Vault) -> None:
    vault.write("a.md", b"x" * MAX_FILE)
    assert len(vault.read("a.md")) == MAX_FILE
    with pytest.raises(StorageFailed, match="could not read the file"):
        vault.read("b.md")


def test_a_files_age_is_that_of_its_last_write(vault: Vault) -> None:
    vault.write("a.md", b"words")
    os.utime(vault.path("a.md"), (0, 1_000_000_000.9))
    assert modified(vault.path("a.md")) == datetime.fromtimestamp(1_000_000_000, UTC)
    assert modified(vault.path("none.md")) is None
    os.utime(vault.path("a.md"), ns=(0, 2**62))
    assert modified(vault.path("a.md")) is not None


class TestTheArchive:
    def test_versions_are_kept_once_and_told_oldest_first(self, vault: Vault) -> None:
        paths = [vault.archive("mem_a", version, b"v%d" % version) for version in (10, 2, 1)]
        before = os.stat(paths[0]).st_ino
        assert vault.archive("mem_a", 10, b"v10") == paths[0]
        assert os.stat(paths[0]).st_ino == before
        vault.archive("mem_b", 1, b"other")
        assert vault.archived("mem_a") == [(1, paths[2]), (2, paths[1]), (10, paths[0])]
        assert [vault.read_archive(path) for _, path in vault.archived("mem_a")] == [
            b"v1",
            b"v2",
            b"v10",
        ]
        assert set(vault.archived_of()) == {"mem_a", "mem_b"}
        assert set(vault.archived_of({"mem_b", "mem_c"})) == {"mem_b"}

    def test_what_does_not_look_like_a_version_is_none(self, vault: Vault) -> None:
        for name in ("mem_a.md", "mem_a.vx.0123456789ab.md", "README.md", "mem_a.v1.txt"):
            Path(vault.archives, name).write_text("x")
        assert vault.archived_of() == {}

    def test_listed_once_it_is_what_it_was_and_what_was_added_here(self, vault: Vault) -> None:
        one = vault.archive("mem_a", 1, b"one")
        vault.list_once()
        two = vault.archive("mem_a", 2, b"two")
        by_others = Vault("private", vault.folder).archive("mem_a", 3, b"three")
        assert [path for _, path in vault.archived("mem_a")] == [one, two]
        os.unlink(one)  # purged by another process at this moment
        assert [path for _, path in vault.archived("mem_a")] == [two]
        vault.list_again()
        assert [path for _, path in vault.archived("mem_a")] == [two, by_others]

    def test_a_purge_takes_the_file_and_its_versions_and_no_others(self, vault: Vault) -> None:
        for name in ("a", "b"):
            vault.write(f"{name}.md", b"words")
            vault.archive(f"mem_{name}", 1, b"words")
        vault.list_once()
        Vault("private", vault.folder).archive("mem_a", 2, b"more words")
        vault.purge("a.md", "mem_a")
        assert vault.names() == ["b.md"]
        assert set(vault.archived_of()) == {"mem_b"}
        assert len(os.listdir(vault.archives)) == 1, "also not one that others kept meanwhile"


def test_unfinished_writes_are_found_anywhere_and_swept_where_they_are_made(vault: Vault) -> None:
    folders = (vault.folder, vault.memories, vault.archives)
    for folder in folders:
        Path(folder, LEFT).write_text("half")
    assert sorted(vault.leftovers()) == sorted(os.path.join(folder, LEFT) for folder in folders)
    vault.sweep()
    assert os.path.join(vault.folder, LEFT) not in vault.leftovers()


class TestMoving:
    @pytest.fixture
    def target(self, tmp_path: Path) -> Vault:
        return Vault("shared", str(tmp_path / "target"), shared=True)

    def test_everything_moves_byte_for_byte_with_its_versions(
        self, vault: Vault, target: Vault
    ) -> None:
        vault.write("a.mem_a.md", b"a")
        vault.write("b.mem_b.md", b"b\r\n\xff")
        vault.archive("mem_a", 1, b"older a")
        assert move_all(vault, target) == (["a.mem_a.md", "b.mem_b.md"], [])
        assert (target.read("a.mem_a.md"), target.read("b.mem_b.md")) == (b"a", b"b\r\n\xff")
        ((version, path),) = target.archived("mem_a")
        assert (version, target.read_archive(path)) == (1, b"older a")
        assert (os.stat(path).st_mode & 0o777) == 0o644
        assert vault.names() == []
        assert os.listdir(vault.archives) == []
        assert move_all(vault, target) == ([], [])

    def test_what_is_there_under_that_name_with_other_words_stays_on_both_sides(
        self, vault: Vault, target: Vault
    ) -> None:
        target.prepare()
        vault.write("a.mem_a.md", b"mine")
        target.write("a.mem_a.md", b"theirs")
        vault.archive("mem_a", 1, b"older mine")
        vault.write("b.mem_b.md", b"b")
        vault.archive("mem_b", 1, b"older b")
        assert move_all(vault, target) == (["b.mem_b.md"], ["a.mem_a.md"])
        assert (vault.read("a.mem_a.md"), target.read("a.mem_a.md")) == (b"mine", b"theirs")
        assert (set(vault.archived_of()), set(target.archived_of())) == ({"mem_a"}, {"mem_b"})

    def test_a_move_that_was_cut_short_is_finished(self, vault: Vault, target: Vault) -> None:
        target.prepare()
        for each in (vault, target):
            each.write("a.mem_a.md", b"a")
            each.archive("mem_a", 1, b"older a")
        assert move_all(vault, target) == (["a.mem_a.md"], [])
        assert vault.names() == []
        assert vault.archived_of() == {}
        assert target.read("a.mem_a.md") == b"a"

    def test_what_is_not_a_memory_stays_where_it_is(self, vault: Vault, target: Vault) -> None:
        os.mkdir(vault.path("folder.mem_f.md"))
        Path(vault.archives, "notes.txt").write_text("mine")
        assert move_all(vault, target) == ([], ["folder.mem_f.md"])
        assert os.listdir(vault.archives) == ["notes.txt"]
        assert not os.path.lexists(target.path("folder.mem_f.md"))

    def test_from_a_vault_that_is_not_there_nothing_comes_and_nothing_is_made(
        self, target: Vault, tmp_path: Path
    ) -> None:
        assert move_all(Vault("private", str(tmp_path / "none")), target) == ([], [])
        assert not target.exists()

    def test_a_vault_without_an_archive_moves_too(self, vault: Vault, target: Vault) -> None:
        os.rmdir(vault.archives)
        vault.write("a.mem_a.md", b"a")
        assert move_all(vault, target) == (["a.mem_a.md"], [])

    @pytest.mark.parametrize("busy", ["source", "target"])
    def test_nothing_moves_while_another_writes_to_either(
        self, vault: Vault, target: Vault, busy: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(lock, "PATIENCE", 0.0)
        target.prepare()
        vault.write("a.mem_a.md", b"a")
        other = Vault("other", (vault if busy == "source" else target).folder)
        with other.lock, pytest.raises(Busy):
            move_all(vault, target)
        assert (vault.names(), target.names()) == (["a.mem_a.md"], [])
