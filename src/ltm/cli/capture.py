"""`ltm capture` and `ltm achievements`: learn from past sessions and from git."""

from __future__ import annotations

import os
import sys

import click

from ltm.capture.discoveries import from_git
from ltm.capture.pipeline import Captured, keep
from ltm.capture.provenance import Evidence
from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.errors import NotFound, WrongUsage
from ltm.model import Filter, Status, now
from ltm.sessions.claude_code import projects_folder
from ltm.sessions.sources import is_readable, is_transcript, sessions_in
from ltm.sessions.transcript import all_transcripts
from ltm.text.display import counted
from ltm.worker.transcripts import SKIPPED, SessionsRead, read_sessions


@command("capture")
@click.argument("transcripts", nargs=-1, type=click.Path(), metavar="TRANSCRIPT...")
@click.option("--all", "everything", is_flag=True, help="All sessions of all projects.")
def capture_command(work: Work, transcripts: tuple[str, ...], everything: bool) -> None:
    """Learn from transcripts: add memories and make the sessions searchable.

    \b
    ltm capture --all
    ltm capture ~/.claude/projects/-home-me-shop/*.jsonl
    ltm capture ~/.codex/sessions/2026/11/18/*.jsonl

    Each TRANSCRIPT goes into this project; with --all, every session that a client on this machine
    has kept goes into the project it ran in, if the client noted where that was. Whose transcript
    it is, is seen from what is in it: Claude Code, Codex, Copilot CLI, Gemini CLI, Qwen Code,
    OpenCode, Kilo, Cline, Cursor, Goose or Antigravity CLI. Reading continues where it stopped, so
    repeating adds nothing. New sessions are captured automatically; this is for those held before
    `ltm setup`.
    """
    if everything == bool(transcripts):
        raise WrongUsage("name transcripts, or give --all", hint="try: ltm capture --all")
    paths = all_transcripts() if everything else _named(transcripts)
    read = _read_all(work, paths, own_project=everything)
    done = read.captured
    if work.as_json:
        output.emit(
            {
                "sessions": read.sessions,
                "turns": done.turns,
                "passages": read.passages,
                **output.captured_record(done),
                "skipped": done.skipped,
                "left_out": read.skipped,
                "llm_calls": done.llm_calls,
                "llm_error": done.llm_error,
            }
        )
        return
    output.say(f"Read {counted(read.sessions, 'session')}, {counted(done.turns, 'new turn')}.")
    output.say(f"  {output.captured_line(done)}")
    output.say(f"  {counted(read.passages, 'passage')} made searchable")
    if done.likely:
        likely = counted(len(done.likely), "statement")
        output.say(f"  {likely} for you to keep or drop: ltm review")
    if done.llm_error:
        output.note(f"The model has not read everything: {done.llm_error}")
    for why, number in read.skipped.items():
        if number:
            output.note(f"{counted(number, 'session')} skipped: {SKIPPED[why]}.")
    if everything and not paths:
        output.note(
            f"There are no sessions yet in {projects_folder()}, nor of another client."
            " If yours are elsewhere, set CLAUDE_CONFIG_DIR, or CODEX_HOME for Codex."
        )
    if not everything:
        for memory_id in done.added:
            memory = work.store.read(memory_id).memory
            output.say(f"  {output.shown_id(memory_id)}  {output.memory_headline(memory)}")


def _named(transcripts: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for path in map(os.path.abspath, transcripts):
        if not is_transcript(path):
            raise NotFound(
                "is a folder" if os.path.isdir(path) else "there is no such transcript",
                path=path,
                hint="name files that end in .jsonl, or read all there are: ltm capture --all",
            )
        within = sessions_in(path)
        if within is None and not path.endswith(".gz") and not is_readable(path):
            raise NotFound(
                "is not a transcript of a client that ltm knows",
                path=path,
                hint="read all there are: ltm capture --all",
            )
        found += [path] if within is None else [name for name, _ in within]
    return found


def _read_all(work: Work, paths: list[str], *, own_project: bool) -> SessionsRead:
    bar = click.progressbar(
        length=len(paths),
        label="Reading sessions",
        file=sys.stderr,
        hidden=not sys.stderr.isatty(),
    )
    with bar:
        return read_sessions(
            work, paths, own_project=own_project, tick=lambda: bar.update(1), environ=os.environ
        )


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
