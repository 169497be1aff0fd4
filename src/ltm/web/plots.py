"""Plots as SVG that the server draws; every plot stands next to a table with its figures.

No style stands in an attribute, which the page's policy refuses: colours are classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, pi, sin
from typing import Any

from markupsafe import Markup, escape

from ltm.text.sentences import shortened

_WIDE, _HIGH = 480, 150
_LEFT, _BELOW = 34, 22
_BAR = 14
_WIDEST = 44  # of a bar, so that few values do not look like a wall
_SHORT = 24  # characters of a title in a graph


def bars(values: Sequence[tuple[str, float]], title: str) -> Markup:
    """One bar for each value, with its name below."""
    if not values:
        return Markup("")
    most = max(max(value for _, value in values), 1e-9)
    step = (_WIDE - _LEFT) / len(values)
    high = _HIGH - _BELOW
    parts = [_grid(most, high)]
    every = -(-len(values) // 6)
    for number, (name, value) in enumerate(values):
        size = value / most * (high - 8)
        wide = min(step * 0.7, _WIDEST)
        left = _LEFT + number * step + (step - wide) / 2
        parts.append(
            Markup(
                '<rect class="bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="2">'
                "<title>{}: {:g}</title></rect>"
            ).format(left, high - size, wide, size, name, value)
        )
        if number % every == 0:
            parts.append(
                Markup(
                    '<text class="label" x="{:.1f}" y="{}" text-anchor="middle">{}</text>'
                ).format(left + wide / 2, _HIGH - 6, name)
            )
    return _svg(_WIDE, _HIGH, title, parts)


def line(values: Sequence[tuple[str, float]], title: str) -> Markup:
    """Values as a line over time."""
    if len(values) < 2:
        return bars(values, title)
    most = max(max(value for _, value in values), 1e-9)
    high = _HIGH - _BELOW
    step = (_WIDE - _LEFT - 12) / (len(values) - 1)
    points = [
        (_LEFT + 6 + number * step, high - value / most * (high - 8))
        for number, (_, value) in enumerate(values)
    ]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    first, last = points[0][0], points[-1][0]
    area = f"{first:.1f},{high} {path} {last:.1f},{high}"
    parts = [
        _grid(most, high),
        Markup('<polygon class="area" points="{}"/>').format(area),
        Markup('<polyline class="line" points="{}"/>').format(path),
    ]
    every = -(-len(values) // 6)
    for number, ((name, value), (x, y)) in enumerate(zip(values, points, strict=True)):
        parts.append(
            Markup(
                '<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="3"><title>{}: {:g}</title></circle>'
            ).format(x, y, name, value)
        )
        if number % every == 0:
            anchor = "start" if not number else "middle"
            parts.append(
                Markup('<text class="label" x="{:.1f}" y="{}" text-anchor="{}">{}</text>').format(
                    x, _HIGH - 6, anchor, name
                )
            )
    return _svg(_WIDE, _HIGH, title, parts)


def stack(parts: Sequence[tuple[str, float]], most: float, title: str) -> Markup:
    """One bar that is as long as `most`, filled by its parts."""
    left, drawn = 0.0, []
    whole = max(most, sum(value for _, value in parts), 1e-9)
    for number, (name, value) in enumerate(parts):
        size = value / whole * _WIDE
        drawn.append(
            Markup(
                '<rect class="part part{}" x="{:.1f}" y="0" width="{:.1f}" height="{}">'
                "<title>{}: {:,.0f}</title></rect>"
            ).format(number % 5, left, max(size, 0.0), _BAR, name, value)
        )
        left += size
    return Markup('<div class="stack">{}</div>').format(_svg(_WIDE, _BAR, title, drawn, "none"))


def share(value: float, most: float, number: int = 0) -> Markup:
    """A bar in a row of a table, as long as its part of the greatest value."""
    drawn = Markup('<rect class="part{}" width="{:.1f}" height="10"/>').format(
        number % 5, value / max(most, 1e-9) * 100
    )
    return Markup(
        '<svg class="share" viewBox="0 0 100 10" preserveAspectRatio="none"'
        ' aria-hidden="true">{}</svg>'
    ).format(drawn)


def graph(centre: Mapping[str, Any], around: Sequence[Mapping[str, Any]], address: Any) -> Markup:
    """A memory in the middle of those that belong to it; each is a link."""
    if not around:
        return Markup("")
    wide, high = 720, 200 if len(around) < 7 else 340
    middle = (wide / 2, high / 2)
    parts: list[Markup] = []
    nodes: list[Markup] = []
    for number, each in enumerate(around):
        angle = 2 * pi * number / len(around) - pi / 2
        reach = 1.0 if number % 2 or len(around) < 9 else 0.66
        x = middle[0] + cos(angle) * (wide / 2 - 120) * reach
        y = middle[1] + sin(angle) * (high / 2 - 34) * reach
        weak = "" if each["how"][:6] not in ("speaks", "shares") else " weak"
        parts.append(
            Markup('<line class="edge{}" x1="{:.0f}" y1="{:.0f}" x2="{:.0f}" y2="{:.0f}"/>').format(
                weak, *middle, x, y
            )
        )
        link = address(f"/m/{each['id']}")
        nodes.append(_node(x, y, middle[1], each, link))
    nodes.append(
        Markup(
            '<circle class="node here" cx="{:.0f}" cy="{:.0f}" r="9"><title>{}</title></circle>'
        ).format(*middle, centre["title"])
    )
    title = "This memory and what belongs to it"
    return _svg(wide, high, title, [*parts, *nodes], role="group")


def _node(x: float, y: float, middle: float, memory: Mapping[str, Any], link: str) -> Markup:
    title = str(memory["title"])
    short = shortened(title, _SHORT)
    below = y + (-12 if y < middle else 20)
    return Markup(
        '<a href="{}"><circle class="node {}" cx="{:.0f}" cy="{:.0f}" r="7">'
        "<title>{} ({})</title></circle>"
        '<text class="label" x="{:.0f}" y="{:.0f}" text-anchor="middle">{}</text></a>'
    ).format(link, memory["status"], x, y, title, memory["how"], x, below, short)


def _grid(most: float, high: float) -> Markup:
    lines = [
        Markup(
            '<line class="grid" x1="{}" y1="{:.1f}" x2="{}" y2="{:.1f}"/>'
            '<text class="label" x="{}" y="{:.1f}" text-anchor="end">{:g}</text>'
        ).format(_LEFT, y, _WIDE, y, _LEFT - 6, y + 4, value)
        for value, y in ((round(most, 2), 8.0), (0, float(high)))
    ]
    return Markup("").join(lines)


def _svg(
    wide: int,
    high: int,
    title: str,
    parts: Sequence[Markup],
    aspect: str = "xMidYMid",
    role: str = "img",
) -> Markup:
    return Markup(
        '<svg class="plot" viewBox="0 0 {} {}" preserveAspectRatio="{}" role="{}"'
        ' aria-label="{}">{}</svg>'
    ).format(wide, high, aspect, role, escape(title), Markup("").join(parts))
