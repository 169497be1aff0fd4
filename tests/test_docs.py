"""What the documents say is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generate import FOLDER, pages

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", sorted(pages()))
def test_a_generated_page_is_fresh(name: str) -> None:
    text = pages()[name]
    assert (FOLDER / name).read_text(encoding="utf-8") == text, "run: python -m docs.generate"


def documents() -> list[Path]:
    return sorted(path for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_inside_the_project_lead_somewhere(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target:
            assert (path.parent / target).exists(), target


def test_the_readme_is_one_screen() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 50


def test_every_room_is_on_the_map() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for folder in sorted((ROOT / "src" / "ltm").iterdir()):
        if folder.is_dir() and not folder.name.startswith("__"):
            assert f"{folder.name}/" in text, folder.name


def test_every_module_is_on_the_map_in_its_room_and_the_map_fits_a_page() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if len(line) > 100] == []
    drawn = text.partition("    src/ltm/\n")[2].partition("    plugin/")[0]
    rooms = re.findall(r"^      (\w+)/(.*?)(?=^      \w+/|\Z)", drawn, flags=re.M | re.S)
    words = {room: set(re.findall(r"\w+", said)) for room, said in rooms}
    top = ROOT / "src" / "ltm"
    missing = [
        str(path)
        for path in (path.relative_to(top) for path in top.rglob("*.py"))
        if len(path.parts) > 1
        and not path.stem.startswith("__")
        and path.stem not in words[path.parts[0]]
        and path.parent.name not in ("cli", "importers")  # "one module per command", "one per tool"
    ]
    assert missing == []
