"""Whether a person said that they trust what a repository brought along: memories, and an agent.

One small file per project, `<home>/projects/<id>/trust.json`, holds for each shared vault the
answer that was given, `true` or `false`, under a name made of the repository's place on this
machine and the vault's place in it. So all work trees of a repository share the answer, what is
pulled later is covered by it, and another copy of the repository, wherever from, is asked about
again. It is never in the repository.
"""

from __future__ import annotations

import os

from ltm.files.atomic import make_folder, read_plain, write_file
from ltm.files.fastjson import read_object, write
from ltm.project.identity import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

FILE = "trust.json"
ASIDE = "untrusted-"
"""Prefix of the folders, next to that file, with the indexes of untrusted vaults."""


def answer(private: str, project: Project, shared: str) -> bool | None:
    """What was said about a vault; None when not asked yet, or the file is not readable."""
    said = _read(private).get(_name(project, shared))
    return said if isinstance(said, bool) else None


def of_repository(private: str, project: Project) -> bool | None:
    """Whether any vault of a repository is trusted, and so those who can commit to it; None when
    not asked yet."""
    place = _name(project, "")
    said = [each for name, each in _read(private).items() if name.startswith(place)]
    return any(said) if said else None


def record(
    private: str,
    project: Project,
    shared: str,
    trusted: bool | None,
    discard_index: Callable[[str], None],
) -> None:
    """Keep the answer about a vault; None takes it back."""
    from shutil import rmtree

    from ltm.files.lock import Lock

    make_folder(private)
    with Lock(os.path.join(private, ".lock")):
        answers = _read(private)
        before = answers.pop(_name(project, shared), None)
        if trusted and not before:
            # An index that came with the files says what others want it to say.
            discard_index(shared)
        for name in os.listdir(private):
            if name.startswith(ASIDE):
                rmtree(os.path.join(private, name), ignore_errors=True)
        if trusted is not None:
            answers[_name(project, shared)] = trusted
        write_file(os.path.join(private, FILE), f"{write(answers)}\n".encode("ascii"))


def _name(project: Project, shared: str) -> str:
    place = os.path.realpath(project.common_dir or project.root)
    return f"{place}: {os.path.relpath(shared, project.root) if shared else ''}"


def _read(private: str) -> dict[str, object]:
    try:
        said = read_object(read_plain(os.path.join(private, FILE)).decode("ascii"))
    except (OSError, ValueError):
        return {}
    return {name: value for name, value in said.items() if isinstance(value, bool)}
