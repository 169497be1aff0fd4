"""The plugin finds a Python on any machine, and everything in it works before it has packages."""

from __future__ import annotations

import fcntl
import io
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from ltm import __version__
from ltm.clients import environment
from ltm.clients.clients import new_launcher
from ltm.mcp.tools import TOOLS
from tests.e2e.client import wait_until
from tests.figures import count
from tests.hook.test_hook import old_pythons
from tests.mcp.wire import PATIENCE, Wire

PLUGIN = Path(__file__).parents[2] / "src"
RUN = PLUGIN / "run.sh"
PYTHONS = PLUGIN / "ltm" / "hook" / "pythons.sh"
HOOK = str(PLUGIN / "ltm" / "hook" / "main.py")
PACKAGES = sysconfig.get_paths()["purelib"]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the plugin's launcher is for POSIX")


class Machine:
    """A machine with an empty home, nothing but a shell on its PATH, and Pythons put in by hand."""

    def __init__(self, top: Path) -> None:
        self.home, self.bin, self.data = top / "home", top / "bin", top / "data"
        for folder in (self.home, self.bin, self.data):
            folder.mkdir()
        (self.bin / "sh").symlink_to(shutil.which("sh") or "/bin/sh")
        self.path = [self.bin]

    def python(self, *parts: str, does: str = 'echo "$0 $*"') -> str:
        """A program that says who it is and how it was called; `does` can be something else."""
        path = self.home.parent.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{does}\n")
        path.chmod(0o755)
        return str(path)

    def note(self, python: str, version: str = __version__) -> None:
        """As an installed `ltm` notes itself for hooks."""
        (self.home / ".ltm").mkdir(exist_ok=True)
        noted = json.dumps({"python": python, "version": version}, separators=(",", ":"))
        (self.home / ".ltm" / "runtime.json").write_text(noted + "\n")

    def env(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": ":".join(map(str, self.path)),
            "CLAUDE_PLUGIN_DATA": str(self.data),
        }

    def run(
        self, *words: str, shell: str = "sh", stdin: str = "{}", **env: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [shell, str(RUN), *words],
            env={**self.env(), **env},
            cwd=self.home,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def bare_python(self) -> None:
        """Put a Python of today on the PATH that has no package."""
        (self.bin / "python3.11").symlink_to(os.path.realpath(sys.executable))

    def running(self) -> list[str]:
        """Processes that work for this home (Linux)."""
        mark = f"HOME={self.home}\0".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in path.read_bytes():
                    found.append(path.parent.name)
            except OSError:
                continue
        return found

    def finish_environment(self, name: str = "") -> Path:
        """An environment with the packages of these tests, as if it had been built."""
        path = self.data / f"env-{name or pins()}"
        python = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        (path / "bin").mkdir(parents=True)
        (path / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
        packages = path / "lib" / python / "site-packages"
        packages.mkdir(parents=True)
        for each in Path(PACKAGES).iterdir():  # all but LTM itself
            if not each.name.startswith(("ltm", "__editable__")):
                (packages / each.name).symlink_to(each)
        (path / "ltm-finished").touch()
        self.state("ready", "LTM now also searches by meaning")
        return path

    def state(self, state: str, message: str) -> None:
        """How the building of the environment stands."""
        noted = {"state": state, "message": message}
        (self.data / "environment.json").write_text(json.dumps(noted))


def pins() -> str:
    """The name of an environment for the plugin's pins."""
    number = 0
    for name in ("requirements.txt", "vectors.txt"):
        number = crc32((PLUGIN / name).read_bytes(), number)
    return f"{number:08x}"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def used(done: subprocess.CompletedProcess[str]) -> str:
    """The Python that ran the hook, after checking how it was called."""
    assert (done.returncode, done.stderr) == (0, "")
    python, _, words = done.stdout.strip().partition(" ")
    assert words == f"-I -S {HOOK} --or-next"
    return python


def test_the_noted_python_is_the_first_choice(machine: Machine) -> None:
    machine.python("bin", "python3.12")
    noted = machine.python("installed", "bin", "python")
    machine.note(noted)

    assert used(machine.run("hook")) == noted


def test_without_an_argument_it_is_a_hook_and_at_a_terminal_it_says_how_to_use_it(
    machine: Machine,
) -> None:
    """A client that ignores arguments has it run with the event as input and nothing else."""
    python = machine.python("bin", "python3.12")
    assert used(machine.run()) == python

    here, there = os.openpty()
    done = subprocess.run(
        ["sh", str(RUN)], env=machine.env(), stdin=there, capture_output=True, text=True, check=True
    )
    os.close(here)
    os.close(there)

    assert done.stdout == ""  # a session would be told it
    assert done.stderr.startswith("usage: run.sh ")


def test_the_client_can_run_the_launcher_itself() -> None:
    assert os.access(RUN, os.X_OK)


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox"])
def test_any_shell_of_a_system_will_do(machine: Machine, shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell} here")
    (tmp_path / "sh").symlink_to(program)  # by that name they all are the system's shell
    machine.note(machine.python("installed", "python"))
    machine.python("bin", "python3.12")

    noted = used(machine.run("hook", shell=str(tmp_path / "sh")))
    (machine.home / ".ltm" / "runtime.json").unlink()
    named = used(machine.run("hook", shell=str(tmp_path / "sh")))

    assert (Path(noted).name, Path(named).name) == ("python", "python3.12")


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="needs shellcheck")
def test_shellcheck_finds_nothing() -> None:
    done = subprocess.run(
        ["shellcheck", "-s", "sh", RUN, PYTHONS], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_a_noted_python_that_is_gone_is_not_a_choice(machine: Machine) -> None:
    machine.note(str(machine.home / "gone"))
    python = machine.python("bin", "python3")

    assert used(machine.run("hook")) == python


def test_a_name_with_a_version_is_better_than_one_without(machine: Machine) -> None:
    machine.python("bin", "python3")
    python = machine.python("bin", "python3.13")

    assert used(machine.run("hook")) == python


@pytest.mark.parametrize(
    "place",
    [
        ("home", ".pyenv", "versions", "3.12.1", "bin", "python3"),
        ("home", ".local", "share", "uv", "python", "cpython-3.13.1-linux", "bin", "python3"),
    ],
    ids=["pyenv", "uv"],
)
def test_what_a_version_manager_keeps_is_found_without_its_shim(
    machine: Machine, place: tuple[str, ...]
) -> None:
    """A shim takes ten times as long, and may only say that no version is chosen."""
    shims = machine.home / ".pyenv" / "shims"
    machine.path.insert(0, shims)
    for name in ("python3.12", "python3.13", "python3"):
        machine.python("home", ".pyenv", "shims", name, does="echo no version >&2; exit 127")
    python = machine.python(*place)

    assert used(machine.run("hook")) == python


def test_a_shim_is_better_than_nothing(machine: Machine) -> None:
    machine.path.insert(0, machine.home / "shims")
    python = machine.python("home", "shims", "python3")

    assert used(machine.run("hook")) == python


def start_event(source: str = "startup", **more: str) -> str:
    """The message with which a client begins a session, as it writes it."""
    event = {"session_id": "s", "hook_event_name": "SessionStart", "source": source, **more}
    return json.dumps(event, separators=(",", ":"))


@pytest.mark.parametrize("shell", ["dash", "bash"])
@pytest.mark.parametrize("uv", [False, True], ids=["", "uv"])
def test_where_python_is_missing_or_too_old_a_session_says_so_once_in_one_line(
    machine: Machine, shell: str, uv: bool
) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell} here")
    if uv:
        machine.python("bin", "uv", does="exit 2")
    remedy = "run: uv python install" if uv else "from python.org or with your package manager"
    for old in ("", *old_pythons()):
        if old:
            (machine.bin / "python3").unlink(missing_ok=True)
            (machine.bin / "python3").symlink_to(old)
        done = machine.run("hook", shell=program, stdin=start_event())

        assert (done.returncode, done.stderr) == (0, "")
        told = json.loads(done.stdout)
        said = told["systemMessage"]
        assert said.startswith("LTM needs Python 3.11 or newer and found ")
        found = re.search("[.]?(3[.][0-9]+)", Path(old).name)
        assert (f"Python {found[1]}." if found else "found none:") in said
        assert remedy in said
        assert "\n" not in said
        assert said in told["hookSpecificOutput"]["additionalContext"]
        for event in (
            start_event("resume"),
            start_event("compact"),
            '{"session_id":"s","hook_event_name":"Stop"}',
            "",
        ):
            done = machine.run("hook", shell=program, stdin=event)
            assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert machine.run("hook", stdin=start_event(), LTM_INSIDE="1").stdout == ""
        if not uv:
            done = machine.run("mcp")
            assert (done.returncode, done.stdout) == (1, "")
            assert done.stderr == f"{said}\n"


def test_a_newer_python_that_fails_is_not_called_too_old(machine: Machine) -> None:
    machine.python("bin", "python3", does="kill -SEGV $$")

    assert machine.run("hook", stdin=start_event()).stdout == ""


def test_a_python_that_fails_loudly_is_not_heard(machine: Machine) -> None:
    machine.python("bin", "python3", does="echo broken >&2; exit 2")

    done = machine.run("hook")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_with_uv_alone_the_server_runs_on_the_python_that_uv_has(machine: Machine) -> None:
    machine.python("bin", "uv")

    done = machine.run("mcp")

    assert "run --quiet --no-project --python >=3.11 python -I -S" in done.stdout
    assert done.stdout.strip().endswith("launch.py mcp")


def test_the_real_hook_runs_through_the_launcher(machine: Machine) -> None:
    machine.note(sys.executable)
    event = {"hook_event_name": "Stop", "session_id": "s", "cwd": str(machine.home)}
    with _drain_lock(machine):
        done = subprocess.run(
            ["sh", str(RUN), "hook"],
            env=machine.env(),
            input=json.dumps(event),
            capture_output=True,
            text=True,
            check=True,
        )

    assert (done.stdout, done.stderr) == ("", "")
    assert len(list((machine.home / ".ltm" / "spool").glob("*.Stop.json"))) == 1


BROKEN = {
    "crashes": "kill -SEGV $$",
    "lacks a library": "echo 'error while loading shared libraries' >&2; exit 127",
    "is too old": "exit 1",
    "lacks a module": f"exec {sys.executable} -I -S -c 'import gone'",
    "hangs": "exec sleep 60",
    "hangs and hears nothing": "trap '' TERM INT; exec sleep 60",
}


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("shell", ["dash", "bash"])
@pytest.mark.parametrize("program", ["the plugin's", "the one of setup"])
@pytest.mark.parametrize("how", BROKEN)
def test_with_a_broken_python_the_next_one_keeps_the_event_once(
    machine: Machine, how: str, program: str, shell: str
) -> None:
    if not shutil.which(shell):
        pytest.skip(f"there is no {shell} here")
    (machine.bin / "sleep").symlink_to(shutil.which("sleep") or "/bin/sleep")
    (machine.bin / "python3.11").symlink_to(os.path.realpath(sys.executable))
    broken = machine.python("installed", "python", does=BROKEN[how])
    machine.note(broken)
    path = RUN
    if program != "the plugin's":
        change = new_launcher(str(machine.home / ".ltm"))
        assert change is not None
        assert change.after is not None
        path = machine.home / "ltm-hook"
        path.write_text(change.after.replace(f"python={sys.executable}\n", f"python={broken}\n"))
        assert broken in path.read_text()
    event = {"hook_event_name": "SessionEnd", "session_id": "s", "cwd": str(machine.home)}
    with _drain_lock(machine):
        done = subprocess.run(
            [shutil.which(shell) or shell, str(path)],
            env=machine.env(),
            input=json.dumps(event),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    kept = list((machine.home / ".ltm" / "spool").iterdir())
    count("R27", broken_pythons=1, events_lost_by_them=int(not kept))
    assert [path.suffixes for path in kept] == [[".SessionEnd", ".json"]]
    wait_until(lambda: not machine.running(), "no process is left")


def test_a_python_that_cannot_start_does_not_keep_the_server_from_starting(
    machine: Machine,
) -> None:
    machine.note(machine.python("installed", "python", does="kill -SEGV $$"))
    python = machine.python("bin", "python3.12")

    done = machine.run("mcp")

    assert done.stdout.split()[0] == python


def told_at_start(machine: Machine, source: str = "startup") -> str:
    """What the hook has the client show to the person when a session begins."""
    event = {"hook_event_name": "SessionStart", "session_id": "s", "source": source}
    done = subprocess.run(
        [sys.executable, "-I", "-S", HOOK],
        env=machine.env(),
        input=json.dumps({**event, "cwd": str(machine.home)}),
        capture_output=True,
        text=True,
        check=True,
    )
    said: str = json.loads(done.stdout or "{}").get("systemMessage", "")
    return said


def test_a_person_is_told_once_that_the_packages_are_there_or_why_they_are_not(
    machine: Machine,
) -> None:
    (machine.home / ".ltm").mkdir(exist_ok=True)
    (machine.home / ".ltm" / "config.toml").write_text("[inject]\nmessage = false\n")
    with _drain_lock(machine):
        assert told_at_start(machine) == ""
        machine.state("building", "on their way")
        assert told_at_start(machine) == ""
        machine.state("failed", "LTM works, but without search by meaning: no network")
        assert told_at_start(machine, "compact") == ""
        assert told_at_start(machine).endswith("no network")
        assert told_at_start(machine) == ""
        machine.state("ready", "LTM now also searches by meaning")
        assert told_at_start(machine) == "LTM now also searches by meaning"
        assert told_at_start(machine) == ""


class _drain_lock:
    """Keeps a drain from being started, so that what a hook left can be seen."""

    def __init__(self, machine: Machine) -> None:
        path = machine.home / ".ltm" / "drain.lock"
        path.parent.mkdir(exist_ok=True)
        self._file = path.open("w")

    def __enter__(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        self._file.close()


@pytest.fixture
def building(machine: Machine) -> Iterator[Machine]:
    """A bare Python, and another process that builds packages for as long as the test likes."""
    machine.bare_python()
    with (machine.data / "environment.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        machine.state("building", "packages are on their way")
        yield machine
        # The process that was started to build must have seen that another is at it.
        wait_until(lambda: not machine.running(), "every process of the test to end")


def serve(machine: Machine) -> Wire:
    return Wire(machine.home, machine.home, command=("sh", str(RUN), "mcp"), env=machine.env())


def test_with_nothing_installed_every_tool_works_from_the_first_message_on(
    building: Machine,
) -> None:
    with serve(building) as wire:
        assert "long-term memory" in wire.initialize()["instructions"]
        names = [tool["name"] for tool in wire.ask("tools/list")["result"]["tools"]]
        assert names == [tool.name for tool in TOOLS]
        stored = wire.call("store_memory", content="We chose port 8081, since 8080 is taken.")
        found = re.search(r"mem_\w+", stored)
        assert found
        called: dict[str, dict[str, Any]] = {
            "update_memory": {"id": found[0], "tags": ["port"]},
            "recall": {"query": "port"},
            "get_memory": {"id": found[0]},
            "list_memories": {},
            "memory_search": {"query": "port"},
            "memory_related": {"tags": ["port"]},
            "memory_timeline": {"query": "port"},
            "memory_ask": {"question": "which port?"},
        }
        for tool, arguments in called.items():
            assert "8081" in wire.call(tool, **arguments)
        assert wire.call("review_candidates")
        assert wire.call("forget", id=found[0]).startswith("Forgot")
        assert wire.call("restore", id=found[0]).startswith("Restored")
        assert "packages are on their way" in wire.call("ltm_status")
        assert "Healthy" in wire.call("ltm_check")
        assert "Healthy" in wire.call("ltm_fix")
        assert len(called) + 7 == len(names)
        assert wire.close() == 0


UNUSUAL = "title: >-\n  Ports we\n  use\n"


def test_unusual_yaml_waits_for_its_reader_and_what_is_known_of_it_stays(
    building: Machine,
) -> None:
    with serve(building) as wire:
        wire.initialize()
        wire.call("store_memory", content="The port is 8081.", title="Ports")
        (path,) = building.home.glob(".ltm/projects/*/memories/*.md")
        text = path.read_text()
        assert "title: Ports\n" in text
        path.write_text(text.replace("title: Ports\n", UNUSUAL))

        assert "Ports" in wire.call("recall", query="8081")
        checked = wire.call("ltm_check")
        assert str(path) in checked
        assert "only PyYAML reads" in checked
        assert wire.call("ltm_fix")
    assert UNUSUAL in path.read_text()

    building.finish_environment()
    with serve(building) as wire:
        wire.initialize()
        assert "Ports we use" in wire.call("recall", query="8081")
        assert "Healthy: nothing is wrong" in wire.call("ltm_check")


def test_plain_commands_need_no_packages_and_others_say_what_they_wait_for(
    building: Machine,
) -> None:
    with serve(building) as wire:
        wire.initialize()
        wire.call("store_memory", content="The port is 8081.")
    assert building.run("--version").stdout == f"ltm {__version__}\n"
    for words in (["recall", "port"], ["inject"]):
        done = building.run(*words)
        assert "The port is 8081" in done.stdout, done.stderr
    for words, said in (
        (["ltm"], "memories: 1 active"),
        (["status"], "memories: 1 active"),
        (["stats"], "by kind: 1 fact"),
    ):
        done = building.run(*words)
        assert said in done.stdout, done.stderr
        assert "its commands are being installed" in done.stderr
    building.state("failed", "LTM works, but without its ltm commands: no network")
    done = building.run("doctor")
    assert done.stdout.startswith("Healthy"), done.stderr
    assert "no network" in done.stderr
    done = building.run("list")
    assert (done.returncode, done.stdout) == (1, "")
    assert "'list' needs packages that are not installed: LTM works, but" in done.stderr
    assert "without them: recall WORDS, inject" in done.stderr
    (building.data / "environment.json").unlink()
    done = building.run("list", CLAUDE_PLUGIN_DATA="")
    assert "start a session with its plugin" in done.stderr


def test_who_has_the_plugin_alone_gets_an_ltm_for_the_terminal(
    building: Machine, tmp_path: Path
) -> None:
    def typed(*words: str) -> subprocess.CompletedProcess[str]:
        env = {**building.env(), "CLAUDE_PLUGIN_DATA": "", "CLAUDE_CONFIG_DIR": str(tmp_path)}
        return subprocess.run(
            [command, *words], env=env, cwd=building.home, capture_output=True, text=True
        )

    (tmp_path / "plugins" / "data").mkdir(parents=True)
    (tmp_path / "plugins" / "data" / "ltm-ltm").symlink_to(building.data)
    command = building.home / ".ltm" / "bin" / "ltm"
    (building.home / ".ltm").mkdir(mode=0o700)
    building.finish_environment()
    building.run("remember", "The port is 8081.")
    assert command.stat().st_mode & 0o777 == 0o700
    assert "1 memory" in typed().stdout
    assert "8081" in typed("recall", "port").stdout
    assert f"command   {command}" in typed("status").stdout
    command.write_text(command.read_text().replace(str(PLUGIN), str(tmp_path / "gone")))
    gone = typed("status")
    assert (gone.returncode, gone.stdout) == (1, "")
    assert f"remove this file: {command}" in gone.stderr
    building.run("recall", "port")
    assert typed("status").returncode == 0, "it is written again when the plugin has moved"
    command.write_text("#!/bin/sh\necho mine\n")
    building.run("recall", "port")
    assert typed().stdout == "mine\n"


def test_a_command_waits_for_its_packages_and_then_runs(building: Machine) -> None:
    waiting = subprocess.Popen(
        ["sh", str(RUN), "list", "--json"],
        env=building.env(),
        cwd=building.home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert waiting.stderr
    assert "installing the packages that 'list' needs" in waiting.stderr.readline()
    building.finish_environment()
    out, err = waiting.communicate(timeout=PATIENCE)

    assert (waiting.returncode, err) == (0, "")
    assert json.loads(out)["memories"] == []


@pytest.mark.parametrize(
    "place",
    [".claude/plugins/data/ltm-ltm", ".codex/plugins/data/ltm-ltm", ".copilot/plugin-data/ltm/ltm"],
)
def test_what_an_agent_runs_finds_the_environment_without_being_told_where(
    building: Machine, place: str
) -> None:
    building.finish_environment()
    path = building.home / place
    path.parent.mkdir(parents=True)
    (path.parent / "ltm-older").mkdir()
    path.symlink_to(building.data)

    done = building.run("list", "--json", CLAUDE_PLUGIN_DATA="")

    assert json.loads(done.stdout)["memories"] == []


def test_a_folder_that_a_client_names_and_did_not_make_is_made(tmp_path: Path) -> None:
    """As Codex does with the data of a plugin."""
    named = tmp_path / "plugins" / "data" / "ltm-ltm"
    assert environment.data_folder({"CLAUDE_PLUGIN_DATA": str(named)}) == str(named)
    assert named.is_dir()


def test_the_environment_of_another_python_is_used_as_well(building: Machine) -> None:
    for other in ("3.12", "3.13"):
        found = next(iter(Path.home().glob(f".pyenv/versions/{other}*/bin/python{other}")), None)
        if found:
            break
    else:
        pytest.skip("needs a second Python")
    (building.bin / "python3.11").unlink()
    (building.bin / f"python{other}").symlink_to(found)
    building.finish_environment()

    done = building.run("list", "--json")

    assert json.loads(done.stdout)["memories"] == []


def test_until_a_new_environment_is_built_the_former_one_serves(building: Machine) -> None:
    former = building.finish_environment("01234567")
    assert json.loads(building.run("list", "--json").stdout)["memories"] == []

    (former / "ltm-finished").unlink()  # the build may have been killed
    building.state("failed", "no room")
    assert "no room" in building.run("list").stderr


def test_the_packages_of_an_installed_ltm_serve(building: Machine) -> None:
    building.note(sys.executable)
    assert json.loads(building.run("list", "--json").stdout)["memories"] == []
    assert not (building.data / f"env-{pins()}").exists()


def test_the_plugin_comes_without_a_teams_server_and_says_what_has_it(building: Machine) -> None:
    building.finish_environment()
    assert "belongs to no team" in building.run("team").stderr
    assert "For those who run a server" in building.run("team", "--help").stdout
    refused = building.run("team", "create", "acme", "--owner", "anna")
    assert refused.returncode == 1
    assert "needs a package that is missing: ltm_server" in refused.stderr
    assert "install ltm with the extra 'team', docs/guides/teams.md" in refused.stderr


def test_an_installed_ltm_that_is_newer_takes_the_place_of_the_plugins_code(
    building: Machine,
) -> None:
    real = os.path.realpath(sys.executable)
    does = f'case $* in *launch.py*) exec {real} "$@" ;; *find_spec*) exit 0 ;; esac; echo "$*"'
    building.note(building.python("installed", "python", does=does), version="99.0.0")
    assert building.run("list").stdout.strip() == "-I -m ltm list"

    building.python("installed", "python", does=does.replace("exit 0", "exit 1"))  # ltm is gone
    building.state("failed", "no network")
    assert "no network" in building.run("list").stderr


def build(machine: Machine, root: Path = PLUGIN, **env: str) -> int:
    """Build as the plugin's launcher does, to the end; the exit code."""
    code = "import os, sys; from ltm.clients.environment import build; "
    code += "sys.exit(not build(sys.argv[1], sys.argv[2], os.environ))"
    return subprocess.run(
        [sys.executable, "-I", "-c", code, str(machine.data), str(root)],
        env={**machine.env(), **env},
        check=False,
    ).returncode


def test_nothing_is_built_where_an_ltm_that_is_not_older_is_on_the_path(machine: Machine) -> None:
    machine.path += [Path("/usr/bin"), Path("/bin")]
    machine.python("bin", "uv", does="exit 1")
    asked = machine.home / "asked"
    does = f'echo "$*" >> {asked}; [ "$1" = drain ] || echo "ltm VERSION"'
    machine.python("bin", "ltm", does=does.replace("VERSION", __version__))

    assert build(machine) == 0
    assert asked.read_text().split() == ["--version", "drain"]
    assert environment.state(str(machine.data)) == {"state": "ready", "message": ""}
    assert not list(machine.data.glob("env-*"))

    machine.python("bin", "ltm", does=does.replace("VERSION", "0.0.9"))
    assert build(machine, PIP_NO_INDEX="1") == 1
    assert environment.state(str(machine.data))["state"] == "failed"


def test_the_pins_and_nothing_else_name_their_environment(machine: Machine, tmp_path: Path) -> None:
    root = tmp_path / "root"
    shutil.copytree(PLUGIN, root, symlinks=True)
    machine.finish_environment()
    data = str(machine.data)
    assert not environment.is_due(data, str(root))
    (root / "README.md").write_text("changed")
    assert not environment.is_due(data, str(root))
    with (root / "vectors.txt").open("a") as file:
        file.write("\n")
    assert environment.is_due(data, str(root))

    machine.state("failed", "no network")
    assert not environment.is_due(data, str(root))  # not again at every start
    os.utime(machine.data / "environment.json", (1000, 1000))
    assert environment.is_due(data, str(root))
    assert not environment.is_due(data, str(tmp_path))  # where there are no pins
    assert not environment.is_due(str(tmp_path / "gone"), str(root))


def test_a_build_that_fails_says_why_and_leaves_no_half_environment(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    halfway = 'for each; do :; done; mkdir -p "$each/bin"; echo no room >&2; exit 1'
    machine.python("bin", "uv", does=f'PATH=/usr/bin:/bin; [ "$1" = venv ] || exit 1; {halfway}')
    failing = machine.python("bin", "python3", does=f"PATH=/usr/bin:/bin; {halfway}")
    monkeypatch.setenv("PATH", str(machine.bin))
    monkeypatch.setattr(sys, "executable", failing)

    assert environment.build(str(machine.data), str(PLUGIN), os.environ) is False

    told = environment.state(str(machine.data))
    log = machine.data / "environment.log"
    assert told["state"] == "failed"
    assert "install uv, or your system's package python3-venv" in told["message"]
    assert told["message"].endswith(f"; see {log}")
    assert log.read_text().count("no room") == 2
    assert [each.name for each in machine.data.iterdir() if each.is_dir()] == []


FAKE_UV = """
for word; do last=$word; done
case $1 in
venv) mkdir -p "$last/bin"; echo '#!/bin/sh' > "$last/bin/python"; chmod +x "$last/bin/python" ;;
*) case $last in *vectors.txt) exit VECTORS ;; esac ;;
esac
"""


@pytest.mark.parametrize("fits", [True, False])
def test_the_environment_is_built_with_vectors_or_else_without_and_the_one_before_is_kept(
    machine: Machine, fits: bool
) -> None:
    """A machine without a fitting wheel still gets everything else."""
    machine.path += [Path("/usr/bin"), Path("/bin")]
    machine.python("bin", "uv", does=FAKE_UV.replace("VECTORS", "0" if fits else "1"))
    for age, name in enumerate(("ccc", "bbb", "aaa")):
        os.utime(machine.finish_environment(name) / "ltm-finished", (1000 + age, 1000 + age))

    assert build(machine) == 0

    log = (machine.data / "environment.log").read_text()
    tried = [line.split()[3:] for line in log.splitlines() if " pip install " in line]
    assert [Path(words[-1]).name for words in tried] == (
        ["vectors.txt"] if fits else ["vectors.txt", "requirements.txt"]
    )
    assert all("--require-hashes" in words and "--no-deps" in words for words in tried)
    told = environment.state(str(machine.data))["message"]
    assert ("no package fits" in told) is not fits
    kept = {each.name for each in machine.data.iterdir() if each.is_dir()}
    assert kept == {f"env-{pins()}", "env-aaa"}


MARK = "import pathlib; pathlib.Path({!r}).touch()\n"


def wheel(folder: Path, mark: Path) -> str:
    """Put the wheel of a package that leaves a mark when it is loaded; its hash."""
    path = folder / "needed-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("needed.py", MARK.format(str(mark)))
        archive.writestr(
            "needed-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: needed\nVersion: 1\n"
        )
        archive.writestr(
            "needed-1.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr("needed-1.dist-info/RECORD", "")
    return sha256(path.read_bytes()).hexdigest()


def source(folder: Path, mark: Path) -> str:
    """The same as source, which marks when it is built."""
    path = folder / "needed-1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in {
            "setup.py": MARK.format(str(mark)),
            "PKG-INFO": "Name: needed\n",
        }.items():
            entry = tarfile.TarInfo(f"needed-1/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        (wheel, "", "what was installed does not work"),
        (wheel, "another hash", "pip could not install their packages"),
        (source, "", "pip could not install their packages"),
    ],
)
def test_what_the_plugin_installs_is_what_its_pins_name_or_nothing(
    machine: Machine, tmp_path: Path, kind: Callable[[Path, Path], str], change: str, said: str
) -> None:
    """Where all is as pinned it gets as far as the trial, which needs more than this package."""
    root, wheels = tmp_path / "root", tmp_path / "wheels"
    for folder in (root, wheels):
        folder.mkdir()
    mark = tmp_path / "ran"
    given = kind(wheels, mark)
    pinned = "0" * 64 if change else given
    (root / "requirements.txt").write_text(f"needed==1 --hash=sha256:{pinned}\n")
    (root / "vectors.txt").write_text("")
    count("S16", plugin_pins_tried=1)
    assert build(machine, root, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels)) == 1
    assert said in environment.state(str(machine.data))["message"]
    assert not mark.exists()
    assert not list(machine.data.glob("env-*"))
