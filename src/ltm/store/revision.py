"""What a person or an agent changes in a memory: its fields, its scope, whether it is approved.

This is the flow behind `ltm edit`, `ltm approve` and `update_memory`, and the checks of what they
and `ltm remember` are given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ltm.decisions import TEXT, Revise, Supersede
from ltm.errors import Refused, WrongUsage
from ltm.kinds import Kinds
from ltm.model import Impact, Memory, Scope, Status, Stored, choice, new_id, now
from ltm.redact.redact import redact_fields, without_marks
from ltm.store.store import Store
from ltm.text.display import one_line
from ltm.text.sentences import shortened, summary_of, title_of

MAX_TEXT = 200_000
_REDACTED = (*TEXT, "reason", "tags")
_SHOWN = ("kind", "impact", "scope", "tags", "pinned", "reason", "state", "status", "phase")
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
    clean, kinds = _clean(changes)
    # What was typed around the fields may hold the secret too, so the file is written again.
    decision = Revise(stored.memory.id, clean, stored.etag, b"" if kinds else edited)
    return Revision(stored, store.apply(decision).stored, kinds)


def in_scope(store: Store, stored: Stored, scope: Scope) -> Stored:
    """A memory's successor in another scope; it is kept in the vault it leaves, and marked.

    A file that others may have edited is never taken out of a repository.
    """
    at, former = now(), stored.memory
    newer = former._replace(
        id=new_id(at),
        scope=scope,
        updated=at,
        previous="",
        conflicts=(),
        signature="",
        shown_signature="",
    )
    return store.apply(Supersede((former.id,), newer, expected=stored.etag)).stored


def approve(store: Store, stored: Stored) -> Stored:
    """Put a memory in force that waits for approval."""
    change = {"status": Status.ACTIVE}
    return store.apply(Revise(stored.memory.id, change, expected=stored.etag)).stored


def check_waits(stored: Stored) -> None:
    """Refuse a memory that does not wait for approval, or is not the user's to approve yet."""
    if not stored.trusted:
        raise Refused(
            f"{stored.memory.id} came with this repository, which is not trusted yet",
            path=stored.path,
            hint="look at them with 'ltm list', then type: ltm trust",
        )
    if stored.memory.status is not Status.QUARANTINED:
        raise Refused(
            f"{stored.memory.id} does not wait for approval: it is {stored.memory.status}"
        )


def check_status(memory: Memory) -> None:
    """Refuse a memory that has no text to correct."""
    if memory.status is Status.FORGOTTEN:
        raise Refused(f"{memory.id} was forgotten", hint="restore it first, then change it")


def changes_of(memory: Memory, given: Mapping[str, Any], kinds: Kinds) -> dict[str, Any]:
    """The fields that were given in words, as values; a clear error for one that is not valid."""
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
    if "kind" in given:
        kind = kinds.parse(given["kind"])
        changes["kind"] = kind.name
        if memory.state not in kind.states:
            changes.setdefault("state", kind.first_state)
    if given.get("state"):
        kind = kinds[changes.get("kind", memory.kind)]
        changes["state"] = kind.parse_state(given["state"])
    return changes


def check_length(text: str) -> None:
    """Refuse a text that is too long for a memory."""
    if len(text) > MAX_TEXT:
        raise Refused(
            f"the text has {len(text):,} characters; a memory holds at most {MAX_TEXT:,}",
            hint="keep the point, and say in which file the rest is",
        )


def without_secrets(given: Mapping[str, Any], text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Fields with every secret and private passage redacted, and the kinds of what was there.

    Refused when nothing else was in the field named `text`.
    """
    fields, kinds = redact_fields(given)
    if kinds and text in fields and not without_marks(fields[text]).strip():
        raise Refused(
            f"there is nothing in the text but what is not kept ({', '.join(kinds)})",
            hint="say what it is for and where it is kept, without the secret itself",
        )
    return fields, kinds


def distinct_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """The tags as they were typed, each once, on one line."""
    return tuple(dict.fromkeys(clean for tag in tags if (clean := one_line(tag).strip(" ,"))))


def _clean(changes: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
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
