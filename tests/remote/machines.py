"""Machines of one person, each with a home of its own, and a bare repository between them."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.runner import Ltm
from tests.project.repos import git, make_repo

ADDRESS = "git@github.com:anna/shop.git"


@dataclass
class Machine(Ltm):
    """A machine with a clone of the project `shop`."""

    remote: str = ""

    @property
    def ltm_home(self) -> Path:
        return self.home / ".ltm"

    def add(self) -> Any:
        return self.json("remote", "add", self.remote)

    def now(self) -> Any:
        return self.json("remote", "now")

    def remember(self, text: str, *words: str) -> str:
        """Keep a text; the id of the memory."""
        return str(self.json("remember", text, *words)["id"])

    def texts(self, *words: str) -> dict[str, str]:
        """What the memories in force say, by their ids."""
        found = self.json("list", "--limit", "1000", *words)["memories"]
        return {each["id"]: each["content"] for each in found}

    def files(self) -> dict[str, bytes]:
        """Every memory file and kept version, by its path in the home."""
        return {
            str(path.relative_to(self.ltm_home)): path.read_bytes()
            for part in ("memories", "archives")
            for path in sorted(self.ltm_home.glob(f"**/{part}/*.md"))
        }

    def file_of(self, memory: str) -> Path:
        (path,) = self.ltm_home.glob(f"**/memories/*{memory}.md")
        return path


def bare(top: Path) -> str:
    """An empty bare repository; its address."""
    folder = top / "memories.git"
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "--bare", "-b", "main")
    return str(folder)


def machine(top: Path, name: str, remote: str, folder: str = "shop") -> Machine:
    """A machine of this name; where the project lies on it differs from machine to machine."""
    home = top / name
    home.mkdir()
    project = make_repo(home / folder, ADDRESS, first="the shop")
    config = home / "gitconfig"
    config.write_text("[user]\nname = Anna\nemail = anna@example.org\n")
    env = {"GIT_CONFIG_GLOBAL": str(config), "GIT_CONFIG_NOSYSTEM": "1"}
    return Machine(home, project, env, remote=remote)


def pair(top: Path) -> tuple[Machine, Machine]:
    """Two machines that use the same remote already."""
    remote = bare(top)
    one, two = machine(top, "one", remote), machine(top, "two", remote, "work/code/shop")
    one.add()
    two.add()
    return one, two


def objects(repository: str | Path) -> bytes:
    """Every byte of every object of a repository, reachable or not, and the names of paths."""
    folder = Path(repository)
    names = subprocess.run(
        ["git", f"--git-dir={folder}", "cat-file", "--batch-all-objects", "--batch"],
        capture_output=True,
        check=True,
    )
    return names.stdout


def gone(remote: str) -> Path:
    """Take the remote away; where it is now."""
    aside = Path(f"{remote}.aside")
    shutil.move(remote, aside)
    return aside
