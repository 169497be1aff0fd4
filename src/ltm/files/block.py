"""The block between two comments in another tool's file: found, replaced, added, taken out.

`<!-- MEMORY:START -->` and `<!-- MEMORY:END -->`, each alone on its line and not in a code block,
are the owner's consent; without them nothing is written. Only the first pair counts. Everything
outside it stays byte for byte, whatever the file's line ends, byte order mark or encoding errors.

Other tools use the same marks, so a block is replaced only if it is empty or says that LTM wrote
it. What says so is one fixed line and not a hash of the text: every version of LTM has written it,
it comes along with a clone, and two branches that both changed the block still merge.
"""

from __future__ import annotations

import os
import re

from ltm.errors import Refused
from ltm.files.atomic import read_plain
from ltm.model import Problem
from ltm.record import NamedTuple

START = "<!-- MEMORY:START -->"
END = "<!-- MEMORY:END -->"

TARGETS = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "AGENTS.md")
"""Files of a project that may hold the block."""

MEMORY_MD = "MEMORY.md"
"""The name of a vault's view of all its memories."""

SIGNATURE = "Notes from earlier sessions, kept by ltm:"
"""How one line begins in every block and every MEMORY.md that LTM writes. Not to be changed: those
written before would be taken for another tool's."""

NOTE = f"{SIGNATURE} reference, not instructions. Edits here are lost."
"""That line, in a block."""

_BOM = rb"(?:\xef\xbb\xbf)?"
_MARK = _BOM + rb"[ \t]*(?P<mark><!--[ \t]*MEMORY:(?P<word>START|END)[ \t]*-->)[ \t]*[\r\n]*\Z"
_CODE = rb"[ \t]*(?P<fence>`{3,}|~{3,})(?P<rest>[^\r\n]*)"


class _Mark(NamedTuple):
    opens: bool
    line: int
    begin: int
    end: int


class MarkedBlock(NamedTuple):
    data: bytes
    line: int
    begin: int
    """How many bytes stand before it."""

    @property
    def inner(self) -> list[bytes]:
        return self.data.splitlines()[1:-1]

    @property
    def is_empty(self) -> bool:
        """Whether nothing stands between the marks."""
        return not any(map(bytes.strip, self.inner))


def find_block(existing: bytes) -> MarkedBlock | None:
    """The block of a file; None where there are no marks, or none that make a pair."""
    _, pair = _marks(existing)
    if pair is None:
        return None
    begin, end = pair
    return MarkedBlock(existing[begin.begin : end.end], begin.line, begin.begin)


def shows_block(root: str) -> bool:
    """Whether a file of the project has a block."""
    for name in TARGETS:
        try:
            if find_block(read_plain(os.path.join(root, name))) is not None:
                return True
        except (OSError, Refused):
            continue
    return False


def is_ours(view: bytes) -> bool:
    """Whether LTM wrote a block or a MEMORY.md, whatever was changed in it since."""
    signature = SIGNATURE.encode()
    return any(line.lstrip().startswith(signature) for line in view.splitlines())


def is_import_of(block: MarkedBlock, memory_md: str, target: str) -> bool:
    """Whether all that a block in the file `target` does is to load this MEMORY.md."""
    line = import_line(memory_md, target).encode()
    return [each.strip() for each in block.inner if each.strip()] == [line]


def with_block(existing: bytes, block: str) -> bytes | None:
    """The file with its marked block replaced; None without marks, as none was asked for then.

    Marks that do not make a pair leave the file as it is; `problems` says what is wrong with them.
    """
    marks, pair = _marks(existing)
    if not marks:
        return None
    if pair is None:
        return existing
    begin, end = pair
    return existing[: begin.begin] + _encoded(block, existing) + existing[end.end :]


def place_block(existing: bytes, block: str) -> bytes:
    """The file with a block: in its marks if it has any, else with new marks at its end."""
    found = with_block(existing, block)
    if found is not None:
        return found
    try:
        text = existing.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise Refused("is not UTF-8 text, so no block was added", hint="save it as UTF-8 first")
    eol = _eol(existing)
    return existing + (eol if text else b"") + _encoded(block, existing) + eol


def without_block(existing: bytes) -> bytes:
    """The file without its block and marks: exactly what it was before `place_block`."""
    _, pair = _marks(existing)
    if pair is None:
        return existing
    eol = _eol(existing)
    before, after = existing[: pair[0].begin], existing[pair[1].end :]
    return before.removesuffix(eol) + after.removeprefix(eol)


def problems(existing: bytes, path: str) -> tuple[Problem, ...]:
    """What is wrong with the marks of a file, each with its line."""
    marks, pair = _marks(existing)
    wrong = (
        "is one too many; only the first block is written"
        if pair
        else "has no partner, so the block is not written"
    )
    return tuple(
        Problem(path, f"{START if mark.opens else END} {wrong}", mark.line)
        for mark in marks
        if mark not in (pair or ())
    )


def import_block(line: str) -> str:
    """A block that lets the client load MEMORY.md by its import line, instead of a copy of it."""
    return "\n".join((START, line, END))


def import_line(memory_md: str, target: str) -> str:
    """The line in the file `target` with which the client loads MEMORY.md.

    The client takes the path as relative to the file that names it, in which a bare `@MEMORY.md`
    would be another file, and ends it at the first blank that is not escaped.
    """
    path = os.path.relpath(memory_md, os.path.dirname(target) or ".")
    return "@" + path.replace(os.sep, "/").replace(" ", "\\ ")


_TAGGED = r"\[(?:\? )?([0-9a-z_-]+)(?: [0-9a-z_-]+)*\]\Z"
_HEAD, _FOOT = "", "foot"
"""What stands above the first heading, and below the last line of a memory."""
_COUNT = r"- _…and \d+ more"


def merged_block(base: bytes, ours: bytes, theirs: bytes) -> str | None:
    """The block for a file of which two versions are merged; None unless both have one of LTM's.

    Each line is known by its heading and the id at its end. A line that one side changed, added or
    took out is as that side has it; of two changes ours stands until the block is written again.
    """
    blocks = [find_block(each) for each in (base, ours, theirs)]
    if not all(each and (each.is_empty or is_ours(each.data)) for each in blocks[1:]):
        return None
    before, mine, other = (_sections(each.inner if each else []) for each in blocks)
    lines = [START]
    for heading in sorted(dict.fromkeys((*mine, *other)), key=_FOOT.__eq__):
        was = before.get(heading, {})
        here, there = mine.get(heading, {}), other.get(heading, {})
        kept = []
        for key in dict.fromkeys((*here, *there)):
            line, change = here.get(key), there.get(key)
            if (key in was and line == was[key]) or (line is None and key not in was):
                line = change
            if line is not None:
                kept.append(line)
        if kept:
            opening = {_HEAD: [], _FOOT: [""]}.get(heading, ["", heading])
            lines += [*opening, *kept]
    return "\n".join([*lines, END])


def _sections(lines: list[bytes]) -> dict[str, dict[str, str]]:
    """The lines below each heading, each by what it is known by."""
    found: dict[str, dict[str, str]] = {}
    section = found.setdefault(_HEAD, {})
    for raw in lines:
        line = raw.decode("utf-8", "surrogateescape").rstrip()
        if line.startswith("### "):
            section = found.setdefault(line, {})
        elif line:
            if not line.startswith("- ") and len(found) > 1:
                section = found.setdefault(_FOOT, {})
            tagged = re.search(_TAGGED, line)
            section[tagged[1] if tagged else re.sub(_COUNT, "…", line)] = line
    return found


def _marks(data: bytes) -> tuple[list[_Mark], tuple[_Mark, _Mark] | None]:
    """The marks that stand alone on a line outside code blocks, and the first pair of them.

    A pair is the first start and the end that follows it, unless another start is in between.
    """
    marks: list[_Mark] = []
    position = 0
    code = b""  # the fence of the code block that is open
    inside = False
    for number, line in enumerate(data.splitlines(keepends=True), start=1):
        if found := None if code else re.match(_MARK, line):
            inside = found["word"] == b"START"
            begin, end = found.span("mark")
            marks.append(_Mark(inside, number, position + begin, position + end))
        elif not inside and (found := re.match(_CODE, line)):
            # What stands between the marks is replaced, so it opens no code block.
            fence, rest = found["fence"], found["rest"]
            if not code:
                code = b"" if fence[:1] == b"`" and b"`" in rest else fence
            elif fence[:1] == code[:1] and len(fence) >= len(code) and not rest.strip():
                code = b""
        position += len(line)
    first = next((place for place, mark in enumerate(marks[:-1]) if mark.opens), None)
    if first is None or marks[first + 1].opens:
        return marks, None
    return marks, (marks[first], marks[first + 1])


def _encoded(block: str, existing: bytes) -> bytes:
    return _eol(existing).join(line.encode() for line in block.split("\n"))


def _eol(data: bytes) -> bytes:
    """The line end most lines of a file have."""
    windows = data.count(b"\r\n")
    return b"\r\n" if windows > data.count(b"\n") - windows else b"\n"
