"""A packed source is unpacked, and a bomb or a trap is refused before anything is written.

Each case of reliability S7 is one of these tests.
"""

from __future__ import annotations

import gzip
import io
import os
import resource
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ltm.errors import LtmError, Refused
from ltm.transfer.source import SourceLimits, is_packed, unpack
from tests.figures import count, worst
from tests.transfer.importing import Machine, counts, write
from tests.transfer.test_memory_mcp import memory_mcp

ALL = os.environ.get("LTM_FAULTS") == "all"
SMALL = SourceLimits(total=100_000, entries=50, ratio=100, depth=8)


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def tarred(path: Path, *members: tarfile.TarInfo, mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0, **more: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, size
    for key, value in more.items():
        setattr(info, key, value)
    return info


def refused(path: Path, folder: Path, limits: SourceLimits = SMALL) -> str:
    """Why unpacking is refused; not a byte may have been written by then."""
    folder.mkdir(exist_ok=True)
    assert is_packed(str(path))
    before = resource.getrusage(resource.RUSAGE_SELF)
    with pytest.raises(Refused) as error:
        unpack(str(path), str(folder), limits)
    after = resource.getrusage(resource.RUSAGE_SELF)
    written = [each for each in folder.rglob("*") if each.is_file()]
    count("S7", traps=1, refused=1, files_written_first=len(written))
    worst(
        "S7",
        slowest_s=round(after.ru_utime - before.ru_utime, 2),
        most_mb=(after.ru_maxrss - before.ru_maxrss) // 1024,
    )
    assert written == []
    return error.value.message


@pytest.mark.parametrize(
    "pack",
    [
        lambda source, to: zipped(
            to / "a.zip",
            {str(p.relative_to(source)): p.read_bytes() for p in source.rglob("*") if p.is_file()},
        ),
        lambda source, to: _tar(source, to / "a.tar", "w"),
        lambda source, to: _tar(source, to / "a.tar.gz", "w:gz"),
        lambda source, to: _tar(source, to / "a.tgz", "w:gz"),
        lambda source, to: _gz(source / ".memory" / "state.json", to / "state.json.gz"),
    ],
    ids=["zip", "tar", "tar.gz", "tgz", "gz"],
)
def test_a_packed_store_moves_in_like_an_unpacked_one(
    machine: Machine, tmp_path: Path, pack: Callable[[Path, Path], Path]
) -> None:
    memory_mcp(tmp_path / "old")
    path = pack(tmp_path / "old", tmp_path)
    before = path.read_bytes()
    report = machine.take(path)
    assert (report.sources, report.added) == (["memory-mcp"], 7)
    assert str(path) in report.problems[0].path
    assert path.read_bytes() == before


def _tar(source: Path, path: Path, mode: str) -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        archive.add(source, ".")
    return path


def _gz(source: Path, path: Path) -> Path:
    path.write_bytes(gzip.compress(source.read_bytes()))
    return path


@pytest.mark.parametrize(
    "name",
    ["../evil.md", "a/../../evil.md", "/etc/evil.md", "..\\evil.md", "C:\\evil.md", "\\evil.md",
     "a/" * 40 + "deep.md", "x" * 2000],
)  # fmt: skip
def test_names_that_lead_out_or_too_deep_are_refused(tmp_path: Path, name: str) -> None:
    assert (
        "holds a name"
        in (
            told := refused(
                zipped(tmp_path / "a.zip", {"ok.md": b"ok", name: b"evil"}), tmp_path / "z"
            )
        )
        or "nests deeper" in told
    )
    path = tarred(tmp_path / "a.tar", member("ok.md"), member(name))
    told = refused(path, tmp_path / "t")
    assert "holds a name" in told or "nests deeper" in told


@pytest.mark.parametrize(
    "bad",
    [
        member("link", tarfile.SYMTYPE, linkname="/etc/passwd"),
        member("hard", tarfile.LNKTYPE, linkname="ok.md"),
        member("pipe", tarfile.FIFOTYPE),
        member("null", tarfile.CHRTYPE),
        member("disk", tarfile.BLKTYPE),
    ],
    ids=lambda info: info.name,
)
def test_links_and_devices_are_refused(tmp_path: Path, bad: tarfile.TarInfo) -> None:
    path = tarred(tmp_path / "a.tar", member("ok.md"), bad)
    assert "a link or a device" in refused(path, tmp_path / "t")


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("link.md")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    assert "a link or a device" in refused(tmp_path / "a.zip", tmp_path / "z")


def test_a_bomb_is_refused_by_what_it_would_become(tmp_path: Path) -> None:
    """reliability S7: a 522 KB zip holds 512 MiB."""
    big = b"\0" * 60_000_000
    limits = SourceLimits()
    path = zipped(tmp_path / "a.zip", {"big.md": big})
    assert "100 times larger" in refused(path, tmp_path / "z", limits)
    many = zipped(tmp_path / "b.zip", {f"{n}.md": os.urandom(20_000) for n in range(6)})
    assert "more than" in refused(many, tmp_path / "z")
    (tmp_path / "c.gz").write_bytes(gzip.compress(big))
    assert "100 times larger" in refused(tmp_path / "c.gz", tmp_path / "z", limits)


def test_a_bomb_of_half_a_gigabyte_is_refused_at_once(tmp_path: Path) -> None:
    """reliability S7, to the letter: 512 MiB in 522 KB, at a ratio of 1,028."""
    path = tmp_path / "a.zip"
    block = b"\0" * (1 << 20)
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("big.md", "w", force_zip64=True) as file,
    ):
        for _ in range(512 if ALL else 128):
            file.write(block)
    assert (64 << 20) / path.stat().st_size > 100
    assert "100 times larger" in refused(path, tmp_path / "z", SourceLimits(total=1 << 30))
    assert "more than" in refused(path, tmp_path / "z", SourceLimits(ratio=10_000))


def test_a_million_entries_are_refused_before_they_are_read(tmp_path: Path) -> None:
    """reliability S7: also where each is empty, and the archive small."""
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", *[0] * 4, *[0] * 4, 0, 0, 0, 4, *[0] * 4, 0, 0)
    entries = (entry + b"a.md") * 1_000_000
    path = tmp_path / "a.zip"
    first = struct.pack("<4s5H3L2H", b"PK\3\4", *[0] * 5, 0, 0, 0, 4, 0) + b"a.md"
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, len(entries), len(first), 0)
    path.write_bytes(first + entries + end)
    assert "too many entries" in refused(path, tmp_path / "z", SourceLimits())
    header = member("a", tarfile.DIRTYPE).tobuf()
    many = 1_000_000 if ALL else 150_000
    with gzip.open(tmp_path / "a.tgz", "wb", compresslevel=1) as file:
        for _ in range(many // 1_000):
            file.write(header * 1_000)
    told = refused(tmp_path / "a.tgz", tmp_path / "t", SourceLimits())
    assert "more than" in told or "times larger" in told


def test_sizes_that_lie_do_not_help_a_bomb(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a.md": b"y" * 90_000})
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"PK\1\2")
    struct.pack_into("<L", data, entry + 24, 10)  # the size in the list of entries
    path.write_bytes(data)
    (tmp_path / "z").mkdir()
    with pytest.raises(LtmError):
        unpack(str(path), str(tmp_path / "z"), SMALL)
    assert sum(each.stat().st_size for each in (tmp_path / "z").rglob("*")) <= 10


def test_too_many_entries_are_refused(tmp_path: Path) -> None:
    """reliability S7: a million entries."""
    path = zipped(tmp_path / "a.zip", {f"{n}.md": b"" for n in range(51)})
    assert "more than 50 entries" in refused(path, tmp_path / "z")
    path = tarred(tmp_path / "a.tar", *(member(f"{n}.md") for n in range(51)))
    assert "more than 50 entries" in refused(path, tmp_path / "t")
    path = zipped(tmp_path / "b.zip", {"a.md": b""})
    data = bytearray(path.read_bytes())
    struct.pack_into("<L", data, data.rindex(b"PK\5\6") + 12, 80_000_000)
    path.write_bytes(data)
    assert "too many entries" in refused(path, tmp_path / "z")


def test_one_name_twice_is_refused_even_in_another_case(tmp_path: Path) -> None:
    path = tarred(tmp_path / "a.tar", member("a.md"), member("A.md"))
    assert "twice" in refused(path, tmp_path / "t")
    path = tarred(tmp_path / "b.tar", member("caf\u00e9.md"), member("cafe\u0301.md"))
    assert "twice" in refused(path, tmp_path / "t")


def test_an_encrypted_or_broken_archive_is_told(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a.md": b"text" * 100})
    data = path.read_bytes()
    encrypted = bytearray(data)
    encrypted[encrypted.rindex(b"PK\1\2") + 8] |= 1
    path.write_bytes(encrypted)
    assert "encrypted" in refused(path, tmp_path / "z")
    path.write_bytes(data[: len(data) // 2])
    assert "not a whole zip" in refused(path, tmp_path / "z")
    cut = tmp_path / "b.json.gz"
    cut.write_bytes(gzip.compress(os.urandom(5000))[:3000])
    (tmp_path / "g").mkdir()
    with pytest.raises(Refused, match="cannot be unpacked"):
        unpack(str(cut), str(tmp_path / "g"), SMALL)


def test_a_file_where_a_folder_is_needed_is_told(tmp_path: Path) -> None:
    path = tarred(tmp_path / "a.tar", member("a"), member("a/b.md"))
    (tmp_path / "t").mkdir()
    with pytest.raises(LtmError):
        unpack(str(path), str(tmp_path / "t"), SMALL)


def test_a_folder_with_traps_in_it_is_read_around_them(machine: Machine, tmp_path: Path) -> None:
    """reliability S7 and S5: links, pipes and devices in a source that is no archive."""
    folder = tmp_path / "notes"
    write(folder / "good.md", "# Good\n\nA good note.")
    write(tmp_path / "secret.md", "# Secret\n\nNot to be read.")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    (folder / "away").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.md")
    report = machine.take(folder)
    assert [memory.title for memory in machine.memories()] == ["Good"]
    assert sorted(Path(each.path).name for each in report.problems) == ["link.md", "pipe.md"]


def test_a_source_beyond_the_limits_is_refused_until_the_person_vouches_for_it(
    machine: Machine, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    deep = folder
    for n in range(34):
        deep = deep / f"d{n}"
    write(deep / "deep.md", "# Deep")
    report = machine.take(folder, "markdown")
    assert "nests deeper than 32 folders" in report.problems[0].message
    for n in range(26):
        with (folder / f"large{n}.md").open("wb") as file:
            file.truncate(4 * 1024 * 1024)
    with pytest.raises(Refused, match="more than 100 MiB") as told:
        machine.take(folder, "markdown")
    assert "--large" in told.value.hint
    assert machine.memories() == []


def test_json_that_nests_without_end_is_told(machine: Machine, tmp_path: Path) -> None:
    """reliability S6"""
    deep = '{"version":2,"memories":' + "[" * 100_000
    report = machine.take(write(tmp_path / "state.json", deep))
    assert "nests too deep" in report.problems[0].message
    lines = write(tmp_path / "memory.jsonl", '{"type":"entity","name":"a"}\n' + "[" * 200_000)
    assert counts_of(machine, lines) == (1, 2)


def counts_of(machine: Machine, path: Path) -> tuple[int, int]:
    """How many were added, and on which line the one problem is."""
    report = machine.take(path)
    return report.added, report.problems[0].line


def test_standard_input_is_bounded_too(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '{"type":"entity","name":"a","entityType":"fact","observations":["b"]}\n'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert counts(machine.take("-")) == (1, 0, 0)
    monkeypatch.setattr("ltm.transfer.import_.USUAL", SourceLimits(total=10))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    with pytest.raises(Refused, match="holds more than"):
        machine.take("-")
