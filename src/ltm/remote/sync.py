"""Bring the vaults of this machine and the person's remote together: read, merge, write, push.

One sync at a time, and each is five steps. A kill between any two of them loses nothing:

1. What an earlier sync was writing is finished: two refs say from which commit to which.
2. The remote is fetched. Where it cannot be reached, nothing else happens.
3. The vaults as they are become a commit, so that the base of every later merge is known.
4. That commit and the remote's are merged, file by file, by `vault/merge`. The result is a commit
   too, and only then is it written into the vaults: under the vault's lock, each file as it is at
   that moment, and what was changed meanwhile is merged once more.
5. The result is pushed. Another machine that was quicker means: again from step 2.

A file that left a vault leaves the others, unless it was changed there; where a vault's whole
folder is gone, its files come back. What was purged leaves all machines whatever was changed, and
the remote's history is begun again without it. A file in which a secret may stand stays here.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from time import sleep

from ltm.errors import BadFile, Busy, Refused
from ltm.files.atomic import names_in, remove_file, write_file
from ltm.files.lock import Lock
from ltm.project.identity import records
from ltm.redact.redact import redact
from ltm.remote import contents
from ltm.remote.contents import FilePlace, Settings, SharedProject, place_of
from ltm.remote.repository import (
    BRANCH,
    BareRepository,
    Damaged,
    NotTaken,
    Unreachable,
    blob_name,
    is_encrypted,
)
from ltm.vault.merge import merge, resigned
from ltm.vault.vault import Vault

LOCK = ".lock"
_REPOSITORY = "repository.git"
_SEEN = "refs/ltm/seen"
_FROM, _TO = "refs/ltm/from", "refs/ltm/to"
_TRIES = 8
_TURN = 0.2
_RANDOM_LINES = (b"id:", b"session:", b"signature:", b"shown_signature:")  # written by LTM

Erase = Callable[[str, Mapping[str, Vault]], Collection[str]]
"""Purges memories of a home, by their ids and vaults, with all their traces; gives back the ids."""

File = str | bytes
"""What is in a file: its bytes, or the name git has for what is in the repository already."""


@dataclass
class SyncReport:
    """What a sync did."""

    sent: int = 0
    """Memories the remote did not have like this."""
    received: int = 0
    """Memories this machine did not have like this."""
    erased: tuple[str, ...] = ()
    """Memories that were purged on another machine, and now here."""
    held: dict[str, str] = field(default_factory=dict)
    """Files that stay here, by their path, and why."""
    waiting: tuple[str, ...] = ()
    """Names of projects that wait for a proof of what they say to be."""
    in_history: int = 0
    """Purged memories that are still in the remote's history."""
    why_in_history: str = ""
    vaults: set[str] = field(default_factory=set)
    """The folders of vaults that were changed here."""


def unsent(settings: Settings) -> int:
    """How many memories of this machine the remote does not have like this, as far as is known."""
    machine = _Sync(settings, lambda home, found: ())
    git = machine._git
    if not os.path.isdir(git.path):
        return 0
    before = git.tree(git.commit_of(BRANCH))
    own, gone = machine._own_files(before, contents.purged_here(settings.home))
    there = {p: name for p, name in git.tree(git.commit_of(_SEEN)).items() if not _is_in(p, gone)}
    new = (each.id for each in records(settings.home) if each.id not in settings.keys)
    vaults = (contents.project_vault(settings.home, project_id) for project_id in new)
    return _differing(there, own) + sum(len(vault.names()) for vault in vaults)


def repository_of(settings: Settings) -> BareRepository:
    """The repository that belongs to a remote."""
    return BareRepository(os.path.join(settings.folder, _REPOSITORY), settings.address)


def sync(settings: Settings, erase: Erase, *, patience: float = _TURN) -> SyncReport:
    """Bring this machine and its remote together; `Busy` when another process is at it."""
    lock = Lock(os.path.join(settings.folder, LOCK))
    if not lock.acquire(patience=patience):
        raise Busy(
            "another process is talking to the remote",
            path=settings.folder,
            hint="see how it went with: ltm remote status",
        )
    try:
        try:
            return _Sync(settings, erase).run()
        except Damaged:
            shutil.rmtree(repository_of(settings).path, ignore_errors=True)
            return _Sync(settings, erase).run()
    finally:
        lock.release()


def read_projects(settings: Settings) -> dict[str, SharedProject]:
    """The projects of the remote as they were when it was last fetched, by their keys."""
    git = repository_of(settings)
    if not os.path.isdir(git.path):
        return {}
    return _projects(git, git.tree(git.commit_of(BRANCH)))


class _Sync:
    def __init__(self, settings: Settings, erase: Erase) -> None:
        self._settings = settings
        self._home = settings.home
        self._erase = erase
        self._git = repository_of(settings)
        self._report = SyncReport()
        self._theirs: dict[str, SharedProject] = {}

    def run(self) -> SyncReport:
        git = self._git
        git.prepare()
        self._finish()
        for _ in range(_TRIES):
            remote = git.fetch()
            if not remote and is_encrypted(git.address) and git.commit_of(_SEEN):
                # git-remote-gcrypt finds nothing where there is no network either, and would then
                # put what is here in the place of what other machines have sent.
                raise Unreachable(
                    "could not be reached: nothing is found there",
                    path=git.address,
                    hint="if it is lost: 'ltm remote remove', then add it again",
                )
            self._check(remote)
            try:
                self._exchange(remote)
                return self._report
            except NotTaken as error:
                last = error
                if git.fetch() == remote:
                    if "lock" not in error.message:
                        raise
                    sleep(_TURN)  # another machine is sending at this moment
        raise last

    def _check(self, remote: str) -> None:
        """Refuse a repository that holds something else."""
        if not remote:
            return
        tree = self._git.tree(remote)
        mark = tree.get(contents.MARK)
        number = contents.format_of(self._git.read([mark])[mark]) if mark else 0
        if not number:
            raise Refused(
                "this repository holds something else, so nothing was sent or taken",
                path=self._settings.address,
                hint="make an empty private one for your memories, without a README",
            )
        if number > contents.FORMAT:
            raise Refused(
                "the remote was written by a newer ltm, so nothing was sent or taken",
                path=self._settings.address,
                hint="update ltm on this machine",
            )

    def _exchange(self, remote: str) -> None:
        git, report = self._git, self._report
        main = git.commit_of(BRANCH)
        before, there = git.tree(main), git.tree(remote)
        self._theirs = _projects(git, before) | _projects(git, there)
        report.waiting = tuple(
            str(each.raw.get("name") or each.id)
            for each in contents.link(self._settings, self._theirs)
        )
        purged = self._purged(before, there)
        if left := self._present(purged):
            report.erased += tuple(self._erase(self._home, left))
        own, gone = self._own_files(before, purged)
        local = main
        if own != before or not main:
            local = git.commit(own, [main] if main else [], "Memories of this machine")
        former = {path: name for path, name in before.items() if _is_in(path, gone)}
        target, rewritten = self._target(local, remote, purged, former)
        report.sent = _differing(there, git.tree(target))
        if not main == local == target:
            git.move({_FROM: local, _TO: target} | ({_SEEN: remote} if remote else {}))
            self._finish()
        if rewritten:
            git.tidy(drop=True)
        self._push(target, remote)

    # -- what is here ----------------------------------------------------------------------------

    def _purged(self, *trees: Mapping[str, str]) -> set[str]:
        names = [tree[contents.PURGED] for tree in trees if contents.PURGED in tree]
        lists = map(contents.ids_in, self._git.read(names).values())
        return set(contents.purged_here(self._home)).union(*lists)

    def _present(self, ids: Collection[str]) -> dict[str, Vault]:
        """Those of some memories that are here, with the vault of each."""
        return {
            each: vault
            for path, vault in contents.vaults_here(self._settings)
            for name in names_in(vault.memories)
            if (each := _id_of(FilePlace(path, "memories", name))) in ids
        }

    def _own_files(
        self, before: Mapping[str, str], purged: Collection[str]
    ) -> tuple[dict[str, File], set[str]]:
        """All files as this machine has them, and the vaults whose folder is not here."""
        vaults = dict(contents.vaults_here(self._settings))
        there = {vault: folder for vault, folder in vaults.items() if folder.exists()}
        places = {path: place for path in before if (place := place_of(path))}
        # What belongs to a project that waits stays as it is.
        known = {
            each for each in {place.vault for place in places.values()} if self._is_known(each)
        }
        gone = known - there.keys()
        files: dict[str, File] = {
            path: name
            for path, name in before.items()
            if path not in places or places[path].vault not in known
        }
        files |= {path: data for path, data in contents.basic_files().items() if path not in files}
        if purged:
            files[contents.PURGED] = contents.as_lines(set(purged))
        for path, folder in there.items():
            files |= self._files_of(path, folder, before)
        files |= self._project_files(files, before)
        files = {path: file for path, file in files.items() if not _is_of(path, purged)}
        return _named(files, before), gone

    def _is_known(self, vault: str) -> bool:
        return contents.vault_here(self._settings, vault) is not None

    def _files_of(self, path: str, vault: Vault, before: Mapping[str, str]) -> dict[str, File]:
        files: dict[str, File] = {}
        for name in sorted(names_in(vault.memories)):
            self._add(files, FilePlace(path, "memories", name), vault, before)
        for name in sorted(names_in(vault.archives)):
            place = FilePlace(path, "archives", name)
            if place.path in before:  # what is in the archive never changes
                files[place.path] = before[place.path]
            else:
                self._add(files, place, vault, before)
        return files

    def _add(
        self, files: dict[str, File], place: FilePlace, vault: Vault, before: Mapping[str, str]
    ) -> None:
        """Add a file as it is here, or as it was sent before if it must stay here."""
        if not place.name.endswith(".md") or place.name.startswith("."):
            return
        path, where = place.path, _path_in(vault, place)
        data, why = b"", ""
        try:
            data = _read(vault, place) or b""
            if not data:
                return  # it was removed at this moment
            if blob_name(data) != before.get(path):
                why = _why_kept(place, data)
        except BadFile as error:
            why = error.message
        if why:
            self._report.held[where] = why
            if path in before:
                files[path] = before[path]
        else:
            files[path] = data

    def _project_files(
        self, files: Mapping[str, File], before: Mapping[str, str]
    ) -> dict[str, File]:
        """What the projects with files are known by."""
        known = {each.id: each for each in records(self._home)}
        used = {path.split("/")[1] for path in files if path.startswith("projects/")}
        used |= {path.split("/")[3] for path in files if "/projects/" in path}
        found: dict[str, File] = {}
        for project_id, key in self._settings.keys.items():
            if key in used and project_id in known:
                mine = contents.as_shared(key, known[project_id])
                both = contents.together(self._theirs.get(key, mine), mine)
                found[contents.project_path(key)] = both.to_bytes()
        for old, key in self._settings.joined.items():
            found[contents.project_path(old)] = SharedProject(old, old, same_as=key).to_bytes()
        return found

    # -- merging ---------------------------------------------------------------------------------

    def _target(
        self, local: str, remote: str, purged: Collection[str], former: Mapping[str, str]
    ) -> tuple[str, bool]:
        """The commit that has what both have, and whether it leaves the former history behind.

        `former` are the files of vaults whose folder is gone, as they were when it was last seen.
        """
        git = self._git
        base = git.common(local, remote) if remote else ""
        if base == remote and not former:
            return local, False
        replaced = git.replaced(remote) if remote and not base else None
        if replaced is not None:
            known = replaced if git.has(replaced) else git.commit_of(_SEEN)
            base = git.common(local, known) if known else ""
        theirs = git.tree(remote)
        files: dict[str, File] = dict(former)
        files |= self._merged(
            {path: name for path, name in git.tree(base).items() if path not in former},
            git.tree(local),
            theirs,
        )
        files = _named({p: f for p, f in files.items() if not _is_of(p, purged)}, theirs)
        if files == theirs:
            return remote, replaced is not None
        parents = [remote] if replaced is not None else [each for each in (local, remote) if each]
        return git.commit(files, parents, "Memories of two machines"), replaced is not None

    def _merged(
        self,
        base: Mapping[str, str],
        ours: Mapping[str, str],
        theirs: Mapping[str, str],
    ) -> dict[str, File]:
        files: dict[str, File] = {}
        both: dict[str, tuple[str, str, str]] = {}
        for path in sorted({*ours, *theirs}):
            was, mine, other = base.get(path), ours.get(path), theirs.get(path)
            if mine == other or other == was:
                kept = mine
            elif mine == was:
                kept = other
            elif mine is None or other is None:
                kept = mine or other  # a change counts for more than a removal
            else:
                both[path] = (was or "", mine, other)
                continue
            if kept:
                files[path] = kept
        data = self._git.read(name for names in both.values() for name in names if name)
        data[""] = b""
        for path, (was, mine, other) in both.items():
            files[path] = _one_file(path, data[was], data[mine], data[other])
        return files

    # -- writing ---------------------------------------------------------------------------------

    def _finish(self) -> None:
        """Write into the vaults what was decided, from one commit to the other."""
        git = self._git
        start, end = git.commit_of(_FROM), git.commit_of(_TO)
        if not (start and end):
            return
        old, new = git.tree(start), git.tree(end)
        changed = {path for path in {*old, *new} if old.get(path) != new.get(path)}
        data = git.read(name for path in changed for tree in (old, new) if (name := tree.get(path)))
        # What comes is written before what goes is removed.
        for path in sorted(changed, key=lambda path: (path not in new, path)):
            place = place_of(path)
            vault = contents.vault_here(self._settings, place.vault) if place else None
            if place is None or vault is None:
                continue
            was, now = data.get(old.get(path, "")), data.get(new.get(path, ""))
            if _write(vault, place, was, now):
                self._report.vaults.add(vault.folder)
                self._report.received += place.part == "memories"
        git.move({BRANCH: end, _FROM: "", _TO: ""})

    # -- the remote ------------------------------------------------------------------------------

    def _push(self, target: str, remote: str) -> None:
        git, report = self._git, self._report
        doomed = contents.purged_here(self._home)
        is_left = any(git.has_path_with(text) for each in doomed.items() for text in each if text)
        if is_left and self._begin_again(target, remote):
            contents.forget_purged(self._home, doomed)
            return
        if target != remote:
            git.push(target, remote)
            git.move({_SEEN: target})
            git.tidy()
        if is_left:
            report.in_history = len(doomed)
        elif doomed:
            contents.forget_purged(self._home, doomed)

    def _begin_again(self, target: str, remote: str) -> bool:
        """Put a history without purged memories in the place of the remote's."""
        git = self._git
        files = git.tree(target)
        begun = git.commit(files, [], "Memories, begun again after a purge", replaces=remote)
        try:
            git.push(begun, remote, replace=True)
        except NotTaken as error:
            if git.fetch() != remote:
                raise  # another machine was quicker: again with what it sent
            self._report.why_in_history = error.message
            return False
        git.move({BRANCH: begun, _SEEN: begun, "refs/ltm/fetched": begun})
        git.tidy(drop=True)
        return True


def _projects(git: BareRepository, tree: Mapping[str, str]) -> dict[str, SharedProject]:
    names = {key: tree[path] for path in tree if (key := contents.key_of_path(path))}
    data = git.read(names.values())
    return {key: contents.project_in(key, data[name]) for key, name in names.items()}


def _write(vault: Vault, place: FilePlace, was: bytes | None, now: bytes | None) -> bool:
    """Bring one file of a vault from what it was to what it is now; whether it was changed."""
    if now is not None:
        vault.prepare()
    elif not vault.exists():
        return False
    with vault.lock:
        try:
            here = _read(vault, place)
        except BadFile:
            return False  # for a person to mend; it stays as it is
        if here == now or (here is not None and now is None and here != was):
            return False
        if now is None:
            return remove_file(_path_in(vault, place))
        if here is not None and here != was:
            now = _one_file(place.path, was or b"", here, now)
        if now == here:
            return False
        if place.part == "memories":
            vault.write(place.name, now, over=here)
        else:
            write_file(_path_in(vault, place), now, mode=vault.file_mode, staging=vault.folder)
    return True


def _one_file(path: str, base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """The file that two versions of it make."""
    if path == contents.PURGED:
        return contents.as_lines(contents.ids_in(ours) | contents.ids_in(theirs))
    if key := contents.key_of_path(path):
        one, two = contents.project_in(key, theirs), contents.project_in(key, ours)
        return contents.together(one, two).to_bytes()
    place = place_of(path)
    if place is None or place.part == "archives":
        return theirs  # not ours to merge; and what is in the archive never changes
    try:
        made = merge(base, ours, theirs, path)
    except BadFile:
        return theirs + b"\n" + ours  # neither can be read: a person finds both
    sides = ours, theirs
    signed = made not in sides and all(b"shown_signature:" in side for side in sides)
    return resigned(made, sides, path) if signed else made


def _read(vault: Vault, place: FilePlace) -> bytes | None:
    path = _path_in(vault, place)
    if not os.path.lexists(path):
        return None
    return vault.read(place.name) if place.part == "memories" else vault.read_archive(path)


def _path_in(vault: Vault, place: FilePlace) -> str:
    return os.path.join(vault.folder, place.part, place.name)


def _why_kept(place: FilePlace, data: bytes) -> str:
    """Why a file must not leave this machine; '' when it may."""
    if not contents.is_safe(place.name):
        return "its name cannot be used on every system"
    lines = [line for line in data.splitlines() if not line.startswith(_RANDOM_LINES)]
    text = b"\n".join([place.name.encode(errors="replace"), *lines]).decode(errors="replace")
    kinds = [kind for kind in redact(text).kinds if kind != "private"]
    return f"seems to hold a secret ({', '.join(kinds)})" if kinds else ""


def _id_of(place: FilePlace) -> str:
    """The id of the memory whose file this is, by its name."""
    stem = place.name.removesuffix(".md")
    return stem.rpartition(".")[2] if place.part == "memories" else stem.partition(".")[0]


def _is_of(path: str, ids: Collection[str]) -> bool:
    """Whether a file is one of these memories."""
    place = place_of(path) if ids else None
    return place is not None and _id_of(place) in ids


def _is_in(path: str, vaults: Collection[str]) -> bool:
    """Whether a file is in one of these vaults."""
    place = place_of(path) if vaults else None
    return place is not None and place.vault in vaults


def _named(files: Mapping[str, File], known: Mapping[str, str]) -> dict[str, File]:
    """The files, those named that are known: then two trees that are equal look equal."""
    return {
        path: known[path]
        if isinstance(file, bytes) and known.get(path) == blob_name(file)
        else file
        for path, file in files.items()
    }


def _differing(one: Mapping[str, str], other: Mapping[str, File]) -> int:
    """How many memories differ between two trees."""
    return sum(
        one.get(path) != other.get(path)
        for path in {*one, *other}
        if (place := place_of(path)) and place.part == "memories"
    )
