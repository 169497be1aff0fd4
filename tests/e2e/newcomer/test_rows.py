"""What people who come from another memory tool miss on the first day, one case each.

That what sat idle is only shortened while there is room (002) is in `tests/upkeep/test_plan.py`,
and that a long turn is saved (004) in `test_first_sessions.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runner import Ltm
from tests.e2e.newcomer.stores import KEPT, REVIEWERS, STORES, WRITTEN
from tests.mcp.wire import Wire
from tests.security.strangers import session_start
from tests.sessions.writing import Transcript
from tests.transfer.importing import snapshot, write

COMMANDS = Path(__file__).parent.parent.parent.parent / "src" / "commands"

Mover = Callable[[str], tuple[Ltm, Path]]


@pytest.fixture
def mover(ltm: Ltm) -> Mover:
    """A function that gives a person the store of a tool, in a repository of their own."""

    def make(tool: str) -> tuple[Ltm, Path]:
        for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "begin"]):
            _git(ltm, *words)
        return ltm, {**STORES, **WRITTEN}[tool](ltm.home, ltm.project)

    return make


def _git(ltm: Ltm, *words: str) -> None:
    who = {f"GIT_{role}_{what}": "me@example.org" for role in ("AUTHOR", "COMMITTER")
           for what in ("NAME", "EMAIL")}  # fmt: skip
    subprocess.run(["git", *words], cwd=ltm.project, env={**ltm.environ(), **who}, check=True)


def moved_in(mover: Mover, tool: str) -> Ltm:
    """The person after the import."""
    ltm, path = mover(tool)
    ltm.run("import", str(path if ltm.project not in path.parents else ltm.project))
    return ltm


def listed(ltm: Ltm, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ltm.json("list", "--limit", "100", *words)["memories"]
    return found


def titles(ltm: Ltm, *words: str) -> set[str]:
    return {each["title"] for each in listed(ltm, *words)}


def calls(ltm: Ltm, *wanted: tuple[str, dict[str, Any]]) -> list[str]:
    """The texts with which tools answer."""
    with Wire(ltm.project, ltm.home) as wire:
        wire.initialize()
        return [wire.call(name, **arguments) for name, arguments in wanted]


@pytest.mark.parametrize("tool", KEPT)
def test_an_old_store_is_noticed_everywhere_and_offered_until_it_is_imported(
    mover: Mover, tool: str
) -> None:
    ltm, path = mover(tool)
    before = snapshot(ltm.project)
    source = path if ltm.project not in path.parents else ltm.project
    offers = [each for each in ltm.json("status")["foreign"] if each["path"] == str(path)]
    assert [each["new"] for each in offers] == [True]
    assert "ltm import" in offers[0]["message"]
    assert str(path) in ltm.run("doctor").stdout
    assert f"{os.path.basename(path)}" in session_start(ltm, ltm.project)
    assert "ltm import" in session_start(ltm, ltm.project)
    done = ltm.run("import", str(source))
    assert "Imported from" in done.stdout
    assert snapshot(ltm.project) == before
    assert not any(each["new"] for each in ltm.json("status")["foreign"])
    assert "(ltm import" not in (text := session_start(ltm, ltm.project))
    assert KEPT[tool] in text
    again = ltm.json("import", str(source))
    assert (again["added"], again["updated"]) == (0, 0)


@pytest.mark.parametrize(
    ("tool", "active", "phases"),
    [
        (
            "claude-ltm@471a83a",
            {"Retries of payments back off", 'He said "hi": 42', "Cache", "Gateway"},
            {"Retries of payments back off": 0, "Cache": 1, "Gateway": 2, "Gone": 3},
        ),
        (
            "anima@1ad8483",
            {
                "Ann wants answers without flattery",
                "The api and the database schema live in one module",
                "118 tests passing",
                "Maybe the gateway drops requests when it is restarted",
                "Never push to main: use a branch",
            },
            {},
        ),
        (
            "memory-mcp@5ca1def",
            {
                "About Shop",
                "Payments go through src/lib/payments.ts",
                "The page of the bank takes cards, not forms of our own",
                "The webhook of the bank needs the raw body, and $& is no replacement text",
                "Amounts are whole cents",
                "Billing: page half done, tests green",
            },
            {"The demo is on Friday": 3},
        ),
        (
            "memory-keeper@6.4",
            {
                "Prices are whole cents",
                "Keep YAML for settings",
                "See http://docs.example.org/api",
                "Cache in SQLite",
                "Quote every path",
                "Measure before mending",
                "Tests are sentences",
                "The invoice loses its number",
                "The parser loses the BOM",
                "Slow start",
                "Session 2026-10-02_0900",
                "Session 2026-11-18_1830",
            },
            {},
        ),
    ],
)
def test_what_a_tool_wrote_itself_moves_in_each_thing_once(
    mover: Mover, tool: str, active: set[str], phases: dict[str, int]
) -> None:
    ltm = moved_in(mover, tool)
    found = {each["title"]: each for each in listed(ltm)}
    assert {title for title, each in found.items() if each["phase"] < 3} == active
    assert len(listed(ltm)) == len(found), "nothing twice"
    assert {title: found[title]["phase"] for title in phases} == phases
    kept = b"".join(path.read_bytes() for path in ltm.home.glob(".ltm/projects/**/*.md"))
    assert b"hunter2" not in kept
    if tool.startswith("memory-keeper"):
        tags = {title: each["tags"] for title, each in found.items()}
        assert tags["Cache in SQLite"] == ["technology"]
        assert found["See http://docs.example.org/api"]["reason"] == "the new address"
        assert found["The parser loses the BOM"]["state"] == "resolved"
        assert "; next comes the release" in ltm.ok("show", found["Session 2026-11-18_1830"]["id"])


def test_an_import_of_the_project_names_the_place_where_the_notes_of_the_client_are(
    mover: Mover,
) -> None:
    ltm, path = mover("auto-memory")
    refused = ltm.run("import", ".")
    assert refused.returncode == 1
    assert f"ltm import {path}" in refused.stderr


def test_old_hooks_and_servers_are_named_with_the_line_that_removes_them(mover: Mover) -> None:
    ltm, _ = mover("memory-mcp")
    settings, servers = ltm.home / ".claude" / "settings.json", ltm.project / ".mcp.json"
    said = ltm.run("import", ".").stderr
    line = "ltm uninstall --tool memory-mcp"
    assert said.count(line) == 2
    assert line in ltm.run("status").stderr
    assert line in ltm.run("doctor").stdout
    before = settings.read_bytes()
    ltm.ok("uninstall", "--tool", "memory-mcp", "--dry-run")
    assert settings.read_bytes() == before
    ltm.ok("uninstall", "--tool", "memory-mcp")
    left = json.loads(settings.read_text())
    assert left["model"] == "opus"
    assert [each["command"] for event in left["hooks"].values() for group in event
            for each in group["hooks"]] == ["say done"] * 3  # fmt: skip
    assert json.loads(servers.read_text()) == {"mcpServers": {"other": {"command": "x"}}}
    assert ltm.json("status")["former"] == []


@pytest.mark.parametrize(
    ("tool", "line"),
    [
        ("claude-ltm", "claude plugin uninstall ltm@claude-ltm"),
        ("memory-keeper", "claude plugin uninstall memory-keeper@memory-keeper-marketplace"),
        ("anima", "ltm uninstall --tool anima"),
    ],
)
def test_an_old_plugin_or_hook_is_named(mover: Mover, tool: str, line: str) -> None:
    ltm, _ = mover(tool)
    assert [each["remedy"] for each in ltm.json("status")["former"]] == [line]
    assert "the plugin is active" not in ltm.run("setup", "--dry-run").stderr.lower()


# -- 000: claude-ltm -------------------------------------------------------------------------------


def test_000_priority_difficulty_and_phase_are_seen(mover: Mover) -> None:
    ltm = moved_in(mover, "claude-ltm")
    shown = ltm.ok("show", "mem_0000aaaa")
    (opened,) = calls(ltm, ("get_memory", {"id": "mem_0000aaaa"}))
    for text in (shown, opened):
        assert "difficulty 0.72" in text
        assert "priority 0." in text
        assert "phase 0" in text
    assert "[preference, medium, hint]" in calls(ltm, ("list_memories", {"phase": 1}))[0]


def test_000_options_that_were_chosen_are_taken_over(mover: Mover) -> None:
    ltm, _ = mover("claude-ltm")
    ltm.ok("config", "max_memories", "70")
    report = ltm.json("import", ".")
    assert report["options"] == {"inject.memories": "2"}, "what was chosen here stays"
    assert ltm.ok("config", "max_memories").strip() == "70"
    told = ltm.ok("inject")
    assert sum(line.startswith("~") for line in told.splitlines()) == 2


def test_000_the_commands_of_the_plugin_have_the_old_names() -> None:
    for name in ("status", "list", "check", "fix", "help", "remember", "recall", "forget", "init"):
        assert (COMMANDS / f"{name}.md").is_file()


def test_000_ltm_fix_takes_its_two_arguments(mover: Mover) -> None:
    ltm = moved_in(mover, "claude-ltm")
    before = snapshot(ltm.home / ".ltm" / "projects")
    arguments = {"archive_orphans": True, "clean_orphaned_archives": True}
    (said,) = calls(ltm, ("ltm_fix", arguments))
    assert "No archive was removed" in said
    kept = {name: data for name, data in before.items() if name.endswith(".md")}
    assert kept.items() <= snapshot(ltm.home / ".ltm" / "projects").items()


def test_000_tags_come_from_the_topic_too(ltm: Ltm) -> None:
    text = {"topic": "Fix docker timeouts", "content": "Raise the limit.", "auto_tag": True}
    assert "tags=docker" in calls(ltm, ("store_memory", text))[0]


# -- 001: liteagents -------------------------------------------------------------------------------


def test_001_stashes_in_free_words_give_facts_that_are_trusted_and_dated(mover: Mover) -> None:
    ltm, _ = mover("liteagents")
    ltm.ok("consolidate", "--all")
    found = {each["title"]: each for each in listed(ltm)}
    rule = found["Always run pytest with -x in this repo"]
    assert (rule["kind"], rule["created"][:10]) == ("preference", "2026-02-03")
    assert {each["kind"] for each in found.values()} >= {"decision", "episode", "preference"}
    assert ltm.json("status")["waiting"]["quarantined"] == 0


def test_001_a_stash_that_came_with_the_repository_waits(mover: Mover, tmp_path: Path) -> None:
    ltm, _ = mover("liteagents")
    _git(ltm, "add", "-A")
    _git(ltm, "commit", "-q", "-m", "stashes")
    clone = tmp_path / "clone"
    _git(ltm, "clone", "-q", str(ltm.project), str(clone))
    ltm.ok("consolidate", "--all", cwd=clone)
    assert ltm.json("status", cwd=clone)["waiting"]["quarantined"] > 0
    assert ltm.json("list", cwd=clone)["total"] == 0


def test_001_a_stash_that_was_processed_there_is_not_read_again(mover: Mover) -> None:
    ltm, _ = mover("liteagents")
    done = ltm.json("consolidate", "--all")
    assert [each["name"] for each in done["stashes"]] == ["2026-02-11-symbols", "lsp-poc-complete"]


def test_001_a_stash_is_one_episode_though_it_was_imported_before(mover: Mover) -> None:
    ltm = moved_in(mover, "liteagents")
    ltm.ok("consolidate", "--all")
    episodes = [each for each in listed(ltm, "--kind", "episode") if "lsp" in each["title"]]
    assert len([each for each in episodes if "hook" not in each["title"]]) == 1


def test_001_an_import_before_it_keeps_nothing_of_a_stash_from_becoming_a_memory(
    mover: Mover,
) -> None:
    ltm = moved_in(mover, "liteagents")
    ltm.ok("consolidate", "--all")
    found = {each["title"][:21]: each for each in listed(ltm)}
    assert found["Cache the symbol tabl"]["created"][:10] == "2026-02-11", "as its name says"
    assert found["Always run pytest wit"]["kind"] == "preference"


def test_001_what_was_only_a_guess_is_told_as_one(mover: Mover) -> None:
    told = moved_in(mover, "liteagents").ok("inject")
    assert "?| possible preference for click" in told
    assert "~PREF:MED| never add docstrings" in told


def test_001_what_was_written_into_a_review_is_a_preference(mover: Mover) -> None:
    ltm = moved_in(mover, "liteagents")
    assert "Run the whole test file before saying that a fix works" in titles(ltm)


def test_001_friction_puts_a_review_aside_that_may_hold_instructions(mover: Mover) -> None:
    ltm, _ = mover("liteagents")
    folder = ltm.project / ".claude" / "friction"
    text = (ltm.project / ".aurora" / "friction" / "antigen_review.md").read_text()
    write(folder / "antigen_review.md", text)
    session = {"type": "user", "sessionId": "s", "timestamp": "2026-11-01T10:00:00Z", "uuid": "u1",
               "message": {"role": "user", "content": "Add a test"}}  # fmt: skip
    path = write(ltm.home / "sessions" / "s.jsonl", json.dumps(session) + "\n")
    ltm.ok("friction", str(path))
    assert (folder / "antigen_review.md.former").read_text() == text


def test_001_remember_says_how_to_get_the_markers_and_sync_places_them(mover: Mover) -> None:
    ltm = moved_in(mover, "liteagents")
    assert "ltm sync --claude-md" in ltm.run("consolidate", "--all").stderr
    write(ltm.project / "CLAUDE.md", "# App\n")
    ltm.ok("sync", "--claude-md")
    text = (ltm.project / "CLAUDE.md").read_text()
    assert text.startswith("# App\n")
    assert "never add docstrings" in text


def test_001_the_block_can_load_memory_md(mover: Mover) -> None:
    ltm = moved_in(mover, "liteagents")
    ltm.ok("config", "sync.imports", "true")
    ltm.ok("sync", "--claude-md")
    lines = (ltm.project / "CLAUDE.md").read_text().splitlines()
    (loaded,) = [line for line in lines if line.startswith("@")]
    assert (ltm.project / loaded[1:]).resolve().name == "MEMORY.md"
    ltm.ok("init")
    ltm.ok("sync")
    assert "\n@.claude/ltm/MEMORY.md\n" in (ltm.project / "CLAUDE.md").read_text()


def test_001_episodes_keep_their_bullets(mover: Mover) -> None:
    ltm = moved_in(mover, "liteagents")
    ltm.ok("sync")
    (view,) = (ltm.home / ".ltm" / "projects").glob("*/MEMORY.md")
    lines = view.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if "aurora/lsp-hook" in line)
    assert lines[at + 1 : at + 3] == [
        "  - tried text fallback when LSP cold",
        "  - lesson: don't mix search strategies",
    ]


def test_001_high_stays_high(mover: Mover) -> None:
    ltm = moved_in(mover, "liteagents")
    seen = {each["title"][:11]: each["observations"] for each in listed(ltm)}
    assert seen["keep commit"] == 5
    assert seen["never add d"] == 12
    assert seen["possible pr"] == 1


def test_001_commands_without_a_prefix_come_and_go(mover: Mover) -> None:
    ltm, _ = mover("liteagents")
    folder = ltm.home / ".claude" / "commands"
    own = write(folder / "stash.md", "Mine.\n")
    refused = ltm.run("setup", "--commands")
    assert refused.returncode == 1
    assert "mv " in refused.stderr
    assert own.read_text() == "Mine.\n"
    own.unlink()
    ltm.ok("setup", "--commands")
    assert sorted(os.listdir(folder)) == ["friction.md", "remember.md", "stash.md"]
    ltm.ok("uninstall")
    assert not folder.exists()


def test_001_corrections_to_the_contrary_weaken_a_rule(ltm: Ltm) -> None:
    def corrected(first: int, count: int, text: str) -> None:
        for number in range(first, first + count):
            session = f"{number:08d}-0000-4000-8000-000000000000"
            said = Transcript(ltm.home / "in" / f"{session}.jsonl", session)
            for words in ("Write the module for invoices.", text):
                when = f"2026-11-{number:02d}T10:00:00Z"
                said.user(words, cwd=str(ltm.project), timestamp=when)
                said.says("Done.", timestamp=when)
        ltm.ok("friction", str(ltm.home / "in"))

    corrected(1, 5, "no, add docstrings to public functions")
    assert [each["tier"] for each in ltm.json("consolidate", "--all")["preferences"]] == ["high"]
    corrected(6, 3, "no, don't add docstrings to public functions")
    done = {each["text"]: each for each in ltm.json("consolidate", "--all")["preferences"]}
    assert done["Add docstrings to public functions"]["action"] == "demoted"
    assert done["Don't add docstrings to public functions"]["action"] == "added"


# -- 002: Claude-LTM (Anima) -----------------------------------------------------------------------


def test_002_project_memories_of_an_agent_stay_its_own(mover: Mover) -> None:
    ltm = moved_in(mover, "anima")
    said = "Reviews of app begin with its tests"
    assert said not in titles(ltm)
    ltm.env["LTM_AGENT"] = "code-reviewer"
    assert said in titles(ltm)
    assert said in ltm.ok("inject")


def test_002_an_agent_signs_with_a_key_of_its_own(mover: Mover) -> None:
    ltm = moved_in(mover, "anima")
    keys = {ltm.json("keygen", *agent)["key"] for agent in ((), ("code-reviewer",))}
    assert len(keys) == 2
    ltm.ok("sign")
    ltm.ok("verify")
    ltm.env["LTM_AGENT"] = "code-reviewer"
    assert ltm.json("status")["signing"] in keys
    memory = ltm.json("remember", "Reviews look at names")
    path = Path(memory["path"])
    assert ltm.json("status")["signing"] in path.read_text()
    del ltm.env["LTM_AGENT"]
    ltm.ok("verify")
    path.write_text(path.read_text().replace("names", "colours"))
    assert ltm.run("verify").returncode == 1


def test_002_the_key_of_one_agent_leaves_the_others_as_they_were(mover: Mover) -> None:
    ltm = moved_in(mover, "anima")
    told = ltm.ok("inject")
    assert "for a key of your own: ltm keygen" in ltm.run("keygen", "Anima").stderr
    assert ltm.ok("inject") == told
    assert "there is no key yet" in ltm.run("sign-memories").stderr
    assert "signing.key" not in ltm.run("doctor").stdout


def test_002_its_config_is_taken_over_without_its_key(mover: Mover) -> None:
    ltm, path = mover("anima")
    report = json.loads(ltm.run("import", str(path), "--json").stdout)
    assert report["options"] == {"inject.budget_percent": "5", "fade_days.low": "3"}
    kept = [each for each in (ltm.home / ".ltm").rglob("*") if each.is_file()]
    assert [each.name for each in kept if b"s3cret" in each.read_bytes()] == ["config.json"]


def test_002_ids_of_eight_characters_resolve(mover: Mover) -> None:
    ltm = moved_in(mover, "anima")
    ltm.env["LTM_AGENT"] = "code-reviewer"
    assert "begin with its tests" in ltm.ok("show", REVIEWERS[:8])
    assert ltm.run("show", REVIEWERS[:7]).returncode == 1


def test_002_stats_are_a_dashboard(mover: Mover) -> None:
    ltm = moved_in(mover, "anima")
    said = ltm.ok("memory-stats")
    for words in ("1 critical, 1 high, 1 medium", "0 sure, 3 below 70%", "tokens of 10,000"):
        assert words in said


def test_002_what_was_reached_is_an_achievement(ltm: Ltm) -> None:
    for text in ("203 tests passing", "Released v1.0"):
        assert ltm.json("remember", text)["kind"] == "achievement"
    assert ltm.json("remember", "The tests pass only with LANG=C")["kind"] != "achievement"


def test_002_signing_without_a_key_explains(ltm: Ltm) -> None:
    said = ltm.run("sign-memories").stderr
    assert "A signature shows" in said
    assert "ltm keygen" in said


# -- 003: memory-mcp -------------------------------------------------------------------------------


def test_003_the_old_names_of_tools_answer_and_are_not_listed(mover: Mover) -> None:
    ltm = moved_in(mover, "memory-mcp")
    saved, all_of_it, tagged, stats, told, merged, about = calls(
        ltm,
        ("memory_save", {"type": "gotcha", "content": "The webhook needs a secret", "tags": ["a"]}),
        ("memory_recall", {"type": "decision"}),
        ("memory_recall", {"tags": ["billing"]}),
        ("memory_stats", {}),
        ("memory_consciousness", {}),
        ("memory_consolidate", {}),
        ("memory_init", {"name": "Shop", "description": "Sells things to people"}),
    )
    assert "Remembered" in saved
    assert "Stripe Checkout" in all_of_it
    assert "Stripe in lib" in tagged
    assert "active by kind" in stats
    assert "[LTM:" in told
    assert "merge" in merged
    assert "About Shop" in about
    (gone,) = calls(ltm, ("memory_delete", {"id": saved.split()[1]}))
    assert gone.startswith("Forgot")
    with Wire(ltm.project, ltm.home) as wire:
        wire.initialize()
        names = {each["name"] for each in wire.ask("tools/list")["result"]["tools"]}
    assert not names & {"memory_save", "memory_recall", "memory_delete", "memory_stats"}


def test_003_search_finds_and_confidence_is_shown(mover: Mover) -> None:
    ltm = moved_in(mover, "memory-mcp")
    assert "Stripe Checkout" in ltm.ok("search", "stripe")
    memory = next(each for each in listed(ltm) if each["title"] == "Half done")
    assert "confidence 0%" in ltm.ok("show", memory["id"])
    assert "confidence now 0%" in calls(ltm, ("get_memory", {"id": memory["id"]}))[0]


def test_003_replaced_memories_come_last(ltm: Ltm) -> None:
    ltm.ok("remember", "Forms for billing checkout are our own", "--new")
    former = ltm.json("list")["memories"][0]["id"]
    ltm.ok("remember", "Billing uses Stripe", "--replaces", former)
    (said,) = calls(ltm, ("memory_search", {"query": "forms billing checkout"}))
    assert said.index("Billing uses Stripe") < said.index("Forms for billing")


def test_003_a_former_text_comes_back(ltm: Ltm) -> None:
    memory = ltm.json("remember", "The port is 8080")["id"]
    ltm.ok("edit", memory, "--content", "The port is 8081")
    assert "--version N" in ltm.run("show", memory).stderr
    ltm.ok("restore", memory, "--version", "1")
    assert "8080" in ltm.ok("show", memory)
    assert "ltm restore ID --version N" in ltm.run("snapshot-restore").stderr


def test_003_the_status_line_shows_memories_and_budget(mover: Mover) -> None:
    ltm = moved_in(mover, "memory-mcp")
    settings = ltm.home / ".claude" / "settings.json"
    ltm.ok("setup", "--statusline")
    command = json.loads(settings.read_text())["statusLine"]["command"]
    assert command.endswith("ltm statusline")
    assert "5 hooks" in ltm.run("doctor").stdout, "it is none"
    ltm.ok("setup")
    assert "statusLine" in settings.read_text(), "it stays when ltm is set up again"
    given = json.dumps({"workspace": {"project_dir": str(ltm.project)}})
    line = ltm.ok("statusline", stdin=given, cwd=ltm.home)
    assert line.startswith("ltm: 6 memories, last ")
    assert "of 20,000 tokens" in line
    ltm.ok("uninstall")
    assert "statusLine" not in settings.read_text()


# -- 004: Memory Keeper ----------------------------------------------------------------------------


def test_004_the_rolling_summary_is_told_at_the_start(mover: Mover) -> None:
    ltm = moved_in(mover, "memory-keeper")
    assert "The login works again now." in session_start(ltm, ltm.project)


def test_004_the_interval_of_saves_is_taken_over(mover: Mover) -> None:
    ltm = moved_in(mover, "memory-keeper")
    assert ltm.ok("config", "hooks.save_interval").strip() == "12"


def test_004_its_words_add_and_clear(ltm: Ltm) -> None:
    ltm.ok("add-decision", "Prefer JSONL for logs", "easier to append", "approach")
    ltm.ok("add-pattern", "Quote every path", "convention")
    ltm.ok("add-issue", "The parser loses the BOM", "open", "bugfix")
    ltm.ok("remember", "Deploys need the VPN", "--kind", "gotcha")
    found = {each["kind"]: each for each in listed(ltm)}
    assert found["decision"]["reason"] == "easier to append"
    assert found["pattern"]["tags"] == ["convention"]
    assert (found["issue"]["state"], found["issue"]["tags"]) == ("open", ["bugfix"])
    ltm.ok("clear-facts", "issues", "--yes")
    assert {each["kind"] for each in listed(ltm)} == {"decision", "pattern", "gotcha"}
    ltm.ok("clear-facts", "--yes")
    assert {each["kind"] for each in listed(ltm)} == {"gotcha"}
    ltm.ok("clear-memory", "old", "--yes")
    assert len(listed(ltm)) == 1
    ltm.ok("clear-memory", "all", "--yes")
    assert listed(ltm) == []


NOTE = """\
## Decisions
- [Decision 1]: [Reason]
- Decision 2: Reason
- [architecture|technology|approach] Decision content: Reason why
- [architecture] Another decision: Its reason
- [technology] Keep YAML: people read it

## Issues
- The parser loses the BOM: resolved
- [Issue found]: [open/resolved]
- [bugfix] Fixed something: resolved
"""


def test_004_placeholders_are_no_decisions_and_an_issue_can_be_resolved(ltm: Ltm) -> None:
    ltm.ok("add-issue", "The parser loses the BOM", "open")
    note = write(ltm.project / "2025-01-09_0900.md", NOTE)
    ltm.ok("extract-facts", str(note))
    assert {(each["kind"], each["state"], *each["tags"]) for each in listed(ltm)} == {
        ("decision", "", "technology"),
        ("issue", "resolved"),
    }


def test_004_an_import_follows_an_issue_and_skips_placeholders(mover: Mover) -> None:
    ltm = moved_in(mover, "memory-keeper")
    states = {each["title"]: each["state"] for each in listed(ltm, "--kind", "issue")}
    assert states["No state given"] == "resolved"
    assert not any("Decision 1" in title for title in titles(ltm, "--kind", "decision"))


def test_004_what_a_note_its_facts_and_the_summary_say_is_told_once(mover: Mover) -> None:
    ltm = moved_in(mover, "memory-keeper")
    told = ltm.ok("inject")
    assert told.count("Mended the parser") == 1
    issues = [each for each in listed(ltm, "--kind", "issue") if "BOM" in each["title"]]
    assert [each["state"] for each in issues] == ["resolved"]
    for mark in ("[Decision 1]", "[Pattern discovered]", "## "):
        assert mark not in told


def test_004_many_memories_are_forgotten_at_once_and_come_back(mover: Mover) -> None:
    ltm = moved_in(mover, "memory-keeper")
    before = len(listed(ltm))
    ltm.ok("forget", "--kind", "episode", "--yes")
    assert len(listed(ltm)) < before
    ltm.ok("restore", "--since", "today")
    assert len(listed(ltm)) == before
