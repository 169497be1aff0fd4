"""A question is started from nothing each time, so what it loads is what a person waits for.

Times are in `benchmarks.startup`; here is what they come from, which is the same on every machine.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ltm.cli import demo
from ltm.embed.update import embed_new
from ltm.store.project import OpenProject
from tests.cli.runner import Ltm
from tests.test_import_direction import ORDER

HEAVY = {
    "argparse",
    "ctypes",
    "dataclasses",
    "email",
    "gettext",
    "hashlib",
    "importlib.metadata",
    "inspect",
    "locale",
    "logging",
    "pathlib",
    "platform",
    "random",
    "shutil",
    "socket",
    "subprocess",
    "tempfile",
    "tomllib",
    "typing",
    "unicodedata",
    "urllib",
    "uuid",
}
"""Of the standard library, what takes a millisecond or more and no question needs."""

NOT_ASKED_FOR = {
    "ltm.decisions",
    "ltm.redact.redact",
    "ltm.store.apply",
    "ltm.vault.codec",
    "ltm.vault.fields",
    "ltm.vault.frontmatter",
    "ltm.vault.signing",
}
"""Of our own, what changes memories, reads their files or checks signatures."""

DEMO = str(Path(demo.__file__).with_name("demo.jsonl"))

WITHOUT_VECTORS = "import sys; sys.modules['numpy'] = None; from ltm.cli.main import main; main()"
"""`ltm` as it is installed unless somebody asks for more; tests have everything."""


def loaded(ltm: Ltm, *words: str) -> set[str]:
    """The modules a command loads beyond those of an interpreter that does nothing."""
    ltm.ok(*words)
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", WITHOUT_VECTORS, *words],
        cwd=ltm.project,
        env={"HOME": str(ltm.home), "LTM_HOME": str(ltm.home / ".ltm")},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    names = [line.rpartition("|")[2].strip() for line in lines]
    # What comes before is the interpreter's own start, which `site` ends.
    return set(names[names.index("site") + 1 :])


def packages(names: set[str]) -> set[str]:
    """The packages that modules belong to."""
    return {name.split(".")[1] for name in names if name.startswith("ltm.")}


@pytest.mark.parametrize("has_sessions", [False, True])
def test_a_question_in_plain_words_loads_nothing_it_can_do_without(
    ltm: Ltm, has_sessions: bool
) -> None:
    ltm.ok("remember", "The gateway retries three times")
    if has_sessions:
        ltm.ok("capture", DEMO)
    names = loaded(ltm, "recall", "gateway", "retries")
    tops = {name.partition(".")[0] for name in names}
    assert tops - sys.stdlib_module_names <= {"ltm", "org"}  # `copy` looks for Jython's
    assert not names & (HEAVY | NOT_ASKED_FOR)
    assert packages(names) <= set(ORDER[: ORDER.index("inject")]) - {"sessions", "capture"} | {
        "cli"
    }


@pytest.mark.parametrize("most", ["20_000", "-1"])
def test_vectors_that_are_there_are_compared_without_numpy_until_they_are_many(
    ltm: Ltm, most: str
) -> None:
    """However many: the answer is the same."""
    for text in (
        "The gateway retries three times",
        "Tea is in the kitchen",
        "Deploys need the VPN",
    ):
        ltm.ok("remember", text)
    ltm.ok("capture", DEMO)
    environ = {"HOME": str(ltm.home), "LTM_HOME": str(ltm.home / ".ltm")}
    with OpenProject(str(ltm.project), environ=environ) as project:
        embed_new(project, environ)
    program = (
        f"import sys; import ltm.index.vectors; ltm.index.vectors.PLAIN = {most};"
        "from ltm.cli.main import main; import atexit;"
        "atexit.register(lambda: print('numpy' in sys.modules, file=sys.stderr)); main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "recall", "gateway", "attempts"],
        cwd=ltm.project,
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.splitlines()[-1] == f"{most == '-1'}"
    assert done.stdout == ltm.ok("recall", "gateway", "attempts")
    assert "retries three times" in done.stdout


def test_options_are_for_the_command_line_library(ltm: Ltm) -> None:
    ltm.ok("remember", "The gateway retries three times")
    names = loaded(ltm, "recall", "gateway", "-n", "5")
    assert "click" in names
    assert not names & NOT_ASKED_FOR


def test_both_ways_to_ask_answer_alike(ltm: Ltm) -> None:
    ltm.ok("remember", "The gateway retries three times")
    ltm.ok("remember", "We use ruff for linting")
    plain = ltm.run("recall", "gateway", "retries")
    parsed = ltm.run("recall", "--limit", "10", "gateway", "retries")
    assert (plain.returncode, plain.stdout, plain.stderr) == (
        parsed.returncode,
        parsed.stdout,
        parsed.stderr,
    )
    assert "gateway" in plain.stdout
    assert ltm.run("recall", "nowhere").stderr == ltm.run("recall", "--", "nowhere").stderr
    assert ltm.run("recall").returncode == 2


def test_a_plain_question_that_cannot_be_answered_says_why(ltm: Ltm) -> None:
    done = ltm.run("recall", "gateway", LTM_HOME="not/absolute")
    assert done.returncode == 2
    assert done.stderr.startswith("ltm: LTM_HOME is 'not/absolute'")
    assert done.stdout == ""
