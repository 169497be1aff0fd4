"""Imports point one way, and core stays pure: a newcomer can read the rooms from the ground up."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "ltm"
FLOWS = {"capture", "recall", "inject", "upkeep", "friction", "transfer"}
MAY_IMPORT = {
    "core": {"core"},
    "storage": {"core", "storage"},
    "sessions": {"core", "storage", "sessions"},
    "clients": {"core", "storage", "clients"},
    "llm": {"core", "storage", "llm"},
    "embed": {"core", "storage", "llm", "embed"},
    **{flow: {"core", "storage", "sessions", "llm", "embed", flow} for flow in FLOWS},
    "surfaces": {"core", "storage", "sessions", "clients", "llm", "embed", "surfaces", *FLOWS},
}


def imports_of(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every imported module with its line, `from ltm import x` counted as `ltm.x`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "ltm":
                for alias in node.names:
                    yield node.lineno, f"ltm.{alias.name}"
            else:
                yield node.lineno, node.module


def wrong_turns(room: str, tree: ast.AST) -> list[str]:
    """Imports of a module in `room` that point the wrong way."""
    wrong: list[str] = []
    for line, module in imports_of(tree):
        parts = module.split(".")
        if parts[0] == "ltm" and len(parts) > 1:
            if parts[1] in MAY_IMPORT and parts[1] not in MAY_IMPORT[room]:
                wrong.append(f"{line}: {room} imports {module}")
        elif room == "core" and parts[0] not in sys.stdlib_module_names:
            wrong.append(f"{line}: core imports {module}")
    return wrong


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_only_what_its_room_may(path: Path) -> None:
    room = path.relative_to(SOURCE).parts[0]
    assert room in MAY_IMPORT, f"{room} is not a room of ARCHITECTURE.md"
    assert wrong_turns(room, ast.parse(path.read_text())) == []


def test_the_check_itself_sees_a_wrong_turn() -> None:
    sample = ast.parse("from ltm.surfaces import x\nimport yaml\nimport ltm.core.model")
    assert wrong_turns("core", sample) == [
        "1: core imports ltm.surfaces",
        "2: core imports yaml",
    ]
    assert wrong_turns("recall", ast.parse("from ltm.capture import decide")) == [
        "1: recall imports ltm.capture"
    ]


def type_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every class and type alias with its line; an alias is a module's name in CapWords."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.lineno, node.name
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name) and re.match(r"_?[A-Z]\w*[a-z]", target.id):
                    yield node.lineno, target.id


def repeated_types(trees: Mapping[str, ast.Module]) -> list[str]:
    """Type names that occur more than once, each with the places where it does."""
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees.items():
        for line, name in type_names(tree):
            places[name].append(f"{path}:{line}")
    return [f"{name}: {', '.join(at)}" for name, at in sorted(places.items()) if len(at) > 1]


def test_a_type_name_occurs_once() -> None:
    trees = {
        str(path.relative_to(SOURCE)): ast.parse(path.read_text())
        for path in sorted(SOURCE.rglob("*.py"))
    }
    repeated = repeated_types(trees)
    assert not repeated, "type names that occur more than once:\n" + "\n".join(repeated)


def test_the_check_itself_sees_a_repeated_type_name() -> None:
    samples = {
        "a.py": "class Entry: ...\nclass _Row: ...\nENTRY = 1\n_T = 2",
        "b.py": "Entry = tuple[int, str]\nENTRY = 1\n_T = 2",
        "c.py": "def f():\n    class _Row: ...\nEntries: TypeAlias = list[int]",
    }
    assert repeated_types({path: ast.parse(text) for path, text in samples.items()}) == [
        "Entry: a.py:1, b.py:1",
        "_Row: a.py:2, c.py:2",
    ]
