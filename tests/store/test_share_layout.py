"""The names under which everything is kept: promises to the next version, which must find it.

Each stands here once more in letters, so that none is changed by accident; whoever changes one on
purpose also moves what is there under the old name.
"""

from __future__ import annotations

import os
from pathlib import Path

from ltm.config import config
from ltm.index import index
from ltm.notes import session_notes, stash
from ltm.project import layout
from ltm.spool import events, hook_log, session_text
from ltm.state import corrections
from ltm.vault import key_file
from tests.project.repos import make_repo


def test_the_files_of_a_home_and_of_a_project_keep_their_names() -> None:
    assert (config.CONFIG_FILE, hook_log.RUNTIME_FILE, hook_log.LOG_FILE) == (
        "config.toml",
        "runtime.json",
        "hook.log",
    )
    assert (*("signing.key", "friction.db", "vectors.db"),) == (
        key_file.KEY_FILE,
        corrections.FILE,
        index.VECTORS_FILE,
    )
    assert (layout.STATE, layout.SESSIONS) == ("state.db", "sessions.db")
    assert (*("trust.json", "stashes.json", "AGENT.md"),) == (
        layout.TRUST_FILE,
        stash.MANIFEST,
        layout.AGENT_FILE,
    )
    assert (session_text.TEXTS_FOLDER, session_text.TOLD_FOLDER, events.FOLDER) == (
        "briefs",
        "told",
        "spool",
    )
    assert session_notes.SUMMARY_FILE == "summary.md"


def test_every_place_is_below_the_home_or_in_the_repository(user_home: Path) -> None:
    repo = make_repo(user_home / "app")
    found = layout.places(str(repo), environ={"HOME": str(user_home)}, agent="ada")
    home = str(user_home / ".ltm")
    assert found.home == home
    assert found.shared == os.path.join(str(repo), ".claude", "ltm")
    assert found.private == os.path.join(home, "projects", found.project.id)
    assert found.agent_folder == os.path.join(home, "agents", "ada")
    assert found.state_db == f"{home}/state.db"
