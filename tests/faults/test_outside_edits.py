"""People, editors and git change files under an open store (reliability R8).

The next answer is what the files say; a change that was decided on an older text is not made; what
nobody asked to change stays as it is to the byte.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ltm.decisions import Revise
from ltm.errors import Conflict, LtmError
from ltm.kinds import Kinds
from ltm.model import Filter, Memory, Scope, Status
from ltm.state.usage import State
from ltm.store.file_store import FileStore
from ltm.vault import codec, frontmatter
from ltm.vault.vault import Vault, etag
from tests.figures import count
from tests.project.repos import git, make_repo
from tests.stores import make

ANY = Filter(statuses=tuple(Status))
EDITS = 500
SEED = 20_261_115
WORDS = ("amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repository")


@pytest.fixture
def vault(repository: Path) -> Vault:
    return Vault("shared", str(repository / ".claude" / "ltm"), shared=True)


@pytest.fixture
def store(vault: Vault, tmp_path: Path) -> Iterator[FileStore]:
    opened = open_store(vault, tmp_path)
    yield opened
    opened.close()


def open_store(vault: Vault, tmp_path: Path) -> FileStore:
    homes = {Scope.PROJECT: vault, Scope.AGENT: vault}
    return FileStore((vault,), homes, State(str(tmp_path / "state.db")), Kinds())


class Outsider:
    """Somebody who changes the files without asking us."""

    def __init__(self, repository: Path, seed: int, vault: str = ".claude/ltm") -> None:
        self.repository = repository
        self.folder = repository / vault / "memories"
        self.random = random.Random(seed)
        self.ways: list[Callable[[], None]] = [
            self.sed,
            self.copy_over,
            self.write_in_place,
            self.truncate,
            self.same_size,
            self.save_by_renaming,
            self.save_like_an_editor,
            self.rename,
            self.crlf,
            self.bom,
            self.add,
            self.remove,
            self.break_it,
            self.mend,
            self.checkout,
        ]

    def act(self) -> str:
        """One change; the name of what was done."""
        way = self.random.choice(self.ways)
        way()
        return way.__name__

    def pick(self) -> Path:
        return self.random.choice(sorted(self.folder.glob("*.md")))

    def word(self) -> str:
        return f"{self.random.choice(WORDS)}{self.random.randrange(1000)}"

    def memory(self) -> bytes:
        return codec.to_bytes(make(self.word(), id=f"mem_{self.word()}"))

    def sed(self) -> None:
        script = f"s/^title: .*/title: {self.word()}/"
        subprocess.run(["sed", "-i", script, str(self.pick())], check=True)

    def copy_over(self) -> None:
        source, target = self.pick(), self.pick()
        shutil.copyfile(source, target) if source != target else self.sed()

    def write_in_place(self) -> None:
        path = self.pick()
        data = path.read_bytes()
        path.write_bytes(data + f"{self.word()}\n".encode())

    def truncate(self) -> None:
        path = self.pick()
        os.truncate(path, self.random.randrange(path.stat().st_size + 1))

    def same_size(self) -> None:
        path = self.pick()
        data = bytearray(path.read_bytes())
        letters = [place for place, byte in enumerate(data) if byte in b"abcdefgh"]
        if letters:
            place = self.random.choice(letters)
            data[place] = self.random.choice(b"abcdefgh")
            with path.open("r+b") as file:
                file.write(data)

    def save_by_renaming(self) -> None:
        path = self.pick()
        new = path.with_name(f".{path.name}.swp")
        new.write_bytes(path.read_bytes() + f"{self.word()}\n".encode())
        new.replace(path)

    def save_like_an_editor(self) -> None:
        path = self.pick()
        path.rename(path.with_name(path.name + "~"))
        path.write_bytes(path.with_name(path.name + "~").read_bytes() + b"saved\n")
        path.with_name(path.name + "~").unlink()

    def rename(self) -> None:
        self.pick().rename(self.folder / f"{self.word()}.md")

    def crlf(self) -> None:
        path = self.pick()
        path.write_bytes(re.sub(rb"\r?\n", b"\r\n", path.read_bytes()))

    def bom(self) -> None:
        path = self.pick()
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().removeprefix(b"\xef\xbb\xbf"))

    def add(self) -> None:
        (self.folder / f"{self.word()}.md").write_bytes(self.memory())

    def remove(self) -> None:
        if len(list(self.folder.glob("*.md"))) > 6:
            self.pick().unlink()

    def break_it(self) -> None:
        self.pick().write_bytes(self.random.choice([b"", b"\0", b"---\nid: [\n---\n", b"<<<<<<<"]))

    def mend(self) -> None:
        self.pick().write_bytes(self.memory())

    def checkout(self) -> None:
        """Another state of the branch, as a pull or a switch would bring it."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", self.word())
        older = self.random.randrange(3)
        self.git("checkout", "-q", f"HEAD~{older}", "--", ".", may_fail=True)

    def git(self, *words: str, may_fail: bool = False) -> None:
        git(self.repository, *words, check=not may_fail)


def read_all(vault: Vault) -> tuple[dict[str, tuple[Memory, str]], set[str]]:
    """What the files say, read one by one without any index; of two files with one id the first."""
    said: dict[str, tuple[Memory, str]] = {}
    bad: set[str] = set()
    for name in sorted(vault.names()):
        path = vault.path(name)
        data = Path(path).read_bytes()
        try:
            memory = codec.decode(frontmatter.parse(data, path), path, Kinds())
        except LtmError:
            bad.add(path)
            continue
        if memory.id in said:
            bad.add(path)
        else:
            said[memory.id] = (memory, etag(data))
    return said, bad


def test_the_next_answer_is_what_the_files_say(
    store: FileStore, vault: Vault, repository: Path
) -> None:
    for word in WORDS:
        store.create(make(f"{word} at first", id=f"mem_{word}"))
    outsider = Outsider(repository, SEED)
    done: list[str] = []
    wrong: list[tuple[int, int, list[str]]] = []
    for number in range(EDITS):
        done.append(outsider.act())
        said, bad = read_all(vault)
        shown = {each.memory.id: (each.memory, each.etag) for each in store.list(ANY).items}
        if shown != said or {each.path for each in store.problems()} != bad:
            wrong.append((SEED, number, done[-3:]))
    count("R8", edits=EDITS, wrong_answers=len(wrong))
    assert not wrong
    assert set(done) == {way.__name__ for way in outsider.ways}


def test_a_change_decided_on_an_older_text_is_not_made(
    store: FileStore, vault: Vault, repository: Path
) -> None:
    for word in WORDS:
        store.create(make(f"{word} at first", id=f"mem_{word}"))
    outsider = Outsider(repository, SEED + 1)
    conflicts = 0
    for number in range(200):
        seen = store.list(ANY).items
        outsider.act()
        before = {name: Path(vault.path(name)).read_bytes() for name in vault.names()}
        now = read_all(vault)[0]
        chosen = next(
            (each for each in seen if now.get(each.memory.id, ("", ""))[1] != each.etag), seen[0]
        )
        decision = Revise(chosen.memory.id, {"content": "decided long ago"}, expected=chosen.etag)
        if now.get(chosen.memory.id, (None, ""))[1] == chosen.etag:
            store.apply(decision)
            continue
        with pytest.raises(LtmError) as refused:
            store.apply(decision)
        conflicts += refused.type is Conflict
        after = {name: Path(vault.path(name)).read_bytes() for name in vault.names()}
        assert after == before, (SEED, number)
    count("R8", edits=200, conflicts_refused=conflicts)
    assert conflicts >= 50


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "BOM"])
def test_what_no_one_asked_to_change_stays_to_the_byte(
    store: FileStore, ending: bytes, mark: bytes
) -> None:
    path = Path(store.create(make("a title", "some\n\n  content")).path)
    text = path.read_bytes().replace(b"kind: fact\n", b"kind: fact # mine\nmood:   'glad'\n")
    text = text.replace(b"some\n", b"some  \t\n- [ ] a list\n")
    path.write_bytes(mark + text.replace(b"\n", ending))
    before = path.read_bytes().split(ending)
    memory = store.list(Filter()).items[0].memory
    store.update(memory.id, {"tags": ("new", "tags")})
    after = path.read_bytes()
    assert after.startswith(mark)
    assert after.count(b"\r") == (0 if ending == b"\n" else after.count(b"\n"))
    kept = [line for line in before if not line.startswith((b"updated:", b"tags:"))]
    rest = iter(after.split(ending))
    assert all(line in rest for line in kept), "a line is gone or moved"


class EditedMeanwhile(Vault):
    """A vault in which somebody saves a file while we are about to change it."""

    text = b""

    def archive(self, memory_id: str, version: int, data: bytes) -> str:
        made = super().archive(memory_id, version, data)
        (name,) = (each for each in self.names() if memory_id in each)
        Path(self.path(name)).write_bytes(data + self.text)
        return made


def test_what_was_saved_at_the_last_moment_is_not_overwritten(tmp_path: Path) -> None:
    vault = EditedMeanwhile("private", str(tmp_path / "vault"))
    store = open_store(vault, tmp_path)
    kept = store.create(make("a title", "some content"))
    vault.text = b"\nsaved a moment ago\n"
    with pytest.raises(Conflict, match="changed elsewhere"):
        store.update(kept.memory.id, {"content": "ours"})
    assert Path(kept.path).read_bytes().endswith(vault.text)
    assert "saved a moment ago" in store.read(kept.memory.id).memory.content
    vault.text = b""
    assert store.update(kept.memory.id, {"content": "ours"}).memory.content == "ours"
    assert list(tmp_path.rglob("*.tmp")) == []
    store.close()
