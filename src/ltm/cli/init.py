"""`ltm init`: share this repository's memories through git."""

from __future__ import annotations

import os
import sys

import click

from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.cli.sync import place_markers, write
from ltm.errors import LtmError
from ltm.model import Filter, Scope, Status, Stored
from ltm.project.identity import record
from ltm.project.layout import SHARED, trust_answer
from ltm.store import share
from ltm.store.open import move_all
from ltm.store.trust import record_trust
from ltm.text.display import counted, one_line
from ltm.vault.vault import Vault


@command("init")
@click.option("--move", is_flag=True, help="Also move this project's private memories there.")
@click.option(
    "--yes", "-y", is_flag=True, help="With --move: also your personal preferences, unasked."
)
@click.option(
    "--claude-md",
    is_flag=True,
    help="Also keep a short block of memories in CLAUDE.md, between markers.",
)
def init_command(work: Work, move: bool, yes: bool, claude_md: bool) -> None:
    """Keep this project's memories in .claude/ltm/, to be committed and merged with the code.

    Without it, ltm writes nothing into your repository. Run it once in each clone, so that git
    merges memories there field by field. With --move, personal preferences are listed and stay
    private unless you agree to share them.
    """
    root = work.places.project.root
    personal = _kept_private(work) if move and not yes else []
    record(work.places.project, work.places.home)
    # Sharing memories from here means trusting those there. Noted first: a vault that is only
    # half made when the machine dies is ours to clean up and to finish.
    here = (work.places.private, work.places.project, os.path.join(root, SHARED))
    before = trust_answer(*here)
    record_trust(*here, True)
    try:
        changed = share.init_shared(root)
    except LtmError:
        record_trust(*here, before)
        raise
    private = Vault("private", work.places.private)
    moved: list[str] = []
    stayed: list[str] = []
    if move:
        shared = Vault("shared", work.places.shared, shared=True)
        moved, stayed = move_all(
            private, shared, [os.path.basename(each.path) for each in personal]
        )
    after = work.again(root)
    if claude_md:
        changed += _place_block(after)
    waiting = 0 if move else len(private.names())
    if work.as_json:
        output.emit(
            {
                "path": after.places.shared,
                "changed": changed,
                "moved": len(moved),
                "stayed": stayed,
                "personal": [each.memory.id for each in personal],
                "private": waiting,
                "memories": after.store.list(Filter(), 1).total,
            }
        )
        return
    output.say(f"Memories of {after.places.project.name} are shared in {after.places.shared}")
    for path in changed:
        output.say(f"  wrote {os.path.relpath(path, root)}")
    if moved:
        output.say(f"  moved {counted(len(moved), 'private memory')}")
    for name in stayed:
        output.note(f"  {name} stays private: it cannot be read, or the name is taken")
    if personal:
        output.note(
            f"{counted(len(personal), 'personal memory')} stayed private; to share all:"
            " ltm init --move --yes"
        )
    if waiting:
        output.note(f"{counted(waiting, 'private memory')} not moved; to share: ltm init --move")
    if share.is_vault_ignored(root):
        output.note("git ignores .claude here, so nothing would be shared: see .gitignore")
    if work.places.project.common_dir:
        block = " CLAUDE.md" if claude_md else ""
        output.note(f"Commit it with: git add .claude/ltm{block} && git commit")
    else:
        output.note("This is not a git repository; to share them, type 'git init' and commit.")


def _kept_private(work: Work) -> list[Stored]:
    """The private memories that are about a person's own wishes, unless that person agrees to
    share them too."""
    wishes = tuple(kind.name for kind in work.config.kinds if kind.rule)
    wanted = Filter(kinds=wishes, scopes=(Scope.PROJECT,), statuses=tuple(Status))
    found = [each for each in work.store.list(wanted).items if each.vault == "private"]
    if not found:
        return []
    output.note(f"{counted(len(found), 'private memory')} of your personal preferences:")
    for each in found:
        output.note(f"  {output.shown_id(each.memory.id)}  {one_line(each.memory.title)}")
    is_asked = sys.stdin.isatty() and not work.as_json
    if is_asked and click.confirm("Share them with everyone who has this repository?", err=True):
        return []
    return found


def _place_block(work: Work) -> list[str]:
    path = place_markers(work)
    for problem in write(work).problems:
        output.note(output.problem(problem))
    return [path] if path else []
