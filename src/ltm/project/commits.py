"""Commits by which a repository is known again: those it names, and whether it holds one.

A remote's address can be copied; the name of a commit is known only to those who have the history.
All of it is read from git's files, without a process: branches, packed branches, loose objects and
packs. What is borrowed from elsewhere (alternates, links) is not held: a repository could borrow
from any other on this machine. Hooks use it, but only in a folder that is new to this machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import BinaryIO

from ltm.files.atomic import is_inside, read_plain

_HEADS = ("main", "master")
_REFS = (
    "HEAD",
    "refs/remotes/origin/HEAD",
    *(f"{folder}/{name}" for folder in ("refs/heads", "refs/remotes/origin") for name in _HEADS),
)
_HEX = frozenset("0123456789abcdef")
_LENGTHS = (40, 64)  # SHA-1 and SHA-256
_PACKED = 16 * 1024 * 1024  # bytes of packed branches that are read
_LOOSE = 1024 * 1024  # bytes of a commit, packed
_MOST_PACKS = 400  # entries of the folder they are in
_MOST_DELTAS = 500  # from an object in a pack to the one it was made from
_MAGIC = b"\xfftOc\0\0\0\x02"
_HEAD = len(_MAGIC) + 256 * 4
_COMMIT, _BY_OFFSET, _BY_NAME = 1, 6, 7


def named(common_dir: str) -> list[str]:
    """The commits at which a repository's usual branches stand, here and at its origin."""
    packed = dict(_packed(common_dir))
    found = (_resolved(common_dir, packed, name) for name in _REFS)
    return [commit for commit in dict.fromkeys(found) if commit]


def holds(common_dir: str, commits: Iterable[str]) -> bool:
    """Whether any of these commits is among a repository's own objects."""
    names = [commit for commit in commits if _is_name(commit)]
    if not names:
        return False
    if any(_is_loose(common_dir, name) for name in names):
        return True
    packed = [bytes.fromhex(name) for name in names]
    return any(_is_packed(path, packed) for path in _pack_indexes(common_dir))


def share_history(one: str, other: str) -> bool:
    """Whether one of two repositories holds a commit at which the other stands."""
    return holds(one, named(other)) or any(
        holds(one, [commit]) and holds(other, [commit]) for commit in named(one)
    )


def _resolved(common_dir: str, packed: dict[str, str], name: str) -> str:
    for _ in range(3):
        try:
            text = os.fsdecode(read_plain(os.path.join(common_dir, name), limit=4096)).strip()
        except (OSError, ValueError):
            return packed.get(name, "")
        if not text.startswith("ref: refs/"):
            return text if _is_name(text) else ""
        name = text[len("ref: ") :]
        if ".." in name:
            return ""
    return ""


def _packed(common_dir: str) -> Iterator[tuple[str, str]]:
    try:
        text = os.fsdecode(read_plain(os.path.join(common_dir, "packed-refs"), limit=_PACKED))
    except OSError:
        return
    for line in text.splitlines():
        commit, blank, name = line.partition(" ")
        if blank and _is_name(commit):
            yield name, commit


def _is_name(text: str) -> bool:
    return len(text) in _LENGTHS and _HEX.issuperset(text) and text.strip("0") != ""


def _is_loose(common_dir: str, name: str) -> bool:
    path = os.path.join(common_dir, "objects", name[:2], name[2:])
    if not is_inside(path, common_dir):
        return False
    try:
        data = read_plain(path, limit=_LOOSE)
    except OSError:
        return False
    import zlib

    try:
        return zlib.decompressobj().decompress(data, 16).startswith(b"commit ")
    except zlib.error:
        return False


def _pack_indexes(common_dir: str) -> Iterator[str]:
    folder = os.path.join(common_dir, "objects", "pack")
    if not is_inside(folder, common_dir):
        return
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, _MOST_PACKS):
                if entry.name.endswith(".idx") and entry.is_file(follow_symlinks=False):
                    yield entry.path
    except OSError:
        return


def _is_packed(path: str, names: list[bytes]) -> bool:
    """Whether a commit of one of these names is in a pack, by the pack's index."""
    pack = f"{path.removesuffix('.idx')}.pack"
    if os.path.islink(pack) or not os.path.isfile(pack):
        return False
    try:
        with open(path, "rb", buffering=0) as index, open(pack, "rb", buffering=0) as objects:
            return any(
                _is_commit(index, objects, offset, len(name))
                for name in names
                if (offset := _offset(index, name)) is not None
            )
    except OSError:
        return False


def _offset(index: BinaryIO, name: bytes) -> int | None:
    """Where an object begins in the pack of an index, in which names stand in order."""
    index.seek(0)
    head = index.read(_HEAD)
    if not head.startswith(_MAGIC) or len(head) < _HEAD:
        return None

    def end(first: int) -> int:
        at = len(_MAGIC) + 4 * first
        return int.from_bytes(head[at : at + 4], "big")

    low, high, size = end(name[0] - 1) if name[0] else 0, end(name[0]), end(255)
    while low < high:
        middle = (low + high) // 2
        there = _read(index, _HEAD + middle * len(name), len(name))
        if there == name:
            checks = _HEAD + size * len(name)
            offsets = checks + size * 4
            offset = int.from_bytes(_read(index, offsets + middle * 4, 4), "big")
            if offset >> 31:
                large = offsets + size * 4 + (offset & 0x7FFFFFFF) * 8
                offset = int.from_bytes(_read(index, large, 8), "big")
            return offset
        low, high = (middle + 1, high) if there < name else (low, middle)
    return None


def _is_commit(index: BinaryIO, objects: BinaryIO, offset: int, length: int) -> bool:
    """What an object is; one kept as a difference is what that was made from."""
    for _ in range(_MOST_DELTAS):
        head = _read(objects, offset, 64)
        kind = (head[0] >> 4) & 7 if head else 0
        if kind not in (_BY_OFFSET, _BY_NAME):
            return kind == _COMMIT
        at = 1 + next((n for n, byte in enumerate(head) if byte < 0x80), len(head))
        if kind == _BY_NAME:
            found = _offset(index, head[at : at + length])
        else:
            back = 0
            for n, byte in enumerate(head[at:]):
                back = ((back + bool(n)) << 7) | (byte & 0x7F)
                if byte < 0x80:
                    break
            found = offset - back if 0 < back <= offset else None
        if found is None:
            return False
        offset = found
    return False


def _read(file: BinaryIO, at: int, size: int) -> bytes:
    file.seek(at)
    return file.read(size)
