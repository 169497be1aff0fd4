"""Where vectors are kept, and deleting some without importing numpy.

A purge must reach them also where numpy is not installed any more: then the file goes as a whole,
since all of it can be derived again.
"""

from __future__ import annotations

import os
from collections.abc import Collection

from ltm.errors import LtmError
from ltm.index.sqlite import discard

VECTORS_FILE = "vectors.db"


def forget_memory(folder: str, memory_id: str) -> None:
    """Leave no trace of a memory in the vectors kept in a folder."""
    path = os.path.join(folder, VECTORS_FILE)
    if os.path.exists(path):
        try:
            from ltm.index.vectors import forget

            forget(path, memory_id)
        except (ImportError, LtmError):
            discard(path)


def vectors_path(path: str) -> str:
    """Where the vectors of a database's rows are kept."""
    return f"{os.path.splitext(path)[0]}-{VECTORS_FILE}"


def keep_only(path: str, rows: Collection[int]) -> None:
    """Leave no trace of any but these rows in the vectors kept at a path."""
    if os.path.exists(path):
        try:
            from ltm.index.vectors import keep_only

            keep_only(path, rows)
        except (ImportError, LtmError):
            discard(path)
