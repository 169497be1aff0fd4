"""How a memory stands to a key, looked at closely: its file as it is now, and its original.

Owns the check behind `ltm verify` and the doctor. The check at the start of a session reads no
file and is `Key.fits`. Imports core and storage.
"""

from __future__ import annotations

from ltm.core import phases
from ltm.core.errors import LtmError
from ltm.core.model import Phase, Stored
from ltm.storage import codec, frontmatter
from ltm.storage.plainfile import read_plain
from ltm.storage.signing import Key, SignatureState
from ltm.storage.store import Store
from ltm.storage.vault import MAX_FILE


def state_of(key: Key, stored: Stored, store: Store) -> SignatureState:
    """Whether a memory is what was signed, with the text that is kept of it in the archive.

    A file that says the same as it did but lacks a line that signing always writes was edited too.
    """
    memory = stored.memory
    kept = []
    if memory.phase is not Phase.FULL or not memory.text:
        kept = [each.memory for each in store.versions(memory.id)]
    state = key.state(memory, phases.whole(memory, kept))
    return SignatureState.CHANGED if state is SignatureState.OK and _was_cut(stored.path) else state


def _was_cut(path: str) -> bool:
    try:
        document = frontmatter.parse(read_plain(path, limit=MAX_FILE), path)
    except (OSError, LtmError):
        return False  # gone or unreadable by now: not what the question was about
    return bool(codec.lacking(document))
