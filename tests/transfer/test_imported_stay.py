"""What was imported is still there after twenty sessions, each memory for itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.transfer.importing import write
from tests.worker.test_drain import Desk

ALIKE = {
    "ports": [
        f"The {name} service listens on port {port} in staging"
        for name, port in zip(
            ("billing", "orders", "search", "mail", "login", "stock", "price", "media", "audit"),
            range(8081, 8090),
            strict=True,
        )
    ],
    "people": [
        f"{name} decides about the {part} module and reviews every change to it"
        for name, part in zip(
            ("Ann", "Bob", "Cem", "Dora", "Eva", "Finn", "Gus", "Hana", "Ivo"),
            ("tax", "cart", "login", "mail", "stock", "price", "image", "audit", "export"),
            strict=True,
        )
    ],
    "versions": [
        f"Never upgrade the driver beyond version {major}.{minor}: it breaks the nightly export"
        for major, minor in ((1, 4), (1, 5), (2, 0), (2, 1), (3, 7), (4, 0), (4, 2), (5, 1), (6, 3))
    ],
}
"""Nine memories each that differ in a number or a name, and in nothing else."""


def memory_mcp(root: Path, texts: list[str]) -> Path:
    """memory-mcp's store."""
    memories = [
        {
            "id": f"mem_{1_760_000_000_000 + n}_abc{n:03}",
            "type": "gotcha",
            "content": text,
            "tags": ["staging"],
            "created": f"2026-03-0{n + 1}T09:00:00.000Z",
            "updated": f"2026-03-0{n + 1}T09:00:00.000Z",
            "confidence": 1,
            "accessCount": 0,
        }
        for n, text in enumerate(texts)
    ]
    state = {"version": 2, "project": "shop", "description": "", "memories": memories}
    return write(root / ".memory" / "state.json", state)


def claude_ltm(root: Path, texts: list[str]) -> Path:
    """claude-ltm's folder."""
    folder = root / "old" / "ltm"
    index = {}
    for n, text in enumerate(texts):
        name = f"mem_{n:08x}"
        front = f"id: {name}\ntopic: Staging {n}\ntags: [staging]\nphase: 0\ndifficulty: 0.5\n"
        when = f"created_at: 2026-03-0{n + 1}T09:00:00\ncreated_session: {n}\n"
        body = f"## Summary\n\n{text}\n\n## Content\n\n{text}\n"
        write(folder / "memories" / f"{name}.md", f"---\n{front}{when}---\n\n{body}")
        index[name] = {"topic": f"Staging {n}", "tags": ["staging"], "phase": 0, "difficulty": 0.5}
    write(folder / "index.json", {"version": 1, "memories": index})
    return folder


@pytest.mark.parametrize(
    ("tool", "alike"),
    [
        (memory_mcp, "ports"),
        (claude_ltm, "people"),
        (memory_mcp, "versions"),
    ],
)
def test_nine_imported_memories_are_there_after_twenty_sessions(
    tmp_path: Path, tool: Callable[[Path, list[str]], Path], alike: str
) -> None:
    """Real hooks, the drain behind them, upkeep and consolidation at the end of each session, and
    both once more by hand. Sessions speak of the same things, and keep memories of their own."""
    desk = Desk(tmp_path)
    texts = ALIKE[alike]
    source = tool(desk.hooks.project, texts)
    report = desk.hooks.ltm("import", str(source), "--json")
    assert json.loads(report.stdout)["added"] == 9
    for number in range(20):
        desk.hooks.session = f"session-{number}"
        said = desk.transcript(desk.hooks.session)
        desk.hooks.fire("SessionStart", source="startup")
        said.user(f"Check this once more, please: {texts[number % 9]}.")
        said.says(f"I checked it. {texts[number % 9]}.")
        said.user(f"Remember that run {number} of the checks took {number + 3} minutes.")
        for event in ("Stop", "SessionEnd"):
            desk.hooks.fire(event)
        assert desk.drain().errors == 0
    for words in (("upkeep",), ("consolidate",), ("consolidate", "--all")):
        assert desk.hooks.ltm(*words).returncode == 0
    listed = json.loads(desk.hooks.ltm("list", "--limit", "100", "--json").stdout)["memories"]
    there = [text for each in listed for text in texts if text in each["content"]]
    assert sorted(there) == sorted(texts)
