"""Where sentences end, in texts full of file names, versions, abbreviations and other scripts.

Standard library only; no I/O.
"""

from __future__ import annotations

import re

# A mark ends a sentence only before white space, so `foo.py`, `1.10` and URLs stay whole; the
# marks of scripts without spaces end one by themselves.
_END = r"""[.!?…]+[)\]"'”’»*_`]*(?=\s)|[。！？｡]+[」』）”’]*|[।॥]"""
_OPENING = "([{\"'“‘«*_`"
_ABBREVIATIONS = frozenset(
    {"approx", "ca", "cf", "dr", "e.g", "eg", "esp", "excl", "i.e", "ie", "incl", "mr", "mrs"}
    | {"ms", "prof", "resp", "viz", "vs"}
)
_BEFORE_NUMBERS = frozenset({"ch", "eq", "fig", "no", "nos", "p", "pp", "sec", "v", "ver", "vol"})
_IMPERSONAL = ("The user is ", "Rather ", "Would ")
"""How `core.titles` begins the title of a text that begins with "I"."""

_MAY_END = frozenset({"a.m", "al", "co", "corp", "etc", "inc", "ltd", "p.m"})


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


def shortened(text: str, limit: int) -> str:
    """The text in at most `limit` characters: cut between words, with an ellipsis where it was."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    blank = text[:limit].rfind(" ")
    if blank > limit // 2:  # otherwise it is one huge word, or a script without blanks
        head = text[:blank]
    return head.rstrip(" ,;:.-–—(") + "…"


def opens_with(text: str, title: str) -> bool:
    """Whether a text begins with the words of its title, which then need not be said twice."""
    opening = _letters(text[: 2 * len(title) + 20])
    if opening.startswith(_letters(title)):
        return True
    for lead in _IMPERSONAL:
        title = title.removeprefix(lead)
    return text.startswith(("I ", "I'")) and _letters(title) in opening


def _letters(text: str) -> str:
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
