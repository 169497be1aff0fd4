"""A repository somebody else shares memories in, and clones of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from ltm.hook import main
from ltm.model import Memory
from ltm.store.share import init_shared
from ltm.vault.codec import file_name, to_bytes
from tests.cli.runner import Ltm
from tests.project.repos import git, make_repo


def publish(folder: Path, *memories: Memory) -> Path:
    """A repository that shares these memories, and one commit that holds them."""
    repo = folder if folder.exists() else make_repo(folder)
    init_shared(str(repo))
    for memory in memories:
        path = repo / ".claude" / "ltm" / "memories" / file_name(memory)
        path.write_bytes(to_bytes(memory))
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "Share memories")
    return repo


def clone(repo: Path, folder: Path) -> Path:
    """A clone, as anybody gets it."""
    git(repo.parent, "clone", "-q", str(repo), str(folder))
    return folder


def session_start(person: Ltm, folder: Path) -> str:
    """What the real hook tells a session that begins there."""
    event = {"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"}
    done = subprocess.run(
        [sys.executable, "-I", "-S", main.__file__],
        env={"PATH": "/usr/bin:/bin", "HOME": str(person.home)},
        input=json.dumps({**event, "cwd": str(folder)}),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    said = json.loads(done.stdout or "{}").get("hookSpecificOutput", {})
    text: str = said.get("additionalContext", "")
    return text


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but git's own."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }
