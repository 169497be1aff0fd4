"""Of a long output, the line that says what went wrong."""

from __future__ import annotations

import pytest

from ltm.capture.commands import looks_failed
from ltm.capture.fixes import in_words, telling_line


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("Exit code 1\n=== FAILURES ===\nE   KeyError: 'name'\n1 failed", "E KeyError: 'name'"),
        (
            "Exit code 2\nsrc/a.c:7: warning: unused\nsrc/a.c:9: error: 'x' undeclared",
            "src/a.c:9: error: 'x' undeclared",
        ),
        (
            "** (CompileError) test/a.exs: cannot compile module A (errors have been logged)\n"
            "error: undefined function get/2",
            "error: undefined function get/2",
        ),
        (
            "ERROR: process did not complete successfully: exit code: 1\n"
            "error: command 'gcc' failed: No such file or directory",
            "error: command 'gcc' failed: No such file or directory",
        ),
        (
            "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve",
            "npm error ERESOLVE unable to resolve",
        ),
        ("\x1b[31mError: no such table\x1b[0m", "Error: no such table"),
        (
            "sed: 1: extra characters at the end\ndeploy failed",
            "sed: 1: extra characters at the end",
        ),
        ("def f(x)\n        ^\nSyntaxError:", "SyntaxError at def f(x)"),
        ("the plan needs a licence", "the plan needs a licence"),
        ("Exit code 1", ""),
        ("", ""),
    ],
)
def test_the_most_telling_line(output: str, line: str) -> None:
    assert telling_line(output) == line


def test_an_error_reads_like_a_sentence_without_its_marks() -> None:
    assert in_words("npm error cannot find x") == "Cannot find x"
    assert in_words("E   KeyError: 'name'") == "KeyError: 'name'"
    assert in_words("bash: foo: command not found") == "foo: command not found"
    assert in_words("error:") == "error:"


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        ("12 tests, 2 failures", True),
        ("12 tests, 0 failures", False),
        ("FAILED tests/test_a.py", True),
        ("** (RuntimeError) no key", True),
        ("ran 3 tests: 1 failed", True),
        ("1 failure", True),
        ("found 1 error", True),
        ("found 13 errors", True),
        ("  --- FAIL: TestA", True),
        ("BUILD FAILED in 2s", True),
        ("error: no such flag", True),
        ("error[E0308]: mismatched types", True),
        ("npm ERR! missing script", True),
        ("npm error code 1", True),
        ("E   assert 1 == 2", True),
        ("Traceback (most recent call last):", True),
        ("thread 'main' panicked at src/main.rs", True),
        ("no errors were found", False),
        ("ok", False),
    ],
)
def test_an_output_tells_of_a_failure_that_its_command_hid(output: str, failed: bool) -> None:
    assert looks_failed(output) is failed


def test_a_huge_output_takes_no_time() -> None:
    assert telling_line("a.b:" * 200_000 + "\nValueError: x") == "ValueError: x"
