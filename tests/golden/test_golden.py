"""What people see when they type commands, to the letter: a story a file, `*.txt` next to this one.

    # a comment
    $ ltm remember "The staging server runs on port 8080"
    < a line the command reads from standard input
    | a line it must print
    2| a line it must print to stderr
    [1]                                   its exit status, if not 0

A story begins in a new git repository in an empty home. There is no shell: words are quoted as in
one, and a last `> FILE` keeps what is printed. What differs from run to run has a name instead
(see `Names`), in what is printed as in what is typed: `ltm show <mem-1>`.

After a change that is meant, `LTM_GOLDEN=write pytest tests/golden` writes what is printed now
into the files; read the difference before you commit it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import unified_diff
from pathlib import Path

import pytest

from ltm import __version__
from tests import forking

STORIES = sorted(Path(__file__).parent.glob("*.txt"))
_COMMAND = re.compile(r"^\$ (?P<typed>.+)\n(?P<stdin>(?:<.*\n)*)(?:(?:2?\||\[).*\n)*", re.M)


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_a_story_is_told_as_before(path: Path, tmp_path: Path) -> None:
    expected = path.read_text(encoding="utf-8")
    told = tell(expected, Terminal.new(tmp_path.resolve()))
    if os.environ.get("LTM_GOLDEN") == "write":
        path.write_text(told, encoding="utf-8")
    elif told != expected:
        lines = expected.splitlines(), told.splitlines()
        difference = "\n".join(unified_diff(*lines, path.name, "printed now", lineterm=""))
        pytest.fail(f"{difference}\n\nif it is meant: LTM_GOLDEN=write", pytrace=False)


def tell(story: str, terminal: Terminal) -> str:
    """The story with what its commands print now."""

    def told(command: re.Match[str]) -> str:
        stdin = "".join(f"{line[2:]}\n" for line in command["stdin"].splitlines())
        printed = terminal.run(command["typed"], stdin)
        return "".join(
            [f"$ {command['typed']}\n", command["stdin"], *(f"{line}\n" for line in printed)]
        )

    return _COMMAND.sub(told, story)


@dataclass
class Terminal:
    """A person in a project, and what they see."""

    project: Path
    environ: dict[str, str]
    names: Names

    @classmethod
    def new(cls, root: Path) -> Terminal:
        home, programs = root / "home", root / "bin"
        project, config = home / "shop", home / ".ltm" / "config.toml"
        for folder in (project, programs, config.parent):
            folder.mkdir(mode=0o700, parents=True)
        # Which model of meanings is there depends on the machine, and with it what is near what.
        config.write_text('[embed]\nbackend = "none"\n', encoding="utf-8")
        config.chmod(0o600)
        for program in ("cat", "git"):  # and no client, which `ltm doctor` would tell of
            (programs / program).symlink_to(shutil.which(program) or program)
        environ = {
            "HOME": str(home),
            "PATH": str(programs),
            "TMPDIR": str(root),  # where events of this machine's own sessions may wait
            "TZ": "UTC",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
        }
        subprocess.run(["git", "init", "-q", project], env=environ, check=True)
        return cls(project, environ, Names(home, project))

    def run(self, command: str, stdin: str) -> list[str]:
        """The lines a story has for what the command prints."""
        words = [self.names.meant(word) for word in shlex.split(command)]
        file = None
        if words[-2:-1] == [">"]:
            *words, _, name = words
            file = self.project / name
            file.parent.mkdir(parents=True, exist_ok=True)
        run = forking.run if words[0] == "ltm" else subprocess.run
        done = run(
            words[1:] if words[0] == "ltm" else words,
            cwd=self.project,
            env=self.environ,
            input=self.names.meant(stdin),
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
        if file:
            file.write_text(done.stdout, encoding="utf-8")
        return [
            *_marked("|", "" if file else self.names.given(done.stdout)),
            *_marked("2|", self.names.given(done.stderr)),
            *([f"[{done.returncode}]"] if done.returncode else []),
        ]


def _marked(mark: str, text: str) -> list[str]:
    *lines, rest = text.split("\n")
    marked = [f"{mark} {line}" if line else mark for line in lines]
    return [*marked, f"{mark} {rest}", "[no line break at the end]"] if rest else marked


@dataclass
class Names:
    """What differs from run to run, and the name that stands for it in a story.

    <home> and <project>; <mem-1>, the first memory to appear, <mem-1:8> and <mem-1:6>, the last
    characters of its id; <today>, <time> and <now>, which is both; <age>, <hash> and <version>.
    """

    home: Path
    project: Path
    memories: list[str] = field(default_factory=list)
    began: datetime = field(default_factory=lambda: datetime.now(UTC))

    def given(self, text: str) -> str:
        """A printed text with names in it."""
        for memory in re.findall(r"mem_[0-9a-z]{17}", text):
            if memory not in self.memories:
                self.memories.append(memory)
        for name, meant in self._known().items():
            text = text.replace(meant, name)
        today = "|".join({f"{day:%Y-%m-%d}" for day in (self.began, datetime.now(UTC))})
        for pattern, name in (
            (rf"\b({today})T\d\d:\d\d:\d\dZ", "<now>"),
            (rf"\b({today})([ _])\d\d:?\d\d\b", r"<today>\2<time>"),
            (rf"\b({today})", "<today>"),
            (r"\t(now|\d+ min)\t", r"\t<age>\t"),
            (r"\bshop-[0-9a-f]{10}\b", "shop-<hash>"),
            (r"(>\.v\d+)\.[0-9a-f]{12}\b", r"\1.<hash>"),
            (r"\b[0-9a-f]{32}\b", "<hash>"),
            (r"\bthe key [0-9a-f]{8}\b", "the key <hash>"),
            (rf"^ltm {re.escape(__version__)}$", "ltm <version>"),
        ):
            text = re.sub(pattern, name, text, flags=re.M)
        return text

    def meant(self, text: str) -> str:
        """A typed text with what its names stand for."""
        for name, meant in self._known().items():
            text = text.replace(name, meant)
        return text

    def _known(self) -> dict[str, str]:
        """Names and what they stand for; what is part of another stands behind it."""
        known = {"<project>": str(self.project), "<home>": str(self.home)}
        for shown, length in (("", 0), (":8", 8), (":6", 6)):
            for number, memory in enumerate(self.memories, 1):
                known[f"<mem-{number}{shown}>"] = memory[-length:]
        return known
