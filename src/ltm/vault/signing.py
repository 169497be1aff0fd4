"""Signatures: what makes a change outside ltm visible, and the key they are made with.

Each memory carries two, both HMAC-SHA256 over canonical JSON (sorted keys, moments in UTC):

- `signature` covers what never changes by itself (the `signed` rows of `fields.FIELDS`) and the
  original text, which is in the archive when the file holds less of it;
- `shown_signature` covers everything in the file as it is now, the first signature included: this
  is the text that is really injected, and whatever decides whether and how it is injected.

The key is one file under LTM_HOME, readable by its owner only. A change through the store signs
again if what it changed was signed; what was changed elsewhere stays visible until a person
signs it. Hooks load this module only when there is a key.
"""

from __future__ import annotations

import hmac
import json
import os
import re
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
from ltm.project.git import find
from ltm.project.git_command import is_ignored
from ltm.text.sentences import summary_of
from ltm.vault.fields import FIELDS, record_by_key
from ltm.vault.key_file import KEY_FILE, path_in

SIZE = 32
"""Bytes of a key, as many as the signature has."""

_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|[。！？])", re.DOTALL)
_ANY_HEADING = re.compile(r"^#{1,6}[ \t](.*)$", re.MULTILINE)
_LOOK = 20_000  # how far into a text its first sentence is looked for
_LONGEST_SENTENCE = 300
_SIGNED = tuple(row.key for row in FIELDS if row.signed)


class SignatureState(StrEnum):
    OK = "ok"
    UNSIGNED = "unsigned"
    """It is not signed with this key."""
    CHANGED = "changed"
    """It was signed with this key, and is not what was signed."""


@dataclass(frozen=True, slots=True)
class Key:
    secret: bytes = field(default=b"", repr=False)
    id: str = ""
    """What tells this key from another without giving it away."""
    others: tuple[Key, ...] = ()
    """Further keys of this home, of other agents: what they signed fits too."""

    @classmethod
    def of(cls, secret: bytes) -> Key:
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
        return any(
            _same(memory.shown_signature, key._over_shown(each))
            for key in self._usable
            for each in _readings(memory)
        )

    def covers(self, memory: Memory, whole: Memory) -> bool:
        """Whether this original text is the one a memory's first signature stands for."""
        return any(
            _same(memory.signature, key._over_original(memory, each))
            for key in self._usable
            for each in _readings(whole)
        )

    def state(self, memory: Memory, whole: Memory | None = None) -> SignatureState:
        """How a memory stands; with `whole`, its original text is checked too."""
        if self.fits(memory) and (whole is None or self.covers(memory, whole)):
            return SignatureState.OK
        signatures = (memory.signature, memory.shown_signature)
        known = tuple(f"{key.id}." for key in self._usable)
        claims = known and any(each.startswith(known) for each in signatures)
        return SignatureState.CHANGED if claims else SignatureState.UNSIGNED

    def is_doubtful(self, memory: Memory) -> bool:
        """Whether a memory is to be shown with a warning."""
        return not self.fits(memory)

    @property
    def _usable(self) -> tuple[Key, ...]:
        return tuple(key for key in (self, *self.others) if key.secret)

    def _over_original(self, memory: Memory, whole: Memory) -> str:
        record = record_by_key(memory)
        covered = {key: record[key] for key in _SIGNED}
        covered["text"] = [whole.summary, whole.content]
        return f"{self.id}.{self._mac('original', covered)}"

    def _over_shown(self, memory: Memory) -> str:
        record = record_by_key(memory)
        del record["shown_signature"]
        return f"{self.id}.{self._mac('shown', record)}"

    def _mac(self, purpose: str, values: Mapping[str, Any]) -> str:
        return hmac.digest(self.secret, canonical(purpose, values), "sha256").hex()


def canonical(purpose: str, values: Mapping[str, Any]) -> bytes:
    """The one way to write values down for a purpose: no two different ones give the same bytes."""
    return json.dumps(
        [purpose, values], sort_keys=True, separators=(",", ":"), allow_nan=False
    ).encode("ascii")


def make(home: str, agent: str = "") -> Key:
    """A new key for a home or an agent that has none; one that is there is never overwritten."""
    path = path_in(home, agent)
    if os.path.lexists(path):
        raise _there_already(path)
    there = os.path.realpath(home)
    while not os.path.isdir(there):
        there = os.path.dirname(there)
    repository = find(there)
    if repository is not None and repository.work_tree and not is_ignored(there, path):
        raise Refused(
            "LTM_HOME lies in a git repository, and a key must never be committed",
            path=home,
            hint="point LTM_HOME elsewhere, or tell git to ignore that folder",
        )
    make_folder(home)
    # Kept out of git also where the folder above is put under git later.
    ignored, line = os.path.join(home, ".gitignore"), f"/{KEY_FILE}*"
    try:
        lines = read_plain(ignored)
    except FileNotFoundError:
        lines = b""
    if line.encode() not in lines.splitlines():
        gap = b"" if lines.endswith(b"\n") or not lines else b"\n"
        write_file(ignored, lines + gap + f"{line}\n".encode())
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
    hint = "to start over, move that file away yourself, then run: ltm keygen, ltm sign --all"
    return Refused("there is a key already, and what it signed needs it", path=path, hint=hint)


def _readings(memory: Memory) -> Iterator[Memory]:
    """A memory as it is read, and as a text without sections was read when older files were signed.

    Both summaries are made from the text, so a signature over one stands for the other.
    """
    yield memory
    if memory.content and memory.summary == summary_of(memory.content):
        yield memory._replace(summary=_first_sentence(memory.content))


def _first_sentence(text: str) -> str:
    """The first sentence below the headings, on one line; a heading's words if there is no more."""
    prose = _ANY_HEADING.sub("", text[:_LOOK]).strip() or text[:_LOOK].strip().lstrip("# ")
    line = " ".join(re.split(r"\n\s*\n", prose, maxsplit=1)[0].split())[:_LONGEST_SENTENCE]
    found = _SENTENCE.match(line)
    return (found[0] if found else line).strip()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())
