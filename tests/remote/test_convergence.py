"""Whatever machines decide and in whatever order they sync, they end equal and nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm.config.config import load
from ltm.decisions import Add, Forget, Restore, Revise
from ltm.model import Filter, Memory, Scope, Source, Status, new_id, now
from ltm.project.layout import places
from ltm.remote.contents import Settings
from ltm.remote.sync import sync
from ltm.store.file_store import FileStore
from ltm.store.open import open_files
from ltm.upkeep.purge import purge_in_vaults
from tests.project.repos import make_repo
from tests.remote.machines import ADDRESS, bare

pytestmark = pytest.mark.skipif(os.name == "nt", reason="one process at a time there")

ALL = Filter(statuses=tuple(Status))
STEPS = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.sampled_from(("add", "edit", "edit", "by hand", "forget", "restore", "sync", "sync")),
        st.integers(0, 5),
    ),
    max_size=14,
)


class Home:
    """A machine in this process."""

    def __init__(self, top: Path, name: str, remote: str) -> None:
        self.project = make_repo(top / name / "shop", ADDRESS, first="the shop")
        self.env = {"HOME": str(top / name), "LTM_HOME": str(top / name / ".ltm")}
        self.path = top / name / ".ltm"
        self.settings = Settings(str(self.path), remote, name)
        self.settings.save()

    @contextmanager
    def store(self) -> Iterator[FileStore]:
        where = places(str(self.project), environ=self.env)
        with closing(open_files(where, load(where.home))) as store:
            yield store

    def sync(self) -> None:
        sync(self.settings, purge_in_vaults)

    def do(self, what: str, which: int, line: str) -> bool:
        """One decision about one of the memories; whether it could be made."""
        if what == "sync":
            self.sync()
            return False
        with self.store() as store:
            found = sorted(store.list(ALL).items, key=lambda each: each.memory.id)
            if what == "add" or not found:
                at = now()
                scope = Scope.PROJECT if which % 2 else Scope.AGENT
                new = Memory(
                    id=new_id(at), kind="fact", title=line, summary="",
                    content=f"Begun.\n{line}\nEnd.",
                    scope=scope, source=Source(), created=at, confirmed=at, updated=at,
                )  # fmt: skip
                store.apply(Add(new))
                return True
            stored = found[which % len(found)]
            memory = stored.memory
            if what == "edit" and memory.status is Status.ACTIVE:
                store.apply(Revise(memory.id, {"content": f"{memory.content}\n{line}"}))
            elif what == "by hand" and memory.status is Status.ACTIVE:
                path = Path(stored.path)
                path.write_text(path.read_text().replace("Begun.", f"Begun.\n{line}", 1))
                return "Begun." in path.read_text()
            elif what == "forget" and memory.status is Status.ACTIVE:
                store.apply(Forget(memory.id))
                return False
            elif what == "restore" and memory.status is Status.FORGOTTEN:
                store.apply(Restore(memory.id))
                return False
            else:
                return False
            return True

    def files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.path)): path.read_bytes()
            for part in ("memories", "archives")
            for path in self.path.glob(f"*/*/{part}/*.md")
        }


@settings(max_examples=12)
@given(STEPS)
def test_two_machines_end_equal_and_nothing_is_lost(steps: list[tuple[int, str, int]]) -> None:
    with TemporaryDirectory() as folder:
        top = Path(folder)
        remote = bare(top)
        homes = Home(top, "one", remote), Home(top, "two", remote)
        lines = []
        for number, (home, what, which) in enumerate(steps):
            line = f"What was learned in step {number:03} stays known."
            if homes[home].do(what, which, line):
                lines.append(line)
        for each in (*homes, *homes):
            each.sync()
        one, two = homes[0].files(), homes[1].files()
        assert one == two
        text = b"\n".join(one.values()).decode()
        assert [line for line in lines if line not in text] == []
        with homes[0].store() as store, homes[1].store() as other:
            assert store.problems() == other.problems() == []
            assert [each.memory for each in store.list(ALL).items] == [
                each.memory for each in other.list(ALL).items
            ]
        before = homes[0].files()
        homes[0].sync()
        homes[1].sync()
        assert homes[0].files() == homes[1].files() == before
