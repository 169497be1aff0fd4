"""Two versions of a memory become one: a rule for every key, both texts, and never a marker."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm.errors import BadFile
from ltm.kinds import Kinds
from ltm.model import Impact, Memory, Phase, Source, Status, Trust
from ltm.text.sentences import summary_of, title_of
from ltm.vault import codec, frontmatter, signing
from ltm.vault.codec import decode, to_bytes
from ltm.vault.fields import FIELDS
from ltm.vault.frontmatter import parse
from ltm.vault.merge import REFUSED, main, merge, resigned
from ltm.vault.signing import Key, SignatureState
from tests.stores import make
from tests.vault.strategies import KINDS, lines, memories, memory, older_file, untitled

PATH = "memories/x.mem_01hxyzabc12345678.md"
BASE = memory(
    tags=("a", "b"),
    observations=3,
    confidence=0.8,
    version=4,
    content="First line.\nSecond line.\nThird line.\nFourth line.\nFifth line.\nSixth line.",
)
LATER = BASE.updated + timedelta(days=1)
LATEST = BASE.updated + timedelta(days=2)


def load(data: bytes) -> Memory:
    return decode(parse(data, PATH), PATH, KINDS, seen=BASE.created)


def merged(ours: Memory, theirs: Memory, base: Memory | None = BASE) -> Memory:
    """The merged memory, the same whichever side is ours."""
    common = b"" if base is None else to_bytes(base)
    found = load(merge(common, to_bytes(ours), to_bytes(theirs), PATH))
    assert load(merge(common, to_bytes(theirs), to_bytes(ours), PATH)) == found
    return found


RULES: list[tuple[str, Any, Any, Any]] = [
    # key, ours, theirs, merged; each against BASE
    ("kind", "decision", "gotcha", "gotcha"),
    ("title", "Use WAL for the index", "New title", "New title"),
    ("tags", ("a", "b", "c"), ("b", "d"), ("b", "c", "d")),
    ("tags", (), ("a", "b", "c"), ("c",)),
    ("impact", Impact.LOW, Impact.MEDIUM, Impact.LOW),
    ("impact", Impact.LOW, Impact.HIGH, Impact.HIGH),
    ("pinned", True, False, True),
    ("difficulty", 0.5, 0.4, 0.5),
    ("confidence", 0.9, 0.8, 0.9),
    ("confidence", 0.9, 0.4, 0.4),
    ("observations", 5, 4, 6),
    ("observations", 3, 7, 7),
    ("phase", Phase.HINT, Phase.FULL, Phase.HINT),
    ("phase", Phase.HINT, Phase.ABSTRACT, Phase.HINT),
    ("status", Status.FORGOTTEN, Status.ACTIVE, Status.FORGOTTEN),
    ("status", Status.QUARANTINED, Status.SUPERSEDED, Status.SUPERSEDED),
    ("version", 6, 5, 6),
    ("supersedes", ("mem_one",), ("mem_two",), ("mem_one", "mem_two")),
    ("superseded_by", "mem_new", "", "mem_new"),
    ("merged_from", ("mem_one",), (), ("mem_one",)),
    ("previous", "", "mem_old", "mem_old"),
    ("links", ("mem_one",), ("mem_one", "mem_two"), ("mem_one", "mem_two")),
    ("conflicts", ("mem_one",), ("mem_one", "mem_two"), ("mem_one", "mem_two")),
    ("distinct", ("mem_one",), ("mem_one", "mem_two"), ("mem_one", "mem_two")),
    ("created", BASE.created - timedelta(days=1), BASE.created, BASE.created - timedelta(days=1)),
    ("updated", LATER, LATEST, LATEST),
    ("confirmed", LATEST, LATER, LATEST),
    ("source", Source(Trust.TOOL, "s"), Source(), Source(Trust.TOOL, "s")),
    ("reason", "because", "", "because"),
    ("state", "", "resolved", "resolved"),
    ("legacy_id", "old-1", "", "old-1"),
    ("scope", BASE.scope, BASE.scope, BASE.scope),
]


@pytest.mark.parametrize(("key", "ours", "theirs", "expected"), RULES)
def test_each_key_is_merged_by_its_rule(key: str, ours: Any, theirs: Any, expected: Any) -> None:
    found = merged(BASE._replace(**{key: ours}), BASE._replace(**{key: theirs}))
    value = getattr(found, key)
    assert (sorted(value) if isinstance(value, tuple) else value) == (
        sorted(expected) if isinstance(expected, tuple) else expected
    )


def test_every_key_of_the_table_has_a_case_above_or_a_test_below() -> None:
    tested = {key for key, *_ in RULES} | {"id", "signature", "shown_signature"}
    tested |= {*Source._fields}
    assert {field.key for field in FIELDS} <= tested


def test_when_both_changed_a_title_the_later_wins_and_the_other_stays_readable() -> None:
    found = merged(
        BASE._replace(title="Mine", updated=LATER), BASE._replace(title="Yours", updated=LATEST)
    )
    assert found.title == "Yours"
    assert "- other title: Mine" in found.content.splitlines()


def test_words_that_lost_are_not_noted_again_by_the_next_merge() -> None:
    one, two = (
        BASE._replace(title="Mine", updated=LATER),
        BASE._replace(title="Yours", updated=LATEST),
    )
    first = merged(one, two)
    assert merged(first, two._replace(impact=Impact.HIGH), two).content == first.content
    assert merged(first, one).content.count("Mine") == 1


def test_edits_of_different_lines_are_both_taken_exactly() -> None:
    ours = BASE._replace(content=BASE.content.replace("First", "1st"))
    theirs = BASE._replace(content=BASE.content.replace("Sixth", "6th"))
    found = merged(ours, theirs)
    assert found.content == BASE.content.replace("First", "1st").replace("Sixth", "6th")
    assert found.version == BASE.version + 1


def test_edits_of_the_same_line_are_both_kept() -> None:
    ours = BASE._replace(content=BASE.content.replace("First line", "First mine"))
    theirs = BASE._replace(content=BASE.content.replace("First line", "First yours"))
    lines = merged(ours, theirs).content.splitlines()
    assert {"First mine.", "First yours."} <= set(lines)
    assert lines[-1] == "Sixth line."


def test_rewritten_summaries_and_contents_do_not_repeat_headings() -> None:
    ours = BASE._replace(summary="My summary.", content="My text.")
    theirs = BASE._replace(summary="Your summary.", content="Your text.")
    found = merge(to_bytes(BASE), to_bytes(ours), to_bytes(theirs), PATH)
    assert found.count(b"## Summary") == found.count(b"## Content") == 1
    assert set(load(found).summary.splitlines()) == {"My summary.", "Your summary."}
    assert set(load(found).content.splitlines()) == {"My text.", "Your text."}


@pytest.mark.parametrize(("fading", "edit"), [(LATER, LATEST), (LATEST, LATER)])
def test_an_edit_beats_a_fading(fading: datetime, edit: datetime) -> None:
    """reliability §0 item 4: evicted on one branch, edited on the other."""
    faded = BASE._replace(phase=Phase.HINT, content="First line.", updated=fading)
    edited = BASE._replace(content=BASE.content.replace("First", "1st"), updated=edit)
    found = merged(faded, edited)
    assert found.content == edited.content
    assert found.phase is Phase.FULL


def test_a_fading_that_no_one_edited_stands() -> None:
    faded = BASE._replace(phase=Phase.ABSTRACT, content="First line.")
    found = merged(faded, BASE._replace(tags=("c",)))
    assert (found.phase, found.content) == (Phase.ABSTRACT, "First line.")


def test_of_two_fadings_the_fuller_text_stands() -> None:
    hint = BASE._replace(phase=Phase.HINT, content="First line.\nSecond line.")
    abstract = BASE._replace(phase=Phase.ABSTRACT, content="First line.")
    found = merged(hint, abstract)
    assert (found.phase, found.content) == (Phase.HINT, hint.content)


def test_a_side_that_faded_and_was_edited_loses_no_words() -> None:
    faded = BASE._replace(phase=Phase.HINT, content="First line.\nNew from me.")
    edited = BASE._replace(content=BASE.content + "\nNew from you.")
    found = merged(faded, edited)
    assert {"New from me.", "New from you."} <= set(found.content.splitlines())
    assert found.phase is Phase.FULL


def test_forgetting_wins_and_the_edit_stays_readable() -> None:
    gone = BASE._replace(status=Status.FORGOTTEN, summary="", content="")
    edited = BASE._replace(content=BASE.content + "\nSeventh line.")
    found = merged(gone, edited)
    assert found.status is Status.FORGOTTEN
    assert (found.summary, found.content) == (edited.summary, edited.content)


def test_the_same_memory_added_twice_becomes_one() -> None:
    ours = BASE._replace(tags=("a",), observations=2, updated=LATER)
    theirs = BASE._replace(tags=("b",), observations=2, content="Only here.", updated=LATEST)
    found = merged(ours, theirs, None)
    assert (sorted(found.tags), found.observations) == (["a", "b"], 2)
    assert {"Only here.", "Sixth line."} <= set(found.content.splitlines())


class TestTextsThatTitleAndSummaryFollow:
    OLD = untitled(BASE)
    MORE = untitled(BASE._replace(content=f"{BASE.content}\nSeventh line.", updated=LATER))
    OTHER = untitled(BASE._replace(content=f"Zeroth line.\n{BASE.content}", updated=LATEST))

    def test_they_follow_the_merged_text_too(self) -> None:
        found = merged(self.MORE, self.OTHER, self.OLD)
        assert found == untitled(found)
        assert found.content == f"Zeroth line.\n{self.MORE.content}"

    @pytest.mark.parametrize("turned", [False, True])
    def test_an_older_file_merges_with_one_that_has_no_sections(self, turned: bool) -> None:
        older, plain = older_file(self.MORE), to_bytes(self.OTHER)
        ours, theirs = (plain, older) if turned else (older, plain)
        found = load(merge(older_file(self.OLD), ours, theirs, PATH))
        assert found.content == f"Zeroth line.\n{self.MORE.content}"
        assert found == untitled(found)

    def test_a_summary_that_one_side_wrote_stays(self) -> None:
        found = merged(self.MORE, self.OLD._replace(summary="In my words."), self.OLD)
        assert (found.summary, found.content) == ("In my words.", self.MORE.content)


class TestSignatures:
    SIGNED = BASE._replace(signature="aa" * 32, shown_signature="bb" * 32)

    def test_a_signature_stays_while_what_it_covers_does(self) -> None:
        """The first covers what never changes by itself, the second everything in the file."""
        found = merged(
            self.SIGNED._replace(tags=("x",)), self.SIGNED._replace(observations=9), self.SIGNED
        )
        assert (found.signature, found.shown_signature) == ("aa" * 32, "")
        found = merged(self.SIGNED._replace(tags=("x",), shown_signature="cc" * 32), self.SIGNED)
        assert (found.tags, found.shown_signature) == (("x",), "cc" * 32)

    def test_a_signature_comes_along_with_the_side_it_covers(self) -> None:
        edited = self.SIGNED._replace(content="New.", signature="cc" * 32, shown_signature="")
        found = merged(self.SIGNED._replace(tags=("x",)), edited, self.SIGNED)
        assert (found.signature, found.shown_signature) == ("cc" * 32, "")

    def test_the_signature_of_the_shown_text_goes_when_the_phase_does(self) -> None:
        faded = self.SIGNED._replace(phase=Phase.HINT, shown_signature="")
        found = merged(faded, self.SIGNED._replace(tags=("x",)), self.SIGNED)
        assert (found.signature, found.shown_signature) == ("aa" * 32, "")

    def test_a_signature_of_neither_text_is_dropped(self) -> None:
        one = self.SIGNED._replace(content=BASE.content + "\nMine.", signature="cc" * 32)
        two = self.SIGNED._replace(content="Yours.\n" + BASE.content, signature="dd" * 32)
        found = merged(one, two, self.SIGNED)
        assert (found.signature, found.shown_signature) == ("", "")


class TestHandWrittenParts:
    def text(self, own: str = "", comment: str = "# base", end: str = "Same.") -> bytes:
        return f"---\nid: {BASE.id}\n{comment}\ntitle: x\n{own}---\n\n{end}\n".encode()

    def test_an_unknown_key_follows_the_side_that_changed_it(self) -> None:
        base, ours = self.text("mood: old\n"), self.text("mood: old\n", end="Ours.")
        assert b"mood: {a: [b]}\n" in merge(base, ours, self.text("mood: {a: [b]}\n"), PATH)
        assert b"mood" not in merge(base, ours, self.text(), PATH)
        assert b"mood: new\n" in merge(base, self.text("mood: new\n"), self.text(end="T."), PATH)
        assert b"more: 1\n" in merge(base, ours, self.text("mood: old\nmore: 1\n"), PATH)

    def test_an_unknown_key_both_changed_loses_no_words(self) -> None:
        base = self.text("mood: old\n")
        ours = self.text("mood: mine\nupdated: 2026-01-01\n")
        theirs = self.text("mood: yours\nupdated: 2026-01-02\n")
        for found in (merge(base, ours, theirs, PATH), merge(base, theirs, ours, PATH)):
            assert b"\nmood: yours\n" in found
            assert b"- other mood: mine\n" in found

    def test_comments_of_both_sides_stay(self) -> None:
        found = merge(
            self.text(), self.text(comment="# mine"), self.text(comment="# base\n# yours"), PATH
        )
        assert b"# mine\n" in found
        assert b"# yours\n" in found
        parse(found, PATH)

    def test_a_body_without_headings_is_merged_as_it_is(self) -> None:
        base = self.text(end="One.\n\nTwo.\n\nThree.")
        found = merge(
            base, self.text(end="1.\n\nTwo.\n\nThree."), self.text(end="One.\n\nTwo.\n\n3."), PATH
        )
        assert found == self.text("version: 2\n", end="1.\n\nTwo.\n\n3.")

    def test_a_body_without_headings_gets_none(self) -> None:
        base = self.text(end="One.\n\nTwo.")
        found = merge(base, self.text(end="1.\n\nTwo."), self.text(end="I.\n\nTwo."), PATH)
        assert set(parse(found, PATH).body.split()) == {"1.", "I.", "Two."}

    def test_the_line_ends_are_ours(self) -> None:
        base = self.text("a: b\n")
        ours = self.text("a: b\n", end="Ours.").replace(b"\n", b"\r\n")
        found = merge(base, ours, self.text("a: c\nd: e\n", "# base\n# new"), PATH)
        assert b"a: c\r\nd: e\r\n# new\r\n" in found
        assert found.count(b"\n") == found.count(b"\r\n")

    def test_keys_left_twice_by_an_earlier_union_are_settled(self) -> None:
        base = self.text("tags: [a]\n")
        ours = self.text("tags: [a, b]\ntags: [a, c]\ntitle: other words\n")
        found = merge(base, ours, self.text("tags: [a, d]\n"), PATH)
        assert found.count(b"tags:") == 1
        assert set(load(found).tags) == {"a", "b", "c", "d"}
        assert b"other words" in found

    @pytest.mark.parametrize("swapped", [False, True])
    def test_words_that_lost_against_a_second_line_of_their_key_are_noted(
        self, swapped: bool
    ) -> None:
        """On either side: whoever held them, an earlier union put both into one file."""
        twice = self.text("title: one saying\ntitle: another saying\n")
        once = self.text("tags: [a]\n")
        ours, theirs = (once, twice) if swapped else (twice, once)
        found = merge(self.text(), ours, theirs, PATH)
        assert found.count(b"\ntitle:") == 1
        assert b"\ntitle: another saying\n" in found
        assert b"\n- other title: x\n- other title: one saying\n" in found
        assert b"\ntags: [a]\n" in found


class TestFilesThatCannotBeRead:
    BROKEN = b"---\nid: [\n---\nprecious words\n"

    def test_the_side_that_can_be_read_takes_the_lines_of_the_other(self) -> None:
        good = to_bytes(BASE._replace(content="Good words."))
        for ours, theirs in ((good, self.BROKEN), (self.BROKEN, good)):
            found = load(merge(to_bytes(BASE), ours, theirs, PATH))
            assert {"Good words.", "precious words", "id: ["} <= set(found.content.splitlines())

    def test_committed_markers_and_bytes_that_are_no_text_become_readable(self) -> None:
        bad = b"\xff\0\n<<<<<<< HEAD\nmine\n=======\nyours\n>>>>>>> other\n"
        found = load(merge(to_bytes(BASE), to_bytes(BASE._replace(tags=())), bad, PATH))
        assert {"\\xff\\x00", "<<<<<<< HEAD", "mine", "yours"} <= set(found.content.splitlines())

    def test_two_broken_sides_are_left_to_a_person(self) -> None:
        with pytest.raises(BadFile, match="neither side is a memory"):
            merge(b"", self.BROKEN, b"no front matter\nprecious words", PATH)

    def test_a_broken_base_counts_as_none(self) -> None:
        ours, theirs = BASE._replace(tags=("x",)), BASE._replace(tags=("y",))
        found = load(merge(self.BROKEN, to_bytes(ours), to_bytes(theirs), PATH))
        assert set(found.tags) == {"x", "y"}

    def test_a_side_emptied_by_an_accident_changes_nothing(self) -> None:
        edited = to_bytes(BASE._replace(tags=("x",)))
        assert merge(to_bytes(BASE), b"", edited, PATH) == edited


def _plain(made: Memory, updated: Memory) -> Memory:
    """One of three versions of a memory, without the fading that may take words away."""
    return made._replace(
        id=BASE.id, phase=Phase.FULL, status=Status.ACTIVE, updated=updated.updated
    )


def _lines(made: Memory) -> set[str]:
    """What stands in its file: a title and a summary that follow from the text do not."""
    texts = [made.content, made.reason]
    texts += [made.title] if made.title != title_of(made.content or made.summary) else []
    texts += [made.summary] if made.summary != summary_of(made.content) else []
    return {line.strip() for text in texts for line in text.split("\n") if line.strip()}


@settings(max_examples=40)
@given(memories, memories, memories)
def test_no_words_of_either_side_are_lost(a: Memory, b: Memory, c: Memory) -> None:
    base, ours, theirs = _plain(a, a), _plain(b, b), _plain(c, c)
    found = merged(ours, theirs, base)
    everything = "\n".join((found.title, found.reason, found.text, found.content))
    for line in (_lines(ours) | _lines(theirs)) - _lines(base):
        assert line in everything


@settings(max_examples=40)
@given(memories, memories, memories)
def test_any_three_memories_merge_into_one_that_reads(a: Memory, b: Memory, c: Memory) -> None:
    ours, theirs = b._replace(id=a.id), c._replace(id=a.id)
    assert merged(ours, theirs, a).id == a.id
    assert merged(ours, theirs, None).id == a.id
    assert merged(ours, ours, a) == ours
    assert merged(ours, a, a) == ours


_FILE = to_bytes(BASE)
_damages = st.lists(
    st.tuples(
        st.integers(0, len(_FILE)),
        st.integers(0, 40),
        st.binary(max_size=8) | lines.map(str.encode),
    ),
    max_size=4,
)


def _damaged(damage: list[tuple[int, int, bytes]]) -> bytes:
    data = _FILE
    for place, length, put in damage:
        data = data[:place] + put + data[place + length :]
    return data


def _reads(data: bytes) -> bool:
    try:
        parse(data, PATH)
    except BadFile:
        return False
    return True


@given(_damages, _damages, _damages)
def test_damaged_files_merge_into_one_that_reads_if_either_side_did(
    a: list[tuple[int, int, bytes]],
    b: list[tuple[int, int, bytes]],
    c: list[tuple[int, int, bytes]],
) -> None:
    base, ours, theirs = _damaged(a), _damaged(b), _damaged(c)
    changed = ours != theirs and base not in (ours, theirs)
    if changed and not (_reads(ours) or _reads(theirs)):
        with pytest.raises(BadFile, match="neither side is a memory"):
            merge(base, ours, theirs, PATH)
        return
    found = merge(base, ours, theirs, PATH)
    assert _reads(found) or not changed


class TestDriver:
    @pytest.fixture
    def names(self, tmp_path: Path) -> list[str]:
        for name, made in (("O", BASE), ("A", BASE._replace(tags=("x",))), ("B", BASE)):
            (tmp_path / name).write_bytes(to_bytes(made))
        (tmp_path / "B").write_bytes(to_bytes(BASE._replace(impact=Impact.HIGH)))
        return [str(tmp_path / name) for name in "OAB"]

    def test_it_puts_the_result_where_git_expects_it(self, names: list[str]) -> None:
        assert main([*names, PATH]) == 0
        found = load(Path(names[1]).read_bytes())
        assert (found.tags, found.impact) == (("x",), Impact.HIGH)
        assert sorted(p.name for p in Path(names[1]).parent.iterdir()) == ["A", "B", "O"]

    def test_a_failure_leaves_our_side_as_it_was(
        self, names: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = Path(names[1]).read_bytes()
        Path(names[2]).unlink()
        assert main([*names, PATH]) == 1
        assert Path(names[1]).read_bytes() == before
        assert "could not merge" in capsys.readouterr().err

    @pytest.mark.parametrize("count", [0, 1, 3, 5])
    def test_what_git_does_not_call_so_is_told_what_it_takes(
        self, names: list[str], count: int, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = Path(names[1]).read_bytes()
        assert main([*names, PATH, "more"][:count]) == 1
        assert f"BASE OURS THEIRS PATH ({count} given)" in capsys.readouterr().err
        assert Path(names[1]).read_bytes() == before

    @pytest.mark.parametrize(
        ("path", "sides", "message"),
        [
            ("src/main.py", None, "is not in a vault's memories or archives"),
            ("README.md", None, "is not in a vault's memories or archives"),
            ("memories/x.md/main.py", None, "is not in a vault's memories or archives"),
            (PATH, ("one = 1\n", "two = 2\n"), "neither side is a memory"),
        ],
    )
    def test_what_is_not_a_memory_is_refused_and_left_as_it_was(
        self,
        names: list[str],
        path: str,
        sides: tuple[str, str] | None,
        message: str,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        for name, text in zip(names[1:], sides or (), strict=False):
            Path(name).write_text(text)
        before = [Path(name).read_bytes() for name in names]
        assert main([*names, path]) == REFUSED
        assert [Path(name).read_bytes() for name in names] == before
        error = capsys.readouterr().err
        assert message in error
        assert path in error


# -- signing what a merge made of two signed versions, and nothing else


TEXT = "We retry three times.\n\nThe gateway drops 1 %."


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LTM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def key(home: Path) -> Key:
    return signing.make(str(home))


def read(data: bytes) -> Memory:
    return codec.decode(frontmatter.parse(data, "x"), "x", Kinds())


def signed(key: Key, memory: Memory) -> bytes:
    return codec.to_bytes(key.signed(memory, memory))


def test_what_both_sides_signed_is_signed_again(key: Key) -> None:
    base = make("Retries back off", TEXT)
    sides = signed(key, base._replace(tags=("a",))), signed(key, base._replace(tags=("b",)))
    merged = codec.to_bytes(read(sides[0])._replace(tags=("a", "b")))
    assert key.state(read(merged)) is SignatureState.CHANGED
    again = read(resigned(merged, sides, "x"))
    assert key.state(again, again) is SignatureState.OK
    assert again.tags == ("a", "b")


def test_what_one_side_did_not_sign_or_another_changed_is_left_as_it_is(key: Key) -> None:
    base = make("Retries back off", TEXT)
    good = signed(key, base)
    forged = codec.to_bytes(read(good)._replace(reason="because I say so"))
    merged = codec.to_bytes(read(good)._replace(tags=("a",)))
    for sides in ((good, forged), (forged, good), (good, codec.to_bytes(base))):
        assert resigned(merged, sides, "x") == merged


def test_without_a_key_nothing_is_signed(home: Path) -> None:
    other = Key.of(bytes(range(32)))
    data = signed(other, make("Retries back off", TEXT))
    assert resigned(b"---\nmerged", (data, data), "x") == b"---\nmerged"


def test_a_shortened_text_keeps_the_signature_of_its_original_and_gets_none_made_up(
    key: Key,
) -> None:
    whole = key.signed(make("Retries back off", TEXT), make("Retries back off", TEXT))
    short = whole._replace(content="We retry three times.", phase=Phase.HINT)
    side = codec.to_bytes(key.signed(short, None))
    merged = codec.to_bytes(read(side)._replace(tags=("a",)))
    again = read(resigned(merged, (side, side), "x"))
    assert again.signature == whole.signature
    assert key.fits(again)
    without = codec.to_bytes(read(side)._replace(tags=("a",), signature=""))
    assert resigned(without, (side, side), "x") == without


def test_what_cannot_be_read_is_left_as_it_is(key: Key) -> None:
    good = signed(key, make("Retries back off", TEXT))
    assert resigned(b"no memory", (good, good), "x") == b"no memory"
    assert resigned(good, (b"no memory", good), "x") == good


def test_git_merges_two_signed_sides_into_a_signed_one(key: Key, tmp_path: Path) -> None:
    base = make("Retries back off", TEXT)
    for name, version in (
        ("base", base),
        ("ours", base._replace(tags=("a",))),
        ("theirs", base._replace(observations=4)),
    ):
        (tmp_path / name).write_bytes(signed(key, version))
    names = [str(tmp_path / name) for name in ("base", "ours", "theirs")]
    assert main([*names, f".claude/ltm/memories/x.{base.id}.md"]) == 0
    merged = read((tmp_path / "ours").read_bytes())
    assert (merged.tags, merged.observations) == (("a",), 4)
    assert key.state(merged, merged) is SignatureState.OK
