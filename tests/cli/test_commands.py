"""The command line keeps the contract for scripts and is kind to people."""

from __future__ import annotations

import os
import re
import shlex
import stat
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm.cli.app import COMMANDS
from tests.cli.runner import Ltm


def test_remember_tells_what_it_inferred_and_where_it_put_it(ltm: Ltm) -> None:
    done = ltm.json("remember", "We", "chose", "Postgres over SQLite, this is important")
    assert set(done) >= {
        "id",
        "kind",
        "impact",
        "scope",
        "tags",
        "path",
        "inferred",
        "superseded",
    }
    assert (done["kind"], done["impact"], done["scope"]) == ("decision", "high", "project")
    assert "postgres" in done["tags"]
    assert any(each.startswith("kind=decision") for each in done["inferred"])
    assert done["superseded"] == []
    assert Path(done["path"]).read_text().startswith("---\nid: mem_")


def test_what_is_said_is_not_inferred(ltm: Ltm) -> None:
    done = ltm.json(
        *("remember", "mustard", "--kind", "LEARNINGS", "--impact", "Low", "--scope", "agent"),
        *("--tags", "food, spice,food", "--title", "On mustard", "--pin", "--difficulty", "0.5"),
    )
    assert (done["kind"], done["impact"], done["scope"]) == ("gotcha", "low", "agent")
    assert done["tags"] == ["food", "spice"]
    assert done["inferred"] == []
    shown = ltm.json("show", done["id"])
    assert (shown["title"], shown["pinned"], shown["difficulty"]) == ("On mustard", True, 0.5)


def test_text_comes_from_standard_input_too(ltm: Ltm) -> None:
    text = 'Several lines:\n\n- "quoted": yes\n- 日本語 🎇\n'
    done = ltm.json("remember", "-", stdin=text)
    assert ltm.json("show", done["id"])["content"] == text.rstrip("\n")


def test_what_became_of_a_text_is_said_in_words_one_can_act_on(ltm: Ltm) -> None:
    first = ltm.json("remember", "The staging server runs on port 8080")
    assert first["action"] == "added"
    again = ltm.json("remember", "note: the staging server runs on port 8080!", "--pin")
    assert (again["id"], again["action"]) == (first["id"], "confirmed")
    assert ltm.json("show", first["id"])["pinned"] is True

    more = ltm.json("remember", "The staging server runs on port 8080 behind nginx")
    assert (more["action"], more["superseded"]) == ("extended", [first["id"]])
    said = ltm.ok("remember", "The staging server runs on port 9090 behind nginx")
    assert f"contradicts: {more['id']} of " in said
    other = re.findall(r"ltm settle (mem_\w+)", said)[0]
    assert ltm.json("show", other)["conflicts"] == [more["id"]]
    assert ltm.json("show", more["id"])["conflicts"] == [other]
    assert re.search(f"contradicts ({other}|{more['id']}) .*ltm settle", ltm.ok("doctor"))
    for command in ("recall", "ask"):
        assert ltm.ok(command, "which port has the staging server?").count("contradicts mem_") == 1
    told = ltm.ok("inject")
    assert "?| The staging server runs on port 9090 behind nginx (" in told
    assert " — but earlier: The staging server runs on port 8080 behind nginx (" in told

    assert ltm.json("settle", other)["superseded"] == [more["id"]]
    assert ltm.json("settle")["conflicts"] == []
    change = ltm.json("remember", "The staging server moved from port 9090 to 9443 behind nginx")
    assert (change["action"], change["superseded"]) == ("replaced", [other])
    assert ltm.json("restore", more["id"])["status"] == "active"
    for name in (first["id"], more["id"], other, change["id"]):
        assert ltm.json("show", name)["content"]


def test_a_memory_can_be_kept_apart_or_put_in_the_place_of_another(ltm: Ltm) -> None:
    first = ltm.json("remember", "Use tabs")
    apart = ltm.json("remember", "use tabs", "--new")
    assert (apart["action"], apart["superseded"]) == ("added", [])
    assert ltm.json("show", apart["id"])["distinct"] == [first["id"]]
    assert [each["action"] for each in ltm.json("consolidate")["actions"]] == []
    newer = ltm.json("remember", "Indent with four spaces", "--replaces", first["id"])
    assert (newer["action"], newer["superseded"]) == ("replaced", [first["id"]])
    refused = ltm.run("remember", "x y", "--new", "--replaces", first["id"])
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr


def test_memories_that_both_hold_are_settled_once_and_for_all(ltm: Ltm) -> None:
    one = ltm.json("remember", "The cache keeps 100 entries")
    two = ltm.json("remember", "The cache keeps 200 entries")
    assert two["conflicts"] == [one["id"]]
    assert ltm.json("settle", one["id"], "--both")["action"] == "both"
    assert "?|" not in ltm.ok("inject")
    assert ltm.run("settle", one["id"]).returncode == 1
    assert ltm.run("settle", one["id"], one["id"]).returncode == 2
    assert ltm.json("settle", one["id"], two["id"])["superseded"] == [two["id"]]


def test_recall_gives_hits_with_reasons_prices_and_origin(ltm: Ltm) -> None:
    made = ltm.json("remember", "Retries use exponential backoff with jitter")
    ltm.json("remember", "The logo is blue")
    found = ltm.json("recall", "how do retries back off?", "--limit", "5")
    assert found["total"] == 1
    (hit,) = found["hits"]
    fields = {"id", "title", "kind", "created", "score", "weak", "why", "text", "tokens"}
    assert set(hit) == fields | {"conflicts", "quarantined", "source"}
    assert hit["id"] == made["id"]
    assert hit["score"] > 0
    assert "retries" in hit["why"]
    assert "do" not in hit["why"].replace("do,", "")
    assert hit["tokens"] > 0
    assert hit["source"]["trust"] == "user"
    assert ltm.json("show", made["id"])["usage"]["uses"] == 2


def test_finding_nothing_is_not_an_error(ltm: Ltm) -> None:
    assert ltm.json("recall", "anything") == {"hits": [], "total": 0}
    done = ltm.run("recall", "anything")
    assert done.returncode == 0
    assert done.stdout == ""
    assert "Nothing found" in done.stderr


def test_list_pages_and_filters(ltm: Ltm) -> None:
    """traps 2.1 #10"""
    for n in range(5):
        ltm.ok("remember", f"separate matter number{n} topic{n}", "--kind", "fact")
    ltm.ok("remember", "an odd thing", "--kind", "pattern", "--tags", "odd")
    page = ltm.json("list", "--limit", "2", "--offset", "1")
    assert (len(page["memories"]), page["total"], page["has_more"]) == (2, 6, True)
    assert ltm.json("list", "--limit", "2", "--offset", "4")["has_more"] is False
    assert ltm.json("list", "--kind", "patterns")["total"] == 1
    assert ltm.json("list", "--tag", "odd")["total"] == 1
    assert ltm.json("list", "--phase", "1")["total"] == 0
    assert ltm.json("list", "--status", "forgotten")["total"] == 0
    assert ltm.json("list", "--status", "all")["total"] == 6


def test_forget_restore_and_purge(ltm: Ltm) -> None:
    """traps 2.6 #5: to forget leaves a tombstone, to purge leaves nothing."""
    made = ltm.json("remember", "a fleeting zebrafish")
    assert ltm.json("forget", made["id"]) == {"id": made["id"], "status": "forgotten"}
    assert ltm.json("recall", "zebrafish")["total"] == 0
    assert ltm.json("restore", made["id"][-8:]) == {"id": made["id"], "status": "active"}
    assert ltm.json("recall", "zebrafish")["total"] == 1
    refused = ltm.run("forget", made["id"], "--purge")
    assert refused.returncode == 2
    assert "--yes" in refused.stderr
    assert ltm.json("forget", made["id"], "--purge")["status"] == "purged"
    assert ltm.run("show", made["id"]).returncode == 1
    left = [p for p in ltm.home.rglob("*") if p.is_file() and b"zebrafish" in p.read_bytes()]
    assert left == []


TOKEN = "ghp_" + "A1b2" * 9


def test_remember_says_which_secrets_it_did_not_keep(ltm: Ltm) -> None:
    made = ltm.json("remember", f"Publish with {TOKEN} from CI")
    assert made["redacted"] == ["github-token"]
    assert ltm.json("show", made["id"])["content"] == "Publish with [redacted:github-token] from CI"
    said = ltm.run("remember", f"The mirror wants {TOKEN} as well")
    assert "redacted: github-token" in said.stdout + said.stderr
    assert ltm.json("remember", "Publishing needs two reviews")["redacted"] == []
    assert not [path for path in ltm.home.rglob("*") if path.is_file() and holds(path, TOKEN)]


def test_edit_keeps_no_secret_by_option_or_by_editor(ltm: Ltm, tmp_path: Path) -> None:
    made = ltm.json("remember", "Publish from CI only")
    after = ltm.json("edit", made["id"], "--content", f"Use {TOKEN}", "--title", f"On {TOKEN}")
    assert after["redacted"] == ["github-token"]
    assert after["content"] == "Use [redacted:github-token]"
    assert after["title"] == "On [redacted:github-token]"
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\nsed -i 's/^Use.*/Log in with {TOKEN} now/' \"$1\"\n")
    editor.chmod(0o755)
    said = ltm.run("edit", made["id"], EDITOR=str(editor))
    assert "redacted: github-token" in said.stdout + said.stderr
    assert ltm.json("show", made["id"])["content"] == "Log in with [redacted:github-token] now"
    assert not [path for path in ltm.home.rglob("*") if path.is_file() and holds(path, TOKEN)]


def holds(path: Path, text: str) -> bool:
    return text.encode() in path.read_bytes()


def test_edit_by_options_keeps_the_former_text(ltm: Ltm) -> None:
    made = ltm.json("remember", "first wording of it")
    after = ltm.json(
        "edit", made["id"], "--content", "second wording", "--tags", "x,y", "--impact", "high"
    )
    assert (after["content"], after["tags"], after["impact"]) == (
        "second wording",
        ["x", "y"],
        "high",
    )
    assert ltm.json("restore", made["id"], "--version", "1")
    assert ltm.json("show", made["id"])["content"] == "first wording of it"


def test_edit_says_what_changed_and_how_to_take_it_back(ltm: Ltm) -> None:
    made = ltm.json("remember", "The mirror is on port 8080. Use it.")
    said = ltm.ok("edit", made["id"], "--content", "The mirror is on port 9090.", "--pin")
    assert said.splitlines()[1:] == [
        "  title: The mirror is on port 8080 → The mirror is on port 9090",
        "  text: changed",
        "  pinned: no → yes",
        f"  the former text is kept: ltm restore {made['id']} --version 1",
    ]
    for command in (("inject",), ("recall", "mirror")):
        assert "8080" not in ltm.ok(*command)


@pytest.mark.parametrize("by_editor", [True, False])
def test_title_and_summary_follow_an_edit_of_the_file(
    ltm: Ltm, tmp_path: Path, by_editor: bool
) -> None:
    made = ltm.json("remember", "The mirror is on port 8080. Use it.")
    titled = ltm.json("remember", "Backups go to port 8080 at night.", "--title", "Backups")
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/8080/9090/' \"$1\"\n")
    editor.chmod(0o755)
    for each in (made, titled):
        if by_editor:
            ltm.ok("edit", each["id"], EDITOR=str(editor))
        else:
            subprocess.run([editor, each["path"]], check=True)
    found = ltm.json("show", made["id"])
    assert found["title"] == "The mirror is on port 9090"
    assert found["summary"] == found["text"] == "The mirror is on port 9090. Use it."
    assert ltm.json("show", titled["id"])["title"] == "Backups"


def test_what_was_typed_stays_when_the_memory_was_changed_meanwhile(
    ltm: Ltm, tmp_path: Path
) -> None:
    made = ltm.json("remember", "old words")
    editor = tmp_path / "editor"
    editor.write_text(
        f"#!/bin/sh\necho more >> '{made['path']}'\nsed -i 's/old words/my words/' \"$1\"\n"
    )
    editor.chmod(0o755)
    done = ltm.run("edit", made["id"], EDITOR=str(editor))
    assert done.returncode == 1
    kept = Path(done.stderr.splitlines()[0].removeprefix("What you typed is kept in "))
    assert "my words" in kept.read_text()
    assert ltm.json("show", made["id"])["content"] == "old words\nmore"
    kept.unlink()


def test_a_forgotten_memory_is_not_edited(ltm: Ltm) -> None:
    made = ltm.json("remember", "old words")
    ltm.ok("forget", made["id"])
    done = ltm.run("edit", made["id"], EDITOR="false")
    assert (done.returncode, "restore it first" in done.stderr) == (1, True)


def test_the_date_shown_is_when_it_was_said_however_often_it_was_edited(ltm: Ltm) -> None:
    made = ltm.json("remember", "docker-compose.yml is generated")
    path = Path(made["path"])
    path.write_text(re.sub(r"(created|updated): .*", r"\1: 2025-02-03T04:05:06Z", path.read_text()))
    ltm.ok("edit", made["id"], "--content", "docker-compose.yml is made by a script")
    assert "2025-02-03, said by user" in ltm.ok("why", "docker-compose.yml")
    assert "created 2025-02-03T04:05:06Z, version 2" in ltm.ok("show", made["id"])
    ltm.ok("remember", "docker-compose.yml is made by a script")
    today = datetime.now(UTC).date()
    assert f"2025-02-03, confirmed {today}, said by" in ltm.ok("why", "docker-compose.yml")


def test_issues_are_listed_and_recalled_by_their_state(ltm: Ltm) -> None:
    one = ltm.json("remember", "The winch jams", "-k", "issue")["id"]
    two = ltm.json("remember", "The winch leaks", "-k", "issue", "--state", "resolved")["id"]
    for state, expected in (("open", one), ("Resolved", two)):
        listed = ltm.json("list", "--state", state)["memories"]
        hits = ltm.json("recall", "winch", "--state", state)["hits"]
        assert [each["id"] for each in listed] == [each["id"] for each in hits] == [expected]
    assert "open, resolved" in ltm.run("list", "--state", "shut").stderr


def test_edit_opens_the_editor_and_keeps_what_it_does_not_know(ltm: Ltm, tmp_path: Path) -> None:
    made = ltm.json("remember", "text with a tpyo")
    editor = tmp_path / "editor"
    editor.write_text(
        "#!/bin/sh\nsed -i 's/tpyo/typo/; s/^kind:/reviewed_by: Ann\\nkind:/' \"$1\"\n"
    )
    editor.chmod(0o755)
    after = ltm.json("edit", made["id"], EDITOR=str(editor))
    assert after["content"] == "text with a typo"
    assert "reviewed_by: Ann\nkind: " in Path(made["path"]).read_text()
    assert after["version"] == 2


def test_a_broken_edit_loses_nothing(ltm: Ltm, tmp_path: Path) -> None:
    made = ltm.json("remember", "precious words")
    before = Path(made["path"]).read_bytes()
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/^kind:.*/kind: [broken/; s/precious/new/' \"$1\"\n")
    editor.chmod(0o755)
    done = ltm.run("edit", made["id"], EDITOR=str(editor))
    assert done.returncode == 1
    assert Path(made["path"]).read_bytes() == before
    kept = Path(done.stderr.split(": ")[1].split(":")[0])
    assert "new words" in kept.read_text()
    kept.unlink()


def test_related_follows_links_and_subjects(ltm: Ltm) -> None:
    one = ltm.json("remember", "Redis holds the session cache", "--kind", "architecture")
    two = ltm.json("remember", "Flush the Redis cache after deploys", "--kind", "gotcha")
    old = ltm.json("remember", "Old note on queues", "--kind", "fact")
    new = ltm.json("remember", "Queues moved to Kafka", "--kind", "fact", "--replaces", old["id"])
    related = ltm.json("related", one["id"])["related"]
    assert two["id"] in {each["id"] for each in related}
    (first, *_) = ltm.json("related", new["id"])["related"]
    assert (first["id"], first["how"]) == (old["id"], "replaces")


def test_status_and_stats_count(ltm: Ltm) -> None:
    ltm.ok("remember", "one thing", "--kind", "fact")
    ltm.ok("remember", "for all", "--scope", "agent", "--kind", "fact")
    gone = ltm.json("remember", "something else entirely")
    ltm.ok("forget", gone["id"])
    for name in ("status", "stats"):
        value = ltm.json(name)
        assert value["by_kind"]["fact"] == 2
        assert value["by_status"] == {
            "active": 2,
            "quarantined": 0,
            "superseded": 0,
            "forgotten": 1,
        }
        assert value["by_scope"] == {"project": 1, "agent": 1}
        assert value["by_phase"]["0"] == 2
        assert value["sessions"] == 0
        assert value["storage"]["bytes"] > 0
        assert value["llm"]["calls_today"] == 0


def test_inject_prints_the_text_and_its_price(ltm: Ltm) -> None:
    made = ltm.json("remember", "Never push to main without review")
    told = ltm.json("inject")
    assert told["shown"] == [made["id"]]
    assert "Never push to main" in told["text"]
    assert told["tokens"] > 0
    assert ltm.ok("inject").strip() == told["text"].strip()
    assert ltm.json("inject", "--budget", "1")["shown"] == []
    assert "Never push" in ltm.json("inject", "--format", "markdown")["text"]


def test_demo_works_from_nothing_and_leaves_nothing(ltm: Ltm, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    text = ltm.ok("demo", TMPDIR=str(tmp_path / "tmp"))
    assert "Never push to main" in text
    assert "[LTM:default@shop]" in text
    assert "Fixed by changing" in text
    assert list((tmp_path / "tmp").iterdir()) == []
    assert list(ltm.home.iterdir()) == []
    assert list(ltm.project.iterdir()) == []


def test_a_repository_is_not_touched_before_init(ltm: Ltm) -> None:
    subprocess.run(["git", "init", "-q"], cwd=ltm.project, check=True)
    ltm.ok("remember", "private thing")
    ltm.ok("list")
    assert [path.name for path in ltm.project.iterdir()] == [".git"]
    assert not (ltm.project / ".git" / "info" / "attributes").exists()


def test_init_shares_and_moves_on_request(ltm: Ltm) -> None:
    subprocess.run(["git", "init", "-q"], cwd=ltm.project, check=True)
    made = ltm.json("remember", "worth sharing", "--kind", "fact")
    ltm.json("edit", made["id"], "--content", "worth sharing with all")
    first = ltm.json("init")
    assert (first["moved"], first["private"]) == (0, 1)
    assert ltm.json("list")["memories"][0]["vault"] == "private"
    second = ltm.json("init", "--move")
    assert second["moved"] == 1
    (memory,) = ltm.json("list")["memories"]
    assert memory["vault"] == "shared"
    assert memory["path"].startswith(str(ltm.project))
    assert len(ltm.json("show", made["id"])["versions"]) == 1
    new = ltm.json("remember", "another matter")
    assert new["path"].startswith(str(ltm.project))
    status = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=ltm.project, capture_output=True, text=True
    ).stdout
    assert "index.db" not in status
    assert ".lock" not in status
    assert "memories/worth-sharing" in status


def test_init_shares_personal_preferences_only_where_a_person_agrees(ltm: Ltm) -> None:
    ltm.ok("remember", "We chose Postgres over SQLite")
    wish = ltm.json("remember", "Answer me in German", "--kind", "preference", "--scope", "project")
    moved = ltm.run("init", "--move")
    assert f"{wish['id'][-8:]}  Answer me in German" in moved.stderr
    assert "1 personal memory stayed private" in moved.stderr
    vaults = {each["title"]: each["vault"] for each in ltm.json("list")["memories"]}
    assert vaults == {"Answer me in German": "private", "We chose Postgres over SQLite": "shared"}
    done = ltm.json("init", "--move", "--yes")
    assert (done["moved"], done["private"], done["personal"]) == (1, 0, [])


def test_a_memory_is_promoted_to_all_projects_and_back(ltm: Ltm, tmp_path: Path) -> None:
    made = ltm.json("remember", "Use two spaces in YAML", "--tags", "style")
    (tmp_path / "other").mkdir()
    other = {"cwd": tmp_path / "other"}
    assert ltm.json("list", **other)["total"] == 0
    said = ltm.ok("edit", made["id"], "--scope", "agent", "--impact", "high")
    assert "  impact: medium → high\n" in said
    assert f"bring it back with: ltm restore {made['id']}" in said
    (memory,) = ltm.json("list", **other)["memories"]
    assert (memory["scope"], memory["tags"], memory["impact"]) == ("agent", ["style"], "high")
    assert ltm.json("list")["total"] == 1
    back = ltm.json("edit", memory["id"], "--scope", "project")
    assert ltm.json("list", **other)["total"] == 0
    assert [each["id"] for each in ltm.json("list")["memories"]] == [back["id"]]
    assert "SCOPE" in ltm.run("edit", "--help").stdout
    assert ltm.run("edit", back["id"], "--scope", "world").returncode == 2


def test_init_with_claude_md_places_markers_and_keeps_the_rest(ltm: Ltm) -> None:
    (ltm.project / "CLAUDE.md").write_bytes(b"# Mine\r\n\r\nkeep this")
    ltm.ok("remember", "We decided to keep tabs", "--kind", "decision")
    ltm.ok("init", "--move", "--claude-md")
    text = (ltm.project / "CLAUDE.md").read_bytes()
    assert text.startswith(b"# Mine\r\n\r\nkeep this")
    assert b"<!-- MEMORY:START -->" in text
    assert b"We decided to keep tabs" in text
    again = ltm.json("sync")
    assert again["written"] == []
    assert ltm.json("inject")["shown"] == []


def test_agents_do_not_see_each_other(ltm: Ltm) -> None:
    ltm.ok("remember", "the reviewer likes haiku", "--scope", "agent", LTM_AGENT="reviewer")
    assert ltm.json("list", LTM_AGENT="reviewer")["total"] == 1
    assert ltm.json("list", LTM_AGENT="builder")["total"] == 0
    assert ltm.json("list")["total"] == 0


def test_config_is_listed_set_and_unset(ltm: Ltm) -> None:
    assert ltm.json("config")["max_memories"] == 100
    assert ltm.ok("config", "max_memories", "7").strip() == "7"
    assert ltm.json("config", "max_memories") == {"name": "max_memories", "value": 7}
    assert ltm.ok("config", "max_memories", "--unset").strip() == "100"
    wrong = ltm.run("config", "max_memory", "3")
    assert wrong.returncode == 2
    assert "max_memories" in wrong.stderr
    assert ltm.run("config", "max_memories", "many").returncode == 2


def test_a_broken_config_is_told_and_nothing_stops(ltm: Ltm) -> None:
    (ltm.home / ".ltm").mkdir()
    (ltm.home / ".ltm" / "config.toml").write_text("max_memories = [\n")
    assert ltm.json("remember", "still works")["id"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["remember", ""], 2),
        (["remember", "x", "--kind", "nonsense"], 2),
        (["remember", "x", "--impact", "huge"], 2),
        (["remember", "x", "--difficulty", "7"], 2),
        (["list", "--status", "odd"], 2),
        (["show", "mem_nothing"], 1),
        (["forget", "mem_nothing"], 1),
        (["nonsense"], 2),
        (["recall"], 2),
        (["list", "--project", "/nowhere/at/all"], 1),
    ],
)
def test_bad_input_gets_a_clear_error_and_the_right_code(
    ltm: Ltm, words: list[str], code: int
) -> None:
    done = ltm.run(*words)
    assert done.returncode == code
    assert done.stdout == ""
    assert done.stderr.strip()
    assert "Traceback" not in done.stderr
    assert "should not have happened" not in done.stderr


def test_control_bytes_in_a_memory_cannot_steer_the_terminal(ltm: Ltm) -> None:
    evil = "red \x1b[31malert\x1b]0;owned\x07 \u202egnp.exe \x9b2J bell\x07"
    made = ltm.json("remember", "-", stdin=evil)
    for words in (["list"], ["recall", "alert"], ["show", made["id"]], ["inject"]):
        out = ltm.ok(*words)
        assert not set(out) & set("\x1b\x07\x9b\u202e"), words


def test_nothing_is_readable_by_others(ltm: Ltm) -> None:
    before = os.umask(0)
    try:
        ltm.ok("remember", "mine alone")
        ltm.ok("recall", "alone")
    finally:
        os.umask(before)
    for path in (ltm.home / ".ltm").rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_a_closed_pipe_is_not_an_error(ltm: Ltm) -> None:
    for n in range(3):
        ltm.ok("remember", f"thing{n} apart{n}")
    done = subprocess.run(
        f"'{os.sys.executable}' -m ltm list | head -c 1",  # type: ignore[attr-defined]
        shell=True,
        cwd=ltm.project,
        env={**os.environ, "LTM_HOME": str(ltm.home / ".ltm")},
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help(ltm: Ltm, name: str) -> None:
    text = ltm.ok(name, "--help")
    assert text.startswith(f"Usage: ltm {name}")
    assert len(text.splitlines()) > 4


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(ltm: Ltm, shell: str) -> None:
    assert "_LTM_COMPLETE" in ltm.ok("completion", shell)


def test_completion_completes_commands(ltm: Ltm) -> None:
    out = ltm.ok(_LTM_COMPLETE="bash_complete", COMP_WORDS="ltm rec", COMP_CWORD="1")
    assert "recall" in out


def test_cells_of_the_kinds_table_are_options_too(ltm: Ltm) -> None:
    assert ltm.ok("config", "kinds.progress.fades_days", "3.5").strip() == "3.5"
    assert ltm.json("config", "kinds.progress.fades_days")["value"] == 3.5
    assert ltm.run("config", "kinds.progress.nonsense").returncode == 2


def test_a_repository_may_set_only_what_is_harmless(ltm: Ltm) -> None:
    ltm.ok("init")
    assert ltm.ok("config", "max_memories", "55", "--repo").strip() == "55"
    refused = ltm.run("config", "store", "elsewhere", "--repo")
    assert refused.returncode == 2
    assert ltm.json("config", "store")["value"] == "files"


def test_doctor_finds_what_is_wrong_and_repairs_without_deleting(ltm: Ltm) -> None:
    made = ltm.json("remember", "something sound")
    assert ltm.json("doctor")["healthy"] is True
    broken = Path(made["path"]).with_name("broken.md")
    broken.write_bytes(b"---\nid: x\ntitle: [\n---\n")
    Path(made["path"]).chmod(0o644)
    done = ltm.run("doctor")
    assert done.returncode == 1
    assert "broken.md:" in done.stdout
    fixed = ltm.run("doctor", "--fix", "--audit")
    assert fixed.returncode == 1
    assert broken.read_bytes() == b"---\nid: x\ntitle: [\n---\n"
    assert stat.S_IMODE(Path(made["path"]).stat().st_mode) == 0o600
    broken.unlink()
    report = ltm.json("doctor", "--audit")
    assert report["healthy"] is True
    assert report["audit"]["memories"] == 1


def test_what_is_only_worth_knowing_is_told_as_a_note_and_not_as_a_problem(ltm: Ltm) -> None:
    ltm.ok("remember", "We use uv for packages")
    ltm.ok("keygen")
    said = ltm.ok("doctor")
    assert said.startswith("note: ")
    assert "1 memory is not signed" in said
    assert said.endswith("The memories are in order.\n")


def test_one_of_something_is_told_as_one(ltm: Ltm) -> None:
    kept = ltm.json("remember", "We use uv for packages")["id"]
    assert "Wrote 1 memory to " in ltm.ok("export", "one.json")
    assert "used 1 time\n" in ltm.ok("show", kept)
    assert "0 events, 0 errors" in ltm.run("drain").stderr
    ltm.ok("keygen")
    assert "1 memory signed." in ltm.run("sign").stderr
    assert "1 of 1 memory ok." in ltm.run("verify").stderr
    ltm.ok("remember", "We never deploy on Fridays")
    assert "2 of 2 memories ok." in ltm.run("verify").stderr
    assert "Wrote 2 memories to " in ltm.ok("export", "two.json")


def test_what_the_readme_remembers_its_question_finds(ltm: Ltm) -> None:
    readme = Path(__file__).parents[2] / "README.md"
    typed = [line.strip() for line in readme.read_text("utf-8").splitlines()]
    remember, recall = (
        shlex.split(line)[1:] for line in typed if line.startswith(("ltm remember", "ltm recall"))
    )
    ltm.ok(*remember)
    assert remember[1] in ltm.ok(*recall)
