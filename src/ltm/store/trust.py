"""Who is trusted: memories that came with a repository, and what waits for a person's word.

A vault that came with a clone is read through `Guarded` until the user trusts the repository. What
waits, and what a folder says of itself without proof, is counted and put into words here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from ltm.files.atomic import make_folder, write_file
from ltm.files.fastjson import write
from ltm.files.lock import Lock
from ltm.files.sqlite import discard
from ltm.index.index import VECTORS_FILE, Index
from ltm.index.search import IndexMatch, IndexMatches
from ltm.model import Filter, Problem, Status, Stored
from ltm.project.identity import name_of
from ltm.project.layout import ASIDE, TRUST_FILE, trust_answers, trust_key
from ltm.record import NamedTuple
from ltm.vault.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ltm.project.identity import Project
    from ltm.project.layout import Places
    from ltm.store.store import Store
    from ltm.vault.signing import Key


class Guarded:
    """The index of a vault that is not trusted yet: a memory that the key vouches for is as good as
    any other; the rest is found only where it is wanted, and marked as untrusted.

    It looks at all that fits, since such vaults are not for long.
    """

    def __init__(self, index: Index, key: Key | None) -> None:
        self._index = index
        self._key = key

    def page(self, wanted: Filter, limit: int, offset: int) -> tuple[list[Stored], int]:
        """A page of memories, newest first, and how many there are in all."""
        found = list(self._wanted(self._index.page(wanted, -1, 0)[0], wanted))
        return found[offset : None if limit < 0 else offset + limit], len(found)

    def every(self, wanted: Filter) -> Iterator[Stored]:
        """Memories in the order of their ids."""
        return self._wanted(self._index.every(wanted), wanted)

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> IndexMatches:
        """The best matches for any of the words."""
        found = self._index.search(words, wanted, limit)
        seen = tuple(
            each for each in found.candidates if self.stored(each).trusted or wanted.untrusted
        )
        return found._replace(candidates=seen, total=len(seen))

    def stored(self, candidate: IndexMatch) -> Stored:
        """The memory of a match."""
        return self.marked(self._index.stored(candidate))

    def marked(self, stored: Stored) -> Stored:
        """A memory marked as untrusted unless the key vouches for it."""
        return stored._replace(trusted=self._key is not None and self._key.fits(stored.memory))

    def _wanted(self, found: Iterable[Stored], wanted: Filter) -> Iterator[Stored]:
        marked = map(self.marked, found)
        return (each for each in marked if each.trusted or wanted.untrusted)


def record_trust(private: str, project: Project, shared: str, trusted: bool | None) -> None:
    """Keep the user's answer about a shared vault; None takes it back."""
    from shutil import rmtree

    make_folder(private)
    with Lock(os.path.join(private, ".lock")):
        answers = trust_answers(private)
        before = answers.pop(trust_key(project, shared), None)
        if trusted and not before:
            # An index that came with the files says what others want it to say.
            for name in ("index.db", VECTORS_FILE):
                discard(os.path.join(shared, name))
        for name in os.listdir(private):
            if name.startswith(ASIDE):
                rmtree(os.path.join(private, name), ignore_errors=True)
        if trusted is not None:
            answers[trust_key(project, shared)] = trusted
        write_file(os.path.join(private, TRUST_FILE), f"{write(answers)}\n".encode("ascii"))


class Waiting(NamedTuple):
    """How many memories wait, and for what."""

    quarantined: int
    """For `ltm approve`: their source is not trusted."""
    untrusted: int
    """For `ltm trust`: they came with the repository, which is not trusted yet."""


def waiting(store: Store, places: Places) -> Waiting:
    """What waits in this project."""
    quarantined = store.list(Filter(statuses=(Status.QUARANTINED,)), 0).total
    asked = places.shared_exists and places.trusted is None
    return Waiting(quarantined, len(Vault("shared", places.shared).names()) if asked else 0)


def unproven(places: Places) -> list[Problem]:
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
