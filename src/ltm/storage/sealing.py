"""Signing at the door: which of the memories a change writes are signed, and over which text.

Owns the rule that a change never turns what was tampered with into something that looks signed: it
signs what it writes only if all it was made from fitted its signatures. Without a key nothing is
signed and nothing fits. Imports core and storage.
"""

from __future__ import annotations

from ltm.core import phases
from ltm.core.errors import Refused
from ltm.core.model import Memory, Phase
from ltm.storage import codec, frontmatter
from ltm.storage.signing import SignatureState
from ltm.storage.vault import Vault
from ltm.storage.vaults import Vaults


class Seals:
    """Signs memories of some vaults with the key that is set, if one is."""

    def __init__(self, vaults: Vaults) -> None:
        self._vaults = vaults
        self._key = vaults.key

    def new(self, vault: Vault, memory: Memory) -> Memory:
        """The memory, signed."""
        if self._key is None:
            return memory
        return self._key.signed(memory, self._whole(vault, memory))

    def after(self, vault: Vault, memory: Memory, before: Memory) -> Memory:
        """The memory, signed if its former self was, with the original that goes with it."""
        stood = self.fit(before) and (
            _says_all(before) or self.cover(before, self._whole(vault, before))
        )
        return self.new(vault, memory) if stood else memory

    def adopted(self, vault: Vault, memory: Memory) -> Memory:
        """Sign a memory from elsewhere: its importer vouches for it, unless it says that this key
        did, and does not fit."""
        if self._key is None or self._key.state(memory) is not SignatureState.UNSIGNED:
            return memory
        return self.new(vault, memory)

    def looked_at(self, vault: Vault, memory: Memory, data: bytes) -> tuple[Memory, bytes]:
        """A memory a person vouches for, and its file with every key that signed files have."""
        if self._key is None or not self._key.secret:
            raise Refused("there is no key to sign with", hint="make one with: ltm keygen")
        document = frontmatter.parse(data, memory.id)
        return self.new(vault, memory), codec.completed(document, memory).to_bytes()

    def fit(self, *memories: Memory) -> bool:
        """Whether each of them is as it was signed."""
        return self._key is not None and all(self._key.fits(memory) for memory in memories)

    def cover(self, memory: Memory, original: Memory) -> bool:
        """Whether a memory's signature stands for this original text."""
        return self._key is not None and self._key.covers(memory, original)

    def _whole(self, vault: Vault, memory: Memory) -> Memory:
        if _says_all(memory):
            return memory
        return phases.whole(
            memory, [each.memory for each in self._vaults.versions(vault, memory.id)]
        )


def _says_all(memory: Memory) -> bool:
    """Whether nothing of its text is in the archive only."""
    return memory.phase is Phase.FULL and bool(memory.text)
