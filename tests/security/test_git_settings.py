"""No setting of a repository starts a program, whichever command makes us run git there (S19)."""

from __future__ import annotations

import ast
import json
import os
import shutil
from pathlib import Path

import pytest

from ltm.store.share import CameAlong
from tests.cli.runner import Ltm
from tests.figures import count
from tests.project.repos import git, make_repo
from tests.source import modules

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")

CONFIG = """
[core]
    fsmonitor = {0}
    hooksPath = {1}
    pager = {0}
    editor = {0}
    askPass = {0}
    sshCommand = {0}
    gitProxy = {0}
    alternateRefsCommand = {0}
    attributesFile = {1}/attributes
[log]
    showSignature = true
[gpg]
    program = {0}
[gpg "openpgp"]
    program = {0}
[gpg "x509"]
    program = {0}
[gpg "ssh"]
    program = {0}
    defaultKeyCommand = {0}
[diff]
    external = {0}
[diff "x"]
    textconv = {0}
    command = {0}
[filter "x"]
    clean = {0}
    smudge = {0}
    process = {0}
    required = true
[merge "x"]
    driver = {0}
[credential]
    helper = !{0}
[pager]
    log = {0}
    reflog = {0}
    config = {0}
[sequence]
    editor = {0}
[alias]
    log = !{0}
    reflog = !{0}
    check-ignore = !{0}
    ls-files = !{0}
    config = !{0}
    merge-file = !{0}
"""
VARIABLES = (
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
)
SIGNATURES = {
    "openpgp": "-----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----",
    "ssh": "-----BEGIN SSH SIGNATURE-----\n eA==\n -----END SSH SIGNATURE-----",
    "x509": "-----BEGIN SIGNED MESSAGE-----\n x\n -----END SIGNED MESSAGE-----",
}


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


class Hostile:
    """A repository whose every setting names a program, and a log of each git that we start."""

    def __init__(self, ltm: Ltm, top: Path) -> None:
        self.ltm = ltm
        ltm.project.rmdir()
        self.repo = make_repo(ltm.project)
        self.started = top / "started"
        self.log = top / "git.log"
        self.program = script(top / "program", f'echo "$0 $*" >> {self.started}')
        self.hooks = top / "hooks"
        self.hooks.mkdir()
        for name in ("post-index-change", "reference-transaction", "pre-commit"):
            shutil.copy(self.program, self.hooks / name)
        (top / "bin").mkdir()
        script(top / "bin" / "git", f'echo "$*" >> {self.log}\nexec "{shutil.which("git")}" "$@"')
        ltm.env["PATH"] = f"{top / 'bin'}:{os.environ['PATH']}"
        ltm.env |= dict.fromkeys(VARIABLES, str(self.program))
        ltm.env |= {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "core.fsmonitor",
            "GIT_CONFIG_VALUE_0": str(self.program),
        }

    def commit(self, name: str, text: str) -> None:
        (self.repo / name).write_text(text)
        git(self.repo, "add", ".")
        git(self.repo, "commit", "-q", "-m", f"feat: add {name} to the release")

    def sign(self, signature: str) -> None:
        """A commit with a signature that git would have a program check."""
        git(self.repo, "commit", "-q", "--allow-empty", "-m", "fix: signed")
        lines = git(self.repo, "cat-file", "commit", "HEAD").split("\n\n", 1)
        text = f"{lines[0]}\ngpgsig {signature}\n\n{lines[1]}"
        path = self.started.with_name("commit")
        path.write_text(text)
        made = git(self.repo, "hash-object", "-t", "commit", "-w", str(path)).strip()
        git(self.repo, "update-ref", "-m", "commit: signed", "HEAD", made)

    def arm(self) -> None:
        (self.hooks / "attributes").write_text("* diff=x filter=x merge=x\n")
        for path in (self.repo / ".gitattributes", self.repo / ".git" / "info" / "attributes"):
            path.parent.mkdir(exist_ok=True)
            path.write_text("* diff=x filter=x merge=x\n")
        with (self.repo / ".git" / "config").open("a") as file:
            file.write(CONFIG.format(self.program, self.hooks))

    def by_git_alone(self, *words: str) -> bool:
        """Whether git itself, run with these words, starts the program."""
        git(self.repo, *words, check=False)
        found = self.started.exists()
        self.started.unlink(missing_ok=True)
        return found


@pytest.fixture
def hostile(ltm: Ltm, tmp_path: Path) -> Hostile:
    return Hostile(ltm, tmp_path)


def test_no_command_starts_what_a_repository_names(hostile: Hostile, tmp_path: Path) -> None:
    ltm = hostile.ltm
    hostile.commit("old.md", "".join(f"line {number}\n" for number in range(20)))
    git(hostile.repo, "mv", "old.md", "notes.md")
    git(hostile.repo, "commit", "-q", "-m", "feat: rename the notes")
    for signature in SIGNATURES.values():
        hostile.sign(signature)
    hostile.arm()
    # Git alone falls for it, so these settings are such as the commands below could start.
    for words in (
        ("log", "-1"),
        ("log", "-2", "-p"),
        ("status",),
        ("add", "."),
        ("diff", "HEAD~4"),
    ):
        assert hostile.by_git_alone(*words), words
    transcript = tmp_path / "s1.jsonl"
    entry = {
        "type": "user",
        "uuid": "u1",
        "sessionId": "s1",
        "cwd": str(hostile.repo),
        "timestamp": "2026-01-01T00:00:00Z",
        "message": {"role": "user", "content": "Remember: always run the linter before a commit."},
    }
    transcript.write_text(json.dumps(entry) + "\n")
    event = {
        "session_id": "s1",
        "transcript_path": str(transcript),
        "cwd": str(hostile.repo),
        "source": "startup",
    }
    commands: tuple[tuple[str, ...], ...] = (
        ("remember", "Deploy with make release, because the tag starts the build."),
        ("init",),
        ("init", "--move"),
        ("doctor",),
        ("doctor", "--fix"),
        ("status",),
        ("capture", str(transcript)),
        ("stash", "later", "--transcript", str(transcript), "--session", "s1"),
        ("stash", "--list"),
        ("achievements",),
        ("why", "notes.md"),
        ("inject",),
        ("sync",),
        ("keygen",),
        ("uninstall",),
    )
    ended = {}
    for command in commands:
        done = ltm.run(*command)
        ended[command] = done.returncode
        count("S19", commands=1, programs_started=int(hostile.started.exists()))
        assert "Traceback" not in done.stderr, done.stderr
        assert not hostile.started.exists(), (command, hostile.started.read_text())
    for name in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
        text = json.dumps(event | {"hook_event_name": name, "prompt": "hello"})
        assert ltm.run("hook", name, stdin=text).returncode == 0
        count("S19", events=1, programs_started=int(hostile.started.exists()))
    inside = ltm.run("keygen", LTM_HOME=str(hostile.repo / "home"))
    assert "a key must never be committed" in inside.stderr
    assert not hostile.started.exists(), hostile.started.read_text()
    assert {words: code for words, code in ended.items() if code} == {}
    calls = hostile.log.read_text().splitlines()
    assert all("-c core.fsmonitor=false -c core.hooksPath=" in call for call in calls), calls
    count(
        "S19",
        settings=CONFIG.count("{"),
        variables=len(VARIABLES) + 1,
        calls_of_git=len(calls),
    )
    started = {word for call in calls for word in call.split()}
    assert {"check-ignore", "config", "log", "reflog"} <= started
    # What an import of a vault in a repository asks git for.
    assert not CameAlong().has(str(hostile.repo / "notes.md"))
    assert not hostile.started.exists(), hostile.started.read_text()


def test_an_object_that_is_missing_is_not_fetched(hostile: Hostile) -> None:
    """A partial clone fetches what it lacks, through a program that its config may name."""
    for number in range(3):
        hostile.commit("notes.md", f"text {number}\n")
    tree = git(hostile.repo, "rev-parse", "HEAD~1^{tree}").strip()
    (hostile.repo / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    settings = {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": str(hostile.repo),
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": str(hostile.program),
    }
    for name, value in settings.items():
        git(hostile.repo, "config", name, value)
    assert hostile.by_git_alone("log", "--name-only")
    for words in (("why", "notes.md"), ("achievements",)):
        hostile.ltm.run(*words)
        count("S19", commands=1, programs_started=int(hostile.started.exists()))
        assert not hostile.started.exists(), words
    assert "--follow" in hostile.log.read_text()
    CameAlong().has(str(hostile.repo / "notes.md"))
    assert not hostile.started.exists()


def test_only_one_module_starts_git() -> None:
    found = set()
    for name, path in modules().items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.List | ast.Tuple) and node.elts:
                first = node.elts[0]
                if isinstance(first, ast.Constant) and str(first.value).split(" ")[0] == "git":
                    found.add(name)
    assert found == {"project/git_command.py"}
