"""The faults that `benchmarks.soak.mutants` puts in: real ones, and none where none can be seen."""

from __future__ import annotations

import ast
from pathlib import Path

from benchmarks.soak.mutation import mutants_of, sample

ROOT = Path(__file__).parents[1]
FILES = [Path("src/ltm/files/atomic.py"), Path("src/ltm/policy.py")]


def faults(tmp_path: Path, text: str) -> list[str]:
    (tmp_path / "x.py").write_text(text)
    found = [each for group in mutants_of(tmp_path, Path("x.py")) for each in group]
    return [each.applied(text.encode()).decode() for each in found]


def test_each_fault_is_another_program_that_can_be_run() -> None:
    for path in FILES:
        text = (ROOT / path).read_bytes()
        found = [each for group in mutants_of(ROOT, path) for each in group]
        assert len(found) > 20
        for each in found:
            assert ast.dump(ast.parse(each.applied(text))) != ast.dump(ast.parse(text)), str(each)
            assert each.first <= each.line <= each.last


def test_a_seed_chooses_the_same_faults_again_and_one_in_a_statement() -> None:
    chosen = sample(ROOT, FILES, 12, 3)
    assert chosen == sample(ROOT, FILES, 12, 3)
    assert chosen != sample(ROOT, FILES, 12, 4)
    assert len({(each.path, each.first, each.last) for each in chosen}) == 12


def test_conditions_statements_and_values_are_turned_round(tmp_path: Path) -> None:
    found = faults(tmp_path, "def f(a):\n    if a > 1:\n        g(a)\n    return a\n")
    assert "def f(a):\n    if not (a > 1):\n        g(a)\n    return a\n" in found
    assert "def f(a):\n    if (a >= 1):\n        g(a)\n    return a\n" in found
    assert "def f(a):\n    if a > (2):\n        g(a)\n    return a\n" in found
    assert "def f(a):\n    if a > 1:\n        pass\n    return a\n" in found
    assert "def f(a):\n    if a > 1:\n        g(a)\n    return None\n" in found
    assert len(found) == 5


def test_what_only_people_or_another_system_would_notice_is_left_alone(tmp_path: Path) -> None:
    assert faults(tmp_path, '"""A text."""\nfrom a import b\n') == []
    assert faults(tmp_path, "def f():\n    return None\n") == []
    raised = faults(tmp_path, "def f():\n    raise ValueError('a text')\n")
    assert raised == ["def f():\n    pass\n"]
    windows = "import os\ndef f():\n    if os.name == 'nt':\n        return 1\n    return g()\n"
    assert faults(tmp_path, windows) == [windows.replace("return g()", "return None")]
    also = windows.replace("'nt':", "'nt' and h(2):")
    assert faults(tmp_path, also) == [also.replace("return g()", "return None")]
