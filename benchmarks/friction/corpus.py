"""Sessions whose friction is known: so many of each scenario, in the client's own format.

Every scenario says which signals it must give by the rules as they are now and by the classic ones,
beyond those of the quiet work around it. What they weigh follows from the documented weights. Lines
are as long as in real transcripts, where a result of a tool takes 4 kB and a call more than one.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from benchmarks.corpus import sentences

CWD = "/projects/shop"
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_ENDING = 24_000
"""Bytes that the scenario itself takes, about."""


@dataclass
class Writer:
    """Writes one session, entry by entry; time goes on with each."""

    rng: random.Random
    pool: list[str]
    at: datetime
    session: str
    entries: list[dict[str, Any]] = field(default_factory=list)
    calls: int = 0
    parent: str | None = None
    step: float = 10

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.at += timedelta(seconds=seconds)

    def add(self, kind: str, **fields: Any) -> None:
        """Any entry, with the fields that all have."""
        uuid = str(UUID(int=self.rng.getrandbits(128), version=4))
        self.wait(self.step)
        self.entries.append(
            {
                "parentUuid": self.parent,
                "isSidechain": False,
                "userType": "external",
                "cwd": CWD,
                "sessionId": self.session,
                "version": "2.1.197",
                "gitBranch": "main",
                "type": kind,
                "uuid": uuid,
                "timestamp": f"{self.at:%Y-%m-%dT%H:%M:%S}.{self.at.microsecond // 1000:03d}Z",
                **fields,
            }
        )
        self.parent = uuid

    def user(self, text: str) -> None:
        """A prompt."""
        self.add("user", message={"role": "user", "content": text})

    def says(self, text: str) -> None:
        """The agent's words."""
        self._assistant({"type": "text", "text": text})

    def _assistant(self, block: dict[str, Any]) -> None:
        usage = {
            "input_tokens": self.rng.randrange(100),
            "cache_creation_input_tokens": self.rng.randrange(10**4),
            "cache_read_input_tokens": self.rng.randrange(10**5),
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            "output_tokens": self.rng.randrange(1000),
            "service_tier": "standard",
        }
        message = {
            "model": "claude-opus-4-8",
            "id": f"msg_{self.rng.getrandbits(90):024x}",
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        request = f"req_{self.rng.getrandbits(90):024x}"
        self.add("assistant", message=message, requestId=request)

    def call(self, tool: str, result: Any, error: bool | None = None, **given: Any) -> None:
        """A call and what it gave back."""
        self.calls += 1
        name = f"toolu_{self.session[:8]}_{self.calls:04d}"
        use = {"type": "tool_use", "id": name, "name": tool, "input": given}
        self._assistant(use)
        # Every client that runs a hook says so; real transcripts have several of these a call.
        hook = {
            "type": "hook_progress",
            "hookEvent": "PreToolUse",
            "hookName": f"PreToolUse:{tool}",
        }
        self.add("progress", data=hook, parentToolUseID=name, toolUseID=name)
        answer = {"type": "tool_result", "tool_use_id": name, "content": result}
        if error is not None:
            answer["is_error"] = error
        # The client writes what a tool gave back a second time, in a form of its own.
        about = {"stdout": result, "stderr": "", "interrupted": False, "isImage": False}
        self.add("user", message={"role": "user", "content": [answer]}, toolUseResult=about)

    def stopped(self) -> None:
        """The user presses escape."""
        text = "[Request interrupted by user]"
        self.add("user", message={"role": "user", "content": [{"type": "text", "text": text}]})

    def quiet(self, calls: int) -> None:
        """Work that goes well and gives no signal by either rules."""
        for _ in range(calls):
            text = " ".join(self.rng.choices(self.pool, k=12))
            self.call("Read", text, file_path=f"{CWD}/src/page_{self.rng.randrange(10**6)}.tsx")

    def green(self) -> None:
        """A command that does its work."""
        self.call("Bash", "12 passed", error=False, command=f"make t{self.rng.randrange(10**6)}")


Signals = dict[str, int]


@dataclass(frozen=True)
class Scenario:
    """How a session goes, and what must be found in it."""

    name: str
    play: Callable[[Writer], None]
    now: Signals
    classic: Signals
    quality: tuple[str, str]


def _healthy(w: Writer) -> None:
    w.user("Please add a page for orders to the shop")
    w.quiet(3)
    w.green()
    w.says("The page is there.")
    w.user("Great, now the same for invoices")
    w.quiet(3)
    w.green()


def _stash_after_success(w: Writer) -> None:
    _healthy(w)
    w.user("/stash orders-page")


def _path_with_stash(w: Writer) -> None:
    _healthy(w)
    w.user("please fix src/stash/index.tsx")


def _correction_then_stash(w: Writer) -> None:
    _healthy(w)
    w.user("no, use pnpm here and not npm")
    w.says("I see.")
    w.user("/stash before-it-gets-worse")


def _loop(w: Writer) -> None:
    w.user("Make the build green please")
    for _ in range(5):
        w.call("Bash", "Exit code 2\nmake: nothing to be made", error=True, command="make all")
    w.user("Then leave it")
    w.green()


def _cascade(w: Writer) -> None:
    _healthy(w)
    w.user("Rename the table of orders")
    w.says("I look at the tables first.")
    w.stopped()
    w.user("Only the table, nothing else")
    w.says("I look at the pages first.")
    w.stopped()
    w.user("The table of orders, I mean")
    w.quiet(1)


def _curse(w: Writer) -> None:
    _healthy(w)
    w.user("why the fuck do you keep adding comments")
    w.quiet(1)


def _grep_then_green(w: Writer) -> None:
    w.user("Where is the price computed?")
    w.call("Bash", "Exit code 1", error=True, command="grep -rn price_of src")
    w.quiet(2)
    w.green()
    w.user("Thanks, and the discount?")
    w.green()


def _docs_with_exit_codes(w: Writer) -> None:
    w.user("Read the manual of the build")
    w.call("Read", "1\tExit code 1 means that a test failed.", file_path=f"{CWD}/build.md")
    w.user("And what does it say of pages?")
    w.quiet(2)


def _tracebacks_in_lists(w: Writer) -> None:
    w.user("Run the import of last night again")
    for number in range(2):
        text = f"Traceback (most recent call last):\n  File x.py, line {number}\nKeyError: 'sku'"
        w.call("Bash", [{"type": "text", "text": text}], command=f"python x.py --night {number}")
    w.user("I see, then by hand")
    w.green()


def _false_success(w: Writer) -> None:
    w.user("Move the shop to the new database")
    w.says("Done, the move is a success.")
    w.call("Bash", "Exit code 1\nrelation missing", error=True, command="make migrate")
    w.user("It says that a relation is missing")
    w.green()


def _abandoned(w: Writer) -> None:
    w.user("The basket loses its items")
    w.quiet(2)
    w.user("no, the basket of the guest, not of the user")
    w.call("Bash", "Exit code 1\n3 failed", error=True, command="make basket")
    w.user("still broken, what a shit")
    w.call("Bash", "Exit code 1\n4 failed", error=True, command="make basket-again")
    w.user("no, that's not it")


def _repeated_and_silent(w: Writer) -> None:
    w.user("Which pages load slowly on a phone?")
    w.quiet(2)
    w.wait(1_200)
    w.user("Which pages load slowly on a phone?")
    w.quiet(1)


SCENARIOS = (
    Scenario("healthy", _healthy, {"exit_success": 2}, {}, ("OK", "OK")),
    Scenario(
        "stash after success",
        _stash_after_success,
        {"exit_success": 2, "checkpoint": 1},
        {"user_intervention": 1},
        ("OK", "BAD"),
    ),
    Scenario(
        "a path with stash in it",
        _path_with_stash,
        {"exit_success": 2},
        {"user_intervention": 1},
        ("OK", "BAD"),
    ),
    Scenario(
        "stash after a correction",
        _correction_then_stash,
        {"exit_success": 2, "user_correction": 1, "user_intervention": 1},
        {"user_negation": 1, "user_intervention": 1},
        ("BAD", "BAD"),
    ),
    Scenario(
        "loop",
        _loop,
        {"exit_error": 5, "tool_loop": 1, "exit_success": 1},
        {"exit_error": 5, "tool_loop": 3, "no_resolution": 1, "session_abandoned": 1},
        ("ROUGH", "BAD"),
    ),
    Scenario(
        "cascade",
        _cascade,
        {"exit_success": 2, "request_interrupted": 2, "interrupt_cascade": 1},
        {
            "request_interrupted": 2,
            "interrupt_cascade": 1,
            "repeated_question": 1,
            "session_abandoned": 1,
        },
        ("FRICTION", "BAD"),
    ),
    Scenario(
        "curse",
        _curse,
        {"exit_success": 2, "user_curse": 1},
        {"user_curse": 1},
        ("FRICTION", "FRICTION"),
    ),
    Scenario(
        "one failing grep, then green",
        _grep_then_green,
        {"exit_error": 1, "exit_success": 2},
        {"exit_error": 1, "no_resolution": 1},
        ("OK", "OK"),
    ),
    Scenario(
        "documents that speak of exit codes",
        _docs_with_exit_codes,
        {},
        {"exit_error": 1, "no_resolution": 1},
        ("OK", "OK"),
    ),
    Scenario(
        "tracebacks in lists",
        _tracebacks_in_lists,
        {"exit_error": 2, "exit_success": 1},
        {},
        ("OK", "OK"),
    ),
    Scenario(
        "false success",
        _false_success,
        {"exit_error": 1, "false_success": 1, "exit_success": 1},
        {"exit_error": 1, "false_success": 1, "no_resolution": 1, "session_abandoned": 1},
        ("OK", "BAD"),
    ),
    Scenario(
        "abandoned",
        _abandoned,
        {
            "user_correction": 3,
            "user_curse": 1,
            "exit_error": 2,
            "no_resolution": 1,
            "session_abandoned": 1,
        },
        {
            "user_negation": 3,
            "user_curse": 1,
            "exit_error": 2,
            "no_resolution": 1,
            "session_abandoned": 1,
        },
        ("BAD", "BAD"),
    ),
    Scenario(
        "repeated and silent",
        _repeated_and_silent,
        {"repeated_question": 1, "checkpoint": 1},
        {"repeated_question": 1, "long_silence": 1},
        ("OK", "OK"),
    ),
)


# Pythons differ in what their documentation quotes; to the classic rules these are failures.
_SIGNS = ("xit code", "Traceback (most recent", "CalledProcessError")


def write(
    folder: Path, sessions: int = 100, kilobytes: int = 30, *, calm: bool = False, seed: int = 1
) -> list[Scenario]:
    """So many sessions of about so many kilobytes each; which scenario each of them is.

    With `calm` every second session goes well, as most real ones do.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    pool = [each for each in sentences() if not any(sign in each for sign in _SIGNS)]
    played: list[Scenario] = []
    for number in range(sessions):
        scenario = SCENARIOS[(number // 2 if calm else number) % len(SCENARIOS)]
        if calm and number % 2:
            scenario = SCENARIOS[0]
        name = str(UUID(int=rng.getrandbits(128), version=4))
        writer = Writer(rng, pool, START + timedelta(hours=7 * number), name)
        writer.add("user", isMeta=True, message={"role": "user", "content": "<x-y>hi</x-y>"})
        # The quiet work goes first and fast: it must stand neither between an end and its trouble
        # nor, as a silence, between two prompts.
        writer.step = 0.5
        writer.user(f"Look around in part {number} of the shop first, please")
        while len(_lines(writer.entries)) < kilobytes * 1_000 - _ENDING:
            writer.quiet(2)
            writer.says("I have looked at two more pages of it.")
        writer.step = 10
        scenario.play(writer)
        (folder / f"{name}.jsonl").write_text(_lines(writer.entries), encoding="utf-8")
        played.append(scenario)
    return played


def _lines(entries: list[dict[str, Any]]) -> str:
    return "".join(
        json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n" for entry in entries
    )
