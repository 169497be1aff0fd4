"""Sign what a merge made of two signed versions, since only ltm changed anything there.

Owns that rule. Without it, a user of two machines with one key would see a warning after
every merge. Imports core and storage.
"""

from __future__ import annotations

from collections.abc import Sequence

from ltm.core.errors import LtmError
from ltm.core.model import Phase
from ltm.storage import codec, config, frontmatter, keyfile
from ltm.storage.home import home


def resigned(merged: bytes, sides: Sequence[bytes], path: str) -> bytes:
    """The merged file with signatures that fit, if both versions had them; else as it is."""
    try:
        key = keyfile.load(home())
        if key is None:
            return merged
        kinds = config.load(home()).kinds
        one, two, memory = (
            codec.decode(frontmatter.parse(data, path), path, kinds) for data in (*sides, merged)
        )
        if not (key.fits(one) and key.fits(two)):
            return merged
        # A shortened text stands for an original that is not here: its signature was kept if it
        # still covers it, and cannot be made again.
        whole = memory if memory.phase is Phase.FULL and memory.text else None
        if whole is None and not memory.signature:
            return merged
        return codec.to_bytes(key.signed(memory, whole), frontmatter.parse(merged, path), kinds)
    except LtmError:
        return merged
