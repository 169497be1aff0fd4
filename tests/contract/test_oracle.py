"""Random changes to a store beside a plain model of what it must hold (reliability R23).

A crash is a child process that ends in the middle of a change, at a moment hypothesis chooses; what
it leaves is the state before the change or the one after it. LTM_FAULTS=all tries 500 runs of 50
steps.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from ltm.decisions import Add, Decision, Forget, Purge, Reinforce, Restore, Revise, Supersede
from ltm.errors import Conflict, NotFound
from ltm.model import Filter, Memory, Status
from ltm.store.file_store import FileStore
from tests.figures import count
from tests.stores import file_store, make

ALL = os.environ.get("LTM_FAULTS") == "all"
ANY = Filter(statuses=tuple(Status))
TEXTS = st.lists(
    st.sampled_from(("heron", "walrus", "gannet", "otter", "puffin", "lynx", "海豹", "naïve")),
    min_size=1,
    max_size=6,
).map(" ".join)
_MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None
# What a process leaves when it ends is the same on any disk; power cuts are tried elsewhere.
_TOUCHING = ("open", "os.rename", "os.remove", "os.mkdir", "sqlite3.connect", "os.utime")


@dataclass(frozen=True)
class Known:
    """What the model knows of a memory."""

    content: str
    status: Status
    observations: int


def ended_in_the_middle(act: Callable[[], object], after: int) -> None:
    """Act in another process that is gone at the `after`-th time it touches the disk."""
    child = os.fork()
    if child == 0:
        left = [after]

        def watch(event: str, _: object) -> None:
            if event in _TOUCHING:
                left[0] -= 1
                if left[0] < 0:
                    os._exit(9)

        sys.addaudithook(watch)
        try:
            act()
        finally:
            os._exit(0)
    os.waitpid(child, 0)


class Oracle(RuleBasedStateMachine):
    """A store, and a model of it."""

    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp(prefix="ltm-oracle-", dir=_MEMORY))
        self.model: dict[str, Known] = {}
        self.forgotten: dict[str, Known] = {}
        self.store = self.open()

    def open(self) -> FileStore:
        return file_store(self.top)

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.top)
        count("R23", runs=1)

    # -- changes ---------------------------------------------------------------------------------

    @rule(target=ids, text=TEXTS)
    def add(self, text: str) -> str:
        memory = make("A title", text)
        self.store.apply(Add(memory))
        self.model[memory.id] = Known(text, Status.ACTIVE, 1)
        return memory.id

    @rule(memory_id=ids, text=TEXTS)
    def revise(self, memory_id: str, text: str) -> None:
        known = self.model.get(memory_id)
        if self.is_changed(known, Revise(memory_id, {"content": text})):
            assert known is not None
            self.model[memory_id] = Known(text, known.status, known.observations)

    @rule(memory_id=ids, text=TEXTS)
    def revise_what_has_changed_since(self, memory_id: str, text: str) -> None:
        if memory_id not in self.model:
            return
        try:
            self.store.apply(Revise(memory_id, {"content": text}, expected="0" * 16))
        except Conflict:
            return
        raise AssertionError("an outdated change was made")

    @rule(memory_id=ids)
    def reinforce(self, memory_id: str) -> None:
        known = self.model.get(memory_id)
        if known is not None and known.status is Status.ACTIVE:
            self.store.apply(Reinforce(memory_id))
            self.model[memory_id] = Known(known.content, known.status, known.observations + 1)

    @rule(memory_id=ids)
    def forget(self, memory_id: str) -> None:
        known = self.model.get(memory_id)
        if known is None or known.status is not Status.ACTIVE:
            return
        self.store.apply(Forget(memory_id))
        self.model[memory_id] = Known("", Status.FORGOTTEN, known.observations)
        self.forgotten[memory_id] = known

    @rule(memory_id=ids)
    def restore(self, memory_id: str) -> None:
        known = self.forgotten.pop(memory_id, None)
        if known is not None:
            self.store.apply(Restore(memory_id))
            self.model[memory_id] = known

    @rule(target=ids, memory_id=ids, text=TEXTS)
    def supersede(self, memory_id: str, text: str) -> str:
        memory = make("A newer title", text)
        known = self.model.get(memory_id)
        if known is None or known.status is not Status.ACTIVE:
            self.store.apply(Add(memory))
        else:
            self.store.apply(Supersede((memory_id,), memory))
            self.model[memory_id] = Known(known.content, Status.SUPERSEDED, known.observations)
        self.model[memory.id] = Known(text, Status.ACTIVE, 1)
        return memory.id

    @rule(memory_id=consumes(ids))
    def purge(self, memory_id: str) -> None:
        if self.is_changed(self.model.get(memory_id), Purge(memory_id)):
            del self.model[memory_id]
            self.forgotten.pop(memory_id, None)

    # -- what happens to it ----------------------------------------------------------------------

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.open()

    @rule()
    def lose_the_index(self) -> None:
        self.store.close()
        for path in self.top.rglob("index.db*"):
            path.unlink()
        self.store = self.open()

    @rule(memory_id=ids, text=TEXTS, after=st.integers(0, 40))
    def crash_while_changing(self, memory_id: str, text: str, after: int) -> None:
        known = self.model.get(memory_id)
        if known is None or known.status is not Status.ACTIVE:
            return
        self.store.close()
        decision = Revise(memory_id, {"content": text})
        ended_in_the_middle(lambda: self.open().apply(decision), after)
        self.store = self.open()
        content = self.store.read(memory_id).memory.content
        assert content in (known.content, text)
        self.model[memory_id] = Known(content, known.status, known.observations)

    @rule(text=TEXTS, after=st.integers(0, 40))
    def crash_while_adding(self, text: str, after: int) -> None:
        memory = make("A title", text)
        self.store.close()
        ended_in_the_middle(lambda: self.open().apply(Add(memory)), after)
        self.store = self.open()
        try:
            kept = self.store.read(memory.id).memory.content
        except NotFound:
            return
        assert kept == text
        self.model[memory.id] = Known(text, Status.ACTIVE, 1)

    # -- what must hold --------------------------------------------------------------------------

    @invariant()
    def the_store_holds_what_the_model_holds(self) -> None:
        count("R23", steps=1)
        found: dict[str, Memory] = {
            each.memory.id: each.memory for each in self.store.list(ANY).items
        }
        assert found.keys() == self.model.keys()
        for memory_id, known in self.model.items():
            memory = found[memory_id]
            assert (memory.status, memory.observations) == (known.status, known.observations)
            if known.status is not Status.FORGOTTEN:
                assert memory.content == known.content
        assert self.store.problems() == []

    @invariant()
    def a_question_finds_what_is_in_force(self) -> None:
        having = {
            memory_id
            for memory_id, known in self.model.items()
            if known.status is Status.ACTIVE and "walrus" in known.content
        }
        matches = self.store.search("walrus", Filter(), 1_000)
        assert {each.stored.memory.id for each in matches.items} == having

    def is_changed(self, known: Known | None, decision: Decision) -> bool:
        """Make a change that may not be possible; whether it was made."""
        if known is not None:
            if known.status is Status.FORGOTTEN and not isinstance(decision, Purge):
                return False
            self.store.apply(decision)
            return True
        try:
            self.store.apply(decision)
        except NotFound:
            return False
        raise AssertionError("something that is not there was changed")


TestOracle = Oracle.TestCase
TestOracle.settings = settings(
    max_examples=500 if ALL else 20,
    stateful_step_count=50 if ALL else 25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
