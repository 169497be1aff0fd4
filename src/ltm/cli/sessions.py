"""`ltm sessions`: list and purge sessions; write, search and clear their notes."""

from __future__ import annotations

import os
from typing import Any

import click

from ltm.cli import output
from ltm.cli.command import Work, command, group, limit_option
from ltm.cli.forget import confirm
from ltm.errors import Ambiguous, NotFound
from ltm.files.atomic import read_plain
from ltm.model import Filter, Status, now
from ltm.notes.session_notes import (
    Note,
    SessionNotes,
    facts_from,
    line_of,
    note_session,
    tidy_notes,
)
from ltm.notes.session_notes import search as look
from ltm.recall.timeline import headers_of
from ltm.sessions.sources import is_transcript
from ltm.sessions.transcript import hook_texts
from ltm.spool.session_text import told as given
from ltm.state.session_log import Session
from ltm.text.display import counted
from ltm.text.sentences import shortened
from ltm.upkeep.purge import purge_session_traces

_TITLE = 50


@command("note")
@click.argument("session", default="", metavar="[ID]")
def note(work: Work, session: str) -> None:
    """Write the note of a session; without ID, of the last one.

    It holds a summary, decisions, patterns and issues. Notes are written automatically at the end
    of sessions. They are private, and one that you edit is not overwritten.
    """
    meant = _whole_id(work, session) if session else ""
    known = [each for each in _sessions(work) if meant in ("", each.id)]
    found = next((each for each in known if is_transcript(each.transcript)), None)
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
    elif written is not None:
        output.say(f"wrote {written.path}")
    elif there is not None:
        output.note(f"You edited {there.path}, so it was not changed.")
    else:
        output.note("This session has nothing to note, or its note was archived.")


@command("told")
@click.argument("session", metavar="ID")
def told(work: Work, session: str) -> None:
    """Print the memories that session ID was given, at its start and with its prompts.

    Word for word as long as the client keeps the transcript; then the memories as they are now.
    """
    found = work.log.get(_whole_id(work, session)) if os.path.exists(work.places.state_db) else None
    if found is None:
        raise NotFound(f"no session {session} is known", hint="see them with: ltm sessions")
    texts = list(hook_texts(found.transcript, "[LTM:")) if found.transcript else []
    ids = sorted(name for name in given(work.places.home, found.id) if name.startswith("mem_"))
    if work.as_json:
        records = [{"event": event, "at": at, "text": text} for event, at, text in texts]
        output.emit({"session": found.id, "texts": records, "memories": ids})
        return
    for event, at, text in texts:
        output.note(f"{event}, {at[:16].replace('T', ' ')}")
        output.say(text)
    if not texts and ids:
        output.note(
            "The text itself is not in its transcript. The memories it was given, as they are now:"
        )
        there = work.store.list(Filter(ids=tuple(ids), statuses=tuple(Status))).items
        titles = {each.memory.id: each.memory.title for each in there}
        output.table(("memory", "title"), [(name, titles.get(name, "gone")) for name in ids])
    if not texts and not ids:
        output.note("Nothing is known of what it was given.")


@command("summary")
def summary(work: Work) -> None:
    """Show the notes of the latest sessions, one line each."""
    found = [(each.name, line_of(each)) for each in _notes(work).every(archived=True)]
    if work.as_json:
        output.emit({"notes": [{"name": name, "summary": line} for name, line in found]})
        return
    if not found:
        output.note("There are no notes yet; they are written when sessions end.")
        return
    output.table(("session", "summary"), found)


@command("search")
@click.argument("words", nargs=-1, required=True)
@limit_option(10)
def search(work: Work, words: tuple[str, ...], limit: int) -> None:
    """Search notes for WORDS, archived ones too. `ltm recall` searches the sessions themselves."""
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


@command("facts")
@click.argument("names", nargs=-1, metavar="[NOTE]...")
def facts(work: Work, names: tuple[str, ...]) -> None:
    """Make memories of notes that you wrote or edited; NOTE may also be a file.

    Decisions, patterns and issues are read; repeating it adds nothing. An issue that is resolved in
    a later note is resolved. The form:

    \b
    ## Decisions        - what: why
    ## Patterns         - what
    ## Issues           - what: open|resolved
    """
    notes = list(_notes(work).every())
    there = {each.name for each in notes}
    files = {
        name: path
        for name in names
        if name.removesuffix(".md") not in there and (path := _file_of(name, work))
    }
    for path in files.values():
        text = read_plain(path).decode("utf-8", "replace")
        notes.append(Note(os.path.basename(path).removesuffix(".md"), path, text, edited=True))
    given = (files.get(name, name) for name in names)
    wanted = {os.path.basename(name).removesuffix(".md") for name in given}
    unknown = wanted - {each.name for each in notes}
    if unknown:
        raise NotFound(
            f"there is no note or file {', '.join(sorted(unknown))}",
            hint="list notes with: ltm sessions summary",
        )
    chosen = [each for each in notes if not wanted or each.name in wanted]
    done = facts_from(work.store, work.log, chosen, now())
    if work.as_json:
        output.emit(
            {
                "notes": len(chosen),
                **output.captured_record(done),
                "known": done.skipped,
            }
        )
        return
    added = output.captured_line(done)
    output.say(f"{counted(len(chosen), 'note')}: {added}, {done.skipped} known already")


def _file_of(name: str, work: Work) -> str:
    """The note file that is meant: as given, or among Memory Keeper's; '' if there is none."""
    theirs = os.path.join(work.places.project.root, ".claude", "memory", "sessions")
    tries = (name, os.path.join(theirs, name), os.path.join(theirs, f"{name}.md"))
    return next((path for path in tries if os.path.isfile(path)), "")


@command("compress")
def compress(work: Work) -> None:
    """Archive notes older than 30 days, one file per month. It happens automatically too."""
    folded = tidy_notes(work.places, now())
    if work.as_json:
        output.emit({"archived": folded})
    elif folded:
        output.say(f"{counted(len(folded), 'note')} archived.")
    else:
        output.note("No note is old enough.")


@command("clear")
@click.option("--undo", is_flag=True, help="Bring back what was cleared last.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask; --json never asks.")
def clear(work: Work, undo: bool, yes: bool) -> None:
    """Clear all notes of this project. Memories stay, and --undo brings the notes back."""
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
        output.note("Bring them back with: ltm sessions clear --undo")


def _notes(work: Work) -> SessionNotes:
    return SessionNotes(work.places.private)


def _sessions(work: Work, limit: int = 1_000, *, everything: bool = False) -> list[Session]:
    """The latest sessions of the project, or of all; reading never creates the log."""
    if not os.path.exists(work.places.state_db):
        return []
    return work.log.sessions("" if everything else work.places.project.id, limit)


def _whole_id(work: Work, name: str) -> str:
    """The id of the one session whose id begins like this; otherwise the name as it was typed."""
    known = {each.id for each in _sessions(work, everything=True)}
    if name and work.said.anything():
        known.update(work.said.passages.known_as(name))
    found = [each for each in known if each.startswith(name)]
    if name in found or not found:
        return name
    if len(found) > 1:
        raise Ambiguous(
            f"several sessions begin with '{name}'", hint="type more of the id; see: ltm sessions"
        )
    return found[0]


@command("sessions")
@limit_option(20)
@click.option("--all", "everything", is_flag=True, help="Sessions of all projects.")
@click.option("--purge", metavar="ID", help="Erase the text of this session.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask before purging; --json never asks.")
def listing(work: Work, limit: int, everything: bool, purge: str | None, yes: bool) -> None:
    """List sessions, newest first: how hard they were and how many memories came from them.

    \b
    ltm sessions
    ltm sessions search retry
    ltm sessions --purge 3f2a41c7

    The text of sessions is kept word for word, without secrets, and `ltm recall` searches it.
    --purge erases that text for one session, and it is not read again; memories that came from it
    stay. The beginning of an ID is enough.
    """
    if purge is not None:
        _purge(work, purge, yes=yes)
        return
    sessions = _sessions(work, limit, everything=everything)
    said = headers_of(work, sessions)
    rows: list[dict[str, Any]] = []
    for each in sessions:
        naming = work.store.list(Filter(statuses=tuple(Status), naming=each.id)).items
        rows.append(
            {
                "id": each.id,
                "title": said[each.id].title if each.id in said else "",
                "passages": said[each.id].passages if each.id in said else 0,
                "project": each.project,
                "number": each.number,
                "started": each.started,
                "ended": each.ended,
                "tools": {"ok": each.ok, "failed": each.failed},
                "compactions": each.compactions,
                "difficulty": round(each.difficulty, 3),
                "client": each.client,
                "transcript": each.transcript,
                "memories": [stored.memory.id for stored in naming],
            }
        )
    if work.as_json:
        output.emit({"sessions": rows, "total": len(rows)})
        return
    if not rows:
        output.note("No sessions yet. Read past ones with: ltm capture --all")
        return
    output.table(
        ("session", "client", "started", "tools", "failed", "difficulty", "memories", "about"),
        [
            (
                each.id,
                each.client,
                each.started[:16].replace("T", " "),
                str(each.ok + each.failed),
                str(each.failed),
                f"{each.difficulty:.2f}",
                str(len(row["memories"])),
                shortened(row["title"], _TITLE),
            )
            for row, each in zip(rows, sessions, strict=True)
        ],
    )


def _purge(work: Work, name: str, *, yes: bool) -> None:
    session = _whole_id(work, name)
    if not yes and not work.as_json:
        confirm(f"Erase the text of session '{session}'?")
    passages, transcript = purge_session_traces(session, work.places)
    if work.as_json:
        output.emit({"id": session, "status": "purged", "passages": passages})
        return
    output.say(f"Purged {counted(passages, 'passage')} of session {session}")
    if transcript:
        output.note(f"The client's own transcript stays until the client deletes it: {transcript}")


sessions_command = group(listing, [note, told, summary, search, facts, compress, clear])
