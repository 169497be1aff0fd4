"""`ltm keygen`: a key that makes changes outside ltm visible."""

from __future__ import annotations

from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make


@make("keygen")
def command(work: Work) -> None:
    """Make the key that memories are signed with from now on. A key that is there is kept.

    It is one file under LTM_HOME that only you can read. It is never in a repository and never in
    an export; with it, anyone can sign in your name.
    """
    from ltm.storage import keyfile, signing

    key = signing.make(work.places.home)
    path = keyfile.path_in(work.places.home)
    if work.as_json:
        output.emit({"path": path, "key": key.id})
        return
    output.say(f"Made the key {key.id} in {path}")
    output.note("What you keep from now on is signed. Sign what is there already with: ltm sign")
