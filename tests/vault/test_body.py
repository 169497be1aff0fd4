"""What a body says, and where each of its texts stands in it."""

from __future__ import annotations

import pytest

from ltm.text.sentences import summary_of
from ltm.vault import body


@pytest.mark.parametrize("text", ["Xylophones are loud. XX\nX", "One.\n\nTwo. Three.", "x"])
@pytest.mark.parametrize("before", ["", "\n", "\n\n"])
@pytest.mark.parametrize("after", ["", "\n", "\n\n"])
def test_without_headings_all_of_it_is_the_content_and_the_summary_is_made_from_it(
    text: str, before: str, after: str
) -> None:
    whole = f"{before}{text}{after}"
    found = body.read(whole)
    assert (found.content, found.explicit, found.summary_span) == (text, False, None)
    assert found.content_span is not None
    assert whole[slice(*found.content_span)] == text
    assert found.summary == summary_of(text)


def test_with_headings_each_text_stands_below_its_own() -> None:
    whole = "\n## Summary\n\nShort.\n\n## Content\n\nLong.\n\nLonger.\n"
    found = body.read(whole)
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
    found = body.read(whole)
    assert (found.summary, found.content) == (summary, content)


def test_only_the_section_that_changed_is_written_again() -> None:
    whole = "\n\n## Summary\nShort.\n\n## Content\nLong.\n\n"
    found = body.read(whole)
    assert body.rewrite(whole, found.summary, found.content) == whole
    new = body.rewrite(whole, "Shorter.", found.content)
    assert new == whole.replace("Short.", "Shorter.")
    new = body.rewrite(whole, found.summary, "Other.\n")
    assert new == whole.replace("Long.\n", "Other.\n")


def test_sections_go_when_a_change_lets_the_summary_follow_from_the_text() -> None:
    whole = "\n## Summary\n\nShort.\n\n## Content\n\nShort.\n"
    assert body.rewrite(whole, "Short.", "Short.") == whole
    assert body.rewrite(whole, "Longer. By now.", "Longer.\nBy now.") == "\nLonger.\nBy now.\n"
    assert body.rewrite(whole, "Mine.", "Longer.") == body.write("Mine.", "Longer.")
