"""A container of the image, with its folder on this machine: for tests of the image.

The program is podman, or that which LTM_ENGINE names: docker. As root inside of a container only
runc comes to terms with the outer control groups.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from ltm.http.address import FILE
from tests.http.runner import PATIENCE, until

IMAGE = os.environ.get("LTM_IMAGE", "")
HOOK = str(files("ltm.http").joinpath("ltm-hook.sh"))
OWN_USER = 10001
ENGINE = os.environ.get("LTM_ENGINE", "podman")
PODMAN = ENGINE == "podman"


def engine(*words: str) -> subprocess.CompletedProcess[str]:
    """Run podman or docker to its end."""
    command = [ENGINE]
    if PODMAN and os.getuid() == 0 and shutil.which("runc"):
        command += ["--runtime", "runc"]
    return subprocess.run([*command, *words], capture_output=True, text=True, timeout=300)


def free_port() -> int:
    with closing(socket.socket()) as any_port:
        any_port.bind(("127.0.0.1", 0))
        return int(any_port.getsockname()[1])


RIGHTS = (
    *("--read-only", "--cap-drop=ALL"),
    *(["--read-only-tmpfs=false"] if PODMAN else []),  # docker mounts none by itself
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
    seen: Sequence[Path]

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
        return engine("exec", "--workdir", str(self.project), self.name, "ltm", *words)


@contextmanager
def serving(
    home: Path, project: Path, *, user: int = OWN_USER, seen: Sequence[Path] = ()
) -> Iterator[Box]:
    """A container of the image, as docs/guides/serve.md starts it; `seen` is read there as well."""
    port = free_port()
    home.mkdir(exist_ok=True)
    project.mkdir(exist_ok=True)
    if user == OWN_USER:
        for path in (home.parent, *home.parents[1:4]):  # pytest's folders are this user's alone
            path.chmod(0o755)
        os.chown(home, user, user)
    name = f"ltm-{port}"
    read = [each for path in (project, *seen) for each in ("--volume", f"{path}:{path}:ro")]
    made = engine(
        *("run", "--detach", "--name", name, *RIGHTS, "--user", f"{user}:{user}"),
        *("--volume", f"{home}:/data", *read, IMAGE),
        *("serve", "--host", "0.0.0.0", "--port", str(port), "--allow-remote"),
    )
    assert made.returncode == 0, made.stderr
    try:
        box = Box(name, home, port, project, seen)
        until(lambda: (home / FILE).exists())
        yield box
    finally:
        engine("rm", "--force", *(["--time", "5"] if PODMAN else []), name)


def written(box: Box) -> list[str]:
    """What differs from the image, without the places that the engine itself mounts things at."""
    changes = engine("diff", box.name).stdout.split("\n")
    paths = [each.split(maxsplit=1)[1] for each in changes if each]
    mounted = ("/etc", "/run", str(box.project), *map(str, box.seen))
    return [
        path for path in paths if not any(f"{each}/".startswith(f"{path}/") for each in mounted)
    ]
