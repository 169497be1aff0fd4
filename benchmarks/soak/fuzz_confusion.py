"""JSON in which something is of another sort than it should be (row S8).

A fuzzer that changes bytes mostly makes text that is no JSON any more, and that is refused at once.
This changes values, so that what comes behind the parser is tried too. Standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

_ODD = (
    *("null", "true", "0", "-1", "1e308", "1e999", "9" * 40, '""', '"x"', "[]", "{}", "[[]]"),
    *("[{}]", '{"type":[]}', '{"type":"text"}', '[{"type":"text","text":null}]', '["x"]'),
    *(r'"\ud83e"', r'"\u0000"', r'"\u2028"', '"0001-01-01T00:00:00Z"', '"9999-12-31T23:59:59Z"'),
    *('"2026-11-15T10:00:00+99:99"', '"user"', '"assistant"', '"system"', '"attachment"'),
    *('"tool_use"', '"tool_result"', '"queued_command"', '"compact_boundary"', '"/"', '"../x"'),
    *('"[Request interrupted by user]"', '"<command-name>/x</command-name>"', '"Error: x"'),
    *('"never do that, always do this"', '"' + "a" * 300 + '"'),
)


def confused(data: bytes, chance: Random) -> bytes:
    """The same lines with a value or more of one of them replaced; as they are if none is JSON."""
    lines = data.split(b"\n")
    place = chance.randrange(len(lines))
    try:
        value = json.loads(lines[place])
        for _ in range(chance.randint(1, 3)):
            spots = list(_spots(value))
            if spots:
                holder, key = chance.choice(spots)
                holder[key] = json.loads(chance.choice(_ODD))
        lines[place] = json.dumps(value, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        return data
    return b"\n".join(lines)


def _spots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Everything inside of a value that can be replaced: what holds it, and under which key."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _spots(value[key])
