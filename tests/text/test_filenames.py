"""A text names a file by any end of its path, and never by an accident."""

from __future__ import annotations

import pytest

from ltm.text.display import is_tag_of, names_file, names_folder


@pytest.mark.parametrize(
    "text",
    ["see src/app/db.py", "in `db.py`, line 3", "/home/ada/p/src/app/db.py:12 fails", "app\\db.py"],
)
def test_a_file_is_named_by_any_end_of_its_path(text: str) -> None:
    assert names_file(text, "src/app/db.py")


@pytest.mark.parametrize(
    "text", ["tests/db.py", "db.pyc", "mydb.py", "the db", "src/app/db.py.bak"]
)
def test_another_file_is_not_named(text: str) -> None:
    assert not names_file(text, "src/app/db.py")


def test_a_word_is_no_file_but_a_capital_name_is() -> None:
    assert not names_file("the main reason", "bin/main")
    assert names_file("run bin/main first", "bin/main")
    assert names_file("the Makefile builds it", "Makefile")


def test_a_folder_is_named_by_what_lies_in_it_and_only_with_a_path() -> None:
    assert names_folder("src/app/db.py is slow", "src/app")
    assert names_folder("all of src/app/ is generated", "src/app")
    assert not names_folder("the app of the src", "src/app")
    assert not names_folder("src/application/db.py", "src/app")


def test_a_tag_may_be_a_files_name_or_its_stem() -> None:
    assert is_tag_of("Dockerfile", "deploy/Dockerfile")
    assert is_tag_of("billing", "src/billing.py")
    assert not is_tag_of("db", "src/db.py")


def test_no_path_names_nothing_and_a_folder_is_named_by_any_end_of_its_path() -> None:
    assert not names_folder("anything at all", "")
    assert not names_file("anything at all", "./")
    assert names_folder("see the\\app\\db.py", "src/app") is False
    assert names_folder("look at lib/src/app", "src/app")
    assert names_folder("it is in src\\app.", "src/app")
