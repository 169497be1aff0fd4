"""Every query names its distribution column, so that a cluster can send it to one place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from ltm_server import postgres

SOURCE = Path(postgres.__file__).parent
DISTRIBUTED = "memory|former|purged|applied|usage|activity|batch|audit|vector"
OF_TENANT = "person|project|member|token"


def queries() -> Iterator[tuple[str, str]]:
    """Every text of the package that asks a table, with where it stands."""
    for path in sorted(SOURCE.glob("*.py")):
        inner: set[ast.AST] = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if node not in inner and isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp):
                inner.update(ast.walk(node))
                text = written(node)
                if re.search(r"\bltm\.[a-z]+\b", text) and re.search(
                    r"^\s*(with|select|insert|update|delete)\b", text
                ):
                    yield f"{path.name}:{node.lineno}", text


def written(node: ast.AST) -> str:
    """What of a text stands in the source; a value put in is a blank."""
    if isinstance(node, ast.Constant):
        return str(node.value) if isinstance(node.value, str) else " "
    if isinstance(node, ast.JoinedStr):
        return "".join(map(written, node.values))
    if isinstance(node, ast.BinOp):
        return written(node.left) + written(node.right)
    return " "


def named(text: str, column: str) -> int:
    """How often a column is given a value, or is made equal to that of another table."""
    begun = "" if column == "tenant_id" else "tenant_id, "
    return len(re.findall(rf"\b{column} = |insert into ltm\.\w+ ?\({begun}{column}\b", text))


def test_every_query_names_its_project_or_its_tenant() -> None:
    found = list(queries())
    assert len(found) > 40
    for place, text in found:
        asked = len(re.findall(rf"\b(?:from|into|update|join) ltm\.(?:{DISTRIBUTED})\b", text))
        owned = len(re.findall(rf"\b(?:from|into|update|join) ltm\.(?:{OF_TENANT})\b", text))
        projects, tenants = named(text, "project_id"), named(text, "tenant_id")
        assert projects >= asked, f"{place} names no project:\n{text}"
        assert tenants >= asked + owned, f"{place} names no tenant:\n{text}"


def test_the_check_itself_sees_a_query_without_its_project() -> None:
    bad = "select id from ltm.memory where tenant_id = %s and id = %s"
    assert named(bad, "project_id") == 0
    assert named(bad, "tenant_id") == 1
