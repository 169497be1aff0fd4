"""Only plain files of a bounded size are read, and a path is inside a folder or it is not."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ltm.files.atomic import is_inside, read_plain


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


def test_what_is_no_plain_file_is_refused_without_waiting(tmp_path: Path) -> None:
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
