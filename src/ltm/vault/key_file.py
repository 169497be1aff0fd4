"""The file with the key memories are signed with: where it is, and the key in it.

Most homes have none, and then nothing of `signing` is loaded: that would take 3 of the 60 ms of a
question.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ltm.files.atomic import read_plain

if TYPE_CHECKING:
    from ltm.vault.signing import Key

KEY_FILE = "signing.key"
_LIMIT = 4096


def path_in(home: str) -> str:
    """Where the key of a home is, there or not."""
    return os.path.join(home, KEY_FILE)


def load(home: str) -> Key | None:
    """The key of a home; None when there is none. One that cannot be used vouches for nothing."""
    try:
        text = read_plain(path_in(home), limit=_LIMIT)
    except FileNotFoundError:
        return None
    except OSError:
        text = b""
    from ltm.vault.signing import SIZE, Key

    try:
        secret = bytes.fromhex(text.decode("ascii").strip())
    except ValueError:
        return Key()
    return Key.of(secret) if len(secret) == SIZE else Key()
