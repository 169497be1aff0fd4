"""`ltm edit`: change a memory in your editor, or field by field."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from typing import Any

import click

from ltm.capture.remember import Revision, changes_of, check_status, revise
from ltm.cli import output
from ltm.cli.command import KINDS, Work
from ltm.cli.command import command as make
from ltm.errors import BadFile, LtmError, Refused, WrongUsage
from ltm.model import Memory, Stored
from ltm.project.home import scratch_folder
from ltm.vault import codec, frontmatter

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
def command(work: Work, memory_id: str, **options: Any) -> None:
    """Change the memory ID. Without options your editor opens ($VISUAL or $EDITOR).

    \b
    ltm edit 4kqtxqcl
    ltm edit 4kqtxqcl --impact high --tags auth,safari
    ltm edit 4kqtxqcl --state resolved

    Title and summary follow a new text unless a person wrote them. The former text is kept:
    `ltm restore ID --version N` goes back to it.
    """
    stored = work.store.read(memory_id)
    given = {name: value for name, value in options.items() if value is not None}
    if "tags" in given:
        given["tags"] = given["tags"].split(",")
    check_status(stored.memory)
    if given:
        done = revise(work.store, stored, changes_of(stored.memory, given, work.config.kinds))
    else:
        done = _in_editor(work, stored)
    after = done.after
    if work.as_json:
        output.emit({**output.record(after), "redacted": list(done.redacted)})
        return
    if done.is_empty:
        output.note("Nothing changed.")
    else:
        output.say(f"Changed {after.memory.id} ({output.memory_headline(after.memory)})")
    for line in done.differences:
        output.say(f"  {line}")
    if done.redacted:
        output.say(f"  redacted: {', '.join(done.redacted)} (not kept anywhere)")
    if done.former_version:
        former = f"ltm restore {after.memory.id} --version {done.former_version}"
        output.say(f"  the former text is kept: {former}")


def _in_editor(work: Work, stored: Stored) -> Revision:
    """Let the person edit a copy; nothing they typed is lost if it cannot be read or kept."""
    with open(stored.path, "rb") as file:
        before = file.read()
    handle, path = tempfile.mkstemp(
        suffix=".md", prefix=f"{stored.memory.id}.", dir=scratch_folder()
    )
    with os.fdopen(handle, "wb") as copy:
        copy.write(before)
    _open_editor(path)
    with open(path, "rb") as file:
        edited = file.read()
    if edited == before:
        os.unlink(path)
        return Revision(stored, stored)
    try:
        done = revise(work.store, stored, _changes(work, stored, edited, path), edited=edited)
    except BadFile as error:
        raise Refused(
            f"what you saved cannot be read: {error.message}",
            path=path,
            line=error.line,
            hint="your text is in that file, and the memory is as it was",
        ) from error
    except LtmError:
        output.note(f"What you typed is kept in {path}")
        raise
    os.unlink(path)
    return done


def _changes(work: Work, stored: Stored, edited: bytes, path: str) -> dict[str, Any]:
    """The fields in which an edited copy differs from the memory."""
    after = codec.decode(frontmatter.parse(edited, path), path, work.config.kinds)
    if after.id != stored.memory.id:
        raise Refused("the id of a memory cannot be changed", hint="leave the line 'id:' as it was")
    return {
        name: getattr(after, name)
        for name in Memory._fields
        if name not in _KEPT and getattr(after, name) != getattr(stored.memory, name)
    }


def _open_editor(path: str) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        if not sys.stdin.isatty():
            raise WrongUsage(
                "no terminal for an editor",
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
