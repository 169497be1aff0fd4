"""Moving all memories of one vault into another, byte for byte, without ever having fewer than one.

Owns the order: a file is on the disk in its new place before it leaves the old one, so a crash
leaves at most a copy, and running it again finishes the move.
"""

from __future__ import annotations

import os
from contextlib import ExitStack

from ltm.core.errors import BadFile
from ltm.storage.durable import make_folder, remove_file, write_file
from ltm.storage.vault import Vault


def move_all(source: Vault, target: Vault) -> tuple[list[str], list[str]]:
    """Move every memory and kept version; the names moved, and the names that had to stay."""
    moved: list[str] = []
    stayed: list[str] = []
    if not source.exists():
        return moved, stayed
    target.prepare()
    with ExitStack() as stack:
        for vault in sorted((source, target), key=lambda each: each.folder):
            stack.enter_context(vault.lock)
        for name in sorted(source.names()):
            try:
                data = source.read(name)
                if os.path.lexists(target.path(name)) and target.read(name) != data:
                    stayed.append(name)
                    continue
            except BadFile:
                stayed.append(name)
                continue
            target.write(name, data)
            remove_file(source.path(name))
            moved.append(name)
        _move_archives(source, target, stayed)
    return moved, stayed


def _move_archives(source: Vault, target: Vault, stayed: list[str]) -> None:
    try:
        names = sorted(os.listdir(source.archives))
    except OSError:
        return
    make_folder(target.archives, target.folder_mode)
    for name in names:
        old, new = os.path.join(source.archives, name), os.path.join(target.archives, name)
        if not name.endswith(".md") or any(name.split(".v")[0] in each for each in stayed):
            continue  # what belongs to a memory that stayed stays with it
        if not os.path.lexists(new):
            data = source.read_archive(old)
            write_file(new, data, mode=target.file_mode, staging=target.folder)
        remove_file(old)
