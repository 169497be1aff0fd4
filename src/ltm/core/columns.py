"""Secrets that a heading gives away: a table's column `password`, a Kubernetes Secret's `data`.

Every line is read once, so that time grows with the text and no faster. Imports `core.assigned`,
`core.keynames` and `core.looks`; no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from itertools import pairwise

from ltm.core.assigned import is_secret
from ltm.core.keynames import WORD, Promise, promise
from ltm.core.looks import is_placeholder

_HEADING = re.compile(r"^[\w .|,;\t\"'`*-]{5,400}+(?=\r?$)", re.MULTILINE)
_LINE = re.compile(r"[^\r\n]+")
_RULE = re.compile(r"[-+:=| \t]+\Z")
_FRAME = " \t\"'`*"
_LONGEST_NAME = 30

_MANIFEST = re.compile(r"[\"']?\bkind[\"']?:[ \t]{0,4}[\"']?Secret[\"']?(?=[\s,}]|\Z)")
_DOCUMENT = re.compile(r"^---", re.MULTILINE)
_DATA = re.compile(r"^([ \t]*)(?:data|stringData):[ \t]*\r?\n", re.MULTILINE)
_ENTRY = re.compile(r"([ \t]*)([\"']?[\w.-]{1,128}[\"']?:[ \t]{1,8})?([^\r\n]*)\r?\n?")
_JSON_DATA = re.compile(r"\"(?:data|stringData)\"\s{0,8}:\s{0,8}\{([^{}]*)\}")
_JSON_ENTRY = re.compile(r"\"[\w.-]{1,128}\"\s{0,8}:\s{0,8}\"([^\"\n]*)\"")


def in_columns(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of every secret in a column or block whose heading promises one."""
    done = 0
    for heading in _HEADING.finditer(text):
        if heading.start() >= done and (mark := _mark(heading[0])):
            columns = _columns(heading[0].split(mark))
            if columns:
                done = yield from _cells(text, heading.end(), mark, heading[0].count(mark), columns)
    if "Secret" in text and _MANIFEST.search(text):
        yield from _manifests(text)


def _mark(line: str) -> str:
    """What stands between the cells of a line that can be the heading of a table, or nothing."""
    mark = next((mark for mark in "|\t;," if mark in line), "")
    if not mark or not WORD.search(line.lower()):
        return ""
    # Code and sentences have a space after the mark, or end with it.
    loose = mark in ",;" and (f"{mark} " in line or line.endswith(mark))
    return "" if loose else mark


def _columns(cells: list[str]) -> dict[int, Promise]:
    """The columns that promise secrets, if these are the names of columns."""
    names = [cell.strip(_FRAME) for cell in cells]
    if len([name for name in names if name]) < 2:
        return {}
    held = {n: promise(name) for n, name in enumerate(names) if len(name) <= _LONGEST_NAME}
    return {n: what for n, what in held.items() if what}


def _cells(
    text: str, at: int, mark: str, marks: int, columns: dict[int, Promise]
) -> Generator[tuple[int, int, str], None, int]:
    """The secrets in the lines of a table; what it returns is where the table ends."""
    while (line := _LINE.match(text, text.find("\n", at) + 1)) and "\n" in text[at : line.start()]:
        if not _RULE.match(line[0]):
            if line[0].count(mark) != marks:
                break
            start = line.start()
            for n, cell in enumerate(line[0].split(mark)):
                value = cell.strip(_FRAME)
                held = columns.get(n)
                named = held is not None and held.kind == "password"
                if held and is_secret(value, held, loose=True, quoted=named):
                    begin = start + cell.index(value)
                    yield begin, begin + len(value), held.kind
                start += len(cell) + 1
        at = line.end()
    return at


def _manifests(text: str) -> Iterator[tuple[int, int, str]]:
    """Every value of the Kubernetes Secrets in the documents of a text."""
    starts = [0, *(match.start() for match in _DOCUMENT.finditer(text)), len(text)]
    for since, until in pairwise(starts):
        if _MANIFEST.search(text, since, until):
            for data in _DATA.finditer(text, since, until):
                yield from _entries(text, data.end(), until, len(data[1]))
            for data in _JSON_DATA.finditer(text, since, until):
                for entry in _JSON_ENTRY.finditer(text, *data.span(1)):
                    yield from _taken(text, *entry.span(1))


def _entries(text: str, at: int, until: int, indent: int) -> Iterator[tuple[int, int, str]]:
    while at < until and (entry := _ENTRY.match(text, at, until)) and len(entry[1]) > indent:
        yield from _taken(text, *entry.span(3))
        at = entry.end()


def _taken(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    value = text[start:end].strip(_FRAME)
    if len(value) >= 4 and not is_placeholder(value):
        begin = text.index(value, start)
        yield begin, begin + len(value), "secret"
