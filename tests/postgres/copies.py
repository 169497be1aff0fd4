"""Copies of a team's project that push and pull, and what files would have made of the same."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import NamedTuple

from ltm import decisions
from ltm.decisions import Decision, Forget, Reinforce, Revise
from ltm.kinds import Kinds
from ltm.model import Impact, Memory, Status, from_record
from ltm.vault import codec, frontmatter
from ltm.vault.merge import merge
from ltm.vault.vault import etag
from ltm_server.postgres.changes import Receipt, Sent, pull, push
from ltm_server.postgres.rows import as_file
from ltm_server.postgres.store import PostgresStore

AT = datetime(2026, 3, 1, tzinfo=UTC)
WORDS = ["heron", "walrus", "gannet", "otter", "puffin", "lynx"]
KINDS = Kinds()
_keys = count()


class Step(NamedTuple):
    """A decision that was sent, on which state of the memory, and the answer."""

    decision: Decision
    base: Memory
    receipt: Receipt


@dataclass
class ProjectCopy:
    """What one client has of the project."""

    store: PostgresStore
    memories: dict[str, Memory] = field(default_factory=dict)
    etags: dict[str, str] = field(default_factory=dict)
    cursor: int = 0
    steps: list[Step] = field(default_factory=list)

    def pull(self, limit: int = 500) -> None:
        """Take every change there is."""
        more = True
        while more:
            pulled = pull(self.store, self.cursor, limit)
            numbers = [each.seq for each in pulled.changes]
            assert numbers == sorted(set(numbers))
            for each in pulled.changes:
                assert each.seq > self.cursor
                if each.record is None:
                    self.memories.pop(each.id, None)
                    self.etags.pop(each.id, None)
                else:
                    self.memories[each.id] = from_record(each.record)
                    self.etags[each.id] = each.etag
            self.cursor, more = pulled.cursor, pulled.more

    def send(self, decision: Decision) -> Receipt:
        """Send a decision about a memory as this copy has it."""
        assert isinstance(decision, Revise | Reinforce | Forget)
        name = decision.id
        sent = Sent(f"key-{next(_keys)}", decision, self.etags[name])
        (receipt,) = push(self.store, [sent])
        self.steps.append(Step(decision, self.memories[name], receipt))
        return receipt

    def decide(self, luck: random.Random) -> Decision:
        """Some decision about some memory."""
        memory = luck.choice(sorted(self.memories.values()))
        word = luck.choice(WORDS)
        lines = memory.content.splitlines() or [""]
        lines.insert(luck.randrange(len(lines) + 1), f"{word} {luck.randrange(100)}")
        changes = luck.choice(
            (
                {"content": "\n".join(lines[-12:])},
                {"tags": tuple(dict.fromkeys((*memory.tags, word)))},
                {"tags": memory.tags[1:]},
                {"impact": luck.choice(list(Impact))},
                {"pinned": luck.random() < 0.5, "reason": f"for the {word}"},
            )
        )
        if luck.random() < 0.3:
            return Reinforce(memory.id)
        return Revise(memory.id, changes)


def as_files(first: Iterable[Memory], steps: Iterable[Step]) -> dict[str, Memory]:
    """What the merge of files makes of the same decisions, in the order in which they were kept.

    Every answer must name the state that the files are in then. A confirmation is counted on what
    is there.
    """
    current = {each.id: each for each in first}
    for step in sorted(steps, key=lambda each: each.receipt.seq):
        assert not step.receipt.error, step
        if not step.receipt.seq:
            continue  # it changed nothing
        name = step.receipt.id
        ours = current[name]
        base = ours if isinstance(step.decision, Reinforce) else step.base
        theirs = effect(step.decision, base)
        if ours != base:
            base_file, our_file, their_file = (
                as_file(each, KINDS) for each in (base, ours, theirs)
            )
            path = codec.file_name(ours)
            data = merge(base_file, our_file, their_file, path)
            theirs = codec.decode(frontmatter.parse(data, path), path, KINDS)
        current[name] = theirs
        assert etag(as_file(theirs, KINDS)) == step.receipt.etag, step
    return current


def effect(decision: Decision, memory: Memory) -> Memory:
    """What a decision makes of a memory."""
    if isinstance(decision, Revise):
        return decisions.revised(memory, decision.changes, AT)
    if isinstance(decision, Reinforce):
        return decisions.reinforced(memory, decision.source, AT)
    assert isinstance(decision, Forget)
    return decisions.forgotten(memory, AT) if memory.status is not Status.FORGOTTEN else memory
