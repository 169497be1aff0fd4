"""Stash files and manifest.

Stashes: what sessions put aside in `.claude/stash`, and which of them were remembered since.

Owns the names (never a path, never over another file), the list, and the manifest, which lies
outside the repository: for each of our stashes the hash it was written with, and the hash with
which it was remembered. So an edited stash waits again, and a file that came with a clone is known
not to be ours. Imports the standard library and `storage`'s small readers, because hooks count
what waits.

Putting a session aside in a stash: which session is meant, its outline, and the file.

Owns finding the current session, from the client's own word, else from the log. A model that
is switched on may word the outline better; without one, or when it fails, the rules stand.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime

from ltm.config.config import Config
from ltm.errors import Ambiguous, ModelFailed, NotFound, Refused, WrongUsage
from ltm.files.atomic import is_device, is_inside, read_plain
from ltm.history.exclusions import Unpurged
from ltm.kinds import Kinds
from ltm.notes.markdown import stash_text
from ltm.notes.outline import Outline, outline_of
from ltm.project.layout import Places
from ltm.sessions.transcript import all_transcripts, origin, read
from ltm.state.model_log import ModelLog
from ltm.state.session_log import Session, SessionLog
from ltm.text.sentences import title_of

TYPE_CHECKING = False  # without `typing`, which alone costs a hook half its time
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


FOLDER = os.path.join(".claude", "stash")
MANIFEST = "stashes.json"

MANY = 5
"""From how many waiting stashes on the user is told of them."""

LONGEST = 60
"""Letters of a name."""

_IGNORE = b"# Stashes are this machine's own; /ltm:remember makes memories of them.\n*\n"
_ENDING = ".md"
_NOT_A_LETTER = re.compile(r"[^\w-]+")
_MOST = 1_000


class Stash:
    """One file of the folder, as it is now."""

    __slots__ = ("name", "ours", "path", "processed", "sha", "text")

    def __init__(
        self, name: str, path: str, text: str, *, sha: str = "", ours: str = "", done: bool = False
    ) -> None:
        self.name = name
        self.path = path
        self.text = text
        self.sha = sha or hash_of(text.encode())
        self.ours = ours
        """`written` if it is as we wrote it, `edited` if it changed since; '' if it is not ours."""
        self.processed = done
        """Whether it was remembered as it is now."""


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
        from ltm.files.atomic import make_folder, write_file
        from ltm.files.lock import Lock

        wanted = file_name(name)
        if not is_inside(self.folder, self._root):
            raise Refused(
                "leads out of the project, so nothing is stashed there",
                path=self.folder,
                hint="replace the link with a folder",
            )
        make_folder(self.folder, 0o755)
        make_folder(self._private)
        with Lock(os.path.join(self._private, "stashes.lock")):
            ignore = os.path.join(self.folder, ".gitignore")
            if not os.path.lexists(ignore):
                write_file(ignore, _IGNORE, mode=0o644)
            free = self._free(wanted)
            path = os.path.join(self.folder, free + _ENDING)
            data = text.encode()
            # Ours before it is there: a crash in between leaves a note on nothing.
            self._note(free, written=hash_of(data))

            def check() -> None:
                if os.path.lexists(path):
                    raise Refused("this file was made just now", path=path, hint="try again")

            write_file(path, data, mode=0o600, check=check)
        return Stash(free, path, text, sha=hash_of(data), ours="written")

    def every(self) -> list[Stash]:
        """All stashes, in the order of their names; what cannot be read is in `problems`."""
        self.problems = []
        if not is_inside(self.folder, self._root):
            self.problems.append((self.folder, "leads out of the project"))
            return []
        noted = self._load()
        found: list[Stash] = []
        for name in self._names()[:_MOST]:
            path = os.path.join(self.folder, name + _ENDING)
            try:
                data = read_plain(path, follow=False)
            except OSError as error:
                self.problems.append((path, error.strerror or str(error)))
                continue
            about = noted.get(name, {})
            sha = hash_of(data)
            ours = "" if "written" not in about else "edited"
            ours = "written" if about.get("written") == sha else ours
            done = about.get("processed") == sha
            text = data.decode("utf-8", "replace")
            found.append(Stash(name, path, text, sha=sha, ours=ours, done=done))
        return found

    def waiting(self) -> int:
        """How many were not remembered yet; a project that has no stashes is asked no more."""
        if not os.path.isdir(self.folder):
            return 0
        return sum(not each.processed for each in self.every())

    def mark(self, stash: Stash) -> None:
        """Note that a stash is remembered, as it was read."""
        from ltm.files.atomic import make_folder
        from ltm.files.lock import Lock

        make_folder(self._private)
        with Lock(os.path.join(self._private, "stashes.lock")):
            self._note(stash.name, processed=stash.sha)

    def rewrite(self, keep: Callable[[str], bool]) -> int:
        """Drop lines from stashes that must not be kept; how many. What was done stays done."""
        from ltm.files.atomic import make_folder, write_file
        from ltm.files.lock import Lock

        dropped = 0
        for stash in self.every():
            lines = stash.text.splitlines(True)
            kept = "".join(line for line in lines if keep(line))
            if kept == stash.text:
                continue
            make_folder(self._private)
            with Lock(os.path.join(self._private, "stashes.lock")):
                write_file(stash.path, kept.encode())
                sha = hash_of(kept.encode())
                noted = {"written": sha} if stash.ours else {}
                self._note(stash.name, **noted, **({"processed": sha} if stash.processed else {}))
            dropped += len(lines) - len(kept.splitlines())
        return dropped

    def _names(self) -> list[str]:
        try:
            names = os.listdir(self.folder)
        except OSError:
            return []
        ours = (name for name in names if name.endswith(_ENDING) and not name.startswith("."))
        return sorted(name.removesuffix(_ENDING) for name in ours)

    def _free(self, wanted: str) -> str:
        """The name, or with the first number that makes it new; on some disks `A` is `a`."""
        taken = {name.casefold() for name in self._names()}
        number = 1
        name = wanted
        while name.casefold() in taken or os.path.lexists(
            os.path.join(self.folder, name + _ENDING)
        ):
            number += 1
            name = f"{wanted}-{number}"
        return name

    def _load(self) -> dict[str, dict[str, Any]]:
        stashes = self._all().get(self._key)
        if not isinstance(stashes, dict):
            return {}
        return {name: each for name, each in stashes.items() if isinstance(each, dict)}

    def _all(self) -> dict[str, Any]:
        """The manifest: one project may be checked out in several places."""
        import json

        try:
            value = json.loads(read_plain(self.manifest))
        except (OSError, ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    @property
    def _key(self) -> str:
        return os.path.realpath(self._root)

    def _note(self, name: str, **hashes: str) -> None:
        import json

        from ltm.files.atomic import write_file

        stashes = self._load()
        stashes[name] = {**stashes.get(name, {}), **hashes}
        value = {**self._all(), self._key: stashes}
        write_file(self.manifest, (json.dumps(value, indent=1) + "\n").encode())


def file_name(text: str) -> str:
    """A name as a safe file name: letters, digits, `-` and `_`, so that it leads nowhere else."""
    name = _NOT_A_LETTER.sub("-", text.strip().removesuffix(_ENDING)).strip("-_")[:LONGEST]
    name = name.rstrip("-_")
    if not name:
        raise WrongUsage(
            f"'{text}' has nothing a file could be named after", hint="try: ltm stash login-fix"
        )
    return f"stash-{name}" if is_device(name) else name


def hash_of(data: bytes) -> str:
    """The fingerprint of a stash."""
    from hashlib import sha256

    return sha256(data).hexdigest()


_RUNNING = ("CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID")
_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class Stashed:
    """What was put aside, and how."""

    stash: Stash
    wanted: str
    """The name it was to have; another than the stash's when that was taken."""
    session: str
    turns: int
    model: str
    """What a model did: `none`, `worded`, or why it did not help."""


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
    """Put aside the session that is meant, under a name or one taken from what it is about."""
    wanted = file_name(name) if name else ""
    found, path = _meant(places, session, transcript, environ)
    outline = outline_in(path, found, config.kinds, places.state_db)
    if not outline.turns:
        raise NotFound(
            "there is nothing in this session yet", path=path, hint="stash it after some work"
        )
    outline, model = _worded(outline, path, places, config, environ)
    wanted = wanted or _named_after(outline, at)
    text = stash_text(
        outline,
        config.kinds,
        name=wanted,
        project=places.project.name,
        at=at,
        transcript=path,
    )
    put = Stashes(places.project.root, places.private).put(wanted, text)
    return Stashed(put, wanted, found, outline.turns, model)


def outline_in(path: str, session: str, kinds: Kinds, state_db: str) -> Outline:
    """The outline of a session from its transcript, without what was purged since."""
    with closing(SessionLog(state_db)) as log:
        reading = read(path, seen=Unpurged(log, datetime.now(UTC)))
        return outline_of(reading.messages(), session, kinds, origin(path).cwd, path)


def _meant(
    places: Places, session: str, transcript: str, environ: Mapping[str, str]
) -> tuple[str, str]:
    """The id and the transcript of the session that is meant."""
    if transcript:
        path = os.path.abspath(transcript)
        if not os.path.isfile(path):
            raise NotFound("there is no such transcript", path=path)
        return session or origin(path).session, path
    log = SessionLog(places.state_db)
    try:
        if session:
            return _of_id(log, session, environ)
        running = next((environ[name] for name in _RUNNING if environ.get(name)), "")
        path = _transcript_of(log, running, environ) if running else ""
        if path:
            return running, path
        found = _latest(log.sessions(places.project.id, _LOOKED_AT))
    finally:
        log.close()
    if found is None:
        raise NotFound(
            "no session of this project is known whose transcript is still there",
            path=places.project.root,
            hint="run it inside a session, or name one: ltm stash --transcript FILE",
        )
    return found.id, found.transcript


def _of_id(log: SessionLog, session: str, environ: Mapping[str, str]) -> tuple[str, str]:
    path = _transcript_of(log, session, environ)
    if path:
        return session, path
    near = [each for each in log.sessions(limit=1_000) if each.id.startswith(session)]
    if len(near) > 1:
        raise Ambiguous(f"{len(near)} sessions begin with {session}", hint="give more of it")
    if not near:
        raise NotFound(f"no session {session} is known", hint="see them with: ltm sessions")
    found = near[0]
    if not os.path.isfile(found.transcript):
        raise NotFound("the transcript of this session is gone", path=found.transcript or None)
    return found.id, found.transcript


def _transcript_of(log: SessionLog, session: str, environ: Mapping[str, str]) -> str:
    """The transcript of a session, '' if there is none; the log may not have heard of it yet."""
    known = log.get(session)
    if known is not None and os.path.isfile(known.transcript):
        return known.transcript
    name = f"{session}.jsonl"
    return next((each for each in all_transcripts(environ) if os.path.basename(each) == name), "")


def _latest(sessions: list[Session]) -> Session | None:
    """The session that is going on, or was last: the one whose transcript was written to last."""
    there = [
        (not each.ended, os.stat(each.transcript).st_mtime, each.number, each)
        for each in sessions
        if each.transcript and os.path.isfile(each.transcript)
    ]
    return max(there, default=(False, 0.0, 0, None), key=lambda each: each[:3])[3]


def _named_after(outline: Outline, at: datetime) -> str:
    about = title_of(outline.asked[0]) if outline.asked else "session"
    return file_name(f"{at:%Y-%m-%d} {' '.join(about.split()[:6])}".lower())


def _worded(
    outline: Outline, path: str, places: Places, config: Config, environ: Mapping[str, str]
) -> tuple[Outline, str]:
    """The outline as a model puts it, if one is switched on, as far as that can be checked."""
    from ltm.llm.model import OFF, open_model
    from ltm.notes.markdown import worded

    if config.own("llm.backend") == OFF:
        return outline, "none"
    log = ModelLog(places.state_db)
    try:
        model = open_model(config, places.home, log, environ)
        if model is None:
            return outline, "none"
        return worded(outline, read(path), config.kinds, model), "worded"
    except ModelFailed as error:
        return outline, str(error)
    finally:
        log.close()
