"""Small faults that could stand in a source text: a comparison turned round, a statement left out.

Owns finding them; running tests on them is `mutants`' part. A text that only people read is left
alone: docstrings, messages of what is raised, f-strings. So are annotations, `TYPE_CHECKING`,
imports and decorators, which say how a thing is made rather than what it does, and what depends on
the system: a branch for Windows is tried there or nowhere.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_REACHED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_WINDOWS = "os.name == 'nt'"
"""The condition of what is there for Windows only."""
_LEFT_ALONE = (ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Raise)
_WITHOUT_EFFECT_ELSE = (ast.Expr, ast.AugAssign, ast.Raise, ast.Continue, ast.Break, ast.Delete)


@dataclass(frozen=True)
class Mutant:
    """One fault in one file."""

    path: Path
    """Below the root of the tree."""
    first: int
    last: int
    """The lines of the statement it is in."""
    line: int
    start: int
    end: int
    """The bytes that are replaced."""
    was: str
    becomes: str
    at_import: bool
    """Whether the statement runs when the module is loaded, before any test."""

    def applied(self, text: bytes) -> bytes:
        """The text with the fault in it."""
        return text[: self.start] + self.becomes.encode() + text[self.end :]

    def __str__(self) -> str:
        was, becomes = (" ".join(each.split())[:70] for each in (self.was, self.becomes))
        return f"{self.path}:{self.line}: {was}  ->  {becomes}"


def sample(root: Path, paths: list[Path], many: int, seed: int) -> list[Mutant]:
    """Choose faults by a seed: statements evenly over all files, one fault in each.

    By statement and not by place, so that a table of a hundred words weighs as much as one `if`.
    """
    chance = random.Random(seed)
    found = [mutants for path in sorted(paths) for mutants in mutants_of(root, path) if mutants]
    return [chance.choice(each) for each in chance.sample(found, min(many, len(found)))]


def mutants_of(root: Path, path: Path) -> Iterator[list[Mutant]]:
    """All faults of a file, statement by statement."""
    text = (root / path).read_bytes()
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    for statement, inside in _statements(ast.parse(text).body, inside=False):
        own = _own_nodes(statement)
        last = max((getattr(each, "end_lineno", 0) for each in own), default=statement.lineno)
        faults: list[Mutant] = []
        for node, becomes in (*_left_out(statement, inside), *_changed(own)):
            start = lines[node.lineno - 1] + node.col_offset
            end = lines[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            was = text[start:end].decode()
            place = (statement.lineno, last, node.lineno, start, end)
            faults.append(Mutant(path, *place, was, becomes, not inside))
        yield faults


def _statements(body: list[ast.stmt], *, inside: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """Statements and those in them, each with whether it stands in a function."""
    for each in body:
        if isinstance(each, ast.If) and "TYPE_CHECKING" in ast.unparse(each.test):
            continue
        if isinstance(each, ast.If) and ast.unparse(each.test).split(" and ")[0] == _WINDOWS:
            yield from _statements(each.orelse, inside=inside)
            continue
        yield each, inside
        deeper = inside or isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(each, name, []), inside=deeper)
        for part in (*getattr(each, "handlers", ()), *getattr(each, "cases", ())):
            yield from _statements(part.body, inside=deeper)


def _own_nodes(statement: ast.stmt) -> list[ast.expr]:
    """Expressions of a statement, without those of statements in it, and only what may change."""
    if isinstance(statement, _LEFT_ALONE) or _is_text(statement):
        return []
    if isinstance(statement, ast.ClassDef):
        return []
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        given = statement.args
        top: list[ast.AST] = [*given.defaults, *(each for each in given.kw_defaults if each)]
    elif isinstance(statement, ast.AnnAssign):
        top = [statement.value] if statement.value else []
    else:
        top = [each for each in ast.iter_child_nodes(statement) if not isinstance(each, ast.stmt)]
    found: list[ast.expr] = []
    while top:
        node = top.pop(0)
        if isinstance(node, (*_LEFT_ALONE, ast.ExceptHandler, ast.match_case)):
            continue
        if isinstance(node, ast.Compare) and ast.unparse(node.left) == "os.name":
            continue
        if isinstance(node, ast.expr):
            found.append(node)
        top.extend(each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.stmt))
    return found


def _is_text(statement: ast.stmt) -> bool:
    """Whether it is a docstring, of a module, a function or a field."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _left_out(statement: ast.stmt, inside: bool) -> Iterator[tuple[ast.stmt | ast.expr, str]]:
    """The statement not there, or its result; its condition the other way round."""
    if not _is_text(statement):
        kept = isinstance(statement, ast.Assign) and any(
            isinstance(each, ast.Attribute | ast.Subscript) for each in statement.targets
        )
        if inside and (kept or isinstance(statement, _WITHOUT_EFFECT_ELSE)):
            yield statement, "pass"
        if isinstance(statement, ast.Return) and not _says_no(statement.value):
            yield statement, "return None"
        if isinstance(statement, ast.If | ast.While) and "os.name" not in ast.unparse(
            statement.test
        ):
            yield statement.test, f"not ({ast.unparse(statement.test)})"


def _says_no(value: ast.expr | None) -> bool:
    """Whether None in its place would be the same, or the same to every `if`."""
    return value is None or (
        isinstance(value, ast.Constant) and (value.value is None or value.value is False)
    )


def _changed(nodes: list[ast.expr]) -> Iterator[tuple[ast.expr, str]]:
    """Operators turned round and values that are another."""
    for node in nodes:
        if isinstance(node, ast.Compare):
            for at, operator in enumerate(node.ops):
                turned = [*node.ops[:at], _COMPARED[type(operator)](), *node.ops[at + 1 :]]
                yield node, _written(ast.Compare(node.left, turned, node.comparators))
        elif isinstance(node, ast.BoolOp):
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield node, _written(ast.BoolOp(other, node.values))
        elif isinstance(node, ast.BinOp) and type(node.op) in _REACHED:
            yield node, _written(ast.BinOp(node.left, _REACHED[type(node.op)](), node.right))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            yield node, _written(node.operand)
        elif isinstance(node, ast.IfExp):
            turned_round = ast.UnaryOp(ast.Not(), node.test)
            yield node, _written(ast.IfExp(turned_round, node.body, node.orelse))
        elif isinstance(node, ast.Constant):
            value = node.value
            if isinstance(value, bool):
                yield node, _written(ast.Constant(not value))
            elif isinstance(value, int | float):
                yield node, _written(ast.Constant(value + 1))
            elif isinstance(value, str | bytes):
                more = f"XX{value}XX" if isinstance(value, str) else b"XX" + value + b"XX"
                yield node, _written(ast.Constant(more))


def _written(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"
