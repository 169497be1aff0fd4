"""A transcript as a plain file: a compressed one is unpacked for as long as it is read.

Imports storage's home.
"""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from ltm.storage.home import scratch_folder


@contextmanager
def unpacked(path: str) -> Iterator[str]:
    """The path of a plain file with what is at `path`; a broken archive is an OSError."""
    if not path.endswith(".gz"):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="ltm-", dir=scratch_folder()) as folder:
        plain = os.path.join(folder, os.path.basename(path).removesuffix(".gz"))
        try:
            with gzip.open(path, "rb") as packed, open(plain, "wb") as whole:
                shutil.copyfileobj(packed, whole)
        except (EOFError, ValueError) as error:
            raise OSError(f"it is not a complete archive: {error}") from error
        yield plain
