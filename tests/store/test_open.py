"""Opening the store of a project: what it sees, what it sweeps, and who is introduced to it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ltm import decisions
from ltm.config.config import load
from ltm.decisions import Add, Decision
from ltm.errors import NotFound
from ltm.files.atomic import TEMP_SUFFIX
from ltm.model import Filter, Memory, Scope, Status
from ltm.project.identity import identify
from ltm.project.layout import Places, places
from ltm.store.file_store import FileStore
from ltm.store.open import open_files, vaults_of
from ltm.store.share import init_shared
from ltm.store.trust import Waiting, record_trust, waiting
from ltm.vault import codec
from tests.project.repos import make_repo
from tests.stores import file_store, make


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
    "add": lambda memory, _: decisions.Add(memory),
    "adopt": lambda memory, _: decisions.Adopt((decisions.Copy(memory),)),
    "supersede": lambda memory, old: decisions.Supersede((old,), memory),
    "contradict": lambda memory, old: decisions.Contradict((old,), memory),
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


@pytest.mark.parametrize("spoil", ["broken", "missing"])
def test_a_hooks_store_takes_a_vault_without_a_usable_index_for_empty(
    where: Places, store: FileStore, spoil: str
) -> None:
    store.create(make("Here"))
    kept = store.create(make("There", scope=Scope.AGENT)).memory
    store.close()
    index = Path(where.private) / "index.db"
    if spoil == "broken":
        index.write_bytes(b"no database" * 500)
    else:
        index.unlink()
    hook = open_files(where, load(where.home), readonly=True)
    assert [each.memory.id for each in hook.list(Filter()).items] == [kept.id]
    assert hook.read(kept.id).memory.title == "There"
    hook.close()
    assert spoil == "missing" or index.read_bytes().startswith(b"no database"), "it only looks"
    assert spoil == "broken" or not index.exists()


def test_a_hooks_index_that_turns_out_to_be_damaged_is_an_error_and_stays(
    where: Places, store: FileStore
) -> None:
    kept = store.create(make("Here"))
    store.close()
    path = Path(where.private) / "index.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE texts SET data = '{'")
    hook = open_files(where, load(where.home), readonly=True)
    with pytest.raises(ValueError, match=r"."):
        hook.list(Filter())
    hook.close()
    assert os.path.exists(kept.path)


def test_a_kept_version_that_is_damaged_is_not_in_the_way_of_the_others(store: FileStore) -> None:
    kept = store.create(make(content="first")).memory
    store.update(kept.id, {"content": "second"})
    store.update(kept.id, {"content": "third"})
    oldest = store.versions(kept.id)[0]
    Path(oldest.path).write_bytes(b"\xff\xfe")
    assert [each.memory.content for each in store.versions(kept.id)] == ["second"]
    assert [each.memory.content for each in store.histories([kept.id])[kept.id]] == ["second"]


def test_a_question_while_someone_holds_the_index_is_not_taken_for_damage(
    store: FileStore, where: Places
) -> None:
    kept = store.create(make("Here"))
    index = store._vaults.index(store.vaults[0])
    index._db.execute("PRAGMA busy_timeout = 0")
    index._db.execute("PRAGMA journal_mode = DELETE")
    os.link(index.path, f"{index.path}.same")
    with closing(sqlite3.connect(index.path, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            index.get(kept.memory.id)
    assert os.path.samefile(index.path, f"{index.path}.same")
    assert index.get(kept.memory.id) is not None


def test_both_are_counted_and_only_as_long_as_they_wait(user_home: Path, tmp_path: Path) -> None:
    repo = make_repo(user_home / "app")

    def here() -> Places:
        return places(str(repo), environ={"HOME": str(user_home)})

    store = file_store(tmp_path)
    assert waiting(store, here()) == Waiting(0, 0)
    store.apply(Add(make("in use")))
    for number in range(2):
        store.apply(Add(make(f"doubtful {number}", status=Status.QUARANTINED)))
    assert waiting(store, here()) == Waiting(quarantined=2, untrusted=0)
    memories = os.path.join(here().shared, "memories")
    os.makedirs(memories)
    for number in range(3):
        brought = make(f"brought {number}")
        Path(memories, f"{brought.id}.md").write_bytes(codec.to_bytes(brought))
    assert waiting(store, here()) == Waiting(quarantined=2, untrusted=3)
    for said, left in ((True, 0), (None, 3), (False, 0)):
        record_trust(here().private, here().project, here().shared, said)
        assert waiting(store, here()).untrusted == left
    store.close()
