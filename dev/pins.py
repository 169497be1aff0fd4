"""Makes the pins again: `python dev/pins.py`, in `.venv`, with uv and a way to PyPI.

uv resolves `pyproject.toml` for all platforms into `constraints.txt`: everything, the tools of
development too. What the plugin installs is taken out of that, pin by pin with its hashes:
`src/requirements.txt`, what LTM needs besides the standard library, and `src/vectors.txt`, what
the vectors are read from: of these packages no code is run but numpy's, so that they need none of
their own. The plugin installs wheels only, so of the hashes it has those of wheels for the
machines in `MACHINES`; `dev/wheels.txt` names their files, as `sha256sum` writes them. `--plugin`
makes these three only, `--check` says, without a network, whether the two are as they should be.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib import metadata
from itertools import product
from pathlib import Path

from packaging import tags
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

ROOT = Path(__file__).parents[1]
COMPILE = """uv pip compile --universal --generate-hashes --no-header --no-annotate
--no-emit-index-url --python-version 3.11 --extra vectors --group dev pyproject.toml
-o constraints.txt"""
LOCK = """uv pip compile --quiet --universal --no-deps --python-version 3.11 --format pylock.toml
-"""
WHEELS = ROOT / "dev" / "wheels.txt"
PYTHONS = range(11, 16)
MACHINES = {
    "linux x86_64": [f"manylinux_2_{minor}_x86_64" for minor in range(5, 40)],
    "linux aarch64": [f"manylinux_2_{minor}_aarch64" for minor in range(17, 40)],
    "musl x86_64": ["musllinux_1_1_x86_64", "musllinux_1_2_x86_64"],
    "musl aarch64": ["musllinux_1_1_aarch64", "musllinux_1_2_aarch64"],
    "darwin arm64": [*tags.mac_platforms((15, 0), "arm64")][::-1],
    "darwin x86_64": [*tags.mac_platforms((15, 0), "x86_64")][::-1],
    "win32 AMD64": ["win_amd64"],
}
"""What the plugin is for: versions of Python 3, and machines with the platforms that wheels name
for them, the oldest first."""


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


def fitting(names: Iterable[str], marker: Marker | None) -> set[str]:
    """Of the wheels of one pin those that are needed: for each Python and machine the one that asks
    least of it, and on macOS all, where a newer system's is a third of the size."""
    found: set[str] = set()
    for minor, (machine, platforms) in product(PYTHONS, MACHINES.items()):
        system, processor = machine.split()
        here = {
            "python_version": f"3.{minor}",
            "python_full_version": f"3.{minor}.0",
            "platform_machine": processor,
            "platform_python_implementation": "CPython",
            "implementation_name": "cpython",
            "sys_platform": "linux" if system == "musl" else system,
        }
        if marker and not marker.evaluate(here):
            continue
        order = {
            tag: (platforms.index(tag.platform) if tag.platform in platforms else -1)
            for tag in (
                *tags.compatible_tags((3, minor), f"cp3{minor}", platforms),
                *tags.cpython_tags((3, minor), platforms=platforms),
            )
        }
        least = {
            name: min(order[tag] for tag in parse_wheel_filename(name)[3] if tag in order)
            for name in names
            if order.keys() & parse_wheel_filename(name)[3]
        }
        if system == "darwin":
            found |= least.keys()
        elif least and not found & least.keys():
            found.add(min(least, key=lambda name: (least[name], name)))
    return found


def find_wheels() -> str:
    """What `dev/wheels.txt` holds: the wheels on PyPI for the plugin's pins that are needed."""
    pins = [each.partition(" \\")[0] for found in plugin_pins().values() for each in found]
    lock = subprocess.run(
        LOCK.split(), input="\n".join(pins), cwd=ROOT, check=True, capture_output=True, text=True
    )
    wheels: dict[tuple[str, str], dict[str, str]] = {}
    for package in tomllib.loads(lock.stdout)["packages"]:
        for each in package.get("wheels", ()):
            name = each.get("name") or each["url"].rpartition("/")[2]
            of_one = wheels.setdefault((canonicalize_name(package["name"]), package["version"]), {})
            of_one[name] = each["hashes"]["sha256"]
    needed: dict[str, str] = {}
    for pin in map(Requirement, pins):
        known = wheels.get((canonicalize_name(pin.name), next(iter(pin.specifier)).version), {})
        needed |= {name: known[name] for name in fitting(known, pin.marker)}
    return "".join(f"{key}  {name}\n" for name, key in sorted(needed.items()))


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
