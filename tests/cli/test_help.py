"""What `ltm` says of itself: every command in its place, in words that fit, on any terminal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from ltm.cli.app import ALIASES, COMMANDS, HELP, OTHERWISE, SECTIONS, as_meant, ltm
from ltm.hook import main
from tests.cli.runner import Ltm

ROOM = 80 - 2 - len("achievements") - 2 - 2
"""Letters beside a command's name in a terminal of 80 columns."""


def test_every_command_but_the_one_for_hooks_stands_in_one_section_of_the_help() -> None:
    listed = [name for section in SECTIONS.values() for name in section]
    assert len(listed) == len(set(listed))
    assert set(COMMANDS) - set(listed) == {"drain"}


def test_what_a_command_does_is_said_in_one_line_and_never_cut_off() -> None:
    for section in SECTIONS.values():
        for name, does in section.items():
            assert does.endswith("."), name
            assert len(does) <= ROOM, name


@pytest.mark.parametrize("width", [60, 80])
def test_the_list_of_commands_is_whole_at_any_width(width: int) -> None:
    context = click.Context(ltm, info_name="ltm", terminal_width=width, help_option_names=HELP)
    text = ltm.get_help(context)
    assert "..." not in text.replace("[ARGS]...", "")
    assert max(map(len, text.splitlines())) <= width
    for section in SECTIONS.values():
        for name, does in section.items():
            assert f"  {name} " in text
            assert does.split()[-1] in text


def test_the_list_of_commands_loads_none_of_them(ltm: Ltm) -> None:
    done = ltm.run("--help", PYTHONPROFILEIMPORTTIME="1")
    assert "ltm.cli.app" in done.stderr
    assert "ltm.cli.remember" not in done.stderr


def named(name: str) -> click.Command:
    command = ltm.get_command(click.Context(ltm), name)
    assert command is not None
    return command


def helped(name: str) -> str:
    context = click.Context(
        named(name), info_name=f"ltm {name}", terminal_width=80, help_option_names=HELP
    )
    return named(name).get_help(context)


SHORT = {"--dry-run": "-n", "--yes": "-y", "--limit": "-n", "--kind": "-k", "--tag": "-t"}


def test_every_option_says_what_it_does_and_has_the_same_short_form_everywhere() -> None:
    for name in COMMANDS:
        for option in named(name).params:
            if isinstance(option, click.Option):
                assert (option.help or "").endswith((".", "?", "]")), (name, option.opts)
            for word in option.opts:
                assert SHORT.get(word, word) in option.opts, (name, word)


def test_the_help_fits_80_columns_and_shows_how_a_command_that_takes_words_is_typed() -> None:
    for name in COMMANDS:
        shown = helped(name)
        assert max(map(len, shown.splitlines())) <= 80, name
        if any(isinstance(each, click.Argument) for each in named(name).params):
            assert re.search(rf"^  .*\bltm {name}\b", shown, re.M), name


def test_another_word_for_a_command_hides_none_and_leads_to_one() -> None:
    assert not {*ALIASES, *OTHERWISE} & {*COMMANDS}
    assert not {*ALIASES} & {*OTHERWISE}
    for name, meant in ALIASES.items():
        if not meant.startswith("--"):
            ltm.make_context("ltm", [name, "--help"], resilient_parsing=True)
            command = named(meant.split()[0])
            given = [*meant.split()[1:], "--help"]
            command.make_context(name, given, resilient_parsing=True, help_option_names=HELP)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("search why not", "recall why not"),
        ("memory_stats", "stats"),
        ("Add-Decision text reason", "remember --kind decision text --reason reason"),
        ("add-issue text", "remember --kind issue text"),
        ("help", "--help"),
        ("help rm", "forget --help"),
        ("recall help", "recall help"),
        ("remember add", "remember add"),
        ("--help", "--help"),
    ],
)
def test_words_of_other_tools_are_understood(typed: str, meant: str) -> None:
    assert as_meant(typed.split()) == meant.split()


# -- ltm hook ------------------------------------------------------------------------------------


def hook(ltm: Ltm, *words: str, said: str) -> tuple[int, str, str]:
    done = ltm.run("hook", *words, stdin=said)
    return done.returncode, done.stdout, done.stderr


def start(ltm: Ltm, event: str = "SessionStart") -> str:
    return json.dumps(
        {
            "session_id": "s1",
            "cwd": str(ltm.project),
            "hook_event_name": event,
            "source": "startup",
            "transcript_path": str(ltm.home / "s1.jsonl"),
        }
    )


def test_ltm_hook_says_what_the_hook_program_says(ltm: Ltm) -> None:
    ltm.ok("remember", "The staging server runs on port 8080")
    code, said, noise = hook(ltm, "SessionStart", said=start(ltm))
    assert (code, noise) == (0, "")
    assert "port 8080" in said
    other = subprocess.run(
        [sys.executable, "-I", "-S", str(Path(main.__file__))],
        input=start(ltm).replace('"s1"', '"s2"'),
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(ltm.home),
            "LTM_HOME": str(ltm.home / ".ltm"),
            "TMPDIR": str(ltm.home),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert said == other.stdout


@pytest.mark.parametrize("said", ["", "not json", "[]", '{"hook_event_name": 7}', "{}"])
def test_ltm_hook_ends_with_0_and_silence_whatever_it_is_sent(ltm: Ltm, said: str) -> None:
    assert hook(ltm, said=said) == (0, "", "")
    assert hook(ltm, "--nonsense", "Stop", said=said) == (0, "", "")


def test_ltm_hook_keeps_the_event_for_the_next_drain(ltm: Ltm) -> None:
    assert hook(ltm, said=start(ltm, "Stop")) == (0, "", "")
    assert ltm.json("drain")["events"] == 1


def test_ltm_hook_loads_no_command_line(ltm: Ltm) -> None:
    done = ltm.run("hook", stdin=start(ltm), PYTHONPROFILEIMPORTTIME="1")
    names = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "ltm.hook.deadline" in names
    assert not names & {"click", "ltm.cli.app", "yaml"}


def test_ltm_hook_explains_itself_when_asked(ltm: Ltm) -> None:
    assert "hook_event_name" in ltm.ok("hook", "--help")
