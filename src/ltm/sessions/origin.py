"""Where and when a transcript's session began, from its first lines.

Owns finding the transcripts a client keeps on this machine. Imports `lines` and storage's home.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from ltm.sessions.lines import Lines
from ltm.storage.home import client_folder

_FIRST = 200


@dataclass(frozen=True, slots=True)
class SessionOrigin:
    """What the first lines of a transcript tell."""

    session: str
    cwd: str = ""
    started: str = ""


def origin(path: str) -> SessionOrigin:
    """The session of a transcript: by its own words, else by the file's name."""
    session = os.path.basename(path).removesuffix(".gz").removesuffix(".jsonl")
    cwd = started = ""
    for line in islice(Lines(path), _FIRST):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(entry, dict):
            continue
        cwd = cwd or _text(entry.get("cwd"))
        started = started or _text(entry.get("timestamp"))
        if cwd and started:
            break
    return SessionOrigin(session, cwd, started)


def projects_folder(environ: Mapping[str, str] = os.environ) -> str:
    """The folder in which the client keeps a folder of transcripts for each project.

    Nothing where there is no home: a folder of that name below us is not the client's.
    """
    top = client_folder(environ)
    return os.path.join(top, "projects") if top else ""


def all_transcripts(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Every main transcript the client keeps, the one that was written first, first."""
    found: list[tuple[float, str]] = []
    for folder in _entries(projects_folder(environ)):
        for path in _entries(folder):
            if path.endswith(".jsonl"):
                try:
                    found.append((os.stat(path).st_mtime, path))
                except OSError:
                    continue
    return [path for _, path in sorted(found)]


def _entries(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    except OSError:
        return []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
