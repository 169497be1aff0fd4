"""`ltm capture` and `ltm achievements`: learn from past sessions and from git."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, closing

import click

from ltm.capture.discoveries import from_git
from ltm.capture.model_extract import Replaceable
from ltm.capture.pipeline import Captured, keep
from ltm.capture.provenance import Evidence
from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.errors import NotFound, WrongUsage
from ltm.history.ingest import keep_session
from ltm.model import Filter, Status, now
from ltm.sessions.transcript import (
    Transcripts,
    all_transcripts,
    origin,
    projects_folder,
    unpacked,
)
from ltm.store.project import OpenProject
from ltm.text.display import counted
from ltm.worker.model_queue import hear_session
from ltm.worker.steps import begin, learn_from


@command("capture")
@click.argument("transcripts", nargs=-1, type=click.Path(), metavar="TRANSCRIPT...")
@click.option("--all", "everything", is_flag=True, help="All sessions of all projects.")
def capture_command(work: Work, transcripts: tuple[str, ...], everything: bool) -> None:
    """Learn from transcripts: add memories and make the sessions searchable.

    \b
    ltm capture --all
    ltm capture ~/.claude/projects/-home-me-shop/*.jsonl

    Each TRANSCRIPT goes into this project; with --all, every session the client has kept goes
    into the project it ran in. Reading continues where it stopped, so repeating adds nothing. New
    sessions are captured automatically; this is for those held before `ltm setup`.
    """
    if everything == bool(transcripts):
        raise WrongUsage("name transcripts, or give --all", hint="try: ltm capture --all")
    paths = all_transcripts() if everything else [os.path.abspath(each) for each in transcripts]
    for path in paths:
        if not os.path.isfile(path):
            raise NotFound(
                "is a folder" if os.path.isdir(path) else "there is no such transcript",
                path=path,
                hint="name files that end in .jsonl, or read all there are: ltm capture --all",
            )
    done, sessions, passages, skipped = _read_all(work, paths, own_project=everything)
    if work.as_json:
        output.emit(
            {
                "sessions": sessions,
                "turns": done.turns,
                "passages": passages,
                **output.captured_record(done),
                "skipped": done.skipped,
                "llm_calls": done.llm_calls,
                "llm_error": done.llm_error,
            }
        )
        return
    output.say(f"Read {counted(sessions, 'session')}, {counted(done.turns, 'new turn')}.")
    output.say(f"  {output.captured_line(done)}")
    output.say(f"  {counted(passages, 'passage')} made searchable")
    if done.llm_error:
        output.note(f"The model has not read everything: {done.llm_error}")
    if skipped:
        output.note(f"{counted(skipped, 'session')} skipped: the project's folder is gone.")
    if everything and not paths:
        output.note(
            f"There are no sessions yet in {projects_folder()}."
            " If yours are elsewhere, set CLAUDE_CONFIG_DIR."
        )
    if not everything:
        for memory_id in done.added:
            memory = work.store.read(memory_id).memory
            output.say(f"  {output.shown_id(memory_id)}  {output.memory_headline(memory)}")


def _read_all(work: Work, paths: list[str], *, own_project: bool) -> tuple[Captured, int, int, int]:
    done, sessions, passages, skipped = Captured(), 0, 0, 0
    replaceable = Replaceable()
    bar = click.progressbar(
        paths, label="Reading sessions", file=sys.stderr, hidden=not sys.stderr.isatty()
    )
    with bar as shown, closing(Transcripts()) as transcripts, ExitStack() as opened:
        project: OpenProject = work
        for path in shown:
            with unpacked(path) as plain:
                began = origin(plain, transcripts.lines)
                if own_project:
                    if not os.path.isdir(began.cwd):
                        skipped += 1
                        continue
                    if project.folder != began.cwd:
                        opened.close()
                        project = OpenProject(began.cwd, user=work.user, log=work.log)
                        opened.enter_context(project)
                where = project.places.project
                session = begin(
                    work.log,
                    plain,
                    origin(path).session if plain != path else began.session,
                    where.id,
                    began.cwd or where.root,
                    began.started,
                    lines=transcripts.lines,
                )
                done += learn_from(project, session, now(), lines=transcripts.lines)
                passages += keep_session(
                    project, session, now(), known_as=path, lines=transcripts.lines
                )
                if not done.llm_error:
                    done += hear_session(project, session, now(), os.environ, replaceable)
                if plain != path:  # the copy goes: what is noted is where it came from
                    with work.log.transaction():
                        work.log.begin(session.id, session.project, session.cwd, path, now())
                sessions += 1
    return done, sessions, passages, skipped


@command("achievements")
@click.option(
    "--since",
    "hours",
    type=int,
    default=24,
    show_default=True,
    metavar="HOURS",
    help="How far to look back.",
)
@click.option("--dry-run", "-n", is_flag=True, help="Only show what would happen.")
def achievements_command(work: Work, hours: int, dry_run: bool) -> None:
    """Keep the releases, features and migrations among recent git commits, each commit once.

    \b
    ltm achievements --since 168        of the last week
    """
    kind = work.config.kinds.parse("achievements")
    listed = work.store.list(Filter(kinds=(kind.name,), statuses=tuple(Status))).items
    known = " ".join(each.memory.text for each in listed)
    found = [
        each
        for each in from_git(work.places.project.root, hours)
        if each.source.tool.removeprefix("git ")[:8] not in known
    ]
    done = Captured()
    if not dry_run:
        keep(work.store, found, done, evidence=Evidence(), now=now())
    if work.as_json:
        output.emit({"found": [each.title for each in found], **output.captured_record(done)})
        return
    for each in found:
        output.say(f"{each.impact}: {each.text}")
    if not found:
        output.note(f"No new achievement among the commits of the last {counted(hours, 'hour')}.")
