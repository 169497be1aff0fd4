"""What `ltm init` writes into a repository, and which of its files and commits were made here.

Tracked, for all clones: the folder, what it is, what git must leave out of it, and a merge that
keeps the lines of both sides. Local, for this machine: `merge.ltm` in the repository's config and a
marked block in its `info/attributes`, so that git merges memories with `ltm merge-driver`. The
local part can be taken away again to the byte. Without git only the vault is made.

What was made in this clone is in its reflog, which no clone and no pull brings along; names and
addresses in commits are what their authors say they are. What git has let go of after months counts
as another person's: then the user is asked.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from shutil import which

from ltm.config.config import CONFIG_FILE
from ltm.errors import LtmError, Refused, StorageFailed
from ltm.files.atomic import failed, is_refusal, make_folder, read_plain, remove_file, write_file
from ltm.project.git import Repository, find, settings
from ltm.project.git_command import is_ignored, run
from ltm.project.identity import is_claude_ltm_store
from ltm.project.layout import SHARED, leads_out
from ltm.vault.merge import REFUSED

_README = """\
# What this project's agents remember

Every file in `memories/` is one thing worth knowing about this project: a decision, a trap, a
convention. They are plain Markdown: read them, correct them, delete what is wrong, and commit them
like code. `archives/` keeps earlier versions of memories that were shortened or replaced.

LTM reads this folder at the start of a session and adds to it when something was learned.
Without LTM the files are still yours to read. Options for the whole team go into `config.toml`.

`ltm list` shows the memories, `ltm recall WORDS` finds some, `ltm init` in a clone lets git merge
memories one by one instead of line by line.
"""

_CONFIG = """\
# Options for everybody who works on this project; `ltm config` lists them all.
# max_memories = 100
"""

# Whatever is not named is local to one machine: databases, locks, tokens, unfinished writes. A list
# of what to leave out would be one forgotten name away from publishing it.
_IGNORE = """\
# Only what is named here is shared.
/*
!/.gitignore
!/.gitattributes
!/README.md
!/config.toml
!/memories/
!/archives/
/memories/*
!/memories/*.md
/archives/*
!/archives/*.md
"""

# `-text`: line endings are part of what a person typed, so git converts none of them.
_ATTRIBUTES = """\
# Byte for byte as written; two branches that change a memory both keep their lines.
/memories/*.md merge=union -text -ident -filter
/archives/*.md merge=union -text -ident -filter
"""

_MOVED = os.path.join(".claude", "claude-ltm")
_PROBE = os.path.join(SHARED, "memories", "x.md")
_SECTION = "merge.ltm"
_DRIVER_NAME = "LTM memories"
_PATTERNS = (
    "**/.claude/ltm/memories/*.md merge=ltm",
    "**/.claude/ltm/archives/*.md merge=ltm",
    "CLAUDE.md merge=ltm",
    "AGENTS.md merge=ltm",
)
_BEGIN = "# >>> ltm"
_END = "# <<< ltm"
_NEW = " (this file is new)"
_UNFINISHED = " (the line above had no end)"
_FOLLOWING = 2.0  # seconds for git to find former names; a long history takes longer
_MADE = ("commit", "rebase", "cherry-pick", "am:")
_BLOCK = re.compile(rb"^# >>> ltm(?P<state>[^\r\n]*)\r?\n.*?^# <<< ltm\r?\n?", re.M | re.S)


def init_shared(root: str, command: Sequence[str] | None = None) -> list[str]:
    """Make the shared vault of the project folder `root`; give back the paths made or changed.

    Run again, it only adds what is missing and never overwrites what a person changed. `command`
    is how git is to call `ltm` on this machine.
    """
    root = os.path.realpath(root)
    repository = find(root)
    if repository is not None and not repository.work_tree:
        raise Refused("a bare repository has no place for memories", path=root)
    shared = os.path.join(root, SHARED)
    problem = leads_out(shared)
    if problem is not None:
        raise Refused(problem.message, path=problem.path)
    if is_claude_ltm_store(shared):
        theirs = shlex.quote(shared)
        raise Refused(
            "is the store of claude-ltm, so no vault was made in it",
            path=shared,
            hint=f"take its memories in with 'ltm import {theirs}', move it away with"
            f" 'mv {theirs} {shlex.quote(os.path.join(root, _MOVED))}', then run 'ltm init' again",
        )
    changed = _make_vault(shared)
    if repository is not None and repository.common_dir:
        changed += _install_driver(repository, command or this_command(), shared)
    return changed


def remove_local(root: str) -> list[str]:
    """Take this machine's merge settings out of the repository again, to the byte."""
    repository = find(os.path.realpath(root))
    if repository is None or not repository.common_dir:
        return []
    changed: list[str] = []
    # First remove what asks for the driver, then the driver.
    attributes = _attributes_path(repository)
    data = _read(attributes)
    block = _BLOCK.search(data)
    if block:
        state = block["state"].decode()
        before = data[: block.start()]
        rest = (before[:-1] if state == _UNFINISHED else before) + data[block.end() :]
        if state == _NEW and not rest:
            remove_file(attributes)
        else:
            _write_like_before(attributes, rest)
        changed.append(attributes)
    config = os.path.join(repository.common_dir, "config")
    values = _driver_settings(repository)
    if values and _git_config(config, "--remove-section", _SECTION):
        if "newline" in values:
            _write_like_before(config, _read(config).removesuffix(b"\n"))
        changed.append(config)
    return changed


def driver_installed(root: str) -> bool:
    """Whether git on this machine merges the memories of this project with a driver that exists."""
    repository = find(os.path.realpath(root))
    if repository is None or not repository.common_dir:
        return False
    block = _BLOCK.search(_read(_attributes_path(repository)))
    if not block or any(pattern.encode() not in block[0] for pattern in _PATTERNS):
        return False
    try:
        words = shlex.split(_driver_settings(repository).get("driver", ""))
    except ValueError:
        return False
    return bool(words) and which(words[0].replace("%%", "%")) is not None


def is_vault_ignored(root: str) -> bool:
    """Whether git is to leave out a memory that should be shared."""
    return is_ignored(root, _PROBE)


def this_command() -> tuple[str, ...]:
    """How to call the `ltm` that is running, from anywhere: git does not know our environment."""
    script = os.path.join(os.path.dirname(sys.executable), "ltm.exe" if os.name == "nt" else "ltm")
    if os.access(script, os.X_OK):
        return (script,)
    # -P: git runs it inside the repository, whose own files must not be taken for ours.
    return (sys.executable, "-P", "-m", "ltm")


def _make_vault(shared: str) -> list[str]:
    changed: list[str] = []
    for folder in ("memories", "archives"):
        path = os.path.join(shared, folder)
        if not os.path.isdir(path):
            make_folder(path, 0o755)
            changed.append(path)
    for name, text in (("README.md", _README), (CONFIG_FILE, _CONFIG)):
        path = os.path.join(shared, name)
        if not os.path.lexists(path):
            write_file(path, text.encode(), mode=0o644)
            changed.append(path)
    for name, text in ((".gitignore", _IGNORE), (".gitattributes", _ATTRIBUTES)):
        path = os.path.join(shared, name)
        there = _read(path, follow=False)
        lines = there.decode("utf-8", "surrogateescape").splitlines()
        if not there:
            write_file(path, text.encode(), mode=0o644)
        elif any(line not in lines for line in text.splitlines() if line[0] != "#"):
            # All of it once more, not only what is missing: in these files a later line wins.
            gap = b"" if there.endswith(b"\n") else b"\n"
            write_file(path, there + gap + text.encode(), mode=0o644)
        else:
            continue
        changed.append(path)
    return changed


def _install_driver(repository: Repository, command: Sequence[str], shared: str) -> list[str]:
    changed: list[str] = []
    config = os.path.join(repository.common_dir, "config")
    call = " ".join(shlex.quote(word) for word in command).replace("%", "%%")
    # When ltm is gone or fails, git still does what every clone without it does. What ltm refuses
    # is for a person.
    driver = (
        f"{call} merge-driver %O %A %B %P || {{ test $? -ne {REFUSED} && case %P in"
        " *memories/*|*archives/*) git merge-file --union %A %O %B;;"
        " *) git merge-file %A %O %B;; esac; }"
    )
    values = _driver_settings(repository)
    if values.get("driver") != driver:
        unfinished = not values and _read(config)[-1:] not in (b"", b"\n")
        if not _git_config(config, "--replace-all", f"{_SECTION}.name", _DRIVER_NAME):
            return changed  # no git on this machine: no merges, and nothing to ask for
        _git_config(config, "--replace-all", f"{_SECTION}.driver", driver)
        if unfinished:
            _git_config(config, "--replace-all", f"{_SECTION}.newline", "added")
        changed.append(config)
    attributes = _attributes_path(repository)
    data = _read(attributes)
    block = _BLOCK.search(data)
    if block:
        new = data[: block.start()] + _block(block["state"].decode()) + data[block.end() :]
    elif not os.path.exists(attributes):
        new = _block(_NEW)
    elif data and not data.endswith(b"\n"):
        new = data + b"\n" + _block(_UNFINISHED)
    else:
        new = data + _block("")
    if new != data:
        make_folder(os.path.dirname(attributes), 0o755)
        # Unfinished, it waits in the vault, which is swept: git's own folder is not.
        _write_like_before(attributes, new, shared)
        changed.append(attributes)
    return changed


def _block(state: str) -> bytes:
    return "".join(f"{line}\n" for line in (_BEGIN + state, *_PATTERNS, _END)).encode()


def _attributes_path(repository: Repository) -> str:
    return os.path.realpath(os.path.join(repository.common_dir, "info", "attributes"))


def _driver_settings(repository: Repository) -> dict[str, str]:
    return {
        key: value for section, key, value in settings(repository.common_dir) if section == _SECTION
    }


def _read(path: str, *, follow: bool = True) -> bytes:
    """A small file's bytes, none when it is not there; what is not a plain file is refused."""
    try:
        return read_plain(path, follow=follow)
    except FileNotFoundError:
        return b""
    except OSError as error:
        if is_refusal(error):
            raise failed(error, "read the file", path) from error
        raise Refused(f"cannot be read: {error.strerror}", path=path) from error


def _write_like_before(path: str, data: bytes, staging: str = "") -> None:
    try:
        mode = os.stat(path).st_mode & 0o777
    except OSError:
        mode = 0o644
    write_file(path, data, mode=mode, staging=staging)


def _git_config(path: str, *words: str) -> bool:
    """Let git change its own config; False when there is no git on this machine."""
    try:
        done = run(os.path.dirname(path), "config", "--file", path, *words)
    except FileNotFoundError:
        return False
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip() or f"git ended with {done.returncode}"
        raise StorageFailed(f"git could not change its config: {reason}", path=path)
    return True


def git(
    folder: str, command: str, *words: str, seconds: float | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder, whatever becomes of it.

    `LtmError` when there is no git to run, or when it is not done in so many seconds.
    """
    try:
        return run(folder, command, *words, seconds=seconds)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise LtmError(f"git does not run: {error}", path=folder) from error


def former_names(folder: str, path: str) -> list[str]:
    """The paths a file had before it was renamed, newest first, as the repository has them.

    What git does not find, or not soon, is left out.
    """
    form = ("--diff-filter=R", "--name-status", "--relative", "--format=", "-z")
    try:
        done = git(folder, "log", "--follow", *form, "--", path, seconds=_FOLLOWING)
    except LtmError:
        return []
    fields = [os.fsdecode(each.strip(b"\n")) for each in done.stdout.split(b"\0")]
    # Each renaming is its mark, the path before and the path after.
    return list(dict.fromkeys(fields[at + 1] for at in range(0, len(fields) - 2, 3)))


def made_here(folder: str) -> set[str]:
    """The commits that were made in this clone. What others wrote is their word."""
    done = git(folder, "reflog", "--all", "--format=%H%x1f%gs")
    rows = (row.partition("\x1f") for row in done.stdout.decode(errors="replace").splitlines())
    return {commit for commit, _, what in rows if what.startswith(_MADE)}


class CameAlong:
    """Tells which files others committed to the repository they lie in."""

    def __init__(self) -> None:
        self._of_folders: dict[str, set[str]] = {}
        self._made: dict[str, set[str]] = {}

    def has(self, path: str) -> bool:
        """Whether a file, or anything in a folder, came along with a clone or a pull.

        Where git is not there to say, it may have.
        """
        is_folder = os.path.isdir(path)
        folder = path if is_folder else os.path.dirname(path)
        try:
            if folder not in self._of_folders:
                self._of_folders[folder] = self._theirs(folder)
        except LtmError:
            return True
        theirs = self._of_folders[folder]
        return bool(theirs) if is_folder else os.path.basename(path) in theirs

    def _theirs(self, folder: str) -> set[str]:
        """The files below a folder that others committed, by their paths in it."""
        repository = find(folder)
        if repository is None:
            return set()
        tracked = set(git(folder, "ls-files", "-z", "--", ".").stdout.split(b"\0"))
        if repository.common_dir not in self._made:
            self._made[repository.common_dir] = made_here(folder)
        made = self._made[repository.common_dir]
        done = git(folder, "log", "--format=%x01%H", "--name-only", "--relative", "-z", "--", ".")
        found: set[str] = set()
        # Each entry is a commit and then, after a line end, names: any byte but 0 may be in them.
        for entry in (b"\0" + done.stdout).split(b"\0\x01")[1:]:
            commit, _, names = entry.partition(b"\0\n")
            if commit.decode() not in made:
                found.update(
                    os.fsdecode(name) for name in tracked & set(names.split(b"\0")) if name
                )
        return found
