"""At a terminal: matches stand out, long answers are read in pages, and `recall` asks back."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.runner import Ltm
from tests.cli.test_transfer import entities
from tests.e2e.client.deadline import wait_until
from tests.e2e.client.terminal import Terminal

PORT = "The staging server runs on port 8080"
CHOICE = "We chose Postgres over Redis because jobs must survive a crash"


@contextmanager
def typing(ltm: Ltm, *words: str, **env: str) -> Iterator[Terminal]:
    """A command at a terminal of 50 lines and 160 columns."""
    environ = {**ltm.environ(), "TERM": "xterm", **env}
    terminal = Terminal([sys.executable, "-m", "ltm", *words], environ, ltm.project)
    try:
        yield terminal
    finally:
        if terminal.returncode is None:
            terminal.kill()
        terminal.close()


def seen(terminal: Terminal, text: str) -> str:
    """Wait until a text is on the screen."""
    wait_until(lambda: text in terminal.text(), repr(text), state=terminal.text)
    return terminal.text()


@pytest.fixture
def kept(ltm: Ltm) -> dict[str, str]:
    """Two memories, by their first word."""
    return {text.split()[0]: ltm.json("remember", text)["id"] for text in (PORT, CHOICE)}


@pytest.mark.parametrize(
    ("env", "marked"),
    [({}, "\x1b[1;33mpostgres\x1b[0m"), ({"NO_COLOR": "1"}, ""), ({"TERM": "dumb"}, "")],
)
def test_the_words_that_matched_stand_out(ltm: Ltm, env: dict[str, str], marked: str) -> None:
    ltm.ok("remember", "Jobs are kept in postgres, and postgresql.conf is tuned. 数据库在东京")
    said = ltm.on_a_terminal("recall", "Postgres", **env).decode()
    assert (marked in said) if marked else ("\x1b" not in said)
    assert "postgresql.conf" in re.sub(r"\x1b\[[\d;]*m", "", said)
    if marked:
        assert "\x1b[1;33m数据\x1b[0m" in ltm.on_a_terminal("recall", "数据").decode()


def test_a_title_is_not_printed_twice(ltm: Ltm) -> None:
    long = f"{CHOICE}, and because the operations team knows it well already from the shop"
    ltm.ok("remember", long)
    assert ltm.ok("recall", "Postgres").count("We chose Postgres") == 1
    ltm.ok("remember", "It listens on 9100.", "--title", "Metrics server")
    assert "Metrics server\n    It listens on 9100." in ltm.ok("recall", "metrics server")


def test_a_long_list_goes_through_the_pager_and_a_short_one_does_not(
    ltm: Ltm, kept: dict[str, str], tmp_path: Path
) -> None:
    pager = tmp_path / "pager"
    pager.write_text('#!/bin/sh\nwhile read -r line; do echo "paged: $line"; done\n')
    pager.chmod(0o755)
    with typing(ltm, "list", PAGER=str(pager)) as terminal:
        assert terminal.wait_end() == 0
        assert "paged" not in seen(terminal, PORT)
    ltm.ok("import", str(entities(ltm.project / "memory.jsonl", 60)))
    with typing(ltm, "list", "--limit", "55", PAGER=str(pager)) as terminal:
        assert terminal.wait_end() == 0
        shown = seen(terminal, "paged: ")
        assert shown.rstrip().endswith("go on with --offset 55")


def test_recall_without_words_searches_as_one_types(ltm: Ltm, kept: dict[str, str]) -> None:
    editor = ltm.home / "editor.py"
    editor.write_text(
        "import pathlib, sys\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "path.write_text(path.read_text().replace('8080', '9090'))\n"
    )
    with typing(
        ltm, "recall", EDITOR=shlex.join([sys.executable, str(editor)]), PATH="/nowhere"
    ) as terminal:
        assert CHOICE in seen(terminal, "2 of 2")
        terminal.send("stag")  # the beginning of a word is enough
        assert CHOICE not in seen(terminal, "1 of 1")
        terminal.send("\x18")
        seen(terminal, "Forgot")
        assert ltm.json("show", kept["The"])["status"] == "forgotten"
        terminal.send("\x1a")
        seen(terminal, "Restored")
        terminal.send("\x05")
        seen(terminal, "Changed")
        assert "9090" in ltm.json("show", kept["The"])["text"]
        terminal.send("\x19")
        seen(terminal, "Copied 36 characters")
        terminal.key("enter")
        assert terminal.wait_end() == 0
        assert "version 2" in seen(terminal, f"{kept['The']}  fact, medium")


def test_the_search_is_left_without_opening_anything(ltm: Ltm, kept: dict[str, str]) -> None:
    with typing(ltm, "recall", "--kind", "decision") as terminal:
        assert PORT not in seen(terminal, CHOICE)
        terminal.key("esc")
        assert terminal.wait_end() == 0
    assert ltm.json("show", kept["We"])["usage"]["uses"] == 1  # this one
