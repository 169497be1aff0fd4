"""The plugin finds a Python on any machine, and its server answers before there is one to run."""

from __future__ import annotations

import fcntl
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from ltm import __version__
from ltm.clients.clients import new_launcher
from ltm.plugin import environment, launch
from tests.e2e.client import wait_until
from tests.figures import count
from tests.hook.test_hook import old_pythons
from tests.mcp.wire import PATIENCE, Wire

RUN = Path(launch.ROOT) / "plugin" / "run.sh"
PYTHONS = os.path.join(launch.ROOT, "src", "ltm", "hook", "pythons.sh")
HOOK = os.path.join(launch.ROOT, "src", "ltm", "hook", "main.py")

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

    def run(self, *words: str, shell: str = "sh") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [shell, str(RUN), *words],
            env=self.env(),
            input="{}",
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

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

    def finish_environment(self, does: str = f'exec {sys.executable} "$@"') -> str:
        """An environment for this very code, as if it had been built."""
        name = f"env-{environment.fingerprint(launch.ROOT)}"
        python = self.python("data", name, "bin", "python", does=does)
        (self.data / name / "ltm-finished").touch()
        (self.data / "environment.json").write_text('{"state": "ready", "message": "done"}')
        return python


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


def test_a_noted_python_that_is_gone_is_no_choice(machine: Machine) -> None:
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


def test_without_any_python_a_hook_says_nothing_and_succeeds(machine: Machine) -> None:
    done = machine.run("hook")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_python_that_fails_loudly_is_not_heard(machine: Machine) -> None:
    machine.python("bin", "python3", does="echo broken >&2; exit 2")

    done = machine.run("hook")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_without_any_python_the_server_says_what_is_missing(machine: Machine) -> None:
    done = machine.run("mcp")

    assert done.returncode == 1
    assert "needs Python 3.11 or newer, or uv" in done.stderr


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


def test_a_person_is_told_once_that_it_is_being_set_up_and_why_it_could_not(
    machine: Machine,
) -> None:
    assert "is being set up" in told_at_start(machine)
    assert told_at_start(machine, "compact") == ""
    failed = {"state": "failed", "message": "LTM could not be set up: no network"}
    (machine.data / "environment.json").write_text(json.dumps(failed))
    assert told_at_start(machine) == "LTM could not be set up: no network"
    machine.note(sys.executable)
    with _drain_lock(machine):
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
    """Another process is building the environment, and it takes as long as the test likes."""
    machine.path.append(Path(sys.executable).parent)
    with (machine.data / "environment.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield machine
        # The process that was started to build must have seen that another is at it.
        wait_until(lambda: not machine.running(), "every process of the test to end")


def choose(machine: Machine) -> str:
    """The Python the launcher takes; asked in a process of its own, which starts another."""
    code = "import os; from ltm.plugin.launch import choose; "
    code += "print(choose(os.environ['CLAUDE_PLUGIN_DATA'], os.environ))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code],
        env=machine.env(),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_the_environment_for_this_very_code_is_the_first_choice(building: Machine) -> None:
    building.note(sys.executable)
    python = building.finish_environment()

    assert choose(building) == python


def test_an_installed_ltm_is_taken_if_it_is_not_older(building: Machine) -> None:
    building.note(sys.executable, version=__version__)
    assert choose(building) == sys.executable

    building.note(sys.executable, version="0.0.9")
    assert choose(building) == ""


def test_a_noted_python_that_has_no_ltm_any_more_is_not_taken(
    building: Machine, tmp_path: Path
) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    building.note(str(tmp_path / "bare" / "bin" / "python"))

    assert choose(building) == ""


def test_until_a_new_environment_is_built_the_former_one_serves(building: Machine) -> None:
    python = building.python("data", "env-0123456789abcdef", "bin", "python")
    assert choose(building) == ""  # unfinished: the build may have been killed

    (building.data / "env-0123456789abcdef" / "ltm-finished").touch()

    assert choose(building) == python


def test_the_code_and_nothing_else_names_its_environment(tmp_path: Path) -> None:
    shutil.copytree(Path(launch.ROOT) / "src", tmp_path / "src")
    shutil.copytree(Path(launch.ROOT) / "plugin", tmp_path / "plugin")
    shutil.copy(Path(launch.ROOT) / "pyproject.toml", tmp_path)
    before = environment.fingerprint(str(tmp_path))
    assert before == environment.fingerprint(launch.ROOT)

    (tmp_path / "src" / "ltm" / "__pycache__").mkdir(exist_ok=True)
    (tmp_path / "src" / "ltm" / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert environment.fingerprint(str(tmp_path)) == before
    for name in ("src/ltm/__init__.py", "plugin/requirements.txt", "plugin/vectors.txt"):
        with (tmp_path / name).open("a") as file:
            file.write("\n")
        assert environment.fingerprint(str(tmp_path)) != before
        before = environment.fingerprint(str(tmp_path))


def test_a_command_before_the_environment_is_there_says_so(building: Machine) -> None:
    done = building.run("list")

    assert done.returncode == 1
    assert "not set up yet" in done.stderr


def test_a_command_runs_in_the_environment(building: Machine) -> None:
    building.finish_environment()

    done = building.run("--version")

    assert done.stdout == f"ltm {__version__}\n"


def test_a_build_that_fails_says_why_and_leaves_no_half_environment(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    halfway = 'for each; do :; done; mkdir -p "$each/bin"; echo no room >&2; exit 1'
    machine.python("bin", "uv", does=f'PATH=/usr/bin:/bin; [ "$1" = venv ] || exit 1; {halfway}')
    failing = machine.python("bin", "python3", does=f"PATH=/usr/bin:/bin; {halfway}")
    monkeypatch.setenv("PATH", str(machine.bin))
    monkeypatch.setattr(sys, "executable", failing)

    assert environment.build(str(machine.data), launch.ROOT) is False

    told = environment.state(str(machine.data))
    log = machine.data / "environment.log"
    assert told["state"] == "failed"
    assert "install uv, or your system's package python3-venv" in told["message"]
    assert told["message"].endswith(f"; see {log}")
    assert log.read_text().count("no room") == 2
    assert [each.name for each in machine.data.iterdir() if each.is_dir()] == []


def test_of_environments_only_the_newest_and_the_one_before_are_kept(machine: Machine) -> None:
    for age, name in enumerate(("env-c", "env-b", "env-a")):
        machine.python("data", name, "bin", "python")
        finished = machine.data / name / "ltm-finished"
        finished.touch()
        os.utime(finished, (1000 + age, 1000 + age))
    newest = Path(machine.finish_environment()).parent.parent

    environment._clear(str(machine.data), str(newest))

    kept = {each.name for each in machine.data.iterdir() if each.is_dir()}
    assert kept == {newest.name, "env-a"}


def stand_in(machine: Machine) -> Wire:
    return Wire(machine.home, machine.home, command=("sh", str(RUN), "mcp"), env=machine.env())


def test_the_server_answers_at_once_and_the_tools_follow(building: Machine) -> None:
    with stand_in(building) as wire:
        hello = wire.initialize({"roots": {}})
        assert "LTM is this project's long-term memory" in hello["instructions"]
        assert hello["capabilities"]["tools"]["listChanged"] is True
        listed = wire.ask("tools/list")["result"]["tools"]
        assert [tool["name"] for tool in listed] == ["ltm_status"]
        assert "being set up" in wire.call("ltm_status")
        assert "being set up" in wire.error("store_memory", content="x")
        assert wire.ask("prompts/list")["result"] == {"prompts": []}
        assert wire.ask("resources/list")["result"] == {"resources": []}
        assert wire.ask("resources/templates/list")["result"] == {"resourceTemplates": []}
        assert wire.ask("ping")["result"] == {}
        assert wire.ask("completion/complete")["error"]["code"] == -32601
        wire.raw(b"not json\n")

        building.finish_environment()
        told = {wire.receive()["method"] for _ in range(3)}

        assert told == {
            f"notifications/{name}/list_changed" for name in ("tools", "prompts", "resources")
        }
        names = [tool["name"] for tool in wire.ask("tools/list")["result"]["tools"]]
        assert {"store_memory", "recall", "ltm_status"} <= set(names)
        assert wire.call("store_memory", content="The port is 8081").startswith("Remembered")
        assert "8081" in wire.call("recall", query="port")
        assert wire.close() == 0


def test_the_stand_in_says_why_the_environment_could_not_be_built(building: Machine) -> None:
    (building.data / "environment.json").write_text(
        '{"state": "failed", "message": "LTM could not be set up: there is no network"}'
    )

    with stand_in(building) as wire:
        wire.initialize()
        assert "there is no network" in wire.call("ltm_status")


def test_an_old_python_serves_until_it_has_said_that_it_is_too_old(machine: Machine) -> None:
    found = [path for path in old_pythons() if not path.endswith(("3.6", "3.7"))]
    if not found:
        pytest.skip("no Python from 3.8 to 3.10 on this machine")
    for python in found:
        (machine.bin / "python3").unlink(missing_ok=True)
        (machine.bin / "python3").symlink_to(python)
        with stand_in(machine) as wire:
            wire.initialize()
            wait_until(
                lambda: "needs Python 3.11 or newer" in wire.call("ltm_status"), "the reason"
            )
            assert wire.close() == 0
        wait_until(lambda: not machine.running(), "every process to end")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_stand_in_and_the_server_behind_it_end_together(
    building: Machine, how: signal.Signals, tmp_path: Path
) -> None:
    marker = tmp_path / "server"
    building.finish_environment(does=f'echo $$ > {marker}; exec {sys.executable} "$@"')
    finished = next(building.data.glob("env-*/ltm-finished"))
    finished.unlink()
    with stand_in(building) as wire:
        wire.initialize()
        finished.touch()
        assert wire.receive()["method"].endswith("list_changed")
        server = int(marker.read_text())
        os.kill(server, 0)

        wire.process.send_signal(how)
        wire.process.wait(PATIENCE)

        wait_until(lambda: not _is_running(server), "the server to follow")


def _is_running(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_the_environment_is_built_with_vectors_or_else_without(machine: Machine) -> None:
    """A machine without a fitting wheel still gets everything else."""
    fake = 'for word; do last=$word; done; case $1 in venv) mkdir -p "$last/bin"; '
    fake += 'printf "#!/bin/sh\\nexit 0\\n" > "$last/bin/python"; chmod +x "$last/bin/python";; '
    fake += "*) case $last in *vectors.txt) exit 1;; esac;; esac"
    machine.path += [Path("/usr/bin"), Path("/bin")]
    machine.python("bin", "uv", does=fake)
    code = "import sys; from ltm.plugin.environment import build; "
    code += "sys.exit(not build(sys.argv[1], sys.argv[2]))"
    subprocess.run(
        [sys.executable, "-I", "-c", code, str(machine.data), launch.ROOT],
        env=machine.env(),
        check=True,
    )

    log = (machine.data / "environment.log").read_text()
    tried = [line.split()[3:] for line in log.splitlines() if " pip install " in line]
    assert [words[-1] for words in tried] == [
        f"{launch.ROOT}/plugin/vectors.txt",
        f"{launch.ROOT}/plugin/requirements.txt",
        launch.ROOT,
    ]
    assert all("--require-hashes" in words for words in tried[:-1])
    assert {"--no-deps", "--no-build-isolation", "--no-index"} <= set(tried[-1])
    assert environment.ready(str(machine.data), launch.ROOT)


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
        (wheel, "", "its own code could not be installed"),
        (wheel, "another hash", "pip could not install it"),
        (wheel, "no hash", "pip could not install it"),
        (wheel, "no version", "pip could not install it"),
        (source, "", "pip could not install it"),
    ],
)
def test_what_the_plugin_installs_is_what_its_pins_name_or_nothing(
    machine: Machine, tmp_path: Path, kind: Callable[[Path, Path], str], change: str, said: str
) -> None:
    """Where all is as pinned it gets as far as the code itself, which is none here."""
    root, wheels = tmp_path / "root", tmp_path / "wheels"
    for folder in (root / "src", root / "plugin", wheels):
        folder.mkdir(parents=True)
    mark = tmp_path / "ran"
    given = kind(wheels, mark)
    lines = {
        "": f"needed==1 --hash=sha256:{given}\n",
        "another hash": f"needed==1 --hash=sha256:{'0' * 64}\n",
        "no hash": "needed==1\n",
        "no version": f"needed --hash=sha256:{given}\n",
    }
    (root / "plugin" / "requirements.txt").write_text(lines[change])
    (root / "plugin" / "vectors.txt").write_text("")
    (root / "pyproject.toml").write_text("[build-system]\nrequires = []\nbuild-backend = 'none'\n")
    code = "import sys; from ltm.plugin.environment import build; "
    code += "sys.exit(not build(sys.argv[1], sys.argv[2]))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, str(machine.data), str(root)],
        env={**machine.env(), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)},
        check=False,
    )
    count("S16", plugin_pins_tried=1)
    assert done.returncode == 1
    assert said in environment.state(str(machine.data))["message"]
    assert not mark.exists()
    assert not list(machine.data.glob("env-*"))
