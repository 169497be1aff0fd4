"""The files with the keys memories are signed with: where they are, and the keys in them.

An agent with a key of its own signs with it, every other with the home's. Most homes have none, and
then nothing of `signing` is loaded: that would take 3 of the 60 ms of a question.
"""

from __future__ import annotations

import os

from ltm.files.atomic import read_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ltm.vault.signing import Key

KEY_FILE = "signing.key"
_LIMIT = 4096


def path_in(home: str, agent: str = "") -> str:
    """Where the key of a home or of an agent is, there or not."""
    return os.path.join(home, f"{KEY_FILE}-{agent}" if agent else KEY_FILE)


def load(home: str, agent: str = "") -> Key | None:
    """The key an agent signs with, which knows all others of the home; None when there is none
    for this agent: the key of another does not make it sign.

    One that cannot be used vouches for nothing.
    """
    try:
        names = sorted(name for name in os.listdir(home) if name.startswith(KEY_FILE))
    except OSError:
        return None
    names = [name for name in names if name == KEY_FILE or name.startswith(f"{KEY_FILE}-")]
    own = os.path.basename(path_in(home, agent))
    own = own if own in names else KEY_FILE
    if own not in names:
        return None
    from ltm.vault.signing import Key

    others = tuple(_read(os.path.join(home, name)) for name in names if name != own)
    key = _read(os.path.join(home, own))
    return Key(key.secret, key.id, others)


def _read(path: str) -> Key:
    from ltm.vault.signing import SIZE, Key

    try:
        secret = bytes.fromhex(read_plain(path, limit=_LIMIT).decode("ascii").strip())
    except (OSError, ValueError):
        return Key()
    return Key.of(secret) if len(secret) == SIZE else Key()
