"""How one value is written on one line of front matter, so that every YAML tool reads it back.

Owns the quoting rules and nothing else. A line per key is what lets git's own union merge work on
memory files. Imports only the standard library.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

# What a YAML reader refuses or takes for a line break when it stands unescaped.
UNFIT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\r(?!\n)")

_ESCAPED = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SPECIAL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|: | #|:$")
_FLOW_PLAIN = re.compile(r"[\w ./@+-]+\Z")  # readers differ on what else may stand in a list
_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:+_-]*\Z")
# Words that some YAML reader, of whatever version, takes for something other than a string.
_RESERVED = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"))


def scalar(text: str) -> str:
    """A text as a plain scalar where it cannot be misread, else in double quotes."""
    return text if _is_plain(text) else quoted(text)


def flow(items: Iterable[str]) -> str:
    """A list on one line: `[a, b]`."""
    cells = (t if _FLOW_PLAIN.match(t) and _is_plain(t) else quoted(t) for t in items)
    return f"[{', '.join(cells)}]"


def token(text: str) -> str:
    """A number, a boolean or a moment, left plain because other tools may read it as such."""
    return text if _TOKEN.match(text) and not text.endswith(":") else scalar(text)


def quoted(text: str) -> str:
    """A text in double quotes with escapes that mean the same in JSON and in YAML."""
    return _ESCAPED.sub(
        lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False)
    )


def is_text(text: str) -> bool:
    """Whether a text file can keep this: no NUL and no half of a surrogate pair."""
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_plain(text: str) -> bool:
    return (
        text[:1].isalpha()  # no indicator, sign or digit: neither syntax, number nor date
        and text == text.strip()
        and text.lower() not in _RESERVED
        and not _SPECIAL.search(text)
    )
