"""What waits for a person: memories nobody vouches for, and a vault nobody was asked about."""

from __future__ import annotations

import os
from pathlib import Path

from ltm.decisions import Add
from ltm.model import Status
from ltm.project.layout import Places, places
from ltm.store.open import Waiting, record_trust, waiting
from ltm.vault import codec
from tests.project.repos import make_repo
from tests.stores import file_store, make


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
