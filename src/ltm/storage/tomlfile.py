"""A settings file a person wrote: its tables, or what is wrong with it and in which line.

Owns reading TOML without ever raising for what is in it. The parser is loaded only when there is a
file. Imports the standard library, `core.model` and the small reader.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ltm.core.model import Problem
from ltm.storage.plainfile import read_plain

_LIMIT = 256 * 1024
_PARTS = 100  # of a dotted key


class TomlFile(NamedTuple):
    """What a file says; no tables when it is not there or not readable."""

    path: str
    tables: Mapping[str, Any] = MappingProxyType({})
    text: str = ""
    problem: Problem | None = None

    def line(self, name: str) -> int:
        """The line that sets `a.b.c`, or the nearest table above it; 0 when it cannot be told."""
        table = ""
        nearest = 0
        for number, line in enumerate(self.text.splitlines(), start=1):
            head = re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line)
            if head:
                table = re.sub(r"[\s\"']", "", head[1]) + "."
                if f"{name}.".startswith(table):
                    nearest = number
                continue
            key = table + re.sub(r"[\s\"']", "", line.partition("=")[0])
            if key == name:
                return number
            if name.startswith(key + "."):
                nearest = number
        return nearest


def read_toml(path: str, *, follow: bool = True) -> TomlFile:
    """Read a file; with `follow=False` a symbolic link is not read but told as a problem."""
    try:
        data = read_plain(path, limit=_LIMIT, follow=follow)
    except (FileNotFoundError, NotADirectoryError):
        return TomlFile(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return TomlFile(path, problem=Problem(path, f"cannot be read: {reason}"))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return TomlFile(path, problem=Problem(path, "is not UTF-8", line))
    return parse_toml(text, path)


def parse_toml(text: str, path: str) -> TomlFile:
    """Read a text that is, or is to be, in the file at `path`."""
    import tomllib

    for number, words in enumerate(text.split("\n"), 1):
        # Each part costs as much as there are parts before it: a line could take minutes.
        if words.partition("=")[0].count(".") > _PARTS:
            return TomlFile(path, text=text, problem=Problem(path, "is nested too deeply", number))
    try:
        return TomlFile(path, tomllib.loads(text), text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r" \(at line (\d+), column \d+\)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        message = re.sub(r" \(at .*\)", "", str(error))
        return TomlFile(path, text=text, problem=Problem(path, f"is not TOML: {message}", line))
    except RecursionError:
        return TomlFile(path, text=text, problem=Problem(path, "is nested too deeply", 1))
    except ValueError as error:  # a number that Python refuses to read for its length
        return TomlFile(path, text=text, problem=Problem(path, f"is not TOML: {error}", 1))
