"""`ltm bench`: what memory does on one's own memories, measured on a copy of them.

The memories, the usage and the waiting statements are copied into a temporary home, and everything
runs there: questions are made of the memories' own words and asked of recall, of BM25 and of a
search for words as with grep; hooks and the MCP server take turns with a Python that does nothing,
on the same machine in the same minute. What a person made of captured memories, and what came of
those that sessions were told, is read from the copies.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from statistics import median
from typing import Any

from ltm.files.atomic import make_folder
from ltm.files.fastjson import write
from ltm.inject.session_start import tell
from ltm.model import Filter, Memory, Phase, Status, Trust, now, utc
from ltm.project.layout import Places
from ltm.recall.passages import session_search
from ltm.recall.search import recall
from ltm.record import NamedTuple
from ltm.spool.session_text import told
from ltm.state.candidates import CANDIDATES_FILE, DROPPED, KEPT, Candidates
from ltm.state.session_log import SessionLog
from ltm.store.project import OpenProject
from ltm.text.display import estimate

PARTS = ("recall", "hooks", "mcp", "capture", "told")
"""What can be measured."""

FEW = 20
"""Memories below which shares say little."""

_QUESTIONS = 200
_BEST = 5
_ROUNDS = 15
_SESSIONS = 200
_WORD = re.compile(r"[^\W_][\w.-]*[^\W_]")
_COPIED = ("memories", "archives")
_OURS = ("CLAUDE", "LTM_")  # what a session we may have been started in says of itself

BenchProgress = Callable[[str, int, int], None]
"""Is told what is being measured, and how far it is."""


class Figure(NamedTuple):
    """One line of the table."""

    part: str
    measure: str
    value: float
    unit: str
    others: Mapping[str, float] = {}
    """The same of what it is compared with, by name."""
    note: str = ""


class AskedFor(NamedTuple):
    """Words, and the memories they were taken from."""

    words: tuple[str, ...]
    meant: tuple[str, ...]


class Bench:
    """A copy of a project's memories, and what is measured on it."""

    def __init__(self, places: Places, folder: str, say: BenchProgress) -> None:
        self._given = places
        self._home = os.path.join(folder, "home")
        self._project = os.path.join(folder, "project")
        self._say = say
        self._environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith(_OURS)},
            **{"LTM_HOME": self._home, "HOME": folder, "USERPROFILE": folder, "TMPDIR": folder},
        }
        os.mkdir(self._project)
        make_folder(self._home)
        self._copy()

    def measure(self, parts: Sequence[str]) -> list[Figure]:
        """The figures of these parts, in the order of the table."""
        by_part = {
            "recall": self._recall,
            "hooks": self._hooks,
            "mcp": self._mcp,
            "capture": self._capture,
            "told": self._told,
        }
        return [figure for part in PARTS if part in parts for figure in by_part[part]()]

    def count(self) -> int:
        with self._open() as copy:
            return copy.store.list(Filter(), limit=1).total

    def _open(self) -> OpenProject:
        return OpenProject(self._project, environ=self._environ)

    def _copy(self) -> None:
        given = self._given
        options = os.path.join(given.home, "config.toml")
        if os.path.exists(options):
            shutil.copy2(options, self._home)
        with self._open() as copy:
            to = copy.places
        vaults = [(given.private, to.private), (given.agent_folder, to.agent_folder)]
        if given.shares:
            vaults.insert(0, (given.shared, to.private))
        for old, new in vaults:
            for name in _COPIED:
                if os.path.isdir(os.path.join(old, name)):
                    shutil.copytree(
                        os.path.join(old, name), os.path.join(new, name), dirs_exist_ok=True
                    )
        candidates = os.path.join(given.private, CANDIDATES_FILE)
        if os.path.exists(candidates):
            shutil.copy2(candidates, os.path.join(to.private, CANDIDATES_FILE))
        if os.path.exists(given.state_db):
            self._copy_database(given.state_db, to.state_db)

    def _copy_database(self, old: str, new: str) -> None:
        # Files that lie next to each other are copied: to open the database could change it.
        for end in ("", "-wal"):
            if os.path.exists(old + end):
                shutil.copy2(old + end, new + end)

    # -- recall ------------------------------------------------------------------------------------

    def _recall(self) -> Iterator[Figure]:
        with self._open() as copy:
            memories = [each.memory for each in copy.store.list(Filter()).items]
            single, double = questions(memories)
            if not single:
                return
            ranked: dict[str, list[list[str]]] = {}
            taken: dict[str, list[float]] = {}
            plain = {"BM25": bm25(memories), "grep": grep(memories)}
            with closing(session_search(copy.places, copy.config)) as said:

                def ours(words: Sequence[str]) -> list[str]:
                    found = recall(
                        copy.store, " ".join(words), Filter(), _BEST, counts=False, said=said
                    )
                    return [hit.stored.memory.id for hit in found.memories]

                asked = [*single, *double]
                for number, question in enumerate(asked):
                    self._say("recall", number, len(asked))
                    for name, ask in {"ltm": ours, **plain}.items():
                        begun = time.perf_counter()
                        ranked.setdefault(name, []).append(ask(question.words)[:_BEST])
                        taken.setdefault(name, []).append((time.perf_counter() - begun) * 1000)
        ones, twos = slice(0, len(single)), slice(len(single), None)
        measures: tuple[tuple[str, slice, Callable[[list[str], AskedFor], bool]], ...] = (
            ("the memory meant is first", ones, lambda got, q: got[:1] == list(q.meant)),
            ("it is among the first five", ones, lambda got, q: q.meant[0] in got),
            ("both of two are among five", twos, lambda got, q: set(q.meant) <= set(got)),
        )
        for measure, part, held in measures:
            those = asked[part]
            if those:
                shares = {
                    name: 100
                    * sum(held(*each) for each in zip(got[part], those, strict=True))
                    / len(those)
                    for name, got in ranked.items()
                }
                note = f"{len(those)} questions"
                yield Figure("recall", measure, shares.pop("ltm"), "%", shares, note)
        times = {name: median(each) for name, each in taken.items()}
        yield Figure("recall", "a question, median", times.pop("ltm"), "ms", times)

    # -- hooks and MCP -----------------------------------------------------------------------------

    def _hooks(self) -> Iterator[Figure]:
        hook = os.path.join(os.path.dirname(os.path.dirname(__file__)), "hook", "main.py")
        python = [sys.executable, "-I", "-S"]
        commands = {
            "SessionStart": [*python, hook],
            "Stop": [*python, hook],
            "python": [*python, "-c", "0"],
        }
        message = {"session_id": "bench", "cwd": self._project, "source": "startup"}
        taken: dict[str, list[float]] = {name: [] for name in commands}
        for number in range(_ROUNDS + 1):  # the first round only warms the disk
            self._say("hooks", number, _ROUNDS + 1)
            for name, command in commands.items():
                data = json.dumps({**message, "hook_event_name": name}).encode()
                begun = time.perf_counter()
                subprocess.run(
                    command,
                    input=data,
                    env=self._environ,
                    cwd=self._project,
                    capture_output=True,
                    check=True,
                )
                if number:
                    taken[name].append((time.perf_counter() - begun) * 1000)
        floor = taken.pop("python")
        for name, each in taken.items():
            bare = {"python alone": median(floor)}
            yield Figure("hooks", f"{name}, median", median(each), "ms", bare)
            slow = {"python alone": _ninetieth(floor)}
            yield Figure("hooks", f"{name}, 90 of 100", _ninetieth(each), "ms", slow)

    def _mcp(self) -> Iterator[Figure]:
        shutil.rmtree(os.path.join(self._home, "spool"), ignore_errors=True)  # the hooks' events
        starts: dict[str, list[float]] = {"ltm": [], "python alone": []}
        calls: list[float] = []
        tokens = 0
        bare = "import sys\nfor line in sys.stdin: print('{}', flush=True)"
        commands = {
            "ltm": [sys.executable, "-m", "ltm", "mcp"],
            "python alone": [sys.executable, "-I", "-S", "-c", bare],
        }
        rounds = max(3, _ROUNDS // 3)
        for number in range(rounds):
            self._say("mcp", number, rounds)
            for name, command in commands.items():
                begun = time.perf_counter()
                with _Pipe(command, self._environ, self._project) as server:
                    server.ask(
                        "initialize",
                        protocolVersion="2025-06-18",
                        capabilities={},
                        clientInfo={"name": "ltm bench", "version": "1"},
                    )
                    listed = server.ask("tools/list")
                    starts[name].append((time.perf_counter() - begun) * 1000)
                    if name == "ltm":
                        tokens = estimate(json.dumps(listed["result"]))
                        begun = time.perf_counter()
                        server.ask(
                            "tools/call", name="recall", arguments={"query": "what did we decide"}
                        )
                        calls.append((time.perf_counter() - begun) * 1000)
        floor = {"python alone": median(starts["python alone"])}
        yield Figure(
            "mcp", "start to the list of tools, median", median(starts["ltm"]), "ms", floor
        )
        yield Figure("mcp", "first call of recall, median", median(calls), "ms")
        yield Figure("mcp", "the list of tools, once a session", tokens, "tokens")

    # -- what a person made of it ------------------------------------------------------------------

    def _capture(self) -> Iterator[Figure]:
        with self._open() as copy:
            every = copy.store.list(Filter(statuses=tuple(Status))).items
            own = (Trust.USER, Trust.ASSISTANT)
            captured = [
                each.memory
                for each in every
                if each.memory.source.session
                and each.memory.source.lines
                and each.memory.source.trust in own
            ]
            histories = copy.store.histories({each.id for each in captured})
            edited = sum(
                any(
                    each.memory.phase is memory.phase is Phase.FULL
                    and each.memory.content != memory.content
                    for each in histories.get(memory.id, ())
                )
                for memory in captured
                if memory.status is Status.ACTIVE
            )
            decided = Counter(each.outcome for each in Candidates(copy.places.private).decided())
        if captured:
            by = Counter(each.status for each in captured)
            note = f"of {len(captured)} captured"
            for measure, count in (
                ("kept: not forgotten", len(captured) - by[Status.FORGOTTEN]),
                ("in force now", by[Status.ACTIVE]),
                ("edited", edited),
                ("forgotten", by[Status.FORGOTTEN]),
            ):
                yield Figure("capture", measure, 100 * count / len(captured), "%", {}, note)
        judged = decided[KEPT] + decided[DROPPED]
        if judged:
            note = f"of {judged} you decided about (ltm review)"
            yield Figure("capture", "statements kept", 100 * decided[KEPT] / judged, "%", {}, note)

    def _told(self) -> Iterator[Figure]:
        with self._open() as copy:
            start = tell(copy.store, copy.places, copy.config, now())
            yield Figure("told", "the next session's start", start.tokens, "tokens")
            if not os.path.exists(copy.places.state_db):
                return
            with closing(SessionLog(copy.places.state_db)) as log:
                sessions = log.sessions(self._given.project.id, _SESSIONS)
            given = {
                each.id: {name for name in told(self._given.home, each.id) if name[:4] == "mem_"}
                for each in sessions
            }
            names = set().union(*given.values())
            usage = copy.store.usage(names)
            there = copy.store.list(Filter(ids=tuple(names), statuses=tuple(Status))).items
            cost = {each.memory.id: estimate(each.memory.summary) for each in there}
        held = [each for each in sessions if given[each.id]]
        if not held:
            return
        note = f"{len(held)} sessions"
        tokens = [sum(cost.get(name, 0) for name in given[each.id]) for each in held]
        counts = [len(given[each.id]) for each in held]
        yield Figure("told", "memories a session, mean", sum(counts) / len(held), "", {}, note)
        yield Figure("told", "their tokens, mean", sum(tokens) / len(held), "tokens", {}, note)
        later = sum(
            1
            for each in held
            for name in given[each.id]
            if name in usage
            and (last := usage[name].last_used) is not None
            and each.started
            and last >= utc(each.started)
        )
        share = 100 * later / sum(counts)
        yield Figure("told", "looked up or opened since", share, "%", {}, note)


def _ninetieth(values: Sequence[float]) -> float:
    return sorted(values)[int(0.9 * len(values))]


class _Pipe:
    """An MCP server on a pipe."""

    def __init__(self, command: Sequence[str], environ: dict[str, str], folder: str) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environ, "CLAUDE_PROJECT_DIR": folder},
            cwd=folder,
        )
        self._number = 0

    def __enter__(self) -> _Pipe:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self._process.stdin.write(f"{write(message)}\n".encode())
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert isinstance(answer, dict)
        return answer


# -- questions, and what answers them without a memory tool ----------------------------------------


def _text(memory: Memory) -> str:
    return f"{memory.title}\n{memory.content}\n{' '.join(memory.tags)}"


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(each for each in _WORD.findall(text.lower()) if len(each) > 2))


def questions(memories: Sequence[Memory]) -> tuple[list[AskedFor], list[AskedFor]]:
    """Questions for one memory each, and for two at once.

    Each memory is asked for by its three rarest words, as one remembers a name, and by the next
    four, as one remembers roughly. Words that half of the memories have ask for nothing.
    """
    words = {each.id: _words(_text(each)) for each in memories}
    holders = Counter(word for each in words.values() for word in each)
    usual = max(1, len(memories) // 2)
    rare = {
        name: sorted((word for word in each if holders[word] <= usual), key=holders.__getitem__)
        for name, each in words.items()
    }
    names = sorted(name for name, each in rare.items() if len(each) >= 3)
    step = max(1, len(names) // (_QUESTIONS // 2))
    names = names[::step][: _QUESTIONS // 2]
    single = [AskedFor(tuple(rare[name][:3]), (name,)) for name in names]
    single += [AskedFor(tuple(rare[name][3:7]), (name,)) for name in names if len(rare[name]) >= 6]
    double = [
        AskedFor((*rare[one][:2], *rare[other][:2]), (one, other))
        for one, other in zip(names[::2], names[1::2], strict=False)
    ]
    return single, double


def grep(memories: Sequence[Memory]) -> Callable[[Sequence[str]], list[str]]:
    """Memories by how many of the words are in them, the newest first among equals."""
    newest = sorted(memories, key=lambda each: each.updated, reverse=True)
    texts = [(each.id, _text(each).lower()) for each in newest]

    def ask(words: Sequence[str]) -> list[str]:
        counts = [(-sum(word in text for word in words), name) for name, text in texts]
        return [name for count, name in sorted(counts, key=lambda each: each[0]) if count]

    return ask


def bm25(memories: Sequence[Memory]) -> Callable[[Sequence[str]], list[str]]:
    """Memories by SQLite's own full-text search, with its stems."""
    db = sqlite3.connect(":memory:", check_same_thread=False)
    db.execute(
        "CREATE VIRTUAL TABLE t USING fts5(id UNINDEXED, body, tokenize = 'porter unicode61')"
    )
    db.executemany("INSERT INTO t VALUES(?, ?)", ((each.id, _text(each)) for each in memories))

    def ask(words: Sequence[str]) -> list[str]:
        wanted = " OR ".join(f'"{word}"' for word in words)
        rows = db.execute("SELECT id FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (wanted, _BEST))
        return [name for (name,) in rows]

    return ask
