"""A real `ltm team serve` on a real database, and the machines of its members."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from tests import forking
from tests.postgres.cluster import Cluster


class Machine:
    """A machine with a home and a project of its own."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.home = folder / "home"
        self.project = folder / "project"
        self.project.mkdir(parents=True, exist_ok=True)
        self.env = {
            "HOME": str(folder),
            "LTM_HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            **env,
        }

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run `ltm`, whatever comes of it."""
        done: subprocess.CompletedProcess[str] = forking.run(
            words, cwd=self.project, env=self.env, text=True, input=stdin
        )
        return done

    def ltm(self, *words: str, stdin: str = "") -> str:
        """Run `ltm`; it must work."""
        done = self.run(*words, stdin=stdin)
        assert done.returncode == 0, f"ltm {' '.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start `ltm`, and let it run."""
        return forking.start(
            words,
            cwd=self.project,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def json(self, *words: str, stdin: str = "") -> Any:
        """The JSON that a command prints."""
        return json.loads(self.ltm(*words, "--json", stdin=stdin))

    def join(self, address: str, token: str) -> None:
        """Join a team, and trust it."""
        self.ltm("team", "join", address, stdin=f"{token}\n")
        self.ltm("trust", "team:acme")

    def remember(self, text: str, *words: str) -> str:
        """Keep a text in the team; its id."""
        found = self.json("remember", "--team", "acme", "--new", text, *words)
        return str(found["id"])

    def sync(self) -> dict[str, Any]:
        """One round."""
        found: dict[str, Any] = self.json("team", "sync")["teams"][0]
        return found

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = self.json("team", "status")["teams"][0]
        return found

    @property
    def replica(self) -> Path:
        """The folder of the team."""
        return self.home / "teams" / "acme"

    def files(self) -> dict[str, str]:
        """The memories of the replica, by the names of their files."""
        return {path.name: path.read_text() for path in (self.replica / "memories").glob("*.md")}


class TeamServer:
    """A server process, which can be killed and started again at the same address."""

    def __init__(
        self,
        home: Path,
        database: str,
        words: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._env = {
            "HOME": str(home),
            "LTM_HOME": str(home / "server"),
            "LTM_DATABASE_URL": database,
            "PATH": os.environ["PATH"],
            **(env or {}),
        }
        self._words = tuple(words)
        self.port = 0
        self.start()

    def start(self) -> None:
        """Start it, and wait until it says that it answers."""
        words = ("team", "serve", "--json", "--port", str(self.port), *self._words)
        self.process = forking.start(
            words,
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout
        assert self.process.stderr
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        self.url = str(json.loads(line)["address"])
        self.port = urlsplit(self.url).port or 0

    def kill(self) -> None:
        """Kill it without a word."""
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=120)

    def admin(self, *words: str) -> Any:
        """What a command of who runs the server prints."""
        done = self._run(*words)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def refused(self, *words: str) -> str:
        """What such a command says that does not work."""
        done = self._run(*words)
        assert done.returncode, done.stdout
        return str(done.stderr)

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        done: subprocess.CompletedProcess[str] = forking.run(
            ("team", *words, "--json"),
            cwd=self._env["HOME"],
            env={**self._env, "LTM_TEAM_URL": self.url},
            text=True,
        )
        return done

    def ask(
        self,
        method: str,
        path: str,
        token: str = "",
        body: object | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, dict[str, str], Any]:
        """The status, headers and JSON of an answer."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=120)
        sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        sent |= {"Authorization": f"Bearer {token}"} if token else {}
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, {**sent, **(headers or {})})
            answer = connection.getresponse()
            text = answer.read()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, found, json.loads(text) if text else None
        finally:
            connection.close()

    def call(self, token: str, tool: str, project: str = "main", **arguments: Any) -> Any:
        """The result of a tool over MCP."""
        params = {"name": tool, "arguments": arguments}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        status, _, said = self.ask("POST", f"/t/acme/p/{project}/mcp", token, request)
        assert status == 200, said
        return said["result"]


class TeamWorld:
    """A server, a team `acme`, and a machine for each person of it."""

    def __init__(self, folder: Path, cluster: Cluster, words: Sequence[str] = ()) -> None:
        self.folder = folder
        self.cluster = cluster
        self.name = cluster.create()
        self.server = TeamServer(folder, cluster.url(self.name), words)
        owner = self.server.admin("create", "acme", "--owner", "anna")
        self.address = str(owner["address"])
        self.tokens = {"anna": str(owner["token"])}
        self.secret = ""
        """A memory of a project that few may see."""

    def invite(self, name: str, role: str = "writer", *words: str) -> str:
        """Add a person; the token."""
        team = ("--team", "acme")
        said = self.server.admin("invite", name, "--role", role, *team, *words)
        self.tokens[name] = str(said["token"])
        return self.tokens[name]

    def machine(self, name: str, role: str = "writer") -> Machine:
        """A machine of a person, who is invited first if need be, and joins."""
        if name not in self.tokens:
            self.invite(name, role)
        count = len(list(self.folder.glob(f"{name}-*")))
        machine = Machine(self.folder / f"{name}-{count}")
        machine.join(self.address, self.tokens[name])
        return machine

    def memories(self) -> int:
        """How many memories the database has."""
        with psycopg.connect(self.cluster.url(self.name)) as db:
            row = db.execute("select count(*) from ltm.memory").fetchone()
        return int(row[0]) if row else 0

    def close(self) -> None:
        self.server.stop()
        self.cluster.drop(self.name)


@contextmanager
def team_world(folder: Path, cluster: Cluster, *words: str) -> Iterator[TeamWorld]:
    """A world that is gone afterwards."""
    world = TeamWorld(folder, cluster, words)
    try:
        yield world
    finally:
        world.close()
