"""What every embedder must do, whatever stands behind it."""

from __future__ import annotations

import numpy as np

from ltm.embed.embedder import Embedder

TEXTS = (
    "We deploy with docker compose.",
    "",
    "   \n\t ",
    "getUserName() raised KeyError: 'id'",
    "Wir speichern Zeitangaben in UTC.",
    "データベースの移行",
    "🎉🎉🎉",
    "a" * 200_000,
    "word " * 50_000,
    "\ud800 half of a letter",
)


class EmbedderContract:
    """Give `embedder` as a fixture."""

    def test_there_is_one_row_of_unit_length_or_none_per_text(self, embedder: Embedder) -> None:
        found = embedder.embed(TEXTS)
        assert found.shape == (len(TEXTS), embedder.dimensions)
        assert found.dtype == np.float32
        lengths = np.linalg.norm(found, axis=1)
        assert np.all((np.abs(lengths - 1) < 1e-4) | (lengths == 0))
        assert lengths[0] > 0

    def test_what_says_nothing_has_no_direction(self, embedder: Embedder) -> None:
        assert not embedder.embed(["", " \n "]).any()

    def test_no_texts_are_no_rows(self, embedder: Embedder) -> None:
        assert embedder.embed([]).shape == (0, embedder.dimensions)

    def test_a_text_has_one_direction_in_whatever_company(self, embedder: Embedder) -> None:
        together = embedder.embed(TEXTS)
        alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
        assert np.allclose(together, alone, atol=1e-6)

    def test_its_name_says_more_than_what_it_is(self, embedder: Embedder) -> None:
        assert embedder.name
        assert embedder.dimensions > 0
