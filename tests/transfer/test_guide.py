"""The guide on moving says of every tool what its importer does, to the letter."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest

from ltm.transfer.importer import IMPORTERS, Importer

GUIDE = Path(__file__).parent.parent.parent / "docs" / "guides" / "moving.md"


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda importer: importer.name)
def test_the_guide_has_the_mapping_of_the_importer(importer: Importer) -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    assert f"`--from {importer.name}` reads {importer.keeps}." in guide
    module = importlib.import_module(importer.read.__module__)
    lines = inspect.getdoc(module) or ""
    table = [line for line in lines.split("\n") if line.startswith("|")]
    assert len(table) > 5, "every importer has a table of what is mapped to what"
    assert "\n".join(table) in guide
