"""A project with memories, as it is before a fault: made once, copied for each fault, examined."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ltm.config.config import load
from ltm.files.atomic import is_temporary
from ltm.model import Filter, Status, as_record, new_id, now
from ltm.project.layout import places
from ltm.store.file_store import FileStore
from ltm.store.open import open_files
from tests.sessions.writing import Transcript

ANY = Filter(statuses=tuple(Status))


@dataclass(frozen=True)
class Scene:
    """A home and a project under one folder, and what memories they held at first."""

    top: Path
    before: dict[str, dict[str, Any]] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    """Ids by the part they play: `plain`, `edited`, `forgotten`."""

    @property
    def home(self) -> Path:
        return self.top / "home"

    @property
    def project(self) -> Path:
        return self.top / "project"

    @property
    def env(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.top),
            "LTM_HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def open(self) -> FileStore:
        """The project's store."""
        where = places(str(self.project), environ=self.env)
        return open_files(where, load(where.home, where.shared))

    def memories(self) -> dict[str, dict[str, Any]]:
        """Every memory a newly opened store shows, and 0 files it could not read."""
        store = self.open()
        try:
            found = {each.memory.id: as_record(each.memory) for each in store.list(ANY).items}
            assert store.problems() == []
            for memory in found:
                store.versions(memory)
        finally:
            store.close()
        return found

    def copied(self, folder: Path) -> Scene:
        """The same scene in another folder."""
        shutil.copytree(self.top, folder, symlinks=True)
        return Scene(folder, self.before, self.roles)

    def files(self) -> dict[str, bytes]:
        """Every file that is not derived, by its path under the top."""
        return {
            str(path.relative_to(self.top)): path.read_bytes()
            for folder in (self.home, self.project)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.suffix in (".md", ".json", ".toml")
        }

    def temporary(self) -> list[Path]:
        """Files of unfinished writes, wherever they are."""
        return [path for path in self.top.rglob("*") if is_temporary(path.name)]

    def holding(self, text: bytes) -> list[Path]:
        """Files that hold a text."""
        return [
            path
            for folder in (self.home, self.project)
            for path in folder.rglob("*")
            if path.is_file() and text in path.read_bytes()
        ]


def make_repository(folder: Path, env: Mapping[str, str]) -> None:
    """A repository that is known by its remote and its history, wherever a copy of it lies."""
    folder.mkdir(parents=True)
    address = "https://example.invalid/team/scene.git"
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.invalid"]
    for words in (
        ["init", "-q", "--template="],
        ["remote", "add", "origin", address],
        [*who, "commit", "-q", "--allow-empty", "-m", "Start"],
    ):
        subprocess.run(["git", "-C", str(folder), *words], check=True, env=env)


def make_scene(top: Path) -> Scene:
    """A git repository whose private vault has seen some life."""
    scene = Scene(top)
    make_repository(scene.project, scene.env)

    from ltm.capture.remember import RememberRequest, remember

    store = scene.open()
    ids = {
        role: remember(
            store, RememberRequest(text, kind="fact", scope="project")
        ).applied.stored.memory.id
        for role, text in (
            ("plain", "The gateway drops one request in a hundred, zanzibarquux says"),
            ("edited", "Releases are tagged by hand on Tuesdays, mandalorquux says"),
            ("forgotten", "The staging database is reset every night, valdiviaquux says"),
            ("other", "Uploads above ten megabytes are refused by the proxy"),
            ("twin", "Deployments leave the platform team on Thursdays after the weekly standup"),
        )
    }
    remember(store, RememberRequest("I prefer short answers in every project", scope="agent"))
    # As two branches bring it along; here it would have been seen that this is known.
    again = "Note: deployments leave the platform team on Thursdays after the weekly standup!"
    twin = store.read(ids["twin"]).memory._replace(id=new_id(now()), content=again)
    ids["other twin"] = store.create(twin).memory.id
    store.update(ids["edited"], {"content": "Releases are tagged by a robot, mandalorquux says"})
    store.delete(ids["forgotten"])
    store.used([ids["plain"]])
    store.close()
    (scene.home / "config.toml").write_text("max_memories = 2\n")
    (top / "notes").mkdir()
    (top / "notes" / "trees.md").write_text("# Trees\n\nLarches lose their needles in autumn.\n")
    transcript = Transcript(top / "session.jsonl")
    transcript.user("Always run the linter before you push.")
    transcript.assistant({"type": "text", "text": "I will."})
    for path in scene.home.rglob("*.md"):
        # An index reads a file that is only just written once more, and every copy of the scene
        # would begin with that.
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return Scene(top, scene.memories(), ids)
