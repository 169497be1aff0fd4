"""The container image at work: `dev/image` builds it and runs these tests (reliability S17).

Each container has a root that cannot be written, no capabilities, a user without rights and one
folder of this machine as /data. The hooks run on this machine, as people who keep their memory in a
container have them: the POSIX hook, or the program of the package, next to a server they reach over
HTTP. Needs podman or docker, and an image named by LTM_IMAGE.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from ltm.http.address import FILE
from tests.figures import count
from tests.http.container import IMAGE, RIGHTS, engine, serving, written

ROOT = Path(__file__).parents[2]
TESTS_NEED = (
    *("pytest", "pluggy", "iniconfig", "packaging", "pygments"),
    *("hypothesis", "sortedcontainers", "attrs"),
)

pytestmark = pytest.mark.skipif(
    not IMAGE, reason="no image is named: dev/image builds and tries it"
)


def test_a_server_without_rights_serves_hooks_of_this_machine(tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path / "project") as box:
        assert "answers" in box.ltm("serve", "--check").stdout
        who = engine(
            "exec", box.name, "python3", "-c", "import os; print(os.getuid(), os.getcwd())"
        )
        assert who.stdout.split()[0] == "10001"
        refused = engine("exec", box.name, "python3", "-c", "open('/opt/ltm/x', 'w')")
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
        outside = written(box)
        count("S17", containers=1, written_outside_data=len(outside))
        assert outside == [], "everything it writes lies in /data"
        ended = engine("stop", "--time", "10", box.name)
        assert ended.returncode == 0
        code = engine("inspect", "--format", "{{.State.ExitCode}}", box.name).stdout.strip()
        assert code == "0", "it ends by itself when told to"
        assert not (box.home / FILE).exists()
        assert box.hook("Stop") == "", "without a server the event waits"
        assert list((box.home / "spool").glob("*.Stop.json"))


def test_the_health_check_is_part_of_the_image_and_needs_no_token() -> None:
    said = json.loads(engine("inspect", IMAGE).stdout)[0]
    assert said["Config"]["User"] == "10001:10001"
    assert "/data" in said["Config"]["Volumes"]
    # Podman has it at the top, under a name that depends on its version; docker in the settings.
    (check,) = (
        each for name, each in (said | said["Config"]).items() if name.lower() == "healthcheck"
    )
    assert check["Test"] == ["CMD", "ltm", "serve", "--check"]
    alone = engine("run", "--rm", *RIGHTS, "--tmpfs", "/data:mode=0777", IMAGE, "serve", "--check")
    assert alone.returncode == 1
    assert "no server runs for this home" in alone.stderr


def test_the_contract_suite_passes_inside(tmp_path: Path) -> None:
    # For the Python in the image, which may be another one than here; some of them are compiled.
    asked = engine(*("run", "--rm", *RIGHTS, "--entrypoint", "python", IMAGE), "-V")
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
    done = engine(
        *("run", "--rm", *RIGHTS, "--volume", f"{data}:/data", "--entrypoint", "python"),
        *("--volume", f"{ROOT}/tests:/repo/tests:ro", "--volume", f"{libraries}:/libraries:ro"),
        *("--env", "PYTHONPATH=/repo:/libraries", "--workdir", "/repo", IMAGE),
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", "/data/pytest"),
        *("--override-ini", "addopts=", "tests/contract/test_file_store.py"),
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed
    assert " failed" not in done.stdout
    count("S17", contract_cases=int(passed[1]))
