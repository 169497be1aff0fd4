"""How many model tokens a text costs, on the safe side and without any vocabulary.

A budget only needs "not more than". So ASCII is counted in pieces as a vocabulary would cut them:
five letters, two capitals, two digits, two punctuation marks, one line's indentation. Beyond
ASCII every character adds a figure that depends on its script, read off the first byte of its
UTF-8 form. A tenth on top is for vocabularies finer than the one the figures come from.

The figures were fitted to Anthropic's one published vocabulary (65,000 entries, the tokeniser of
Claude 2) on 16,700 samples of 400 characters: chats, source code, JSON, YAML, logs, base64, emoji,
and program messages in more than forty languages. Estimate over real count, the worst in a hundred
samples and the middle one: prose 1.1 and 1.3, code 1.0 and 1.3, JSON 1.1 and 1.3, Chinese 1.0 and
1.3, Japanese 1.0 and 1.3, Korean 1.0 and 1.2, emoji 1.0 and 1.1. It can fall short, down to 0.8, on
languages in plain Latin letters such as Dutch or Finnish and on base64, and by half on random
letters. Standard library only; no I/O.
"""

from __future__ import annotations

import re

_PIECES = re.compile(
    r"[A-Z]?[a-z]{1,5}|[A-Z]{1,2}|[0-9]{1,2}|\n[ \t]{0,16}|[ \t]{2,16}|[!-/:-@\[-`{-~]{1,2}"
    r"|[\x00-\x08\x0b-\x1f\x7f]"
)
_PER_CHARACTER: tuple[tuple[bytes, float], ...] = (
    (b"\xc2", 1.0),  # Latin-1 signs
    (bytes(range(0xC3, 0xCA)), 2.0),  # accented Latin: also says that the words are not English
    (b"\xd0\xd1\xd2\xd3", 0.7),  # Cyrillic
    (bytes((*range(0xCA, 0xD0), *range(0xD4, 0xE0))), 1.3),  # Greek, Hebrew, Arabic and others
    (b"\xe0\xe1", 2.5),  # Indic, Thai, Khmer and others
    (b"\xe2\xee\xef", 1.5),  # typographic signs, arrows, boxes, full-width forms
    (b"\xe3", 1.1),  # kana
    (bytes(range(0xE4, 0xEA)), 1.4),  # Han
    (b"\xea\xeb\xec\xed", 1.5),  # Hangul
    (b"\xf0\xf1\xf2\xf3\xf4", 3.0),  # emoji and rare scripts
)
_MARGIN = 1.1


def estimate(text: str) -> int:
    """About how many tokens a model counts for the text, rather too many than too few."""
    count = float(len(_PIECES.findall(text)))
    if not text.isascii():
        data = text.encode("utf-8", "replace")
        for first_bytes, weight in _PER_CHARACTER:
            count += weight * (len(data) - len(data.translate(None, first_bytes)))
    return max(1, -int(-_MARGIN * count // 1)) if text else 0
