"""Text of memories made unable to leave its place: one line, no markup, none of our own marks.

A memory may hold anything, also what an enemy wrote. What is injected stands between `[LTM:…]` and
`[/LTM]`, what goes into CLAUDE.md between two comments, each memory on one line; whatever could end
a line, open or close markup, forge our marks, pull in a file or hide from the eye is replaced
by something that looks alike and does nothing. Pure; imports `core.screen`.
"""

from __future__ import annotations

import re

from ltm.core.screen import visible

OPEN = "[LTM:{agent}@{project}]"
CLOSE = "[/LTM]"

NEWLINE = " ⏎ "
"""Stands for a line break inside a memory."""

# Characters that are drawn as nothing, so that words or orders could hide between the letters. The
# two joiners are kept beyond ASCII, where Persian, Hindi and emoji need them.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2060-\u2065"
    "\u206a-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0080-\U000e0fff]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]+|[\u200c\u200d]+(?![^\x00-\x7f])"
)
_TAG = re.compile(r"<(?=\s*[/!?]|[^\W\d])")
_MARK = re.compile(r"[\[【〔⟦](?=[\W_]{0,8}l[\W_]{0,3}t[\W_]{0,3}m)", re.IGNORECASE)
_LINE_START = re.compile(r"~(?=\w{1,12}:(?:low|med|high|crit))", re.IGNORECASE)
_IMPORT = re.compile(r"(?<!\w)@(?=\S)")
_NOT_IN_LABEL = re.compile(r"[\[\]<>|@\s]+")


def harmless(text: str) -> str:
    """The text on one line, with nothing in it that could be taken for more than text."""
    text = visible(text, keep_newlines=True)
    if not text.isascii():
        text = _without_disguise(text)
    lines = (" ".join(line.split()) for line in text.split("\n"))
    text = NEWLINE.join(line for line in lines if line)
    text = _TAG.sub("‹", text)
    text = _MARK.sub("(", text)
    return _LINE_START.sub("∼", text)


def _without_disguise(text: str) -> str:
    """The text without unseen characters, and in plain letters if any imitate our marks."""
    from unicodedata import normalize  # not needed for most texts

    text = _UNSEEN.sub("", text)
    plain = normalize("NFKC", text)
    disguised = any(mark.search(plain) for mark in (_TAG, _MARK, _LINE_START))
    return plain if disguised else text


def harmless_in_file(text: str) -> str:
    """The same for a file the client loads, where `@path` would pull in another file."""
    return _IMPORT.sub("＠", harmless(text))


def label(text: str, most: int = 40) -> str:
    """A name as it may stand in the opening mark."""
    return _NOT_IN_LABEL.sub("-", harmless(text))[:most].strip("-")
