"""What a person said about a repository's memories is kept under its place, and can be taken back.

The file outlives versions of ltm, so its name and its words are told here as they stand on disks.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ltm.project.identity import Project, identify
from ltm.project.layout import trust_answer as answer
from ltm.store.trust import record_trust
from tests.project.repos import make_repo

pytestmark = pytest.mark.usefixtures("user_home")


@pytest.fixture
def project(user_home: Path, tmp_path: Path) -> Project:
    make_repo(user_home / "app")
    return identify(str(user_home / "app"), str(tmp_path / "ltm"))


@pytest.fixture
def private(tmp_path: Path) -> Path:
    return tmp_path / "private"


def shared(project: Project) -> str:
    return os.path.join(project.root, ".claude", "ltm")


def written(private: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((private / "trust.json").read_bytes())
    return found


@pytest.mark.parametrize("trusted", [True, False])
def test_an_answer_is_kept_by_the_place_of_the_repository_and_of_the_vault_in_it(
    project: Project, private: Path, trusted: bool
) -> None:
    assert answer(str(private), project, shared(project)) is None
    record_trust(str(private), project, shared(project), trusted)
    place = os.path.realpath(os.path.join(project.root, ".git"))
    assert written(private) == {f"{place}: .claude/ltm": trusted}
    assert answer(str(private), project, shared(project)) is trusted
    assert answer(str(private), project, os.path.join(project.root, "other")) is None
    record_trust(str(private), project, shared(project), None)
    assert written(private) == {}
    assert answer(str(private), project, shared(project)) is None
    assert sorted(os.listdir(private)) == [".lock", "trust.json"]


@pytest.mark.parametrize("said", ['"true"', "1", "null", "[true]"])
def test_only_a_plain_yes_is_one(project: Project, private: Path, said: str) -> None:
    private.mkdir()
    place = os.path.realpath(os.path.join(project.root, ".git"))
    for text, found in ((said, None), ("true", True)):
        (private / "trust.json").write_text(f'{{"{place}: .claude/ltm": {text}}}')
        assert answer(str(private), project, shared(project)) is found
    (private / "trust.json").write_text("nonsense")
    assert answer(str(private), project, shared(project)) is None


def test_an_index_that_came_along_is_not_believed_once_its_vault_is_trusted(
    project: Project, private: Path
) -> None:
    brought = [os.path.join(shared(project), name) for name in ("index.db", "vectors.db")]
    os.makedirs(shared(project))
    (private / "untrusted-00112233").mkdir(parents=True)
    (private / "kept").mkdir()
    for path in brought:
        Path(path).write_bytes(b"what somebody else wants it to say")
    record_trust(str(private), project, shared(project), False)
    assert all(map(os.path.exists, brought))
    assert sorted(os.listdir(private)) == [".lock", "kept", "trust.json"]
    record_trust(str(private), project, shared(project), True)
    assert not any(map(os.path.exists, brought))
    # Ours by now, and not thrown away for saying yes once more.
    Path(brought[0]).write_bytes(b"ours")
    record_trust(str(private), project, shared(project), True)
    assert os.path.exists(brought[0])
