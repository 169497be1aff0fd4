"""The guide on moving says of every tool what is read and what becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ltm.transfer.importer import IMPORTERS, Importer

GUIDE = Path(__file__).parent.parent.parent / "docs" / "guides" / "moving.md"


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda importer: importer.name)
def test_the_guide_has_the_mapping_of_the_importer(importer: Importer) -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    assert f"`--from {importer.name}` reads {importer.keeps}." in guide
    section = guide.split(f"`--from {importer.name}`")[1].split("\n### ")[0]
    assert section.count("\n|") > 5, "every importer has a table of what is mapped to what"
