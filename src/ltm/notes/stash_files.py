"""Stashes: what sessions put aside in `.claude/stash`, and which of them were remembered since.

Owns the names (never a path, never over another file), the list, and the manifest, which lies
outside the repository: for each of our stashes the hash it was written with, and the hash with
which it was remembered. So an edited stash waits again, and a file that came with a clone is known
not to be ours. Imports the standard library and `storage`'s small readers, because hooks count
what waits.
"""

from __future__ import annotations

import os
import re

from ltm.errors import Refused, WrongUsage
from ltm.files.atomic import is_device, is_inside, read_plain

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
