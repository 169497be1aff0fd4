"""Text made safe to show: what could steer a terminal or hide from the eye becomes visible.

A memory may hold anything, also what a web page or a hostile repository put there. Cursor moves,
colours, title changes, right-to-left overrides and invisible tag characters are shown as escapes
(`\\x1b`, `\\u202e`); ordinary writing of any language and emoji stay as they are. Standard library
only; no I/O.
"""

from __future__ import annotations

import re

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
    if keep_newlines:
        text = text.replace("\r\n", "\n")
        return re.sub(_HIDDEN, lambda found: _kept_or_escaped(found[0]), text)
    return re.sub(_HIDDEN, lambda found: _escaped(found[0]), text)


def one_line(text: str) -> str:
    """The text on a single line: made visible, every run of white space as one blank."""
    return " ".join(visible(text, keep_newlines=True).split())


def _kept_or_escaped(char: str) -> str:
    return char if char in "\n\t" else _escaped(char)


def _escaped(char: str) -> str:
    code = ord(char)
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return _SHORT.get(char) or (f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}")
