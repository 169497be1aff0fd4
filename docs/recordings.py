"""Recordings of a terminal for the tutorial, made of a golden story, which a test plays.

A recording is an SVG of plain text: it can be searched and copied, and fetches nothing. Its lines
come one after the other, once; where people ask for no motion, all are there from the beginning.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from textwrap import wrap

STORY = Path(__file__).parents[1] / "tests" / "golden" / "tutorial.txt"
FOLDER = Path(__file__).parent / "images"
PICTURES = {
    "terminal-keep.svg": ("ltm remember", "ltm recall"),
    "terminal-told.svg": ("ltm inject",),
    "terminal-right.svg": ("ltm forget", "ltm restore"),
}
"""Which commands of the story a picture shows, by how they begin."""

_NAMES = {
    "<home>": "/home/anna",
    "<hash>": "3f9c2d71ab",
    "<today>": "2026-11-19",
    "<mem-1>": "mem_1m7rz0hcs5gkhcae",
    "<mem-2>": "mem_1m7rz0jg106fxwwy",
}
_COLUMNS, _LEFT, _TOP, _ROW, _WIDTH = 96, 18, 46, 19, 8.45
_TYPING, _PRINTING = 1.2, 0.15
"""Seconds after which a line follows one that was typed, and one that was printed."""


def pictures() -> dict[str, str]:
    """Every picture by its file's name."""
    shown = STORY.read_text(encoding="utf-8")
    for name, value in _NAMES.items():
        shown = shown.replace(name, value)
    commands = re.split(r"^(?=\$ )", shown, flags=re.M)[1:]
    return {
        name: _picture([each for each in commands if each[2:].startswith(begins)])
        for name, begins in PICTURES.items()
    }


def _picture(commands: list[str]) -> str:
    rows: list[tuple[str, str]] = []
    for command in commands:
        typed, *printed = command.strip().splitlines()
        rows += [("typed" if place == 0 else "", each) for place, each in enumerate(_folded(typed))]
        for line in printed:
            text = re.sub(r"^2?\| ?", "", line).expandtabs(4)
            rows += [("", each) for each in _folded(text)]
        rows.append(("", ""))
    rows = rows[:-1]
    height = _TOP + _ROW * len(rows)
    width = round(2 * _LEFT + _COLUMNS * _WIDTH)
    lines = []
    moment = 0.3
    for place, (style, text) in enumerate(rows):
        if text:
            lines.append(
                f'<text class="{style}" x="{_LEFT}" y="{_TOP + _ROW * place}"'
                f' style="animation-delay:{moment:.2f}s" xml:space="preserve">{escape(text)}</text>'
            )
        moment += _TYPING if style else _PRINTING
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            "<style>text{font:14px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
            "fill:#d7dde5}.typed{fill:#8fd694;font-weight:600}"
            "@media (prefers-reduced-motion:no-preference){text{animation:come .2s both}}"
            "@keyframes come{from{opacity:0}}</style>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#161b22"/>',
            *(
                f'<circle cx="{_LEFT + 4 + 18 * place}" cy="18" r="5" fill="{colour}"/>'
                for place, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
            ),
            *lines,
            "</svg>\n",
        ]
    )


def _folded(text: str) -> list[str]:
    """A line as a terminal of some width shows it."""
    indent = " " * (len(text) - len(text.lstrip()))
    return wrap(text, _COLUMNS, subsequent_indent=indent, break_on_hyphens=False) or [""]
