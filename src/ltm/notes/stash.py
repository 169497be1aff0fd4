"""Stashes: sessions put aside in `.claude/stash`, and which of them were remembered since.

A stash's name is never a path, and it never replaces another file. The manifest, which lies outside
the repository, has for each stash that LTM wrote the hash it was written with, and the hash with
which it was remembered. So an edited stash waits again, and a file that came with a clone is known
to be foreign. Hooks count what waits: what only `stash` needs is imported there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress

from ltm.errors import Ambiguous, ModelFailed, NotFound, Refused, WrongUsage
from ltm.files.atomic import is_device, is_inside, make_folder, read_plain, write_file
from ltm.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from ltm.config.config import Config
    from ltm.project.layout import Places
    from ltm.state.session_log import Session, SessionLog

FOLDER = os.path.join(".claude", "stash")
MANIFEST = "stashes.json"

MANY = 5
"""Waiting stashes from which on they are mentioned to the user."""

LONGEST = 60
"""Letters of a name."""

FORMER = (
    os.path.join(".claude", "memory", ".processed"),
    os.path.join(".claude", "remember", ".processed"),
)
"""Lists of stashes that liteagents made memories of, a path on each line."""

_IGNORE = b"# Stashes are this machine's own; /ltm:remember makes memories of them.\n*\n"
_ENDING = ".md"
_NOT_A_LETTER = r"[^\w-]+"
_MOST = 1_000
_RUNNING = ("CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID")
_LOOKED_AT = 50


class Stash(NamedTuple):
    """One file of the folder, as it is now."""

    name: str
    path: str
    text: str
    sha: str
    ours: str = ""
    """`written` if it is as LTM wrote it, `edited` if it changed since; '' if LTM did not."""
    processed: bool = False
    """Whether it was remembered as it is now."""


class Stashed(NamedTuple):
    """What was put aside, and how."""

    stash: Stash
    wanted: str
    """The name it was to have; another than the stash's when that was taken."""
    session: str
    turns: int
    model: str
    """What a model did: `none`, `worded`, or why it did not help."""


class Stashes:
    """The stashes of the project folder `root`; `private` is its folder in LTM_HOME."""

    def __init__(self, root: str, private: str) -> None:
        self._root = root
        self._private = private
        self.folder = os.path.join(root, FOLDER)
        self.manifest = os.path.join(private, MANIFEST)
        self.problems: list[tuple[str, str]] = []
        """(path, why) of files that could not be read when they were listed."""

    def put(self, name: str, text: str) -> Stash:
        """Keep a text under a name, or under the next one that is free."""
        wanted = file_name(name)
        if not is_inside(self.folder, self._root):
            raise Refused(
                "leads out of the project, so nothing is stashed there",
                path=self.folder,
                hint="replace the link with a folder",
            )
        make_folder(self.folder, 0o755)
        with self._lock():
            ignore = os.path.join(self.folder, ".gitignore")
            if not os.path.lexists(ignore):
                write_file(ignore, _IGNORE, mode=0o644)
            taken = {each.casefold() for each in self._names()}  # on some disks `A` is `a`
            number, free, path = 1, wanted, self._path(wanted)
            while free.casefold() in taken or os.path.lexists(path):
                number += 1
                free = f"{wanted}-{number}"
                path = self._path(free)
            stash = Stash(free, path, text, hash_of(text.encode()), ours="written")
            # In the manifest before it is there: a crash in between leaves a note on nothing.
            self._note(free, written=stash.sha)

            def check() -> None:
                if os.path.lexists(path):
                    raise Refused("this file was made just now", path=path, hint="try again")

            write_file(path, text.encode(), mode=0o600, check=check)
        return stash

    def every(self) -> list[Stash]:
        """All stashes, in the order of their names; what cannot be read is in `problems`."""
        self.problems = []
        if not is_inside(self.folder, self._root):
            self.problems.append((self.folder, "leads out of the project"))
            return []
        noted, former = self._load()[1], self._former()
        found: list[Stash] = []
        for name in self._names()[:_MOST]:
            path = self._path(name)
            try:
                data = read_plain(path, follow=False)
            except OSError as error:
                self.problems.append((path, error.strerror or str(error)))
                continue
            about, sha = noted.get(name, {}), hash_of(data)
            ours = "edited" if "written" in about else ""
            ours = "written" if about.get("written") == sha else ours
            done = about.get("processed") == sha or (not about and name in former)
            found.append(Stash(name, path, data.decode("utf-8", "replace"), sha, ours, done))
        return found

    def waiting(self) -> int:
        return sum(not each.processed for each in self.every()) if os.path.isdir(self.folder) else 0

    def mark(self, stash: Stash) -> None:
        """Note that a stash is remembered, as it was read."""
        with self._lock():
            self._note(stash.name, processed=stash.sha)

    def rewrite(self, keep: Callable[[str], bool]) -> int:
        """Drop lines from stashes that must not be kept; how many. What was done stays done."""
        dropped = 0
        for stash in self.every():
            lines = stash.text.splitlines(True)
            kept = [line for line in lines if keep(line)]
            if len(kept) < len(lines):
                data = "".join(kept).encode()
                with self._lock():
                    write_file(stash.path, data)
                    changed = {"written": stash.ours, "processed": stash.processed}
                    self._note(stash.name, **{k: hash_of(data) for k, v in changed.items() if v})
                dropped += len(lines) - len(kept)
        return dropped

    @contextmanager
    def _lock(self) -> Iterator[None]:
        from ltm.files.lock import Lock  # hooks only read

        make_folder(self._private)
        with Lock(os.path.join(self._private, "stashes.lock")):
            yield

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name + _ENDING)

    def _names(self) -> list[str]:
        try:
            names = os.listdir(self.folder)
        except OSError:
            return []
        stashes = (name for name in names if name.endswith(_ENDING) and not name.startswith("."))
        return sorted(name.removesuffix(_ENDING) for name in stashes)

    def _load(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """The manifest, and its part for this checkout: a project may have several."""
        import json

        try:
            manifest = json.loads(read_plain(self.manifest))
        except (OSError, ValueError, RecursionError):
            manifest = {}
        manifest = manifest if isinstance(manifest, dict) else {}
        here = manifest.get(os.path.realpath(self._root))
        here = here if isinstance(here, dict) else {}
        return manifest, {name: each for name, each in here.items() if isinstance(each, dict)}

    def _former(self) -> set[str]:
        """The names of stashes that liteagents made memories of."""
        names: set[str] = set()
        for path in (os.path.join(self._root, each) for each in FORMER):
            with suppress(OSError):
                lines = read_plain(path, follow=False).decode("utf-8", "replace").splitlines()
                names |= {os.path.basename(line.strip()).removesuffix(_ENDING) for line in lines}
        return names

    def _note(self, name: str, **hashes: str) -> None:
        import json

        manifest, here = self._load()
        here[name] = {**here.get(name, {}), **hashes}
        manifest[os.path.realpath(self._root)] = here
        write_file(self.manifest, (json.dumps(manifest, indent=1) + "\n").encode())


def file_name(text: str) -> str:
    """A name as a safe file name: letters, digits, `-` and `_`, so that it leads nowhere else."""
    name = re.sub(_NOT_A_LETTER, "-", text.strip().removesuffix(_ENDING)).strip("-_")[:LONGEST]
    name = name.rstrip("-_")
    if not name:
        raise WrongUsage(
            f"'{text}' has nothing a file could be named after", hint="try: ltm stash login-fix"
        )
    return f"stash-{name}" if is_device(name) else name


def hash_of(data: bytes) -> str:
    from hashlib import sha256

    return sha256(data).hexdigest()


def stash(
    places: Places,
    config: Config,
    *,
    name: str,
    session: str,
    transcript: str,
    at: datetime,
    environ: Mapping[str, str] = os.environ,
) -> Stashed:
    """Put aside the session that is meant, under a name or one taken from what it is about.

    A model that is switched on may word it better; without one, or when it fails, the rules' own
    words stand.
    """
    from ltm.capture.provenance import Evidence
    from ltm.config.options import OFF
    from ltm.llm.model import open_model
    from ltm.notes.markdown import stash_text, worded
    from ltm.notes.outline import outline_in
    from ltm.sessions.transcript import read
    from ltm.state.session_log import SessionLog
    from ltm.text.sentences import title_of

    wanted = file_name(name) if name else ""
    with closing(SessionLog(places.state_db)) as log:
        found, path = _meant(log, places, session, transcript, environ)
        outline = outline_in(path, found, config.kinds, log)
        if not outline.turns:
            raise NotFound(
                "there is nothing in this session yet", path=path, hint="stash it after some work"
            )
        used = "none"
        try:
            if config.own("llm.backend") != OFF:
                model = open_model(config, places.home, log.models(), environ)
                if model is not None:
                    evidence = Evidence(path, begun=True, folder=places.project.root)
                    outline = worded(outline, read(path), config.kinds, model, evidence)
                    used = "worded"
        except ModelFailed as error:
            used = str(error)
    if not wanted:
        about = title_of(outline.asked[0]) if outline.asked else "session"
        wanted = file_name(f"{at:%Y-%m-%d} {' '.join(about.split()[:6])}".lower())
    project = places.project
    text = stash_text(
        outline, config.kinds, name=wanted, project=project.name, at=at, transcript=path
    )
    put = Stashes(project.root, places.private).put(wanted, text)
    return Stashed(put, wanted, found, outline.turns, used)


def _meant(
    log: SessionLog, places: Places, session: str, transcript: str, environ: Mapping[str, str]
) -> tuple[str, str]:
    """The id and the transcript of the session that is meant."""
    from ltm.sessions.sources import is_transcript
    from ltm.sessions.transcript import origin

    if transcript:
        path = os.path.abspath(transcript)
        if not is_transcript(path):
            raise NotFound("there is no such transcript", path=path)
        return session or origin(path).session, path
    running = next((environ[name] for name in _RUNNING if environ.get(name)), "")
    path = _transcript_of(log, session or running, environ) if session or running else ""
    if path:
        return session or running, path
    if session:
        near = [each for each in log.sessions(limit=1_000) if each.id.startswith(session)]
        if len(near) > 1:
            raise Ambiguous(f"{len(near)} sessions begin with {session}", hint="give more of it")
        if not near:
            raise NotFound(f"no session {session} is known", hint="see them with: ltm sessions")
        found: Session | None = near[0]
        if not is_transcript(near[0].transcript):
            gone = near[0].transcript or None
            raise NotFound("the transcript of this session is gone", path=gone)
    else:
        found = _latest(log.sessions(places.project.id, _LOOKED_AT))
    if found is None:
        raise NotFound(
            "no session of this project is known whose transcript is still there",
            path=places.project.root,
            hint="run it inside a session, or name one: ltm stash --transcript FILE",
        )
    return found.id, found.transcript


def _transcript_of(log: SessionLog, session: str, environ: Mapping[str, str]) -> str:
    """The transcript of a session, '' if there is none; it may not be in the log yet."""
    from ltm.sessions.sources import is_transcript
    from ltm.sessions.transcript import all_transcripts, origin

    known = log.get(session)
    if known is not None and is_transcript(known.transcript):
        return known.transcript
    near = (each for each in all_transcripts(environ) if session in each)
    return next((each for each in near if origin(each).session == session), "")


def _latest(sessions: list[Session]) -> Session | None:
    """The session that is going on, or was last: the one whose transcript was written to last."""
    from ltm.sessions.sources import file_of, is_transcript

    there = [
        (not each.ended, os.stat(file_of(each.transcript)).st_mtime, each.number, each)
        for each in sessions
        if is_transcript(each.transcript)
    ]
    return max(there, default=(False, 0.0, 0, None), key=lambda each: each[:3])[3]
