"""Bring the vectors of memories and passages up to date, a slice at a time.

The caller says how long it may take, and the rest is done by the next: with patience after a
session, and briefly before a search. numpy is loaded only where there is an embedder.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing

from ltm.embed.embedder import STATIC, Embedder, installed, open_embedder
from ltm.errors import ModelFailed
from ltm.index.index import vectors_meta, vectors_path
from ltm.model import Filter, Memory, Stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol, TypeGuard

    from ltm.history.db import Passages
    from ltm.index.vector_blocks import Floats
    from ltm.index.vectors import Direction, Vectors
    from ltm.store.project import OpenProject
else:
    Protocol = object


PATIENT = 60.0
"""Seconds when no user waits."""

BRIEF = 0.05
"""Seconds a search may wait so that the newest memories count."""

SECONDS = 10.0
"""At most for each after a session, so that events do not wait for long."""

_BATCH = 32


class VectorsOfMemories(Protocol):
    """The vectors one model made of memories, wherever these are kept (`index.vectors`)."""

    def missing(self) -> list[str]:
        """The ids of the next memories without a vector of what they are now."""

    def memories(self, ids: Sequence[str]) -> list[Stored]:
        """The memories of these ids that are in force, as they are now."""

    def put_memories(self, memories: Sequence[Stored], vectors: Floats) -> None:
        """Keep the vectors of memories, as these memories are."""

    def drop_gone(self) -> None:
        """Leave no trace of memories that are no longer in force."""

    def nearest_memories(
        self, query: Direction, wanted: Filter, limit: int, least: float = -1.0
    ) -> list[tuple[Stored, float]]:
        """The memories most like a vector of unit length, among those a filter wants and that are
        at least so like it."""

    def likeness_of(self, query: Direction, memories: Collection[Stored]) -> dict[str, float]:
        """How like a vector of unit length memories are, by id; those without one are left out."""


class HasVectors(Protocol):
    """A store that keeps vectors of its memories; others are searched by words alone."""

    def vectors(
        self, model: str, dimensions: int, *, teams: bool = False
    ) -> Iterable[VectorsOfMemories]:
        """The vectors a model made of each vault's memories; with `teams`, of their replicas'
        too."""


def has_vectors(store: object) -> TypeGuard[HasVectors]:
    """Whether a store keeps vectors of its memories."""
    return hasattr(store, "vectors")


def keep_memories(store: object, embedder: Embedder, seconds: float = PATIENT) -> bool:
    """Embed the memories of a store that have no vector yet; whether all have one now."""
    if not has_vectors(store):
        return True
    end = time.monotonic() + seconds
    for vectors in store.vectors(embedder.name, embedder.dimensions, teams=True):
        while missing := vectors.missing():
            for start in range(0, len(missing), _BATCH):
                some = vectors.memories(missing[start : start + _BATCH])
                vectors.put_memories(some, embedder.embed([words(each.memory) for each in some]))
                if time.monotonic() >= end:
                    return not vectors.missing()
        if seconds > BRIEF:
            vectors.drop_gone()
    return True


def keep_passages(
    passages: Passages, vectors: Vectors, embedder: Embedder, seconds: float = PATIENT
) -> bool:
    """Embed the passages that came since the last time; whether all have a vector now."""
    end = time.monotonic() + seconds
    while found := passages.after(vectors.last(), _BATCH):
        rows = [each.row for each in found]
        vectors.put(rows, embedder.embed([each.text for each in found]))
        # What was purged while it was embedded must not stay; a later purge drops vectors.
        vectors.drop(set(rows) - {each.row for each in passages.read(rows)})
        if time.monotonic() >= end:
            return False
    return True


def words(memory: Memory) -> str:
    """What of a memory is embedded: what it is about, and what it says."""
    return "\n".join(part for part in (memory.title, " ".join(memory.tags), memory.words) if part)


def _has_all(project: OpenProject) -> bool:
    """Whether nothing is new for a model of this machine, as far as notes next to the vectors tell.

    Most sessions teach nothing, and numpy takes longer to load than all else there is to do.
    """
    package = installed()
    if project.config.own("embed.backend") != STATIC or package is None:
        return False
    is_embedded = getattr(project.store, "is_embedded", None)
    if is_embedded is None or not is_embedded(package.model):
        return False
    if not os.path.exists(project.places.sessions_db):
        return True
    from ltm.history.db import passages_of

    passages = passages_of(project)
    noted = vectors_meta(vectors_path(passages.path))
    is_by_model = noted.get("made by", "").startswith(f"{package.model}/")
    return not passages.after(int(noted.get("last", 0)) if is_by_model else 0, 1)


def embed_new(project: OpenProject, environ: Mapping[str, str]) -> None:
    """Give vectors to what a project has new.

    A model that cannot be asked now is not an error: search goes by words until the next time.
    """
    try:
        if _has_all(project):
            return
        embedder = open_embedder(project.config, environ)
        if embedder is None:
            return
        keep_memories(project.store, embedder, SECONDS)
        if os.path.exists(project.places.sessions_db):
            from ltm.history.db import passages_of
            from ltm.index.vectors import vectors_of

            passages = passages_of(project)
            with closing(vectors_of(passages.path, embedder.name, embedder.dimensions)) as vectors:
                keep_passages(passages, vectors, embedder, SECONDS)
    except ModelFailed:
        pass
