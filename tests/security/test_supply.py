"""What we ship and what it may do: no dangerous call, no strange file (reliability S16)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.figures import count

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))

CALLS = {
    "eval": "runs any text as a program",
    "exec": "runs any text as a program",
    "compile": "makes a program of any text",
    "__import__": "loads what a text names",
    "os.system": "goes through a shell",
    "os.popen": "goes through a shell",
    "tempfile.mktemp": "names a file that anybody may make first",
    "yaml.load": "makes any object a file asks for",
    "yaml.unsafe_load": "makes any object a file asks for",
    "yaml.full_load": "makes objects a file asks for",
}
MODULES = {"pickle", "cPickle", "marshal", "shelve", "dill", "telnetlib", "ftplib", "xmlrpc"}


def dotted(node: ast.expr) -> str:
    """The name of what is called, as `os.system`."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def dangers(tree: ast.AST) -> Iterator[str]:
    """Everything in a program that we do not want in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = dotted(node.func)
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
    "text", ["eval(x)", "import pickle", "subprocess.run(x, shell=True)", "yaml.load(x)"]
)
def test_the_search_for_dangerous_calls_finds_them(text: str) -> None:
    assert list(dangers(ast.parse(text)))


def test_no_dangerous_call_is_in_the_product() -> None:
    found = {
        str(path.relative_to(ROOT)): told
        for path in SOURCES
        if (told := list(dangers(ast.parse(path.read_text(encoding="utf-8")))))
    }
    count("S16", files=len(SOURCES), dangerous_calls=sum(map(len, found.values())))
    assert found == {}


def test_the_wheel_holds_the_package_and_nothing_else(tmp_path: Path) -> None:
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"),
            *("--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), str(ROOT)),
        ],
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    package = {f"ltm/{path.relative_to(ROOT / 'src' / 'ltm')}" for path in SOURCES}
    strange = [name for name in names if not name.startswith(("ltm/", "ltm_memory-"))]
    assert strange == []
    assert package <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_every_dependency_is_pinned_with_its_hash_and_no_address() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    entries = re.split(r"\n(?=\S)", text.replace("\\\n", " ").strip())
    assert len(entries) > 10
    assert [each for each in entries if "==" not in each or "--hash=sha256:" not in each] == []
    assert re.findall(r"https?://|--index-url|--find-links", text) == []
