"""Vectors for what a project has new: its memories and what was said in its sessions.

Owns putting together what `embed.keeping` needs, after a session or a turn, when no user waits.
Imports embed and storage; numpy is loaded only where there is an embedder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing

from ltm.core.errors import ModelFailed
from ltm.embed.choosing import open_embedder
from ltm.embed.embedder import Embedder
from ltm.embed.keeping import keep_memories, keep_passages
from ltm.storage.config import Config, load
from ltm.storage.opening import open_store
from ltm.storage.passages import Passages
from ltm.storage.places import Places, places

SECONDS = 10.0
"""At most for each, so that events do not wait for long; what is left is done the next time."""


def embed_new(folder: str, environ: Mapping[str, str]) -> None:
    """Give vectors to what the project of a folder has new.

    A model that cannot be asked now is not an error: search goes by words until the next time.
    """
    found = places(folder, environ=environ)
    config = load(found.home, found.settings)
    try:
        embedder = open_embedder(config, environ)
        if embedder is not None:
            _embed(found, config, embedder)
    except ModelFailed:
        pass


def _embed(found: Places, config: Config, embedder: Embedder) -> None:
    with closing(open_store(found, config)) as store:
        keep_memories(store, embedder, SECONDS)
    if os.path.exists(found.sessions_db):
        from ltm.storage.vectors import vectors_of

        with (
            closing(Passages(found.sessions_db)) as passages,
            closing(vectors_of(passages.path, embedder.name, embedder.dimensions)) as vectors,
        ):
            keep_passages(passages, vectors, embedder, SECONDS)
