"""No code but the kinds table knows one kind from another (SPEC §3)."""

from __future__ import annotations

import ast

from ltm.kinds import Kinds
from tests.source import modules

NAMES = {row.name for row in Kinds()}


def branches(tree: ast.AST) -> list[str]:
    """Every place that treats a kind by its name: comparisons, cases, tables of its own."""
    aliases = _names_for_a_kind(tree)
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            about_kinds = any(_mentions_kind(side, aliases) for side in sides)
            if about_kinds and any(_literals(side) & NAMES for side in sides):
                found.append(f"{node.lineno}: {ast.unparse(node)}")
        elif isinstance(node, ast.Match):
            cases = {value for case in node.cases for value in _literals(case.pattern)} & NAMES
            if cases and (len(cases) > 1 or _mentions_kind(node.subject, aliases)):
                found.append(f"{node.lineno}: match {ast.unparse(node.subject)}")
        elif isinstance(node, ast.Dict):
            keys = {value for key in node.keys if key is not None for value in _literals(key)}
            if len(keys & NAMES) > 1:
                found.append(f"{node.lineno}: {ast.unparse(node)}")
        elif isinstance(node, ast.Set | ast.List | ast.Tuple):
            values = [_literals(each) & NAMES for each in node.elts]
            if len(values) > 1 and all(values):
                found.append(f"{node.lineno}: {ast.unparse(node)}")
        elif isinstance(node, ast.Subscript | ast.Call) and _looks_up_a_kind(node, aliases):
            found.append(f"{node.lineno}: {ast.unparse(node)}")
    return found


def _names_for_a_kind(tree: ast.AST) -> set[str]:
    """Local names that were given a kind, as `k` in `k = memory.kind`."""
    names: set[str] = set()
    for node in ast.walk(tree):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            given, targets = node.value, node.targets
        elif isinstance(node, ast.NamedExpr):
            given, targets = node.value, [node.target]
        elif isinstance(node, ast.For | ast.comprehension):
            given, targets = node.iter, [node.target]
        if targets and _mentions_kind(given, set()):
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


def _mentions_kind(node: ast.AST, aliases: set[str]) -> bool:
    """Whether an expression speaks of a kind, or of one of the names that hold one."""
    return any(
        (isinstance(part, ast.Name) and ("kind" in part.id.lower() or part.id in aliases))
        or (isinstance(part, ast.Attribute) and "kind" in part.attr.lower())
        or (isinstance(part, ast.Constant) and part.value == "kind")
        for part in ast.walk(node)
    )


def _literals(node: ast.AST) -> set[str]:
    return {
        part.value.lower()
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }


def _looks_up_a_kind(node: ast.Subscript | ast.Call, aliases: set[str]) -> bool:
    """`{"fact": 1}[memory.kind]` and `{"fact": 1}.get(memory.kind)`: a table of one row."""
    if isinstance(node, ast.Subscript):
        table: ast.AST = node.value
        keys: list[ast.AST] = [node.slice]
    elif isinstance(node.func, ast.Attribute):
        table, keys = node.func.value, list(node.args)
    else:
        return False
    return (
        isinstance(table, ast.Dict)
        and any(key is not None and _literals(key) & NAMES for key in table.keys)
        and any(_mentions_kind(key, aliases) for key in keys)
    )


def test_no_module_branches_on_a_kind() -> None:
    found = {
        name: branches(ast.parse(path.read_text(encoding="utf-8")))
        for name, path in modules().items()
        if name != "kinds.py"
    }
    assert {path: lines for path, lines in found.items() if lines} == {}


BRANCHES = [
    'if kind == "fact": pass',
    'if "fact" == memory.kind: pass',
    'if memory.kind != "Progress": pass',
    'if memory.kind in ("fact", "issue"): pass',
    'if memory.kind in {"fact"}: pass',
    'x = 1 if row.kind.name == "decision" else 2',
    'k = memory.kind\nif k == "gotcha": pass',
    'if (k := memory.kind) and k == "gotcha": pass',
    'for row in kinds:\n    if row.name == "context": pass',
    'y = [row for row in kinds if row.name == "context"]',
    'if data["kind"] == "episode": pass',
    'if getattr(memory, "kind") == "episode": pass',
    'match memory.kind:\n    case "fact": pass',
    'match word:\n    case "fact" | "issue": pass',
    'WEIGHT = {"fact": 1, "issue": 2}',
    'w = {"fact": 1}[memory.kind]',
    'w = {"fact": 1}.get(memory.kind, 0)',
    'FADING = {"progress", "context"}',
    'FADING = ("progress", "context")',
]
NO_BRANCHES = [
    'memory = Memory(kind="achievement", title="x")',
    'kind = kinds.parse("fact")',
    'if event == "context": pass',
    "if memory.kind == other.kind: pass",
    "if kind in kinds: pass",
    'payload = {"context": text}',
    'match event:\n    case "progress": pass',
    'if memory.kind == "": pass',
]


def test_the_check_finds_every_branch_on_a_kind_and_nothing_else() -> None:
    assert [code for code in BRANCHES if not branches(ast.parse(code))] == []
    assert [code for code in NO_BRANCHES if branches(ast.parse(code))] == []
