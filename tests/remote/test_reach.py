"""Remotes that are dead, slow, public, or ask for a login: nothing waits and nothing is asked."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from ltm.errors import Refused
from ltm.remote.repository import checked_address, host_of, open_address, protocols
from tests.e2e.client import wait_until
from tests.project.repos import git
from tests.remote.machines import Machine, bare, gone, machine, objects, pair

PORT = "The billing service listens on port 8443"


@contextmanager
def silent() -> Iterator[int]:
    """A server that takes connections and never says anything; its port."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(8)
        yield server.getsockname()[1]


@contextmanager
def files_over_http(folder: str) -> Iterator[int]:
    """A web server that shows a folder to anyone; its port."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def test_a_remote_that_never_answers_ends_in_time_with_all_it_started(tmp_path: Path) -> None:
    one = machine(tmp_path, "one", "")
    one.remember(PORT)
    one.changed["ltm.remote.repository.SECONDS"] = 2.0
    script = tmp_path / "ssh"
    script.write_text(f"#!/bin/sh\necho $$ >> {tmp_path}/pids\nexec sleep 600\n")
    script.chmod(0o755)
    git_config = one.home / ".gitconfig"
    git_config.write_text(f"[core]\nsshCommand = {script}\n")
    done = one.run("remote", "add", "git@memories.invalid:anna/memories.git")
    assert done.returncode == 1
    assert "did not answer within 2 seconds" in done.stderr
    for pid in (tmp_path / "pids").read_text().split():
        wait_until(partial(_has_ended, int(pid)), f"{pid} to end")
    with silent() as port:
        done = one.run("remote", "add", f"http://127.0.0.1:{port}/memories.git", "--public")
    assert "did not answer within 2 seconds" in done.stderr
    assert not (one.ltm_home / "remote").exists()


def _has_ended(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


def test_ssh_without_a_key_asks_nothing_and_says_what_to_do(tmp_path: Path) -> None:
    one = machine(tmp_path, "one", "")
    asked = tmp_path / "asked"
    script = tmp_path / "ssh"
    script.write_text(
        f'#!/bin/sh\necho "$@" >> {asked}\n'
        "echo 'git@memories.invalid: Permission denied (publickey).' >&2; exit 255\n"
    )
    script.chmod(0o755)
    git_config = one.home / ".gitconfig"
    git_config.write_text(f"[core]\nsshCommand = {script}\n")
    done = one.run("remote", "add", "git@memories.invalid:anna/memories.git")
    assert done.returncode == 1
    assert "Permission denied (publickey)" in done.stderr
    assert "ssh -T memories.invalid" in done.stderr
    assert "BatchMode=yes" in asked.read_text()
    assert not (one.ltm_home / "remote").exists()


def test_https_without_a_password_asks_nothing(tmp_path: Path) -> None:
    """Not even a program that asks in a window."""
    one = machine(tmp_path, "one", "")
    asked = tmp_path / "asked"
    script = tmp_path / "askpass"
    script.write_text(f"#!/bin/sh\necho asked >> {asked}\n")
    script.chmod(0o755)

    class Locked(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Locked)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}/memories.git"
    try:
        one.env |= {"GIT_ASKPASS": str(script), "SSH_ASKPASS": str(script)}
        done = one.run("remote", "add", address)
    finally:
        server.shutdown()
        server.server_close()
    assert done.returncode == 1
    assert f"git ls-remote {address}" in done.stderr
    assert not asked.exists()


def test_a_repository_that_anyone_can_read_is_refused(tmp_path: Path) -> None:
    remote = bare(tmp_path)
    git(remote, "update-server-info")
    one = machine(tmp_path, "one", "")
    with files_over_http(str(tmp_path)) as port:
        done = one.run("remote", "add", f"http://127.0.0.1:{port}/memories.git")
    assert done.returncode == 1
    assert "anyone can read this repository" in done.stderr
    assert not (one.ltm_home / "remote").exists()


def start(machine: Machine, session: str) -> dict[str, str]:
    """What a client says when a session begins."""
    return {
        "hook_event_name": "SessionStart",
        "session_id": session,
        "cwd": str(machine.project),
        "source": "startup",
    }


def test_sessions_are_the_same_with_a_dead_remote(tmp_path: Path) -> None:
    """The hooks answer the same bytes, load the same, and the background notes what failed."""
    one, two = pair(tmp_path)
    one.remember(PORT)
    one.now(), two.now()
    gone(one.remote)
    two.json("remote", "remove")
    two.project = one.project
    answers = []
    for each in (one, two):
        event = start(each, "s1")
        answer = each.run("hook", "SessionStart", stdin=json.dumps(event)).stdout
        answers.append(answer)
        each.ok("drain")
    assert PORT in answers[0]
    assert answers[0] == answers[1]
    assert "could not be reached" in one.run("remote").stderr
    assert not (one.ltm_home / "remote" / "due").exists()
    assert "remote: Unreachable" in (one.ltm_home / "hook.log").read_text()
    assert "1 remote not reached: ltm remote" in one.run("status").stderr


def test_sessions_sync_in_the_background(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    one.remember(PORT)
    assert two.texts() == {}
    repository = Path(one.remote)
    before = git(repository, "for-each-ref")
    end = start(one, "s1") | {"hook_event_name": "SessionEnd"}
    one.run("hook", "SessionEnd", stdin=json.dumps(end))
    wait_until(lambda: git(repository, "for-each-ref") != before, "what the first machine sends")
    two.run("hook", "SessionStart", stdin=json.dumps(start(two, "s1")))
    wait_until(lambda: PORT in two.texts().values(), "what the second machine fetches")
    told = two.run("hook", "SessionStart", stdin=json.dumps(start(two, "s2")))
    assert PORT in told.stdout


@pytest.mark.skipif(
    not (shutil.which("git-remote-gcrypt") and shutil.which("gpg")),
    reason="git-remote-gcrypt and gpg are not installed",
)
def test_with_gcrypt_nothing_can_be_read_in_the_repository(tmp_path: Path) -> None:
    remote = f"gcrypt::{bare(tmp_path)}"
    one, two = (machine(tmp_path, name, remote) for name in ("one", "two"))
    with TemporaryDirectory(prefix="gpg-") as keys:  # a socket's path must be short
        for each in (one, two):
            each.env["GNUPGHOME"] = keys
            (each.home / ".gitconfig").write_text("[gcrypt]\nparticipants = anna@example.org\n")
        words = ("--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "")
        key = ("--quick-gen-key", "Anna <anna@example.org>", "default", "default")
        environ = one.environ()
        one.remember(PORT)
        done = one.run("remote", "add", remote)
        assert "gcrypt.participants" in done.stderr
        subprocess.run(["gpg", *words, *key], env=environ, check=True, capture_output=True)
        try:
            one.add()
            assert two.add()["received"] == 1
            # What is not found is never taken for empty: git-remote-gcrypt would make it.
            folder = Path(remote.removeprefix("gcrypt::"))
            folder.rename(tmp_path / "away")
            assert "there is no such folder" in one.run("remote", "now").stderr
            bare(tmp_path)
            assert "nothing is found there" in one.run("remote", "now").stderr
            assert not objects(folder)
            shutil.rmtree(folder)
            (tmp_path / "away").rename(folder)
            one.now()
        finally:
            subprocess.run(["gpgconf", "--kill", "all"], env=environ, check=True)
    assert PORT in two.texts().values()
    data = objects(remote.removeprefix("gcrypt::"))
    assert data
    assert b"billing" not in data
    assert b"memories/" not in data


def test_machines_that_push_at_once_lose_nothing(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    three = machine(tmp_path, "three", one.remote, "three/shop")
    three.add()
    machines = (one, two, three)
    for number, each in enumerate(machines):
        each.remember(f"Machine {number} learned that node {number} has {number + 3} disks")
    running = [
        subprocess.Popen(
            [_ltm(), "remote", "now"], cwd=each.project, env=each.environ(),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )
        for each in machines
        for _ in range(2)
    ]  # fmt: skip
    said = [process.communicate()[1] for process in running]
    assert [each for each in said if "ltm:" in each and "another process" not in each] == []
    for each in (*machines, *machines):
        each.now()
    assert one.texts() == two.texts() == three.texts()
    assert len(one.texts()) == 3


def _ltm() -> str:

    return str(Path(sys.executable).parent / "ltm")


ADDRESSES = (
    # typed, understood, host, where anyone could read it, protocols
    ("git@github.com:me/m.git", "git@github.com:me/m.git", "github.com",
     "https://github.com/me/m.git", ("ssh", "https")),
    ("ssh://git@gitlab.com:22/me/m.git", "ssh://git@gitlab.com:22/me/m.git", "gitlab.com",
     "https://gitlab.com/me/m.git", ("ssh", "https")),
    ("https://git.example.org/me/m", "https://git.example.org/me/m", "git.example.org",
     "https://git.example.org/me/m", ("ssh", "https")),
    ("nas:memories.git", "nas:memories.git", "nas", "", ("ssh", "https")),
    ("memories.git", "/here/memories.git", "", "", ("file",)),
    ("../m.git", "/m.git", "", "", ("file",)),
    ("gcrypt::../m.git", "gcrypt::/m.git", "", "", ("gcrypt", "file")),
    ("gcrypt::git@github.com:me/m.git", "gcrypt::git@github.com:me/m.git", "github.com", "",
     ("gcrypt", "ssh", "https")),
)  # fmt: skip


@pytest.mark.parametrize("row", ADDRESSES, ids=lambda row: row[0])
def test_an_address_is_understood_from_anywhere(row: tuple[Any, ...]) -> None:
    typed, address, host, anyone, allowed = row
    found = checked_address(typed, "/here")
    assert (found, host_of(found), open_address(found), protocols(found)) == (
        address,
        host,
        anyone,
        allowed,
    )


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("ext::sh -c 'touch /tmp/x'", "names a program"),
        ("--upload-pack=touch /tmp/x", "is not the address"),
        ("git://github.com/me/m.git", "does not protect"),
        ("http://git.example.org/m.git", "does not protect"),
        ("https://me:hunter2@github.com/me/m.git", "holds a password"),
        ("", "is not the address"),
        ("a\nb", "is not the address"),
    ],
)
def test_an_address_that_would_do_harm_is_refused(typed: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        checked_address(typed, "/here")


def test_a_hook_loads_nothing_of_the_remote(tmp_path: Path) -> None:
    one, _ = pair(tmp_path)
    code = (
        "import sys; sys.argv = ['ltm-hook', 'SessionStart']\n"
        "import atexit\n"
        "atexit.register(lambda: print([m for m in sys.modules if 'ltm.remote' in m]))\n"
        "import ltm.hook.receive, ltm.hook.answer, ltm.hook.main\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=one.environ(), check=True
    )
    assert done.stdout.strip() == "[]"
