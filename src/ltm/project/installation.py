"""How this ltm was installed (uv, pipx or pip, and from where), for advice that works as typed."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from urllib.parse import unquote, urlsplit

from ltm.project.home import home, plugin_command

NAME = "ltm-memory"
"""The name of the package: a source only if ltm came from an index, where it may be another's."""


def source() -> str:
    """What ltm was installed from, as an installer takes it: a folder, a git address, a name."""
    try:
        text = distribution(NAME).read_text("direct_url.json") or "{}"
        origin = json.loads(text)
    except (PackageNotFoundError, OSError, ValueError):
        return NAME
    url = str(origin.get("url", "")) if isinstance(origin, dict) else ""
    if not url:
        return NAME
    if "vcs_info" in origin:
        return f"git+{url}"
    return unquote(urlsplit(url).path) if url.startswith("file:") else url


def adding(packages: Sequence[str], prefix: str = sys.prefix) -> str:
    """The command that adds packages to the environment ltm runs in, and keeps them there."""
    parts = os.path.normpath(prefix).split(os.sep)
    names = " ".join(packages)
    if "pipx" in parts and parts[-2] == "venvs":
        return f"pipx inject {parts[-1]} {names}"
    if "uv" in parts and parts[-2] == "tools":
        more = " ".join(f"--with {each}" for each in packages)
        return f"uv tool install --force {more} {shlex.quote(source())}"
    return f"{shlex.quote(sys.executable)} -m pip install {names}"


def of_plugin() -> str:
    """How people type `ltm` who have Claude Code's plugin and no other; '' for all others."""
    command = plugin_command(home())
    installed = shutil.which("ltm") or os.path.exists(_script())
    return shlex.quote(command) if os.path.exists(command) and not installed else ""


def _script() -> str:
    return os.path.join(os.path.dirname(sys.executable), "ltm")


def typed() -> str:
    """How a person types the command that is running: `ltm` where the PATH leads to it."""
    if command := of_plugin():
        return command
    script = _script()
    found = shutil.which("ltm")
    if not os.path.exists(script) or (
        found and os.path.realpath(found) == os.path.realpath(script)
    ):
        return "ltm"
    near = os.path.relpath(script)
    return shlex.quote(script if near.startswith(os.pardir) else near)
