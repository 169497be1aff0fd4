"""A person or an agent corrects a memory: what they gave is checked, redacted and applied.

Owns the flow behind `ltm edit` and `update_memory`. May import `core` and the store port.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ltm.capture.remember import check_length, distinct_tags, without_secrets
from ltm.core.decision import TEXT, Revise
from ltm.core.errors import Refused, WrongUsage
from ltm.core.kinds import Kinds
from ltm.core.model import Impact, Memory, Status, Stored, choice
from ltm.core.screen import one_line
from ltm.core.sentences import shortened
from ltm.core.titles import summary_of, title_of
from ltm.storage.store import Store

_REDACTED = (*TEXT, "reason", "tags")
_SHOWN = ("kind", "impact", "tags", "pinned", "reason", "state", "status", "phase")
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Revision:
    """A memory before and after it was corrected."""

    before: Stored
    after: Stored
    redacted: tuple[str, ...] = ()
    """The kinds of secrets that were in what was given, and are in no file."""

    @property
    def is_empty(self) -> bool:
        """Whether the file is as it was."""
        return self.after.etag == self.before.etag

    @property
    def former_version(self) -> int:
        """The version under which the former text is kept; 0 when the text is as it was."""
        before, after = self.before.memory, self.after.memory
        same = all(getattr(before, name) == getattr(after, name) for name in TEXT)
        return 0 if same else before.version

    @property
    def differences(self) -> tuple[str, ...]:
        """A line for each thing that changed, as `title: old → new`."""
        before, after = self.before.memory, self.after.memory
        lines = [_difference("title", before.title, after.title)]
        if after.content != before.content:
            lines.append("text: changed")
        elif after.summary != before.summary:
            lines.append(_difference("summary", before.summary, after.summary))
        for name in _SHOWN:
            lines.append(_difference(name, getattr(before, name), getattr(after, name)))
        lines.append(_difference("said by", before.source.trust, after.source.trust))
        return tuple(filter(None, lines))


def revise(
    store: Store, stored: Stored, changes: Mapping[str, Any], *, edited: bytes = b""
) -> Revision:
    """Change fields of a memory; `edited` is its file as a person left it in an editor."""
    check_status(stored.memory)
    clean, kinds = _without_secrets(changes)
    # What was typed around the fields may hold the secret too, so the file is written again.
    decision = Revise(stored.memory.id, clean, stored.etag, b"" if kinds else edited)
    return Revision(stored, store.apply(decision).stored, kinds)


def check_status(memory: Memory) -> None:
    """Refuse a memory that has no text to correct."""
    if memory.status is Status.FORGOTTEN:
        raise Refused(f"{memory.id} was forgotten", hint="restore it first, then change it")


def checked(memory: Memory, given: Mapping[str, Any], kinds: Kinds) -> dict[str, Any]:
    """The fields somebody gave, in words, as values; a clear error for one that is none."""
    changes: dict[str, Any] = dict(given)
    if "title" in given:
        changes["title"] = one_line(given["title"])
        if not changes["title"]:
            raise WrongUsage("a title cannot be empty", hint="give it a few words, or leave it out")
    if "content" in given:
        check_length(given["content"])
        changes["content"] = given["content"].strip("\n").rstrip()
        if not changes["content"]:
            raise WrongUsage("a text cannot be empty", hint="to be rid of the memory, forget it")
    if "impact" in given:
        changes["impact"] = choice(Impact, given["impact"])
    if "tags" in given:
        changes["tags"] = distinct_tags(given["tags"])
    kind = kinds.parse(given["kind"]) if "kind" in given else kinds[memory.kind]
    changes |= {"kind": kind.name} if "kind" in given else {}
    if given.get("state"):
        changes["state"] = kind.parse_state(given["state"])
    elif "state" not in given and "kind" in given and memory.state not in kind.states:
        changes["state"] = kind.states[0] if kind.states else ""
    return changes


def _without_secrets(changes: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The changes with every secret in their texts redacted, and the kinds of what was there."""
    texts = {name: changes[name] for name in _REDACTED if name in changes}
    clean, kinds = without_secrets(texts, "content")
    for name, make in (("title", title_of), ("summary", summary_of)):
        if kinds and "content" in texts and texts.get(name) == make(texts["content"]):
            clean[name] = make(clean["content"])  # so that it still follows from the text
    return {**changes, **clean}, kinds


def _difference(name: str, before: Any, after: Any) -> str:
    return "" if before == after else f"{name}: {_shown(before)} → {_shown(after)}"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    words = ", ".join(value) if isinstance(value, tuple) else str(value)
    return shortened(one_line(words), _LONGEST) or "none"
