"""What is kept back until a person decides: memories in quarantine, and those of a strange vault.

Owns the one count that status, doctor and the text of a session's start all give. Imports core,
the store's port and places; a hook can afford it.
"""

from typing import TYPE_CHECKING, NamedTuple

from ltm.core.model import Filter, Status
from ltm.storage.vault import Vault

if TYPE_CHECKING:
    from ltm.storage.places import Places
    from ltm.storage.store import Store


class Waiting(NamedTuple):
    """How many memories wait, and for what."""

    quarantined: int
    """For `ltm approve`: nobody vouches for where they came from."""
    untrusted: int
    """For `ltm trust`: they came with the repository, and nobody said whether they trust it."""


def waiting(store: "Store", places: "Places") -> Waiting:
    """What waits in this project."""
    quarantined = store.list(Filter(statuses=(Status.QUARANTINED,)), 0).total
    asked = places.shared_exists and places.trusted is None
    return Waiting(quarantined, len(Vault("shared", places.shared).names()) if asked else 0)
