"""The contract for scripts, row by row: names and types of fields, exit codes, what goes where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ltm.cli import demo
from tests.cli.runner import Ltm

NUMBER = (int, float)
DEMO = str(Path(demo.__file__).with_name("demo.jsonl"))


def has(value: dict[str, Any], **fields: type | tuple[type, ...]) -> None:
    """Whether a JSON object has these fields, each of its type; more may be there."""
    for name, kind in fields.items():
        name = name.rstrip("_")
        assert name in value, name
        assert isinstance(value[name], kind), name
        assert kind is bool or not isinstance(value[name], bool), name


def test_remember(ltm: Ltm) -> None:
    said = ltm.json(
        *("remember", "Retries use jitter", "--title", "On retries", "--kind", "decision"),
        *("--impact", "high", "--scope", "project", "--tags", "a,b", "--difficulty", "0.5"),
        "--pin",
    )
    has(said, id=str, kind=str, impact=str, scope=str, tags=list, path=str)
    has(said, inferred=list, superseded=list)
    assert Path(said["path"]).is_file()


def test_recall(ltm: Ltm) -> None:
    ltm.ok("remember", "Retries use jitter", "--kind", "decision", "--tags", "net")
    ltm.ok("capture", DEMO)
    for more in ((), ("--sessions",), ("--no-sessions",), ("--kind", "decision", "--tag", "net")):
        said = ltm.json("recall", "retries", "--limit", "9", *more)
        has(said, hits=list, total=int)
        assert said["hits"]
        for hit in said["hits"]:
            has(hit, id=str, title=str, kind=str, score=NUMBER, why=str, text=str)
            has(hit, tokens=int, source=dict)
    assert ltm.json("recall", "zebra", "--no-sessions") == {"hits": [], "total": 0}


def test_list_show_forget_and_restore(ltm: Ltm) -> None:
    made = [ltm.json("remember", text)["id"] for text in ("The logo is blue", "Use port 8080")]
    said = ltm.json("list", "--limit", "1", "--offset", "0", "--phase", "0", "--status", "active")
    has(said, memories=list, total=int, has_more=bool)
    assert (len(said["memories"]), said["total"], said["has_more"]) == (1, 2, True)
    shown = ltm.json("show", made[0])
    for each in (*said["memories"], shown):
        has(each, id=str, kind=str, title=str, scope=str, tags=list, impact=str, phase=int)
        has(each, difficulty=NUMBER, confidence=NUMBER, observations=int, status=str, version=int)
        has(each, created=str, updated=str, confirmed=str, source=dict, summary=str, content=str)
    forgotten = ltm.json("forget", made[0])
    assert forgotten == {"id": made[0], "status": "forgotten"}
    assert ltm.json("restore", made[0]) == {"id": made[0], "status": "active"}
    purged = ltm.json("forget", made[0], "--purge")
    assert (purged["id"], purged["status"]) == (made[0], "purged")


def test_capture(ltm: Ltm) -> None:
    for words in ((DEMO,), (DEMO,), ("--all",)):
        said = ltm.json("capture", *words)
        has(said, sessions=int, turns=int, added=list, superseded=list, reinforced=list)
        has(said, skipped=int, llm_calls=int)


def test_inject(ltm: Ltm) -> None:
    made = ltm.json("remember", "Retries use jitter")
    for words in (("--format", "dsl"), ("--format", "markdown", "--budget", "500")):
        said = ltm.json("inject", *words)
        has(said, text=str, tokens=int, shown=list, left_out=int)
        assert said["shown"] == [made["id"]]
        assert ltm.ok("inject", *words).rstrip("\n") == said["text"].rstrip("\n")


def test_upkeep_and_consolidate(ltm: Ltm) -> None:
    ltm.ok("config", "max_memories", "3")
    for number in range(6):
        ltm.ok("remember", f"Fact {number} about {'abcdef'[number] * 5}", "--kind", "fact")
    for text in ("The deploy of staging needs the VPN", "The deploy of staging needs a VPN"):
        made = ltm.json("remember", text, "--kind", "context")
    assert made
    seen = 0
    for words in (("upkeep", "--dry-run"), ("upkeep",), ("consolidate", "-n"), ("consolidate",)):
        said = ltm.json(*words)
        has(said, actions=list)
        for each in said["actions"]:
            has(each, id=str, action=str, reason=str)
            assert {"from", "to"} <= set(each)
            seen += 1
    assert seen


def test_doctor(ltm: Ltm) -> None:
    path = Path(ltm.json("remember", "Retries use jitter")["path"])
    said = ltm.json("doctor", "--audit")
    has(said, healthy=bool, problems=list, audit=dict)
    assert said["healthy"] is True
    path.write_text("no front matter")
    done = ltm.run("doctor", "--json")
    assert (done.returncode, done.stderr) == (1, "")
    broken = json.loads(done.stdout)
    assert broken["healthy"] is False
    for problem in broken["problems"]:
        has(problem, path=str, line=int, message=str, fixed=bool)


def test_friction(ltm: Ltm) -> None:
    out = ltm.home / "out"
    for more in ((), ("--classic",)):
        said = ltm.json("friction", DEMO, "--out", str(out), *more)
        kept = json.loads((out / "friction_summary.json").read_text("utf-8"))
        assert {name: said[name] for name in kept} == kept


def test_export_and_import(ltm: Ltm) -> None:
    ltm.ok("remember", "Retries use jitter")
    file = str(ltm.home / "out.json")
    has(ltm.json("export", file), memories=int)
    assert ltm.json("export")["memories"][0]["title"] == "Retries use jitter"
    for words in (("--merge",), ("--merge", "--dry-run"), ("--from", "ltm", "--merge")):
        said = ltm.json("import", file, *words)
        has(said, added=int, skipped=int, updated=int, problems=list)
    ltm.json("import", file, "--merge", "--remap-agent", "other")


def test_status_and_stats(ltm: Ltm) -> None:
    ltm.ok("remember", "Retries use jitter")
    for command in ("status", "stats"):
        said = ltm.json(command)
        for name in ("by_kind", "by_phase", "by_status", "by_scope"):
            has(said, **{name: dict})
            assert sum(said[name].values()) == 1
        has(said, sessions=int, storage=dict, llm=dict)
        has(said["storage"], path=str, bytes=int)
        has(said["llm"], calls_today=int, tokens_today=int, cap=int)


PRINTS_DATA = [
    ("list",),
    ("recall", "jitter"),
    ("ask", "jitter"),
    ("related", "ID"),
    ("why", "src/app.py"),
    ("fix", "ECONNREFUSED"),
    ("timeline",),
    ("graph",),
    ("inject",),
    ("sessions",),
    ("sessions", "summary"),
    ("stash", "--list"),
    ("friction", "--effect"),
    ("approve",),
    ("sync",),
    ("upkeep", "-n"),
    ("consolidate", "--all", "-n"),
    ("config",),
    ("config", "max_memories"),
    ("setup", "-n"),
    ("uninstall", "-n"),
]


@pytest.mark.parametrize("words", PRINTS_DATA, ids=" ".join)
def test_json_is_one_value_on_stdout_and_nothing_on_stderr(
    ltm: Ltm, words: tuple[str, ...]
) -> None:
    made = ltm.json("remember", "Retries use jitter in src/app.py")["id"]
    done = ltm.run(*(made if word == "ID" else word for word in words), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    json.loads(done.stdout)


@pytest.mark.parametrize("command", ["show", "forget", "restore", "related", "edit", "approve"])
def test_what_is_not_there_ends_with_1_and_nothing_on_stdout(ltm: Ltm, command: str) -> None:
    more = ("--title", "x") if command == "edit" else ()
    done = ltm.run(command, "mem_nosuch", *more, "--json")
    assert (done.returncode, done.stdout) == (1, "")
    assert "mem_nosuch" in done.stderr
