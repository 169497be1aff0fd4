"""What is shipped, for tests of the code itself: `ltm`, and the server of a team."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = (ROOT / "src" / "ltm", ROOT / "server" / "ltm_server")


def modules() -> dict[str, Path]:
    """Every module by its path in `ltm`; those of the server begin with `ltm_server`."""
    return {
        path.relative_to(package if package.name == "ltm" else package.parent).as_posix(): path
        for package in PACKAGES
        for path in sorted(package.rglob("*.py"))
    }
