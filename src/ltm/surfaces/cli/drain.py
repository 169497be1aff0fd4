"""`ltm drain`: do what hooks left for later. Hooks start it, so users need not."""

from __future__ import annotations

import os

from ltm.core.counting import counted
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make


@make("drain")
def command(work: Work) -> None:
    """Do what hooks left for later, then end."""
    from ltm.storage.home import home
    from ltm.surfaces.drain import drain
    from ltm.surfaces.hear import hear_due

    folder = home()
    if os.path.isdir(folder):
        os.chdir(folder)  # the folder a session ran in may be deleted while we work
    if hasattr(os, "nice"):
        os.nice(10)  # the user is working on this machine
    done = drain(folder)
    heard = hear_due(folder)  # last: a model may take minutes
    if work.as_json:
        output.emit({"events": done.events, "errors": done.errors, "llm_calls": heard.llm_calls})
    else:
        output.note(f"{counted(done.events, 'event')}, {counted(done.errors, 'error')}")


command.hidden = True
