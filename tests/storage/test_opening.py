"""Opening the store of a project: what it sees, what it sweeps, and who is introduced to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ltm.core import decision as change
from ltm.core.decision import Decision
from ltm.core.errors import NotFound
from ltm.core.model import Filter, Memory, Scope
from ltm.storage.config import load
from ltm.storage.durable import TEMP_SUFFIX
from ltm.storage.filestore import FileStore
from ltm.storage.gitfiles import init_shared
from ltm.storage.opening import open_files, vaults_of
from ltm.storage.places import Places, places
from ltm.storage.project import identify
from tests.stores import make


@pytest.fixture
def where(tmp_path: Path) -> Places:
    (tmp_path / "code" / "app").mkdir(parents=True)
    return places(str(tmp_path / "code" / "app"), environ={"LTM_HOME": str(tmp_path / "home")})


@pytest.fixture
def store(where: Places) -> Iterator[FileStore]:
    opened = open_files(where, load(where.home))
    yield opened
    opened.close()


NEW: dict[str, Callable[[Memory, str], Decision]] = {
    "add": lambda memory, _: change.Add(memory),
    "adopt": lambda memory, _: change.Adopt((change.Copy(memory),)),
    "supersede": lambda memory, old: change.Supersede((old,), memory),
    "contradict": lambda memory, old: change.Contradict(old, memory),
}


@pytest.mark.parametrize("how", NEW)
def test_a_project_that_got_a_memory_is_known_again_when_it_was_renamed(
    how: str, where: Places, store: FileStore, tmp_path: Path
) -> None:
    old = make("What the agent knows", scope=Scope.AGENT)
    other = places(str(tmp_path), environ={"LTM_HOME": where.home})
    elsewhere = open_files(other, load(where.home))
    elsewhere.create(old)
    elsewhere.close()
    store.apply(NEW[how](make("New here"), old.id))
    os.rename(where.project.root, tmp_path / "code" / "renamed")
    found = identify(str(tmp_path / "code" / "renamed"), where.home)
    assert found.id == where.project.id


def test_asking_makes_nothing(where: Places, store: FileStore) -> None:
    assert store.list(Filter()).total == 0
    with pytest.raises(NotFound):
        store.read("mem_unknown")
    assert not os.path.exists(where.home)


def test_a_hooks_store_sees_what_is_indexed_and_sweeps_nothing(
    where: Places, store: FileStore
) -> None:
    kept = store.create(make()).memory
    left = Path(where.home) / f".config.toml{TEMP_SUFFIX}"
    left.write_text("half")
    hook = open_files(where, load(where.home), readonly=True)
    assert hook.read(kept.id).memory == kept
    hook.close()
    assert left.exists()
    open_files(where, load(where.home)).close()
    assert not left.exists()


def test_memories_stay_private_until_a_person_says_they_trust_the_repository(
    where: Places, tmp_path: Path
) -> None:
    assert [vault.name for vault in vaults_of(where)] == ["private", "agent"]
    init_shared(where.project.root)
    unasked = where._replace(shared_exists=True)
    seen = vaults_of(unasked)
    assert [(vault.name, vault.trusted) for vault in seen] == [
        ("private", True),
        ("agent", True),
        ("shared", False),
    ]
    trusted = vaults_of(unasked._replace(trusted=True))
    assert [vault.name for vault in trusted] == ["shared", "private", "agent"]
    assert all(vault.trusted for vault in trusted)
    # Another checkout of the project may hold another vault under the same private folder.
    other = vaults_of(unasked._replace(shared=str(tmp_path / "other" / ".claude" / "ltm")))
    assert other[-1].local != seen[-1].local
