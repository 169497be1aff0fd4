"""`ltm capture`: learn from sessions that are on the disk."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, closing

import click

from ltm.capture.model_extract import Replaceable
from ltm.capture.pipeline import Captured
from ltm.cli import output
from ltm.cli.command import Work
from ltm.cli.command import command as make
from ltm.errors import NotFound, WrongUsage
from ltm.history.ingest import keep_session
from ltm.model import now
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


@make("capture")
@click.argument("transcripts", nargs=-1, type=click.Path(), metavar="TRANSCRIPT...")
@click.option(
    "--all", "everything", is_flag=True, help="All the client keeps, each to its own project."
)
def command(work: Work, transcripts: tuple[str, ...], everything: bool) -> None:
    """Keep what sessions taught, from their transcripts, into this project.

    \b
    ltm capture --all
    ltm capture ~/.claude/projects/-home-me-shop/*.jsonl

    A transcript is read on from where it was left, so doing it again adds nothing and an
    interrupted run goes on. It happens by itself after sessions; this is for those from before.
    """
    if everything == bool(transcripts):
        raise WrongUsage("name transcripts, or say --all", hint="try: ltm capture --all")
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
                "added": done.added,
                "superseded": done.superseded,
                "reinforced": done.reinforced,
                "skipped": done.skipped,
                "llm_calls": done.llm_calls,
                "llm_error": done.llm_error,
            }
        )
        return
    output.say(f"Read {counted(sessions, 'session')}, {counted(done.turns, 'new turn')}.")
    output.say(
        f"  {counted(len(done.added), 'memory')} added, {len(done.superseded)} replaced,"
        f" {len(done.reinforced)} confirmed"
    )
    output.say(f"  {counted(passages, 'passage')} kept to be searched")
    if done.llm_error:
        output.note(f"The model has not read everything: {done.llm_error}")
    if skipped:
        left_out = counted(skipped, "session")
        output.note(f"Left out, because the project's folder is gone: {left_out}.")
    if everything and not paths:
        output.note(
            f"The client has kept no session yet in {projects_folder()}."
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
