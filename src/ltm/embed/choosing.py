"""Which embedder is in use: the user's options, and what is installed.

Owns the choice, and saying it to a person. A repository's config has no say in it. numpy and a
table are loaded when an embedder is opened, and kept for the life of the process. Imports core,
storage and this package.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from ltm.embed.embedder import Embedder
from ltm.embed.packages import INSTALL, PACKAGES, installed
from ltm.storage.config import Config

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
    from ltm.embed.api import KEY

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
    from ltm.embed.api import EmbeddingsApi

    return EmbeddingsApi(base_url, key, model, timeout)
