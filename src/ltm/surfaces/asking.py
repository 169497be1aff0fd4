"""What a question is asked of besides the store: the project's sessions, and an embedder.

Owns putting them together from places and options; nothing is opened before it is needed. Imports
recall and storage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltm.recall.said import SessionSearch

if TYPE_CHECKING:
    from ltm.core.passage import Passage
    from ltm.embed.embedder import Embedder
    from ltm.recall.quote import Quote
    from ltm.storage.config import Config
    from ltm.storage.places import Places


def said_of(places: Places, config: Config) -> SessionSearch:
    """The project's sessions, to be asked; to be closed by the caller."""

    def embedder() -> Embedder | None:
        from ltm.embed.choosing import open_embedder

        return open_embedder(config)

    return SessionSearch(places.sessions_db, embedder)


def quote_record(quote: Quote) -> dict[str, Any]:
    """A quote as JSON, with the fields a memory's hit has."""
    passage = quote.passage
    return {
        "id": quote.id,
        "title": quote_title(quote),
        "kind": "session",
        "score": round(quote.score, 4),
        "why": quote.why,
        "text": quote.excerpt,
        "tokens": quote.tokens,
        "quarantined": quote.waits,
        "source": {
            "trust": passage.role,
            "session": passage.session,
            "lines": quote.id.rpartition(":")[2],
            "at": passage.at,
            "turn": passage.turn,
            "files": list(passage.files),
        },
    }


def quote_title(quote: Quote) -> str:
    """Who said it and when."""
    return f"{quote.passage.role}, {quote.passage.at[:10] or 'at an unknown time'}"


def passage_record(passage: Passage) -> dict[str, Any]:
    """A passage as JSON, whole, with where it stands."""
    from ltm.core.tokens import estimate

    return {
        "id": passage.citation,
        "role": passage.role,
        "at": passage.at,
        "turn": passage.turn,
        "text": passage.text,
        "files": list(passage.files),
        "tokens": estimate(passage.text),
    }
