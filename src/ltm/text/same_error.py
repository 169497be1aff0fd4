"""Whether two error texts tell of the same failure, whatever numbers and places stand in them.

Addresses, line numbers, moments, ids and folders do not count, since they differ each time, and
hardly the words every error has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ltm.text.terms import STOP, terms

SAME = 0.6
"""Likeness from which two errors are taken for the same: more than half of all their words, so that
a message about another name in the same form falls short."""

_LINES = 60  # of a text, that are looked at
_LONGEST = 400
_ENOUGH = 3  # signs of a part that stands for the whole
_TELLING = 8  # letters of a word that is an error's name
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_CHANGING = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"  # a uuid
    r"|\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?\S*)?|\b\d\d:\d\d:\d\d\S*"  # a moment
    r"|\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)[0-9a-f]{7,}\b"  # an address, a hash
    r"|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"  # a host's number
    r"|(?:(?<=:)|\bline |\bcolumn |\bpid |\bport )\d+|\b\d+(?:\.\d+)?(?:ms|s|kb|mb|gb|%)?\b",
    re.IGNORECASE,
)
_FOLDERS = re.compile(r"(?:[A-Za-z]:)?(?:[\w.@+~-]*[/\\])+(?=[\w.@+-])")
_USUAL = frozenset(
    terms(
        "error exception fail failed failure fatal exit code status line file trace traceback"
        " recent call last caused stack panic warn warning"
    )
)


def bare(line: str) -> str:
    """A line of an error without what changes from one time to the next."""
    text = _ANSI.sub("", line[:_LONGEST])
    return " ".join(_CHANGING.sub(" ", _FOLDERS.sub("", text)).split())


def signs(line: str) -> frozenset[str]:
    """The terms an error is known by; none where a line says nothing of its own."""
    found = {term for term in terms(bare(line)) if term not in STOP and not term.isdigit()}
    return frozenset(found - _USUAL)


def likeness(asked: Iterable[frozenset[str]], known: str) -> float:
    """How like the best line of a known text is to the best of the lines asked for, 0 to 1."""
    lines = [signs(line) for line in known.splitlines()[:_LINES]]
    return max((_alike(one, other) for one in asked for other in lines), default=0.0)


def _alike(asked: frozenset[str], known: frozenset[str]) -> float:
    """The share of common signs; a part of a message that is long enough stands for the whole."""
    shared = len(asked & known)
    if not shared:
        return 0.0
    parts = [shared / len(asked | known)]
    parts += [0.95 * shared / len(each) for each in (asked, known) if len(each) >= _ENOUGH]
    if shared == len(asked) and any(len(sign) >= _TELLING for sign in asked):
        parts.append(0.9)  # only its name was typed: ECONNREFUSED
    return max(parts)
