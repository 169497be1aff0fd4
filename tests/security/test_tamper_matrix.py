"""Every field of a memory × {changed, deleted, swapped with another's}: seen, once a key is set.

Fields that change by design (confirmations, phases, statuses and the like) change through the
store, which signs anew; the same change made in the file is tampering like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from ltm.config.config import load
from ltm.decisions import Adopt, Copy
from ltm.inject.session_start import tell
from ltm.model import Filter, Impact, Memory, Phase, Scope, Source, Status, Trust
from ltm.project.layout import places
from ltm.store.apply import state_of
from ltm.store.file_store import FileStore
from ltm.store.open import open_files
from ltm.vault import codec, frontmatter, signing
from ltm.vault.fields import FIELDS, Value
from ltm.vault.signing import Key, SignatureState
from tests.stores import START, make

TEXTS = ("summary", "content")
KEYS = (*(field.key for field in FIELDS), *TEXTS)
WAYS = ("change", "delete", "swap")

# Two memories that differ in every field, none of them at its default, so that a missing line
# means something else than the line did.
ONE = make(
    "Retries back off",
    "We retry three times.",
    id="mem_1kdvdna00aaaaaaaa",
    kind="decision",
    summary="The gateway drops one request in a hundred.",
    created=START + timedelta(days=1),
    updated=START + timedelta(days=2),
    confirmed=START + timedelta(days=3),
    scope=Scope.AGENT,
    tags=("http",),
    impact=Impact.HIGH,
    pinned=True,
    difficulty=0.25,
    confidence=0.75,
    observations=3,
    phase=Phase.HINT,
    status=Status.SUPERSEDED,
    version=2,
    supersedes=("mem_1kdvdna00cccccccc",),
    superseded_by="mem_1kdvdna00dddddddd",
    merged_from=("mem_1kdvdna00eeeeeeee",),
    previous="mem_1kdvdna00ffffffff",
    links=("mem_1kdvdna00gggggggg",),
    conflicts=("mem_1kdvdna00gggggggg",),
    distinct=("mem_1kdvdna00gggggggg",),
    source=Source(Trust.ASSISTANT, "session-1", "10-20", "Bash"),
    reason="measured in March",
    state="open",
    legacy_id="d001",
)
TWO = make(
    "Deploy on Mondays",
    "Nobody is tired then.",
    id="mem_1kdvdna00bbbbbbbb",
    kind="gotcha",
    summary="A release on a Friday costs a weekend.",
    created=START + timedelta(days=11),
    updated=START + timedelta(days=12),
    confirmed=START + timedelta(days=13),
    scope=Scope.AGENT,
    tags=("release",),
    impact=Impact.CRITICAL,
    pinned=True,
    difficulty=0.5,
    confidence=0.5,
    observations=4,
    phase=Phase.ABSTRACT,
    status=Status.QUARANTINED,
    version=3,
    supersedes=("mem_1kdvdna00hhhhhhhh",),
    superseded_by="mem_1kdvdna00jjjjjjjj",
    merged_from=("mem_1kdvdna00kkkkkkkk",),
    previous="mem_1kdvdna00mmmmmmmm",
    links=("mem_1kdvdna00nnnnnnnn",),
    conflicts=("mem_1kdvdna00nnnnnnnn",),
    distinct=("mem_1kdvdna00nnnnnnnn",),
    source=Source(Trust.TOOL, "session-2", "30-40", "WebFetch"),
    reason="learned in June",
    state="resolved",
    legacy_id="d002",
)
SAME = ("scope", "pinned")
"""Fields with two values only, one of which is the default: nothing to swap."""

OTHER: dict[str, Value] = {
    "id": "mem_1kdvdna00zzzzzzzz",
    "kind": "fact",
    "title": "Something else",
    "scope": "project",
    "tags": ("http", "evil"),
    "impact": "low",
    "pinned": "false",
    "difficulty": "0.9",
    "confidence": "1.0",
    "observations": "99",
    "phase": "0",
    "status": "active",
    "version": "7",
    "supersedes": ("mem_1kdvdna00pppppppp",),
    "superseded_by": "mem_1kdvdna00pppppppp",
    "merged_from": ("mem_1kdvdna00pppppppp",),
    "previous": "mem_1kdvdna00pppppppp",
    "links": ("mem_1kdvdna00pppppppp",),
    "conflicts": ("mem_1kdvdna00pppppppp",),
    "distinct": ("mem_1kdvdna00pppppppp",),
    "created": "2025-12-31T00:00:00Z",
    "updated": "2026-12-31T00:00:00Z",
    "confirmed": "2026-12-31T00:00:00Z",
    "trust": "user",
    "session": "another",
    "lines": "1-2",
    "tool": "Edit",
    "reason": "because I say so",
    "state": "wontfix",
    "legacy_id": "d999",
    "signature": "0" * 64,
    "shown_signature": "0" * 64,
}
NOT_DEFAULT = {
    "scope": "agent",
    "pinned": "true",
    "confidence": "0.9",
    "phase": "1",
    "trust": "assistant",
    "status": "quarantined",  # so that it is out of sight
}


class Vaults:
    """A home with a key and the two memories, signed, in files."""

    def __init__(self, top: Path) -> None:
        (top / "home").mkdir()
        (top / "project").mkdir()
        self.places = places(str(top / "project"), environ={"LTM_HOME": str(top / "home")})
        self.key: Key = signing.make(self.places.home)
        self.store: FileStore = open_files(self.places, load(self.places.home))
        self.ids = (ONE.id, TWO.id)
        originals = [each._replace(phase=Phase.FULL, content=_long(each)) for each in (ONE, TWO)]
        copies = zip((ONE, TWO), originals, strict=True)
        self.store.apply(Adopt(tuple(Copy(memory, (whole,)) for memory, whole in copies)))

    def path(self, memory_id: str) -> Path:
        return Path(self.store.read(memory_id).path)

    def wrong(self) -> set[Path]:
        """The files that `ltm verify` warns of, or that cannot be read as memories any more."""
        found = {
            Path(each.path)
            for each in self.store.every(Filter(statuses=tuple(Status)))
            if state_of(self.key, each, self.store) is not SignatureState.OK
        }
        return found | {Path(problem.path) for problem in self.store.problems()}

    def warned(self) -> set[Path]:
        """The files whose memory carries the warning at a glance, as a session's start takes it."""
        found = {
            Path(each.path)
            for each in self.store.every(Filter(statuses=tuple(Status)))
            if self.key.is_doubtful(each.memory)
        }
        return found | {Path(problem.path) for problem in self.store.problems()}


def _long(memory: Memory) -> str:
    """An original whose shorter form is the memory's text."""
    return f"{memory.content}\n\nAnd why."


@pytest.fixture(scope="module")
def vaults(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vaults]:
    made = Vaults(tmp_path_factory.mktemp("tamper"))
    yield made
    made.store.close()


def value(data: bytes, key: str) -> Value | None:
    document = frontmatter.parse(data, "x")
    if key in TEXTS:
        text: str = getattr(codec.read_body(document.body), key)
        return text
    return document.fields.get(key)


def with_value(data: bytes, key: str, new: Value | None) -> bytes:
    document = frontmatter.parse(data, "x")
    if key not in TEXTS:
        return document.with_fields({key: new}).to_bytes()
    sections = codec.read_body(document.body)
    summary, content = sections.summary, sections.content
    if key == "summary":
        summary = str(new or "")
    else:
        content = str(new or "")
    return document.with_fields({}, codec.write_body(summary, content)).to_bytes()


def test_the_matrix_has_a_row_for_every_field_there_is() -> None:
    assert OTHER.keys() | set(TEXTS) == set(KEYS)
    for key in KEYS:
        if key not in (*TEXTS, "signature", "shown_signature"):
            assert OTHER[key] is not None


def test_the_page_on_trust_says_of_every_field_what_covers_it_and_who_changes_it() -> None:
    page = Path(__file__).parents[2] / "docs" / "concepts" / "trust.md"
    table = page.read_text(encoding="utf-8").split("| fields |")[1].split("\n\n")[0]
    told: dict[str, str] = {}
    for line in table.split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[2] == "yes":
            told |= dict.fromkeys(cells[0].replace("the original ", "").split(", "), cells[1])
    told["content"] = told.pop("content as it is told")
    signed = {field.key: "yes" if field.signed else "–" for field in FIELDS}
    signatures = ("signature", "shown_signature")
    expected = {key: value for key, value in signed.items() if key not in signatures}
    assert told == expected | {"summary": "yes", "content": "–"}


def test_untouched_both_are_what_was_signed(vaults: Vaults) -> None:
    assert vaults.wrong() == set()
    assert vaults.warned() == set()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("key", KEYS)
def test_tampering_is_seen(vaults: Vaults, key: str, way: str) -> None:
    one, two = (vaults.path(each) for each in vaults.ids)
    before = one.read_bytes(), two.read_bytes()
    mine, theirs = (value(data, key) for data in before)
    assert mine, f"{key} is at its default, so deleting it would be no change"
    touched = {one}
    try:
        if way == "change":
            new = OTHER.get(key, f"{mine} And something else.")
            one.write_bytes(with_value(before[0], key, new))
        elif way == "delete":
            one.write_bytes(with_value(before[0], key, None))
        elif key in SAME:
            # Both have the one value that is not the default: the other memory first gets another.
            assert mine == theirs
            two.write_bytes(with_value(before[1], key, OTHER[key]))
            touched = {two}
        else:
            assert mine != theirs
            one.write_bytes(with_value(before[0], key, theirs))
            two.write_bytes(with_value(before[1], key, mine))
            touched = {one, two}
        assert vaults.wrong() == touched
        if (key, way) != ("id", "delete"):  # its name still tells it: the memory is the same
            assert vaults.warned() == touched
    finally:
        one.write_bytes(before[0])
        two.write_bytes(before[1])
    assert vaults.wrong() == set()


@pytest.mark.parametrize("way", ["change", "delete", "swap"])
def test_tampering_with_an_archived_original_is_seen(vaults: Vaults, way: str) -> None:
    archives = {
        path.name.partition(".")[0]: path for path in Path(vaults.places.agent_folder).rglob("*.v*")
    }
    one, two = (archives[each] for each in vaults.ids)
    before = one.read_bytes(), two.read_bytes()
    try:
        if way == "change":
            one.write_bytes(before[0].replace(b"And why.", b"And not why."))
        elif way == "delete":
            one.unlink()
        else:
            one.write_bytes(before[1])
            two.write_bytes(before[0])
        assert vaults.wrong() == {vaults.path(vaults.ids[0])}
    finally:
        one.write_bytes(before[0])
        two.write_bytes(before[1])


@pytest.mark.parametrize("style", ["dsl", "markdown"])
@pytest.mark.parametrize("key", KEYS)
def test_what_a_session_is_told_of_a_changed_memory_carries_the_warning(
    tmp_path: Path, key: str, style: str
) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    where = places(str(project), environ={"LTM_HOME": str(home)})
    signing.make(str(home))
    store = open_files(where, load(where.home))
    memory = make("Retries back off", "We retry three times.", kind="decision")
    path = Path(store.create(memory).path)
    now = START + timedelta(days=1)
    sound = tell(store, where, load(where.home), now, style=style).text
    assert "⚠" not in sound
    data = path.read_bytes()
    new = OTHER.get(key, f"{value(data, key)} And something else.")
    path.write_bytes(with_value(data, key, NOT_DEFAULT.get(key, new)))
    text = tell(store, where, load(where.home), now, style=style).text
    store.close()
    assert ("⚠" in text) == (key != "status")
