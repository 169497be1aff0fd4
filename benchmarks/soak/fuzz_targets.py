"""What a fuzzer gives bytes to, and what must hold whatever they are (row S8).

Each target returns for any bytes at all. An error of ours is an answer; any other exception is a
find, and so is a promise that does not hold. Tests give saved finds to the same functions. Imports
the product and nothing of any fuzzer.
"""

from __future__ import annotations

import atexit
import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from ltm.capture.decide import as_memory
from ltm.capture.extract import Listener
from ltm.clients.wire import understand
from ltm.errors import BadFile, LtmError
from ltm.files.fastjson import is_whole, read_object, write
from ltm.friction.analysis import analyse
from ltm.friction.ruleset import rules
from ltm.friction.sources import group
from ltm.history.db import Passages
from ltm.history.passage import USER, Header, Passage
from ltm.history.split import Cutter
from ltm.kinds import Kinds
from ltm.model import Filter, Memory
from ltm.notes.outline import outline_of
from ltm.recall.passages import SessionSearch
from ltm.recall.search import recall
from ltm.sessions.digest import chunks, digest
from ltm.sessions.stats import Tally
from ltm.sessions.transcript import read
from ltm.store.file_store import FileStore
from ltm.vault import codec, frontmatter
from ltm.vault.merge import merge
from tests.stores import START, file_store, make

DIVIDER = b"\n%%%%\n"
"""Between the three versions of a file that `merged` is given."""

_KINDS = Kinds()
_RULES = (rules(), rules(classic=True))
_NAME = "x.md"


def front_matter(data: bytes) -> None:
    """A file is read or refused; what was read is written as it was; a memory survives a turn."""
    try:
        document = frontmatter.parse(data, _NAME)
        memory = codec.decode(document, _NAME, _KINDS)
    except LtmError:
        return
    assert document.to_bytes() == data, "not written as it was read"
    try:
        written = codec.to_bytes(memory, document, _KINDS)
    except LtmError:
        return  # a text that no file can hold is refused before it is written
    again = codec.decode(frontmatter.parse(written, _NAME), _NAME, _KINDS)
    assert again == memory, "not read as it was written"


def transcript(data: bytes) -> None:
    """A transcript is read to its end, and from any cursor on nothing comes twice."""
    path = _folder() / "transcript.jsonl"
    path.write_bytes(data)
    reading = read(str(path))
    for _ in reading:
        pass
    assert not list(read(str(path), reading.cursor)), "read twice"


def session(data: bytes) -> None:
    """Whatever a transcript holds can be counted, cut, listened to, outlined and looked through."""
    path = _folder() / "session.jsonl"
    path.write_bytes(data)
    turns = list(read(str(path)))
    Tally().add(turns)
    for passage in Cutter("/p").cut(turns):
        passage.text.encode()
    list(chunks(digest(turns)))
    listener = Listener("s1", _KINDS)
    listener.hear(turns)
    for candidate in listener.candidates():
        memory = as_memory(candidate, START)
        with suppress(LtmError):  # what no file can hold is not kept
            codec.to_bytes(memory, None, _KINDS)
    Listener("s1", _KINDS, listener.state())
    outline_of([turns], "s1", _KINDS, "/p")
    for ruleset in _RULES:
        analyse(group([str(path)]), ruleset, START)


def message(data: bytes) -> None:
    """What a client tells a hook is read as far as it goes, and whole JSON as JSON is read."""
    text = data.decode("utf-8", "surrogateescape")
    found = read_object(text)
    try:
        whole = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict):
        assert is_whole(text), "taken for unfinished"
        assert repr(found) == repr(whole), "read as something else"  # NaN equals nothing
    record = understand(found)
    if record is not None:
        assert read_object(write(record)) == record, "not kept as it was told"


def question(data: bytes) -> None:
    """Any question is answered from memories and from what was said."""
    store, said = _store()
    recall(store, data.decode("utf-8", "surrogateescape"), Filter(), 10, counts=False, said=said)


def merged(data: bytes) -> None:
    """Two versions make one, the same memory whoever merges, and what could be read still can."""
    base, _, rest = data.partition(DIVIDER)
    ours, _, theirs = rest.partition(DIVIDER)
    try:
        found = merge(base, ours, theirs, _NAME)
    except BadFile:  # refused: then git keeps its conflict
        assert not _memory(ours), "a memory is merged"
        assert not _memory(theirs), "a memory is merged"
        return
    other = merge(base, theirs, ours, _NAME)
    if _memory(ours) and _memory(theirs):
        assert _memory(found), "two files that could be read make one that cannot"
        assert _memory(found) == _memory(other), "it depends on who merges"


TARGETS: dict[str, Callable[[bytes], None]] = {
    "front_matter": front_matter,
    "transcript": transcript,
    "session": session,
    "message": message,
    "question": question,
    "merge": merged,
}
OF_JSON = frozenset({"transcript", "session", "message"})
"""Those whose inputs are lines of JSON."""


def _memory(data: bytes) -> Memory | None:
    try:
        return codec.decode(frontmatter.parse(data, _NAME), _NAME, _KINDS)
    except BadFile:
        return None


@cache
def _folder() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="ltm-fuzz-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


@cache
def _store() -> tuple[FileStore, SessionSearch]:
    """A few memories and a session that questions are asked of."""
    store = file_store(_folder())
    for title, text in (
        ("Retries double", "The gateway retries with backoff, in src/gateway/retry.py"),
        ("Kafka retention", "kafka retention is seven days; ValueError: offset out of range"),
        ("Übergröße 測試", "große Dateien und 日本語のテキスト, émigré naïve"),
    ):
        store.create(make(title, text))
    path = str(_folder() / "sessions.db")
    passages = Passages(path)
    passages.add(
        Header("s1", "/p", "/t/s1.jsonl"),
        [
            Passage(turn, 0, USER, text, at=f"2026-11-01T10:{turn:02d}:00Z", first=turn, last=turn)
            for turn, text in enumerate(("why does the gateway retry", "yesterday it broke"), 1)
        ],
    )
    passages.close()
    return store, SessionSearch(path)
