"""`dev/release` lets a version through that fits in every place, and builds it twice the same."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from ltm import __version__

ROOT = Path(__file__).parent.parent
KEPT = (
    "src",
    "server",
    "dev",
    "pyproject.toml",
    "server.json",
    "CHANGELOG.md",
    "README.md",
    "LICENSE",
)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository whose version is ready."""
    top = tmp_path / "ltm"
    top.mkdir()
    for name in (*KEPT, "constraints.txt", ".gitignore"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, top / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, top)
    changes = top / "CHANGELOG.md"
    text = re.sub(
        rf"## {__version__} \(unreleased\)",
        f"## {__version__} (2026-12-01)",
        changes.read_text(encoding="utf-8"),
    )
    changes.write_text(text, encoding="utf-8")
    git(top, "init", "-q")
    commit(top)
    assert release(top, __version__, "--url", "https://example.org/me/ltm").returncode == 0
    commit(top)
    return top


def git(top: Path, *words: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *words], cwd=top, check=True, capture_output=True)


def commit(top: Path) -> None:
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "x")


def release(top: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "dev/release", *words], cwd=top, capture_output=True, text=True
    )


def test_two_builds_are_the_same_and_say_where_the_project_is(clone: Path) -> None:
    done = release(clone, __version__)
    assert done.returncode == 0, done.stderr
    assert "Two builds are the same" in done.stdout
    names = {path.name for path in (clone / "dist").iterdir()}
    stem = f"ltm_memory-{__version__}"
    assert names == {f"{stem}-py3-none-any.whl", f"{stem}.tar.gz"}
    notes = (clone / "build" / "release-notes.md").read_text(encoding="utf-8")
    assert notes.startswith("### ")
    assert "\n## " not in notes
    assert 'Issues = "https://example.org/me/ltm/issues"' in (clone / "pyproject.toml").read_text()
    assert '"io.github.me/ltm"' in (clone / "server.json").read_text()
    assert "/plugin install ltm --marketplace me/ltm\n" in (clone / "src/README.md").read_text()


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("src/ltm/__init__.py", __version__, "9.9.9", "__version__ is not"),
        ("src/.claude-plugin/plugin.json", __version__, "9.9.9", "plugin.json: the version is"),
        ("server.json", f'"{__version__}"', '"9.9.9"', "server.json: the version is"),
        ("CHANGELOG.md", "(2026-12-01)", "(soon)", "there is no section"),
        ("pyproject.toml", "[project.urls]", "[tool.urls]", "no address of the repository"),
        ("src/requirements.txt", "click==", "clack==", "pins do not follow"),
    ],
)
def test_what_does_not_fit_is_refused(
    clone: Path, file: str, old: str, new: str, said: str
) -> None:
    path = clone / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    done = release(clone, __version__)
    assert done.returncode == 1
    assert said in done.stderr
    assert "something is not committed" in done.stderr
    assert not (clone / "dist").exists()


def test_workflows_can_be_read_and_publish_only_with_consent() -> None:
    for path in (ROOT / ".github").rglob("*.yml"):
        assert yaml.safe_load(path.read_text(encoding="utf-8")), path.name
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]
    assert jobs["publish"]["environment"] == "pypi"
    allowed = {name: each["permissions"] for name, each in jobs.items()}
    assert [name for name, each in allowed.items() if "write" in each.values()] == ["publish"]
    assert set(jobs["publish"]["needs"]) == {"build", "try"}


def test_workflows_run_what_no_one_can_replace() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / ".github").rglob("*.yml")]
    used = [line for text in texts for line in re.findall(r"uses: (.*)", text)]
    assert len(used) > 10
    assert [each for each in used if not re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", each)] == []
    tools = [name for text in texts for name in re.findall(r"pipx run (?:--spec )?(\S+)", text)]
    assert len(tools) >= 3
    assert [each for each in tools if "==" not in each] == []
    said = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    tried = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))
    versions = tried["jobs"]["try"]["strategy"]["matrix"]["python"]
    classifiers = {f"Programming Language :: Python :: {each}" for each in versions}
    assert classifiers == {each for each in said["classifiers"] if re.search(r":: 3\.\d+$", each)}


def test_compose_quadlet_and_guide_mount_the_same() -> None:
    composed = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))
    quadlet = (ROOT / "deploy/ltm.container").read_text("utf-8")
    guide = (ROOT / "docs/guides/serve.md").read_text("utf-8")
    mounted = [
        {
            re.sub(r"\$\{LTM_\w+:-(.*?/\S+?)\}", r"\1", each)
            for each in composed["services"]["ltm"]["volumes"]
        },
        set(re.findall(r"^Volume=(.*)", quadlet, re.M)),
        set(re.findall(r" -v (\S+)", guide)),
    ]
    plain = [{re.sub(r"%h|\$HOME|\$\{HOME\}", "~", each) for each in paths} for paths in mounted]
    assert plain[0] == plain[1] == plain[2]
    assert len(plain[0]) == 3
