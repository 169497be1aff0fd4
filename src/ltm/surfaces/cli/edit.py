"""`ltm edit`: change a memory in your editor, or field by field."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import replace
from typing import Any

import click

from ltm.core.decision import Revise
from ltm.core.errors import BadFile, LtmError, Refused, WrongUsage
from ltm.core.model import Impact, Memory, Stored, choice
from ltm.core.redact import redact_fields
from ltm.core.screen import one_line
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import KINDS, Work
from ltm.surfaces.cli.work import command as make

_TEXTS = ("title", "summary", "content", "reason", "tags")
_KEPT = frozenset({"id", "created", "updated", "version", "scope"})


@make("edit")
@click.argument("memory_id", metavar="ID")
@click.option("--title", help="A new title.")
@click.option("--content", help="A new text.")
@click.option("--kind", "-k", metavar="KIND", help=f"Another kind: {KINDS}.")
@click.option("--impact", "-i", metavar="IMPACT", help="low, medium, high or critical.")
@click.option("--tags", metavar="A,B", help="All its tags, comma-separated.")
@click.option("--state", metavar="STATE", help="For an issue: open or resolved.")
@click.option("--reason", help="Why it was decided so.")
@click.option("--pin/--unpin", "pinned", default=None, help="Never let it fade, or let it again.")
def command(work: Work, memory_id: str, **given: Any) -> None:
    """Change the memory ID. Without options your editor opens ($VISUAL or $EDITOR).

    \b
    ltm edit 4kqtxqcl
    ltm edit 4kqtxqcl --impact high --tags auth,safari
    ltm edit 4kqtxqcl --state resolved

    The former text is kept: `ltm restore ID --version N` goes back to it.
    """
    stored = work.store.read(memory_id)
    changes = {name: value for name, value in given.items() if value is not None}
    decision = _from_options(work, stored, changes) if changes else _from_editor(work, stored)
    secrets: tuple[str, ...] = ()
    if decision is not None:
        decision, secrets = _without_secrets(decision)
    after = work.store.apply(decision).stored if decision else stored
    if work.as_json:
        output.emit({**output.record(after), "redacted": list(secrets)})
    elif after.etag == stored.etag:
        output.note("Nothing changed.")
    else:
        output.say(f"Changed {after.memory.id} ({output.headline(after.memory)})")
    if secrets and not work.as_json:
        output.say(f"  redacted: {', '.join(secrets)} (not kept anywhere)")


def _from_options(work: Work, stored: Stored, given: dict[str, Any]) -> Revise:
    changes: dict[str, Any] = dict(given)
    if "kind" in given:
        changes["kind"] = work.config.kinds.parse(given["kind"]).name
    if "impact" in given:
        changes["impact"] = choice(Impact, given["impact"])
    if given.get("state"):
        kind = work.config.kinds[changes.get("kind", stored.memory.kind)]
        changes["state"] = kind.parse_state(given["state"])
    if "tags" in given:
        changes["tags"] = tuple(
            dict.fromkeys(filter(None, map(one_line, given["tags"].split(","))))
        )
    if "title" in given:
        changes["title"] = one_line(given["title"])
        if not changes["title"]:
            raise WrongUsage("a title cannot be empty", hint='try: --title "A few words"')
    return Revise(stored.memory.id, changes, expected=stored.etag)


def _without_secrets(decision: Revise) -> tuple[Revise, tuple[str, ...]]:
    """The change with every secret in its texts redacted, and the kinds of what was there."""
    texts = {name: decision.changes[name] for name in _TEXTS if name in decision.changes}
    clean, kinds = redact_fields(texts)
    if not kinds:
        return decision, ()
    # What was typed around the fields may hold the secret too, so the file is written anew.
    return replace(decision, changes={**decision.changes, **clean}, edited=b""), kinds


def _from_editor(work: Work, stored: Stored) -> Revise | None:
    """Let the person edit a copy; nothing is lost if what they leave cannot be read."""
    with open(stored.path, "rb") as file:
        before = file.read()
    handle, path = tempfile.mkstemp(suffix=".md", prefix=f"{stored.memory.id}.")
    with os.fdopen(handle, "wb") as copy:
        copy.write(before)
    _open_editor(path)
    with open(path, "rb") as file:
        edited = file.read()
    if edited == before:
        os.unlink(path)
        return None
    try:
        after = _decode(work, edited, path)
    except BadFile as error:
        raise Refused(
            f"what you saved cannot be read: {error.message}",
            path=path,
            line=error.line,
            hint="your text is in that file, and the memory is as it was",
        ) from error
    if after.id != stored.memory.id:
        raise Refused("the id of a memory cannot be changed", path=path)
    os.unlink(path)
    changes = {
        name: getattr(after, name)
        for name in Memory._fields
        if name not in _KEPT and getattr(after, name) != getattr(stored.memory, name)
    }
    return Revise(stored.memory.id, changes, expected=stored.etag, edited=edited)


def _decode(work: Work, data: bytes, path: str) -> Memory:
    from ltm.storage import codec, frontmatter

    return codec.decode(frontmatter.parse(data, path), path, work.config.kinds)


def _open_editor(path: str) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        if not sys.stdin.isatty():
            raise WrongUsage(
                "nobody is here to use an editor",
                hint="say what to change: --title, --content …; or set EDITOR",
            )
        editor = "notepad" if os.name == "nt" else "vi"
    try:
        ended = subprocess.run([*shlex.split(editor), path], check=False)
    except (OSError, ValueError) as error:
        raise LtmError(
            f"the editor '{editor}' does not start: {error}", hint="set EDITOR to one that does"
        ) from error
    if ended.returncode != 0:
        raise LtmError(f"the editor ended with {ended.returncode}; nothing was changed", path=path)
