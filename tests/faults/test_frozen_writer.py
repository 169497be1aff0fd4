"""A writer stops in the middle of its work (SIGSTOP) and goes on much later: nobody hangs for it.

Beside it others remember, edit, consolidate, ask and drain, and a session tells its hooks what
happens. Each of them is done, or says within its stated patience that another process is writing
and what to do. When the stopped one goes on, nothing of anybody is lost or undone. Rows R6 and R7.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from ltm.files.lock import ADVICE
from ltm.spool import events
from ltm.state.session_log import SessionLog
from ltm.worker.drain import TRIES
from tests import forking
from tests.faults.person import LTM
from tests.faults.scene import Scene, make_scene
from tests.faults.tracing import strace_or_outcome
from tests.figures import count
from tests.hook.runner import PROGRAM
from tests.http.runner import until
from tests.mcp.wire import Wire

HURRY = 0.5
"""Seconds of patience of everybody else."""

GIVEN_UP = 120
"""Seconds after which somebody hangs, however slow the machine is."""

CALLS = ("flock", "fsync", "rename", "pwrite64")
KEPT = "Nobody may deploy on the last day of a month"
CHANGED = "Uploads above fifty megabytes are refused by the proxy"
SESSION = "session-beside"


@dataclass(frozen=True)
class Point:
    """Where in which command somebody stops: at the first such call on such a file."""

    words: tuple[str, ...]
    call: str
    file: str

    def __str__(self) -> str:
        return f"{self.words[0]} at {self.call} of {re.sub(r'[^a-z.-]', '', self.file)}"


REMEMBER = ("remember", "Builds run on two cores only", "--json")
CONSOLIDATE = ("consolidate", "--json")
DRAIN = ("drain", "--json")
PUT = Point(REMEMBER, "rename", r"/memories/")
"""The file is in place, and the index does not know it yet."""

NOTED = Point(DRAIN, "pwrite64", r"/state\.db-wal>")
POINTS = (PUT, NOTED, Point(CONSOLIDATE, "rename", r"/memories/"))
MORE = (
    Point(REMEMBER, "flock", r"/\.lock>"),
    Point(REMEMBER, "fsync", r"/\.project\.json\..*\.tmp>"),
    Point(REMEMBER, "fsync", r"/\.builds-.*\.tmp>"),
    Point(REMEMBER, "pwrite64", r"/index\.db-wal>"),
    Point(DRAIN, "rename", r"/memories/"),
)
IN_A_HURRY = (sys.executable, str(Path(__file__).with_name("hurried.py")), str(HURRY))
TRIED = [pytest.param(point, IN_A_HURRY, id=str(point)) for point in POINTS]
if os.environ.get("LTM_FAULTS") == "all":
    TRIED += [pytest.param(point, IN_A_HURRY, id=str(point)) for point in MORE]
    # With the patience that commands really have.
    TRIED += [pytest.param(point, (), id=f"{point}, waiting") for point in (PUT, NOTED)]


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    strace_or_outcome()
    return make_scene(tmp_path_factory.mktemp("frozen") / "scene")


@pytest.fixture
def scene(before: Scene, tmp_path: Path) -> Scene:
    scene = before.copied(tmp_path / "scene")
    (scene.home / "config.toml").unlink()  # nothing is to fade here
    tell(scene, "SessionStart", "session-before")
    tell(scene, "SessionEnd", "session-before")
    return scene


def tell(scene: Scene, event: str, session: str, cwd: Path | None = None) -> None:
    """Run the hook for an event, as a client does."""
    said = {
        "session_id": session,
        "transcript_path": str(scene.top / "session.jsonl"),
        "cwd": str(cwd or scene.project),
        "hook_event_name": event,
    }
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(PROGRAM)],
        input=json.dumps(said),
        env=scene.env,
        cwd=scene.project,
        capture_output=True,
        text=True,
        timeout=GIVEN_UP,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def traced(scene: Scene, words: tuple[str, ...], *inject: str) -> subprocess.Popen[str]:
    """A command under strace."""
    log = str(scene.top / "strace.log")
    options = ["-f", "-y", "-o", log, "-e", f"trace={','.join(CALLS)}", *inject]
    return subprocess.Popen(
        ["strace", *options, LTM, *words],
        cwd=scene.project,
        env=scene.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def log_of(scene: Scene) -> str:
    path = scene.top / "strace.log"
    return path.read_text(errors="replace") if path.exists() else ""


def place(scene: Scene, point: Point) -> int:
    """The number of the call a command is to stop at, found by running it in a copy."""
    copy = scene.copied(scene.top.with_name("copy"))
    traced(copy, point.words).communicate(timeout=GIVEN_UP)
    met: Counter[str] = Counter()
    for name, about in re.findall(r"^\d+ +(\w+)\((.*)$", log_of(copy), re.MULTILINE):
        met[name] += 1
        if name == point.call and re.search(point.file, about):
            return met[name]
    raise AssertionError(f"{point} is no place where it can stop")


class Frozen:
    """A command that has stopped."""

    def __init__(self, scene: Scene, point: Point) -> None:
        inject = f"inject={point.call}:signal=SIGSTOP:when={place(scene, point)}"
        self._scene = scene
        self._tracer = traced(scene, point.words, "-e", inject)
        until(lambda: "stopped by SIGSTOP" in log_of(scene) or self._tracer.poll() is not None)
        stopped = re.search(r"^(\d+) +--- stopped by SIGSTOP", log_of(scene), re.MULTILINE)
        assert stopped, self._tracer.communicate()
        self._pid = int(stopped[1])

    def go_on(self) -> tuple[int, str]:
        """Let it go on to its end; its exit code and what it complained about."""
        os.kill(self._pid, signal.SIGCONT)
        _, errors = self._tracer.communicate(timeout=GIVEN_UP)
        return self._tracer.returncode, errors

    def __enter__(self) -> Frozen:
        return self

    def __exit__(self, *_: object) -> None:
        if self._tracer.poll() is None:
            os.kill(self._pid, signal.SIGKILL)
            self._tracer.communicate()


BESIDE = (
    ("remember", KEPT, "--kind", "fact", "--json"),
    ("edit", "{other}", "--content", CHANGED, "--json"),
    ("consolidate", "--json"),
    ("consolidate", "--all", "--json"),
    ("capture", "../session.jsonl", "--json"),
    ("drain", "--json"),
    ("recall", "zanzibarquux", "--json"),
    ("list", "--json"),
)


def beside(scene: Scene, *command: str) -> list[tuple[str, ...]]:
    """Everybody else at once, by `ltm` or another command; those who were told that somebody is at
    it."""
    begin = subprocess.Popen if command else forking.start
    running = [
        (
            words,
            begin(
                [*command, *[word.format(**scene.roles) for word in words]],
                cwd=scene.project,
                env=scene.env,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            ),
        )
        for words in BESIDE
    ]
    ended = [(words, *_ended(process)) for words, process in running]
    refused: list[tuple[str, ...]] = []
    for words, code, out, errors in ended:
        if code:
            assert code == 1, (words, errors)
            assert "another process" in errors, (words, errors)
            assert ADVICE in errors
            refused.append(words)
        else:
            json.loads(out)
        if words[0] == "recall":
            assert "zanzibarquux" in out
    return refused


def _ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """How it ended, and what it said; one that hangs is killed, which is no way to end."""
    try:
        said = process.communicate(timeout=GIVEN_UP)
    except subprocess.TimeoutExpired:
        process.kill()
        said = process.communicate()
    return process.returncode, *said


def examine(scene: Scene) -> None:
    """All that anybody was told is there, once."""
    assert beside(scene) == []
    found = scene.memories()
    active = Counter(each["content"] for each in found.values() if each["status"] == "active")
    assert active[KEPT] == 1
    assert found[scene.roles["other"]]["content"] == CHANGED
    assert found[scene.roles["plain"]] == scene.before[scene.roles["plain"]]
    twins = [found[scene.roles[role]]["status"] for role in ("twin", "other twin")]
    assert sorted(twins) == ["active", "superseded"]
    assert sum("linter" in content for content in active) == 1
    log = SessionLog(str(scene.home / "state.db"))
    sessions = [log.get(each) for each in ("session-before", SESSION)]
    log.close()
    assert all(sessions)
    assert events.waiting(str(scene.home), scene.env) == []
    assert scene.temporary() == []


@pytest.mark.parametrize(("point", "command"), TRIED)
def test_no_one_hangs_for_a_writer_that_stopped_and_nothing_is_lost(
    scene: Scene, point: Point, command: tuple[str, ...]
) -> None:
    with Frozen(scene, point) as frozen:
        (scene.home / "runtime.json").unlink(missing_ok=True)  # or the hook starts a drain
        tell(scene, "SessionStart", SESSION)
        tell(scene, "SessionEnd", SESSION)
        assert events.waiting(str(scene.home), scene.env)
        refused = beside(scene, *command)
        assert not {"recall", "list", "drain"} & {words[0] for words in refused}
        assert frozen.go_on() == (0, "")
    examine(scene)
    if point.words == REMEMBER:
        texts = [each["content"] for each in scene.memories().values()]
        assert texts.count(REMEMBER[1]) == 1
    count("R6", freezes=1, refused_next_to_frozen=len(refused))


def test_what_a_session_taught_waits_as_long_as_a_writer_is_stopped(scene: Scene) -> None:
    """However often the drain meets it: a step that failed three times used to be left out.

    Nor does it keep what happens in other projects.
    """
    elsewhere = scene.top / "elsewhere"
    elsewhere.mkdir()
    with Frozen(scene, PUT) as frozen:
        tell(scene, "SessionStart", "session-elsewhere", cwd=elsewhere)
        for _ in range(TRIES + 1):
            done = subprocess.run(
                [*IN_A_HURRY, *DRAIN],
                cwd=scene.project,
                env=scene.env,
                capture_output=True,
                timeout=GIVEN_UP,
                check=True,
            )
            assert json.loads(done.stdout)["errors"] == 1
        waiting = [events.load(path) for _, path in events.waiting(str(scene.home), scene.env)]
        assert [each["session"] for each in waiting] == ["session-before"]
        assert frozen.go_on() == (0, "")
    subprocess.run([LTM, *DRAIN], cwd=scene.project, env=scene.env, check=True, capture_output=True)
    texts = [each["content"] for each in scene.memories().values()]
    assert sum("linter" in text for text in texts) == 1
    assert events.waiting(str(scene.home), scene.env) == []


def test_an_agent_is_told_of_a_writer_that_stopped_and_can_still_ask(scene: Scene) -> None:
    asked = {"content": KEPT, "kind": "fact", "scope": "project"}
    command, env = (*IN_A_HURRY, "mcp"), {"LTM_HOME": str(scene.home)}
    with (
        Frozen(scene, PUT) as frozen,
        Wire(scene.project, scene.top, env=env, command=command) as wire,
    ):
        wire.initialize()
        said = wire.error("store_memory", **asked)
        assert "another process has been writing to this vault" in said
        assert ADVICE in said
        assert "zanzibarquux" in wire.call("recall", query="zanzibarquux")
        assert frozen.go_on() == (0, "")
        # Its own drain may be at work by now, and it is in a hurry.
        until(lambda: not wire.result("store_memory", **asked).get("isError"))
    assert [each["content"] for each in scene.memories().values()].count(KEPT) == 1


def test_a_writer_that_stopped_does_not_undo_what_a_person_saved_meanwhile(scene: Scene) -> None:
    plain = scene.roles["plain"]
    (path,) = scene.home.rglob(f"memories/*{plain}.md")
    point = Point(("edit", plain, "--content", "By a command", "--json"), "fsync", r"\.tmp>")
    with Frozen(scene, point) as frozen:
        by_hand = path.read_text().replace("one request in a hundred", "one request in ten")
        path.write_text(by_hand)
        code, errors = frozen.go_on()
    assert code == 1
    assert "the file was changed elsewhere" in errors
    assert path.read_text() == by_hand
    assert "in ten" in scene.memories()[plain]["content"]
