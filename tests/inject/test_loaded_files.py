"""What the client loads by itself is found, and nothing in a repository can hang or mislead us."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ltm.inject.instruction_files import loaded_text


def test_the_files_of_the_folder_and_of_those_above_are_read(tmp_path: Path) -> None:
    project = tmp_path / "work" / "shop"
    (project / ".claude").mkdir(parents=True)
    (tmp_path / "work" / "CLAUDE.md").write_text("above")
    (project / "CLAUDE.md").write_text("here")
    (project / ".claude" / "CLAUDE.md").write_text("hidden folder")
    (project / "CLAUDE.local.md").write_text("local")
    (project / "AGENTS.md").write_text("for other clients")
    user = tmp_path / "user"
    user.mkdir()
    (user / "CLAUDE.md").write_text("everywhere")
    text = loaded_text(str(project), str(user))
    for expected in ("above", "here", "hidden folder", "local", "everywhere"):
        assert expected in text
    assert "other clients" not in text


AGENTS_MD = [
    ({"AGENTS.md": "AAA @more.md", "more.md": "imported"}, "AAA imported"),
    ({".claude/AGENTS.md": "AAA"}, "AAA"),
    ({"../AGENTS.md": "AAA"}, "AAA"),
    ({"AGENTS.md": "AAA", "CLAUDE.md": " \n"}, "AAA"),
    ({"AGENTS.md": "AAA", "CLAUDE.md": "CCC"}, "CCC"),
    ({"AGENTS.md": "AAA", ".claude/CLAUDE.md": "CCC"}, "CCC"),
    ({"AGENTS.md": "AAA", "CLAUDE.local.md": "CCC"}, "CCC"),
    ({"AGENTS.md": "AAA", "../CLAUDE.md": "CCC"}, "CCC"),
    ({"../AGENTS.md": "AAA", "CLAUDE.md": "CCC"}, "CCC"),
    # The client reads it, we do not: so AGENTS.md is not loaded.
    ({"AGENTS.md": "AAA", "CLAUDE.md": "C" * 300_000}, ""),
    # What was chosen there is the client's business: a memory told twice is better than none.
    ({"AGENTS.md": "AAA", ".claude/settings.json": '{"x": {"agents-md@builtin": {}}}'}, ""),
]


@pytest.mark.parametrize(("files", "expected"), AGENTS_MD)
def test_agents_md_is_read_in_place_of_a_missing_claude_md_by_clients_that_do(
    files: dict[str, str], expected: str, tmp_path: Path
) -> None:
    """As seen in Claude Code 2.1.325; `tests/e2e/test_views.py` looks at the real client."""
    project = tmp_path / "work" / "shop"
    for name, content in files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    user = tmp_path / "user"
    user.mkdir()
    (user / "CLAUDE.md").write_text("everywhere")
    text = loaded_text(str(project), str(user), agents_md=True)
    assert "everywhere" in text
    for word in ("AAA", "CCC", "imported"):
        assert (word in text) is (word in expected)
    assert "AAA" not in loaded_text(str(project), str(user))


def test_imports_inside_the_project_are_followed_once(tmp_path: Path) -> None:
    (tmp_path / "docs" / "my notes").mkdir(parents=True)
    (tmp_path / "CLAUDE.md").write_text("see @docs/a.md and\n@docs/my\\ notes/b.md")
    (tmp_path / "docs" / "a.md").write_text("first @../CLAUDE.md @c.md")
    (tmp_path / "docs" / "c.md").write_text("third")
    (tmp_path / "docs" / "my notes" / "b.md").write_text("second")
    text = loaded_text(str(tmp_path))
    assert [text.count(word) for word in ("first", "second", "third", "see @docs")] == [1, 1, 1, 1]


def test_an_import_in_code_or_from_outside_is_not_followed(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    (tmp_path / "secret.md").write_text("outside")
    (project / "a.md").write_text("in code")
    (project / "link.md").symlink_to(tmp_path / "secret.md")
    (project / "CLAUDE.md").write_text(
        "`@a.md` and\n```\n@a.md\n```\n@../secret.md @link.md ana@a.md"
    )
    text = loaded_text(str(project))
    assert "outside" not in text
    assert "in code" not in text


def test_pipes_giants_and_folders_tell_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "CLAUDE.md")
    (tmp_path / "CLAUDE.local.md").write_bytes(b"x" * 300_000)
    (tmp_path / ".claude" / "CLAUDE.md").mkdir(parents=True)
    assert "x" not in loaded_text(str(tmp_path))


def test_a_file_that_is_not_utf8_is_read_as_well_as_can_be(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_bytes(b"\xef\xbb\xbfNever push \xff to main")
    assert loaded_text(str(tmp_path)).startswith("Never push")
