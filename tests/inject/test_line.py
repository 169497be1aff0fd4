"""What is said of a memory depends on its phase, and is never cut inside a word without need."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.inject.render import FULL, MemoryLine, at_least, harmless, say, short_id, shorten, units
from ltm.model import Memory, Phase
from ltm.text.sentences import title_of
from tests.inject.samples import KINDS, any_memory, stored

LONG = stored(
    "The parser is strict.",
    title="Parser",
    summary="The parser is strict. It refuses aliases.",
    content="It was written by hand.\nOn purpose.\n\nThe reason is an alias bomb.",
).memory


def said(memory: Memory, **changes: object) -> MemoryLine:
    changed = memory._replace(**changes)  # type: ignore[arg-type]
    return say(changed, KINDS[changed.kind], harmless)


def test_a_full_memory_says_everything() -> None:
    """traps 2.1 #2: the content is told, not only its name."""
    assert said(LONG) == MemoryLine(
        "The parser is strict. It refuses aliases. ⏎ It was written by hand. ⏎ On purpose."
        " ⏎ The reason is an alias bomb.",
        whole=True,
    )


def test_a_hint_says_the_summary_and_the_first_paragraph() -> None:
    assert said(LONG, phase=Phase.HINT) == MemoryLine(
        "The parser is strict. It refuses aliases. ⏎ It was written by hand. ⏎ On purpose.",
        whole=False,
    )


def test_an_abstract_says_the_first_sentence() -> None:
    assert said(LONG, phase=Phase.ABSTRACT) == MemoryLine("The parser is strict.", whole=False)


@pytest.mark.parametrize(
    "text", ["I prefer tabs.", "I'm colour-blind.", "I'd rather have squash merges.", "I'd say no."]
)
def test_the_impersonal_title_of_a_text_is_not_said_next_to_it(text: str) -> None:
    assert said(stored(text, title=title_of(text)).memory).text == text


def test_a_title_the_text_begins_with_is_not_said_twice() -> None:
    memory = stored("Use uv, not pip: it is faster", title="use UV not pip …").memory
    assert said(memory).text == "Use uv, not pip: it is faster"
    fixed = "`pytest` failed with: KeyError: 'a'. Fixed by changing app/views.py."
    memory = stored(fixed, title="KeyError: 'a': fixed in views.py").memory
    assert said(memory).text == fixed


def test_a_memory_with_nothing_but_a_title_says_its_title() -> None:
    assert said(stored(title="Use uv", summary="", content="").memory).text == "Use uv"


def test_the_reason_and_a_state_that_is_not_the_usual_one_are_said() -> None:
    issue = stored("Login is flaky", kind="issue", reason="a race", state="resolved").memory
    assert said(issue).text == "(resolved) Login is flaky (why: a race)"
    assert said(issue, state="open", reason="").text == "Login is flaky"


def test_a_long_text_ends_at_a_word_with_an_ellipsis() -> None:
    found = said(stored("word " * 200, title="word").memory)
    assert not found.whole
    assert found.text.endswith("word …")
    assert FULL - 6 <= len(found.text) <= FULL


def test_a_text_without_spaces_is_cut_where_the_room_ends() -> None:
    assert shorten("語" * 200, 100) == "語" * 98 + " …"


@given(any_memory, st.integers(20, 600))
def test_what_is_said_is_never_longer_than_allowed(memory: Memory, most: int) -> None:
    assert len(say(memory, KINDS[memory.kind], harmless, most).text) <= most


@given(any_memory)
def test_the_least_a_line_can_have_is_never_more_than_it_has(memory: Memory) -> None:
    assert at_least(memory) <= len(say(memory, KINDS[memory.kind], harmless).text)


def test_the_least_of_an_ordinary_line_is_close_to_its_length() -> None:
    assert at_least(stored("Never push to main").memory) == len("Neverpushtomain")


def test_the_least_of_a_line_counts_its_content_and_words_among_other_scripts() -> None:
    assert at_least(stored("Short", content="Then much more " * 30).memory) == FULL // 2 - 1
    assert at_least(stored("Nie pushen – nie").memory) == len("Niepushennie")
    assert at_least(stored("Short", title="t" * (FULL + 1)).memory) == 0


@given(st.text(max_size=80), st.integers(3, 90))
def test_a_text_is_shortened_to_a_beginning_of_itself(text: str, most: int) -> None:
    cut = shorten(text, most)
    assert len(cut) <= most
    assert cut == text or text.startswith(cut.removesuffix("…").rstrip())


def test_a_short_id_is_the_end_of_the_whole() -> None:
    assert LONG.id.endswith(short_id(LONG))
    assert len(short_id(LONG)) == 6


@given(st.text())
def test_length_is_counted_as_javascript_counts_it(text: str) -> None:
    clean = text.encode("utf-8", "ignore").decode()
    assert units(clean) == len(clean) + sum(ord(char) > 0xFFFF for char in clean)
