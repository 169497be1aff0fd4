"""Three-way merge of memory files, and the driver git calls for it.

Every key is merged by its rule in `fields`, the text by sections, and never into a conflict marker.

| what                    | both sides changed it                                             |
|-------------------------|-------------------------------------------------------------------|
| a known key             | its rule in `fields.FIELDS`; losing words become a line of the body |
| summary, content        | every line of either (git's union)                                |
| phase                   | the fuller one when both changed the text: an edit beats a fading |
| text that faded         | gives way to the text the other side edited                       |
| version                 | the higher one, plus 1 when both changed the text                 |
| signature               | kept only if it still covers what it signed; made again by the    |
|                         | driver where both sides fit the key of this machine               |
| an unknown key          | the side updated last; losing words become a line of the body     |
| an unreadable file      | the other side, with every line it lacks added to its content     |
| neither can be read,    | refused: git keeps its conflict                                   |
| or not in a vault       |                                                                   |
| the block in CLAUDE.md  | the lines of either (`files/block`); git merges what is around it |

The lines of two texts are joined by git's own union merge. What a merge makes of two signed
versions is signed, since only LTM changed anything there; without that, a user of two machines with
one key would see a warning after every merge.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime

from ltm.config import config
from ltm.errors import BadFile, LtmError
from ltm.files.atomic import write_file
from ltm.files.block import TARGETS, merged_block, with_block
from ltm.model import Phase
from ltm.project.git_command import run
from ltm.project.home import home, scratch_folder
from ltm.text.sentences import summary_of
from ltm.vault import codec, frontmatter, key_file
from ltm.vault.codec import read_body, rewrite_body, with_notes
from ltm.vault.fields import BY_KEY, FIELDS, Field, Value, items, merge3, moment, phase_of, union
from ltm.vault.frontmatter import Document, FrontMatterEntry, parse

REFUSED = 3
"""How the driver ends for files that are not memories; 1 and 2 are how Python fails to start."""
_USAGE = """ltm: merge-driver takes what git gives it: BASE OURS THEIRS PATH ({count} given)
     `ltm init` sets it up in a repository; git then calls it for each memory both sides changed
"""

_MEMORY_PATH = re.compile(r"(^|/)(memories|archives)/[^/]+\.md\Z")
_SIGNATURES = ("signature", "shown_signature")


def merge(base: bytes, ours: bytes, theirs: bytes, path: str) -> bytes:
    """The file that two versions of it make; `base` is empty when both sides added it.

    Which side is `ours` decides only the formatting, so that two people who merge each other's
    work end with the same memory.
    """
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    mine, other = _read(ours, path), _read(theirs, path)
    if mine is not None and other is not None:
        return _merge(_read(base, path), mine, other).to_bytes()
    if mine is not None:
        return _with_every_line(mine, theirs)
    if other is not None:
        return _with_every_line(other, ours)
    raise BadFile("neither side is a memory", path=path)


def main(argv: Sequence[str]) -> int:
    """The merge driver: `%O %A %B %P`; the result replaces the file A.

    Any other end than 0 means that A is as it was; REFUSED, that these are not memories: a
    repository's attributes can name this driver for any file, and a union of lines breaks code.
    """
    if len(argv) != 4:
        sys.stderr.write(_USAGE.format(count=len(argv)))
        return 1
    base, ours, theirs, path = argv
    try:
        if os.path.basename(path) in map(os.path.basename, TARGETS):
            return _merge_around_block(base, ours, theirs)
        if not _MEMORY_PATH.search(path.replace(os.sep, "/")):
            raise BadFile("is not in a vault's memories or archives", path=path)
        sides = _bytes(ours), _bytes(theirs)
        merged = merge(_bytes(base), *sides, path)
        if merged not in sides and all(b"shown_signature:" in side for side in sides):
            merged = resigned(merged, sides, path)
        write_file(os.path.abspath(ours), merged)
    except BadFile as error:
        print(f"ltm: not merged, because only memories are: {error}", file=sys.stderr)
        return REFUSED
    except Exception as error:
        print(f"ltm: could not merge {path}: {error}", file=sys.stderr)
        return 1
    return 0


def _merge_around_block(base: str, ours: str, theirs: str) -> int:
    """Merge a file that may hold our block; where git finds a conflict around it, that stays."""
    sides = _bytes(base), _bytes(ours), _bytes(theirs)
    block = merged_block(*sides)
    if block is not None:
        for path, data in zip((base, ours, theirs), sides, strict=True):
            write_file(os.path.abspath(path), with_block(data, block) or data)
    folder = os.path.dirname(os.path.abspath(ours))
    done = run(folder, "merge-file", "-L", "ours", "-L", "base", "-L", "theirs", ours, base, theirs)
    return REFUSED if done.returncode else 0


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _read(data: bytes, path: str) -> Document | None:
    try:
        document = parse(data, path)
    except BadFile:
        return None
    if not document.repeated:
        return document
    settled = {key: document.fields[key] for key in document.repeated if key in document.fields}
    return document.with_fields(settled, with_notes(document.body, document.alternates))


def _merge(base: Document | None, ours: Document, theirs: Document) -> Document:
    def age(side: Document) -> tuple[datetime, bytes]:
        updated = moment(str(side.fields.get("updated", "")))
        return updated or datetime.min.replace(tzinfo=UTC), side.to_bytes()

    older, newer = sorted((ours, theirs), key=age)
    both_edited = older.body != newer.body and (
        base is None or base.body not in (older.body, newer.body)
    )
    values: dict[str, Value] = {}
    lost: dict[str, tuple[str, ...]] = {}
    for field in FIELDS:
        former = None if base is None else _value(base, field)
        sides = _value(older, field), _value(newer, field)
        # A fading is undone by an edit, so when both changed the text only the sides count.
        known = None if field.key == "phase" and both_edited else former
        values[field.key] = merge3(field, known, *sides)
        if field.spoken:
            lost[field.key] = _losers(sides, (former, values[field.key]))
    if both_edited and str(values["version"]).isdigit():
        values["version"] = str(int(str(values["version"])) + 1)
    entries, unknown = _other_entries(base, ours, theirs, newer)
    body = with_notes(_text(base, ours, older, newer), lost | unknown)
    changes: dict[str, Value | None] = {}
    for field in FIELDS:
        value = values[field.key]
        if value != _value(ours, field):
            is_default = not field.always and value == (() if field.many else field.default)
            changes[field.key] = None if is_default else value
    merged = ours.with_entries(entries).with_fields(changes, body)
    for key in _SIGNATURES:  # in this order, because the second covers the first
        # Only a signature that still covers what it signed is kept.
        covered = _covered(merged, key)
        fitting = (
            side.fields.get(key) for side in (newer, older) if _covered(side, key) == covered
        )
        kept = next((signature for signature in fitting if signature), None)
        if kept != merged.fields.get(key):
            merged = merged.with_fields({key: kept})
    return merged


def _value(document: Document, field: Field) -> Value:
    value = document.fields.get(field.key)
    return items(value) if field.many else value or field.default


def _losers(sides: Sequence[Value], kept: Sequence[Value | None]) -> tuple[str, ...]:
    return tuple(side for side in sides if isinstance(side, str) and side and side not in kept)


def _text(base: Document | None, ours: Document, older: Document, newer: Document) -> str:
    """The merged body, in the formatting of `ours`."""
    if older.body == newer.body or (base is not None and older.body == base.body):
        return newer.body
    if base is not None and newer.body == base.body:
        return older.body
    pairs = ((older, newer), (newer, older))
    faded = [side for side, other in pairs if _has_faded(side, base or other)]
    if len(faded) == 1:
        return newer.body if faded == [older] else older.body
    if not (older.body.strip() and newer.body.strip()):  # one is a tombstone
        return older.body if older.body.strip() else newer.body
    if faded:
        return min(faded, key=lambda side: (_phase(side), -len(side.body))).body

    # By sections, so that a union never repeats their headings. A summary that follows from its
    # text stands nowhere, so there is nothing of it to merge.
    one, two = read_body(older.body), read_body(newer.body)
    was = None if base is None else read_body(base.body)
    summary = merge_lines(None if was is None else was.given, one.given, two.given)
    content = merge_lines(None if was is None else was.content, one.content, two.content)
    if not summary and not (one.explicit and two.explicit):
        summary = summary_of(content)
    return rewrite_body(ours.body, summary, content)


def _phase(document: Document) -> int:
    return phase_of(str(_value(document, BY_KEY["phase"]))) or 0


def _has_faded(side: Document, before: Document) -> bool:
    """Whether a side's text is only the shortening that comes with a later phase."""
    if _phase(side) <= _phase(before):
        return False
    # Sentence ends may have become line ends, so it is words that are compared, not lines.
    flat = " ".join(before.body.split())
    return all(" ".join(line.split()) in flat for line in side.body.splitlines())


def _covered(document: Document, signature: str) -> list[Value]:
    sections = read_body(document.body)
    shown = signature == "shown_signature"
    values = [
        _value(document, field)
        for field in FIELDS
        if field.signed or (shown and field.key != signature)
    ]
    return [*values, sections.summary, sections.content]


def _other_entries(
    base: Document | None, ours: Document, theirs: Document, newer: Document
) -> tuple[list[FrontMatterEntry], dict[str, tuple[str, ...]]]:
    """The entries of `ours` with what `theirs` did to unknown keys and comments, and lost words."""
    entries = list(ours.entries)
    lost: dict[str, tuple[str, ...]] = {}
    before = {} if base is None else _unknown(base)
    mine, other = _unknown(ours), _unknown(theirs)
    for key in union(tuple(mine), tuple(other), tuple(before)):
        was, here, there = before.get(key), mine.get(key), other.get(key)
        if here == there or there == was:
            continue
        if here != was and here is not None and there is not None:
            losing, winning = (ours, theirs) if newer is theirs else (theirs, ours)
            words, winner = losing.fields.get(key), winning.fields.get(key)
            if isinstance(words, str) and words:
                lost[key] = _losers([words], [winner])
            if newer is ours:
                continue
        elif here != was and there is None:
            continue  # the other side removed what this one edited: the edit stays
        # In the place of the first of that key, or at the end.
        start = next((i for i, entry in enumerate(entries) if entry.key == key), len(entries))
        rest = [entry for entry in entries[start:] if entry.key != key]
        entries = [*entries[:start], *(there or ()), *rest]
    comments = {entry.raw for side in (base, ours) if side for entry in _comments(side)}
    entries += [entry for entry in _comments(theirs) if entry.raw not in comments]
    return _in_style(entries, ours), lost


def _unknown(document: Document) -> dict[str, tuple[FrontMatterEntry, ...]]:
    found: dict[str, tuple[FrontMatterEntry, ...]] = {}
    for entry in _in_style(document.entries, None):
        if entry.key and entry.key not in BY_KEY:
            found[entry.key] = (*found.get(entry.key, ()), entry)
    return found


def _comments(document: Document) -> list[FrontMatterEntry]:
    lines = [line for entry in document.entries if not entry.key for line in entry.raw.splitlines()]
    return [FrontMatterEntry("", f"{line.strip()}\n") for line in lines if line.strip()]


def _in_style(entries: Sequence[FrontMatterEntry], like: Document | None) -> list[FrontMatterEntry]:
    """The entries with the line ends of a document, or with plain ones for comparing."""
    newline = "\r\n" if like is not None and like.opening.endswith("\r\n") else "\n"
    return [
        FrontMatterEntry(
            e.key, e.raw.replace("\r\n", "\n").replace("\n", newline), e.value, e.remark
        )
        for e in entries
    ]


def _with_every_line(good: Document, rest: bytes) -> bytes:
    """The side that can be read with what it lacks of the other, which cannot; no line is lost."""
    known_lines = set(good.to_bytes().decode().splitlines())
    # Bytes that are not text are spelt out, so that the result can be read.
    spelt = rest.decode(errors="backslashreplace").replace("\0", "\\x00")
    lacking = [line for line in spelt.splitlines() if line.strip() and line not in known_lines]
    sections = read_body(good.body)
    content = "\n\n".join(filter(None, (sections.content, "\n".join(lacking))))
    return good.with_fields({}, rewrite_body(good.body, sections.summary, content)).to_bytes()


def merge_lines(base: str | None, older: str, newer: str) -> str:
    """Every line that either side has, except those one of them removed from a known base."""
    if older in (newer, base):
        return newer
    if newer == base:
        return older
    with tempfile.TemporaryDirectory(prefix="ltm-merge-", dir=scratch_folder()) as folder:
        for name, text in (("base", base or ""), ("older", older), ("newer", newer)):
            with open(os.path.join(folder, name), "wb") as file:
                # Git would join a last line without an end to what follows it.
                file.write(f"{text}\n".encode() if text else b"")
        done = run(folder, "merge-file", "-p", "-q", "--union", "older", "base", "newer")
    done.check_returncode()
    return done.stdout.decode().removesuffix("\n")


def resigned(merged: bytes, sides: Sequence[bytes], path: str) -> bytes:
    """The merged file with signatures that fit, if both versions had them; else as it is."""
    try:
        key = key_file.load(home())
        if key is None:
            return merged
        kinds = config.load(home()).kinds
        one, two, memory = (
            codec.decode(frontmatter.parse(data, path), path, kinds) for data in (*sides, merged)
        )
        if not (key.fits(one) and key.fits(two)):
            return merged
        # A shortened text stands for an original that is not here: its signature was kept if it
        # still covers it, and cannot be made again.
        whole = memory if memory.phase is Phase.FULL and memory.text else None
        if whole is None and not memory.signature:
            return merged
        return codec.to_bytes(key.signed(memory, whole), frontmatter.parse(merged, path), kinds)
    except LtmError:
        return merged


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
