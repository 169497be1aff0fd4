"""The container image at work: `dev/image` builds it and runs these tests (reliability S17).

Each container has a root that cannot be written, no capabilities, a user without rights and one
folder of this machine as /data. The hooks run on this machine, as people who keep their memory in a
container have them: the POSIX hook, or the program of the package, next to a server they reach over
HTTP. Needs podman, and an image named by LTM_IMAGE.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

from ltm.http.address import FILE
from tests.http.runner import PATIENCE, until

IMAGE = os.environ.get("LTM_IMAGE", "")
ROOT = Path(__file__).parents[2]
HOOK = str(files("ltm.http").joinpath("ltm-hook.sh"))
TESTS_NEED = (
    *("pytest", "pluggy", "iniconfig", "packaging", "pygments"),
    *("hypothesis", "sortedcontainers", "attrs"),
)

pytestmark = pytest.mark.skipif(
    not IMAGE, reason="no image is named: dev/image builds and tries it"
)


def podman(*words: str) -> subprocess.CompletedProcess[str]:
    # As root inside of a container only runc comes to terms with the outer control groups.
    engine = [
        "podman",
        *(["--runtime", "runc"] if os.getuid() == 0 and shutil.which("runc") else []),
    ]
    return subprocess.run([*engine, *words], capture_output=True, text=True, timeout=300)


def free_port() -> int:
    with closing(socket.socket()) as any_port:
        any_port.bind(("127.0.0.1", 0))
        return int(any_port.getsockname()[1])


RIGHTS = (
    *("--read-only", "--read-only-tmpfs=false", "--cap-drop=ALL"),
    *("--security-opt=no-new-privileges", "--network=host"),
    *("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"),
)


@dataclass
class Box:
    """A container that serves, with its folder on this machine."""

    name: str
    home: Path
    port: int
    project: Path

    def hook(self, event: str, **more: str) -> str:
        """What the POSIX hook on this machine answers a client."""
        message = {"session_id": "s1", "hook_event_name": event, "cwd": str(self.project), **more}
        done = subprocess.run(
            ["sh", HOOK, event],
            input=json.dumps(message),
            env={"PATH": os.environ["PATH"], "LTM_HOME": str(self.home), "HOME": str(self.home)},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def ltm(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command inside."""
        return podman("exec", "--workdir", str(self.project), self.name, "ltm", *words)


@contextmanager
def serving(top: Path) -> Iterator[Box]:
    """A container of the image, as docs/guides/serve.md starts it."""
    home, project, port = top / "home", top / "project", free_port()
    home.mkdir()
    project.mkdir()
    for path in (top, *top.parents[:3]):  # pytest's folders are this user's alone
        path.chmod(0o755)
    os.chown(home, 10001, 10001)
    name = f"ltm-{port}"
    made = podman(
        *("run", "--detach", "--name", name, *RIGHTS),
        *("--volume", f"{home}:/data", "--volume", f"{project}:{project}:ro", IMAGE),
        *("serve", "--host", "0.0.0.0", "--port", str(port), "--allow-remote"),
    )
    assert made.returncode == 0, made.stderr
    try:
        box = Box(name, home, port, project)
        until(lambda: (home / FILE).exists())
        yield box
    finally:
        podman("rm", "--force", "--time", "5", name)


def written(box: Box) -> list[str]:
    """What differs from the image, without the places that the engine itself mounts things at."""
    changes = podman("diff", box.name).stdout.split("\n")
    paths = [each.split(maxsplit=1)[1] for each in changes if each]
    mounted = ("/etc", "/run", str(box.project))
    return [
        path for path in paths if not any(f"{each}/".startswith(f"{path}/") for each in mounted)
    ]


def test_a_server_without_rights_serves_hooks_of_this_machine(tmp_path: Path) -> None:
    with serving(tmp_path) as box:
        assert "answers" in box.ltm("serve", "--check").stdout
        who = podman(
            "exec", box.name, "python3", "-c", "import os; print(os.getuid(), os.getcwd())"
        )
        assert who.stdout.split()[0] == "10001"
        refused = podman("exec", box.name, "python3", "-c", "open('/opt/ltm/x', 'w')")
        assert "Read-only file system" in refused.stderr
        kept = box.ltm("remember", "Deploys of the shop need the VPN and the blue key")
        assert kept.returncode == 0, kept.stderr
        told = json.loads(box.hook("SessionStart", source="startup"))
        assert "blue key" in told["hookSpecificOutput"]["additionalContext"]
        assert box.hook("Stop") == ""
        assert box.hook("SessionEnd", reason="exit") == ""
        assert "blue key" in box.ltm("recall", "deploy key").stdout
        noted = json.loads((box.home / FILE).read_text())
        assert (noted["host"], noted["port"]) == ("127.0.0.1", box.port)
        assert written(box) == [], "everything it writes lies in /data"
        ended = podman("stop", "--time", "10", box.name)
        assert ended.returncode == 0
        code = podman("inspect", "--format", "{{.State.ExitCode}}", box.name).stdout.strip()
        assert code == "0", "it ends by itself when told to"
        assert not (box.home / FILE).exists()
        assert box.hook("Stop") == "", "without a server the event waits"
        assert list((box.home / "spool").glob("*.Stop.json"))


def test_the_health_check_is_part_of_the_image_and_needs_no_token() -> None:
    said = json.loads(podman("inspect", IMAGE).stdout)[0]
    assert said["Config"]["User"] == "10001:10001"
    assert "/data" in said["Config"]["Volumes"]
    assert said.get("HealthCheck", said.get("Healthcheck"))["Test"] == [
        *("CMD", "ltm", "serve", "--check")
    ]
    alone = podman("run", "--rm", *RIGHTS, "--tmpfs", "/data:mode=0777", IMAGE, "serve", "--check")
    assert alone.returncode == 1
    assert "no server runs for this home" in alone.stderr


def test_the_contract_suite_passes_inside(tmp_path: Path) -> None:
    # For the Python in the image, which may be another one than here; some of them are compiled.
    asked = podman(*("run", "--rm", *RIGHTS, "--entrypoint", "python", IMAGE), "-V")
    libraries = tmp_path / "libraries"
    made = subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--only-binary=:all:",
            ),
            *("--python-version", asked.stdout.split()[1], "--target", str(libraries)),
            *(f"{name}=={version(name)}" for name in TESTS_NEED),
        ],
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    data = tmp_path / "data"
    data.mkdir()
    os.chown(data, 10001, 10001)
    for path in (tmp_path, *tmp_path.parents[:3]):
        path.chmod(0o755)
    done = podman(
        *("run", "--rm", *RIGHTS, "--volume", f"{data}:/data", "--entrypoint", "python"),
        *("--volume", f"{ROOT}/tests:/repo/tests:ro", "--volume", f"{libraries}:/libraries:ro"),
        *("--env", "PYTHONPATH=/repo:/libraries", "--workdir", "/repo", IMAGE),
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", "/data/pytest"),
        *("--override-ini", "addopts=", "tests/contract/test_file_store.py"),
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
    assert " failed" not in done.stdout
