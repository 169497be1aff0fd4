"""Which embedder is in use is the user's to say, and words alone are always enough."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ltm.config.config import Config, load
from ltm.embed.embedder import installed, open_embedder, standing
from tests.cli.runner import Ltm


def config(tmp_path: Path, text: str = "", shared: str = "") -> Config:
    home, vault = tmp_path / "home", tmp_path / "repo" / ".claude" / "ltm"
    home.mkdir(exist_ok=True)
    vault.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(text)
    (vault / "config.toml").write_text(shared)
    return load(str(home), str(vault))


def test_the_model_that_is_installed_is_in_use_without_a_word(tmp_path: Path) -> None:
    embedder = open_embedder(config(tmp_path))
    assert embedder is not None
    told = standing(config(tmp_path))
    assert embedder.name.startswith(told.model)
    assert told.model in told.said


def test_it_is_loaded_once_in_a_process(tmp_path: Path) -> None:
    assert open_embedder(config(tmp_path)) is open_embedder(config(tmp_path))


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    off = config(tmp_path, '[embed]\nbackend = "none"\n')
    assert open_embedder(off) is None
    assert standing(off).model == ""
    assert "words only" in standing(off).said


@pytest.mark.parametrize("missing", ["weights", "numpy"])
def test_what_is_not_installed_is_not_an_error_and_says_how_to_get_it(
    missing: str, tmp_path: Path
) -> None:
    """In a process of its own, in which these modules cannot be found."""
    names = ("numpy",) if missing == "numpy" else ("wordllama", "lmm")
    (tmp_path / "home").mkdir()
    program = f"""
import importlib.util, sys
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name in {names!r} else real(name, *more)
from ltm.embed.embedder import open_embedder, standing
from ltm.config.config import load
config = load({str(tmp_path / "home")!r})
assert open_embedder(config) is None
assert standing(config).model == ""
print(standing(config).hint)
if {missing!r} == "numpy": assert "numpy" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{sys.executable} -m pip install numpy ")


def test_a_numpy_that_cannot_be_loaded_leaves_the_words_and_is_named(ltm: Ltm) -> None:
    numpy = ltm.home / "broken" / "numpy"
    numpy.mkdir(parents=True)
    text = "libstdc++.so.6: cannot open shared object file"
    (numpy / "__init__.py").write_text(f"raise ImportError('Advice:\\n\\nOriginal: {text}')")

    def typed(*words: str) -> subprocess.CompletedProcess[str]:
        env = {**ltm.environ(), "PYTHONPATH": str(numpy.parent)}
        command = [sys.executable, "-m", "ltm", *words]
        return subprocess.run(command, env=env, cwd=ltm.project, capture_output=True, text=True)

    ltm.ok("remember", "Deploys need the VPN")
    assert "VPN" in typed("recall", "deploy").stdout
    assert f"search goes by words only: Original: {text}" in typed("doctor").stderr


def test_saying_what_is_in_use_loads_nothing_and_using_it_starts_no_threads(
    tmp_path: Path,
) -> None:
    (tmp_path / "home").mkdir()
    program = f"""
import os, sys
from ltm.embed.embedder import open_embedder, standing
from ltm.config.config import load
config = load({str(tmp_path / "home")!r})
standing(config)
assert not {{"numpy", "urllib.request"}} & set(sys.modules)
environ = dict(os.environ)
assert open_embedder(config).embed(["The port is 8081"]).any()
assert dict(os.environ) == environ
assert not os.path.isdir("/proc/self/task") or len(os.listdir("/proc/self/task")) == 1
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_server_is_used_where_the_user_named_one(tmp_path: Path) -> None:
    chosen = config(
        tmp_path,
        '[embed]\nbackend = "api"\nbase_url = "http://127.0.0.1:9"\nmodel = "nomic-embed-text"\n',
    )
    embedder = open_embedder(chosen, {})
    assert embedder is not None
    assert embedder.name == "127.0.0.1/nomic-embed-text"
    assert "http://127.0.0.1:9" in standing(chosen).said


@pytest.mark.parametrize("option", ["backend", "base_url", "model", "timeout"])
def test_a_repository_has_no_say_in_it(option: str, tmp_path: Path) -> None:
    value = '"http://evil.example"' if option != "timeout" else "1"
    value = '"api"' if option == "backend" else value
    theirs = config(tmp_path, shared=f"[embed]\n{option} = {value}\n")
    assert theirs.problems
    assert theirs.own(f"embed.{option}") == theirs.get(f"embed.{option}")
    assert standing(theirs) == standing(config(tmp_path))


def test_status_names_the_model_in_use(ltm: Ltm) -> None:
    package = installed()
    assert package is not None
    assert f"vectors   {package.model}, on this machine" in ltm.ok("status")
    assert ltm.json("status")["vectors"]["model"] == package.model
    assert "ectors" not in ltm.run("doctor").stderr


def test_status_and_doctor_say_what_to_type_where_words_are_all_there_is(ltm: Ltm) -> None:
    ltm.ok("config", "embed.backend", "none")
    said = ltm.json("status")["vectors"]
    assert (said["model"], said["hint"]) == ("", "ltm config --unset embed.backend")
    assert said["hint"] in ltm.ok("status")
    assert said["hint"] in ltm.run("doctor").stderr


def test_a_broken_file_of_vectors_does_not_stay_broken(ltm: Ltm) -> None:
    ltm.ok("remember", "Use ruff for linting")
    [folder] = {path.parent for path in ltm.home.rglob("index.db")}
    (folder / "vectors.db").write_bytes(b"broken" * 1000)
    ltm.run("doctor", "--fix")
    assert not list(folder.glob("vectors.db?*"))
    assert ltm.run("doctor").returncode == 0


def test_what_the_hint_says_works(ltm: Ltm) -> None:
    ltm.ok("config", "embed.backend", "none")
    ltm.ok(*ltm.json("status")["vectors"]["hint"].split()[1:])
    assert ltm.json("status")["vectors"]["model"]
