"""Memory to file and back: exact both ways, and forgiving towards what a person types."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.errors import BadFile, Refused
from ltm.model import Impact, Memory, Phase, Scope, Source, Status, Trust, new_id
from ltm.text.sentences import summary_of
from ltm.vault import codec
from ltm.vault.codec import decode, encode, file_name, slug, to_bytes
from ltm.vault.fields import FIELDS
from ltm.vault.frontmatter import Document, parse
from tests.vault.strategies import KINDS, memories, memory, older_file, texts, titles, untitled

PATH = "memories/x.mem_01hxyzabc12345678.md"
SEEN = datetime(2026, 1, 2, tzinfo=UTC)


def read(text: str | bytes, path: str = PATH, seen: datetime | None = SEEN) -> Memory:
    data = text.encode() if isinstance(text, str) else text
    return decode(parse(data, path), path, KINDS, seen=seen)


def document(text: str) -> Document:
    return parse(text.encode(), PATH)


class TestRoundTrip:
    @given(memories)
    def test_any_memory_reads_back_equal(self, made: Memory) -> None:
        """traps 2.1 #14: quotes, colons, numbers and line breaks must survive."""
        assert read(to_bytes(made)) == made

    @given(memories, memories)
    def test_any_memory_written_over_any_other_reads_back_equal(
        self, old: Memory, new: Memory
    ) -> None:
        assert read(to_bytes(new, document(to_bytes(old).decode()))) == new

    @given(memories, st.sampled_from([b"", b"\xef\xbb\xbf"]))
    def test_a_crlf_file_stays_one_through_a_change(self, made: Memory, bom: bytes) -> None:
        data = bom + to_bytes(made).replace(b"\r", b"").replace(b"\n", b"\r\n")
        before = read(data)
        after = before._replace(content=before.content + "\nmore", impact=Impact.CRITICAL)
        written = to_bytes(after, parse(data, PATH))
        assert read(written) == after
        assert written.startswith(bom)
        assert written.count(b"\n") == written.count(b"\r\n")

    @given(memories)
    def test_writing_an_unchanged_memory_over_its_file_changes_no_byte(self, made: Memory) -> None:
        data = to_bytes(made)
        assert to_bytes(read(data), parse(data, PATH)) == data

    @given(texts, texts)
    def test_a_body_reads_back_as_written(self, summary: str, content: str) -> None:
        found = codec.read_body(codec.write_body(summary, content))
        assert (found.summary, found.content) == (summary, content)

    def test_the_file_of_a_plain_memory_is_short_and_readable(self) -> None:
        assert to_bytes(memory(tags=("sqlite", "wal"))).decode() == (
            "---\n"
            "id: mem_01hxyzabc12345678\n"
            "kind: decision\n"
            "title: Use WAL for the index\n"
            "scope: project\n"
            "tags: [sqlite, wal]\n"
            "impact: medium\n"
            "status: active\n"
            "created: 2026-11-15T16:22:00Z\n"
            "updated: 2026-11-15T16:22:00Z\n"
            "---\n"
            "\n"
            "## Summary\n"
            "\n"
            "WAL keeps readers going.\n"
            "\n"
            "## Content\n"
            "\n"
            "The rollback journal blocked every reader.\n"
        )

    def test_the_file_of_a_memory_of_one_line_holds_its_sentence_once(self) -> None:
        said = "We chose PostgreSQL over SQLite because two workers write at once."
        made = memory(title=said.rstrip("."), summary=said, content=said)
        data = to_bytes(made)
        assert data.decode().partition("---\n\n")[2] == f"{said}\n"
        assert data.count(b"PostgreSQL") == 1
        by_hand = read(data.replace(b"PostgreSQL", b"MySQL"))
        assert "PostgreSQL" not in f"{by_hand.title} {by_hand.summary} {by_hand.content}"

    def test_a_title_that_was_given_stays_while_the_summary_follows_the_text(self) -> None:
        made = untitled(memory(content="Two write at once. So we took PostgreSQL. It holds."))
        data = to_bytes(made._replace(title="Which database"))
        found = read(data.replace(b"PostgreSQL", b"MySQL"))
        assert found.title == "Which database"
        assert found.summary == "Two write at once. So we took MySQL."

    @pytest.mark.parametrize("text", ["One.", "One. Two. Three.", "# Head\n\nOne.\nTwo."])
    def test_an_older_file_with_all_three_texts_is_left_alone_until_its_text_changes(
        self, text: str
    ) -> None:
        made = untitled(memory(content=text))
        older = older_file(made).decode()
        assert read(older) == made
        changed = to_bytes(made._replace(impact=Impact.HIGH), document(older))
        assert changed.decode() == older.replace("impact: medium", "impact: high")
        after = untitled(made._replace(content="New words."))
        assert to_bytes(after, document(older)) == to_bytes(after)

    def test_every_field_has_a_key_in_the_order_of_the_table(self) -> None:
        later = datetime(2027, 1, 1, tzinfo=UTC)
        full = memory(
            tags=("a",),
            pinned=True,
            difficulty=0.5,
            confidence=0.5,
            observations=2,
            phase=Phase.HINT,
            version=2,
            supersedes=("mem_aaa",),
            superseded_by="mem_bbb",
            merged_from=("mem_ccc",),
            previous="mem_ddd",
            links=("mem_eee",),
            conflicts=("mem_fff",),
            distinct=("mem_ggg",),
            confirmed=later,
            source=Source(Trust.TOOL, "session", "1-2", "Bash"),
            reason="because",
            state="open",
            legacy_id="old",
            signature="ab",
            shown_signature="cd",
        )
        keys = [entry.key for entry in encode(full).entries]
        assert keys == [field.key for field in FIELDS]

    def test_a_tombstone_has_no_body(self) -> None:
        gone = memory(summary="", content="", status=Status.FORGOTTEN)
        assert encode(gone).body == ""
        assert read(to_bytes(gone)) == gone


class TestWritingOverAFile:
    HAND = (
        "---\n"
        "title: 'Use WAL'  # short\n"
        "id: mem_01hxyzabc12345678\n"
        "kind: Decisions\n"
        "mood: sunny\n"
        "impact: HIGH\n"
        "created: 2026-11-15 17:22:00+01:00\n"
        "---\n"
        "First words.  Second\nsentence.\n"
        "\n"
        "* a list\n"
    )

    def test_only_the_changed_key_changes(self) -> None:
        base = document(self.HAND)
        found = read(self.HAND)
        changed = to_bytes(found._replace(scope=Scope.AGENT), base).decode()
        assert changed == self.HAND.replace("mood:", "scope: agent\nmood:")

    def test_a_hand_formatted_body_stays_while_its_words_do(self) -> None:
        found = read(self.HAND)
        changed = encode(found._replace(impact=Impact.LOW, title="New"), document(self.HAND))
        assert changed.body == document(self.HAND).body

    def test_a_changed_content_leaves_the_summary_section_alone(self) -> None:
        text = (
            "---\nid: mem_abc12345\ntitle: x\n---\n##  SUMMARY \nsum\nmary\n\n\n## Content\nold\n"
        )
        found = read(text)
        changed = encode(found._replace(content="new"), document(text))
        assert changed.body == "##  SUMMARY \nsum\nmary\n\n\n## Content\nnew\n"

    def test_a_derived_summary_is_written_down_when_the_text_changes(self) -> None:
        found = read(self.HAND)
        changed = found._replace(content="Something else.")
        again = read(to_bytes(changed, document(self.HAND)))
        assert again == changed
        assert again.summary == "First words. Second sentence."

    def test_what_was_made_up_is_written_down_with_the_first_change(self) -> None:
        text = "---\nkind: fact\n---\nJust words.\n"
        seen = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        found = read(text, "memories/x.mem_byhand01.md", seen)
        changed = encode(found._replace(impact=Impact.HIGH), document(text))
        assert changed.fields == {
            "id": "mem_byhand01",
            "kind": "fact",
            "impact": "high",
            "created": "2026-01-02T03:04:05Z",
        }

    def test_the_first_save_after_a_union_merge_tidies_up_and_loses_no_words(self) -> None:
        text = "---\nid: mem_abc12345\ntitle: one\ntitle: two\nimpact: low\n---\n\nText.\n"
        found = read(text)
        assert found.title == "two"
        assert "- other title: one" in found.content
        changed = encode(found._replace(impact=Impact.HIGH), document(text))
        assert changed.to_bytes().count(b"title:") == 2  # the key, and the note in the body
        assert read(changed.to_bytes()) == found._replace(impact=Impact.HIGH)

    def test_a_base_that_cannot_be_understood_is_overwritten_key_by_key(self) -> None:
        base = document("---\nid: mem_abc12345\nkind: nonsense\nmood: sunny\n---\n")
        written = encode(memory(), base)
        assert read(written.to_bytes()) == memory()
        assert written.fields["mood"] == "sunny"


class TestReadingWhatAPersonTyped:
    def test_the_least_a_file_needs_is_an_id_and_some_text(self) -> None:
        found = read("---\nid: mem_abc12345\n---\n# A title\n\nA sentence. More.\n", "a.md")
        assert found == Memory(
            id="mem_abc12345",
            kind="fact",
            title="A title",
            summary="A sentence. More.",
            content="# A title\n\nA sentence. More.",
            created=SEEN,
            updated=SEEN,
            confirmed=SEEN,
        )

    def test_words_are_read_in_any_case_and_by_any_alias(self) -> None:
        found = read(
            "---\nid: mem_abc12345\nkind: ' Learnings '\ntitle: x\nscope: AGENT\nimpact: Critical\n"
            "pinned: Yes\nphase: hint\nstatus: Quarantined\ntrust: TOOL\ntags: a, b ,c\n"
            "created: 2026-01-01\n---\n"
        )
        assert (found.kind, found.scope, found.impact) == ("gotcha", Scope.AGENT, Impact.CRITICAL)
        assert (found.pinned, found.phase, found.status) == (True, Phase.HINT, Status.QUARANTINED)
        assert (found.source.trust, found.tags) == (Trust.TOOL, ("a", "b", "c"))

    def test_numbers_outside_their_range_move_to_its_end(self) -> None:
        found = read(
            f"---\nid: mem_abc12345\ntitle: x\ncreated: 2026-01-01\nconfidence: 7\n"
            f"difficulty: -1\nobservations: {'9' * 400}\nversion: -3\n---\n"
        )
        assert (found.confidence, found.difficulty) == (1.0, 0.0)
        assert (found.observations, found.version) == (10**9, 1)

    def test_a_wrapped_title_is_one_line(self) -> None:
        assert read(
            "---\nid: mem_abc12345\ntitle: |\n  a\n  b\ncreated: 2026-01-01\n---\n"
        ).title == ("a b ")

    def test_an_id_of_ltm_tells_when_it_was_created(self) -> None:
        made = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)
        found = read(f"---\nid: {new_id(made)}\ntitle: x\n---\n")
        assert (found.created, found.updated, found.confirmed) == (made, made, made)

    def test_updated_and_confirmed_default_to_created(self) -> None:
        found = read("---\nid: mem_abc12345\ntitle: x\ncreated: 2026-01-01T10:00:00+02:00\n---\n")
        assert found.created == datetime(2026, 1, 1, 8, tzinfo=UTC) == found.updated
        assert found.confirmed == found.created

    def test_confirmed_is_kept_apart_from_updated(self) -> None:
        made = memory()
        later = made._replace(updated=made.updated + timedelta(days=3))
        assert read(to_bytes(later)) == later

    def test_words_above_the_headings_belong_to_the_content(self) -> None:
        found = read(
            "---\nid: mem_abc12345\ntitle: x\n---\nhello\n\n## Summary\ns\n## Content\nc\n"
        )
        assert (found.summary, found.content) == ("s", "hello\n\nc")

    def test_repeated_section_headings_are_text(self) -> None:
        """What git's union leaves when both sides rewrote the whole body."""
        text = "## Summary\n\nA\n\n## Content\n\na\nB\n\n## Content\n\nb\n"
        found = read(f"---\nid: mem_01hxyzabc12345678\ntitle: x\n---\n{text}")
        assert (found.summary, found.content) == ("A", "a\nB\n\n## Content\n\nb")

    @pytest.mark.parametrize(
        ("front", "line", "says"),
        [
            ("title: x", 1, "'id' is missing"),
            ("title: x\nid: 'a b'", 3, "'a b' is not a memory's id"),
            ("id: ../../etc/passwd", 2, "not a memory's id"),
            ("id: [mem_abc12345]", 2, "'id' is a list"),
            ("id: mem_abc12345", 1, "'title' is missing"),
            ("id: mem_abc12345\ntitle: [WIP]", 3, "'title' is a list"),
            ("id: mem_abc12345\ntitle: x\nkind: banana", 4, "'banana' is not a kind"),
            ("id: mem_abc12345\ntitle: x\nimpact: huge", 4, "'huge' is not a valid impact"),
            ("id: mem_abc12345\ntitle: x\nstatus: gone", 4, "'gone' is not a valid status"),
            ("id: mem_abc12345\ntitle: x\npinned: maybe", 4, "neither true nor false"),
            ("id: mem_abc12345\ntitle: x\nphase: 4", 4, "'phase' is not a phase"),
            ("id: mem_abc12345\ntitle: x\nconfidence: high", 4, "'confidence' is not a number"),
            ("id: mem_abc12345\ntitle: x\nconfidence: .nan", 4, "'confidence' is not a number"),
            ("id: mem_abc12345\ntitle: x\nobservations: '5 times'", 4, "not a number"),
            ("id: mem_abc12345\ntitle: x\ncreated: 2026-02-30", 4, "'created' is not a moment"),
            ("id: mem_abc12345\ntitle: x\nupdated: 0001-01-01T00:00:00+14:00", 4, "not a moment"),
            ("id: mem_abc12345\ntitle: x\nconfirmed: yesterday", 4, "not a moment"),
            ("id: mem_abc12345\ntitle: x\ncreated: 0500-01-01", 4, "not a moment"),
        ],
    )
    def test_a_value_that_means_nothing_is_refused_with_its_line(
        self, front: str, line: int, says: str
    ) -> None:
        with pytest.raises(BadFile) as caught:
            read(f"---\n{front}\n---\n", "notes.md")
        assert says in caught.value.message
        assert (caught.value.path, caught.value.line) == ("notes.md", line)
        assert caught.value.hint

    def test_created_is_asked_for_when_nothing_tells_it(self) -> None:
        with pytest.raises(BadFile, match="'created' is missing"):
            read("---\nid: mem_abc12345\ntitle: x\n---\n", seen=None)


class TestRefusals:
    @pytest.mark.parametrize(
        ("changes", "says"),
        [
            ({"title": "two\nlines"}, "one line"),
            ({"title": "two\rlines"}, "one line"),
            ({"title": "  "}, "needs a title"),
            ({"title": "a\0b"}, "the title holds"),
            ({"content": "half \ud83d pair"}, "the content holds"),
            ({"tags": ("ok", "\0")}, "the tags holds"),
            ({"source": Source(tool="\udc80")}, "the tool holds"),
            ({"id": "../x"}, "not a memory's id"),
            ({"content": "x" * 1024 * 1024}, "too long"),
            ({"reason": "x" * 70_000}, "too long"),
        ],
    )
    def test_what_no_file_can_keep_is_refused(self, changes: dict[str, object], says: str) -> None:
        with pytest.raises(Refused) as caught:
            encode(memory(**changes))
        assert says in caught.value.message
        assert caught.value.hint


class TestFileName:
    @pytest.mark.parametrize(
        ("title", "name"),
        [
            ("Use SQLite WAL, not JSON!", "use-sqlite-wal-not-json"),
            ("Über Größe", "uber-groe"),
            ("日本語", "memory"),
            ("../../.ssh/id_rsa", "ssh-id-rsa"),
            ("--help", "help"),
            ("CON", "memory-con"),
            ("lpt1", "memory-lpt1"),
            ("console", "console"),
            ("a" * 47 + " b", "a" * 47),
        ],
    )
    def test_a_title_becomes_a_safe_name(self, title: str, name: str) -> None:
        assert slug(title) == name

    @given(titles)
    def test_any_title_becomes_a_name_safe_on_every_system(self, title: str) -> None:
        name = slug(title)
        assert 0 < len(name) <= 48
        assert name.isascii()
        assert name == name.lower()
        assert name.replace("-", "").isalnum()
        assert name.strip("-") == name

    def test_the_file_name_ends_with_the_id(self) -> None:
        assert file_name(memory()) == "use-wal-for-the-index.mem_01hxyzabc12345678.md"


# -- the body --------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["Xylophones are loud. XX\nX", "One.\n\nTwo. Three.", "x"])
@pytest.mark.parametrize("before", ["", "\n", "\n\n"])
@pytest.mark.parametrize("after", ["", "\n", "\n\n"])
def test_without_headings_all_of_it_is_the_content_and_the_summary_is_made_from_it(
    text: str, before: str, after: str
) -> None:
    whole = f"{before}{text}{after}"
    found = codec.read_body(whole)
    assert (found.content, found.explicit, found.summary_span) == (text, False, None)
    assert found.content_span is not None
    assert whole[slice(*found.content_span)] == text
    assert found.summary == summary_of(text)


def test_with_headings_each_text_stands_below_its_own() -> None:
    whole = "\n## Summary\n\nShort.\n\n## Content\n\nLong.\n\nLonger.\n"
    found = codec.read_body(whole)
    assert (found.summary, found.content, found.explicit) == ("Short.", "Long.\n\nLonger.", True)
    assert found.summary_span is not None
    assert found.content_span is not None
    assert whole[slice(*found.summary_span)] == "Short."
    assert whole[slice(*found.content_span)] == "Long.\n\nLonger."


@pytest.mark.parametrize(
    ("whole", "summary", "content"),
    [
        ("## Summary\n\nShort.\n", "Short.", ""),
        ("## Content\n\nLong.\n", "", "Long."),
        ("## content\nLong.", "", "Long."),
        ("Above.\n\n## Summary\n\nShort.\n", "Short.", "Above."),
        ("Above.\n\n## Content\n\nLong.\n", "", "Above.\n\nLong."),
        ("", "", ""),
    ],
)
def test_a_part_that_is_missing_is_empty_and_words_above_belong_to_the_content(
    whole: str, summary: str, content: str
) -> None:
    found = codec.read_body(whole)
    assert (found.summary, found.content) == (summary, content)


def test_only_the_section_that_changed_is_written_again() -> None:
    whole = "\n\n## Summary\nShort.\n\n## Content\nLong.\n\n"
    found = codec.read_body(whole)
    assert codec.rewrite_body(whole, found.summary, found.content) == whole
    new = codec.rewrite_body(whole, "Shorter.", found.content)
    assert new == whole.replace("Short.", "Shorter.")
    new = codec.rewrite_body(whole, found.summary, "Other.\n")
    assert new == whole.replace("Long.\n", "Other.\n")


def test_sections_go_when_a_change_lets_the_summary_follow_from_the_text() -> None:
    whole = "\n## Summary\n\nShort.\n\n## Content\n\nShort.\n"
    assert codec.rewrite_body(whole, "Short.", "Short.") == whole
    assert (
        codec.rewrite_body(whole, "Longer. By now.", "Longer.\nBy now.") == "\nLonger.\nBy now.\n"
    )
    assert codec.rewrite_body(whole, "Mine.", "Longer.") == codec.write_body("Mine.", "Longer.")
