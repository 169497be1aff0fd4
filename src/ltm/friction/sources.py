"""Which transcripts are meant, and which of them are copies of one conversation.

A client that forks or resumes a session writes the former messages again, under the same uuids,
into another file. Counting files would count such a conversation twice; here files that share a
message are one. One quick pass over the bytes tells, without parsing them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ltm.errors import NotFound
from ltm.files.atomic import is_inside, names_in
from ltm.project.identity import identify
from ltm.sessions.claude_code import projects_folder
from ltm.sessions.port import SessionOrigin, stem
from ltm.sessions.readers import READERS
from ltm.sessions.sources import file_of, is_transcript, sessions_in
from ltm.sessions.transcript import all_transcripts, origin, read, unpacked

_ENDINGS = (".jsonl", ".jsonl.gz")
_SKIPPED = "sessions-index"
_SHARED_BY = 12
"""Files that may share a message; one that more of them have is boilerplate, not a message."""
_CHUNK = 8 * 1024 * 1024
_OVERLAP = 128
_UUID = b'"uuid":'
_SHORTEST, _LONGEST = 8, 64
"""Characters of a uuid that names a message."""
_CWD = re.compile(rb'"cwd": ?"((?:[^"\\]|\\.){1,4096})"')
_BRANCH = re.compile(rb'"gitBranch": ?"((?:[^"\\]|\\.){1,400})"')


@dataclass(slots=True)
class TranscriptFile:
    """One transcript file, and what a glance at it tells."""

    path: str
    cwd: str = ""
    branch: str = ""
    first: str = ""
    """The uuid of its first message."""
    session: str = ""
    """The session's id: of Claude Code's transcripts, the file's name without its ending."""

    def __post_init__(self) -> None:
        self.session = self.session or stem(self.path)


@dataclass(slots=True)
class Sources:
    """What there is to read: conversations of one or more files, and what cannot be read."""

    conversations: list[list[TranscriptFile]] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    @property
    def files(self) -> int:
        return sum(map(len, self.conversations))

    @property
    def forks(self) -> int:
        """Files that go on with a conversation of another file."""
        return self.files - len(self.conversations)


def find(paths: Iterable[str]) -> list[str]:
    """The transcripts at these paths: files, folders of them, or folders of such folders.

    A path that leads nowhere is `NotFound`: nothing of a former run may pass for an answer.
    """
    found: dict[str, None] = {}
    for path in paths:
        if os.path.isdir(path):
            top = os.path.abspath(path)
            below = (each for folder in _entries(top) for each in _transcripts(folder))
            found |= dict.fromkeys(_transcripts(top) or below)
        elif is_transcript(path):
            whole = os.path.abspath(path)
            within = sessions_in(whole)
            found |= dict.fromkeys([whole] if within is None else (name for name, _ in within))
        elif os.path.exists(path):
            found[os.path.abspath(path)] = None
        else:
            raise NotFound("there is no such transcript or folder", path=path)
    return list(found)


def of_project(root: str, project: str, home: str, environ: Mapping[str, str]) -> list[str]:
    """The transcripts that clients keep of a project: of its folder, parts of it and work trees.

    Claude Code has a folder for each folder it was started in; where that was is asked of its
    newest transcript, because the folder's name cannot be turned back. Other clients' transcripts
    are asked one by one.
    """
    top = projects_folder(environ)
    folders: dict[str, list[str]] = {}
    for path in all_transcripts(environ):
        folder = os.path.dirname(path)
        folders.setdefault(folder if os.path.dirname(folder) == top else path, []).append(path)
    found: list[str] = []
    for paths in folders.values():
        began = (origin(path) for path in reversed(paths))
        cwd = next((each.cwd for each in began if each.cwd and not each.is_subagent), "")
        if not cwd:
            continue
        # A folder inside may be a project of its own; one that is gone cannot be asked.
        own = identify(cwd, home).id == project if os.path.isdir(cwd) else is_inside(cwd, root)
        if own:
            found += [path for path in paths if _SKIPPED not in os.path.basename(path)]
    return found


def group(paths: Sequence[str], seen: Callable[[str], None] = lambda path: None) -> Sources:
    """Look at each file once and put those that share a message together, the oldest first."""
    sources = Sources()
    looked: list[TranscriptFile] = []
    owners: dict[int, list[int]] = {}
    for path in sorted(paths, key=_age):
        seen(path)
        source = TranscriptFile(path)
        try:
            uuids = _look(source)
        except OSError:
            sources.unreadable.append(path)
            continue
        for uuid in uuids:
            owners.setdefault(uuid, []).append(len(looked))
        looked.append(source)
    roots = list(range(len(looked)))

    def root(place: int) -> int:
        while roots[place] != place:
            roots[place] = roots[roots[place]]
            place = roots[place]
        return place

    for files in owners.values():
        for other in files[1:] if len(files) <= _SHARED_BY else ():
            one, two = sorted((root(files[0]), root(other)))
            roots[two] = one
    together: dict[int, list[TranscriptFile]] = {}
    for place, source in enumerate(looked):
        together.setdefault(root(place), []).append(source)
    sources.conversations = list(together.values())
    return sources


def _look(source: TranscriptFile) -> set[int]:
    """The messages of a file as small numbers; notes where it was written and how it begins."""
    found: set[int] = set()
    if not source.path.endswith(".gz"):
        began = origin(source.path)
        if not began.client:
            raise FileNotFoundError(source.path)
        if not READERS[began.client].has_uuids:
            return _look_through(source, began)
    with unpacked(source.path) as plain, open(plain, "rb") as file:
        rest = b""
        while chunk := file.read(_CHUNK):
            data = rest + chunk
            if not source.cwd and (cwd := _CWD.search(data)):
                source.cwd = _unescaped(cwd[1])
                branch = _BRANCH.search(data)
                source.branch = _unescaped(branch[1]) if branch else ""
            uuids = _uuids(data)
            if not source.first and uuids:
                source.first = uuids[0].decode("utf-8", "replace")
            # Numbers, because the texts themselves would take ten times the memory.
            found.update(map(hash, uuids))
            rest = data[-_OVERLAP:]
    return found


def _look_through(source: TranscriptFile, began: SessionOrigin) -> set[int]:
    """The same for a transcript whose messages are only known by parsing it."""
    source.session, source.cwd, source.branch = began.session, began.cwd, began.branch
    found: set[int] = set()
    for turns in read(source.path).messages():
        source.first = source.first or turns[0].uuid
        found.add(hash(turns[0].uuid.encode("utf-8", "replace")))
    return found


def _uuids(data: bytes) -> list[bytes]:
    """The uuids in a stretch of lines; split and not searched for, which takes half the time."""
    named = (part[: _LONGEST + 3].split(b'"', 2) for part in data.split(_UUID)[1:])
    return [
        words[1]
        for words in named
        if len(words) == 3 and not words[0].strip() and len(words[1]) >= _SHORTEST
    ]


def _unescaped(text: bytes) -> str:
    try:
        return str(json.loads(b'"' + text + b'"'))
    except ValueError:
        return text.decode("utf-8", "replace")


def _transcripts(folder: str) -> list[str]:
    found = (path for path in _entries(folder) if path.endswith(_ENDINGS))
    return [p for p in found if _SKIPPED not in os.path.basename(p) and not os.path.isdir(p)]


def _entries(folder: str) -> list[str]:
    return [os.path.join(folder, name) for name in sorted(names_in(folder))]


def _age(path: str) -> tuple[float, str]:
    try:
        return os.stat(file_of(path)).st_mtime, path
    except OSError:
        return 0.0, path
