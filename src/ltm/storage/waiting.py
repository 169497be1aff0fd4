"""What is kept back until a person decides: memories in quarantine, those of a strange vault, and
what a folder says to be.

Owns the one count that status, doctor and the text of a session's start all give, and the sentences
about a folder that is not believed. Imports core, the store's port and places; a hook can afford
it.
"""

from typing import TYPE_CHECKING, NamedTuple

from ltm.core.model import Filter, Problem, Status
from ltm.storage.project import name_of
from ltm.storage.vault import Vault

if TYPE_CHECKING:
    from ltm.storage.places import Places
    from ltm.storage.store import Store


class Waiting(NamedTuple):
    """How many memories wait, and for what."""

    quarantined: int
    """For `ltm approve`: their source is not trusted."""
    untrusted: int
    """For `ltm trust`: they came with the repository, which is not trusted yet."""


def waiting(store: "Store", places: "Places") -> Waiting:
    """What waits in this project."""
    quarantined = store.list(Filter(statuses=(Status.QUARANTINED,)), 0).total
    asked = places.shared_exists and places.trusted is None
    return Waiting(quarantined, len(Vault("shared", places.shared).names()) if asked else 0)


def unproven(places: "Places") -> list[Problem]:
    """What a folder says of itself that is not believed, and what to type if it is true."""
    found: list[Problem] = []
    project = places.project
    if places.untrusted_agent:
        message = (
            f"its files (AGENT.md, .claude/agents) name the agent '{places.untrusted_agent}', which"
            " is not used until you trust this repository (type: ltm trust)"
        )
        found.append(Problem(project.root, message, ill=False))
    if project.claimed:
        message = (
            f"it says to be the project '{name_of(project.claimed, places.home)}'"
            f" ({project.claimed}), but has none of the history that is known of it, so it has"
            " memories of its own (if it is the same project, type: ltm trust --same-project)"
        )
        found.append(Problem(project.root, message, ill=False))
    return found
