"""The names under which everything is kept: promises to the next version, which must find it.

Each stands here once more in letters, so that none is changed by accident; whoever changes one on
purpose also moves what is there under the old name.
"""

from __future__ import annotations

import os
from pathlib import Path

from ltm.storage import (
    agents,
    brief,
    config,
    hooklog,
    keyfile,
    ledger,
    places,
    runtime,
    sessionnotes,
    spool,
    stashes,
    told,
    trust,
    vectorfile,
)

from .repos import make_repo


def test_the_files_of_a_home_and_of_a_project_keep_their_names() -> None:
    assert (config.FILE, runtime.FILE, hooklog.FILE) == ("config.toml", "runtime.json", "hook.log")
    assert (*("signing.key", "friction.db", "vectors.db"),) == (
        keyfile.FILE,
        ledger.FILE,
        vectorfile.FILE,
    )
    assert (places.STATE, places.SESSIONS) == ("state.db", "sessions.db")
    assert (*("trust.json", "stashes.json", "AGENT.md"),) == (
        trust.FILE,
        stashes.MANIFEST,
        agents.FILE,
    )
    assert (brief.FOLDER, told.FOLDER, spool.FOLDER) == ("briefs", "told", "spool")
    assert sessionnotes.SUMMARY == "summary.md"


def test_every_place_is_below_the_home_or_in_the_repository(user_home: Path) -> None:
    repo = make_repo(user_home / "app")
    found = places.places(str(repo), environ={"HOME": str(user_home)}, agent="ada")
    home = str(user_home / ".ltm")
    assert found.home == home
    assert found.shared == os.path.join(str(repo), ".claude", "ltm")
    assert found.private == os.path.join(home, "projects", found.project.id)
    assert found.agent_folder == os.path.join(home, "agents", "ada")
    assert (found.state_db, found.spool) == (f"{home}/state.db", f"{home}/spool")
