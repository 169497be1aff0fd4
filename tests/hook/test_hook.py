"""The hook as a client runs it: it keeps every event, tells what is known, and is no burden."""

from __future__ import annotations

import ast
import json
import os
import shlex
import subprocess
import sys
import time
from functools import cache
from importlib import import_module
from pathlib import Path
from shutil import which
from typing import ForwardRef

import pytest

from ltm.config.config import load
from ltm.hook import program
from ltm.hook.answer import compose_brief
from ltm.model import Memory, Source, Trust, new_id, now
from ltm.project.layout import places
from ltm.spool import events, hook_log
from ltm.state.candidates import CandidateRecord, Candidates
from ltm.store.open import open_files
from ltm.store.project import OpenProject
from tests.figures import count, worst
from tests.hook.runner import PATIENCE, PROGRAM, Hooks, Ran
from tests.http.runner import nobody_drains
from tests.stores import make

EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreCompact",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PostToolUse",
    "PostToolUseFailure",
    "SessionEnd",
)
SECRET = "sk-ant-api03-canary"


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)


def start(hooks: Hooks, source: str = "startup", **fields: object) -> str:
    return hooks.fire("SessionStart", source=source, **fields).told


# -- keeping events ----------------------------------------------------------------------------


def test_every_event_is_kept_before_the_hook_ends(hooks: Hooks) -> None:
    for number, event in enumerate(EVENTS):
        hooks.session = f"session-{number}"
        fields = {"agent_id": "a1", "agent_type": "Explore"} if event.startswith("Subagent") else {}
        hooks.fire(event, **fields)
        *_, kept = waiting = hooks.waiting()
        assert len(waiting) == number + 1
        assert (kept["event"], kept["session"]) == (event, hooks.session)


def test_no_prompt_input_or_output_reaches_the_disk(hooks: Hooks) -> None:
    for event in EVENTS:
        hooks.fire(
            event,
            prompt=SECRET,
            tool_input={"command": SECRET},
            tool_response={"stdout": SECRET},
            error=SECRET,
            last_assistant_message=SECRET,
            custom_instructions=SECRET,
        )
    files = [path for path in hooks.top.rglob("*") if path.is_file()]
    assert len(files) >= len(EVENTS) - 2
    assert not [path for path in files if b"canary" in path.read_bytes()]


def test_a_hundred_hooks_at_once_lose_nothing(hooks: Hooks) -> None:
    running = []
    for number in range(100):
        process = subprocess.Popen(
            hooks.command(), stdin=subprocess.PIPE, env=hooks.environ, cwd=hooks.project
        )
        assert process.stdin
        hooks.session = f"session-{number}"
        process.stdin.write(json.dumps(hooks.payload("Stop")).encode())
        process.stdin.close()
        running.append(process)
    assert {process.wait(PATIENCE) for process in running} == {0}
    assert {str(record["session"]) for record in hooks.waiting()} == {
        f"session-{number}" for number in range(100)
    }


def test_inside_a_client_that_we_started_ourselves_it_does_nothing(hooks: Hooks) -> None:
    hooks.remember("Use port 8082")
    hooks.env["LTM_INSIDE"] = "1"
    assert start(hooks) == ""
    assert hooks.waiting() == []


# -- telling memories --------------------------------------------------------------------------


def test_a_session_is_told_the_projects_memories_in_the_field_the_client_reads(
    hooks: Hooks,
) -> None:
    """Traps 2.1 #1, #2, 2.3 #2: hookSpecificOutput.additionalContext, content, JSON only."""
    hooks.remember("The billing service listens on port 8082")
    assert "port 8082" in start(hooks)


def test_every_way_to_begin_tells_the_same(hooks: Hooks) -> None:
    """Traps 2.5 #10: not only at startup."""
    hooks.remember("Use port 8082")
    told = start(hooks)
    assert "8082" in told
    for source in ("clear", "compact", "fork", "future"):
        assert start(hooks, source) == told, source


def test_the_second_session_is_told_from_what_is_kept_ready(hooks: Hooks) -> None:
    hooks.remember("Use port 8082")
    with nobody_drains(hooks):  # a drain composes it again
        first = start(hooks)
        (kept,) = (hooks.home / "briefs").iterdir()
        kept.write_text(kept.read_text().replace("8082", "9999"))
        assert start(hooks) == first.replace("8082", "9999")


def test_of_many_memories_as_many_are_told_as_a_client_shows_whole(hooks: Hooks) -> None:
    """Traps 2.3 #1: over 10,000 characters a client shows the model 2 KB of it and a file name."""
    found = places(str(hooks.project), environ=hooks.environ)
    store = open_files(found, load(found.home, found.shared))
    for number in range(300):
        store.create(make(f"Fact number {number} is about module {number}", "word " * 40))
    store.close()
    told = start(hooks)
    assert 5_000 < len(told) <= 10_000
    assert told.count("[/LTM]") == 1
    assert "more" in told.splitlines()[-1]
    assert told == start(hooks)


def test_telling_counts_no_use_and_writes_nothing_but_its_own_files(hooks: Hooks) -> None:
    """Traps 2.3 #10: a hook that updates a row per memory costs seconds on a slow disk."""
    hooks.remember("Use port 8082")

    def files() -> dict[str, bytes]:
        return {
            str(path.relative_to(hooks.home)): path.read_bytes()
            for path in sorted(hooks.home.rglob("*"))
            if path.is_file() and path.parent.name not in ("spool", "briefs", "doors")
        }

    before = files()
    assert before
    for source in ("startup", "resume", "compact"):
        start(hooks, source)
    assert files() == before


def test_the_project_is_the_payloads_folder_else_the_clients(hooks: Hooks, tmp_path: Path) -> None:
    """Traps 2.1 #18: the variable is CLAUDE_PROJECT_DIR; no server and no port are asked (#12)."""
    hooks.remember("Use port 8082")
    (tmp_path / "other").mkdir()
    hooks.env["CLAUDE_PROJECT_DIR"] = str(tmp_path / "other")
    assert "8082" in start(hooks)
    hooks.env["CLAUDE_PROJECT_DIR"] = str(hooks.project)
    assert "8082" in start(hooks, cwd=None)


def test_options_that_changed_since_they_were_read_are_in_no_text_kept_ready(hooks: Hooks) -> None:
    hooks.remember("Use port 8082")
    with OpenProject(str(hooks.project), environ=hooks.environ) as project:
        assert project.user.get("inject.message")
        configure(hooks, "[inject]\nmessage = false\n")
        compose_brief(project, str(hooks.project), hooks.environ)
    ran = hooks.fire("SessionStart", source="startup")
    assert ("8082" in ran.told, ran.shown) == (True, "")


def test_a_new_memory_is_told_at_once(hooks: Hooks) -> None:
    hooks.remember("Use port 8082")
    start(hooks)
    hooks.remember("Deploy with make ship")
    told = start(hooks)
    assert "8082" in told
    assert "make ship" in told


def test_what_the_clients_own_instructions_say_by_now_is_not_told_again(hooks: Hooks) -> None:
    hooks.remember("The billing service listens on port 8082")
    assert "8082" in start(hooks)
    (hooks.project / "CLAUDE.md").write_text("- The billing service listens on port 8082\n")
    assert "8082" not in start(hooks)


def test_a_purged_memory_is_in_no_text_kept_ready(hooks: Hooks) -> None:
    hooks.remember("Use port 8082")
    start(hooks)
    (memory,) = json.loads(hooks.ltm("list", "--json").stdout)["memories"]
    assert hooks.ltm("forget", memory["id"], "--purge", "--yes").returncode == 0
    assert list((hooks.home / "briefs").iterdir()) == []
    assert start(hooks) == ""


def test_other_projects_are_told_nothing_of_it(hooks: Hooks, tmp_path: Path) -> None:
    hooks.remember("Use port 8082")
    start(hooks)
    (tmp_path / "other").mkdir()
    assert start(hooks, cwd=str(tmp_path / "other")) == ""


def test_a_person_is_shown_once_a_session_how_many_memories_were_told_and_what_waits(
    hooks: Hooks,
) -> None:
    def shown(source: str = "startup") -> str:
        return hooks.fire("SessionStart", source=source).shown

    assert shown() == "LTM: no memories of project yet"
    hooks.remember("Use port 8082", "Deploy with make ship")
    with nobody_drains(hooks):
        assert shown() == shown() == "LTM: 2 memories told"
        found = places(str(hooks.project), environ=hooks.environ)
        record = CandidateRecord("c1", "Never deploy on Fridays", said=int(time.time()))
        Candidates(found.private).add([record])
        waits = "LTM: 2 memories told. Waiting for you: 1 unconfirmed statement"
        assert shown() == f"{waits} (ltm review)"
        hooks.env["CLAUDE_PLUGIN_ROOT"] = "/p"
        assert shown() == f"{waits} (/ltm:review)"
        hooks.env["GEMINI_SESSION_ID"] = "1"  # has none of the plugin's commands
        assert shown() == f"{waits} (ltm review)"
        del hooks.env["GEMINI_SESSION_ID"]
        assert [shown(source) for source in ("resume", "clear", "compact")] == [""] * 3
        (hooks.home / "config.toml").write_text("[inject]\nmessage = false\n")
        assert shown() == ""


def test_without_memories_a_session_is_told_nothing(hooks: Hooks) -> None:
    for source in ("startup", "clear"):
        assert hooks.fire("SessionStart", source=source).told == ""


def test_a_resumed_session_that_was_told_is_not_told_again(hooks: Hooks, tmp_path: Path) -> None:
    hooks.remember("Use port 8082")
    transcript = tmp_path / "session-1.jsonl"
    attachment = {"type": "hook_additional_context", "content": [start(hooks)]}
    transcript.write_text(json.dumps({"type": "attachment", "attachment": attachment}) + "\n")
    hooks.remember("Deploy with make ship")
    assert start(hooks, "resume") == ""
    assert "8082" in start(hooks, "compact")


def test_a_resumed_session_that_was_never_told_is_told(hooks: Hooks, tmp_path: Path) -> None:
    hooks.remember("Use port 8082")
    assert "8082" in start(hooks, "resume")
    user = {"type": "user", "message": {"content": "[LTM: is what I typed"}}
    (tmp_path / "session-1.jsonl").write_text(json.dumps(user) + "\n")
    assert "8082" in start(hooks, "resume")


def test_no_other_event_is_answered_by_default(hooks: Hooks) -> None:
    """Traps 2.5 #1: an answer to Stop makes the model go on."""
    hooks.remember("Use port 8082")
    for event in sorted({*EVENTS} - {"SessionStart"}):
        assert hooks.fire(event, prompt="which port?", agent_id="a", agent_type="b").out == ""
    assert hooks.fire("Stop", stop_hook_active=True).out == ""


def configure(hooks: Hooks, text: str) -> None:
    (hooks.home / "config.toml").write_text(text)


def test_subagents_are_told_a_little_if_that_is_wanted(hooks: Hooks) -> None:
    hooks.remember("Use port 8082")
    configure(hooks, "[inject]\nsubagents = true\n")
    told = hooks.fire("SubagentStart", agent_id="a", agent_type="Explore").told
    assert "8082" in told
    assert len(told) <= 2_400
    configure(hooks, "[inject]\nsubagents = false\n")
    assert hooks.fire("SubagentStart", agent_id="a", agent_type="Explore").out == ""


def test_a_prompt_is_told_what_fits_it_if_that_is_wanted(hooks: Hooks) -> None:
    hooks.remember("The billing service listens on port 8082", "Deploy with make ship")
    configure(hooks, "[recall]\nper_prompt = true\n")
    told = hooks.fire("UserPromptSubmit", prompt="on which port is billing?").told
    assert "8082" in told
    assert "make ship" not in told
    assert len(told) <= 1_500
    for other in ("/port billing", "<task-notification>port billing", "", "nothing fits zzz"):
        assert hooks.fire("UserPromptSubmit", prompt=other).out == ""


def test_no_memory_is_told_twice_in_a_session(hooks: Hooks) -> None:
    """Neither with two prompts, nor with a prompt after the start, nor after resuming."""
    hooks.remember("The billing service listens on port 8082")
    configure(hooks, "[recall]\nper_prompt = true\n")
    asked = "on which port is billing?"
    assert "8082" in hooks.fire("UserPromptSubmit", prompt=asked).told
    assert hooks.fire("UserPromptSubmit", prompt=f"again: {asked}").out == ""
    start(hooks, "resume")
    assert hooks.fire("UserPromptSubmit", prompt=asked).out == ""
    other = {"session_id": "session-2"}
    assert "8082" in hooks.fire("SessionStart", source="startup", **other).told
    assert hooks.fire("UserPromptSubmit", prompt=asked, **other).out == ""
    assert "8082" in hooks.fire("UserPromptSubmit", prompt=asked, session_id="session-3").told


def learn(hooks: Hooks, text: str, session: str) -> None:
    """Keep a memory that a session taught."""
    with OpenProject(str(hooks.project), environ=hooks.environ) as project:
        at = now()
        source = Source(Trust.USER, session)
        memory = Memory(new_id(at), "fact", text, text, text, at, at, at, source=source)
        project.store.create(memory)


def test_a_prompt_is_told_what_another_session_learned_meanwhile_if_that_is_wanted(
    hooks: Hooks,
) -> None:
    hooks.remember("Use port 8082")
    configure(hooks, "[inject]\nnews_per_prompt = true\n")
    start(hooks)
    assert hooks.fire("UserPromptSubmit", prompt="go on").out == ""
    learn(hooks, "Staging moved to Oslo", "session-2")
    learn(hooks, "Said here", "session-1")
    assert "Oslo" in hooks.fire("UserPromptSubmit", prompt="go on").told
    assert hooks.fire("UserPromptSubmit", prompt="and on").out == ""
    configure(hooks, "")
    learn(hooks, "Staging moved to Rome", "session-2")
    assert hooks.fire("UserPromptSubmit", prompt="go on").out == ""


def test_what_a_session_was_told_is_noted_without_its_words(hooks: Hooks) -> None:
    hooks.remember("The zanzibar service listens on port 8082")
    configure(hooks, "[recall]\nper_prompt = true\n")
    start(hooks)
    hooks.fire("UserPromptSubmit", prompt="where does zanzibar listen?", session_id="session-2")
    noted = list((hooks.home / "told").iterdir())
    assert len(noted) == 2
    assert not any(b"zanzibar" in each.read_bytes() for each in noted)


def test_nothing_is_noted_where_prompts_are_told_nothing(hooks: Hooks) -> None:
    hooks.remember("Use port 8082")
    start(hooks)
    assert not (hooks.home / "told").exists()


def test_only_the_users_own_config_switches_answers_on(hooks: Hooks) -> None:
    hooks.remember("Use port 8082")
    shared = hooks.project / ".claude" / "ltm"
    shared.mkdir(parents=True)
    (shared / "config.toml").write_text("[inject]\nsubagents = true\n")
    assert hooks.fire("SubagentStart", agent_id="a", agent_type="Explore").out == ""


def test_a_store_that_may_be_far_away_is_not_asked(hooks: Hooks) -> None:
    hooks.remember("Use port 8082")
    configure(hooks, 'store = "elsewhere"\n')
    assert hooks.fire("SessionStart", source="startup").out == ""


# -- being no burden ---------------------------------------------------------------------------

_SHOW_MODULES = """
import os, sys
before = set(sys.modules)
leave = os._exit
shown = os.dup(2)  # the process that does the work has no output of its own
def show(code):
    os.write(shown, "\\n".join([*sorted(set(sys.modules) - before), ""]).encode())
    leave(code)
os._exit = show
sys.path.insert(0, {root!r})
from ltm.hook import main
main.main()
"""
OURS = {
    "ltm",
    "ltm.clients",
    "ltm.clients.table",
    "ltm.clients.wire",
    "ltm.errors",
    "ltm.files",
    "ltm.files.atomic",
    "ltm.files.fastjson",
    "ltm.hook",
    "ltm.hook.deadline",
    "ltm.hook.main",
    "ltm.hook.program",
    "ltm.hook.receive",
    "ltm.project",
    "ltm.project.home",
    "ltm.spool",
    "ltm.spool.events",
    "ltm.spool.hook_log",
}


def modules(hooks: Hooks, event: str, **fields: object) -> set[str]:
    """The modules a hook loads beyond those of a bare interpreter."""
    program = _SHOW_MODULES.format(root=str(PROGRAM.parents[2]))
    command = [sys.executable, "-I", "-S", "-c", program]
    data = json.dumps(hooks.payload(event, **fields)).encode()
    return set(hooks.send(data, command=command).err.split())


def test_keeping_an_event_loads_next_to_nothing(hooks: Hooks) -> None:
    (hooks.home).mkdir()
    (hooks.home / "runtime.json").write_text("{}")
    # Small modules written in C, some of them built in; no regular expressions, no enumerations.
    small = {"_json", "_signal", "_thread", "errno", "fcntl", "gc", "select", "time"}
    for event in ("Stop", "PreCompact", "SubagentStop", "SessionEnd"):
        loaded = modules(hooks, event, agent_type="Explore")
        ours = {name for name in loaded if name.partition(".")[0] == "ltm"}
        assert ours == OURS
        assert loaded - ours <= small | {"__future__"}


@pytest.mark.parametrize("run", ["hook/main.py", "cli/launch.py"])
def test_what_is_compiled_each_time_it_is_run_only_finds_the_rest(run: str) -> None:
    """Python keeps what it made of a module, but never of the file it is started with."""
    tree = ast.parse((PROGRAM.parent.parent / run).read_text("utf-8"))
    assert sum(1 for _ in ast.walk(tree)) <= 100


def test_a_prompt_and_a_tool_call_load_no_more_than_that(hooks: Hooks) -> None:
    for event in ("UserPromptSubmit", "PostToolUse", "SubagentStart"):
        ours = {name for name in modules(hooks, event) if name.startswith("ltm")}
        assert ours == OURS


def test_a_session_with_a_text_kept_ready_loads_two_modules_more(hooks: Hooks) -> None:
    hooks.remember("Use port 8082")
    start(hooks)
    loaded = modules(hooks, "SessionStart", source="startup", session_id="session-2")
    assert {name for name in loaded if name.startswith("ltm")} - OURS == {
        "ltm.hook.answer",
        "ltm.spool.session_text",
    }
    assert not loaded & {"json", "re", "sqlite3", "dataclasses", "typing", "subprocess"}


def test_a_session_whose_text_is_composed_again_loads_nothing_slow(hooks: Hooks) -> None:
    hooks.remember("Use port 8082 – “staging” → Zürich …")
    loaded = modules(hooks, "SessionStart", source="startup")
    assert "ltm.inject.session_start" in loaded
    slow = {"ast", "dataclasses", "hashlib", "importlib", "inspect", "json", "tomllib", "yaml"}
    # From Python 3.12 on `sqlite3` loads `warnings` itself.
    slow |= {"unicodedata"} if sys.version_info >= (3, 12) else {"unicodedata", "warnings"}
    assert not loaded & (slow | {"ltm.decisions", "ltm.text.terms", "ltm.store.store"})


def test_no_annotation_is_compiled_for_a_session_whose_text_is_composed_again(hooks: Hooks) -> None:
    """The named tuple of `typing` compiles annotations that are texts, which takes a start twice as
    long as `typing` itself; that of `ltm.record` leaves them as they are."""
    hooks.remember("Use port 8082")
    loaded = modules(hooks, "SessionStart", source="startup")
    texts = {
        f"{name}.{value.__name__}"
        for name in sorted(loaded)
        if name.startswith("ltm.")
        for value in vars(import_module(name)).values()
        if isinstance(value, type) and value.__module__ == name and hasattr(value, "_fields")
        if any(isinstance(each, ForwardRef) for each in value.__annotations__.values())
    }
    assert texts == set()


def test_what_agents_md_tells_is_told_to_those_whose_client_does_not_load_it(hooks: Hooks) -> None:
    """A text that is kept ready for one client is not given to the session of another."""
    hooks.remember("Staging listens on port 8081", "Deployments need two approvals")
    (hooks.project / "AGENTS.md").write_text("- Staging listens on port 8081\n")
    for version, alone in (("2-1-325", False), ("2-1-197", True), ("2-1-325", False), ("", True)):
        for _ in range(2):
            hooks.env["AI_AGENT"] = f"claude-code_{version}_harness"
            said = hooks.fire("SessionStart", source="startup").told
            assert "two approvals" in said
            assert ("8081" in said) is alone


HANGING = f"""
import sys, time
sys.path.insert(0, {str(PROGRAM.parents[2])!r})
from ltm.hook import answer, main
from ltm.spool import events, hook_log
{{what}} = lambda *given, **named: time.sleep(60)
main.main()
"""


@pytest.mark.parametrize(
    ("event", "hanging", "deadline", "logged"),
    [
        ("SessionStart", "answer.at_start", program.DEADLINE, True),
        ("SessionStart", "events.put", program.DEADLINE, True),
        ("Stop", "events.put", program.DEADLINE, True),
        ("SessionEnd", "events.put", program.END_DEADLINE, True),
        # As on a disk that hangs: the log is on it too.
        ("SessionEnd", "events.put = hook_log.note", program.END_DEADLINE, False),
        ("SessionStart", "answer.at_start = hook_log.note", program.DEADLINE, False),
    ],
)
def test_it_ends_at_its_deadline_whatever_it_is_doing(
    hooks: Hooks, event: str, hanging: str, deadline: float, logged: bool
) -> None:
    """The promise to a session: nothing of ours takes longer, not even what should never hang. But
    it leaves a line in the log, and a person whose session starts without memories is told."""
    hooks.home.mkdir()
    program = HANGING.format(what=hanging)
    began = time.monotonic()
    ran = hooks.send(
        json.dumps(hooks.payload(event, source="startup")).encode(),
        command=[sys.executable, "-I", "-S", "-c", program],
    )
    assert deadline < time.monotonic() - began < 10
    assert (ran.rc, ran.err) == (0, "")
    said = json.loads(ran.out or "{}")
    assert list(said) == (["systemMessage"] if event == "SessionStart" else [])
    if said:
        assert said["systemMessage"].startswith("LTM was not ready in time")
    told = hook_log.last(str(hooks.home))
    assert (f" {event}: TimeoutError time was up" in told) is logged


def test_an_event_is_kept_though_the_process_that_keeps_it_dies(
    hooks: Hooks, tmp_path: Path
) -> None:
    died = tmp_path / "died"
    program = f"""
import os, sys
sys.path.insert(0, {str(PROGRAM.parents[2])!r})
from ltm.hook import main
from ltm.spool import events
put = events.put
def die_once(*given, **named):
    if os.path.exists({str(died)!r}):
        return put(*given, **named)
    os.mkdir({str(died)!r})
    os.kill(os.getpid(), 9)
events.put = die_once
main.main()
"""
    command = [sys.executable, "-I", "-S", "-c", program]
    ran = hooks.send(json.dumps(hooks.payload("SessionEnd")).encode(), command=command)
    assert ran == Ran(0, "", "")
    assert died.exists()
    assert [record["event"] for record in hooks.waiting()] == ["SessionEnd"]


def test_its_deadlines_are_what_clients_can_wait() -> None:
    assert program.END_DEADLINE + program.LAST_WORDS <= 0.4
    assert program.DEADLINE + program.LAST_WORDS <= 0.8


def test_a_client_that_never_closes_stdin_is_answered(hooks: Hooks) -> None:
    """Traps 2.4 #8: no fixed wait for input; here there is no end of input at all."""
    hooks.remember("Use port 8082")
    with hooks.running() as running:
        running.say(json.dumps(hooks.payload("SessionStart", source="startup")).encode())
        ran = running.answer()
    assert (ran.rc, ran.err) == (0, "")
    assert "8082" in ran.told
    assert len(hooks.waiting()) == 1


def test_a_message_without_an_end_is_kept_by_what_it_begins_with(hooks: Hooks) -> None:
    data = json.dumps(hooks.payload("Stop", last_assistant_message="x" * 1000)).encode()
    ran = hooks.send(data[:-500])
    assert (ran.rc, ran.out, ran.err) == (0, "", "")
    assert [record["event"] for record in hooks.waiting()] == ["Stop"]


def test_signals_to_the_whole_group_do_not_lose_the_event(hooks: Hooks) -> None:
    """Ctrl-C in a terminal goes to the client and its hooks alike."""
    script = (
        "import os, signal, sys\n"
        "sys.stdout.write('x'); sys.stdout.flush()\n"
        "for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM): os.killpg(0, number)\n"
    )
    data = json.dumps(hooks.payload("SessionEnd", reason="other")).encode()
    with hooks.running(start_new_session=True) as running:
        # It reads before it can be sure to be deaf: once it waits for the rest, it is.
        running.say(data[:10])
        pid = running.process.pid
        _until_deaf(pid)
        sender = [sys.executable, "-c", script.replace("killpg(0", f"killpg({pid}")]
        subprocess.run(sender, capture_output=True, check=True)
        running.say(data[10:])
        running.close()
        assert running.answer() == Ran(0, "", "")
    assert len(hooks.waiting()) == 1


def _until_deaf(pid: int) -> None:
    """Wait until a process ignores SIGTERM, as the system tells."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        pytest.skip("only Linux tells which signals a process ignores")
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        ignored = next(line for line in status.read_text().splitlines() if "SigIgn" in line)
        if int(ignored.split()[1], 16) & (1 << 14):
            return
    raise AssertionError("the hook never ignored SIGTERM")


def test_an_error_is_told_in_the_log_and_nowhere_else(hooks: Hooks) -> None:
    hooks.remember("Use port 8082")
    configure(hooks, 'agent = "bob"\n')
    hooks.env["LTM_AGENT"] = "not / a name"
    assert hooks.fire("SessionStart", source="startup").out == ""
    assert "SessionStart: WrongUsage" in hook_log.last(str(hooks.home))
    assert len(hooks.waiting()) == 1


# -- Pythons that are too old ------------------------------------------------------------------


def test_every_python_3_can_read_the_program() -> None:
    """Before it can say that a Python is too old, that Python must have read it."""
    source = PROGRAM.read_text()
    for minor in (7, 8, 9, 10):
        ast.parse(source, feature_version=(3, minor))
    assert "from __future__" not in source  # unknown to 3.6, and an error there


@cache
def old_pythons() -> list[str]:
    """The Pythons below our floor on this machine: on the PATH, or kept by pyenv."""
    found = [which(f"python3.{minor}") or "" for minor in range(6, 11)]
    versions = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    for minor in range(6, 11):
        found += [str(path) for path in versions.glob(f"3.{minor}.*/bin/python3.{minor}")]
    ask = [
        "-c",
        "import sys; print(sys.version_info[0] == 3 and sys.version_info < (3, 11))",
    ]
    return [
        path
        for path in dict.fromkeys(found)
        if path
        and subprocess.run([path, *ask], capture_output=True, check=False).stdout == b"True\n"
    ]


@pytest.fixture
def old_hooks(hooks: Hooks) -> Hooks:
    pythons = old_pythons()
    if not pythons:
        pytest.skip("no Python below 3.11 on this machine")
    hooks.remember("Use port 8082")
    hooks.python = pythons[0]
    return hooks


def test_a_python_that_is_too_old_is_silent(old_hooks: Hooks) -> None:
    for python in old_pythons():
        old_hooks.python = python
        for event in ("SessionStart", "Stop", "SessionEnd"):
            assert old_hooks.fire(event, source="startup").out == ""


def test_a_python_that_is_too_old_hands_over_to_one_that_is_not(old_hooks: Hooks) -> None:
    (old_hooks.home / "runtime.json").write_text(json.dumps({"python": sys.executable}))
    (old_hooks.home / "drain.lock").write_text("")
    for python in old_pythons():
        if python.endswith(("3.6", "3.7")):
            continue  # they cannot read the modules that find the other one
        old_hooks.python = python
        with _draining(old_hooks.home):
            assert "8082" in old_hooks.fire("SessionStart", source="startup").told
    assert old_hooks.waiting()


def test_two_pythons_that_are_too_old_do_not_hand_over_for_ever(old_hooks: Hooks) -> None:
    (old_hooks.home / "runtime.json").write_text(json.dumps({"python": old_hooks.python}))
    assert old_hooks.fire("SessionStart", source="startup").out == ""


# -- leaving the rest to a drain ---------------------------------------------------------------


class _draining:
    """Hold the lock of the drain, so that no hook starts one."""

    def __init__(self, home: Path) -> None:
        from ltm.files.lock import Lock

        self.lock = Lock(str(home / "drain.lock"))

    def __enter__(self) -> None:
        assert self.lock.acquire(patience=5)

    def __exit__(self, *_: object) -> None:
        self.lock.release()


@pytest.fixture
def recorder(hooks: Hooks, tmp_path: Path) -> Path:
    """A stand-in for the Python that drains: it notes how it was started, and holds on."""
    started = tmp_path / "started"
    program = tmp_path / "python"
    program.write_text(
        f"#!{sys.executable}\n"
        "import os, sys, time\n"
        "files = {}\n"
        "for name in os.listdir('/dev/fd'):\n"
        "    try: files[name] = os.readlink('/dev/fd/' + name)\n"
        "    except OSError: pass\n"
        f"with open({str(started)!r} + '.new', 'w') as file:\n"
        "    print(sys.argv[1:], os.getpid() == os.getsid(0), os.environ['LTM_HOME'], file=file)\n"
        "    print({n: f for n, f in files.items() if int(n) < 3 or 'pipe' in f}, file=file)\n"
        f"os.replace({str(started)!r} + '.new', {str(started)!r})\n"
        "time.sleep(60)\n"
    )
    program.chmod(0o755)
    hooks.home.mkdir(exist_ok=True)
    (hooks.home / "runtime.json").write_text(json.dumps({"python": str(program)}))
    return started


def wait_for(path: Path) -> str:
    """What is in a file, once another process has written it."""
    until = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < until, f"{path.name} never appeared"
        os.sched_yield()
    return path.read_text()


def end_recorders(started: Path) -> None:
    """End the stand-ins a test started; nothing else runs that very file."""
    program = str(started.parent / "python").encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if program in words:
                os.kill(int(folder.name), 9)
        except (OSError, ValueError):
            continue


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize(
    "event", ["SessionStart", "PreCompact", "Stop", "SubagentStop", "SessionEnd"]
)
def test_the_drain_is_let_go_without_a_pipe_of_the_hook(
    hooks: Hooks, recorder: Path, event: str
) -> None:
    """Reliability R13: the client waits for everybody who holds its pipes.

    Traps 2.4 #15: what takes long is never done while the session waits.
    """
    try:
        inherited = os.open(os.devnull, os.O_RDONLY)
        read_end, write_end = os.pipe()
        os.set_inheritable(write_end, True)
        payload = hooks.payload(event, agent_type="Explore", source="clear")
        with hooks.running(pass_fds=(write_end,)) as running:
            os.close(write_end)
            os.close(inherited)
            begun = time.monotonic()
            running.say(json.dumps(payload).encode())
            assert running.answer() == Ran(0, "", "")
            worst("R13", returned_after_ms=round((time.monotonic() - begun) * 1000))
        assert os.read(read_end, 1) == b""  # its other end is closed everywhere
        os.close(read_end)
        words, files = wait_for(recorder).splitlines()
        assert words == f"['-I', '-m', 'ltm', 'drain'] True {hooks.home}"
        count("R13", hooks=1, pipes_held=files.count("pipe"))
        assert files == str(dict.fromkeys("012", "/dev/null"))
    finally:
        end_recorders(recorder)


def test_small_events_start_no_drain(hooks: Hooks, recorder: Path) -> None:
    for event in ("UserPromptSubmit", "SubagentStart", "PostToolUse"):
        hooks.fire(event)
        hooks.fire(event)
    assert not recorder.exists()


def test_no_second_drain_is_started_while_one_runs(hooks: Hooks, recorder: Path) -> None:
    with _draining(hooks.home):
        for event in ("SessionStart", "Stop", "SessionEnd"):
            hooks.fire(event)
    assert not recorder.exists()
    assert len(hooks.waiting()) == 3


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes in /proc")
def test_where_a_server_drains_only_the_end_of_a_session_starts_a_drain(
    hooks: Hooks, recorder: Path
) -> None:
    import fcntl  # not on every system

    try:
        hooks.env["CLAUDE_PLUGIN_ROOT"] = "/p"  # a plugin, whose server begins with the session
        hooks.fire("SessionStart")
        del hooks.env["CLAUDE_PLUGIN_ROOT"]
        assert not recorder.exists()
        with open(hooks.home / "served.lock", "w") as held:
            fcntl.flock(held, fcntl.LOCK_SH)
            for event in ("SessionStart", "PreCompact", "Stop"):
                hooks.fire(event)
            assert not recorder.exists()
            with _draining(hooks.home):  # the server, which may end before it sees this event
                hooks.fire("SessionEnd")
            assert wait_for(recorder)
    finally:
        end_recorders(recorder)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes in /proc")
def test_with_tool_hooks_on_a_long_turn_is_saved_every_so_many_calls(
    hooks: Hooks, recorder: Path
) -> None:
    """Traps 2.5 #2: saving made the agent run commands, which were counted as work again."""
    noted = json.loads((hooks.home / "runtime.json").read_text())
    (hooks.home / "runtime.json").write_text(json.dumps({**noted, "save_interval": 3}))
    try:
        hooks.fire("PostToolUse", tool_name="Bash")
        hooks.fire("PostToolUseFailure", tool_name="Bash")
        assert not recorder.exists()
        assert hooks.fire("PostToolUse", tool_name="Bash").out == ""  # the agent is told nothing
        assert wait_for(recorder)
    finally:
        end_recorders(recorder)


def test_a_python_that_is_gone_starts_nothing(hooks: Hooks) -> None:
    hooks.home.mkdir()
    (hooks.home / "runtime.json").write_text('{"python": "/gone/python"}')
    hooks.fire("Stop")
    assert len(hooks.waiting()) == 1
    assert hook_log.last(str(hooks.home)) == ""


LAUNCHER_OF_0_1 = """\
#!/bin/sh
# Passes an event of a client, JSON on standard input, to LTM. Written by `ltm setup`, removed by
# `ltm uninstall`. If the Python named here is gone or broken, the next one is tried; if the program
# is gone, it does nothing.
python={python}
hook={hook}
pythons=${{hook%/*}}/sh/pythons.sh
if [ -r "$hook" ] && [ -r "$pythons" ]; then
  . "$pythons"
  begin_hook
  {{ [ -x "$python" ] && run_hook "$hook" "$@"; }} || each_python run_hook "$hook" "$@"
fi
exit 0
"""


@pytest.mark.parametrize("python", [sys.executable, "/gone/python3"], ids=["there", "gone"])
def test_a_launcher_of_version_0_1_still_delivers_an_event(hooks: Hooks, python: str) -> None:
    hooks.home.mkdir()
    (hooks.home / "runtime.json").write_text(f'{{"python":"{sys.executable}"}}\n')
    hook = PROGRAM.parent.parent / "surfaces" / "hook.py"
    launcher = hooks.top / "ltm-hook"
    words = {"python": shlex.quote(python), "hook": shlex.quote(str(hook))}
    launcher.write_text(LAUNCHER_OF_0_1.format(**words))
    message = json.dumps(hooks.payload("UserPromptSubmit")).encode()
    ran = hooks.send(message, command=["/bin/sh", str(launcher), "--unless-plugin"])
    assert (ran.rc, ran.out, ran.err) == (0, "", "")
    assert [each["event"] for each in hooks.waiting()] == ["UserPromptSubmit"]


def test_the_installed_command_is_the_same_program(hooks: Hooks) -> None:
    command = [sys.executable, "-c", "from ltm.hook.main import main; main()"]
    hooks.send(json.dumps(hooks.payload("Stop")).encode(), command=command)
    assert len(events.waiting(str(hooks.home), hooks.environ)) == 1
