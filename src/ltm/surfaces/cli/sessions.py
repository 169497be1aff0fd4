"""`ltm sessions`: what was heard, and what it gave."""

from __future__ import annotations

import os

import click

from ltm.core.model import Filter, Status
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make


@make("sessions")
@click.option("--limit", "-n", type=click.IntRange(1), default=20, show_default=True)
@click.option("--all", "everything", is_flag=True, help="Sessions of all projects.")
def command(work: Work, limit: int, everything: bool) -> None:
    """List sessions, the newest first: how hard they were and how many memories came from them."""
    from ltm.storage.sessionlog import SessionLog

    sessions = []
    if os.path.exists(work.places.state_db):
        log = SessionLog(work.places.state_db)
        try:
            sessions = log.sessions("" if everything else work.places.project.id, limit)
        finally:
            log.close()
    rows = [
        {
            "id": session.id,
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
        ("session", "started", "tools", "failed", "difficulty", "memories"),
        [
            (
                str(row["id"]),
                str(row["started"]),
                str(session.ok + session.failed),
                str(session.failed),
                f"{session.difficulty:.2f}",
                str(len(work.store.list(Filter(statuses=tuple(Status), naming=session.id)).items)),
            )
            for row, session in zip(rows, sessions, strict=True)
        ],
    )
