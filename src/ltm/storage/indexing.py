"""Taking files into an index: those that changed, each as a memory or as a problem.

Owns what becomes of a file: whether its time can be trusted, what is kept of one that the disk does
not give out now, and which of two files has the id that both name. When to look is `index`'s
business. Imports core and storage.
"""

from __future__ import annotations

import sqlite3
import time

from ltm.core.errors import LtmError, StorageFailed
from ltm.core.kinds import Kinds
from ltm.storage.database import transaction
from ltm.storage.durable import sweep
from ltm.storage.rows import Rows
from ltm.storage.vault import FileStat, Vault, etag, modified

RACY_NS = 50_000_000
"""A file younger than this may change again within the same tick of the file system's clock, and
neither its time nor its size would tell: its time is not trusted until a later look."""


def take_in(
    db: sqlite3.Connection, rows: Rows, vault: Vault, kinds: Kinds, *, rebuild: bool = False
) -> None:
    """Make an index equal to the files of its vault, all or nothing. Lock held.

    Only files that look changed are read; with `rebuild` all of them, into empty tables.
    """
    sweep(vault.memories)
    known = {} if rebuild else rows.known_files()
    stamp, started = vault.stamp(), time.time_ns()
    seen = vault.scan()
    with transaction(db):
        if rebuild:
            rows.empty()
        for name in known.keys() - {each.name for each in seen}:
            rows.remove(name)
        for each in sorted(seen, key=lambda file: file.name):
            mtime, size, tag, problem = known.get(each.name, (None, None, "", None))
            if problem or (mtime, size) != (each.mtime, each.size):
                racy = each.mtime > started - RACY_NS
                trusted = FileStat(each.name, -1, each.size) if racy else each
                _take_in_file(rows, vault, kinds, trusted, "" if problem else tag)
        rows.set_meta("mark", time.time_ns())
        rows.set_meta("stamp", stamp)


def _take_in_file(rows: Rows, vault: Vault, kinds: Kinds, seen: FileStat, known_tag: str) -> None:
    from ltm.storage import codec, frontmatter  # YAML is slow to load and often not needed

    path = vault.path(seen.name)
    tag = ""
    try:
        data = vault.read(seen.name)
        tag = etag(data)
        if tag == known_tag:
            rows.note_look(seen)
            return
        document = frontmatter.parse(data, path)
        memory = codec.decode(document, path, kinds, seen=modified(path))
    except StorageFailed as error:
        # The disk does not give it out now. What is known of it stays, and it is tried again.
        rows.put_file(FileStat(seen.name, -1, seen.size), known_tag, problem=error.message)
        return
    except LtmError as error:
        rows.remove(seen.name)
        rows.put_file(seen, tag, line=error.line or 0, problem=error.message)
        return
    rows.remove(seen.name)
    holder = rows.holder(memory.id)
    if holder and holder < seen.name:
        rows.put_file(seen, tag, problem=_same_id(memory.id, holder))
        return
    if holder:
        # The file whose name sorts first holds the id, in whatever order the two were met.
        rows.demote(holder, _same_id(memory.id, seen.name))
    rows.put_file(seen, tag)
    rows.put_memory(seen.name, tag, memory)


def _same_id(memory_id: str, other: str) -> str:
    return f"has the same id {memory_id} as {other}; give one of them another id"
