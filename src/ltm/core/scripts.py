"""Writing beyond ASCII: even out its many forms, and find units where there are no spaces.

Loaded only when a text holds a character beyond ASCII, because its tables take milliseconds to
build and a command answers in tens of them. Standard library only; no I/O.
"""

from __future__ import annotations

import re
import unicodedata

# Blocks of the scripts without spaces. Korean has spaces, but its particles stick to the words, so
# pairs of syllables serve it better.
_HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HANGUL = "\u1100-\u11ff\uac00-\ud7ff"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_THAI_LAO = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece"
_BURMESE_KHMER = "\u1000-\u1049\u1050-\u109f\u1780-\u17d3"

WORD = r"\w\u0900-\u0963\u0966-\u0dff"
"""Inside of a regular expression's `[...]`: the characters of words. The blocks are the Indic ones,
whose vowel signs `\\w` leaves out, so that words would fall apart."""

UNSPACED = re.compile(f"[{_HAN}{_HANGUL}{_KANA}{_THAI_LAO}{_BURMESE_KHMER}]+")
"""A run of characters of scripts without spaces."""

# Accents; the vowel points of Hebrew and Arabic, which the same word has or has not; joiners.
_DROPPED = re.compile(
    "[\u0300-\u036f"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u00ad\u200b-\u200d\u2060\ufeff]+"
)
_WORDS = re.compile(f"[{WORD}]+")
# Latin letters that no normal form takes apart.
_LETTERS = str.maketrans(
    {"ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)


def folded(text: str) -> str:
    """The text without accents, vowel points and compatibility forms; case stays."""
    apart = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", _DROPPED.sub("", apart))


def caseless(word: str) -> str:
    """A folded word without case, its letters in plain Latin where there is such a letter."""
    return word.casefold().translate(_LETTERS)


def spaced(text: str) -> str:
    """The text with every run of a script without spaces set off by spaces."""
    return UNSPACED.sub(r" \g<0> ", text)


def words(text: str) -> list[str]:
    """The words of a text: runs of letters, digits and the signs that belong to them."""
    return _WORDS.findall(text)


def pairs(run: str) -> list[str]:
    """The overlapping pairs of characters of a run; a run of one is that character."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def singles(run: str) -> list[str]:
    """The characters of a run that can be words by themselves: Han and Hangul."""
    return [char for char in run if char >= "\u3400" or char == "\u3005"]
