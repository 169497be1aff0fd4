"""Agents never see each other's memories, and a project's word counts more than its agent's."""

from __future__ import annotations

from pathlib import Path

from tests.cli.runner import Ltm
from tests.security.strangers import session_start, tree


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_agents_never_see_each_others_memories(ltm: Ltm) -> None:
    one = ltm.json("remember", "I like short answers", "--scope", "agent", LTM_AGENT="one")
    ltm.json("remember", "This project uses tabs")
    for words in (["list"], ["recall", "short answers"], ["inject"], ["export", "-"]):
        seen = {name: ltm.ok(*words, "--json", LTM_AGENT=name) for name in ("one", "two")}
        assert "short answers" in seen["one"], words
        assert "I like short" not in seen["two"], words
    assert "uses tabs" in ltm.ok("inject", LTM_AGENT="two")
    for words in (["show"], ["forget"], ["related"], ["edit", "--pin"]):
        assert ltm.run(words[0], one["id"], *words[1:], LTM_AGENT="two").returncode == 1
    assert ltm.json("status", LTM_AGENT="two")["active"] == 1


def test_an_agents_memories_follow_it_into_every_project(ltm: Ltm, tmp_path: Path) -> None:
    write(ltm.project / "AGENT.md", "---\nname: Anima\n---\n")
    ltm.ok("trust")
    ltm.json("remember", "I like short answers", "--scope", "agent")
    other = tmp_path / "other"
    write(other / ".claude" / "agents" / "anima.md", "---\nltm:\n  id: anima\n---\n")
    ltm.ok("trust", cwd=other)
    assert "short answers" in ltm.json("inject", cwd=other)["text"]
    assert "[LTM:anima@other]" in ltm.json("inject", cwd=other)["text"]
    third = tmp_path / "third"
    third.mkdir()
    assert ltm.json("inject", cwd=third)["text"] == ""


def test_the_project_beats_the_agent_where_they_disagree(ltm: Ltm) -> None:
    """Traps 2.3 #15: "PROJECT overrides AGENT" was written down and implemented nowhere."""
    ltm.json("remember", "Indent Python code with four spaces", "-k", "pattern", "--scope", "agent")
    assert "four spaces" in ltm.json("inject")["text"]
    ltm.json("remember", "Indent Python code with four tabs", "-k", "pattern", "--scope", "project")
    text = ltm.json("inject")["text"]
    assert "four tabs" in text
    assert "four spaces" not in text
    assert ltm.json("recall", "indent python")["total"] == 2, "it is hidden, not lost"


def test_no_one_ever_edits_the_files_that_name_agents(ltm: Ltm) -> None:
    """Traps 2.3 #9: a hook rewrote `.claude/agents/*.md` and renamed those it did not like."""
    write(ltm.project / "AGENT.md", "no front matter\n")
    write(ltm.project / ".claude" / "agents" / "a.md", "none here either")
    write(ltm.project / ".claude" / "agents" / "b.md", "---\nltm: {id: anima}\n---\r\nCRLF\r\n")
    before = tree(ltm.project)
    ltm.ok("trust")
    ltm.ok("remember", "I like short answers", "--scope", "agent")
    ltm.ok("keygen")
    ltm.ok("sign", "--all")
    ltm.run("doctor", "--fix")
    for _ in range(2):
        assert "[LTM:anima@" in session_start(ltm, ltm.project)
    assert tree(ltm.project) == before


def test_a_text_kept_ready_is_made_again_when_another_agent_is_named(ltm: Ltm) -> None:
    ltm.ok("remember", "I like short answers", "--scope", "agent", LTM_AGENT="anima")
    ltm.ok("remember", "I like long answers", "--scope", "agent")
    assert "long answers" in session_start(ltm, ltm.project)
    write(ltm.project / "AGENT.md", "---\nname: anima\n---\n")
    assert "long answers" in session_start(ltm, ltm.project)
    ltm.ok("trust")
    assert "short answers" in session_start(ltm, ltm.project)
    (ltm.project / "AGENT.md").unlink()
    write(ltm.project / ".claude" / "agents" / "x.md", "---\nltm: {id: anima}\n---\n")
    assert "short answers" in session_start(ltm, ltm.project)
    write(ltm.project / ".claude" / "agents" / "x.md", "---\nltm: {id: another}\n---\n")
    assert session_start(ltm, ltm.project) == ""
