"""Map `OSError` and `sqlite3.Error` that were not handled closer to their cause to `LtmError`.

Owns what of a foreign error a person is told. Any other error stays as it is: then the mistake
is ours. Imports core, `durable`, `database`, `home` and `lock`.
"""

from __future__ import annotations

import sqlite3

from ltm.core.errors import Busy, LtmError, StorageFailed
from ltm.storage.database import is_busy, is_unwritable
from ltm.storage.durable import failed, is_refusal
from ltm.storage.home import home
from ltm.storage.lock import ADVICE


def as_refusal(error: Exception) -> LtmError | None:
    """What a person is told of an error, if it is the machine that refused; else None."""
    if isinstance(error, OSError) and is_refusal(error):
        path = error.filename if isinstance(error.filename, str) else home()
        return failed(error, "finish", path)
    if isinstance(error, sqlite3.Error) and is_busy(error):
        return Busy("another process is at work on its databases", path=home(), hint=ADVICE)
    if isinstance(error, sqlite3.Error) and is_unwritable(error):
        hint = "check the disk and the room on it, then run the same command again"
        return StorageFailed(f"could not write its databases: {error}", path=home(), hint=hint)
    return None
