"""A question from a person or an agent, answered with the model that is switched on, if one is."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping

from ltm.core.errors import StorageFailed, WrongUsage
from ltm.llm.model import OFF, open_model
from ltm.recall.answer import Answered, answer
from ltm.recall.said import SessionSearch
from ltm.storage.config import Config
from ltm.storage.modellog import ModelLog
from ltm.storage.places import Places
from ltm.storage.store import Store

PATIENCE = 60.0
"""Seconds to wait for an answer; after that only the evidence is shown."""


def ask(
    store: Store,
    places: Places,
    config: Config,
    question: str,
    environ: Mapping[str, str] = os.environ,
    *,
    said: SessionSearch | None = None,
) -> Answered:
    """The answer with what it rests on; only the evidence where no model can be asked."""
    if not question.strip():
        raise WrongUsage("there is nothing to look for", hint="ask with some words")
    if config.own("llm.backend") == OFF:
        return answer(store, question, None, said)
    try:
        log = ModelLog(places.state_db)
    except (sqlite3.Error, StorageFailed):
        return answer(store, question, None, said)  # a call that cannot be counted is not made
    try:
        model = open_model(config, places.home, log, environ, at_most=PATIENCE)
        return answer(store, question, model, said)
    finally:
        log.close()
