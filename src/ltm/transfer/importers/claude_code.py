"""Claude Code's own auto memory: `~/.claude/projects/<project>/memory/*.md`; only read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ltm.kinds import Kinds
from ltm.transfer.item import Item
from ltm.transfer.parse import Front, day, front, name_of, read_note, sections
from ltm.transfer.source import Origin

_INDEX = "MEMORY.md"
_KINDS = {
    "user": "relationship",
    "feedback": "preference",
    "project": "context",
    "reference": "fact",
}
_LINK = re.compile(r"\[\[([^\[\]|#]{1,200})(?:[|#][^\[\]]*)?\]\]")
_POINTER = re.compile(r"[ \t]*[-*+][ \t]+\[[^\]]*\]\([^)]*\.md\)|[ \t]*[-*+][ \t]+\[\[[^\]]+\]\]")
# Other files have a name and a description too: agents, skills, commands.
_TYPE = re.compile(rb"^type:[ \t]*(?:user|feedback|project|reference)[ \t]*$", re.MULTILINE)
_NAMED = re.compile(rb"^(?:name|description):", re.MULTILINE)
_METADATA = re.compile(
    rb"^originSessionId:"
    rb"|^metadata:(?:[ \t]*\n[ \t]+[^\n]*)*?\n[ \t]+(?:type|node_type|originSessionId):",
    re.MULTILINE,
)


def finds(origin: Origin) -> bool:
    folder = _folder(origin)
    # The index counts only where the client keeps it, since its name is common.
    has_index = folder and _is_clients(folder) and os.path.isfile(os.path.join(folder, _INDEX))
    return bool(_notes(origin) or has_index)


def read(origin: Origin, kinds: Kinds) -> Iterator[Item]:
    """Every note, then what the index says itself."""
    for path in _notes(origin):
        yield from _note(origin, path)
    folder = _folder(origin)
    index = os.path.join(folder, _INDEX) if folder else ""
    if os.path.isfile(index):
        yield from _indexed(origin, index)


def _note(origin: Origin, path: str) -> Iterator[Item]:
    note = read_note(origin, path)
    if note is None:
        return
    text = note.body.strip()
    if not text and not note.text("description"):
        origin.problem(path, "is empty")
        return
    word = _inner(note, "type")
    at = day(_inner(note, "modified")) or origin.modified(path)
    yield Item(
        text=text or note.text("description"),
        path=path,
        kind=_KINDS.get(word, word),
        word=word or "a note",
        title=note.text("description", "name") or name_of(path),
        summary=note.text("description"),
        legacy_id=os.path.basename(path).removesuffix(".md"),
        created=day(_inner(note, "created")) or at,
        updated=at,
        session=_inner(note, "originSessionId"),
        links=tuple(dict.fromkeys(link.strip() for link in _LINK.findall(text))),
    )


def _inner(note: Front, key: str) -> str:
    """A key of `metadata`, where newer clients keep it, or of the note itself."""
    return note.inner("metadata", key) or note.text(key)


def _indexed(origin: Origin, path: str) -> Iterator[Item]:
    text = origin.text(path) or ""
    for part in sections(front(text).body, level=2):
        body = "\n".join(line for line in part.body if not _POINTER.match(line)).strip()
        if len(body.split()) < 3:
            continue
        yield Item(
            text=body,
            path=path,
            line=part.line,
            word=_INDEX,
            title=part.heading,
            created=origin.modified(path),
        )


def _folder(origin: Origin) -> str | None:
    """The folder of the notes: it is called so, or it has an index; other folders are not."""
    if not origin.is_folder:
        return None
    inner = origin.folder("memory")
    if inner and _is_clients(inner):
        return inner
    named = os.path.basename(origin.path) == "memory"
    return origin.path if named or origin.find(_INDEX) else None


def _is_clients(folder: str) -> bool:
    """Whether a folder lies where the client keeps its own."""
    return f"{os.sep}projects{os.sep}" in folder


def _notes(origin: Origin) -> list[str]:
    if not origin.is_folder:
        return [origin.path] if _is_note(origin, origin.path) else []
    folder = _folder(origin)
    paths = origin.files(folder, ".md") if folder else []
    return [path for path in paths if os.path.basename(path) != _INDEX and _is_note(origin, path)]


def _is_note(origin: Origin, path: str) -> bool:
    head = origin.head(path)
    if not path.endswith(".md") or not head.startswith(b"---"):
        return False
    keys = head.replace(b"\r\n", b"\n").split(b"\n---", 1)[0]
    if _METADATA.search(keys):
        return True
    return _TYPE.search(keys) is not None and len(_NAMED.findall(keys)) > 1
