"""What `dev/site` refuses of the documentation's site; CI runs it on the real pages."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def site() -> Any:
    loader = SourceFileLoader("site_builder", str(ROOT / "dev" / "site"))
    spec = spec_from_loader("site_builder", loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<a href="other.html#place">', ""),
        ('<a href="https://example.org/x">', ""),
        ('<a href="gone.html">', "gone.html leads nowhere"),
        ('<a href="other.html#gone">', "other.html#gone has no such place"),
        ('<img src="https://example.org/x.png">', "fetches https://example.org/x.png"),
        ('<script src="//example.org/x.js">', "fetches //example.org/x.js"),
    ],
)
def test_dead_links_and_foreign_files_are_found(
    site: Any, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "other.html").write_text('<h2 id="place">')
    (tmp_path / "page.html").write_text(text)
    assert list(site.dead(tmp_path)) == ([f"page.html: {said}"] if said else [])


def test_every_page_stands_in_the_menu(site: Any) -> None:
    docs = ROOT / "docs"
    pages = [str(path.relative_to(docs)) for path in docs.rglob("*.md")]
    assert site.unlisted(pages) == []
    assert site.unlisted(["guides/unknown.md"]) == ["guides/unknown.md"]
