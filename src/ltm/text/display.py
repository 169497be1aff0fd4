"""Text as it is shown: safe for a terminal, with plurals, its cost in tokens, the files it names.

A memory may hold anything, also what a web page or a hostile repository put there. Cursor moves,
colours, title changes, right-to-left overrides and invisible tag characters are shown as escapes
(`\\x1b`, `\\u202e`); ordinary writing of any language and emoji stay as they are.

Tokens are estimated on the safe side and without any vocabulary, since a budget only needs "not
more than". ASCII is counted in pieces as a vocabulary would cut them: five letters, two capitals,
two digits, two punctuation marks, one line's indentation. Beyond ASCII every character adds a
figure that depends on its script, read off the first byte of its UTF-8 form. A tenth on top is for
vocabularies finer than the one the figures come from.

The figures were fitted to Anthropic's one published vocabulary (65,000 entries, the tokeniser of
Claude 2) on 16,700 samples of 400 characters: chats, source code, JSON, YAML, logs, base64, emoji,
and program messages in more than forty languages. Estimate over real count, the worst in a hundred
samples and the middle one: prose 1.1 and 1.3, code 1.0 and 1.3, JSON 1.1 and 1.3, Chinese 1.0 and
1.3, Japanese 1.0 and 1.3, Korean 1.0 and 1.2, emoji 1.0 and 1.1. It can fall short, down to 0.8, on
languages in plain Latin letters such as Dutch or Finnish and on base64, and by half on random
letters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

# C0, DEL and C1 controls; line and paragraph separators; overrides and isolates of direction; lone
# surrogates, which no terminal encoding can carry; tag characters, which spell invisible ASCII.
_HIDDEN = "[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str, keep_newlines: bool = False) -> str:
    """The text with every control or hidden character as a visible escape.

    With `keep_newlines`, line feeds and tabs stay, and CRLF line ends become line feeds.
    """
    if text.isprintable():
        return text  # nearly always, and none of the hidden ones are printable
    kept = "\n\t" if keep_newlines else ""
    if keep_newlines:
        text = text.replace("\r\n", "\n")
    return re.sub(_HIDDEN, lambda found: found[0] if found[0] in kept else _escaped(found[0]), text)


def one_line(text: str) -> str:
    """The text on a single line: made visible, every run of white space as one blank."""
    return " ".join(visible(text, keep_newlines=True).split())


def _escaped(char: str) -> str:
    code = ord(char)
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return _SHORT.get(char) or (f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}")


def file_size(count: int) -> str:
    """So many bytes, to be read."""
    return f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{count / 1e3:,.1f} KB"


def counted(number: int, one: str, many: str = "") -> str:
    """`1 memory`, `3 memories`: `many` is for words that do more than take an s."""
    # `memory` becomes `memories`, but `day` becomes `days`.
    in_ies = one.endswith("y") and one[-2:-1] not in "aeiou"
    plural = many or (f"{one[:-1]}ies" if in_ies else f"{one}s")
    return f"{number:,} {one if number == 1 else plural}"


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
_SHORT_TEXT = 2_000  # characters of a text whose estimate is remembered


def estimate(text: str) -> int:
    """About how many tokens a model counts for the text, rather too many than too few."""
    # Whether a line fits is asked before it is taken, and what it costs after that.
    return _estimated_before(text) if len(text) <= _SHORT_TEXT else _estimated(text)


def _estimated(text: str) -> int:
    count = float(len(_PIECES.findall(text)))
    if not text.isascii():
        data = text.encode("utf-8", "replace")
        for first_bytes, weight in _PER_CHARACTER:
            count += weight * (len(data) - len(data.translate(None, first_bytes)))
    return max(1, -int(-_MARGIN * count // 1)) if text else 0


_estimated_before = lru_cache(maxsize=256)(_estimated)


_WORD = r"[\w.@+~/\\-]+"
_LEAST = 4  # letters of a stem that is a tag of its own and not an accident


def parts_of(path: str) -> list[str]:
    """The names a path consists of."""
    return [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]


def same_end(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether the shorter of two paths is the end of the longer."""
    shared = min(len(one), len(other))
    return shared > 0 and list(one[-shared:]) == list(other[-shared:])


def names_file(text: str, path: str) -> bool:
    """Whether a text names a file: by its whole path, by an end of it, or by its name alone."""
    wanted = parts_of(path)
    if not wanted or wanted[-1] not in text:
        return False
    plain = "." not in wanted[-1] and wanted[-1].islower()  # `main` is a word before it is a file
    for word in re.findall(_WORD, text):
        parts = parts_of(word.rstrip("."))
        if same_end(parts, wanted) and not (plain and len(parts) == 1):
            return True
    return False


def names_folder(text: str, path: str) -> bool:
    """Whether a text names a folder, or anything in it, with a path."""
    wanted = parts_of(path)
    if not wanted or wanted[-1] not in text:
        return False
    for word in re.findall(_WORD, text):
        if "/" in word or "\\" in word:
            parts = parts_of(word.rstrip("."))
            if is_inside(parts, wanted) or same_end(parts, wanted):
                return True
    return False


def is_inside(parts: Sequence[str], folder: Sequence[str]) -> bool:
    """Whether a path leads through a folder."""
    size = len(folder)
    return any(list(parts[at : at + size]) == list(folder) for at in range(len(parts) - size + 1))


def is_tag_of(tag: str, path: str) -> bool:
    """Whether a tag is the name of a file, with or without its ending."""
    name = (parts_of(path) or [""])[-1].lower()
    stem = name.partition(".")[0]
    return tag.lower() in {name, stem if len(stem) >= _LEAST else name}
