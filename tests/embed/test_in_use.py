"""A person sees what finds memories besides their words, and what to type for more."""

from __future__ import annotations

from ltm.embed.choose import INSTALL, installed
from tests.cli.runner import Ltm


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


def test_a_broken_file_of_vectors_is_no_illness_that_stays(ltm: Ltm) -> None:
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
    assert INSTALL.startswith("pip install '.[vectors]'")
