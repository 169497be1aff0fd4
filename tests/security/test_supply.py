"""What we ship and what it may do: no dangerous call, no strange file (reliability S16)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging import tags
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from ltm import __version__
from tests.figures import count
from tests.source import modules

ROOT = Path(__file__).parents[2]
SOURCES = [*modules().values(), *(ROOT / "src").glob("*.py")]

CALLS = {
    "eval": "runs any text as a program",
    "exec": "runs any text as a program",
    "compile": "makes a program of any text",
    "__import__": "loads what a text names",
    "os.system": "goes through a shell",
    "os.popen": "goes through a shell",
    "subprocess.getoutput": "goes through a shell",
    "subprocess.getstatusoutput": "goes through a shell",
    "asyncio.create_subprocess_shell": "goes through a shell",
    "tempfile.mktemp": "names a file that anybody may make first",
    "yaml.load": "makes any object a file asks for",
    "yaml.load_all": "makes any object a file asks for",
    "yaml.unsafe_load": "makes any object a file asks for",
    "yaml.full_load": "makes objects a file asks for",
}
MODULES = {
    *("pickle", "cPickle", "marshal", "shelve", "dill", "telnetlib", "ftplib", "xmlrpc"),
    *("jsonpickle", "joblib", "imp", "pty"),
}


def names_of(tree: ast.AST) -> dict[str, str]:
    """What each name that a program imports stands for: `from os import system as s` is known."""
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                if each.asname:
                    known[each.asname] = each.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                known[each.asname or each.name] = f"{node.module}.{each.name}"
    return known


def dotted(node: ast.expr, known: dict[str, str]) -> str:
    """The whole name of what is called, as `os.system`."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(known.get(node.id, node.id))
    return ".".join(reversed(parts)).removeprefix("builtins.")


def dangers(tree: ast.AST) -> Iterator[str]:
    """Everything in a program that we do not want in it."""
    known = names_of(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = dotted(node.func, known)
            if name in CALLS:
                yield f"line {node.lineno}: {name} {CALLS[name]}"
            for keyword in node.keywords:
                value = keyword.value
                if keyword.arg == "shell" and not (
                    isinstance(value, ast.Constant) and value.value is False
                ):
                    yield f"line {node.lineno}: shell= goes through a shell"
        elif isinstance(node, ast.Import):
            for each in node.names:
                if each.name.partition(".")[0] in MODULES:
                    yield f"line {node.lineno}: import {each.name}"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in MODULES:
            yield f"line {node.lineno}: from {node.module} import"


@pytest.mark.parametrize(
    "text",
    [
        "eval(x)",
        "import builtins\nbuiltins.exec(x)",
        "import pickle",
        "from marshal import loads",
        "subprocess.run(x, shell=True)",
        "subprocess.run(x, shell=y)",
        "os.system(x)",
        "from os import system as s\ns(x)",
        "yaml.load(x)",
        "import yaml as y\ny.load(x)",
        "from yaml import unsafe_load\nunsafe_load(x)",
    ],
)
def test_the_search_for_dangerous_calls_finds_them(text: str) -> None:
    assert list(dangers(ast.parse(text)))


@pytest.mark.parametrize("text", ["re.compile(x)", "run(x, shell=False)", "self.load(x)"])
def test_the_search_for_dangerous_calls_lets_others_be(text: str) -> None:
    assert not list(dangers(ast.parse(text)))


def test_no_dangerous_call_is_in_the_product() -> None:
    found = {
        str(path.relative_to(ROOT)): told
        for path in SOURCES
        if (told := list(dangers(ast.parse(path.read_text(encoding="utf-8")))))
    }
    count("S16", files=len(SOURCES), dangerous_calls=sum(map(len, found.values())))
    assert found == {}


def test_the_wheel_holds_the_packages_and_nothing_else(tmp_path: Path) -> None:
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"),
            *("--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), str(ROOT)),
        ],
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    tracked = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "src/ltm", "server/ltm_server"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    package = {name.partition("/")[2] for name in tracked if (ROOT / name).exists()}
    about = f"ltm_memory-{__version__}.dist-info"
    described = {f"{about}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")}
    described.add(f"{about}/licenses/LICENSE")
    count("S16", wheel_files=len(names), wheel_strange_files=len(names - package - described))
    assert names == package | described
    programs = {".py", ".sh", ".gz", ".jsonl", ".sql", ".typed"}
    page = {".html", ".css", ".js", ".svg", ".txt"}
    assert {Path(name).suffix for name in package} == programs | page


def pins(path: str = "constraints.txt") -> list[tuple[Requirement, str]]:
    """What a file pins, each with the hashes behind it."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    assert re.findall(r"https?://|--index-url|--find-links", text) == []
    entries = re.split(r"\n(?=\S)", text.replace("\\\n", " ").strip())
    parts = [entry.partition(" --hash=") for entry in entries]
    return [(Requirement(pin), sign + rest) for pin, sign, rest in parts]


def pinned_here() -> dict[str, str]:
    """Versions by name, of the pins that this Python on this machine installs."""
    return {
        canonicalize_name(pin.name): next(iter(pin.specifier)).version
        for pin, _ in pins()
        if pin.marker is None or pin.marker.evaluate()
    }


def wanted() -> list[Requirement]:
    """What `pyproject.toml` asks for: to run, for the vectors, and to work on it."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = about["project"]
    extras = [each for extra in project["optional-dependencies"].values() for each in extra]
    asked = [*project["dependencies"], *extras, *about["dependency-groups"]["dev"]]
    return [Requirement(each) for each in asked]


def needs_of(name: str) -> list[Requirement]:
    """What a package needs, by its own word; of one that is not installed nobody knows."""
    try:
        return [Requirement(line) for line in metadata.requires(name) or ()]
    except metadata.PackageNotFoundError:
        return []


def test_every_dependency_is_pinned_with_its_hash_and_no_address() -> None:
    found = pins()
    assert len(found) > 10
    assert [str(pin) for pin, hashes in found if not hashes.startswith(" --hash=sha256:")] == []
    assert [
        str(pin) for pin, _ in found if [each.operator for each in pin.specifier] != ["=="]
    ] == []
    count("S16", pinned=len(found))


def test_the_plugin_installs_the_same_pins_and_none_of_the_tools() -> None:
    """`python dev/pins.py --plugin` makes its files of the constraints."""
    done = subprocess.run([sys.executable, str(ROOT / "dev" / "pins.py"), "--check"], check=False)
    assert done.returncode == 0
    everything = {(pin.name, str(pin.specifier)): hashes for pin, hashes in pins()}
    names = set()
    for path in ("src/requirements.txt", "src/vectors.txt"):
        found = pins(path)
        names |= {pin.name for pin, _ in found}
        for pin, hashes in found:
            assert set(hashes.split()) <= set(everything[pin.name, str(pin.specifier)].split())
    assert {"mcp", "click", "numpy"} <= names
    assert not {"hatchling", "packaging"} & {pin.name for pin, _ in pins("src/requirements.txt")}
    assert not {"pytest", "mypy", "ruff", "hypothesis"} & names
    count("S16", pins_of_the_plugin=len(names))


MACHINES = {
    "Linux x86_64": [f"manylinux_2_{minor}_x86_64" for minor in range(39, 4, -1)],
    "Linux aarch64": [f"manylinux_2_{minor}_aarch64" for minor in range(39, 16, -1)],
    "Alpine x86_64": ["musllinux_1_2_x86_64", "musllinux_1_1_x86_64"],
    "Alpine aarch64": ["musllinux_1_2_aarch64", "musllinux_1_1_aarch64"],
    "macOS arm64": [*tags.mac_platforms((14, 0), "arm64")],
    "macOS x86_64": [*tags.mac_platforms((14, 0), "x86_64")],
    "Windows AMD64": ["win_amd64"],
}
"""What wheels are for, on the machines that the plugin installs packages on."""
NOT_MADE = {"macOS x86_64": {"cryptography"}, "Alpine x86_64": {"wordllama"}}
"""What nobody makes a wheel of: there the plugin does without its packages, or without vectors."""


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("minor", [11, 12, 13, 14])
def test_each_pin_of_the_plugin_has_a_wheel_for_each_python_and_machine(
    minor: int, machine: str
) -> None:
    listed = (ROOT / "dev" / "wheels.txt").read_text(encoding="utf-8").splitlines()
    names = dict(line.split() for line in listed)
    system, processor = machine.split()
    here = {
        "python_version": f"3.{minor}",
        "python_full_version": f"3.{minor}.0",
        "platform_machine": processor,
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
        "sys_platform": {"macOS": "darwin", "Windows": "win32"}.get(system, "linux"),
    }
    fitting = {
        *tags.cpython_tags((3, minor), platforms=MACHINES[machine]),
        *tags.compatible_tags((3, minor), platforms=MACHINES[machine]),
    }
    without = {
        pin.name
        for path in ("src/requirements.txt", "src/vectors.txt")
        for pin, hashes in pins(path)
        if pin.marker is None or pin.marker.evaluate(here)
        if not any(
            fitting & parse_wheel_filename(names[key])[3]
            for key in re.findall(r"sha256:(\w+)", hashes)
        )
    }
    assert without <= NOT_MADE.get(machine, set())


def test_no_advice_names_a_package_on_an_index_that_is_not_ours() -> None:
    """A package of that name, made by a stranger, would be installed by all who follow it."""
    name = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "src", "server", "docs", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    paths = [each for each in listed if (ROOT / each).suffix in {".py", ".md", ".sh", ".json"}]
    assert len(paths) > 100
    found = [
        f"{path}: {line.strip()}"
        for path in paths
        if path not in ("CHANGELOG.md", "src/ltm/project/installation.py")  # asks who it is
        for line in (ROOT / path).read_text(encoding="utf-8").splitlines()
        if name in line and "uninstall" not in line  # what goes comes from no index
    ]
    count("S16", advice_by_name=len(found))
    assert found == []


def test_the_pins_are_what_the_project_asks_for_today_and_nothing_else() -> None:
    """Whoever changes a dependency and forgets the constraints is told here."""
    versions = pinned_here()
    needed: set[str] = set()
    stale: list[str] = []
    waiting = [(each, "") for each in wanted()]
    while waiting:
        each, extra = waiting.pop()
        if each.marker is not None and not each.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(each.name)
        if not each.specifier.contains(versions.get(name, "0"), prereleases=True):
            stale.append(str(each))
            continue
        known = name in needed
        needed.add(name)
        for more in {"", *each.extras} if not known or each.extras else ():
            waiting += [(line, more) for line in needs_of(name)]
    count("S16", pins_needed=len(needed), pins_stale=len(stale))
    assert stale == []
    assert set(versions) == needed
