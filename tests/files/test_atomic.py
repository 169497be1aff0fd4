"""A write is whole and private, or it did not happen."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import time
from pathlib import Path

import pytest

from ltm.errors import Refused, StorageFailed
from ltm.files.atomic import (
    is_inside,
    is_temporary,
    make_folder,
    read_plain,
    remove_file,
    sweep,
    write_file,
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    write_file(str(path), b"old")
    write_file(str(path), b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.md"]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_modes_do_not_depend_on_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        make_folder(str(tmp_path / "private" / "deep"))
        write_file(str(tmp_path / "private" / "deep" / "f"), b"x")
        write_file(str(tmp_path / "shared"), b"x", mode=0o644)
    finally:
        os.umask(before)
    assert mode(tmp_path / "private" / "deep" / "f") == 0o600
    assert mode(tmp_path / "shared") == 0o644
    assert mode(tmp_path / "private") == mode(tmp_path / "private" / "deep") == 0o700


def test_a_write_into_a_missing_folder_names_the_path(tmp_path: Path) -> None:
    path = tmp_path / "none" / "a.md"
    with pytest.raises(StorageFailed) as caught:
        write_file(str(path), b"x")
    assert str(path) in str(caught.value)


def test_a_symlink_at_the_target_is_replaced_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"theirs")
    link = tmp_path / "a.md"
    link.symlink_to(outside)
    write_file(str(link), b"ours")
    assert outside.read_bytes() == b"theirs"
    assert not link.is_symlink()
    assert link.read_bytes() == b"ours"


def test_a_file_where_a_folder_is_needed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"")
    with pytest.raises(StorageFailed, match="a file stands where a folder is needed"):
        make_folder(str(tmp_path / "x"))


def test_removing_what_is_not_there_says_so(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    assert remove_file(str(tmp_path / "a"))
    assert not remove_file(str(tmp_path / "a"))


def test_only_our_own_temporary_names_count_as_such() -> None:
    assert is_temporary(".a.md.0123456789ab.tmp")
    assert not is_temporary("notes.tmp")
    assert not is_temporary(".hidden.md")


def test_what_a_dead_writer_left_is_swept_and_what_a_live_one_writes_is_not(
    tmp_path: Path,
) -> None:
    dead = tmp_path / ".a.md.0123456789ab.tmp"
    dead.write_bytes(b"half")
    alive: list[str] = []

    def look() -> None:
        sweep(str(tmp_path))
        alive.extend(name for name in os.listdir(tmp_path) if is_temporary(name))

    write_file(str(tmp_path / "b.md"), b"whole", check=look)
    assert len(alive) == 1
    assert sorted(os.listdir(tmp_path)) == ["b.md"]
    assert (tmp_path / "b.md").read_bytes() == b"whole"


def test_sweeping_follows_no_link_and_waits_for_no_pipe(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"theirs")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / ".link.0123456789ab.tmp").symlink_to(outside)
    os.mkfifo(folder / ".pipe.0123456789ab.tmp")
    sweep(str(folder))
    sweep(str(tmp_path / "nowhere"))
    assert outside.read_bytes() == b"theirs"


def test_the_last_moment_can_still_stop_a_write(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"old")

    def refuse() -> None:
        raise Refused("not now")

    with pytest.raises(Refused):
        write_file(str(path), b"new", check=refuse)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.md"]


def test_an_unfinished_file_waits_where_it_was_told_to(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    seen: list[str] = []
    write_file(
        str(tmp_path / "deep" / "a.md"),
        b"x",
        staging=str(tmp_path),
        check=lambda: seen.extend(os.listdir(tmp_path)),
    )
    assert sum(is_temporary(name) for name in seen) == 1
    assert os.listdir(tmp_path / "deep") == ["a.md"]


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="there is no second disk here")
def test_a_waiting_place_on_another_disk_is_done_without(tmp_path: Path) -> None:
    if os.stat("/dev/shm").st_dev == os.stat(tmp_path).st_dev:
        pytest.skip("there is no second disk here")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        write_file(str(tmp_path / "a.md"), b"x", staging=other)
        assert os.listdir(other) == []
    assert os.listdir(tmp_path) == ["a.md"]
    assert (tmp_path / "a.md").read_bytes() == b"x"


def test_the_longest_name_a_disk_allows_can_be_written(tmp_path: Path) -> None:
    name = "🎇" * 62 + ".md"
    write_file(str(tmp_path / name), b"x")
    assert os.listdir(tmp_path) == [name]


def test_what_is_in_the_way_of_a_folder_or_cannot_be_deleted_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageFailed, match="a file stands where a folder is needed"):
        make_folder(str(tmp_path / "file" / "inside"))
    with pytest.raises(StorageFailed, match="could not make the folder") as caught:
        make_folder(str(tmp_path / ("x" * 300)))
    assert caught.value.path == str(tmp_path / ("x" * 300))
    with pytest.raises(StorageFailed, match="could not delete the file") as caught:
        remove_file(str(tmp_path))
    assert caught.value.path == str(tmp_path)


def test_a_folder_another_makes_at_the_same_moment_is_as_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = os.mkdir

    def twice(path: str, mode: int) -> None:
        really(path, mode)
        really(path, mode)

    monkeypatch.setattr(os, "mkdir", twice)
    make_folder(str(tmp_path / "both"))
    assert (tmp_path / "both").is_dir()


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOTSUP, errno.EIO])
def test_only_a_disk_that_cannot_sync_folders_is_forgiven_for_not_doing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    really = os.fsync

    def refuse(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(code, "as some disks do")
        really(handle)

    monkeypatch.setattr(os, "fsync", refuse)
    path = str(tmp_path / "a.md")
    if code == errno.EIO:
        with pytest.raises(StorageFailed):
            write_file(path, b"x")
    else:
        write_file(path, b"x")
        assert remove_file(path)


def test_on_a_disk_without_locks_files_are_written_and_nothing_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(handle: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "no locks here")

    monkeypatch.setattr("fcntl.flock", refuse)
    write_file(str(tmp_path / "a.md"), b"x")
    left = tmp_path / ".b.md.0123456789ab.tmp"
    left.write_bytes(b"half")
    sweep(str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == [left.name, "a.md"]


def test_a_sweeper_that_is_quicker_than_our_lock_costs_a_name_and_no_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    really, gone = fcntl.flock, list[str]()

    def late(handle: int, how: int) -> None:
        really(handle, how)
        if not gone:
            gone.extend(os.listdir(tmp_path))
            os.unlink(tmp_path / gone[0])

    monkeypatch.setattr("fcntl.flock", late)
    write_file(str(tmp_path / "a.md"), b"whole")
    assert len(gone) == 1
    assert is_temporary(gone[0])
    assert (tmp_path / "a.md").read_bytes() == b"whole"
    assert os.listdir(tmp_path) == ["a.md"]


def test_a_disk_that_takes_a_little_at_a_time_gets_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: really(handle, bytes(data)[:3]))
    write_file(str(tmp_path / "a.md"), b"0123456789")
    assert (tmp_path / "a.md").read_bytes() == b"0123456789"


def test_a_file_bears_the_moment_it_was_written(tmp_path: Path) -> None:
    before = time.time_ns()
    write_file(str(tmp_path / "a.md"), b"x")
    assert before <= (tmp_path / "a.md").stat().st_mtime_ns <= time.time_ns()


def test_writing_making_deleting_and_sweeping_leave_no_file_open(tmp_path: Path) -> None:
    """Also where they fail: a server does all of it for weeks."""

    def free() -> int:
        handle = os.open(os.devnull, os.O_RDONLY)
        os.close(handle)
        return handle

    def stopped() -> None:
        raise Refused("not now")

    before = free()
    write_file(str(tmp_path / "a.md"), b"x")
    with pytest.raises(Refused):
        write_file(str(tmp_path / "a.md"), b"y", check=stopped)
    with pytest.raises(StorageFailed):
        write_file(str(tmp_path / "none" / "a.md"), b"x")
    make_folder(str(tmp_path / "deep" / "er"))
    assert remove_file(str(tmp_path / "a.md"))
    assert not remove_file(str(tmp_path / "a.md"))
    (tmp_path / ".left.0.tmp").write_bytes(b"half")
    sweep(str(tmp_path))
    assert os.listdir(tmp_path) == ["deep"]
    assert free() == before


# -- only plain files of a bounded size are read, and a path is inside a folder or it is not


def test_a_file_of_just_the_limit_is_read_and_one_byte_more_is_not(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x" * 2048)
    assert read_plain(str(path), limit=2048) == b"x" * 2048
    with pytest.raises(OSError, match="larger than 1 KiB") as caught:
        read_plain(str(path), limit=2047)
    assert caught.value.errno == errno.EFBIG


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="needs /proc")
def test_a_file_that_is_longer_than_it_says_is_not_read_past_the_limit() -> None:
    assert os.stat("/proc/self/maps").st_size == 0
    with pytest.raises(OSError, match="larger than 1 KiB"):
        read_plain("/proc/self/maps", limit=1024)
    assert read_plain("/proc/self/maps", limit=10**7).count(b"\n") > 10


def test_what_is_not_a_plain_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(OSError, match="is not a plain file") as caught:
            read_plain(str(path), limit=1024)
        assert caught.value.errno == errno.EINVAL


def test_a_link_is_followed_unless_it_must_not_be(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"words")
    (tmp_path / "link").symlink_to(tmp_path / "f")
    assert read_plain(str(tmp_path / "link"), limit=1024) == b"words"
    assert read_plain(str(tmp_path / "f"), limit=1024, follow=False) == b"words"
    with pytest.raises(OSError, match="link") as caught:
        read_plain(str(tmp_path / "link"), limit=1024, follow=False)
    assert caught.value.errno == errno.ELOOP


def test_reading_leaves_no_file_open(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"words")
    before = os.open(os.devnull, os.O_RDONLY)
    os.close(before)
    read_plain(str(tmp_path / "f"))
    with pytest.raises(OSError, match="larger"):
        read_plain(str(tmp_path / "f"), limit=3)
    after = os.open(os.devnull, os.O_RDONLY)
    os.close(after)
    assert after == before


def test_a_folder_holds_itself_and_what_is_below_it_and_no_neighbour(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (tmp_path / "notes-of-others").mkdir()
    (folder / "out").symlink_to(tmp_path)
    inside = (folder, folder / "deep", folder / "not" / "yet")
    outside = (tmp_path, tmp_path / "notes-of-others", folder / ".." / "x", folder / "out" / "x")
    assert all(is_inside(str(path), str(folder)) for path in inside)
    assert not any(is_inside(str(path), str(folder)) for path in outside)
    assert is_inside(str(folder), "/")
