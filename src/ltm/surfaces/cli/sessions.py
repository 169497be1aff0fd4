"""`ltm sessions`: what was heard, and what it gave."""

from __future__ import annotations

import os

import click

from ltm.core.counting import counted
from ltm.core.model import Filter, Status
from ltm.core.sentences import shortened
from ltm.surfaces.cli import output
from ltm.surfaces.cli.forget import confirm
from ltm.surfaces.cli.notes import with_notes
from ltm.surfaces.cli.work import Work, limit_option
from ltm.surfaces.cli.work import command as make

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
    from ltm.storage.sessionlog import SessionLog
    from ltm.surfaces.said import headers_of

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
    said = headers_of(work.places, sessions)
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
    from ltm.surfaces.purging import purge_said

    if not yes and not work.as_json:
        confirm(f"Delete for good what was said in session '{session}'?")
    passages, transcript = purge_said(session, work.places)
    if work.as_json:
        output.emit({"id": session, "status": "purged", "passages": passages})
        return
    output.say(f"Purged {counted(passages, 'passage')} of session {session}")
    if transcript:
        output.note(f"The client's own transcript stays until the client deletes it: {transcript}")


command = with_notes(command)
