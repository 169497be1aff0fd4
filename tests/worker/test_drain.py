"""The drain: every event once, in order, whatever fails on the way, and figures that add up."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ltm.config.config import set_option
from ltm.config.options import OPTIONS
from ltm.errors import StorageFailed
from ltm.files.lock import Lock
from ltm.history.db import Passages
from ltm.project.layout import places
from ltm.spool import events, hook_log
from ltm.spool.hook_log import python, runtime
from ltm.state.model_log import ModelLog
from ltm.state.session_log import Session, SessionLog
from ltm.worker.drain import TRIES, Drained, drain
from ltm.worker.steps import STEPS, Step, StepContext
from tests.figures import count
from tests.hook.runner import PATIENCE, Hooks
from tests.sessions.writing import Transcript


class Desk:
    """A person's sessions without any client: events as hooks keep them, transcripts as written."""

    def __init__(self, top: Path) -> None:
        self.hooks = Hooks(top)
        self.home = str(self.hooks.home)
        self.environ = self.hooks.environ

    def transcript(self, session: str) -> Transcript:
        return Transcript(self.hooks.top / f"{session}.jsonl", session)

    def record(self, event: str, session: str = "s1", **fields: object) -> dict[str, object]:
        return {
            "event": event,
            "session": session,
            "cwd": str(self.hooks.project),
            "transcript": str(self.hooks.top / f"{session}.jsonl"),
            **fields,
        }

    def tell(self, event: str, session: str = "s1", **fields: object) -> None:
        events.put(self.home, self.record(event, session, **fields), self.environ)

    def drain(self, *steps: Step) -> Drained:
        return drain(self.home, environ=self.environ, settle=0, steps=steps or None)

    def sessions(self) -> dict[str, Session]:
        log = SessionLog(os.path.join(self.home, "state.db"))
        try:
            return {session.id: session for session in log.sessions()}
        finally:
            log.close()

    def figures(self, session: str = "s1") -> tuple[int, int, int]:
        found = self.sessions()[session]
        return found.ok, found.failed, found.compactions

    def waiting(self) -> list[dict[str, object]]:
        return self.hooks.waiting()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# -- sessions ----------------------------------------------------------------------------------


def test_a_session_is_known_from_its_start_to_its_end(desk: Desk) -> None:
    desk.tell("SessionStart", source="startup")
    desk.tell("Stop")
    desk.tell("SessionEnd", reason="prompt_input_exit")
    assert desk.drain().events == 3
    session = desk.sessions()["s1"]
    assert (session.number, session.reason) == (1, "prompt_input_exit")
    assert session.started <= session.ended
    assert desk.waiting() == []


def test_resume_and_compact_keep_a_session_and_its_figures(desk: Desk) -> None:
    """Traps 2.1 #5: they neither count as new sessions nor reset what was counted."""
    transcript = desk.transcript("s1")
    desk.tell("SessionStart", source="startup")
    transcript.result("no", error=True)
    desk.tell("PreCompact", trigger="auto")
    transcript.compacted()
    desk.tell("SessionStart", source="compact")
    desk.drain()
    transcript.result("yes", error=False)
    desk.tell("SessionEnd", reason="other")
    desk.tell("SessionStart", source="resume")
    desk.drain()
    session = desk.sessions()["s1"]
    assert (session.number, session.ended, desk.figures()) == (1, "", (1, 1, 1))


def test_clear_ends_one_session_and_begins_another(desk: Desk) -> None:
    desk.tell("SessionStart", "s1", source="startup")
    desk.tell("SessionEnd", "s1", reason="clear")
    desk.tell("SessionStart", "s2", source="clear")
    desk.drain()
    sessions = desk.sessions()
    assert [(sessions[name].number, bool(sessions[name].ended)) for name in ("s1", "s2")] == [
        (1, True),
        (2, False),
    ]


@pytest.mark.parametrize(
    ("fields", "arrives"),
    [
        ({}, ["SessionEnd"]),
        ({"cwd": ""}, ["SessionEnd"]),
        ({}, ["SubagentStop"]),
        ({}, ["SessionStart"]),
        ({}, ["SessionEnd", "SessionStart"]),
    ],
    ids=["its end", "its end without a folder", "a sub-agent", "its start", "its start late"],
)
def test_a_session_of_which_little_arrived_is_read_all_the_same(
    desk: Desk, fields: dict[str, object], arrives: list[str]
) -> None:
    """Its end alone used to be the end of no session, and nothing was read. What comes from no
    end is read when the next session begins."""
    transcript = desk.transcript("s1")
    cwd = str(desk.hooks.project)
    transcript.user("Please remember that the staging database is wiped every night.", cwd=cwd)
    transcript.says("I will.", cwd=cwd)
    transcript.result("no", error=True)
    for number, event in enumerate(arrives):
        key = f"{time.time_ns() - number * 60 * 10**9:020d}-0000001-00000000"
        record = {**desk.record(event), "agent_type": "Explore", **fields}
        events.put(desk.home, record, desk.environ, key=key)
        desk.drain()
    ended = "SessionEnd" in arrives
    assert bool(desk.sessions()["s1"].ended) is ended
    desk.tell("SessionStart", "s2")
    assert desk.drain().errors == 0
    assert desk.figures("s1") == (0, 1, 0)
    assert "wiped every night" in desk.hooks.ltm("list").stdout
    assert "staging database" in desk.hooks.ltm("recall", "staging").stdout
    count("R27", lone_sessions=1, lone_sessions_unread=0)


def test_a_fork_is_its_own_session_and_counts_only_its_own_part(desk: Desk) -> None:
    """Its transcript begins with a copy of the other's, message for message."""
    first = desk.transcript("s1")
    first.result("no", error=True)
    first.compacted()
    desk.tell("SessionStart", "s1", source="startup")
    desk.tell("SessionEnd", "s1")
    desk.drain()
    fork = desk.hooks.top / "s2.jsonl"
    fork.write_text(first.path.read_text().replace('"sessionId":"s1"', '"sessionId":"s2"'))
    Transcript(fork, "s2").result("yes", error=False)
    # An older client fires the start with the old id, everything after it with the new one.
    desk.tell("SessionStart", "s1", source="resume")
    desk.tell("Stop", "s2")
    desk.drain()
    assert (desk.figures("s1"), desk.figures("s2")) == ((0, 1, 1), (1, 0, 0))
    assert [session.number for session in desk.sessions().values()] == [2, 1]


def test_an_end_of_an_unknown_session_is_not_a_session(desk: Desk) -> None:
    """A client fires SessionEnd for its own commands too, such as installing a plugin."""
    desk.tell("SessionEnd", "ghost", reason="other")
    assert desk.drain().events == 1
    assert desk.sessions() == {}


def test_two_sessions_at_once_in_one_project_do_not_mix(desk: Desk) -> None:
    one, two = desk.transcript("s1"), desk.transcript("s2")
    for session in ("s1", "s2"):
        desk.tell("SessionStart", session)
    one.result("a", error=True)
    two.result("b", error=False)
    desk.tell("Stop", "s1")
    one.result("c", error=True)
    desk.tell("Stop", "s2")
    desk.tell("SessionEnd", "s1")
    desk.drain()
    assert (desk.figures("s1"), desk.figures("s2")) == ((0, 2, 0), (1, 0, 0))


# -- figures -----------------------------------------------------------------------------------


def test_figures_come_from_the_transcript_and_from_subagents(desk: Desk) -> None:
    main = desk.transcript("s1")
    main.result("error everywhere", error=False)
    agent = Transcript(desk.hooks.top / "s1" / "subagents" / "agent-a1.jsonl", "agent")
    agent.result("no", error=True, isSidechain=True, agentId="a1")
    desk.tell("SubagentStop", agent="a1", agent_type="Explore")
    desk.drain()
    assert desk.figures() == (1, 1, 0)


def test_what_the_transcript_did_not_show_at_stop_is_counted_later(desk: Desk) -> None:
    """At Stop a client is behind with its transcript; nothing may be skipped for that.

    Traps 2.4 #1, #2: what was not read stays to be read, however little it is.
    """
    transcript = desk.transcript("s1")
    transcript.result("first", "t1", error=False)
    whole = transcript.path.read_bytes()
    transcript.result("second", "t2", error=True)
    late = transcript.path.read_bytes()[len(whole) :]
    transcript.path.write_bytes(whole + late[:50])
    desk.tell("Stop")
    desk.drain()
    assert desk.figures() == (1, 0, 0)
    transcript.path.write_bytes(whole + late)
    desk.tell("SessionEnd")
    desk.drain()
    assert desk.figures() == (1, 1, 0)


def test_a_transcript_that_is_rewritten_is_not_counted_twice(desk: Desk) -> None:
    transcript = desk.transcript("s1")
    for number in range(3):
        transcript.result("x", f"t{number}", error=number == 0)
    for _ in range(3):
        desk.tell("Stop")
        desk.drain()
        lines = transcript.path.read_bytes().splitlines(keepends=True)
        transcript.path.write_bytes(b"".join(reversed(lines)))
    assert desk.figures() == (2, 1, 0)


def test_live_tool_events_agree_with_the_transcript(desk: Desk) -> None:
    transcript = desk.transcript("s1")
    transcript.result("a", "t1", error=False)
    transcript.result("b", "t2", error=True)
    desk.tell("PostToolUse", tool="Bash", ok=True)
    desk.tell("PostToolUseFailure", tool="Bash", ok=False)
    desk.drain()
    assert desk.figures() == (1, 1, 0)


def test_tool_events_of_parallel_calls_are_all_counted(desk: Desk) -> None:
    """Traps 2.5 #4: ten checks at once made a counter of one."""
    running = []
    for _ in range(10):
        process = subprocess.Popen(
            desk.hooks.command(), stdin=subprocess.PIPE, env=desk.environ, cwd=desk.hooks.project
        )
        assert process.stdin
        payload = desk.hooks.payload("PostToolUse", tool_name="Bash", transcript_path="")
        process.stdin.write(json.dumps(payload).encode())
        process.stdin.close()
        running.append(process)
    assert {process.wait(PATIENCE) for process in running} == {0}
    desk.drain()
    assert desk.figures("session-1") == (10, 0, 0)


def test_a_long_turn_is_saved_at_every_so_many_tool_calls(desk: Desk) -> None:
    """Real hooks, no end of a turn: what the transcript has so far is kept, and no model reads."""
    hooks = desk.hooks
    hooks.home.mkdir()
    config = '[llm]\nbackend = "claude"\n[hooks]\ntools = true\nsave_interval = 3\n'
    (hooks.home / "config.toml").write_text(config)
    transcript = desk.transcript(hooks.session)

    def call(number: int) -> list[str]:
        """One tool call and a drain; the texts that are kept then."""
        transcript.calls("Bash", f"t{number}", command="make test")
        transcript.result("ok", f"t{number}", error=False)
        hooks.fire("PostToolUse", tool_name="Bash", tool_response="ok")
        assert desk.drain().errors == 0
        where = places(str(hooks.project), environ=hooks.environ)
        with closing(Passages(where.sessions_db, readonly=True)) as said:
            words = [each.text for each in said.of_session(hooks.session) if each.role == "user"]
        found = json.loads(hooks.ltm("list", "--json").stdout)["memories"]
        return [*words, *(each["title"] for each in found)]

    order = "From now on always use pnpm instead of npm in this repository."
    transcript.user(order)
    assert call(1) == []
    assert call(2) == []
    first, *memories = call(3)
    assert first == order
    assert any("pnpm" in title for title in memories)
    transcript.user("Never push to main without a green build.")
    assert len(call(4)) == len(call(5)) == 1 + len(memories)
    assert "Never push to main without a green build." in call(6)
    with closing(ModelLog(os.path.join(desk.home, "state.db"))) as models:
        assert models.unheard() == []
        desk.tell("SessionEnd", hooks.session)  # no hook, which would start a drain of its own
        desk.drain()
        assert [each.session for each in models.unheard()] == [hooks.session]


def test_a_compaction_is_noted_before_the_context_goes(desk: Desk) -> None:
    """Traps 2.5 #12: PreCompact is the last chance to read what is about to go."""
    transcript = desk.transcript("s1")
    transcript.result("long ago", error=True)
    desk.tell("PreCompact", trigger="auto")
    desk.drain()
    assert desk.figures() == (0, 1, 1)
    transcript.compacted()
    desk.tell("SessionStart", source="compact")
    desk.drain()
    assert desk.figures() == (0, 1, 1)


def test_without_a_transcript_events_are_counted(desk: Desk) -> None:
    for ok in (True, True, False):
        desk.tell("PostToolUse", tool="Bash", ok=ok, transcript="")
    desk.tell("PreCompact", transcript="")
    desk.drain()
    assert desk.figures() == (2, 1, 1)


def test_a_session_that_died_is_caught_up_when_the_next_one_begins(desk: Desk) -> None:
    transcript = desk.transcript("s1")
    desk.tell("SessionStart", "s1", source="startup")
    desk.drain()
    transcript.result("and then the power went", error=True)
    desk.tell("SessionStart", "s2", source="startup")
    desk.drain()
    assert desk.figures("s1") == (0, 1, 0)


# -- once and only once --------------------------------------------------------------------------


def test_every_step_sees_every_event_once_and_in_order(desk: Desk) -> None:
    seen: list[str] = []
    for event in ("SessionStart", "Stop", "SessionEnd"):
        desk.tell(event)

    def first(work: StepContext) -> None:
        seen.append(f"1 {work.event.event}")

    def second(work: StepContext) -> None:
        seen.append(f"2 {work.event.event}")

    desk.drain(first, second)
    desk.drain(first, second)
    assert seen == [
        f"{step} {event}" for event in ("SessionStart", "Stop", "SessionEnd") for step in (1, 2)
    ]


@pytest.mark.parametrize("dies_in", range(1, len(STEPS) + 2))
def test_a_drain_that_is_killed_leaves_an_event_to_the_next_from_where_it_was(
    desk: Desk, dies_in: int
) -> None:
    """Killed in the middle, with nothing able to tidy up: the next one does only what is left."""
    transcript = desk.transcript("s1")
    transcript.result("x", error=True)
    desk.tell("PostToolUseFailure", tool="Bash", ok=False)
    desk.tell("Stop")
    code = (
        "import os, sys\n"
        "from ltm.worker.drain import drain\n"
        "from ltm.worker.steps import STEPS\n"
        "def die(work): os._exit(9)\n"
        f"steps = [*STEPS]; steps.insert({dies_in} - 1, die)\n"
        "drain(sys.argv[1], settle=0, steps=steps)"
    )
    died = subprocess.run([sys.executable, "-c", code, desk.home], env=desk.environ, check=False)
    assert died.returncode == 9
    assert len(desk.waiting()) == 2
    desk.drain()
    assert desk.waiting() == []
    assert desk.figures() == (0, 1, 0)


def test_a_step_that_was_done_is_not_done_again_after_another_failed(desk: Desk) -> None:
    done: list[str] = []
    desk.tell("Stop")

    def works(work: StepContext) -> None:
        done.append("works")

    def fails(work: StepContext) -> None:
        done.append("fails")
        raise ValueError("sk-ant-canary")

    for _ in range(TRIES + 2):
        desk.drain(works, fails, works)
    assert done == ["works", *["fails"] * TRIES, "works"]
    assert desk.waiting() == []
    assert "drain, fails: ValueError" in hook_log.last(desk.home)
    assert "canary" not in hook_log.last(desk.home)


def test_an_event_that_cannot_be_done_is_in_nobodys_way(desk: Desk) -> None:
    desk.tell("Stop", "bad")
    desk.tell("Stop", "good")

    def fails(work: StepContext) -> None:
        if work.event.session == "bad":
            raise ValueError

    assert desk.drain(fails).events == 1
    assert [record["session"] for record in desk.waiting()] == ["bad"]


def test_a_sick_disk_costs_no_event_however_long_it_lasts(desk: Desk) -> None:
    desk.tell("Stop")
    sick = [True]

    def step(work: StepContext) -> None:
        if sick:
            raise StorageFailed("the disk is full")

    for _ in range(TRIES + 2):
        assert desk.drain(step).errors == 1
    sick.clear()
    assert desk.drain(step).events == 1


def test_no_event_overtakes_one_of_its_session_that_waits_for_the_disk(desk: Desk) -> None:
    """Reliability R4: the end of a session that is not known yet would be the end of none."""
    desk.tell("SessionStart")
    desk.tell("SessionEnd")
    sick, seen = [True], []

    def step(work: StepContext) -> None:
        if sick:
            sick.clear()
            raise StorageFailed("the disk is full")
        seen.append(work.event.event)

    assert (desk.drain(step).errors, seen) == (1, [])
    assert desk.drain(step).events == 2
    assert seen == ["SessionStart", "SessionEnd"]


def test_an_event_is_not_forgotten_before_what_it_told_is_on_the_disk(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reliability R3 and R4: a disk that takes nothing at the end of a drain."""
    for _ in range(3):
        desk.tell("PostToolUse")

    def refuse(log: SessionLog) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as sick:
        sick.setattr(SessionLog, "settle", refuse)
        assert desk.drain().errors == 1
    assert len(desk.waiting()) == 3
    assert desk.drain().errors == 0
    assert desk.waiting() == []
    assert [each.ok for each in desk.sessions().values()] == [3]


def test_an_event_that_a_hook_and_a_server_both_kept_is_done_once(desk: Desk) -> None:
    """A hook gives a server up after a second; the server may have kept its event all the same."""
    seen: list[str] = []

    def step(work: StepContext) -> None:
        seen.append(work.event.session)

    keys = [events.new_key() for _ in range(3)]
    records = {key: desk.record("PostToolUse", f"s{n}") for n, key in enumerate(keys)}
    events.put_all(desk.home, records.items())
    events.put(desk.home, records[keys[1]], desk.environ, key=keys[1])
    assert desk.drain(step).events == 3
    events.put(desk.home, records[keys[2]], desk.environ, key=keys[2])  # after the drain
    assert desk.drain(step).events == 0
    assert desk.waiting() == []
    assert seen == ["s0", "s1", "s2"]
    assert {session: each.ok for session, each in desk.sessions().items()} == {
        "s0": 1,
        "s1": 1,
        "s2": 1,
    }


def test_of_events_kept_together_only_the_one_that_must_wait_is_done_later(desk: Desk) -> None:
    sick, seen = [True], []

    def step(work: StepContext) -> None:
        if sick and work.event.session == "s1":
            raise StorageFailed("the disk is full")
        seen.append(work.event.session)

    keys = [events.new_key() for _ in range(3)]
    events.put_all(desk.home, [(key, desk.record("Stop", f"s{n}")) for n, key in enumerate(keys)])
    assert [desk.drain(step).events for _ in range(3)] == [2, 0, 0]
    assert seen == ["s0", "s2"]
    sick.clear()
    assert desk.drain(step).events == 1
    assert seen == ["s0", "s2", "s1"]
    assert events.waiting(desk.home, desk.environ) == []


def test_a_drain_that_is_cut_off_between_events_kept_together_deletes_none_it_did_not_do(
    desk: Desk,
) -> None:
    seen: list[str] = []

    def step(work: StepContext) -> None:
        if work.event.session == "s1" and not seen[1:]:
            seen.append("cut off")
            raise KeyboardInterrupt
        seen.append(work.event.session)

    keys = [events.new_key() for _ in range(3)]
    events.put_all(desk.home, [(key, desk.record("Stop", f"s{n}")) for n, key in enumerate(keys)])
    with pytest.raises(KeyboardInterrupt):
        desk.drain(step)
    assert desk.drain(step).events == 2
    assert seen == ["s0", "cut off", "s1", "s2"]
    assert events.waiting(desk.home, desk.environ) == []


def test_an_event_the_disk_does_not_give_out_now_waits(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reliability R4: it is on the disk, and only the reading failed."""
    desk.tell("SessionStart")

    def refuse(path: str, **options: object) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    with monkeypatch.context() as sick:
        sick.setattr(events, "read_plain", refuse)
        done = desk.drain()
        assert (done.events, done.errors) == (0, 1)
    assert desk.drain().events == 1


def test_only_one_drains_at_a_time(desk: Desk) -> None:
    desk.tell("Stop")
    lock = Lock(os.path.join(desk.home, "drain.lock"))
    assert lock.acquire()
    assert desk.drain().events == 0
    lock.release()
    assert desk.drain().events == 1


def test_events_that_come_while_it_drains_are_drained_too(desk: Desk) -> None:
    desk.tell("SessionStart")
    left = ["Stop", "SessionEnd"]

    def step(work: StepContext) -> None:
        if left:
            desk.tell(left.pop(0))

    assert desk.drain(step).events == 3
    assert desk.waiting() == []


def test_files_in_the_spool_that_are_no_events_are_put_away(desk: Desk) -> None:
    folder = desk.hooks.home / "spool"
    folder.mkdir(parents=True)
    for name, content in (("1-1-1.Stop.json", "nonsense"), ("2-2-2.json", '{"event": "Stop"}')):
        (folder / name).write_text(content)
    desk.tell("Stop")
    assert desk.drain().events == 1
    assert os.listdir(folder) == []


def test_events_that_came_before_there_was_a_home_are_drained_into_it(desk: Desk) -> None:
    events.put("", {"event": "Stop", "session": "s1"}, desk.environ)
    assert desk.drain().events == 1
    assert list(desk.sessions()) == ["s1"]


def test_nothing_to_do_makes_no_home(desk: Desk) -> None:
    assert desk.drain().events == 0
    assert not desk.hooks.home.exists()


# -- what follows --------------------------------------------------------------------------------


def test_the_next_session_is_told_from_a_fresh_index(desk: Desk) -> None:
    """Without an index a hook has nothing to tell; the drain it leaves behind makes one."""
    hooks = desk.hooks
    hooks.remember("Use port 8082")
    for path in hooks.home.rglob("index.db*"):
        path.unlink()
    assert hooks.fire("SessionStart", source="startup").out == ""
    desk.drain()
    assert "8082" in hooks.fire("SessionStart", source="startup").told


def test_an_edit_by_hand_is_told_after_the_next_drain(desk: Desk) -> None:
    hooks = desk.hooks
    hooks.remember("Use port 8082")
    assert "8082" in hooks.fire("SessionStart", source="startup").told
    (memory,) = hooks.home.rglob("memories/*.md")
    memory.write_text(memory.read_text().replace("8082", "9090"))
    desk.drain()
    assert "9090" in hooks.fire("SessionStart", source="startup").told


def test_the_text_for_the_next_session_is_ready(desk: Desk) -> None:
    desk.hooks.remember("Use port 8082")
    desk.tell("SessionEnd")
    desk.drain()
    (kept,) = (desk.hooks.home / "briefs").iterdir()
    assert "8082" in json.loads(kept.read_text())["text"]


def test_what_was_said_and_learned_has_vectors_afterwards(desk: Desk) -> None:
    desk.hooks.remember("Use ruff for linting")
    said = desk.transcript("s1")
    said.user("We always deploy with the blue script, never by hand.")
    said.says("Understood.")
    desk.tell("SessionStart")
    desk.tell("Stop")
    assert desk.drain().errors == 0
    files = {path.name for path in Path(desk.home).rglob("*vectors.db")}
    assert files == {"vectors.db", "sessions-vectors.db"}


def test_a_model_that_cannot_be_asked_is_not_an_error(desk: Desk) -> None:
    Path(desk.home).mkdir(exist_ok=True)
    Path(desk.home, "config.toml").write_text(
        '[embed]\nbackend = "api"\nbase_url = "http://127.0.0.1:9"\nmodel = "m"\n'
    )
    desk.transcript("s1").user("We always deploy with the blue script.")
    desk.tell("SessionStart")
    desk.tell("Stop")
    assert desk.drain().errors == 0


def test_it_notes_the_python_it_runs_on(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    desk.tell("Stop")
    desk.drain()
    assert python(runtime(desk.home)) == sys.executable


def test_a_hook_starts_the_drain_and_the_drain_ends_by_itself(desk: Desk) -> None:
    """The whole way with real processes: hook, detached drain, empty spool, no process left."""
    desk.transcript("session-1").result("no", error=True)
    hooks = desk.hooks
    hooks.home.mkdir()
    (hooks.home / "runtime.json").write_text(json.dumps({"python": sys.executable}))
    hooks.fire("SessionStart", source="startup")
    hooks.fire("SessionEnd", reason="other")
    until = time.monotonic() + PATIENCE
    lock = Lock(os.path.join(desk.home, "drain.lock"))
    while desk.waiting() or not lock.acquire(patience=0.05):
        assert time.monotonic() < until, hook_log.last(desk.home)
    lock.release()
    session = replace(desk.sessions()["session-1"], started="", ended="")
    assert (session.failed, session.reason) == (1, "other")
    assert hook_log.last(desk.home) == ""


def test_what_a_drain_left_that_was_killed_is_done_by_the_one_that_waits_for_its_turn(
    desk: Desk,
) -> None:
    """A server drains while its session ends, and is killed with it."""
    home = desk.hooks.home
    home.mkdir()
    lock = os.path.join(desk.home, "drain.lock")
    hold = f"import time; from ltm.files.lock import Lock; assert Lock({lock!r}).acquire(5)\n"
    hold += "print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        desk.tell("SessionEnd")
        drains = [sys.executable, "-m", "ltm", "drain"]
        with subprocess.Popen(drains, env={**os.environ, **desk.environ}) as queued:
            with pytest.raises(subprocess.TimeoutExpired):
                queued.wait(1)
            server.kill()
            assert queued.wait(PATIENCE) == 0
    assert desk.waiting() == []


# -- options -------------------------------------------------------------------------------------


def test_a_store_that_nothing_offers_is_named_with_its_file_and_the_way_back(desk: Desk) -> None:
    hooks = desk.hooks
    hooks.remember("Builds run on two cores only")
    assert hooks.ltm("config", "store", "nope").returncode == 2
    path = hooks.home / "config.toml"
    path.write_text('store = "nope"\n')
    for command in ("status", "doctor", "list"):
        done = hooks.ltm(command)
        assert done.returncode == 1
        assert f"{path}: nothing installed offers 'nope' in ltm.stores" in done.stderr
        assert "type: ltm config store files" in done.stderr
    assert hooks.ltm("config", "store", "files").returncode == 0
    assert "two cores" in hooks.ltm("list").stdout


@pytest.mark.parametrize("extreme", ["least", "most"])
def test_with_the_extremes_of_all_options_a_session_is_drained(desk: Desk, extreme: str) -> None:
    """What `ltm config` accepts must not fail later, where only a log tells."""
    hooks = desk.hooks
    hooks.remember("Builds run on two cores only")
    path = str(hooks.home / "config.toml")
    for option in OPTIONS:
        value: object
        if option.choices:
            value = option.choices[0 if extreme == "least" else -1]
        elif type(option.default) is bool:
            value = str(extreme == "most").lower()
        elif type(option.default) is str:
            continue
        else:
            value = getattr(option, extreme)
        set_option(path, option.name, str(value))
    transcript = desk.transcript("s1")
    transcript.user("From now on always use pnpm instead of npm in this repository.")
    for event in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"):
        desk.tell(event, ok=True)
    assert (desk.drain().errors, desk.waiting()) == (0, [])
    assert hook_log.last(desk.home) == ""
    for command in ("status", "doctor", "recall pnpm", "inject", f"friction {transcript.path}"):
        done = hooks.ltm(*command.split())
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
