"""The first hour of a contributor: what `dev/test` says and installs before it runs anything.

Its environment is a stand-in that notes what it is asked for: the packages, and the tests, are what
CI has. The checks at its start run for real.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.product import ROOT, path_without_python, ship

TOOLS = {
    "strace": "strace",
    "curl": "curl",
    "shellcheck": "shellcheck",
    "dash": "dash",
    "faketime": "faketime",
    "git-remote-gcrypt": "git-remote-gcrypt gnupg",
    "chromium": "chromium",
    "wine": "wine",
}
"""Programs that some tests need, and what installs them."""
CLIENTS = (
    ".venv/bin/python -m tests.e2e.client.install 2.1.197 latest",
    ".venv/bin/python -m tests.e2e.clients.install codex copilot gemini",
)
NOTES = '#!/bin/sh\necho "$0 $*" >> "{log}"\n'
PYTHON = NOTES + 'case $1 in -c) exec "{python}" "$@" ;; esac\n'


class Contributor:
    """A fresh checkout on a machine that has none of what only some tests need."""

    def __init__(self, top: Path) -> None:
        self.checkout = ship(top / "ltm", "dev", "tests")
        self.tools = top / "bin"
        self.log = top / "asked"
        path = path_without_python(self.tools)
        for name in ("dirname", "getconf", "id", "df", "awk", "mount", "mktemp"):
            (self.tools / name).symlink_to(shutil.which(name) or name)
        programs = self.checkout / ".venv" / "bin"
        programs.mkdir(parents=True)
        for name in ("pip", "ruff", "mypy", "python"):
            text = (PYTHON if name == "python" else NOTES).format(
                log=self.log, python=sys.executable
            )
            self.program(programs / name, text)
        (top / "home").mkdir()
        self.env = {"HOME": str(top / "home"), "PATH": path, "PYTHONPATH": str(ROOT / "src")}

    def program(self, path: Path, text: str = "#!/bin/sh\n") -> None:
        path.write_text(text)
        path.chmod(0o755)

    def tests(self, *words: str, **env: str) -> tuple[list[str], str]:
        """Run `dev/test`: what it skips, and what its environment was asked for."""
        done = subprocess.run(
            [self.checkout / "dev" / "test", *words],
            env={**self.env, **env},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        said = [line for line in done.stdout.splitlines() if line.startswith("skipped: ")]
        return said, self.log.read_text()


@pytest.fixture
def contributor(tmp_path: Path) -> Contributor:
    return Contributor(tmp_path)


def test_what_is_skipped_is_said_with_the_line_that_installs_it_and_in_the_guide(
    contributor: Contributor,
) -> None:
    said, _ = contributor.tests()
    told = "\n".join(said)
    assert all("; to run them: " in line for line in said)
    guide = " ".join((ROOT / "CONTRIBUTING.md").read_text("utf-8").split())
    for line in CLIENTS:
        assert line in told
        assert line in guide
    for name, package in TOOLS.items():
        assert f" {package}" in told, name
        assert name in guide
    assert "dev/image" in told
    assert "dev/image" in guide

    for name in TOOLS:
        contributor.program(contributor.tools / name)
    left, _ = contributor.tests(LTM_IMAGE="localhost/ltm:test")
    assert {line for line in said if line not in left} >= {
        line for line in said if any(f" {each}" in line for each in TOOLS.values())
    }
    assert not any("dev/image" in line for line in left)


@pytest.mark.parametrize("ci", [False, True], ids=["at home", "in CI"])
def test_ci_tests_the_built_wheel_and_a_person_this_folder(
    contributor: Contributor, ci: bool
) -> None:
    _, asked = contributor.tests("tests/vault", "-k", "merge", **({"CI": "true"} if ci else {}))
    pip = [line for line in asked.splitlines() if "/pip " in line]
    assert "--require-hashes -r constraints.txt" in pip[0]
    assert any(" wheel " in line for line in pip) is ci
    assert any(" -e ." in line for line in pip) is not ci
    assert asked.splitlines()[-1].endswith(" tests/vault -k merge")
    for tool in ("ruff check", "ruff format --check", "mypy"):
        assert f"/{tool}" in asked
