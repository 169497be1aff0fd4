"""Text of strangers put into Markdown so that it stays text.

What users typed and tools printed may hold anything: terminal escapes, markup, fences, our own
markers. Imports `core.screen`.
"""

from __future__ import annotations

import re

from ltm.core.screen import one_line, visible

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~$])")
_TICKS = re.compile(r"`+")


def plain(text: str, most: int = 0) -> str:
    """A text on one line in which nothing is markup."""
    line = one_line(text)
    return _MARKUP.sub(r"\\\1", line[:most] if most else line)


def code(text: str, most: int = 0) -> str:
    """A text as code on one line, also inside a table."""
    line = one_line(text).replace("|", "¦")
    line = line[:most] if most else line
    fence = _fence(line, 1)
    return f"{fence} {line} {fence}" if "`" in line else f"`{line}`" if line else ""


def block(lines: list[str]) -> str:
    """Lines as a block of code that nothing inside can end."""
    text = "\n".join(visible(line) for line in lines)
    fence = _fence(text, 3)
    return f"{fence}text\n{text}\n{fence}"


def row(*cells: object) -> str:
    """A row of a table."""
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def header(*cells: str) -> str:
    """The head of a table."""
    return f"{row(*cells)}\n|{'|'.join(' --- ' for _ in cells)}|"


def _fence(text: str, least: int) -> str:
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    return "`" * max(least, longest + 1)
