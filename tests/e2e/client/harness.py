"""The harness: a fresh HOME and project, the plugin under test, and sessions of the real client.

Imports: every other module of the package.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from .api import ScriptedApi
from .binary import Client
from .gitserver import GitServer, commit_all
from .home import FAKE_KEY, seed_home
from .interactive import TuiSession
from .printing import FORMAT, PrintSession
from .reply import Scripted
from .script import Script
from .session import API_LOG, DEBUG_LOG, TAP_LOG, Launch, Session
from .staging import plugin_name, stage
from .tap import LOG_VARIABLE

MARKET = "e2e-market"
ALLOWED = ("Bash", "Read", "Write", "Edit", "Agent", "Skill")
CLI_PATIENCE = 180.0


class Harness:
    """Everything below `base`: home/, project/, stage/ (plugins as installed) and logs/.

    `files` are the project's, committed when `git` is true. `settings` is the user's
    settings.json, `env` is added to the client's environment (which is otherwise clean). `spy`
    records every hook event. `tool_search` holds MCP tools back as the real API's users have it.
    """

    def __init__(
        self,
        client: Client,
        base: Path,
        *,
        files: Mapping[str, str] | None = None,
        git: bool = False,
        settings: Mapping[str, Any] | None = None,
        env: Mapping[str, str] | None = None,
        spy: bool = True,
        tool_search: bool = True,
        model: str = "",
    ) -> None:
        self.client = client
        self.base = base
        self.home, self.project = base / "home", base / "project"
        self.stage, self.logs = base / "stage", base / "logs"
        for folder in (self.home, self.project, self.stage, self.logs):
            folder.mkdir(parents=True, exist_ok=True)
        for name, text in (files or {}).items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        if git:
            commit_all(self.project, "start")
        seed_home(self.home, self.project, settings or {}, spy=spy)
        self.sessions: list[Session] = []
        self.allowed = list(ALLOWED)
        self._spied, self._model = spy, model
        self._extra_env = {"ENABLE_TOOL_SEARCH": "true"} if tool_search else {}
        self._extra_env.update(env or {})
        self._plugin_dirs: list[Path] = []
        self._api = ScriptedApi()
        self._git: GitServer | None = None

    def __enter__(self) -> Harness:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End what the sessions left running, and stop the servers. The files stay."""
        for pid in self.running():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self._api.close()
        if self._git:
            self._git.close()

    def env(self, **more: str) -> dict[str, str]:
        """The client's whole environment: nothing of the caller's but PATH."""
        return {
            "HOME": str(self.home),
            "PATH": os.environ.get("PATH", os.defpath),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "ANTHROPIC_API_KEY": FAKE_KEY,
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",  # discard: a command asks no model
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
            **self._extra_env,
            **more,
        }

    def running(self) -> list[int]:
        """Processes whose HOME is the harness's: the client and all it started (Linux only)."""
        mark = f"HOME={self.home}\0".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in path.read_bytes():
                    found.append(int(path.parent.name))
            except OSError:
                continue
        return found

    # The plugin

    def cli(
        self, *args: str, check: bool = True, timeout: float = CLI_PATIENCE
    ) -> subprocess.CompletedProcess[str]:
        """Run `claude ARGS` (plugin, mcp, ...) in the project; `check` fails when it fails."""
        done = subprocess.run(
            [str(self.client.binary), *args],
            cwd=self.project,
            env=self.env(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if check:
            said = f"{done.stdout}{done.stderr}"
            assert done.returncode == 0, f"claude {' '.join(args)}: {done.returncode}\n{said}"
        return done

    def load(self, plugin: Path, *, tapped: bool = True) -> str:
        """Use a plugin in every session through --plugin-dir; returns its name."""
        staged = stage(plugin, self.stage / "plugins", tapped=tapped)
        self._allow(staged.rules)
        self._plugin_dirs.append(staged.folder)
        return staged.name

    def install(self, plugin: Path, *, git: bool = False, tapped: bool = True) -> str:
        """Install a plugin from a marketplace made for it, or update it; returns its name.

        The marketplace is a directory (the client runs the plugin in place) or, with `git`, a
        repository on loopback (the client runs a copy in its cache, as for users).
        """
        plugins = self.stage / "plugins"
        again = (plugins / plugin_name(plugin)).exists()
        staged = stage(plugin, plugins, tapped=tapped)
        self._allow(staged.rules)
        known = self._write_market(staged.name)
        source = self.publish(self.stage, MARKET) if git else str(self.stage)
        place = ("update", MARKET) if known else ("add", source)
        self.cli("plugin", "marketplace", *place)
        self.cli("plugin", "update" if again else "install", f"{staged.name}@{MARKET}")
        return staged.name

    def take_over(self, other: Harness) -> None:
        """Have what another harness installed, as if it had been installed here."""
        there, here = os.fsencode(other.base), os.fsencode(self.base)
        for folder in ("home", "stage"):
            shutil.copytree(other.base / folder, self.base / folder, dirs_exist_ok=True)
            for path in (self.base / folder).rglob("*"):
                # What is compiled names its source by the moment it was written, never by its path.
                if path.is_file() and path.suffix != ".pyc" and there in (old := path.read_bytes()):
                    path.write_bytes(old.replace(there, here))
        self._allow(other.allowed)

    def publish(self, folder: Path, name: str) -> str:
        """Commit a folder and serve it by git on loopback; returns the address."""
        self._git = self._git or GitServer(self.base / "git")
        return self._git.publish(folder, name)

    def _allow(self, rules: Sequence[str]) -> None:
        self.allowed += [rule for rule in rules if rule not in self.allowed]

    def _write_market(self, plugin: str) -> bool:
        """Add the plugin to the marketplace file; says whether there was one already."""
        path = self.stage / ".claude-plugin" / "marketplace.json"
        known = path.exists()
        market: dict[str, Any] = {"name": MARKET, "owner": {"name": "e2e"}, "plugins": []}
        if known:
            market = json.loads(path.read_text("utf-8"))
        entry = {"name": plugin, "source": f"./plugins/{plugin}"}
        market["plugins"] = [p for p in market["plugins"] if p["name"] != plugin] + [entry]
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(market), "utf-8")
        return known

    # Sessions

    def print_session(
        self,
        prompt: str,
        script: Script | Sequence[Scripted] = (),
        *,
        resume: str = "",
        allowed: Sequence[str] | None = None,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> PrintSession:
        """Run `claude -p PROMPT` to its end."""
        session = self.start_print(
            prompt, script, resume=resume, allowed=allowed, args=args, env=env
        )
        return session.finish()

    def start_print(
        self,
        prompt: str,
        script: Script | Sequence[Scripted] = (),
        *,
        resume: str = "",
        allowed: Sequence[str] | None = None,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> PrintSession:
        """Start `claude -p PROMPT` and return at once: to kill it, or to run a second beside it."""
        own = ["-p", prompt, *FORMAT, *(["--resume", resume] if resume else []), *args]
        session = PrintSession(self._launch(script, own, allowed, env))
        self.sessions.append(session)
        return session

    def tui_session(
        self,
        script: Script | Sequence[Scripted] = (),
        *,
        allowed: Sequence[str] | None = None,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> TuiSession:
        """The interactive client; use it in a `with` statement."""
        session = TuiSession(self._launch(script, args, allowed, env))
        self.sessions.append(session)
        return session

    def transcripts(self) -> list[Path]:
        """The client's transcripts, oldest first."""
        found = (self.home / ".claude" / "projects").glob("*/*.jsonl")
        return sorted(found, key=lambda path: path.stat().st_mtime_ns)

    def _launch(
        self,
        script: Script | Sequence[Scripted],
        args: Sequence[str],
        allowed: Sequence[str] | None,
        env: Mapping[str, str] | None,
    ) -> Launch:
        logs = f"{self.logs}/{len(self.sessions) + 1}"
        said = script if isinstance(script, Script) else Script(script)
        channel = self._api.open(said, Path(f"{logs}-{API_LOG}"))
        own = {LOG_VARIABLE: f"{logs}-{TAP_LOG}", "ANTHROPIC_BASE_URL": channel.base_url}
        argv = [str(self.client.binary), *args, "--debug-file", f"{logs}-{DEBUG_LOG}"]
        if "--permission-mode" not in args:
            # Newer clients start in auto mode, which asks a server that is not there.
            argv += ["--permission-mode", "default"]
        for folder in self._plugin_dirs:
            argv += ["--plugin-dir", str(folder)]
        if self._model:
            argv += ["--model", self._model]
        rules = self.allowed if allowed is None else allowed
        if rules:
            argv += ["--allowedTools", ",".join(rules)]
        environment = self.env(**own, **(env or {}))
        return Launch(argv, environment, self.project, channel, logs, self._spied)
