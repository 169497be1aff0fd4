"""Makes the pins again: `python dev/pins.py`, in `.venv`, with uv and a way to PyPI.

uv resolves `pyproject.toml` for all platforms into `constraints.txt`: everything, the tools of
development too. What the plugin installs is taken out of that, pin by pin with its hashes:
`src/requirements.txt`, what LTM needs besides the standard library, and `src/vectors.txt`, what
the vectors are read from: of these packages no code is run but numpy's, so that they need none of
their own. The plugin installs wheels only, so of the hashes it has those of wheels for the
machines in `PLATFORMS`; `dev/wheels.txt` names their files, as `sha256sum` writes them. `--plugin`
makes these three only, `--check` says, without a network, whether the two are as they should be.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.tags import Tag
from packaging.utils import canonicalize_name, parse_wheel_filename

ROOT = Path(__file__).parents[1]
COMPILE = """uv pip compile --universal --generate-hashes --no-header --no-annotate
--no-emit-index-url --python-version 3.11 --extra vectors --group dev pyproject.toml
-o constraints.txt"""
LOCK = """uv pip compile --quiet --universal --no-deps --python-version 3.11 --format pylock.toml
-"""
WHEELS = ROOT / "dev" / "wheels.txt"
PYTHONS = r"py3|cp3(1[1-5])"
PLATFORMS = (
    r"any|(manylinux|musllinux)\w+_(x86_64|aarch64)|macosx_\w+_(x86_64|arm64|universal2)"
    r"|win_(amd64|arm64)"
)

Pins = dict[str, list[str]]
"""Pins with their hashes as they stand in a file, by name: one may differ by Python or platform."""


def entries() -> Pins:
    """What `constraints.txt` pins."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    found: Pins = {}
    for each in re.split(r"\n(?=\S)", text.strip()):
        name = canonicalize_name(re.split(r"[=\s]", each, maxsplit=1)[0])
        found.setdefault(name, []).append(each)
    return found


def where_asked(asked: list[str], pinned: Pins) -> Pins:
    """The pins, installed only where these ask for them: development may ask for more."""
    marked = {canonicalize_name(each.name): each for each in map(Requirement, asked) if each.marker}
    return {
        name: [
            re.sub(r"\A([^ ]+) \\", rf"\1 ; {marked[name].marker} \\", each)
            if name in marked
            else each
            for each in found
        ]
        for name, found in pinned.items()
    }


def closure(asked: list[str], pinned: Pins) -> set[str]:
    """What these need, on any platform: a pin's own marker says where it is installed."""
    needed: set[str] = set()
    waiting = [(Requirement(each), "") for each in asked]
    while waiting:
        each, extra = waiting.pop()
        name = canonicalize_name(each.name)
        of_extra = each.marker is not None and "extra ==" in str(each.marker)
        if name not in pinned or (of_extra and not extra):
            continue
        if of_extra and each.marker and not each.marker.evaluate({"extra": extra}):
            continue
        known = name in needed
        needed.add(name)
        for more in {"", *each.extras} if not known or each.extras else ():
            try:
                lines = metadata.requires(name) or []
            except metadata.PackageNotFoundError:  # of another platform
                lines = []
            waiting += [(Requirement(line), more) for line in lines]
    return needed


def fits(tag: Tag) -> bool:
    """Whether a wheel with this tag is for a machine and a Python that the plugin is for."""
    stable = tag.abi == "abi3" and re.fullmatch(r"cp3\d+", tag.interpreter)
    own = tag.abi in ("none", tag.interpreter) and re.fullmatch(PYTHONS, tag.interpreter)
    return bool((stable or own) and re.fullmatch(PLATFORMS, tag.platform))


def find_wheels() -> str:
    """What `dev/wheels.txt` holds: the wheels on PyPI for the plugin's pins that may fit."""
    asked = "".join(
        each.partition(" \\")[0] + "\n" for found in plugin_pins().values() for each in found
    )
    lock = subprocess.run(
        LOCK.split(), input=asked, cwd=ROOT, check=True, capture_output=True, text=True
    )
    wheels = [
        (each.get("name") or each["url"].rpartition("/")[2], each["hashes"]["sha256"])
        for package in tomllib.loads(lock.stdout)["packages"]
        for each in package.get("wheels", ())
    ]
    return "".join(
        f"{key}  {name}\n"
        for name, key in sorted(wheels)
        if any(map(fits, parse_wheel_filename(name)[3]))
    )


def plugin_pins() -> dict[str, list[str]]:
    """What the plugin's files pin, by their paths, with every hash there is."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    vectors = about["project"]["optional-dependencies"]["vectors"]
    pinned = where_asked(vectors, entries())
    core = closure(about["project"]["dependencies"], pinned)
    more = {canonicalize_name(Requirement(each).name) for each in vectors}
    return {
        path: [each for name in sorted(names) for each in pinned[name]]
        for path, names in (("src/requirements.txt", core), ("src/vectors.txt", more))
    }


def texts() -> dict[str, str]:
    """What the plugin's files hold, by their paths: no pin that no wheel fits."""
    kept = {line.split()[0] for line in WHEELS.read_text(encoding="utf-8").splitlines()}
    found = {}
    for path, pins in plugin_pins().items():
        found[path] = ""
        for each in pins:
            pin, *hashes = each.split(" \\\n    --hash=sha256:")
            hashes = [key for key in hashes if key in kept]
            if hashes:
                found[path] += " \\\n    --hash=sha256:".join([pin, *hashes]) + "\n"
    return found


def main(words: list[str]) -> int:
    """Do as asked; the exit code."""
    if words == ["--check"]:
        return int(any((ROOT / path).read_text() != text for path, text in texts().items()))
    if not words:
        subprocess.run(COMPILE.split(), cwd=ROOT, check=True)
        print("install them (dev/test does), then: python dev/pins.py --plugin")
        return 0
    WHEELS.write_text(find_wheels(), encoding="utf-8")
    for path, text in texts().items():
        (ROOT / path).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
