"""`ltm why`: what is known about a file."""

from __future__ import annotations

import os

import click

from ltm.cli import output
from ltm.cli.command import Work, command, limit_option
from ltm.cli.hits import MOST
from ltm.cli.output import memory_record, say_memory, say_passage
from ltm.errors import WrongUsage
from ltm.recall.passages import passage_record
from ltm.recall.why_file import Explained, Touched, explain
from ltm.store.share import former_names
from ltm.text.display import one_line


@command("why")
@click.argument("file", type=click.Path())
@limit_option(10, most=MOST)
def why_command(work: Work, file: str, limit: int) -> None:
    """Show what is known about FILE, or a folder: why it is as it is, which sessions changed it.

    \b
    ltm why src/queue.py
    ltm why src/payments/

    Lists memories that name it, decisions and pitfalls first, then the sessions that mention or
    change it. FILE may have been deleted since; earlier names that git knows of count too.
    """
    root = work.places.project.root
    path = _inside(root, file)
    if not path:
        raise WrongUsage(
            "that is the whole project", hint="name a file in it, or see: ltm timeline"
        )
    folder = os.path.isdir(os.path.join(root, path)) or file.endswith(("/", os.sep))
    in_git = bool(work.places.project.common_dir)
    former = former_names(root, path) if in_git and not folder else []
    found = explain(work.store, work.said, [path, *former], limit, folder=folder)
    if work.as_json:
        output.emit(_record(path, former, found))
        return
    if not found.total and file.startswith("mem_"):
        raise WrongUsage(f"'{file}' names a memory, not a file", hint=f"type: ltm show {file}")
    if not found.total:
        output.note(f"Nothing is known about '{path}' yet. Search its subject: ltm recall WORDS")
        return
    if former:
        output.note(f"Formerly {', '.join(former)}.")
    for stored in found.memories:
        say_memory(work, stored)
    for each in found.sessions:
        _say_session(each)
    left = found.total - len(found.memories) - len(found.sessions)
    if left:
        output.note(f"{left} more; see more with --limit {min(limit + left, MOST)}")


def _say_session(each: Touched) -> None:
    header = each.header
    how = "changed" if each.changed else "mentioned"
    times = "" if each.times == 1 else f" {each.times} times"
    day = header.ended[:10] or "at an unknown time"
    output.say(f"session {one_line(header.id)}  {day}, {how}{times}: {one_line(header.title)}")
    for passage in each.passages:
        say_passage("", passage)


def _record(path: str, former: list[str], found: Explained) -> dict[str, object]:
    return {
        "path": path,
        "former": former,
        "memories": [memory_record(each) for each in found.memories],
        "sessions": [
            {
                "id": each.header.id,
                "title": each.header.title,
                "started": each.header.started,
                "ended": each.header.ended,
                "changed": each.changed,
                "times": each.times,
                "passages": [passage_record(passage) for passage in each.passages],
            }
            for each in found.sessions
        ],
        "total": found.total,
    }


def _inside(root: str, file: str) -> str:
    """A path as the project has it; as it was typed when it lies elsewhere; '' for the project."""
    here = os.path.abspath(file)
    if not os.path.lexists(here) and os.path.lexists(os.path.join(root, file)):
        here = os.path.abspath(os.path.join(root, file))
    for base, place in ((root, here), (os.path.realpath(root), os.path.realpath(here))):
        inside = os.path.relpath(place, base)
        if inside == os.curdir:
            return ""
        if inside != os.pardir and not inside.startswith(os.pardir + os.sep):
            return inside
    return file.rstrip(os.sep)
