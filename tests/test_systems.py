"""Where systems differ is in these modules and no others; most of it was run on Linux only."""

from __future__ import annotations

import ast

from tests.source import modules

ASKED = {"os.name", "sys.platform", "os.fork", "os.posix_spawn", "os.killpg", "os.getuid"}
MODULES = {"fcntl", "msvcrt", "pwd", "grp", "resource", "_winapi", "winreg"}
DIFFER = {
    "locks": "files/lock",
    "durable writes, modes, names of open files": "files/atomic",
    "paths of home and temporary folders": "project/home project/git project/identity",
    "who owns a spool, how a worker is started": "spool/events hook/receive cli/plugin",
    "a deadline by a child or by a thread": "hook/deadline",
    "ending git, and the addresses it takes": "project/git_command remote/repository",
    "places and forms of clients' settings": (
        "clients/clients clients/settings clients/environment cli/setup store/share"
    ),
    "ending a client's processes, and its paths": "llm/claude_cli llm/http_api mcp/server",
    "limits of handles, permissions": "http/connection upkeep/doctor_checks",
    "an editor, colours": "cli/edit cli/output",
    "whether a running process can answer": "cli/question_socket hook/answer",
    "where clients keep sessions": "sessions/port",
    "which package of vectors has a wheel": "embed/embedder",
    "files that are open": "store/project transfer/export",
}
"""What differs, and the modules that ask which system it is."""


def asks(tree: ast.AST) -> bool:
    """Whether a module asks which system it runs on, or uses what only some have."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ASKED:
            return True
        if isinstance(node, ast.Import) and {each.name for each in node.names} & MODULES:
            return True
    return False


def test_only_these_modules_differ_by_system() -> None:
    found = {
        name.removesuffix(".py")
        for name, path in modules().items()
        if asks(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == {name for names in DIFFER.values() for name in names.split()}
