"""The title and the summary of a text that was given none.

A memory file leaves both out where they are what these functions return, so that they follow when
the text changes. What the functions return is therefore part of the file format, and of what is
signed: a table in `tests/core/test_titles.py` pins it. Imports `core.sentences`; no I/O.
"""

from __future__ import annotations

import re
from itertools import islice

from ltm.core.sentences import sentences, shortened

TITLE_LENGTH = 80
SUMMARY_LENGTH = 300
_LOOK = 20_000  # how far into a text both are looked for: some texts are a megabyte

_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s+|$)")
_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-{2,}|\*{3,}|_{3,})\s*$")
_LEAD = re.compile(r"\A\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?|>\s*|#{1,6}(?:\s+|$))+")
_CLAUSE = re.compile(r"[,;:]\s|\s[–—-]\s|[，；：、]")
_FIRST_PERSON = tuple(
    (re.compile(pattern), begins)
    for pattern, begins in (
        (r"I(?:'m| am) (?=\S)", "The user is"),
        (r"I(?:'d| would) (?:much )?rather (?:have |see |keep )?(?=\S)", "Rather"),
        (r"I(?:'d| would| will|'ll) (?=\S)", "Would"),
        (r"I(?:'ve| have) (?=\w+(?:ed|en)\b)", ""),
        (r"I (?=\S)", ""),
    )
)


def title_of(text: str) -> str:
    """One line of at most 80 characters: the heading, or the first sentence or clause."""
    text = _beginning(text)
    first = _heading(text) or next(iter(sentences(_opening(text) or text)), "")
    return short_title(first.rstrip(".。;:, ") or first)


def short_title(line: str) -> str:
    """A line as a title: impersonal, at most 80 characters, no code mark without its other half."""
    line = _impersonal(line)
    if len(line) > TITLE_LENGTH:
        clauses = [m.start() for m in _CLAUSE.finditer(line, TITLE_LENGTH // 2, TITLE_LENGTH)]
        line = f"{line[: clauses[-1]]}…" if clauses else shortened(line, TITLE_LENGTH)
    if line.count("`") % 2:
        head, _, tail = line.rpartition("`")
        line = " ".join(f"{head}{tail}".split()) or line
    return line


def summary_of(text: str) -> str:
    """The first one or two sentences as one paragraph of at most 300 characters, no heading."""
    text = _beginning(text)
    paragraph = " ".join(_opening(text).split()) or _LEAD.sub("", title_of(text))
    first, *rest = sentences(paragraph) or [""]
    if rest:
        two = paragraph[: paragraph.index(rest[0], len(first)) + len(rest[0])]
        if len(two) <= SUMMARY_LENGTH:
            return two
    return shortened(first, SUMMARY_LENGTH)


def _beginning(text: str) -> str:
    beginning = text[:_LOOK]
    return beginning if beginning.strip() else text.strip()[:_LOOK]


def _impersonal(title: str) -> str:
    """A title that does not begin with who says it: a list does not show who "I" is."""
    for pattern, begins in _FIRST_PERSON:
        found = pattern.match(title)
        if found:
            rest = title[found.end() :]
            return f"{begins} {rest}" if begins else rest[0].upper() + rest[1:]
    return title


def _heading(text: str) -> str:
    """The heading a Markdown text opens with, without its marks; empty when there is none."""
    lines = list(islice((each for each in text.splitlines() if _LEAD.sub("", each).strip()), 2))
    marked = bool(lines) and _HEADING.match(lines[0])
    if not marked and not (len(lines) > 1 and _UNDERLINE.match(lines[1])):
        return ""
    return " ".join(_LEAD.sub("", lines[0]).rstrip("# \t").split())


def _opening(text: str) -> str:
    """The first paragraph or list item of a Markdown text that is prose: no heading, rule, code."""
    block: list[str] = []
    fenced = False
    for line in text.splitlines():
        fence = line.lstrip().startswith(("```", "~~~"))
        fenced = fenced != fence
        lead = _LEAD.match(line)
        underline = _UNDERLINE.match(line)
        if block and (fence or lead or underline or not line.strip()):
            if len(block) > 1 or not underline:
                break
            block = []  # the underlined line was a heading
        if not (fence or fenced or underline or _HEADING.match(line)):
            prose = line[lead.end() :] if lead else line
            if prose.strip():
                block.append(prose)
    return " ".join(block)
