"""Imports point one way: a newcomer can read the packages from the ground up."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from tests.source import modules

ORDER = """
errors record model kinds policy clients.table text decisions redact files config project vault
index spool state store sessions llm capture history embed notes recall inject friction
remote upkeep transfer team clients hook worker mcp http web cli api ltm_server
""".split()  # noqa: SIM905
"""Packages and top modules, from the ground up: each imports only itself and those before it. The
table of clients is at the ground, because it is plain values and each part may need a row."""
MODULES = 280
TABLES = {"redact/patterns.py"}
HOT_PATHS = """
hook.answer hook.deadline hook.program hook.receive spool.events project.git project.home
project.identity config.config config.options vault.frontmatter vault.key_file vault.vault
index.index index.search store.file_store store.open store.other_tools store.project store.trust
state.candidates notes.stash inject.render inject.select inject.session_start
cli.main cli.question_socket cli.context cli.hits cli.output cli.recall cli.servers
recall.passages recall.search history.db index.vectors embed.static worker.steps
text.similarity text.terms embed.embedder embed.update history.tables
mcp.protocol mcp.recall mcp.server mcp.tools llm.model cli.plugin clients.environment
upkeep.consolidate
""".split()  # noqa: SIM905
"""Modules that may import inside a function, because something that starts from nothing each time
loads them and seldom needs the import: a hook, `ltm recall WORDS`, git's merge driver, an MCP
server before its first call, the plugin's launcher."""
PLATFORM = {"fcntl", "grp", "pwd", "resource"}
"""Not every system has these, so they are imported where they are used."""
PURE = ORDER.index("files")
"""Those before it import nothing outside the standard library."""


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


def place(module: str) -> int:
    """Where a module of ours stands in the order; `ltm` itself stands before all."""
    package, name, *_ = [*module.removeprefix("ltm.").split("."), ""]
    found = (each for each in (f"{package}.{name}", package) if each in ORDER)
    return next((ORDER.index(each) for each in found), -1)


def wrong_turns(name: str, tree: ast.AST) -> list[str]:
    """Imports of a module that point to a later package, or out of a pure one."""
    wrong: list[str] = []
    for line, module in imports_of(tree):
        if module.split(".")[0] in ("ltm", "ltm_server"):
            if place(module) > place(name):
                wrong.append(f"{line}: {name} imports {module}")
        elif place(name) < PURE and module.split(".")[0] not in sys.stdlib_module_names:
            wrong.append(f"{line}: {name} imports {module}")
    return wrong


@cache
def trees() -> dict[str, ast.Module]:
    """Every module by its dotted name; the files at former addresses are not part of it."""
    found = {}
    for name, path in modules().items():
        parts = name.removesuffix(".py").removesuffix("/__init__").split("/")
        if parts[0] not in ("surfaces", "__init__", "__main__"):
            top = [] if parts[0] == "ltm_server" else ["ltm"]
            found[".".join(top + parts)] = ast.parse(path.read_text("utf-8"))
    return found


def test_imports_point_one_way() -> None:
    found = trees()
    packages = {name.removeprefix("ltm.").split(".")[0] for name in found}
    assert packages == {each.split(".")[0] for each in ORDER}
    wrong = [turn for name, tree in found.items() for turn in wrong_turns(name, tree)]
    assert not wrong, "imports that point the wrong way:\n" + "\n".join(wrong)


def test_the_check_itself_sees_a_wrong_turn() -> None:
    sample = ast.parse("from ltm.cli import x\nimport yaml\nimport ltm.model")
    assert wrong_turns("ltm.text.terms", sample) == [
        "1: ltm.text.terms imports ltm.cli",
        "2: ltm.text.terms imports yaml",
    ]
    assert wrong_turns("ltm.cli.team", ast.parse("import ltm_server.admin")) == [
        "1: ltm.cli.team imports ltm_server.admin"
    ]
    assert wrong_turns("ltm.capture.decide", ast.parse("from ltm.recall import search")) == [
        "1: ltm.capture.decide imports ltm.recall"
    ]


def inner_imports(tree: ast.Module) -> set[str]:
    """What is imported inside functions."""
    return {
        module
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for _, module in imports_of(node)
        if module not in PLATFORM
    }


def test_only_hot_paths_import_inside_functions() -> None:
    inner = {name.removeprefix("ltm."): inner_imports(tree) for name, tree in trees().items()}
    assert {name for name, modules in inner.items() if modules} == set(HOT_PATHS)
    sample = ast.parse("import a\ndef f():\n    import fcntl\n    from ltm.b import c")
    assert inner_imports(sample) == {"ltm.b"}


def test_there_are_few_modules_and_none_is_long() -> None:
    lines = {name: len(path.read_text("utf-8").splitlines()) for name, path in _paths()}
    assert len(lines) <= MODULES
    assert {name: n for name, n in lines.items() if n > 800 and name not in TABLES} == {}


def _paths() -> Iterator[tuple[str, Path]]:
    for name, path in modules().items():
        if path.name not in ("__init__.py", "__main__.py"):
            yield name, path


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
    repeated = repeated_types(trees())
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
