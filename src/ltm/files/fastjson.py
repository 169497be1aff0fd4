"""JSON for a process that lives for ten milliseconds.

Importing `json` costs more than all the rest of a hook (9 ms of processor time against 8 ms for the
interpreter itself), because it brings regular expressions and enumerations along. Its fast half is
a C module that can be used alone. Where that is missing, `json` does the work.
"""

from __future__ import annotations

TYPE_CHECKING = False  # without `typing`, which alone costs a hook half its time
if TYPE_CHECKING:
    from typing import Any

_SPACE = " \t\n\r"


class _Options:
    """What the scanner wants to know; control characters inside texts are let through."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


class _Strict(_Options):
    """The same, with control characters being an error, as they are by the rules."""

    strict = True


try:
    from _json import encode_basestring_ascii, make_scanner

    _scan = make_scanner(_Options())  # type: ignore[arg-type]  # it reads these names, no more
    _scan_strictly = make_scanner(_Strict())  # type: ignore[arg-type]
except ImportError:  # another Python than CPython
    from json.decoder import JSONDecoder
    from json.encoder import encode_basestring_ascii

    _scan = JSONDecoder(strict=False).scan_once  # type: ignore[attr-defined]
    _scan_strictly = JSONDecoder().scan_once  # type: ignore[attr-defined]

# Without `json` the scanner does not find the error it wants to raise, and this is a SystemError.
_MALFORMED = (StopIteration, ValueError, RecursionError, SystemError)


def read_object(text: str) -> dict[str, object]:
    """The object a text holds, and as much of it as is there when the text is cut off.

    Pairs are read one by one, so that a message that never ends still tells what it began with.
    Anything else than an object is an empty one.
    """
    found: dict[str, object] = {}
    place = _skip(text, 0)
    if text[place : place + 1] != "{":
        return found
    try:
        while text[place : place + 1] in ("{", ","):
            key, place = _scan(text, _skip(text, place + 1))
            place = _skip(text, place)
            if not isinstance(key, str) or text[place : place + 1] != ":":
                break
            value, place = _scan(text, _skip(text, place + 1))
            found[key] = value
            place = _skip(text, place)
    except _MALFORMED:
        pass
    return found


def read(text: str) -> Any:
    """The value a text is, as `json` reads it; `ValueError` when it is none."""
    try:
        value, end = _scan_strictly(text, 0)
    except _MALFORMED as error:
        raise ValueError("not a JSON value") from error
    if end != len(text):
        raise ValueError("more than one JSON value")
    return value


def is_whole(text: str) -> bool:
    """Whether a text is one complete JSON value and nothing else."""
    try:
        _, end = _scan(text, _skip(text, 0))
    except _MALFORMED:
        return False
    return _skip(text, end) == len(text)


def write(value: object) -> str:
    """A text, a truth, a number, nothing, or a dictionary of these, as ASCII JSON."""
    if isinstance(value, dict):
        return f"{{{','.join(f'{write(str(key))}:{write(each)}' for key, each in value.items())}}}"
    if isinstance(value, str):
        # A str subclass such as an enumeration's member is written as the text it is.
        return str(encode_basestring_ascii(str(value)))
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    raise TypeError(f"{type(value).__name__} is not written here")


def _skip(text: str, place: int) -> int:
    while text[place : place + 1] and text[place] in _SPACE:
        place += 1
    return place
