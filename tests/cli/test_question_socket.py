"""`ltm recall WORDS` beside a running server: the same answer, from a process that has it ready."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ltm import __version__
from tests.cli.runner import Ltm
from tests.http.runner import until
from tests.mcp.wire import Wire

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there are no such sockets")

PROGRAM = """
import json, sys
from ltm.cli.main import main
try:
    main()
except SystemExit as ended:
    print(json.dumps([ended.code, "ltm.store.file_store" in sys.modules]), file=sys.stderr)
"""


class Answer:
    """What a command printed, and whether it opened the memories itself."""

    def __init__(self, ltm: Ltm, *words: str, **environ: str) -> None:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, "recall", *words],
            cwd=ltm.project,
            env={"HOME": str(ltm.home), "LTM_HOME": str(ltm.home / ".ltm"), **environ},
            capture_output=True,
            text=True,
            check=True,
        )
        *messages, last = done.stderr.splitlines()
        self.text, self.messages = done.stdout, messages
        self.code, self.is_alone = json.loads(last)


@pytest.fixture
def served(ltm: Ltm) -> Iterator[Path]:
    """A server of the home, with two memories; the folder of its socket."""
    ltm.ok("remember", "The staging database is wiped every night at two")
    ltm.ok("remember", "Deploys go through the release branch, never from main")
    folder = ltm.home / ".ltm" / "run"
    with Wire(ltm.project, ltm.home) as wire:
        wire.initialize()
        until(lambda: folder.is_dir() and list(folder.iterdir()))
        yield folder
    until(lambda: not list(folder.iterdir()))


@pytest.mark.parametrize("words", [("staging", "database"), ("zebra crossing",), ("release",)])
def test_a_running_server_gives_the_answer_that_the_command_gives_alone(
    served: Path, ltm: Ltm, words: tuple[str, ...]
) -> None:
    from_server = Answer(ltm, *words)
    aside = served.rename(served.with_name("aside"))
    alone = Answer(ltm, *words)
    aside.rename(served)
    assert (from_server.is_alone, alone.is_alone) == (False, True)
    assert (from_server.text, from_server.messages) == (alone.text, alone.messages)
    assert from_server.code == alone.code == 0


def test_only_the_user_can_reach_the_socket(served: Path) -> None:
    [path] = served.iterdir()
    assert stat.S_IMODE(served.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_ISSOCK(path.stat().st_mode)


@pytest.mark.parametrize("name", ["LTM_AGENT", "CLAUDE_CONFIG_DIR", "TZ"])
def test_a_server_of_another_environment_is_passed_over(
    served: Path, ltm: Ltm, name: str, tmp_path: Path
) -> None:
    assert served.is_dir()
    assert Answer(ltm, "staging", **{name: "reviewer"}).is_alone


def test_a_server_of_another_version_is_not_asked(served: Path, ltm: Ltm) -> None:
    [path] = served.iterdir()
    other = path.rename(path.with_name(path.name.replace(__version__, "0.0.9")))
    assert Answer(ltm, "staging").is_alone
    other.rename(path)


def test_a_process_that_hangs_or_died_is_passed_over(ltm: Ltm) -> None:
    ltm.ok("remember", "The staging database is wiped every night at two")
    folder = ltm.home / ".ltm" / "run"
    folder.mkdir(mode=0o700)
    dead, silent = (folder / f"{__version__}-{name}" for name in ("1", "2"))
    with socket.socket(socket.AF_UNIX) as closing:
        closing.bind(str(dead))
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(silent))
        listening.listen()
        assert "staging database" in Answer(ltm, "staging").text
    assert not dead.exists(), "what no process listens at is removed"


def test_an_answer_that_breaks_off_is_not_printed(ltm: Ltm) -> None:
    ltm.ok("remember", "The staging database is wiped every night at two")
    folder = ltm.home / ".ltm" / "run"
    folder.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / f"{__version__}-1"))
        listening.listen()

        def break_off() -> None:
            asking, _ = listening.accept()
            with asking:
                asking.sendall(b"+0 100 100\nhalf an answer")

        broken = threading.Thread(target=break_off)
        broken.start()
        found = Answer(ltm, "staging")
        broken.join()
    assert found.is_alone
    assert "staging database" in found.text
    assert "half an answer" not in found.text
