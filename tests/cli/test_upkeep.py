"""`ltm upkeep` and `ltm restore` as a person meets them in a home of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.runner import Ltm

TEXTS = (
    "Ports begin at 8000.\n\nBelow that the gateway listens.\n\nThis holds since spring.",
    "Releases leave on Mondays.\n\nNobody wants a broken weekend.\n\nExcept for hot fixes.",
    "Errors are values.\n\nExceptions crossed three layers.\n\nSee the result module.",
)


@pytest.fixture
def crowded(ltm: Ltm) -> list[str]:
    """Three memories where one is wanted, the easiest to learn first."""
    ltm.ok("config", "max_memories", "1")
    ltm.ok("config", "eviction_batch_size", "1")
    return [
        ltm.json("remember", text, "--kind", "fact", "--difficulty", f"0.{place}")["id"]
        for place, text in enumerate(TEXTS)
    ]


def files(ltm: Ltm) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in ltm.home.rglob("*.md")}


def test_a_dry_run_says_what_would_happen_and_why_and_changes_nothing(
    ltm: Ltm, crowded: list[str]
) -> None:
    before = files(ltm)
    planned = ltm.json("upkeep", "--dry-run")
    assert planned["skipped"] == []
    (action,) = planned["actions"]
    assert set(action) == {"id", "action", "from", "to", "reason"}
    assert (action["id"], action["action"], action["from"], action["to"]) == (
        crowded[0],
        "evict",
        0,
        1,
    )
    shown = ltm.run("upkeep", "--dry-run")
    assert "lowest of 3 memories, 1 are wanted" in " ".join(shown.stdout.split())
    assert "Nothing was changed." in shown.stderr
    assert files(ltm) == before


def test_a_second_run_changes_nothing_and_every_step_can_be_undone(
    ltm: Ltm, crowded: list[str]
) -> None:
    whole = ltm.json("show", crowded[0])["content"]
    assert [each["id"] for each in ltm.json("upkeep")["actions"]] == [crowded[0]]
    after = files(ltm)
    assert ltm.json("upkeep") == {"actions": [], "skipped": [], "held": []}
    assert ltm.run("upkeep").stderr == "Nothing to do.\n"
    assert files(ltm) == after
    short = ltm.json("show", crowded[0])
    assert short["phase"] == 1
    assert whole.startswith(short["content"])
    assert len(short["content"]) < len(whole)
    ltm.ok("restore", crowded[0], "--phase", "0")
    back = ltm.json("show", crowded[0])
    assert (back["phase"], back["content"]) == (0, whole)


def test_a_memory_that_was_edited_meanwhile_is_left_alone_and_that_is_said(
    ltm: Ltm, crowded: list[str], tmp_path: Path
) -> None:
    site = tmp_path / "site"
    info = site / "meddling-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: meddling\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ltm.stores]\nmeddling = meddling:open_store\n")
    (site / "meddling.py").write_text(
        "import glob, os\n"
        "from ltm.store.open import open_files\n"
        "def open_store(places, config):\n"
        "    store = open_files(places, config)\n"
        "    store.take_batch = lambda vault: edit()\n"
        "    return store\n"
        "def edit():\n"
        "    for path in glob.glob(os.environ['LTM_HOME'] + '/projects/*/memories/*.md'):\n"
        "        with open(path, 'a') as file:\n"
        "            file.write('By hand.\\n')\n"
    )
    ltm.ok("config", "store", "meddling", PYTHONPATH=str(site))
    done = ltm.run("upkeep", PYTHONPATH=str(site))
    assert done.returncode == 0, done.stderr
    assert "was not changed:" in done.stderr
    assert "was changed elsewhere meanwhile" in done.stderr
    ltm.ok("config", "store", "files")
    left = [ltm.json("show", each) for each in crowded]
    assert {each["phase"] for each in left} == {0}
    assert all(each["content"].endswith("By hand.") for each in left)
