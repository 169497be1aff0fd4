"""Sentences of a text, shortening, and the title and summary of a text that was given none.

Sentences are found in texts full of file names, versions, abbreviations and other scripts.

A memory file leaves title and summary out where they are what `title_of` and `summary_of` return,
so that they follow when the text changes. What these return is therefore part of the file format
and of what is signed: a table in `tests/text/test_sentences.py` pins it. Patterns are compiled when
they are used, since a session that begins needs few of them.
"""

from __future__ import annotations

import re
from itertools import islice

# A mark ends a sentence only before white space, so `foo.py`, `1.10` and URLs stay whole; the
# marks of scripts without spaces end one by themselves.
_END = r"""[.!?…]+[)\]"'”’»*_`]*(?=\s)|[。！？｡]+[」』）”’]*|[।॥]"""
_OPENING = "([{\"'“‘«*_`"
_ABBREVIATIONS = frozenset(
    {"approx", "ca", "cf", "dr", "e.g", "eg", "esp", "excl", "i.e", "ie", "incl", "mr", "mrs"}
    | {"ms", "prof", "resp", "viz", "vs"}
)
_BEFORE_NUMBERS = frozenset({"ch", "eq", "fig", "no", "nos", "p", "pp", "sec", "v", "ver", "vol"})
_MAY_END = frozenset({"a.m", "al", "co", "corp", "etc", "inc", "ltd", "p.m"})

TITLE_LENGTH = 80
SUMMARY_LENGTH = 300
_LOOK = 20_000  # how far into a text both are looked for: some texts are a megabyte

_HEADING = r"\s{0,3}#{1,6}(?:\s+|$)"
_UNDERLINE = r"\s{0,3}(?:=+|-{2,}|\*{3,}|_{3,})\s*$"
_LEAD = r"\A\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?|>\s*|#{1,6}(?:\s+|$))+"
_FILLERS = (
    "ah ahead all alright also am and are as awesome bye can cheers continue cool d'accord danke"
    " do does done exactly fine for genau go going good got gracias grazie great gut have hello"
    " hey hi hm hmm i i'm in indeed is it it's ja just keep let let's lgtm like looks love make"
    " makes me merci morning much my next nice no nope now of oh ok okay on one oui perfect"
    " please proceed really right see sense si so sounds sure sí thank thanks that that's the"
    " then there this thx to too up very we welcome well what what's will with wonderful works"
    " wow yeah yep yes you you're your"
)
_LONGEST_FILLER = 80
_CLAUSE = r"[,;:]\s|\s[–—-]\s|[，；：、]"


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph, each on one line, in order; nothing is left out but blanks."""
    text = " ".join(text.split())
    found: list[str] = []
    start = 0
    for end in re.finditer(_END, text):
        if _is_end(text, start, end):
            found.append(text[start : end.end()].strip())
            start = end.end()
    if rest := text[start:].strip():
        found.append(rest)
    return found


def is_filler(text: str) -> bool:
    """Whether a text says nothing by itself: thanks, agreement, "go ahead"."""
    words = re.findall(r"[^\W_]+(?:'[^\W_]+)?", text.replace("’", "'").lower())
    return len(text) <= _LONGEST_FILLER and {*words} <= {*_FILLERS.split()}


def shortened(text: str, limit: int) -> str:
    """The text in at most `limit` characters: cut between words, with an ellipsis where it was."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    blank = text[:limit].rfind(" ")
    if blank > limit // 2:  # otherwise it is one huge word, or a script without blanks
        head = text[:blank]
    return head.rstrip(" ,;:.-–—(") + "…"


def title_of(text: str) -> str:
    """One line of at most 80 characters: the heading, or the first sentence or clause."""
    text = _beginning(text)
    first = _heading(text) or next(iter(sentences(_opening(text) or text)), "")
    return short_title(first.rstrip(".。;:, ") or first)


def short_title(line: str) -> str:
    """A line as a title: at most 80 characters, no code mark without its other half."""
    if len(line) > TITLE_LENGTH:
        clauses = [
            m.start() for m in re.compile(_CLAUSE).finditer(line, TITLE_LENGTH // 2, TITLE_LENGTH)
        ]
        line = f"{line[: clauses[-1]]}…" if clauses else shortened(line, TITLE_LENGTH)
    if line.count("`") % 2:
        head, _, tail = line.rpartition("`")
        line = " ".join(f"{head}{tail}".split()) or line
    return line


def summary_of(text: str) -> str:
    """The first one or two sentences as one paragraph of at most 300 characters, no heading."""
    text = _beginning(text)
    paragraph = " ".join(_opening(text).split()) or re.sub(_LEAD, "", title_of(text))
    first, *rest = sentences(paragraph) or [""]
    if rest:
        two = paragraph[: paragraph.index(rest[0], len(first)) + len(rest[0])]
        if len(two) <= SUMMARY_LENGTH:
            return two
    return shortened(first, SUMMARY_LENGTH)


def opens_with(text: str, title: str) -> bool:
    """Whether a text begins with the words of its title, which then need not be said twice."""
    return letters(text[: 2 * len(title) + 20]).startswith(letters(title))


def letters(text: str) -> str:
    """The letters and digits of a text alone, to compare it whatever is between its words."""
    return re.sub(r"[\W_]+", "", text).casefold()


def _is_end(text: str, start: int, end: re.Match[str]) -> bool:
    mark, following = end[0], text[end.end() + 1 : end.end() + 2]
    if mark.startswith(("...", "…")):
        return not following.islower()
    if not mark.startswith("."):
        return True
    # A glance back is enough, and keeps a text without any end from being read over and over.
    before = text[max(start, end.start() - 40) : end.start()]
    word = before.rsplit(" ", 1)[-1].lstrip(_OPENING).lower()
    if not word or word in _ABBREVIATIONS:
        return False
    if word in _BEFORE_NUMBERS and following.isdigit():
        return False
    if word in _MAY_END:
        return not following.islower()
    initial = len(word) == 1 and before[-1:].isupper()
    numbered = word.isdigit() and word == before.strip()
    return not (initial or numbered)


def _beginning(text: str) -> str:
    beginning = text[:_LOOK]
    return beginning if beginning.strip() else text.strip()[:_LOOK]


def _heading(text: str) -> str:
    """The heading a Markdown text opens with, without its marks; empty when there is none."""
    lines = list(islice((each for each in text.splitlines() if re.sub(_LEAD, "", each).strip()), 2))
    marked = bool(lines) and re.match(_HEADING, lines[0])
    if not marked and not (len(lines) > 1 and re.match(_UNDERLINE, lines[1])):
        return ""
    return " ".join(re.sub(_LEAD, "", lines[0]).rstrip("# \t").split())


def _opening(text: str) -> str:
    """The first paragraph or list item of a Markdown text that is prose: no heading, rule, code."""
    block: list[str] = []
    fenced = False
    for line in text.splitlines():
        fence = line.lstrip().startswith(("```", "~~~"))
        fenced = fenced != fence
        lead = re.match(_LEAD, line)
        underline = re.match(_UNDERLINE, line)
        if block and (fence or lead or underline or not line.strip()):
            if len(block) > 1 or not underline:
                break
            block = []  # the underlined line was a heading
        if not (fence or fenced or underline or re.match(_HEADING, line)):
            prose = line[lead.end() :] if lead else line
            if prose.strip():
                block.append(prose)
    return " ".join(block)
