"""Advice to install something is a command that works in this installation."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import ltm
from ltm.project.installation import adding

PIP = f"{sys.executable} -m pip install numpy wordllama"


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/home/ada/.local/share/pipx/venvs/ltm-memory", "pipx inject ltm-memory numpy wordllama"),
        ("/home/ada/.local/pipx/venvs/ltm", "pipx inject ltm numpy wordllama"),
        ("/home/ada/shop/.venv", PIP),
        ("/usr", PIP),
        ("/", PIP),
    ],
)
def test_packages_are_added_by_the_installer_that_ltm_came_with(prefix: str, command: str) -> None:
    assert adding(("numpy", "wordllama"), prefix) == command


@pytest.mark.parametrize(
    ("origin", "source"),
    [
        ({"url": "file:///home/ada/my%20code/ltm", "dir_info": {}}, "'/home/ada/my code/ltm'"),
        (
            {"url": "https://example.org/ltm.git", "vcs_info": {"vcs": "git", "commit_id": "1"}},
            "git+https://example.org/ltm.git",
        ),
        ({"url": "https://example.org/ltm-1-py3-none-any.whl", "archive_info": {}}, None),
        (None, "ltm-memory"),
    ],
    ids=["folder", "git", "wheel", "index"],
)
def test_uv_is_told_what_ltm_was_installed_from(
    tmp_path: Path, origin: dict[str, object] | None, source: str | None
) -> None:
    """In an environment of its own, with what an installer notes there."""
    prefix = tmp_path / "uv" / "tools" / "ltm-memory"
    venv.create(prefix, with_pip=False)
    [packages] = prefix.glob("lib/python*/site-packages")
    (packages / "ltm.pth").write_text(str(Path(ltm.__file__).parent.parent))
    about = packages / "ltm_memory-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ltm-memory\nVersion: 0.1.0\n")
    if origin:
        (about / "direct_url.json").write_text(json.dumps(origin))
    program = "from ltm.project.installation import adding; print(adding(('numpy', 'wordllama')))"
    done = subprocess.run(
        [prefix / "bin" / "python", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == (
        "uv tool install --force --with numpy --with wordllama "
        + (source or "https://example.org/ltm-1-py3-none-any.whl")
    )
