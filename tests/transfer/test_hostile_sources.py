"""Whatever stands in a source, an importer gives items or problems and never falls over."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ltm.errors import LtmError, Refused
from ltm.kinds import Kinds
from ltm.transfer.export import checked
from ltm.transfer.importer import IMPORTERS, named
from ltm.transfer.item import as_copy, clean
from ltm.transfer.source import USUAL, Origin
from ltm.vault import codec
from tests.vault.strategies import texts

KINDS = Kinds()
AT = datetime(2026, 11, 15, tzinfo=UTC)

_KEYS = """id type content tags created updated confidence memories decisions patterns issues date
reason status region kind agent version name observations entityType from to topic phase
access_count supersedes mergedFrom concepts files original_content superseded_by agent_id _meta"""
words = st.sampled_from(_KEYS.split())
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    texts,
    st.sampled_from(("entity", "relation", "\ud800", "\0", "2026-02-30", "9999-12-31T23:59:59Z")),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(words, inner, max_size=6)),
    max_leaves=20,
)
objects = st.dictionaries(words, values, min_size=1, max_size=8)


def survives(folder: Path, names: list[str]) -> None:
    """Read a folder with importers and make memories of all they give."""
    with Origin(str(folder), USUAL) as origin:
        for name in names:
            try:
                items = list(named(name).module.read(origin, KINDS))
            except LtmError:
                continue
            for item in items:
                safe = clean(item)[0]
                if not safe.text.strip():
                    continue
                copy = as_copy(safe, "mem_0123456789", KINDS, name, AT, {})
                for memory in (copy.memory, *copy.kept):
                    assert memory.created <= AT
                    try:
                        codec.to_bytes(memory)
                    except Refused:
                        continue


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")


@settings(max_examples=60)
@given(st.lists(objects, max_size=4), objects)
def test_any_json_is_survived(records: list[dict[str, Any]], top: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / ".memory" / "state.json", as_json({**top, "memories": records}))
        facts = {**top, "decisions": records, "patterns": records, "issues": records}
        write(folder / ".claude" / "memory" / "facts.json", as_json(facts))
        index = {"memories": {f"mem_{n:08x}": record for n, record in enumerate(records)}}
        write(folder / ".claude" / "ltm" / "index.json", as_json(index))
        write(folder / ".claude" / "ltm" / "stats.json", as_json(index))
        write(folder / ".claude" / "ltm" / "memories" / "mem_00000000.md", b"---\ntopic: x\n---\ny")
        lines = [{"type": "entity", "name": "a"}, *records, {"type": "relation", **top}]
        write(folder / "memory.jsonl", b"\n".join(map(as_json, lines)))
        survives(folder, ["memory-mcp", "memory-keeper", "claude-ltm", "server-memory"])
        write(
            folder / "export.json", as_json({"version": "1.0", "memories": records, "agent": top})
        )
        survives(folder / "export.json", ["anima"])
        for record in records:
            try:
                checked(record, KINDS)
            except Refused:
                continue


@settings(max_examples=60)
@given(st.one_of(texts.map(str.encode), st.binary(max_size=300)), texts)
def test_any_text_is_survived(data: bytes, text: str) -> None:
    fronted = b"---\nname: x\ndescription: y\ntype: user\n" + data + b"\n---\n" + text.encode()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "memory"
        for path, content in {
            "MEMORY.md": b"## Facts\n"
            + data
            + b"\n## Episodes\n### 2026-01-01 x\n"
            + text.encode(),
            "note.md": fronted,
            "raw.md": data,
            ".claude/stash/a.md": data,
            ".claude/memory/sessions/2026-01-01_0000.md": b"## Decisions\n- " + data,
            "memories/mem_00000000.md": b"---\ntopic: " + data + b"\n---\n" + text.encode(),
            "archives/mem_00000000.md": data,
        }.items():
            write(folder / path, content)
        survives(folder, [importer.name for importer in IMPORTERS])


@settings(max_examples=40)
@given(st.binary(max_size=200), st.integers(0, 8191), st.lists(scalars, min_size=4, max_size=4))
def test_any_damage_to_a_database_is_survived(damage: bytes, at: int, cells: list[Any]) -> None:
    def cell(value: Any) -> Any:
        if isinstance(value, str):
            return value.encode("utf-8", "replace").decode()
        return str(value) if isinstance(value, int) and abs(value) > 2**62 else value

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        db = sqlite3.connect(folder / "memories.db")
        db.executescript(
            "CREATE TABLE memories(id, region, kind, content, created_at, impact);"
            "CREATE TABLE observations(id, project, type, narrative, created_at_epoch, facts);"
            "CREATE TABLE sdk_sessions(id)"
        )
        row = [cell(value) for value in cells]
        db.execute("INSERT INTO memories VALUES(?, 'PROJECT', ?, ?, ?, 'HIGH')", row)
        db.execute("INSERT INTO observations VALUES(?, 'app', ?, ?, ?, 'x')", row)
        db.commit()
        db.close()
        (folder / "claude-mem.db").write_bytes((folder / "memories.db").read_bytes())
        survives(folder, ["anima", "claude-mem"])
        for path in folder.glob("*.db"):
            data = bytearray(path.read_bytes())
            data[at : at + len(damage)] = damage
            path.write_bytes(data)
        survives(folder, ["anima", "claude-mem"])
