"""`ltm edit` and `ltm settle`: change a memory, or decide between contradicting ones."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click

from ltm.cli import output
from ltm.cli.command import KINDS, Work, command
from ltm.decisions import Settle
from ltm.errors import BadFile, LtmError, Refused, WrongUsage
from ltm.inject.session_start import disputes_in
from ltm.model import Memory, Scope, Stored, choice
from ltm.project.home import scratch_folder
from ltm.store.revision import Revision, changes_of, check_status, in_scope, revise
from ltm.text.display import counted, one_line
from ltm.vault import codec, frontmatter

_KEPT = frozenset({"id", "created", "updated", "version", "scope"})


@command("edit")
@click.argument("memory_id", metavar="ID")
@click.option("--title", help="A new title.")
@click.option("--content", help="A new text.")
@click.option("--kind", "-k", metavar="KIND", help=f"Another kind: {KINDS}.")
@click.option("--impact", "-i", metavar="IMPACT", help="low, medium, high or critical.")
@click.option("--tags", metavar="A,B", help="All its tags, comma-separated.")
@click.option("--state", metavar="STATE", help="For an issue: open or resolved.")
@click.option("--reason", help="Why it was decided.")
@click.option("--scope", metavar="SCOPE", help="project, or agent: for all your projects.")
@click.option(
    "--pin/--unpin", "pinned", default=None, help="Never let it fade, or let it fade again."
)
def edit_command(work: Work, memory_id: str, **options: Any) -> None:
    """Change the memory ID. Without options your editor opens ($VISUAL or $EDITOR).

    \b
    ltm edit 4kqtxqcl
    ltm edit 4kqtxqcl --impact high --tags auth,safari
    ltm edit 4kqtxqcl --state resolved
    ltm edit 4kqtxqcl --scope agent    for all your projects

    Title and summary follow a new text unless you wrote them yourself. The former text is kept:
    `ltm restore ID --version N` goes back to it.
    """
    stored = work.memory(memory_id)
    given = {name: value for name, value in options.items() if value is not None}
    scope = choice(Scope, given.pop("scope")) if "scope" in given else stored.memory.scope
    if "tags" in given:
        given["tags"] = given["tags"].split(",")
    check_status(stored.memory)
    if given:
        done = revise(work.store, stored, changes_of(stored.memory, given, work.config.kinds))
    elif scope is stored.memory.scope and options["scope"] is None:
        done = edit_by_hand(work, stored)
    else:
        done = Revision(stored, stored)
    after = done.after
    if scope is not after.memory.scope:
        done = replace(done, after=in_scope(work.store, after, scope))
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
    if after.memory.id != stored.memory.id:
        output.say(f"  in {after.path}")
        restore = output.typed(f"restore {stored.memory.id}", stored)
        output.say(f"  it replaces {stored.memory.id} (bring it back with: {restore})")
    elif done.former_version:
        former = f"restore {after.memory.id} --version {done.former_version}"
        output.say(f"  the former text is kept: {output.typed(former, after)}")


def edit_by_hand(work: Work, stored: Stored) -> Revision:
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
                hint="name what to change: --title, --content …; or set EDITOR",
            )
        editor = "notepad" if os.name == "nt" else "vi"
    try:
        ended = subprocess.run([*shlex.split(editor), path], check=False)
    except (OSError, ValueError) as error:
        raise LtmError(
            f"the editor '{editor}' does not start: {error}", hint="set EDITOR to another one"
        ) from error
    if ended.returncode != 0:
        raise LtmError(f"the editor ended with {ended.returncode}; nothing was changed", path=path)


@command("settle")
@click.argument("memory_id", metavar="[ID]", required=False)
@click.argument("others", metavar="[OTHER]...", nargs=-1)
@click.option("--both", is_flag=True, help="All of them are right: keep all.")
def settle_command(work: Work, memory_id: str | None, others: tuple[str, ...], both: bool) -> None:
    """Say that the memory ID is right: it replaces those that contradict it, or OTHER.

    \b
    ltm settle                      list the conflicts
    ltm settle 4kqtxqcl             this one is right; it replaces the others
    ltm settle 4kqtxqcl 7hwz0d1m    also without a known conflict
    ltm settle 4kqtxqcl --both      both are right

    Replaced memories are kept: `ltm restore` brings them back.
    """
    if memory_id is None:
        if both:
            raise WrongUsage("--both needs the id of a memory", hint="try: ltm settle ID --both")
        _list_conflicts(work)
        return
    kept = work.memory(memory_id)
    rivals = [work.memory(each).memory.id for each in others]
    if not others:
        group = next((each for each in _conflicts(work) if kept.memory.id in _ids(each)), ())
        rivals = [each for each in _ids(group) if each != kept.memory.id]
    if not rivals:
        raise Refused(
            f"{kept.memory.id} has no conflict",
            hint="name the other one: ltm settle ID OTHER",
        )
    if kept.memory.id in rivals:
        raise WrongUsage("a memory cannot replace itself", hint="name two memories")
    done = work.store.apply(Settle(kept.memory.id, tuple(rivals), all_hold=both))
    if work.as_json:
        output.emit(
            {
                "id": kept.memory.id,
                "action": "both" if both else "settled",
                "superseded": list(done.superseded),
                "distinct": list(done.stored.memory.distinct),
            }
        )
        return
    if both:
        output.say(f"All are kept: {', '.join((kept.memory.id, *rivals))}")
        return
    output.say(f"Kept {kept.memory.id} ({output.memory_headline(kept.memory)})")
    for each in done.superseded:
        restore = output.typed(f"restore {each}", done.stored)
        output.say(f"  replaced: {each} (bring it back with: {restore})")


def _ids(group: Sequence[Stored]) -> list[str]:
    return [each.memory.id for each in group]


def _conflicts(work: Work) -> list[Sequence[Stored]]:
    return list(disputes_in(work.store).values())


def _list_conflicts(work: Work) -> None:
    groups = _conflicts(work)
    if work.as_json:
        output.emit({"conflicts": [[output.record(each) for each in group] for group in groups]})
        return
    if not groups:
        output.note("No memories contradict each other.")
        return
    for group in groups:
        for each in group:
            memory = each.memory
            output.say(f"{memory.id}  {memory.created:%Y-%m-%d}  {one_line(memory.text)}")
        output.say("")
    count = counted(len(groups), "conflict")
    settle = output.typed("settle ID", groups[0][0])
    output.note(f"{count}. Keep one with: {settle}; keep all with: {settle} --both")
