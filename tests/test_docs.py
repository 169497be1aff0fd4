"""What the documents say is what the code does."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs import recordings
from docs.generate import FOLDER, pages
from tests.test_import_direction import ORDER

ROOT = Path(__file__).parent.parent


def test_generated_pages_are_fresh() -> None:
    for name, text in pages().items():
        kept = (FOLDER / name).read_text(encoding="utf-8")
        assert kept == text, f"{name}: run python -m docs.generate"


def test_a_picture_of_a_terminal_shows_what_commands_print() -> None:
    for name, text in recordings.pictures().items():
        kept = (recordings.FOLDER / name).read_text(encoding="utf-8")
        assert kept == text, f"{name}: run python -m docs.generate"


def documents() -> list[Path]:
    return sorted(path for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_inside_the_project_lead_somewhere(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target:
            assert (path.parent / target).exists(), target


def test_the_readme_is_one_screen() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 50


def test_the_map_names_every_package_in_the_order_of_imports() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.partition("| package | holds |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert [name for row in rows for name in re.findall(r"`([\w.]+)`", row)] == ORDER


AVOIDED = re.compile(
    r"\b(?:anew|whoever|nobody|somebody|of ours|beside)\b|(?<!there )\bis no (?!longer\b)", re.I
)


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """The docstrings, messages and comments of a file, each with the line it begins at."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":  # a sentence may go on in the next line
        yield 1, re.sub(r"```.*?```|^ {4}.*?$", "", text, flags=re.S | re.M)
        return
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), start=1)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
    lines: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            lines.append(token.string.lstrip("# "))
        elif token.type != tokenize.NL and lines:  # a sentence may go on in the next comment
            yield token.start[0] - len(lines), " ".join(lines)
            lines = []


def avoided(text: str) -> list[str]:
    named = re.sub(r"`[^`]*`", "…", text)  # the name of a module or a function
    return AVOIDED.findall(" ".join(named.split()))


def test_documents_docstrings_comments_and_messages_are_plain_english() -> None:
    kinds = (".py", ".sh", ".md", ".html", ".css")
    shipped = [*(ROOT / "src").rglob("*"), *(ROOT / "server").rglob("*")]
    paths = [path for path in sorted(shipped) if path.suffix in kinds]
    paths += [*documents(), *sorted(path for path in (ROOT / "dev").iterdir() if path.is_file())]
    assert len(paths) > 100
    found = [
        f"{path.relative_to(ROOT)}:{line}: {words}"
        for path in paths
        for line, text in prose(path)
        if (words := avoided(text))
    ]
    assert found == []


def test_names_of_tests_are_plain_english() -> None:
    files = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, text in files.items()
        for name in re.findall(r"^ *(?:async )?def (test_\w+)", text, re.M)
        if avoided(name.replace("_", " "))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('"""Make the index\nanew."""', ["anew"]),
        ("x = 1  # for whoever asks", ["whoever"]),
        ("# what is\n# no date\nx = 1", ["is no "]),
        ('print(f"{x} is no date")', ["is no "]),
        ('print("there is no such date, and it is no longer used")', []),
        ("def beside(nobody): ...", []),
        ('"""As `beside` does."""', []),
    ],
)
def test_words_to_avoid_are_found_in_prose_and_not_in_names(
    tmp_path: Path, code: str, found: list[str]
) -> None:
    path = tmp_path / "module.py"
    path.write_text(code + "\n", encoding="utf-8")
    assert [word for _, text in prose(path) for word in avoided(text)] == found
