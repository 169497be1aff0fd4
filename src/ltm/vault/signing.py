"""Signatures: what makes a change outside ltm visible, and the key they are made with.

Each memory carries two, both HMAC-SHA256 over canonical JSON (sorted keys, moments in UTC):

- `signature` covers what never changes by itself (the `signed` rows of `fields.FIELDS`) and the
  original text, which is in the archive when the file holds less of it;
- `shown_signature` covers everything in the file as it is now, the first signature included: this
  is the text that is really told, and whatever decides whether and how it is told.

The key is one file under LTM_HOME, readable by its owner only. A change through the store signs
again if what it changed was signed; what was changed elsewhere stays visible until a person
signs it. Cryptography is loaded when there is a key, since hooks ask.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ltm.errors import Refused
from ltm.files.atomic import (
    failed,
    make_folder,
    read_plain,
    remove_file,
    sync_folder,
    write_file,
)
from ltm.model import Memory
from ltm.vault.fields import FIELDS, record_by_key
from ltm.vault.key_file import KEY_FILE, path_in

SIZE = 32
"""Bytes of a key, as many as the signature has."""

_SIGNED = tuple(row.key for row in FIELDS if row.signed)


class SignatureState(StrEnum):
    """How a memory stands to a key."""

    OK = "ok"
    UNSIGNED = "unsigned"
    """It is not signed with this key."""
    CHANGED = "changed"
    """It was signed with this key, and is not what was signed."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key to sign and check with; one that cannot be read vouches for nothing."""

    secret: bytes = field(default=b"", repr=False)
    id: str = ""
    """What tells this key from another without giving it away."""

    @classmethod
    def of(cls, secret: bytes) -> Key:
        """The key these bytes are."""
        return cls(secret, cls(secret)._mac("key", {})[:8])

    def signed(self, memory: Memory, whole: Memory | None) -> Memory:
        """The memory with signatures that fit; `whole` has its original text.

        Without `whole` the first signature is taken as it stands.
        """
        if not self.secret:
            return memory
        if whole is not None:
            memory = memory._replace(signature=self._over_original(memory, whole))
        return memory._replace(shown_signature=self._over_shown(memory))

    def fits(self, memory: Memory) -> bool:
        """Whether a memory is, in all its file says, as it was signed. Reads nothing else."""
        return bool(self.secret) and any(
            _same(memory.shown_signature, self._over_shown(each)) for each in _readings(memory)
        )

    def covers(self, memory: Memory, whole: Memory) -> bool:
        """Whether this original text is the one a memory's first signature stands for."""
        return bool(self.secret) and any(
            _same(memory.signature, self._over_original(memory, each)) for each in _readings(whole)
        )

    def state(self, memory: Memory, whole: Memory | None = None) -> SignatureState:
        """How a memory stands; with `whole`, its original text is checked too."""
        if self.fits(memory) and (whole is None or self.covers(memory, whole)):
            return SignatureState.OK
        signatures = (memory.signature, memory.shown_signature)
        claims = self.secret and any(each.startswith(f"{self.id}.") for each in signatures)
        return SignatureState.CHANGED if claims else SignatureState.UNSIGNED

    def is_doubtful(self, memory: Memory) -> bool:
        """Whether a memory is to be shown with a warning."""
        return not self.fits(memory)

    def _over_original(self, memory: Memory, whole: Memory) -> str:
        record = record_by_key(memory)
        covered = {key: record[key] for key in _SIGNED}
        return self._named("original", covered | {"text": [whole.summary, whole.content]})

    def _over_shown(self, memory: Memory) -> str:
        record = record_by_key(memory)
        del record["shown_signature"]
        return self._named("shown", record)

    def _named(self, purpose: str, values: Mapping[str, Any]) -> str:
        return f"{self.id}.{self._mac(purpose, values)}"

    def _mac(self, purpose: str, values: Mapping[str, Any]) -> str:
        import hmac

        return hmac.digest(self.secret, canonical(purpose, values), "sha256").hex()


def canonical(purpose: str, values: Mapping[str, Any]) -> bytes:
    """The one way to write values down for a purpose: no two different ones give the same bytes."""
    import json

    return json.dumps(
        [purpose, values], sort_keys=True, separators=(",", ":"), allow_nan=False
    ).encode("ascii")


def make(home: str) -> Key:
    """A new key for a home that has none; one that is there is never overwritten."""
    path = path_in(home)
    if os.path.lexists(path):
        raise _there_already(path)
    _refuse_repository(home)
    make_folder(home)
    _hide_from_git(home)
    key = Key.of(os.urandom(SIZE))
    # Written aside and then linked: a link fails where a file is, and is whole where it is made.
    draft = f"{path}.{os.urandom(6).hex()}"
    write_file(draft, f"{key.secret.hex()}\n".encode(), mode=0o600)
    try:
        os.link(draft, path)
        sync_folder(home)
    except FileExistsError:
        raise _there_already(path) from None
    except OSError as error:
        raise failed(error, "write the key", path) from error
    finally:
        remove_file(draft)
    return key


def _there_already(path: str) -> Refused:
    return Refused(
        "there is a key already, and what it signed needs it",
        path=path,
        hint="to start over, move that file away yourself, then run: ltm keygen, ltm sign --all",
    )


def _refuse_repository(home: str) -> None:
    """Refuse a home in a repository: a committed key is no longer secret."""
    from ltm.project.git import find
    from ltm.project.git_command import is_ignored

    there = os.path.realpath(home)
    while not os.path.isdir(there):
        there = os.path.dirname(there)
    repository = find(there)
    if repository is not None and repository.work_tree and not is_ignored(there, path_in(home)):
        raise Refused(
            "LTM_HOME lies in a git repository, and a key must never be committed",
            path=home,
            hint="point LTM_HOME elsewhere, or tell git to ignore that folder",
        )


def _hide_from_git(home: str) -> None:
    """Keep the key out of git if the folder above is under git."""
    path, line = os.path.join(home, ".gitignore"), f"/{KEY_FILE}*"
    try:
        there = read_plain(path)
    except FileNotFoundError:
        there = b""
    if line.encode() not in there.splitlines():
        gap = b"" if there.endswith(b"\n") or not there else b"\n"
        write_file(path, there + gap + f"{line}\n".encode())


def _readings(memory: Memory) -> Iterator[Memory]:
    """A memory as it is read, and as a text without sections was read when older files were signed.

    Both summaries are made from the text, so a signature over one stands for the other.
    """
    yield memory
    from ltm.text.sentences import summary_of  # needed only where a signature does not fit
    from ltm.vault.body import first_sentence

    if memory.content and memory.summary == summary_of(memory.content):
        yield memory._replace(summary=first_sentence(memory.content))


def _same(one: str, other: str) -> bool:
    from hmac import compare_digest

    return compare_digest(one.encode(), other.encode())
