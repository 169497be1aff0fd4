"""A person with one other client: its home, a project, a scripted model, and their memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ltm.hook.receive import is_draining
from ltm.spool import events
from tests import forking

from ..client.deadline import wait_until
from .model import Call, Model, Reply

BYPASS = "--dangerously-bypass-hook-trust"
PATIENCE = 240.0
"""Seconds after which a run is given up: the slowest client needs 90 for its first on a busy
machine."""


@dataclass(frozen=True)
class Run:
    """How a session ended, and what the model was asked in it."""

    rc: int
    out: str
    err: str
    requests: list[str]


@dataclass(frozen=True)
class Recipe:
    """How to run one client on loopback, without an account."""

    name: str
    command: Callable[[str], list[str]]
    """The words for one session with a prompt."""
    files: Callable[[str], dict[str, str]] = lambda url: {}
    """What stands in its home before LTM comes, by path, given the model's address."""
    env: Callable[[str], dict[str, str]] = lambda url: {}
    before: Callable[[str], list[str]] | None = None
    """A command to be run once, given the model's address."""
    shell: str = "shell"
    """The tool that runs commands, and what it is called with."""
    shell_input: Callable[[str], dict[str, Any]] = lambda command: {"command": command}
    namespace: str = ""
    """The group of our tools, where requests do not offer them at once."""
    searches: bool = False
    """Whether a model must look our tools up, and call them by way of another."""
    programs: str = ".bin"
    """Where its program is among the packages npm brought."""

    def command_call(self, command: str) -> Call:
        """The model runs a command."""
        return Call(self.shell, self.shell_input(command))

    def store(self, text: str) -> list[Reply]:
        """The model keeps something."""
        if not self.searches:
            return [Call("store_memory", {"content": text}, self.namespace)]
        name = "mcp__ltm__store_memory"
        return [
            Call("tool_search", {"query": f"select:{name}"}),
            Call("tool_call", {"name": name, "arguments": {"content": text}}),
        ]


@dataclass
class World:
    """One home and project with a client."""

    recipe: Recipe
    folder: Path
    """Where npm put the client."""
    top: Path
    model: Model = field(default_factory=Model)
    before: dict[str, bytes] = field(default_factory=dict)
    home_folder: Path | None = None
    """A home and a project that another client uses too."""
    project_folder: Path | None = None
    is_set_up: bool = True
    """Whether `ltm setup` ran for the client."""
    touched: list[str] = field(default_factory=list)
    """The files of the client that `ltm setup` changed."""

    def __post_init__(self) -> None:
        self.project.mkdir(parents=True, exist_ok=True)
        for name, text in self.recipe.files(self.model.url).items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        if self.recipe.before:
            self._run(self.recipe.before(self.model.url))
        self.before = self.settings()
        if not self.is_set_up:
            return
        done = json.loads(self.ltm("setup", "--client", self.recipe.name, "--json"))
        paths = [Path(each["path"]) for each in done["changed"]]
        self.touched = [
            str(path.relative_to(self.home)) for path in paths if ".ltm" not in path.parts
        ]

    @property
    def home(self) -> Path:
        return self.home_folder or self.top / "home"

    @property
    def project(self) -> Path:
        return self.project_folder or self.top / "project"

    def environ(self) -> dict[str, str]:
        """A clean environment: nothing of the person who runs the tests."""
        programs = self.folder / "node_modules" / self.recipe.programs
        return {
            "HOME": str(self.home),
            "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/sh",
            **self.recipe.env(self.model.url),
        }

    def settings(self) -> dict[str, bytes]:
        """Every file in the home that LTM may have to do with, outside its own folder."""
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in sorted(self.home.rglob("*"))
            if path.is_file() and path.suffix in (".json", ".jsonc", ".toml", ".js", "")
            if ".ltm" not in path.parts
        }

    def ask(self, prompt: str, *script: Reply, trusting: bool = False) -> Run:
        """One session, to its end, and the work its hooks left for later; `trusting` runs only the
        hooks the person trusted."""
        since = self.model.begin(list(script))
        words = self.recipe.command(prompt)
        done = self._run([word for word in words if not (trusting and word == BYPASS)])
        wait_until(self._is_drained, "the work that hooks left for later")
        requests = self.model.main_requests(since)
        return Run(done.returncode, done.stdout, done.stderr, requests)

    def _is_drained(self) -> bool:
        """Whether nothing waits, and no drain that a hook started is at work on the last of it."""
        home = str(self.home / ".ltm")
        self.ltm("drain")
        return not (is_draining(home) or events.is_waiting(home, self.environ()))

    def cli(self, *words: str) -> str:
        """Another command of the client, answered with yes; it must work."""
        done = self._run(list(words), said="y\n")
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def _run(self, words: list[str], said: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=self.project,
            env=self.environ(),
            input=said,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def ltm(self, *words: str, ok: bool = True) -> str:
        """The person's `ltm` in the project."""
        done = forking.run(words, cwd=self.project, env=self.environ(), text=True, encoding="utf-8")
        assert done.returncode == 0 or not ok, f"ltm {' '.join(words)}: {done.stderr}"
        said: str = done.stdout
        return said

    def value(self, *words: str) -> Any:
        """The same as JSON."""
        return json.loads(self.ltm(*words, "--json"))

    def close(self) -> None:
        """Stop the model, and what the client left running."""
        self.model.close()
        if sys.platform == "linux":
            for pid in _with_home(str(self.home)):
                try:
                    os.kill(pid, 9)
                except OSError:
                    continue


def _with_home(home: str) -> list[int]:
    """Processes whose environment has this HOME: what this world's client started."""
    found = []
    for each in Path("/proc").iterdir():
        try:
            if each.name.isdigit() and f"HOME={home}\0".encode() in (each / "environ").read_bytes():
                found.append(int(each.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


def _toml(url: str) -> str:
    return (
        'model_provider = "fake"\n\n[model_providers.fake]\nname = "fake"\n'
        f'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n'
    )


def _compatible(url: str, schema: str) -> str:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "fake",
        "options": {"baseURL": f"{url}/v1", "apiKey": "x"},
        "models": {"fake": {"name": "fake"}},
    }
    settings = {
        "$schema": schema,
        "provider": {"fake": provider},
        "model": "fake/fake",
        "permission": "allow",
        "autoupdate": False,
        "share": "disabled",
    }
    return json.dumps(settings, indent=2) + "\n"


def _codex(prompt: str) -> list[str]:
    bypass = [BYPASS, "--dangerously-bypass-approvals-and-sandbox"]
    return ["codex", "exec", "--skip-git-repo-check", "-m", "gpt-5.5", *bypass, prompt]


def _qwen_env(url: str) -> Mapping[str, str]:
    return {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "fake"}


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            "codex",
            _codex,
            files=lambda url: {".codex/config.toml": _toml(url)},
            env=lambda url: {"FAKE_KEY": "x"},
            shell="exec_command",
            shell_input=lambda command: {"cmd": command},
            namespace="mcp__ltm",
        ),
        Recipe(
            "gemini",
            lambda prompt: ["gemini", "--skip-trust", "--yolo", "-p", prompt],
            files=lambda url: {
                ".gemini/settings.json": '{\n  // mine\n  "security": {"auth": {"selectedType":'
                ' "gemini-api-key"}},\n  "privacy": {"usageStatisticsEnabled": false}\n}\n'
            },
            env=lambda url: {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": url},
            shell="run_shell_command",
        ),
        Recipe(
            "copilot",
            lambda prompt: ["copilot", "-p", prompt, "--allow-all-tools", "--allow-all-paths"],
            env=lambda url: {
                "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
                "COPILOT_PROVIDER_API_KEY": "x",
                "COPILOT_MODEL": "fake",
                "COPILOT_PROVIDER_WIRE_MODEL": "fake",
                "COPILOT_AUTO_UPDATE": "false",
            },
            shell="bash",
            shell_input=lambda command: {"command": command, "description": "a check"},
        ),
        Recipe(
            "qwen",
            lambda prompt: ["qwen", "--yolo", "-p", prompt],
            files=lambda url: {
                ".qwen/settings.json": json.dumps(
                    {"security": {"auth": {"selectedType": "openai"}}, "$version": 4}, indent=2
                )
            },
            env=lambda url: dict(_qwen_env(url)),
            shell="run_shell_command",
            shell_input=lambda command: {"command": command, "is_background": False},
            searches=True,
        ),
        Recipe(
            "opencode",
            lambda prompt: ["opencode", "run", prompt],
            files=lambda url: {
                ".config/opencode/opencode.json": _compatible(
                    url, "https://opencode.ai/config.json"
                )
            },
            shell="bash",
            shell_input=lambda command: {"command": command, "description": "a check"},
        ),
        Recipe(
            "kilo",
            lambda prompt: ["kilo", "run", "--auto", prompt],
            files=lambda url: {
                ".config/kilo/kilo.json": _compatible(url, "https://app.kilo.ai/config.json")
            },
            shell="bash",
            shell_input=lambda command: {"command": command, "description": "a check"},
            programs="@kilocode/cli-linux-x64/bin",  # made for another package to start
        ),
        Recipe(
            "cline",
            lambda prompt: ["cline", "--json", prompt],
            before=lambda url: [
                *("cline", "auth", "-p", "openai-compatible", "-k", "x"),
                *("-m", "fake", "-b", f"{url}/v1"),
            ],
            shell="run_commands",
            shell_input=lambda command: {"commands": [command]},
        ),
    )
}
