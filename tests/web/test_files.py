"""What the page is made of: few files, no step to build them, and only the page loads them."""

from __future__ import annotations

import gzip
import hashlib
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import ltm.web
from ltm.web.app import _STATIC

FOLDER = Path(ltm.web.__file__).parent
HTMX = "e484d9171a9db30a39c8f16e3d709d4137f3211c659f8e6125816635033d593f"
"""SHA-256, unpacked, of dist/htmx.min.js in the npm package htmx.org 4.0.0 (0BSD)."""


def test_htmx_is_the_file_of_its_package() -> None:
    data = gzip.decompress((FOLDER / "static" / "htmx.min.js.gz").read_bytes())
    assert hashlib.sha256(data).hexdigest() == HTMX
    assert "Zero-Clause BSD" in (FOLDER / "static" / "htmx.LICENSE.txt").read_text()


def test_the_page_is_small() -> None:
    files = [path for path in FOLDER.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    packed = sum(len(zlib.compress(path.read_bytes())) for path in files)  # as in a wheel
    assert packed <= 200_000
    assert len((FOLDER / "static" / "page.js").read_text().splitlines()) <= 150
    assert {path.name for path in (FOLDER / "static").iterdir()} == {
        *_STATIC.values(),
        "htmx.LICENSE.txt",
    }


def test_no_template_marks_text_as_safe_or_has_script_style_or_address_of_its_own() -> None:
    for path in (FOLDER / "pages").iterdir():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe|autoescape|hx-on|js:|style=|<style|onclick", text), path
        assert re.findall(r"<script(?! src=\"/static/)", text) == [], path
        assert re.findall(r"https?://(?!127)", text.replace("http-equiv", "")) == [], path
    style = (FOLDER / "static" / "page.css").read_text(encoding="utf-8")
    assert "url(" not in style
    assert "@import" not in style


@pytest.mark.parametrize(
    "module", ["ltm.cli.main", "ltm.hook.main", "ltm.mcp.server", "ltm.cli.app"]
)
def test_hooks_commands_and_mcp_load_none_of_it(module: str) -> None:
    code = (
        f"import sys, {module};"
        " print([each for each in sys.modules if 'jinja2' in each or 'ltm.web' in each])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
