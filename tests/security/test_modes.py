"""Whatever the umask, what is private is the user's alone (reliability S9).

Everything that writes is made to write: memories, keys, sessions, notes, stashes, corrections,
vectors, exports of the hooks, the server's token. Then every file and folder is looked at.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from ltm.spool import hook_log
from tests.figures import count
from tests.hook.runner import Hooks
from tests.http.runner import Server, nobody_drains
from tests.sessions.writing import Transcript

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there are no modes")


def ltm(hooks: Hooks, umask: int, *words: str) -> None:
    done = hooks.ltm(*words, umask=umask)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_everything_private_is_the_users_alone(tmp_path: Path, umask: int) -> None:
    hooks = Hooks(tmp_path)
    log = Transcript(tmp_path / "session-1.jsonl", "session-1")
    cwd = str(hooks.project)
    log.user("Please make the build of the parser faster, it takes minutes.", cwd=cwd)
    log.says("I built it with npm.", cwd=cwd)
    log.user("no, use pnpm and not npm in this repository, always", cwd=cwd)
    log.says("Understood.", cwd=cwd)
    before = os.umask(umask)
    try:
        for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
            hooks.fire(event, source="startup")
        hook_log.note(str(hooks.home), "Stop", ValueError("an error to be kept in the log"))
    finally:
        os.umask(before)
    for words in (
        ("keygen",),
        ("remember", "We retry three times"),
        ("remember", "I prefer short answers", "--scope", "agent"),
        ("config", "inject.max_chars", "9000"),
        ("drain",),
        ("friction", str(log.path)),
        ("consolidate", "--all"),
        ("stash", "later", "--transcript", str(log.path)),
        ("recall", "how often do we retry?"),
    ):
        ltm(hooks, umask, *words)
    with nobody_drains(hooks), Server(hooks, umask=umask):
        looked = [hooks.home, *hooks.home.rglob("*")]
        looked += (hooks.project / ".claude" / "friction").rglob("*.json*")
        wrong = {
            str(path): oct(stat.S_IMODE(path.stat().st_mode))
            for path in looked
            if stat.S_IMODE(path.stat().st_mode) != (0o700 if path.is_dir() else 0o600)
        }
        names = {path.name for path in looked}
    count("S9", files_and_folders=len(looked), open_to_others=len(wrong))
    kept = {"server.json", "state.db", "sessions.db", "friction.db", "index.db", "config.toml"}
    assert kept <= names, "not everything was written"
    assert wrong == {}
