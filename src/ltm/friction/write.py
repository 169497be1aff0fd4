"""The files of an analysis, and that they stay private.

Owns the folder: seven files, each replaced as a whole, readable by the user only, and a
`.gitignore`, because they quote what people typed. Imports `storage.durable` and this package.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

from ltm.core.errors import Refused
from ltm.core.rulestate import Rule
from ltm.friction.analyse import Analysis
from ltm.friction.report import report
from ltm.friction.review import review
from ltm.storage.durable import make_folder, remove_file, write_file
from ltm.storage.plainfile import is_inside

FOLDER = os.path.join(".claude", "friction")
"""Where the files are written inside a project."""

NAMES = (
    "friction_raw.jsonl",
    "friction_analysis.json",
    "friction_summary.json",
    "antigen_candidates.json",
    "antigen_clusters.json",
    "antigen_review.md",
    "report.md",
)
"""The files of an analysis."""

# Made once: `json.dumps` makes one for each call that does not want plain ASCII.
_encode = json.JSONEncoder(ensure_ascii=False).encode

IGNORE = "# What people typed is quoted here: not for the repository.\n*\n"


def write(found: Analysis, folder: str, rules: Sequence[Rule] = (), root: str = "") -> list[str]:
    """Write all files and give back their paths; with a `root` the folder must lie inside it."""
    if root and not is_inside(folder, root):
        raise Refused(
            "this folder leads out of the project",
            path=folder,
            hint="replace the link with a folder, or name another one with --out",
        )
    fresh = not os.path.isdir(folder) or not os.listdir(folder)
    make_folder(folder)
    ignore = os.path.join(folder, ".gitignore")
    written: list[str] = []
    # Never into a folder of the user's that holds other things: it would hide them all from git.
    if (fresh or root) and not os.path.lexists(ignore):
        write_file(ignore, IGNORE.encode(), mode=0o644)
        written.append(ignore)
    for name, text in files(found, rules).items():
        path = os.path.join(folder, name)
        write_file(path, text.encode("utf-8", "backslashreplace"))
        written.append(path)
    return written


def remove(root: str) -> int:
    """Delete the files of a project's own folder, which can be made again; how many there were."""
    folder = os.path.join(root, FOLDER)
    if not is_inside(folder, root):
        return 0
    names = [name for name in NAMES if os.path.isfile(os.path.join(folder, name))]
    for name in names:
        remove_file(os.path.join(folder, name))
    return len(names)


def files(found: Analysis, rules: Sequence[Rule] = ()) -> dict[str, str]:
    """The text of every file by its name."""
    texts = (
        "".join(
            f"{_encode(signal.record(each.heard.name))}\n"
            for each in found.sessions
            for signal in each.heard.signals
        ),
        _list(each.record() for each in found.sessions),
        _object(found.summary),
        _list(each.record() for each in found.candidates),
        _list(each.record() for each in found.clusters),
        review(found),
        report(found, rules),
    )
    return dict(zip(NAMES, texts, strict=True))


def _list(records: Iterable[dict[str, Any]]) -> str:
    """One record a line: quick to write, and a change shows where it is."""
    lines = ",\n".join(map(_encode, records))
    return f"[\n{lines}\n]\n" if lines else "[]\n"


def _object(record: dict[str, Any]) -> str:
    """One key a line."""
    lines = ",\n".join(f"{_encode(key)}: {_encode(record[key])}" for key in record)
    return f"{{\n{lines}\n}}\n"
