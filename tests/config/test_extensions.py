"""Other packages plug in by name, found as any installed package would be."""

from __future__ import annotations

from pathlib import Path

import pytest

from ltm.config.config import load
from ltm.config.options import extension, extension_names
from ltm.errors import LtmError, NotFound
from ltm.project.layout import places
from ltm.store.file_store import FileStore
from ltm.store.open import open_store

PACKAGE = """
from ltm.store.open import open_files

def open_elsewhere(places, config):
    store = open_files(places, config)
    store.from_another_package = True
    return store
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real distribution on the path, with its metadata, as pip leaves it."""
    folder = tmp_path / "site"
    info = folder / "ltm_elsewhere-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "ltm_elsewhere.py").write_text(PACKAGE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ltm-elsewhere\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[ltm.stores]\nelsewhere = ltm_elsewhere:open_elsewhere\nbroken = ltm_elsewhere:nothing\n"
    )
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.usefixtures("installed")
def test_a_store_of_another_package_is_opened_when_the_user_names_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text('store = "elsewhere"\n')
    project = tmp_path / "project"
    project.mkdir()
    where = places(str(project), environ={"LTM_HOME": str(home)})
    store = open_store(where, load(where.home, where.shared))
    assert isinstance(store, FileStore)
    assert store.from_another_package  # type: ignore[attr-defined]
    store.close()


@pytest.mark.usefixtures("installed")
def test_a_repository_cannot_choose_the_store(tmp_path: Path) -> None:
    project = tmp_path / "project"
    shared = project / ".claude" / "ltm"
    shared.mkdir(parents=True)
    (shared / "config.toml").write_text('store = "elsewhere"\n')
    where = places(str(project), environ={"LTM_HOME": str(tmp_path / "home")})
    config = load(where.home, where.shared)
    assert config.get("store") == "files"
    assert any("store" in problem.message for problem in config.problems)


@pytest.mark.usefixtures("installed")
def test_an_unknown_name_tells_what_there_is() -> None:
    with pytest.raises(NotFound) as caught:
        extension("ltm.stores", "nowhere")
    assert "broken, elsewhere" in caught.value.hint


@pytest.mark.usefixtures("installed")
def test_an_extension_that_does_not_load_is_named() -> None:
    with pytest.raises(LtmError, match="broken"):
        extension("ltm.stores", "broken")


def test_nothing_installed_offers_what_is_built_in() -> None:
    assert extension_names("ltm.tools") == []
    assert extension_names("ltm.stores") == ["postgres"]
