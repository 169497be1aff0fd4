"""The plugin's launcher for Windows, run by `cmd.exe`: that of Windows, or Wine's.

With Wine the Python is this machine's, under the name that Windows looks for.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
WINE = shutil.which("wine")
LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'
PYTHON = """\
#!/bin/sh
for each; do
  shift
  case $each in Z:*) each=$(printf %s "${each#Z:}" | tr '\\\\' /) ;; esac
  set -- "$@" "$each"
done
"""

pytestmark = pytest.mark.skipif(
    os.name != "nt" and WINE is None, reason="there is no cmd.exe: this needs Windows, or wine"
)


class Machine:
    """A Windows machine with nothing on its PATH but its own programs."""

    def __init__(self, top: Path) -> None:
        self.path, self.home = top / "bin", top / "home"
        self.path.mkdir()
        self.home.mkdir()
        self.plugin = top / "the plugin"
        self.plugin.mkdir()
        for name in ("run", "run.cmd"):
            shutil.copy(SOURCE / name, self.plugin)
        (self.plugin / "ltm").symlink_to(SOURCE / "ltm", target_is_directory=True)

    def program(self, name: str, does: str) -> None:
        (self.path / name).write_text(PYTHON + does)
        (self.path / name).chmod(0o755)

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        home = {name: str(self.home) for name in ("HOME", "USERPROFILE", "LTM_HOME")}
        if os.name == "nt":
            env = {**os.environ, **home, "PATH": f"{self.path};{Path(sys.executable).parent}"}
            command = ["cmd", "/d", "/c", str(self.plugin / "run")]
        else:
            assert WINE
            drives = self.home.parent.parent / "wine"  # for all tests: it takes seconds to make
            wine = {"WINEPREFIX": str(drives), "WINEDEBUG": "-all"}
            env = {**os.environ, **home, **wine, "WINEPATH": on_drive_z(self.path)}
            command = [WINE, "cmd", "/d", "/c", on_drive_z(self.plugin / "run")]
        return subprocess.run(
            [*command, *words], env=env, cwd=self.home, input=stdin, capture_output=True, text=True
        )


def on_drive_z(path: Path) -> str:
    """A path of this machine as Wine names it."""
    return "Z:" + str(path).replace("/", "\\")


def test_the_name_of_the_server_finds_the_launcher_for_windows(tmp_path: Path) -> None:
    servers = json.loads((SOURCE / ".mcp.json").read_text("utf-8"))["mcpServers"]
    assert servers["ltm"]["command"].endswith("/run"), "no ending, so that run.cmd can stand for it"
    machine = Machine(tmp_path)
    machine.program("python.exe", f'exec "{sys.executable}" "$@"\n')
    answer = json.loads(machine.run("mcp", stdin=LIST).stdout.splitlines()[0])
    assert "recall" in [tool["name"] for tool in answer["result"]["tools"]]


@pytest.mark.skipif(os.name == "nt", reason="a Windows machine that runs tests has a Python")
def test_without_a_python_it_says_what_to_install(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    done = machine.run("mcp")
    assert (done.returncode, done.stdout) == (1, "")
    assert "LTM needs Python 3.11 or newer" in done.stderr
    machine.program("uv.exe", 'echo "uv $*" >"$HOME/uv"\n')
    machine.run("mcp")
    said = (machine.home / "uv").read_text()
    assert said.startswith("uv run --quiet --no-project --python >=3.11 python -I -S ")
    assert said.endswith("/ltm/cli/launch.py mcp\n")
