"""The body of a memory file: its text, or a `## Summary` section, then a `## Content` section.

The two texts come back exactly, whatever they contain. A body without these headings is all
content, and its summary is what `summary_of` makes of it: so a summary that was not written by a
person stands in no file and follows the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ltm.text.sentences import summary_of

_HEADING = re.compile(r"^##[ \t]+(summary|content)[ \t]*\r?(?:\n|\Z)", re.MULTILINE | re.IGNORECASE)
# Lines of the texts that would be read as something else get a backslash, which Markdown hides:
# the opening marker of a merge conflict anywhere, and the next section's heading in the summary.
_MARKER = r"<<<<<<<"
_CONTENT = r"##[ \t]+content[ \t]*\r?(?:$|\Z)"
_FLAGS = re.MULTILINE | re.IGNORECASE
_BARE = {
    "summary": re.compile(rf"^\\*(?:{_MARKER}|{_CONTENT})", _FLAGS),
    "content": re.compile(rf"^\\*{_MARKER}", _FLAGS),
}
_ESCAPED = {
    "summary": re.compile(rf"^\\(\\*(?:{_MARKER}|{_CONTENT}))", _FLAGS),
    "content": re.compile(rf"^\\(\\*{_MARKER})", _FLAGS),
}
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|[。！？])", re.DOTALL)
_ANY_HEADING = re.compile(r"^#{1,6}[ \t](.*)$", re.MULTILINE)
_LOOK = 20_000  # how far into a text its first sentence is looked for
_LONGEST_SENTENCE = 300


@dataclass(frozen=True, slots=True)
class Sections:
    """What a body says."""

    summary: str
    content: str
    explicit: bool
    """Whether the body has the headings; without them the summary is derived."""
    summary_span: tuple[int, int] | None = None
    content_span: tuple[int, int] | None = None
    """Where each text stands in the body, if it stands there in one piece."""

    @property
    def given(self) -> str:
        """The summary that stands in the body; nothing where it follows from the text."""
        return self.summary if self.explicit else ""


def read(body: str) -> Sections:
    """The summary and the content of a body."""
    first = _HEADING.search(body)
    if first is None:
        return _without_headings(body)
    lead = body[: first.start()].strip("\n")
    summary, summary_span = "", None
    content = first if first[1].lower() == "content" else None
    if content is None:
        content = _content_heading(body, first.end())
        end = len(body) if content is None else content.start()
        summary_span = _span(body, first.end(), end, 1 if content is None else 2)
        summary = _unescape(body[slice(*summary_span)], "summary")
    text, content_span = "", None
    if content is not None:
        content_span = _span(body, content.end(), len(body), 1)
        text = _unescape(body[slice(*content_span)], "content")
    if lead:  # a person's words above the headings belong to the content
        text, content_span = f"{lead}\n\n{text}" if text else lead, None
    return Sections(summary, text, True, summary_span, content_span)


def write(summary: str, content: str) -> str:
    """The shortest body that says exactly this; nothing at all for a tombstone without words."""
    plain = f"\n{_escape(content, 'content')}\n"
    if content and _says(plain, summary, content):
        return plain
    parts: list[str] = []
    if summary:
        parts.append(f"## Summary\n\n{_escape(summary, 'summary')}\n")
    if content:
        parts.append(f"## Content\n\n{_escape(content, 'content')}\n")
    return "".join(f"\n{part}" for part in parts)


def rewrite(body: str, summary: str, content: str) -> str:
    """A body with these texts in which an unchanged section keeps every byte it has.

    The sections go with the first change after which the summary follows from the text.
    """
    old = read(body)
    if (old.summary, old.content) == (summary, content):
        return body
    new = write(summary, content)
    if not read(new).explicit:
        return new
    spliced = body
    if content != old.content and old.content_span:
        start, end = old.content_span
        spliced = f"{spliced[:start]}{_escape(content, 'content')}{spliced[end:]}"
    if summary != old.summary and old.summary_span:
        start, end = old.summary_span
        spliced = f"{spliced[:start]}{_escape(summary, 'summary')}{spliced[end:]}"
    # Where a section is missing, or stands in pieces, there is nothing to splice into.
    return spliced if _says(spliced, summary, content) else new


def with_notes(body: str, lost: Mapping[str, tuple[str, ...]]) -> str:
    """A body with a line for each text that lost against another version of the same key."""
    if not lost:
        return body
    sections = read(body)
    # One line each, so that a later merge can tell that it is there already.
    notes = (f"- other {key}: {text}" for key, texts in lost.items() for text in texts)
    there = set(sections.content.split("\n"))
    lines = "\n".join(line for note in notes if (line := note.replace("\n", " ")) not in there)
    if not lines:
        return body
    content = f"{sections.content}\n\n{lines}" if sections.content else lines
    return rewrite(body, sections.summary, content)


def first_sentence(text: str) -> str:
    """The summary a text without sections used to have, which older signatures cover: the first
    sentence below the headings, on one line; a heading's words if there is no more."""
    prose = _ANY_HEADING.sub("", text[:_LOOK]).strip() or text[:_LOOK].strip().lstrip("# ")
    line = " ".join(re.split(r"\n\s*\n", prose, maxsplit=1)[0].split())[:_LONGEST_SENTENCE]
    found = _SENTENCE.match(line)
    return (found[0] if found else line).strip()


def _without_headings(body: str) -> Sections:
    content = body.strip("\n")
    start = len(body) - len(body.lstrip("\n"))
    text = _unescape(content, "content")
    return Sections(summary_of(text), text, False, content_span=(start, start + len(content)))


def _says(body: str, summary: str, content: str) -> bool:
    found = read(body)
    return (found.summary, found.content) == (summary, content)


def _content_heading(body: str, start: int) -> re.Match[str] | None:
    found = _HEADING.finditer(body, start)
    return next((heading for heading in found if heading[1].lower() == "content"), None)


def _span(body: str, start: int, end: int, blank: int) -> tuple[int, int]:
    """The text between two headings without the one line end before it and `blank` behind it."""
    if body.startswith("\n", start, end):
        start += 1
    for _ in range(blank):
        if body.endswith("\n", start, end):
            end -= 1
    return start, end


def _escape(text: str, section: str) -> str:
    return _BARE[section].sub(r"\\\g<0>", text)


def _unescape(text: str, section: str) -> str:
    return _ESCAPED[section].sub(r"\1", text)
