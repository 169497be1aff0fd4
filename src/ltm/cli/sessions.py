"""`ltm sessions`: list sessions, and write, search, clear and purge their notes."""

from __future__ import annotations

import os
from typing import Any

import click
from click.core import ParameterSource

from ltm.cli import output
from ltm.cli.command import Work, limit_option
from ltm.cli.command import command as make
from ltm.cli.forget import confirm
from ltm.errors import NotFound, WrongUsage
from ltm.model import Filter, Status, now
from ltm.notes.session_notes import SessionNotes, facts_from, line_of, note_session, tidy_notes
from ltm.notes.session_notes import search as look
from ltm.recall.timeline import headers_of
from ltm.state.session_log import SessionLog
from ltm.text.display import counted
from ltm.text.sentences import shortened
from ltm.upkeep.purge import purge_session_traces


def with_notes(listing: click.Command) -> click.Group:
    """A command that still does its work when no command below it is meant."""

    def call(**arguments: Any) -> None:
        context = click.get_current_context()
        if context.invoked_subcommand is None:
            assert listing.callback is not None
            listing.callback(**arguments)
            return
        for name in arguments:
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                meant = f"ltm sessions {context.invoked_subcommand}"
                raise WrongUsage(
                    f"options stand behind '{meant}'", hint=f"see which it has: {meant} --help"
                )

    return click.Group(
        listing.name,
        commands=[note, summary, search, facts, compress, clear],
        params=listing.params,
        callback=call,
        help=listing.help,
        invoke_without_command=True,
    )


@make("note")
@click.argument("session", default="", metavar="[ID]")
def note(work: Work, session: str) -> None:
    """Write the note of a session: summary, decisions, patterns, issues. Without ID, the last one.

    It happens by itself at the end of sessions. Notes are private, and a note you edit is yours:
    it is never written again.
    """
    log = SessionLog(work.places.state_db)
    try:
        known = log.sessions(work.places.project.id, 1_000)
    finally:
        log.close()
    meant = [each for each in known if each.id.startswith(session)]
    found = next((each for each in meant if os.path.isfile(each.transcript)), None)
    if found is None:
        raise NotFound(
            f"no session {session} with a transcript is known"
            if session
            else "no session of this project with a transcript is known",
            hint="see them with: ltm sessions",
        )
    written = note_session(work, found)
    there = _notes(work).of_session(found.id) if written is None else written
    if work.as_json:
        path = there.path if there is not None else ""
        output.emit({"session": found.id, "path": path, "written": written is not None})
        return
    if written is not None:
        output.say(f"wrote {written.path}")
    elif there is not None:
        output.note(f"You edited {there.path}, so it stays as it is.")
    else:
        output.note("There is nothing to say about this session, or its note was put away.")


@make("summary")
def summary(work: Work) -> None:
    """Show the latest sessions, a line each."""
    found = [(each.name, line_of(each)) for each in _notes(work).every(archived=True)]
    if work.as_json:
        output.emit({"notes": [{"name": name, "summary": line} for name, line in found]})
        return
    if not found:
        output.note("There are no notes yet; they are written when sessions end.")
        return
    output.table(("session", "summary"), found)


@make("search")
@click.argument("words", nargs=-1, required=True)
@limit_option(10)
def search(work: Work, words: tuple[str, ...], limit: int) -> None:
    """Find notes by WORDS, archived ones too. `ltm recall` searches what was said word for word."""
    found = look(list(_notes(work).every(archived=True)), " ".join(words), limit)
    if work.as_json:
        output.emit(
            {
                "notes": [
                    {
                        "name": each.note.name,
                        "path": each.note.path,
                        "session": each.note.session,
                        "score": round(each.score, 3),
                        "lines": list(each.lines),
                    }
                    for each in found
                ],
                "total": len(found),
            }
        )
        return
    if not found:
        output.note("No note has any of these words.")
        return
    output.table(("session", "says"), [(each.note.name, " / ".join(each.lines)) for each in found])


@make("facts")
@click.argument("names", nargs=-1, metavar="[NOTE]...")
def facts(work: Work, names: tuple[str, ...]) -> None:
    """Make memories of decisions, patterns and issues in notes you wrote or changed yourself.

    What ltm wrote there it heard in the session already. Doing it again adds nothing. The form:

    \b
    ## Decisions        - what: why
    ## Patterns         - what
    ## Issues           - what: open|resolved
    """
    notes = list(_notes(work).every())
    wanted = {name.removesuffix(".md") for name in names}
    unknown = wanted - {each.name for each in notes}
    if unknown:
        raise NotFound(f"there is no note {', '.join(sorted(unknown))}", path=_notes(work).folder)
    chosen = [each for each in notes if not wanted or each.name in wanted]
    done = facts_from(work.store, chosen, now())
    if work.as_json:
        output.emit(
            {
                "notes": len(chosen),
                "added": done.added,
                "superseded": done.superseded,
                "reinforced": done.reinforced,
                "known": done.skipped,
            }
        )
        return
    output.say(
        f"{counted(len(chosen), 'note')}: {counted(len(done.added), 'memory')} added,"
        f" {len(done.superseded)} replaced, {len(done.reinforced)} confirmed,"
        f" {done.skipped} known already"
    )


@make("compress")
def compress(work: Work) -> None:
    """Fold notes of 30 days and more into one file a month. It happens by itself."""
    folded = tidy_notes(work.places, now())
    if work.as_json:
        output.emit({"archived": folded})
    elif folded:
        output.say(f"{counted(len(folded), 'note')} put into the archives of their months.")
    else:
        output.note("No note is old enough.")


@make("clear")
@click.option("--undo", is_flag=True, help="Take back what was cleared last.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask; --json never asks.")
def clear(work: Work, undo: bool, yes: bool) -> None:
    """Clear all notes of this project. Memories stay, and --undo takes the last clearing back."""
    notes = _notes(work)
    if undo:
        count, word = notes.undo(), "restored"
    else:
        if not yes and not work.as_json:
            confirm(f"Clear all session notes of {work.places.project.name}?")
        count, word = notes.clear(now()), "cleared"
    if work.as_json:
        output.emit({word: count})
        return
    output.say(f"{counted(count, 'file' if undo else 'note')} {word}")
    if count and not undo:
        output.note("Take them back with: ltm sessions clear --undo")


def _notes(work: Work) -> SessionNotes:
    return SessionNotes(work.places.private)


_TITLE = 50


@make("sessions")
@limit_option(20)
@click.option("--all", "everything", is_flag=True, help="Sessions of all projects.")
@click.option("--purge", metavar="ID", help="Delete for good what was said in this session.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask before purging; --json never asks.")
def command(work: Work, limit: int, everything: bool, purge: str | None, yes: bool) -> None:
    """List sessions, the newest first: how hard they were and how many memories came from them.

    \b
    ltm sessions
    ltm sessions search retry
    ltm sessions --purge ID

    What was said in them is kept word for word, without secrets, and `ltm recall` searches it. With
    --purge nothing of a session is left there, and none of it comes back; memories that came from
    it stay.
    """
    if purge is not None:
        _purge(work, purge, yes=yes)
        return
    sessions = []
    if os.path.exists(work.places.state_db):
        log = SessionLog(work.places.state_db)
        try:
            sessions = log.sessions("" if everything else work.places.project.id, limit)
        finally:
            log.close()
    said = headers_of(work, sessions)
    rows = [
        {
            "id": session.id,
            "title": said[session.id].title if session.id in said else "",
            "passages": said[session.id].passages if session.id in said else 0,
            "project": session.project,
            "number": session.number,
            "started": session.started,
            "ended": session.ended,
            "tools": {"ok": session.ok, "failed": session.failed},
            "compactions": session.compactions,
            "difficulty": round(session.difficulty, 3),
            "transcript": session.transcript,
            "memories": [
                each.memory.id
                for each in work.store.list(Filter(statuses=tuple(Status), naming=session.id)).items
            ],
        }
        for session in sessions
    ]
    if work.as_json:
        output.emit({"sessions": rows, "total": len(rows)})
        return
    if not rows:
        output.note("No session was heard yet. Read those from before with: ltm capture --all")
        return
    output.table(
        ("session", "started", "tools", "failed", "difficulty", "memories", "about"),
        [
            (
                str(row["id"]),
                str(row["started"])[:16].replace("T", " "),
                str(session.ok + session.failed),
                str(session.failed),
                f"{session.difficulty:.2f}",
                str(len(work.store.list(Filter(statuses=tuple(Status), naming=session.id)).items)),
                shortened(str(row["title"]), _TITLE),
            )
            for row, session in zip(rows, sessions, strict=True)
        ],
    )


def _purge(work: Work, session: str, *, yes: bool) -> None:
    if not yes and not work.as_json:
        confirm(f"Delete for good what was said in session '{session}'?")
    passages, transcript = purge_session_traces(session, work.places)
    if work.as_json:
        output.emit({"id": session, "status": "purged", "passages": passages})
        return
    output.say(f"Purged {counted(passages, 'passage')} of session {session}")
    if transcript:
        output.note(f"The client's own transcript stays until the client deletes it: {transcript}")


command = with_notes(command)
