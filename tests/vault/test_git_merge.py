"""Real git repositories: two branches, rebases and a ring of clones lose no fact and no file.

reliability R9 and §0 item 4, each twice: with our merge driver, and in a clone that has nothing but
the tracked `.gitattributes`, where git's own union leaves keys twice and lines repeated.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from ltm.errors import LtmError
from ltm.model import Impact, Memory, Phase, Status
from ltm.vault.codec import decode, to_bytes
from ltm.vault.frontmatter import parse
from tests import figures
from tests.project.repos import git, make_repo
from tests.vault.strategies import KINDS, memory

DRIVER = f"'{sys.executable}' -m ltm.vault.merge %O %A %B %P"
ALL = os.environ.get("LTM_FAULTS") == "all"
EDITS = 200 if ALL else 60
"""Memories that each of two branches edits, and as many that each adds."""

RING = 12 if ALL else 3
"""Memories that each of five clones edits."""

ATTRIBUTES = "memories/*.md merge=union\narchives/*.md merge=union\n"


@dataclass
class Clone:
    """A work tree with memories in it, and the facts that were put into it."""

    folder: Path
    name: str
    facts: set[tuple[str, str]] = field(default_factory=set)

    def path(self, made: Memory, folder: str = "memories") -> Path:
        name = f"{made.id}.md"  # a title may change, and a file keeps the name it was born with
        return self.folder / folder / name

    def save(self, made: Memory, *facts: str) -> None:
        """Write a memory as the store does: over its file, keeping what it does not change."""
        path = self.path(made)
        base = parse(path.read_bytes(), str(path)) if path.exists() else None
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(to_bytes(made, base))
        self.facts |= {(made.id, fact) for fact in facts}

    def archive(self, made: Memory) -> None:
        path = self.path(made, "archives")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(to_bytes(made))

    def load(self, path: Path) -> Memory:
        return decode(parse(path.read_bytes(), str(path)), str(path), KINDS)

    def commit(self, message: str) -> None:
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "-q", "-m", message)

    def merge(self, what: str) -> None:
        """Merge a branch, and count what git could not."""
        git(self.folder, "merge", "-q", "--no-edit", what, check=False)
        conflicts = git(self.folder, "diff", "--name-only", "--diff-filter=U").splitlines()
        figures.count("R9", merges=1, conflicts=len(conflicts))
        assert conflicts == []

    def check(self, facts: set[tuple[str, str]]) -> None:
        """No file is in conflict, every one reads, and every fact is in its memory's words."""
        assert git(self.folder, "status", "--porcelain") == ""
        words: dict[str, str] = {}
        marked: list[Path] = []
        unread: list[Path] = []
        paths = sorted(self.folder.glob("*/*.md"))
        for path in paths:
            data = path.read_bytes()
            if b"<<<<<<<" in data or b">>>>>>>" in data:
                marked.append(path)
            try:
                found = self.load(path)
            except LtmError:
                unread.append(path)
                continue
            parts = (found.title, found.reason, found.text, found.content, " ".join(found.tags))
            words[found.id] = "\n".join((words.get(found.id, ""), *parts))
        lost = {(name, fact) for name, fact in facts if fact not in words.get(name, "")}
        figures.count(
            "R9",
            files=len(paths),
            facts=len(facts),
            markers=len(marked),
            unreadable=len(unread),
            facts_lost=len(lost),
        )
        assert (marked, unread, lost) == ([], [], set())


@pytest.fixture(params=["driver", "union"])
def repo(request: pytest.FixtureRequest, tmp_path: Path) -> Clone:
    folder = make_repo(tmp_path / "repo")
    (folder / ".gitattributes").write_text(ATTRIBUTES)
    clone = Clone(folder, "main")
    if request.param == "driver":
        install(folder)
    return clone


def install(folder: Path) -> None:
    """What `ltm init` does on each machine: our driver before the tracked attribute."""
    git(folder, "config", "merge.ltm.driver", DRIVER)
    attributes = folder / ".git" / "info" / "attributes"
    attributes.parent.mkdir(exist_ok=True)
    attributes.write_text(ATTRIBUTES.replace("union", "ltm"))


def has_driver(clone: Clone) -> bool:
    return "merge=ltm" in git(clone.folder, "check-attr", "merge", "memories/x.md").replace(
        "merge: ", "merge="
    )


def born(number: int, clone: str = "base") -> Memory:
    lines = [f"Line {line} of {clone} {number}." for line in range(1, 9)]
    return memory(
        id=f"mem_{clone}{number:03d}",
        title=f"Memory {number} of {clone}",
        summary=f"Summary of {clone} {number}.",
        content="\n".join(lines),
        tags=("common", f"tag{number}"),
        observations=2,
    )


Edit = Callable[[Clone, Memory], None]


def later(made: Memory, side: Clone) -> Memory:
    """Every change moves `updated`, by another amount on each side."""
    return made._replace(updated=made.updated + timedelta(hours=len(side.name)))


def set_fields(side: Clone, made: Memory) -> None:
    fact = f"Reason of {side.name} for {made.id}."
    change = later(made, side)._replace(impact=Impact.HIGH, reason=fact)
    side.save(change, fact)


def count(side: Clone, made: Memory) -> None:
    change = later(made, side)
    side.save(change._replace(observations=5, confidence=0.5, confirmed=change.updated))


def rename(side: Clone, made: Memory) -> None:
    title = f"Title by {side.name}: {made.id}"
    side.save(later(made, side)._replace(title=title), title)


def retag(side: Clone, made: Memory) -> None:
    tags = (f"by-{side.name}", f"tag{made.id[-3:]}x")
    side.save(later(made, side)._replace(tags=tags), *tags)


def edit_first(side: Clone, made: Memory) -> None:
    fact = f"First line by {side.name}."
    lines = made.content.splitlines()
    side.save(later(made, side)._replace(content="\n".join([fact, *lines[1:]])), fact)


def edit_last(side: Clone, made: Memory) -> None:
    fact = f"Appended by {side.name}."
    side.save(later(made, side)._replace(content=f"{made.content}\n{fact}"), fact)


def rewrite(side: Clone, made: Memory) -> None:
    facts = [f"{part} rewritten by {side.name}." for part in ("Summary", "First", "Second")]
    change = later(made, side)._replace(summary=facts[0], content=f"{facts[1]}\n\n{facts[2]}")
    side.save(change, *facts)


def evict(side: Clone, made: Memory) -> None:
    side.archive(made)
    change = later(made, side)._replace(phase=Phase.HINT, content=made.content.splitlines()[0])
    side.save(change)


def forget(side: Clone, made: Memory) -> None:
    side.archive(made)
    change = later(made, side)._replace(status=Status.FORGOTTEN, summary="", content="")
    side.save(change)


# What the one branch does to a memory while the other does that.
CLASHES: tuple[tuple[Edit, Edit], ...] = (
    (set_fields, count),
    (set_fields, set_fields),
    (rename, rename),
    (retag, retag),
    (edit_first, edit_first),
    (edit_first, edit_last),
    (rewrite, rewrite),
    (evict, edit_last),
    (edit_first, evict),
    (forget, edit_last),
)


def branches(repo: Clone, memories: int) -> tuple[Clone, Clone]:
    """Two branches that each add as many memories as they edit of the same ones."""
    for number in range(memories):
        repo.save(born(number))
    repo.commit("base")
    sides = Clone(repo.folder, "left"), Clone(repo.folder, "right")
    for place, side in enumerate(sides):
        git(repo.folder, "checkout", "-q", "-b", side.name, "main")
        for number in range(memories):
            CLASHES[number % len(CLASHES)][place](side, born(number))
            own = born(number, side.name)
            side.save(own, own.title, *own.content.splitlines())
        for number in range(memories // 10):  # the same id, added on both sides
            both = born(number, "both")._replace(title=f"Added by {side.name}")
            lines = [f"{side.name} knows this {number}.", f"And {side.name} this."]
            side.save(both._replace(content="\n".join(lines)), *lines, both.title)
        side.commit(side.name)
    return sides


def test_two_branches_of_as_many_additions_as_edits_merge_without_a_conflict(repo: Clone) -> None:
    left, right = branches(repo, EDITS)
    repo.merge("left")
    repo.check(left.facts | right.facts)
    assert len(list(repo.folder.glob("memories/*.md"))) == 3 * EDITS + EDITS // 10

    assert "Line 8 of base 7." in repo.load(repo.path(born(7))).content
    assert repo.load(repo.path(born(9))).status is Status.FORGOTTEN

    files = repo.folder.glob("memories/*.md")
    repeated = [path for path in files if parse(path.read_bytes(), str(path)).repeated]
    assert bool(repeated) != has_driver(repo)
    if not has_driver(repo):
        return
    assert repo.load(repo.path(born(7))).phase is Phase.FULL
    counted = repo.load(repo.path(born(0)))
    assert (counted.impact, counted.observations) == (Impact.HIGH, 5)


def test_a_rebase_and_a_cherry_pick_lose_nothing(repo: Clone) -> None:
    left, right = branches(repo, 10)
    git(repo.folder, "checkout", "-q", "-b", "picked", "left")
    git(repo.folder, "cherry-pick", "right")
    repo.check(left.facts | right.facts)
    git(repo.folder, "checkout", "-q", "right")
    git(repo.folder, "rebase", "-q", "left")
    repo.check(left.facts | right.facts)


def test_five_clones_in_a_ring_end_with_every_fact(repo: Clone, tmp_path: Path) -> None:
    """Each pulls from its neighbour at the same time, so the histories cross."""
    for number in range(RING):
        repo.save(born(number))
    repo.commit("base")
    ring = [Clone(tmp_path / name, name) for name in ("ada", "barb", "carol", "denise", "evelyn")]
    for clone in ring:
        git(tmp_path, "clone", "-q", str(repo.folder), clone.name)
        if has_driver(repo):
            install(clone.folder)
    for clone in ring:
        for number in range(RING):
            (edit_first, rename, edit_last)[number % 3](clone, born(number))
        own = born(0, clone.name)
        clone.save(own, own.title)
        clone.commit(clone.name)
    facts = {fact for clone in ring for fact in clone.facts}
    for _ in ring[1:]:
        for clone, neighbour in zip(ring, [*ring[1:], ring[0]], strict=True):
            git(clone.folder, "fetch", "-q", str(neighbour.folder), "main")
        for clone in ring:
            clone.merge("FETCH_HEAD")
    for clone in ring:
        clone.check(facts)
